/* SPDX-License-Identifier: MIT */
/*
 * processes.h - the fence that reaches other processes, for wait.c.
 *
 *   concurrency: any thread, at any time.
 *
 * A pointer, because Log Retrieval has the one file and not the other.
 */
#ifndef PXT_PROCESSES_H
#define PXT_PROCESSES_H

#include <stdbool.h>

/* Set by pxt_port_fence_processes(), in this process or before the fork it came from; else NULL. */
struct pxt_processes {
	bool (*fence)(void);
};
extern const struct pxt_processes *_Atomic pxt_processes;

#endif
