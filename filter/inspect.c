/* SPDX-License-Identifier: MIT */
/* inspect.c - what an inspected stream lets through: handlers, threads, processes, short types. */
#include "core/record/inspect.h"
#include "base/attr.h"
#include "core/stream/stream.h"
#include "core/stream/wanted.h"

#include <errno.h>

/* A change of one stream's rules, under both locks. */
struct change {
	struct pxt_stream *stream;
	struct pxt_inspection *inspection;
	struct pxt_inspect_rules *rules; /* that are not in force yet */
};

/* New rules, which are the old ones so far.  Shared memory: a forked child goes on with what is in force. */
static int begin(struct change *change, trace_id_t trid)
{
	struct pxt_inspect_rules *made = pxt_port_alloc_shared(sizeof(*made));
	const struct pxt_inspect_rules *old;

	change->stream = pxt_stream_control(trid);
	if (change->stream && made) {
		change->inspection = &pxt_inspections[change->stream->index];
		change->rules = made;
		old = atomic_load_explicit(&change->inspection->rules, memory_order_relaxed);
		if (old)
			*made = *old;
		return 0;
	}
	if (made)
		pxt_port_free(made, sizeof(*made));
	if (change->stream)
		pxt_stream_control_end(change->stream);
	return change->stream ? ENOMEM : EINVAL;
}

/* Both bits at once: who goes the slow path finds the rules, and nobody goes a faster one. */
static void turn_gate(struct pxt_block *block)
{
	atomic_fetch_or_explicit(
	    &block->gate, PXT_GATE_INSPECTED | PXT_GATE_CAREFUL, memory_order_acq_rel);
}

/* The new ones are in force; returns the old ones, or NULL. */
static struct pxt_inspect_rules *replace_rules(const struct change *change)
{
	struct pxt_inspection *inspection = change->inspection;
	struct pxt_block *block = change->stream->block;
	struct pxt_inspect_rules *old;

	/* A stream that was here before has left its own. */
	if (!atomic_load_explicit(&inspection->rules, memory_order_relaxed))
		memset(&inspection->counts, 0, sizeof(inspection->counts));
	/* Release: pairs with the trace point's acquire. */
	old = atomic_exchange_explicit(&inspection->rules, change->rules, memory_order_acq_rel);
	turn_gate(block);
	pxt_wanted_update(change->stream->index, pxt_block_state(block) != PXT_GATE_OFF);
	return old;
}

/* The same rules as are in force, but for the note. */
static bool is_no_change(const struct change *change)
{
	const struct pxt_inspect_rules *old =
	    atomic_load_explicit(&change->inspection->rules, memory_order_relaxed);

	return old && memcmp(old, change->rules, offsetof(struct pxt_inspect_rules, note)) == 0;
}

/*
 * Those who are inside.  Forked processes have rules of their own: one that stands still in a trace
 * point is waited for, but is in none of ours.
 */
static bool wait_left(enum pxt_whose whose)
{
	return pxt_threads_wait_left(pxt_holdback_ns, whose) ||
	       (whose != PXT_OWN && pxt_threads_wait_left(pxt_holdback_ns, PXT_OWN));
}

/*
 * As a filter that changes: nobody goes the way that skips the gate, then the new rules are in force.
 * EBUSY: at the end a trace point may read the old ones still.  They stay until it has left.
 */
static int change_rules(const struct change *change)
{
	enum pxt_whose whose = pxt_stream_whose(change->stream->block);
	struct pxt_inspect_rules *old = change->rules;
	bool left;

	if (is_no_change(change)) {
		left = wait_left(whose);
		pxt_port_free(old, sizeof(*old));
	} else {
		pxt_wanted_suspend_hot();
		(void)pxt_threads_wait_left(pxt_holdback_ns, whose);
		old = replace_rules(change);
		left = wait_left(whose);
		pxt_inspect_give_back(old, left);
	}
	pxt_threads_kept_give_back();
	return left ? 0 : EBUSY;
}

