/* SPDX-License-Identifier: MIT */
/* order.c - which lane's front comes next, of those that remain; the rules are core/read/merge.c's. */
#include "tools/recover/order.h"

#include "format/ids.h"

static const struct pxt_remain *front_of(const struct pxt_streamimage_lane *lane)
{
	return lane->front < lane->count ? &lane->list[lane->front] : NULL;
}

/* A mark at the front is passed; one that counts backwards is none. */
static void pass_marks(struct pxt_streamimage_lane *lane)
{
	const struct pxt_remain *front;

	while ((front = front_of(lane)) != NULL && front->mark) {
		lane->barrier = front->ticks > lane->barrier ? front->ticks : lane->barrier;
		lane->front++;
	}
}

void pxt_order_begin(struct pxt_order *order, struct pxt_streamimage *streamimage)
{
	*order = (struct pxt_order){ .streamimage = streamimage };
	for (uint32_t i = 0; i < streamimage->header->lanes; i++) {
		struct pxt_streamimage_lane *lane = &streamimage->lanes[i];
		size_t at = 0;

		lane->front = 0;
		while (at < lane->count && !lane->list[at].mark)
			at++;
		/* One before its next mark; without one it has passed them all. */
		lane->barrier = at < lane->count && lane->list[at].ticks ? lane->list[at].ticks - 1u
		                                                         : streamimage->barriers;
		pass_marks(lane);
	}
}

static bool has_oob(const struct pxt_order *order)
{
	return order->oob < order->streamimage->oob_count;
}

/* The front of lane @index comes after the next START or STOP that is beside the lanes. */
static bool behind_oob(const struct pxt_order *order, uint32_t index)
{
	const struct pxt_streamimage_lane *lane = &order->streamimage->lanes[index];

	return has_oob(order) && pxt_streamimage_beyond(order->streamimage, order->oob, index,
	                             pxt_streamimage_pos(lane, front_of(lane)));
}

static bool is_control(
    const struct pxt_streamimage *streamimage, const struct pxt_streamimage_lane *lane)
{
	struct pxt_slot slot;
	uint32_t id;

	if (!pxt_streamimage_slot(
	        streamimage, lane, pxt_streamimage_pos(lane, front_of(lane)), &slot))
		return false;
	id = pxt_info_id(slot.word[1]);
	return id == PXT_ID_START || id == PXT_ID_STOP;
}

/* What has the fewest marks before it comes first; of these lane 0's START or STOP; the oldest. */
enum pxt_order_next pxt_order_next(struct pxt_order *order, uint32_t *chosen)
{
	const struct pxt_streamimage *streamimage = order->streamimage;
	uint64_t marks = UINT64_MAX;
	uint64_t least = 0;
	bool found = false;

	for (uint32_t i = 0; i < streamimage->header->lanes; i++) {
		const struct pxt_streamimage_lane *lane = &streamimage->lanes[i];
		const struct pxt_remain *front = front_of(lane);
		uint64_t ticks;

		if (!front || lane->barrier > marks)
			continue;
		found &= lane->barrier == marks;
		marks = lane->barrier;
		if (behind_oob(order, i))
			continue;
		ticks = i == 0 && is_control(streamimage, lane) ? 0 : front->ticks;
		if (found && ticks >= least)
			continue;
		least = ticks;
		*chosen = i;
		found = true;
	}
	if (found)
		return PXT_ORDER_RECORD;
	/* Nothing waits for a record beside the lanes whose places contradict the marks. */
	return has_oob(order) ? PXT_ORDER_SIDE : PXT_ORDER_END;
}

void pxt_order_done(struct pxt_order *order, enum pxt_order_next next, uint32_t lane)
{
	if (next == PXT_ORDER_SIDE) {
		order->oob++;
	} else if (next == PXT_ORDER_RECORD) {
		order->streamimage->lanes[lane].front++;
		pass_marks(&order->streamimage->lanes[lane]);
	}
}
