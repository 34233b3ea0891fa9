/* SPDX-License-Identifier: MIT */
/* ended.h - by which signal a log's process ended, in words. */
#ifndef PXT_ENDED_H
#define PXT_ENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <trace_np.h>

/* "signal 11 (SIGSEGV) ..."; false: by none. */
bool pxt_ended_by(const struct posix_trace_loginfo_np *info, char *text, size_t room);

#endif
