/* SPDX-License-Identifier: MIT */
/* ended.h - by which signal a log's process ended, in words; and whether it began to trace at all. */
#ifndef PXT_ENDED_H
#define PXT_ENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

/* "signal 11 (SIGSEGV) ..."; false: by none. */
bool pxt_ended_by(const struct posix_trace_loginfo_np *info, char *text, size_t room);

/* "SIGSEGV", of Linux' numbers; "real-time" of others. */
const char *pxt_ended_signal(int number);

/* What every command says of a log of which the next is true. */
#define PXT_NEVER_STARTED                                                                          \
	"nothing was recorded, not even the start: the stream was never started "                  \
	"(posix_trace_start()), or all types are filtered"
/* Of a log in which @events were read to its end. */
bool pxt_never_started(const struct posix_trace_loginfo_np *info, uint64_t events);

#endif