static int end(const struct change *change, int error)
{
	if (error)
		pxt_port_free(change->rules, sizeof(*change->rules));
	else
		error = change_rules(change);
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

/* Pairs that no type has any more make room; the others stand in the order of their first types. */
static void forget_unused(struct pxt_inspect_rules *rules)
{
	struct pxt_inspect_handler old[PXT_INSPECT_HANDLERS];
	uint8_t now_at[PXT_INSPECT_HANDLERS + 1] = { 0 };

	memcpy(old, rules->handlers, sizeof(old));
	memset(rules->handlers, 0, sizeof(rules->handlers));
	rules->handlers_used = 0;
	for (uint32_t id = 0; id < PXT_ID_COUNT; id++) {
		uint8_t was = rules->handler_of[id];

		if (was && !now_at[was]) {
			rules->handlers[rules->handlers_used] = old[was - 1u];
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
	/* So that the same rules look the same. */
	forget_unused(rules);
	return 0;
}

PXT_API int posix_trace_set_handler_np(
    trace_id_t trid, const trace_event_set_t *set, posix_trace_handler_np handler, void *arg)
{
	struct change change;
	int error = pxt_arg_given(set) ? begin(&change, trid) : EINVAL;

	return error ? error : end(&change, give_handler(change.rules, set, handler, arg));
}
PXT_PLAIN_NAME(posix_trace_set_handler_np, _PXT_SETS_NAME);

/* Threads or processes, of which there are none where @count is 0. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type and a name cannot stand in parentheses. */
#define SETS(function, type, given, numbers, most)                                                 \
	PXT_API int function(trace_id_t trid, const type *given, size_t count)                     \
	{                                                                                          \
		struct change change;                                                              \
		int error = EINVAL;                                                                \
                                                                                                   \
		if (count <= (most) && (!count || pxt_arg_given(given)))                           \
			error = begin(&change, trid);                                              \
		if (error)                                                                         \
			return error;                                                              \
		memset(change.rules->numbers, 0, sizeof(change.rules->numbers));                   \
		for (size_t i = 0; i < count; i++)                                                 \
			change.rules->numbers[i] = (__typeof__(change.rules->numbers[i]))given[i]; \
		change.rules->numbers##_used = (uint32_t)count;                                    \
		return end(&change, 0);                                                            \
	}                                                                                          \
	_Static_assert(1, "")
/* NOLINTEND(bugprone-macro-parentheses) */
SETS(posix_trace_set_threads_np, pthread_t, threads, threads, PXT_INSPECT_THREADS);
SETS(posix_trace_set_processes_np, pid_t, pids, processes, PXT_INSPECT_PROCESSES);

PXT_API int posix_trace_set_short_np(trace_id_t trid, const trace_event_set_t *set)
{
	struct change change;
	int error = pxt_arg_given(set) ? begin(&change, trid) : EINVAL;

	if (error)
		return error;
	memcpy(change.rules->is_short, set->_pxt_bits, sizeof(change.rules->is_short));
	return end(&change, 0);
}
PXT_PLAIN_NAME(posix_trace_set_short_np, _PXT_SETS_NAME);

#define COUNTED(level)                                                                             \
	own.posix_##level##_np = atomic_load_explicit(&counts->level, memory_order_relaxed)

PXT_API int posix_trace_getlevels_np(
    trace_id_t trid, struct posix_trace_levels_np *levels, size_t bytes)
{
	struct posix_trace_levels_np own = { 0 };
	struct pxt_stream *stream = pxt_arg_given(levels) ? pxt_stream_lock(trid) : NULL;
	struct pxt_inspect_counts *counts;

	if (!stream)
		return EINVAL;
	if (atomic_load_explicit(&stream->block->gate, memory_order_relaxed) & PXT_GATE_INSPECTED) {
		counts = &pxt_inspections[stream->index].counts;
		COUNTED(came);
		COUNTED(not_process);
		COUNTED(not_thread);
		COUNTED(handled);
		COUNTED(not_handler);
		COUNTED(shortened);
	}
	pxt_stream_unlock(stream);
	pxt_give(levels, bytes, &own, sizeof(own));
	return 0;
}
