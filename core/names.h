/* SPDX-License-Identifier: MIT */
/*
 * names.h - the name map of the process: user event types, in order of definition, with the
 * descriptions of their payloads (ruling 16).
 *
 *   who beside whom    open   set_format   count, of, format
 *   open                X         X               -
 *   set_format          X         X               -         (X: a mutex inside excludes them)
 *   count, of, format   -         -               -         readers wait for nobody
 *
 * The map is one block of memory without pointers that begins with a magic and its own sizes: it
 * can be found and read in a dump, and mapped elsewhere.  Nothing in it is ever changed or taken
 * away once it is published; publishing is the release store of `count` or of a format's offset.
 * It lies in the library's own zeroed data, not in memory of the port, because a forked child
 * keeps it (DEC-34) and the port's memory is kept from children.
 */
#ifndef PXT_NAMES_H
#define PXT_NAMES_H

#include "base/compiler.h"
#include "base/ids.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The unnamed type is one of TRACE_USER_EVENT_MAX (CON-19). */
#define PXT_NAMES_MAX (TRACE_USER_EVENT_MAX - 1)

/*
 * Finds or makes the identifier of @name.  0, ENAMETOOLONG (no more than TRACE_EVENT_NAME_MAX + 1
 * bytes are read).  Predefined names give the predefined type, new names beyond the limit, or
 * without the User Events unit, the unnamed one.  *is_new: the caller must now call
 * pxt_wanted_type_added().
 */
int pxt_names_open(const char *name, trace_event_id_t *id, bool *is_new);
/* Identifiers PXT_ID_USER_FIRST .. PXT_ID_USER_FIRST + count - 1 are defined. */
unsigned pxt_names_count(void);
/* Name of any type of this process, predefined or user's; NULL where there is none. */
const char *pxt_names_of(unsigned id);
/*
 * Describes the payload of a user type: 0 (also for the same text again), EINVAL (no user type of
 * its own, or a malformed text), EBUSY (it has another description), ENOMEM (the pool is full).
 */
int pxt_names_set_format(unsigned id, const char *text);
/* The description, "" for a type without one, NULL where there is no such type. */
const char *pxt_names_format(unsigned id);
/* In a forked child, before any other call: another thread may have held the mutex. */
void pxt_names_after_fork(void);

#endif
