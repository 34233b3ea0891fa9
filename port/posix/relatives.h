/* SPDX-License-Identifier: MIT */
/*
 * relatives.h - the fence that reaches other processes, for fence.c.
 *
 *   concurrency: any thread, at any time.
 *
 * A pointer, because Log Retrieval has the one file and not the other.
 */
#ifndef PXT_RELATIVES_H
#define PXT_RELATIVES_H

#include <stdbool.h>

/* Set by pxt_port_fence_relatives(), in this process or before the fork it came from; else NULL. */
struct pxt_relatives {
	bool (*fence)(void);
};
extern const struct pxt_relatives *_Atomic pxt_relatives;

#endif
