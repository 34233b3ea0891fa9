/* SPDX-License-Identifier: MIT */
/* inspect.c - what an inspected stream lets through: handlers, threads, processes, short types. */
#include "core/record/inspect.h"
#include "base/attr.h"
#include "core/process/holdback.h"
#include "core/process/threads.h"
#include "core/stream/inherited.h"
#include "core/stream/stream.h"
#include "core/stream/wanted.h"

#include <errno.h>
#include <string.h>

/* A change of one stream's rules, under both locks. */
struct change {
	struct pxt_stream *stream;
	struct pxt_inspection *inspection;
	struct pxt_inspect_rules *rules; /* that are not in force */
};

static bool begin(struct change *change, trace_id_t trid)
{
	struct pxt_inspection *inspection;
	uint32_t which;

	change->stream = pxt_stream_control(trid);
	if (!change->stream)
		return false;
	inspection = &pxt_inspections[change->stream->index];
	/* A stream that was here before has left its own. */
	if (!(atomic_load_explicit(&change->stream->block->gate, memory_order_relaxed) &
	        PXT_GATE_INSPECTED))
		memset(inspection, 0, sizeof(*inspection));
	which = atomic_load_explicit(&inspection->which, memory_order_relaxed);
	change->inspection = inspection;
	change->rules = &inspection->rules[!which];
	*change->rules = inspection->rules[which];
	return true;
}

/* Both bits at once: who goes the careful way finds the rules, and nobody goes a shorter one. */
static void turn_gate(struct pxt_block *block)
{
	atomic_fetch_or_explicit(
	    &block->gate, PXT_GATE_INSPECTED | PXT_GATE_CAREFUL, memory_order_acq_rel);
}

/*
 * As a filter that changes: nobody goes the way that skips the gate, then the new rules are in force, and
 * at the end no trace point reads the old ones any more.
 */
static int end(const struct change *change, int error)
{
	struct pxt_block *block = change->stream->block;
	enum pxt_whose whose = pxt_inherited_whose(block);

	if (!error) {
		pxt_wanted_suspend_hot();
		(void)pxt_threads_wait_left(pxt_holdback_ns, whose);
		/* Release: pairs with the trace point's acquire. */
		atomic_store_explicit(&change->inspection->which,
		    (uint32_t)(change->rules - change->inspection->rules), memory_order_release);
		turn_gate(block);
		pxt_wanted_update(change->stream->index, pxt_block_state(block) != PXT_GATE_OFF);
		(void)pxt_threads_wait_left(pxt_holdback_ns, whose);
	}
	pxt_stream_control_end(change->stream);
	return error;
}

/* The place of the pair, which may be new; PXT_INSPECT_HANDLERS: there is none left. */
static uint32_t place_of(
    struct pxt_inspect_rules *rules, posix_trace_handler_np handler, const void *arg)
{
	uint32_t place = 0;

	while (place < rules->handlers_used &&
	       (rules->handlers[place].handler != handler || rules->handlers[place].arg != arg))
		place++;
	return place;
}

/* Pairs that no type has any more make room. */
static void forget_unused(struct pxt_inspect_rules *rules)
{
	struct pxt_inspect_rules old = *rules;
	uint8_t now_at[PXT_INSPECT_HANDLERS + 1] = { 0 };

	rules->handlers_used = 0;
	for (uint32_t id = 0; id < PXT_ID_COUNT; id++) {
		uint8_t was = old.handler_of[id];

		if (was && !now_at[was]) {
			rules->handlers[rules->handlers_used] = old.handlers[was - 1u];
			now_at[was] = (uint8_t)++rules->handlers_used;
		}
		rules->handler_of[id] = now_at[was];
	}
}

static bool is_member(const trace_event_set_t *set, uint32_t id)
{
	return set->_pxt_bits[id / 32u] >> id % 32u & 1u;
}

