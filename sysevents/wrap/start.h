/* SPDX-License-Identifier: MIT */
/*
 * start.h - the begin of a traced process: before main(), and in a forked child.
 *
 *   concurrency: the only thread there is.
 */
#ifndef PXT_WRAP_START_H
#define PXT_WRAP_START_H

/* In a child, which has nothing of its parent's attachment: attaches anew. */
void pxt_start_child(void) __attribute__((visibility("hidden")));
/* What the door needs first (door_preload.c, door_link.c). */
void pxt_start_door(void) __attribute__((visibility("hidden")));

#endif
