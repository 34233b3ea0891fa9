/* SPDX-License-Identifier: MIT */
/* attr.h - the attributes object: checks, defaults, and the sizes that follow from it. */
#ifndef PXT_ATTR_H
#define PXT_ATTR_H

#include "base/compiler.h"

#include <stdbool.h>
#include <trace.h>

#define PXT_ATTR_MAGIC 0x50585441u /* "PXTA" */
#define PXT_GENVERSION "ptrace 0"  /* at most TRACE_NAME_MAX - 1 bytes (DEC-04) */

/* trace_attr_t._pxt_flags */
#define PXT_ATTR_POLLING 1u
#define PXT_ATTR_ORDERED 2u

bool pxt_attr_valid(const trace_attr_t *attr);
/* Fills in every default of this configuration, as posix_trace_attr_init() does. */
void pxt_attr_defaults(trace_attr_t *attr);
/* The full policies this configuration can do (ruling 17: the getters show the first that exists). */
bool pxt_stream_policy_built(int policy);
bool pxt_log_policy_built(int policy);
/* What "default" means for a stream without or with a log (DEC-06, ruling 17). */
int pxt_default_stream_policy(bool with_log);
int pxt_default_log_policy(void);

#endif
