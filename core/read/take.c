/* SPDX-License-Identifier: MIT */
/* take.c - the next event as a reader takes it: its time, its thread, its data; see take.h. */
#include "core/read/take.h"

/* So long it is believed that nothing is reserved, when nothing is stored. */
#define IDLE_PER_SECOND 500000u

/*
 * A moment ago all lanes were empty, and no slot was stored since at their positions.  A reader that
 * polls so takes no line from the writers but that of the slot it waits for.
 */
static bool is_idle(struct pxt_block *block)
{
	if (!block->idle_since || PXT_PRODUCERS_LANES(block) ||
	    pxt_port_ticks() - block->idle_since >= pxt_clock.hz / IDLE_PER_SECOND ||
	    pxt_block_state(block) != PXT_GATE_RUNNING)
		return false;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);
		uint32_t pos = (uint32_t)ring.lane->pos;
		uint32_t want = pxt_tag(ring.mask, pos, (uint32_t)ring.lane->seq);

		if (pxt_tag_ahead(pxt_slot_peek_acquire(&ring.slots[pos & ring.mask]), want) >= 0)
			return false;
	}
	return true;
}

enum pxt_next pxt_take_any(struct pxt_stream *stream, struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin)
{
	struct pxt_block *block = stream->block;
	enum pxt_next found;

	if (is_idle(block))
		return PXT_NEXT_NONE;
	do {
		found = pxt_consumer_next(stream, item);
		if (found == PXT_NEXT_NONE)
			block->idle_since = block->snapshot;
		if (found != PXT_NEXT_READY)
			return found;
	} while (!pxt_contents_read(stream, item, data, room, origin));
	pxt_consumer_done(stream, item);
	return PXT_NEXT_READY;
}

#if PXT_SMALL
enum pxt_next pxt_take_next(struct pxt_stream *stream, struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin)
{
	return pxt_take_here(stream, item, data, room, origin);
}
#endif
