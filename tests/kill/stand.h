/* SPDX-License-Identifier: MIT */
/* stand.h - a child that stops at a test point of its write until it is killed there. */
#ifndef KILL_STAND_H
#define KILL_STAND_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Forks a child that runs @body, and ends after it.  Returns the test point at which the child
 * is now, or -1: it came to its end.
 */
int stand_fork(void (*body)(const void *argument), const void *argument, pid_t *child);

/* In the child: from here on, it will be at the @nth test point of what it writes. */
void stand_at(uint32_t nth);

#endif
