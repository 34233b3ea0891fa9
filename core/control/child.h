/* SPDX-License-Identifier: MIT */
/*
 * child.h - what becomes of streams in a forked child.
 *
 *   concurrency: none: a child has one thread.
 */
#ifndef PXT_CHILD_H
#define PXT_CHILD_H

#include "core/process/process.h"

/* Set by the first create of a process. */
extern const struct pxt_child_part pxt_child_streams;

#endif
