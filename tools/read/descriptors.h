/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h - what the descriptors of each process are, as system events tell it (posix_trace_process,
 * posix_trace_call_exit): files by their paths, sockets by the address at their other end.
 *
 * A name is there from its event on until the descriptor is closed or is another one.  A process that was
 * forked has its parent's, as they were then; one that becomes another program keeps its own.
 *
 * Bounded: PXT_DESCRIPTORS_MAX names, 16 MiB at most; those beyond are not known.
 */
#ifndef PXT_DESCRIPTORS_H
#define PXT_DESCRIPTORS_H

#include "tools/event/event.h"

#define PXT_DESCRIPTORS_MAX 65536u

struct pxt_descriptors;

/* NULL in @all: nothing is known. */
void pxt_descriptors_take(struct pxt_descriptors **all, const struct pxt_event *event);
/* What @fd was in that process at that time, escaped; NULL: not known.  Good until the next call. */
const char *pxt_descriptors_name(struct pxt_descriptors *all, pid_t pid, uint32_t fd, int64_t ns);
void pxt_descriptors_free(struct pxt_descriptors *all);

#endif
