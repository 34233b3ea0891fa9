/* SPDX-License-Identifier: MIT */
/* failure.h - what the data of a POSIX_TRACE_ERROR event says. */
#ifndef PXT_FAILURE_H
#define PXT_FAILURE_H

#include <stdint.h>

/* "flush failed", for people; "failed" where the cause is one that is not known here. */
const char *pxt_failure_what(int32_t data);
/* One word for programs: log, record, types, attach; "" where it is not known. */
const char *pxt_failure_word(int32_t data);

#endif
