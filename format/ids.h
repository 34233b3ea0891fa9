/* SPDX-License-Identifier: MIT */
/*
 * ids.h - the numbers of event types.
 *
 *   0         never valid, so that zeroed memory is no event
 *   1..8      the standard's system events (trace.h)
 *   9..28     implementation-defined system events, of the unit System Events
 *   29, 30    records of the ring itself, never shown: PXT_ID_MARK, PXT_ID_VOID
 *   31        the unnamed user event
 *   32..991   user events in order of definition
 *   992..1023 none yet: for system events to come (the range of CONFIG_PTRACE_USER_EVENT_MAX ends before)
 */
#ifndef PXT_IDS_H
#define PXT_IDS_H

#include "format/compiler.h"

#include <stdbool.h>
#include <trace.h>

#define PXT_ID_SYSTEM_FIRST   1u
#define PXT_ID_ERROR          1u
#define PXT_ID_START          2u
#define PXT_ID_STOP           3u
#define PXT_ID_OVERFLOW       4u
#define PXT_ID_RESUME         5u
#define PXT_ID_FILTER         6u
#define PXT_ID_FLUSH_START    7u
#define PXT_ID_FLUSH_STOP     8u
#define PXT_ID_SPECIFIC_FIRST 9u
#define PXT_ID_SYSTEM_LAST    28u
#define PXT_ID_MARK           29u /* no record, one slot: its length says which of the two */
#define PXT_ID_VOID           30u /* only older builds: of a writer that came after a stop; lost */
#define PXT_ID_UNNAMED        31u
#define PXT_ID_USER_FIRST     32u
#define PXT_ID_COUNT          _PXT_EVENT_IDS

/* What System Events records, other than what streams say of themselves. */
PXT_INLINE bool pxt_id_is_specific(unsigned id)
{
	return id >= PXT_ID_SPECIFIC_FIRST && id <= PXT_ID_SYSTEM_LAST;
}

/* Lengths of a mark; its stamp is a number. */
#define PXT_MARK_BARRIER 0u /* between lanes: what follows it was recorded later */
#define PXT_MARK_REFUSED 1u /* so many records of its lane had found no room, when this was put */

/* The name of a predefined type that this configuration knows, or NULL. */
const char *pxt_system_event_name(unsigned id);
/* The type of that name, or 0; @bytes counts the NUL of @name. */
unsigned pxt_system_event_id(const char *name, size_t bytes);
/* Whether two texts are the same, NUL included; reads @bytes of @b at most, of @a no more. */
PXT_INLINE bool pxt_same_text(const char *a, const char *b, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

/* ---- The types of System Events: their names, for sysnames.c ---- */

/* A type that this configuration cannot record costs no bytes and is in no map. */
#define PXT_NAME_IF(condition, name) ((condition) ? (name) : NULL)

/* Of a context switch on a board (PTRACE_SYSEV_SHORT_SWITCH). */
#define PXT_SHORT_SWITCH_FORMAT "u16 prev_tid,u16 next_tid,u8 prev_state,i8 next_prio"

#if CONFIG_PTRACE_SYSEVENTS
/* How the data of a predefined type is laid out (trace_np.h); "": not described. */
const char *pxt_sysspecific_format(unsigned id);
/* NULL: there is none of that number. */
const char *pxt_sysspecific_name(unsigned id);
#else
PXT_OFF_RETURNS("", const char *, pxt_sysspecific_format, unsigned id);
PXT_OFF_RETURNS(NULL, const char *, pxt_sysspecific_name, unsigned id);
#endif

#endif
