/* SPDX-License-Identifier: MIT */
/* process.h - events about the process, its threads and its images (posix_trace_process). */
#ifndef PXT_WRAP_PROCESS_H
#define PXT_WRAP_PROCESS_H

#include "sysevents/wrap/wrap.h"

/* @what: POSIX_TRACE_PROCESS_..._NP; @name may be NULL, and is cut to what an event takes. */
void pxt_process_tell(uint8_t what, uint32_t number, uint64_t address, uint64_t size,
    const char *name, const void *caller) __attribute__((visibility("hidden")));
/* All that is mapped now, and was not told yet. */
void pxt_process_tell_images(void) __attribute__((visibility("hidden")));
/* The calling thread, with its name. */
void pxt_process_tell_thread(uint64_t start) __attribute__((visibility("hidden")));
/* The end of this process, told once. */
void pxt_process_tell_exit(int status, const void *caller) __attribute__((visibility("hidden")));
/* Whether the caller is in the process that was traced, not in one that has its memory for a while. */
bool pxt_process_is_own(void) __attribute__((visibility("hidden")));

#endif
