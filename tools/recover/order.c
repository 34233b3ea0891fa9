/* SPDX-License-Identifier: MIT */
/* order.c - which lane's front comes next, of those that remain. */
#include "order.h"

#include "base/logfmt_bytes.h"

static const struct pxt_remain *front_of(const struct pxt_remains_lane *lane)
{
	return lane->front < lane->count ? &lane->list[lane->front] : NULL;
}

/* How many barriers the lane has passed: a mark at its front is the next one. */
static uint64_t barrier_of(const struct pxt_remains_lane *lane)
{
	const struct pxt_remain *front = front_of(lane);

	if (!front)
		return UINT64_MAX;
	return front->mark ? front->ticks - 1u : lane->barrier;
}

/* Marks that count backwards are none. */
static void drop_old_marks(struct pxt_remains_lane *lane)
{
	const struct pxt_remain *front = front_of(lane);

	while (front && front->mark && (front->ticks <= lane->barrier || !front->ticks)) {
		lane->front++;
		front = front_of(lane);
	}
}

void pxt_order_begin(struct pxt_order *order, struct pxt_remains *remains)
{
	*order = (struct pxt_order){ .remains = remains };
	for (uint32_t i = 0; i < remains->label->lanes; i++) {
		struct pxt_remains_lane *lane = &remains->lanes[i];
		size_t at = 0;

		lane->front = 0;
		while (at < lane->count && !lane->list[at].mark)
			at++;
		/* One before its next mark; without one it has passed them all. */
		lane->barrier = at < lane->count && lane->list[at].ticks ? lane->list[at].ticks - 1u
		                                                         : remains->barriers;
		drop_old_marks(lane);
	}
}

/* ---- START and STOP beside the lanes ---- */

static uint64_t side_pos(const struct pxt_order *order, uint32_t lane)
{
	const struct pxt_remains *remains = order->remains;

	return pxt_get64(remains->sides[order->side].pos + (size_t)lane * 8, remains->swapped);
}

static bool has_side(const struct pxt_order *order)
{
	return order->side < order->remains->side_count;
}

/* Lane @index waits for it. */
static bool behind_side(const struct pxt_order *order, uint32_t index)
{
	const struct pxt_remains_lane *lane = &order->remains->lanes[index];
	const struct pxt_remain *front = front_of(lane);

	return !front || pxt_remains_pos(lane, front) >= side_pos(order, index);
}

static bool side_is_next(const struct pxt_order *order)
{
	if (!has_side(order))
		return false;
	for (uint32_t i = 0; i < order->remains->label->lanes; i++)
		if (!behind_side(order, i))
			return false;
	return true;
}

/* ---- Barriers ---- */

static uint64_t fewest_barriers(const struct pxt_remains *remains)
{
	uint64_t fewest = UINT64_MAX;

	for (uint32_t i = 0; i < remains->label->lanes; i++) {
		uint64_t barrier = barrier_of(&remains->lanes[i]);

		fewest = barrier < fewest ? barrier : fewest;
	}
	return fewest;
}

/* All lanes have come to the mark behind @barrier, or are behind it. */
static void pass_marks(struct pxt_order *order, uint64_t barrier)
{
	for (uint32_t i = 0; i < order->remains->label->lanes; i++) {
		struct pxt_remains_lane *lane = &order->remains->lanes[i];
		const struct pxt_remain *front = front_of(lane);

		if (!front || !front->mark || front->ticks != barrier + 1u)
			continue;
		lane->barrier = front->ticks;
		lane->front++;
		drop_old_marks(lane);
		order->control_first = true;
	}
}

/* ---- Records ---- */

static bool is_control(const struct pxt_order *order, uint32_t index)
{
	const struct pxt_remains_lane *lane = &order->remains->lanes[index];
	const struct pxt_remain *front = front_of(lane);
	struct pxt_slot slot;
	uint32_t id;

	if (!front || front->mark ||
	    !pxt_remains_slot(order->remains, lane, pxt_remains_pos(lane, front), &slot))
		return false;
	id = pxt_info_id(slot.word[1]);
	return id == PXT_ID_START || id == PXT_ID_STOP;
}

/* The lane with the smallest front among those that have passed @barrier marks. */
static bool smallest(const struct pxt_order *order, uint64_t barrier, uint32_t *chosen)
{
	const struct pxt_remains *remains = order->remains;
	uint64_t least = 0;
	bool found = false;

	for (uint32_t i = 0; i < remains->label->lanes; i++) {
		const struct pxt_remain *front = front_of(&remains->lanes[i]);

		if (!front || front->mark || remains->lanes[i].barrier != barrier ||
		    (has_side(order) && behind_side(order, i)))
			continue;
		if (order->control_first && i == 0 && is_control(order, i)) {
			*chosen = i;
			return true;
		}
		if (!found || front->ticks < least) {
			least = front->ticks;
			*chosen = i;
			found = true;
		}
	}
	return found;
}

/* ---- What comes next ---- */

enum pxt_order_next pxt_order_next(struct pxt_order *order, uint32_t *lane)
{
	struct pxt_remains *remains = order->remains;

	/* Bound: each round takes marks away. */
	for (;;) {
		uint64_t barrier = fewest_barriers(remains);

		if (side_is_next(order))
			return PXT_ORDER_SIDE;
		if (smallest(order, barrier, lane))
			return PXT_ORDER_RECORD;
		if (barrier == UINT64_MAX)
			return PXT_ORDER_END;
		/* A side record whose places contradict the marks waits for nothing. */
		if (has_side(order)) {
			bool waits = false;

			for (uint32_t i = 0; i < remains->label->lanes && !waits; i++) {
				const struct pxt_remain *front = front_of(&remains->lanes[i]);

				waits =
				    front && !front->mark && remains->lanes[i].barrier == barrier;
			}
			if (waits)
				return PXT_ORDER_SIDE;
		}
		pass_marks(order, barrier);
	}
}

void pxt_order_done(struct pxt_order *order, enum pxt_order_next next, uint32_t lane)
{
	if (next == PXT_ORDER_SIDE) {
		order->side++;
	} else if (next == PXT_ORDER_RECORD) {
		order->control_first = false;
		order->remains->lanes[lane].front++;
		drop_old_marks(&order->remains->lanes[lane]);
	}
}
