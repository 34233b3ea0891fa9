/* SPDX-License-Identifier: MIT */
/* schedhead.h - what a log that pxtrace itself records says of its machine, process and clock. */
#ifndef PXT_SCHEDHEAD_H
#define PXT_SCHEDHEAD_H

#include "tools/write/logwrite.h"

/* Ticks are the nanoseconds of CLOCK_MONOTONIC, and the log begins now. */
void pxt_schedhead_make(struct pxt_loghead *head, struct posix_trace_loginfo_np *info);
/* How the clocks stand to each other now. */
void pxt_schedhead_clock(struct pxt_logwrite *log);
uint64_t pxt_schedhead_now(void);

#endif
