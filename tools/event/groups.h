/* SPDX-License-Identifier: MIT */
/*
 * groups.h - what --only of `pxtrace run` and `attach` names: groups of system events, as their types, calls and
 * kinds of locks.
 */
#ifndef PXT_GROUPS_H
#define PXT_GROUPS_H

#include "tools/event/event.h"

#include <stdbool.h>
#include <stdint.h>

/* Bit by bit, by the numbers of trace_hooks_np.h. */
struct pxt_groups {
	uint64_t types;
	uint64_t calls;
	uint64_t kinds; /* of read-write and spin locks */
	bool sched;     /* no type of the library's: the kernel's scheduler */
};

/* All but what is too much for most programs: allocation. */
void pxt_groups_usual(struct pxt_groups *usual);
/*
 * The groups of @list ("locks,io"); what tells of processes and threads is always among them.  False, with
 * a word to the user, where a group is not known.
 */
bool pxt_groups_parse(struct pxt_groups *groups, const char *list, const char *command);
/* Whether the event is of one of them. */
bool pxt_groups_has(const struct pxt_groups *groups, const struct pxt_event *event);

#endif
