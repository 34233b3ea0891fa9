/* SPDX-License-Identifier: MIT */
/* summary.h - what a recorded run came to, in a few lines for a person. */
#ifndef PXT_SUMMARY_H
#define PXT_SUMMARY_H

#include "tools/output/out.h"

#include <trace.h>
#include <trace_np.h>

/* Of the log at @path; an exit status. */
int pxt_summary(struct pxt_out *out, const char *path, const struct posix_trace_counts_np *counts);

#endif
