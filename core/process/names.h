/* SPDX-License-Identifier: MIT */
/*
 * names.h - the name map of the process: user event types, in order of definition, with the
 * descriptions of their payloads (ruling 16).
 *
 *   concurrency    open   set_format   count, of, format
 *   open                X         X               -
 *   set_format          X         X               -         (X: by the process lock, inside)
 *   count, of, format   -         -               -         readers never wait
 *
 * The map lies in the process' directory (directory.h), in memory without pointers.  Nothing in it
 * is ever changed or taken away once it is published; publishing is the release store of `count`
 * or of a format's offset.  open and set_format exclude each other by the process lock.
 */
#ifndef PXT_NAMES_H
#define PXT_NAMES_H

#include "format/ids.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

/* ---- Its layout in the process' directory ---- */

/* The unnamed type is one of TRACE_USER_EVENT_MAX (CON-19). */
#define PXT_NAMES_MAX  (TRACE_USER_EVENT_MAX - 1)
#define PXT_NAME_BYTES (TRACE_EVENT_NAME_MAX + 1)

#if CONFIG_PTRACE_USEREVENTS

/* An array of no entries is no C: with a limit of 1, or no pool, one stays unused. */
#define PXT_NAMES_ROOM (PXT_NAMES_MAX > 0 ? PXT_NAMES_MAX : 1)
#define PXT_POOL_ROOM  (CONFIG_PTRACE_FORMAT_POOL_BYTES > 0 ? CONFIG_PTRACE_FORMAT_POOL_BYTES : 1)

struct pxt_names {
	uint32_t name_bytes;
	uint32_t names_max;
	uint32_t pool_bytes;
	uint32_t pool_used;
	_Atomic uint32_t count;
	_Atomic uint32_t format_at[PXT_NAMES_ROOM]; /* offset in pool plus 1; 0: none */
	char names[PXT_NAMES_ROOM][PXT_NAME_BYTES];
	char pool[PXT_POOL_ROOM];
};
#define PXT_NAMES_MEMBER struct pxt_names names;
#define PXT_NAMES_AT     offsetof(struct pxt_directory, names)
#else
#define PXT_NAMES_MEMBER
#define PXT_NAMES_AT 0u
#endif

/* ---- The map ---- */

#if CONFIG_PTRACE_USEREVENTS

struct pxt_patience;

/*
 * Finds or makes the identifier of @name.  0, ENOMEM, ENAMETOOLONG (no more than
 * TRACE_EVENT_NAME_MAX + 1 bytes are read).  Predefined names give the predefined type, new names
 * beyond the limit, or without the User Events unit, the unnamed one.  A new one is wanted, where it
 * is to be, before any thread finds it.  *is_new: this call defined it, or a forked process may have
 * (forks.h), and the caller must now call pxt_wanted_type_added().  EAGAIN: a forked process is
 * stopped while it defines one.
 */
int pxt_names_open(const char *name, trace_event_id_t *id, bool *is_new);
/* Identifiers PXT_ID_USER_FIRST .. PXT_ID_USER_FIRST + count - 1 are defined. */
unsigned pxt_names_count(void);
/* Name of any type of this process, predefined or user's; NULL where there is none. */
const char *pxt_names_of(unsigned id);
/*
 * Describes the payload of a user type: 0 (also for the same text again), EINVAL (no user type of
 * its own, or a malformed text), EBUSY (it has another description), ENOMEM (the pool is full),
 * EAGAIN (a forked process is stopped while it defines something).
 */
int pxt_names_set_format(unsigned id, const char *text);
/* The description, "" for a type without one, NULL where there is no such type. */
const char *pxt_names_format(unsigned id);

/*
 * Both parts under the process lock, their arguments checked: see pxt_names_open(), _set_format().
 * @patience: with forked processes.
 */
int pxt_names_find_or_append(
    const char *name, size_t bytes, struct pxt_patience *patience, unsigned *found, bool *is_new);
int pxt_names_describe(unsigned id, const char *text, size_t bytes, struct pxt_patience *patience);
/*
 * Both at a trace point's first use: the type of @name, described by @format ("": not), wanted by those
 * streams that take it.  The unnamed one, where the name cannot be had, and with each error.
 *
 * EBUSY:  the name has another description.
 * EAGAIN: the locks were not to be had in 1 ms: a holder can be whom the caller interrupted, or a forked
 *         process that is stopped.
 *
 *   concurrency: as open; in signal handlers, too.
 */
int pxt_names_open_at_use(const char *name, const char *format, trace_event_id_t *id);

/*
 * Called under the process lock when type @id comes, before any thread can know its number.  Set by the
 * first stream of the process; NULL: there was none.
 */
extern void (*pxt_names_comes)(unsigned id);

PXT_INLINE void pxt_names_on_coming(void (*comes)(unsigned id))
{
	pxt_names_comes = comes;
}

/* The directory's parts of this unit: empty, and as in another directory. */
struct pxt_directory;
void pxt_names_init(struct pxt_directory *directory);
void pxt_names_copy(struct pxt_directory *to, const struct pxt_directory *from);

#else

/*
 * Without the unit User Events: the predefined types and nothing else.  A new name is the unnamed type's (ruling
 * 16).
 */

struct pxt_directory;

PXT_INLINE int pxt_names_open(const char *name, trace_event_id_t *id, bool *is_new)
{
	const char *end = memchr(name, '\0', TRACE_EVENT_NAME_MAX + 1);

	*is_new = false;
	if (!end)
		return ENAMETOOLONG;
	*id = pxt_system_event_id(name, (size_t)(end - name) + 1);
	if (*id == 0)
		*id = PXT_ID_UNNAMED;
	return 0;
}

PXT_OFF_RETURNS(0, unsigned, pxt_names_count, void);

PXT_OFF_RETURNS(pxt_system_event_name(id), const char *, pxt_names_of, unsigned id);
PXT_OFF_RETURNS(EINVAL, int, pxt_names_set_format, unsigned id, const char *text);
PXT_OFF_RETURNS(pxt_names_of(id) ? pxt_sysspecific_format(id) : NULL, const char *,
    pxt_names_format, unsigned id);
PXT_OFF(pxt_names_on_coming, void (*comes)(unsigned id));
PXT_OFF(pxt_names_init, struct pxt_directory *directory);
PXT_OFF(pxt_names_copy, struct pxt_directory *to, const struct pxt_directory *from);

#endif

/*
 * Whether streams of this process may hold events of System Events: logs name their types only then.
 * Set before the first one is recorded, never taken back; any thread, signal handlers too.  (It stands
 * in directory.c; without the unit nothing asks it.)
 */
extern _Atomic bool pxt_names_specific;

PXT_INLINE void pxt_names_use_specific(void)
{
	if (!atomic_load_explicit(&pxt_names_specific, memory_order_relaxed))
		atomic_store_explicit(&pxt_names_specific, true, memory_order_relaxed);
}

PXT_INLINE bool pxt_names_tells(unsigned id)
{
	return !CONFIG_PTRACE_SYSEVENTS || !pxt_id_is_specific(id) ||
	       atomic_load_explicit(&pxt_names_specific, memory_order_relaxed);
}

#endif
