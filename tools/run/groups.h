/* SPDX-License-Identifier: MIT */
/* groups.h - what --only of `pxtrace run` names: groups of system events, as their types. */
#ifndef PXT_GROUPS_H
#define PXT_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

/* All types but those that no library here records. */
#define PXT_GROUPS_TYPES UINT64_C(0x1ffffe00)
/* No type of the library's: the kernel's scheduler. */
#define PXT_GROUPS_SCHED (UINT64_C(1) << 63)
#define PXT_GROUPS_ALL   (PXT_GROUPS_TYPES | PXT_GROUPS_SCHED)

/*
 * The types of @list ("locks,io"), bit by bit; what tells of processes and threads is always among them.
 * False, with a word to the user, where a group is not known.
 */
bool pxt_groups_parse(const char *list, uint64_t *types);

#endif
