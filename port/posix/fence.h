/* SPDX-License-Identifier: MIT */
/*
 * fence.h - the fence that reaches other processes, if there are any: processes.c has it, fence.c calls it.
 *
 *   concurrency: any thread, at any time.
 *
 * A pointer, because a library without other processes has fence.c and not processes.c.
 */
#ifndef PXT_FENCE_H
#define PXT_FENCE_H

#include <stdbool.h>

/* Set by pxt_port_fence_processes(), in this process or before the fork it came from; else NULL. */
struct pxt_processes {
	bool (*fence)(void);
};
extern const struct pxt_processes *_Atomic pxt_processes;

#endif
