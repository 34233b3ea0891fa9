/* SPDX-License-Identifier: MIT */
/* sysevent.c - puts the records of control calls, whose data the caller makes; see sysevent.h. */
#include "core/control/sysevent.h"

#include "core/process/context.h"
#include "core/record/autostop.h"
#include "core/stream/admit.h"

void pxt_sysevent_fill(
    struct pxt_ring_event *event, uint32_t id, const void *data, uint32_t bytes, const void *caller)
{
	const struct pxt_who *self = pxt_threads_who();

	event->data = data;
	event->bytes = bytes;
	event->info = pxt_slot_info(
	    id, bytes, false, pxt_context_extra(self->index), pxt_context_cpu(*self->cpu));
	event->ctx = pxt_context(pxt_context_own(self->index, &event->thread), caller);
	event->pid = (uint32_t)pxt_process_pid();
}

bool pxt_sysevent_record(
    struct pxt_block *block, uint32_t id, const void *data, uint32_t bytes, const void *caller)
{
	struct pxt_place place = { .ring = pxt_block_ring(block, 0) };
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	struct pxt_ring_event event;
	uint32_t slots;
	bool got;

	if (!pxt_admit_system(block, id) || (gate & PXT_GATE_STATE) != PXT_GATE_RUNNING)
		return false;
	pxt_sysevent_fill(&event, id, data, bytes, caller);
	slots = pxt_info_slots(event.info, PXT_CTX_BYTES);
	if (PXT_AUTOSTOP_BUILT && (gate & PXT_GATE_KEEPS))
		got = pxt_autostop_reserve(
		    block, gate, &place, slots, PXT_TAKE_ORDERED | PXT_AUTOSTOP_SEEN);
	else
		got = pxt_ring_reserve(&place, slots, PXT_TAKE_ORDERED) == PXT_RESERVED;
	if (!got)
		return false;
	event.ticks = place.ticks;
	pxt_ring_store(&place, &event);
	pxt_block_wake(block);
	return true;
}