/* Refused where there are as many handlers as a stream can have. */
static int give_handler(struct pxt_inspect_rules *rules, const trace_event_set_t *set,
    posix_trace_handler_np handler, void *arg)
{
	uint32_t place = 0;

	for (uint32_t id = 0; id < PXT_ID_COUNT; id++) {
		if (is_member(set, id))
			rules->handler_of[id] = 0;
	}
	forget_unused(rules);
	if (handler) {
		place = place_of(rules, handler, arg);
		if (place == PXT_INSPECT_HANDLERS)
			return ENOMEM;
		rules->handlers[place].handler = handler;
		rules->handlers[place].arg = arg;
		if (place == rules->handlers_used)
			rules->handlers_used++;
		place++;
	}
	for (uint32_t id = PXT_ID_UNNAMED; id < PXT_ID_COUNT; id++) {
		if (is_member(set, id))
			rules->handler_of[id] = (uint8_t)place;
	}
	return 0;
}

PXT_API int posix_trace_set_handler_np(
    trace_id_t trid, const trace_event_set_t *set, posix_trace_handler_np handler, void *arg)
{
	struct change change;

	if (!pxt_arg_given(set) || !begin(&change, trid))
		return EINVAL;
	return end(&change, give_handler(change.rules, set, handler, arg));
}

PXT_API int posix_trace_set_threads_np(trace_id_t trid, const pthread_t *threads, size_t count)
{
	struct change change;

	if ((count && !pxt_arg_given(threads)) || count > PXT_INSPECT_THREADS ||
	    !begin(&change, trid))
		return EINVAL;
	for (size_t i = 0; i < count; i++)
		change.rules->threads[i] = (uint64_t)threads[i];
	change.rules->threads_used = (uint32_t)count;
	return end(&change, 0);
}

PXT_API int posix_trace_set_processes_np(trace_id_t trid, const pid_t *pids, size_t count)
{
	struct change change;

	if ((count && !pxt_arg_given(pids)) || count > PXT_INSPECT_PROCESSES ||
	    !begin(&change, trid))
		return EINVAL;
	for (size_t i = 0; i < count; i++)
		change.rules->processes[i] = (int32_t)pids[i];
	change.rules->processes_used = (uint32_t)count;
	return end(&change, 0);
}

PXT_API int posix_trace_set_short_np(trace_id_t trid, const trace_event_set_t *set)
{
	struct change change;

	if (!pxt_arg_given(set) || !begin(&change, trid))
		return EINVAL;
	memcpy(change.rules->is_short, set->_pxt_bits, sizeof(change.rules->is_short));
	return end(&change, 0);
}

PXT_API int posix_trace_getlevels_np(trace_id_t trid, struct posix_trace_levels_np *levels)
{
	struct pxt_stream *stream = pxt_arg_given(levels) ? pxt_stream_lock(trid) : NULL;
	struct pxt_inspect_counts *counts;

	if (!stream)
		return EINVAL;
	memset(levels, 0, sizeof(*levels));
	if (atomic_load_explicit(&stream->block->gate, memory_order_relaxed) & PXT_GATE_INSPECTED) {
		counts = &pxt_inspections[stream->index].counts;
		levels->posix_came_np = atomic_load_explicit(&counts->came, memory_order_relaxed);
		levels->posix_not_process_np =
		    atomic_load_explicit(&counts->not_process, memory_order_relaxed);
		levels->posix_not_thread_np =
		    atomic_load_explicit(&counts->not_thread, memory_order_relaxed);
		levels->posix_handled_np =
		    atomic_load_explicit(&counts->handled, memory_order_relaxed);
		levels->posix_not_handler_np =
		    atomic_load_explicit(&counts->not_handler, memory_order_relaxed);
		levels->posix_shortened_np =
		    atomic_load_explicit(&counts->shortened, memory_order_relaxed);
	}
	pxt_stream_unlock(stream);
	return 0;
}
