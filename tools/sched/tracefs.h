/* SPDX-License-Identifier: MIT */
/* tracefs.h - the kernel's files about tracepoints, wherever they are. */
#ifndef PXT_TRACEFS_H
#define PXT_TRACEFS_H

#include "tools/sched/tracepoint.h"

/*
 * Reads the formats of the scheduler's tracepoints where tracefs is mounted; where it is not, from a
 * mount that nobody else sees and that goes with its descriptor, if this process may make one.
 * Returns 0 when sched_switch is known, else an errno: ENOENT, tracefs is not mounted.
 */
int pxt_tracefs_points(struct pxt_tracepoint points[PXT_TRACEPOINTS]);

#endif
