/* SPDX-License-Identifier: MIT */
/*
 * start.h - the begin of a traced process: before main(), and in a forked child.
 *
 *   concurrency: the only thread there is.
 */
#ifndef PXT_WRAP_START_H
#define PXT_WRAP_START_H

#include <stdbool.h>

/* In a child, which has nothing of its parent's attachment: attaches anew. */
void pxt_start_child(void) __attribute__((visibility("hidden")));
/* Whether @fd is one of the library's descriptors, which the program does not know of. */
bool pxt_start_owns(int fd) __attribute__((visibility("hidden")));
/* The first descriptor from @fd on that is one of those; INT_MAX: none. */
int pxt_start_next_own(int fd) __attribute__((visibility("hidden")));

#endif
