/* SPDX-License-Identifier: MIT */
/* inspect.c - whether an event of an inspected stream is recorded, and how much of it; see inspect.h. */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/record/inspect.h"

#include "core/process/context.h"
#include "core/stream/stream.h"

#include <errno.h>

struct pxt_inspection pxt_inspections[CONFIG_PTRACE_MAX_STREAMS];

/* A handler's own events are recorded without asking it again. */
extern PXT_TLS bool pxt_inspect_inside;
PXT_TLS bool pxt_inspect_inside;

static void count(atomic_uintptr_t *counter)
{
	atomic_fetch_add_explicit(counter, 1u, memory_order_relaxed);
}

static bool wanted_process(const struct pxt_inspect_rules *rules)
{
	const int32_t own = pxt_process_pid();

	/* Bound: the processes that can be named. */
	PXT_BOUND(processes, PXT_INSPECT_PROCESSES);
	for (uint32_t i = 0; i < rules->processes_used; i++) {
		PXT_ROUND(processes);
		if (rules->processes[i] == own)
			return true;
	}
	return rules->processes_used == 0;
}

static bool wanted_thread(const struct pxt_inspect_rules *rules)
{
	const uint64_t own = rules->threads_used ? pxt_port_thread() : 0;

	/* Bound: the threads that can be named. */
	PXT_BOUND(threads, PXT_INSPECT_THREADS);
	for (uint32_t i = 0; i < rules->threads_used; i++) {
		PXT_ROUND(threads);
		if (rules->threads[i] == own)
			return true;
	}
	return rules->threads_used == 0;
}

/* The program's handler decides; its own trace points are not inspected meanwhile. */
static bool ask(const struct pxt_inspect_rules *rules, unsigned place, uint32_t id,
    const struct pxt_ring_event *event)
{
	const struct posix_trace_handled_np handled = {
		.posix_event_id_np = id,
		.posix_data_np = event->data,
		.posix_data_len_np = event->bytes,
		.posix_prog_address_np = (const void *)pxt_context_address(event->ctx),
	};
	int saved = errno;
	bool keeps;

	pxt_inspect_inside = true;
	keeps = rules->handlers[place].handler(&handled, rules->handlers[place].arg) != 0;
	pxt_inspect_inside = false;
	errno = saved;
	return keeps;
}

/* In order of cost. */
static bool is_wanted(struct pxt_inspection *inspection, const struct pxt_inspect_rules *rules,
    uint32_t id, const struct pxt_ring_event *event)
{
	unsigned handler = rules->handler_of[id];

	count(&inspection->counts.came);
	if (!wanted_process(rules)) {
		count(&inspection->counts.not_process);
		return false;
	}
	if (!wanted_thread(rules)) {
		count(&inspection->counts.not_thread);
		return false;
	}
	if (!handler || pxt_inspect_inside)
		return true;
	count(&inspection->counts.handled);
	if (ask(rules, handler - 1u, id, event))
		return true;
	count(&inspection->counts.not_handler);
	return false;
}

/* Of a short type no more than the first bytes are recorded; the event says that it was cut. */
static void shorten(struct pxt_inspection *inspection, const struct pxt_inspect_rules *rules,
    uint32_t id, struct pxt_ring_event *event)
{
	if (!(rules->is_short[id / 32u] >> id % 32u & 1u) || event->bytes <= PXT_INSPECT_SHORT)
		return;
	count(&inspection->counts.shortened);
	event->info = pxt_slot_info(
	    id, PXT_INSPECT_SHORT, true, pxt_info_extra(event->info), pxt_info_cpu(event->info));
	event->bytes = PXT_INSPECT_SHORT;
}

/*
 * Those of the block's own stream.  Acquire: the rules are complete, and rules of a stream that came
 * later in the same place are seen only by who sees its block there, too.
 */
static const struct pxt_inspect_rules *rules_of(const struct pxt_block *block)
{
	const struct pxt_inspect_rules *rules =
	    atomic_load_explicit(&pxt_inspections[block->index].rules, memory_order_acquire);

	return atomic_load_explicit(&pxt_blocks[block->index], memory_order_relaxed) == block
	           ? rules
	           : NULL;
}

uint32_t pxt_inspect_slots(const struct pxt_block *block, struct pxt_ring_event *event)
{
	struct pxt_inspection *inspection = &pxt_inspections[block->index];
	const uint32_t id = pxt_info_id(event->info);
	const struct pxt_inspect_rules *rules;

	if (id >= PXT_ID_UNNAMED) {
		rules = rules_of(block);
		if (rules && !is_wanted(inspection, rules, id, event))
			return 0;
		if (rules)
			shorten(inspection, rules, id, event);
	}
	return pxt_info_slots(event->info, PXT_CTX_BYTES);
}
