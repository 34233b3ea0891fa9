/* SPDX-License-Identifier: MIT */
/* describe.h - a log's own data: process, time, clock, policies, counts. */
#ifndef PXT_DESCRIBE_H
#define PXT_DESCRIBE_H

#include "tools/output/out.h"
#include "tools/read/source.h"

/* Call when the log was read to its end. */
void pxt_describe(struct pxt_out *out, const struct pxt_source *source);

/* "LOOP", "CLOCK_MONOTONIC": what a person calls the standard's and our numbers. */
const char *pxt_policy_name(int policy);
const char *pxt_clock_name(const struct posix_trace_clock_np *clock);

#endif
