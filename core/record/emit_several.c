/* SPDX-License-Identifier: MIT */
/*
 * emit_several.c - a trace point beyond the common case: several streams that overwrite, with plain stamps;
 * all else, such as data that is cut, goes on from here to careful.c.
 */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/process/context.h"
#include "core/record/careful.h"
#include "core/record/emit_pieces.h"
#include "core/record/emit_short.h"
#include "core/stream/admit.h"
#include "core/stream/stream.h"

/* One of several streams, and the place that it has for the record. */
struct target {
	struct pxt_block *block;
	struct pxt_lane *lane;
	uint64_t head;
	uint64_t bit; /* of the stream, in masks */
};

/* The record into a place that was found; false: it is not there any more. */
PXT_INLINE bool put_target(const struct target *target, uint32_t slots, uint32_t info,
    const unsigned char *data, uint32_t first, uint64_t ctx, uint64_t ticks)
{
	size_t bytes = pxt_info_bytes(info);
	/* Found, as all before the end: NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
	uint64_t head = target->head;
	uint64_t tag;
	pxt_cell *slot = pxt_short_slot(target->block, target->lane, head, &tag);

	if (PXT_UNLIKELY(!pxt_short_take(target->lane, pxt_head_step(slots), &head)))
		return false;
	pxt_short_put_begin(slot, (uint32_t)tag, info, ticks);
	pxt_short_put_context(slot + 1, tag, ctx, first);
	if (bytes > PXT_SHORT_DATA)
		pxt_pieces_rest(slot + 2, tag, data + PXT_SHORT_DATA, bytes - PXT_SHORT_DATA);
	pxt_careful_wake(target->block, 0);
	return true;
}

/* Whether the stream takes the event whole, overwrites, and has plain stamps. */
PXT_INLINE bool find_target(
    struct target *target, unsigned index, uint32_t id, size_t bytes, uint32_t cpu)
{
	struct pxt_block *block = atomic_load_explicit(&pxt_blocks[index], memory_order_acquire);
	uint32_t gate;

	if (PXT_UNLIKELY(!block))
		return false;
	/* As in emit_into(). */
	gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	if (PXT_UNLIKELY(
	        (gate & (PXT_GATE_STATE | PXT_GATE_KEEPS | PXT_GATE_CAREFUL)) != PXT_GATE_RUNNING ||
	        bytes > block->max_data || !pxt_admit(block, gate, id)))
		return false;
	PXT_TESTPOINT(PXT_TP_GATE_SEEN);
	target->block = block;
	target->lane = pxt_block_lane_of(block, cpu);
	return true;
}

/*
 * Several streams: all heads are looked at, the counter is read once, all places are taken.  Returns
 * the streams for which that was not to be: nothing was done for them.
 */
PXT_INLINE pxt_wanted_mask emit_several(pxt_wanted_mask mask, pxt_wanted_mask *live, uint32_t id,
    const unsigned char *data, size_t bytes, const void *address)
{
	struct target targets[CONFIG_PTRACE_MAX_STREAMS];
	uint32_t cpu = *pxt_self.cpu;
	uint32_t slots = pxt_slots_for(PXT_CTX_BYTES + (uint32_t)bytes);
	uint32_t info =
	    pxt_slot_info((uint32_t)id, (uint32_t)bytes, false, false, pxt_context_cpu(cpu));
	uint64_t ctx = pxt_context(pxt_self.index, address);
	uint32_t first = pxt_piece_first(data, bytes);
	struct target *end = targets; /* after those that have a usual place */
	uint64_t ticks;

	*live = 0;
	/* Bound: the streams of the process. */
	PXT_BOUND(finding, CONFIG_PTRACE_MAX_STREAMS);
	for (pxt_wanted_mask left = mask; left; left &= (pxt_wanted_mask)(left - 1u)) {
		unsigned index = (unsigned)__builtin_ctz(left);

		PXT_ROUND(finding);
		if (PXT_UNLIKELY(!find_target(end, index, id, bytes, cpu)))
			continue;
		end->bit = left & -(uint64_t)left;
		*live |= (pxt_wanted_mask)end->bit;
		end += pxt_short_find(end->lane, slots, &end->head);
	}
	ticks = pxt_port_ticks_plain();
	/* Bound: the same. */
	PXT_BOUND(storing, CONFIG_PTRACE_MAX_STREAMS);
	for (const struct target *target = targets; target != end; target++) {
		PXT_ROUND(storing);
		if (PXT_LIKELY(put_target(target, slots, info, data, first, ctx, ticks)))
			mask &= (pxt_wanted_mask)~target->bit;
	}
	return mask;
}

void pxt_emit_inside(size_t id, const void *data, size_t bytes, const void *address)
{
	pxt_wanted_mask mask = pxt_wanted_by(id);
	pxt_wanted_mask live = 0;

	if (mask & (pxt_wanted_mask)(mask - 1u))
		mask = emit_several(mask, &live, (uint32_t)id, data, bytes, address);
	if (mask)
		pxt_careful_each(mask, live, (uint32_t)id, data, bytes, address);
	pxt_short_leave(pxt_self.entry);
}
