/* SPDX-License-Identifier: MIT */
/* eventset.c - sets of event types: one bit for each identifier; a type that the controller of a stream opens. */
#include "base/attr.h"

#include "core/record/opentype.h"
#include "core/stream/stream.h"
#include "format/ids.h"

#include <errno.h>
#include <string.h>

#define WORD_BITS 32u

/* Identifiers 1..28; 29 and 30 are the ring's own and no filter's business. */
#define SYSTEM_BITS ((1u << (PXT_ID_SYSTEM_LAST + 1u)) - (1u << PXT_ID_SYSTEM_FIRST))
#define UNNAMED_BIT (1u << PXT_ID_UNNAMED)

/* What no set can hold is refused; types need not be defined yet. */
static bool representable(trace_event_id_t event_id)
{
	return event_id != 0 && event_id < _PXT_EVENT_IDS;
}

static uint32_t bit_of(trace_event_id_t event_id)
{
	return UINT32_C(1) << event_id % WORD_BITS;
}

PXT_API int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set)
{
	if (!pxt_arg_given(set) || !representable(event_id))
		return EINVAL;
	set->_pxt_bits[event_id / WORD_BITS] |= bit_of(event_id);
	return 0;
}
PXT_PLAIN_NAME(posix_trace_eventset_add, _PXT_SETS_NAME);

PXT_API int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set)
{
	if (!pxt_arg_given(set) || !representable(event_id))
		return EINVAL;
	set->_pxt_bits[event_id / WORD_BITS] &= ~bit_of(event_id);
	return 0;
}
PXT_PLAIN_NAME(posix_trace_eventset_del, _PXT_SETS_NAME);

PXT_API int posix_trace_eventset_empty(trace_event_set_t *set)
{
	if (!pxt_arg_given(set))
		return EINVAL;
	memset(set, 0, sizeof(*set));
	return 0;
}
PXT_PLAIN_NAME(posix_trace_eventset_empty, _PXT_SETS_NAME);

/*
 * ALL_EVENTS has types that are defined later as well; WOPID_EVENTS is empty, because there is no
 * implementation-defined type that belongs to no process (DEC-27).
 */
PXT_API int posix_trace_eventset_fill(trace_event_set_t *set, int what)
{
	if (!pxt_arg_given(set))
		return EINVAL;
	switch (what) {
	case POSIX_TRACE_WOPID_EVENTS:
		memset(set, 0, sizeof(*set));
		return 0;
	case POSIX_TRACE_SYSTEM_EVENTS:
		memset(set, 0, sizeof(*set));
		set->_pxt_bits[0] = SYSTEM_BITS;
		return 0;
	case POSIX_TRACE_ALL_EVENTS:
		memset(set, 0xff, sizeof(*set));
		set->_pxt_bits[0] = SYSTEM_BITS | UNNAMED_BIT;
		return 0;
	default:
		return EINVAL;
	}
}
PXT_PLAIN_NAME(posix_trace_eventset_fill, _PXT_SETS_NAME);

PXT_API int posix_trace_eventset_ismember(
    trace_event_id_t event_id, const trace_event_set_t *restrict set, int *restrict ismember)
{
	if (!pxt_arg_given(set) || !pxt_arg_given(ismember) || !representable(event_id))
		return EINVAL;
	*ismember = (set->_pxt_bits[event_id / WORD_BITS] & bit_of(event_id)) != 0;
	return 0;
}
PXT_PLAIN_NAME(posix_trace_eventset_ismember, _PXT_SETS_NAME);

/* ---- A type that the controller opens ---- */

PXT_API int posix_trace_trid_eventid_open(
    trace_id_t trid, const char *restrict event_name, trace_event_id_t *restrict event)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);

	if (!stream)
		return EINVAL;
	pxt_stream_unlock(stream);
	if (!pxt_arg_given(event_name) || !pxt_arg_given(event))
		return EINVAL;
	return pxt_opentype_named(event_name, event);
}
