/* SPDX-License-Identifier: MIT */
/*
 * filter.c - sets and gets a stream's filter: which types it does not record; the FILTER event, with the old and
 * the new set; sets of types.  (Trace points apply it: core/stream/wanted.h, then core/stream/gate.h.)
 */
#include "core/control/control.h"
#include "core/read/consumer.h"
#include "core/record/opentype.h"
#include "core/stream/share.h"

static void in_force(const struct pxt_block *block, uint32_t gate, trace_event_set_t *set)
{
	for (uint32_t i = 0; i < PXT_SET_WORDS; i++)
		set->_pxt_bits[i] =
		    atomic_load_explicit(&((struct pxt_block *)(uintptr_t)block)
		                              ->filter[gate & PXT_GATE_FILTER ? 1 : 0][i],
		        memory_order_relaxed);
}

PXT_API int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set)
{
	struct pxt_stream *stream = pxt_arg_given(set) ? pxt_stream_lock(trid) : NULL;

	if (!stream)
		return EINVAL;
	in_force(
	    stream->block, atomic_load_explicit(&stream->block->gate, memory_order_acquire), set);
	pxt_stream_unlock(stream);
	return 0;
}
PXT_PLAIN_NAME(posix_trace_get_filter, _PXT_SETS_NAME);

/* SET, ADD and SUB of the standard. */
static uint32_t combine(uint32_t old, uint32_t with, int how)
{
	if (how == POSIX_TRACE_SET_EVENTSET)
		return with;
	return how == POSIX_TRACE_ADD_EVENTSET ? old | with : old & ~with;
}

/*
 * Writes the set that is not in force, then turns the gate's bit to it: a trace point reads the
 * gate once and judges all by one set.  The other set may still be read by a writer that saw the
 * gate before the last change; set_filter() has waited for those.
 */
static void change(struct pxt_stream *stream, const trace_event_set_t *set, int how)
{
	struct pxt_block *block = stream->block;
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	uint32_t other = gate & PXT_GATE_FILTER ? 0 : 1;
	trace_event_set_t both[2];
	uint32_t any = 0;
	uint32_t next;

	in_force(block, gate, &both[0]);
	for (uint32_t i = 0; i < PXT_SET_WORDS; i++) {
		both[1]._pxt_bits[i] = combine(both[0]._pxt_bits[i], set->_pxt_bits[i], how);
		any |= both[1]._pxt_bits[i];
		atomic_store_explicit(
		    &block->filter[other][i], both[1]._pxt_bits[i], memory_order_relaxed);
	}
	/* Judged by the old filter (DEC-15). */
	(void)pxt_sysevent_record(stream->block, PXT_ID_FILTER, both, sizeof(both), NULL);
	/* Release: pairs with the writers' acquire of the gate.  A writer may stop it meanwhile. */
	gate = atomic_load_explicit(&block->gate, memory_order_relaxed);
	do {
		next = ((gate ^ PXT_GATE_FILTER) & ~PXT_GATE_FILTERED) |
		       (any ? PXT_GATE_FILTERED : 0u);
	} while (!atomic_compare_exchange_weak_explicit(
	    &block->gate, &gate, next, memory_order_acq_rel, memory_order_relaxed));
	pxt_wanted_update(stream->index, pxt_block_state(block) != PXT_GATE_OFF);
}

PXT_API int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how)
{
	struct pxt_stream *stream;
	enum pxt_whose whose;

	if (!pxt_arg_given(set) || how < POSIX_TRACE_SET_EVENTSET || how > POSIX_TRACE_SUB_EVENTSET)
		return EINVAL;
	stream = pxt_stream_control(trid);
	if (!stream)
		return EINVAL;
	whose = pxt_stream_whose(stream->block);
	/* Trace points that skip the gate would see the new filter type by type. */
	pxt_wanted_suspend_hot();
	(void)pxt_threads_wait_left(pxt_holdback_ns, whose);
	change(stream, set, how);
	/* After return the new filter governs all threads, and the old set may be overwritten. */
	(void)pxt_threads_wait_left(pxt_holdback_ns, whose);
	pxt_share_filter(stream);
	/* If the only unread item is an automatic STOP that is now filtered, no read restarts the stream. */
	if (!stream->block->with_log)
		pxt_consumer_settle(stream);
	pxt_stream_control_end(stream);
	return 0;
}
PXT_PLAIN_NAME(posix_trace_set_filter, _PXT_SETS_NAME);

/* Sets of event types: one bit for each identifier; a type that the controller of a stream opens. */

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
