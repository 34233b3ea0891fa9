/* SPDX-License-Identifier: MIT */
/* order.c - which lane's front comes next, of those that remain. */
#include "order.h"

#include "base/logfmt_bytes.h"

#include <string.h>

/* Times that rule 3 may look at each record. */
#define LOOKS 64u

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
	return front->mark ? front->key - 1u : lane->barrier;
}

/* Marks that count backwards are none. */
static void drop_old_marks(struct pxt_remains_lane *lane)
{
	const struct pxt_remain *front = front_of(lane);

	while (front && front->mark && (front->key <= lane->barrier || !front->key)) {
		lane->front++;
		front = front_of(lane);
	}
}

void pxt_order_begin(struct pxt_order *order, struct pxt_remains *remains)
{
	*order = (struct pxt_order){ .remains = remains,
		.looks = LOOKS * (remains->records + remains->label->lanes) };
	for (uint32_t i = 0; i < remains->label->lanes; i++) {
		struct pxt_remains_lane *lane = &remains->lanes[i];
		size_t at = 0;

		lane->front = 0;
		while (at < lane->count && !lane->list[at].mark)
			at++;
		/* One before its next mark; without one it has passed them all. */
		lane->barrier = at < lane->count && lane->list[at].key ? lane->list[at].key - 1u
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

		if (!front || !front->mark || front->key != barrier + 1u)
			continue;
		lane->barrier = front->key;
		lane->front++;
		drop_old_marks(lane);
		order->control_first = true;
	}
}

/* ---- Records ---- */

static bool get_front(
    const struct pxt_order *order, uint32_t index, uint64_t away, struct pxt_slot *slot)
{
	const struct pxt_remains_lane *lane = &order->remains->lanes[index];

	return pxt_remains_slot(order->remains, lane, lane->from + away, slot);
}

static bool is_control(const struct pxt_order *order, uint32_t index)
{
	const struct pxt_remain *front = front_of(&order->remains->lanes[index]);
	struct pxt_slot slot;
	uint32_t id;

	if (!front || front->mark || !get_front(order, index, front->away, &slot))
		return false;
	id = pxt_info_id(slot.word[1]);
	return id == PXT_ID_START || id == PXT_ID_STOP;
}

/* The lane with the smallest key among those that have passed @barrier marks. */
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
		if (!found || front->key < least) {
			least = front->key;
			*chosen = i;
			found = true;
		}
	}
	return found;
}

/*
 * Who recorded: the thread's index, for a thread without a place in the table also four bytes of
 * the system's handle, which follows the context.  PXT_THREAD_NONE: that is not recorded.
 */
static uint64_t thread_at(const struct pxt_order *order, uint32_t index, uint64_t away)
{
	const struct pxt_remains *remains = order->remains;
	unsigned char payload[PXT_SLOT_PAYLOAD];
	struct pxt_slot slot;
	uint32_t thread;
	uint32_t handle;

	if (!remains->label->has_thread || !get_front(order, index, away + 1u, &slot))
		return PXT_THREAD_NONE;
	for (unsigned i = 0; i < PXT_SLOT_PAYLOAD / 4u; i++) {
		uint32_t word = slot.word[i + 1u];

		word = remains->swapped ? __builtin_bswap32(word) : word;
		memcpy(payload + (size_t)i * 4, &word, 4);
	}
	thread = payload[0] | (uint32_t)payload[1] << 8;
	if (thread != PXT_THREAD_EXTRA)
		return thread;
	/* The context ends before byte 8 or there (find.c). */
	memcpy(&handle, payload + remains->label->ctx_bytes, sizeof(handle));
	return (uint64_t)handle << 32 | thread;
}

/* A record of @thread with a stamp before @stamp in lane @index, up to its next mark. */
static bool has_earlier(struct pxt_order *order, uint32_t index, uint64_t thread, uint64_t stamp)
{
	const struct pxt_remains_lane *lane = &order->remains->lanes[index];
	struct pxt_slot slot;

	/* Behind a key that is not below it nothing is. */
	for (size_t at = lane->front; at < lane->count && order->looks; at++, order->looks--) {
		const struct pxt_remain *one = &lane->list[at];

		if (one->mark || one->key >= stamp)
			return false;
		if (get_front(order, index, one->away, &slot) && pxt_slot_ticks(&slot) < stamp &&
		    thread_at(order, index, one->away) == thread)
			return true;
	}
	return false;
}

/* A lane with an earlier record of the same thread than @chosen's front; else @chosen. */
static uint32_t earlier_of_thread(struct pxt_order *order, uint32_t chosen)
{
	const struct pxt_remains *remains = order->remains;
	const struct pxt_remains_lane *lane = &remains->lanes[chosen];
	const struct pxt_remain *front = front_of(lane);
	uint64_t thread = thread_at(order, chosen, front->away);
	struct pxt_slot slot;

	if (thread == PXT_THREAD_NONE || !get_front(order, chosen, front->away, &slot))
		return chosen;
	for (uint32_t i = 0; i < remains->label->lanes; i++) {
		if (i != chosen && remains->lanes[i].barrier == lane->barrier &&
		    !(has_side(order) && behind_side(order, i)) &&
		    has_earlier(order, i, thread, pxt_slot_ticks(&slot)))
			return i;
	}
	return chosen;
}

/*
 * Rule 3: a record whose key is below its own stamp waits for earlier ones of its own thread in
 * other lanes, and what stands before those for its thread's.
 */
static uint32_t own_thread_first(struct pxt_order *order, uint32_t chosen)
{
	const struct pxt_remain *front = front_of(&order->remains->lanes[chosen]);
	struct pxt_slot slot;

	if (!get_front(order, chosen, front->away, &slot) || front->key >= pxt_slot_ticks(&slot))
		return chosen;
	/* Bound: the lanes, each comes once. */
	for (uint32_t i = 0; i < order->remains->label->lanes; i++) {
		uint32_t first = earlier_of_thread(order, chosen);

		if (first == chosen)
			break;
		chosen = first;
	}
	return chosen;
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
		if (smallest(order, barrier, lane)) {
			bool first = order->control_first && *lane == 0 && is_control(order, 0);

			if (!first && remains->label->lanes > 1)
				*lane = own_thread_first(order, *lane);
			return PXT_ORDER_RECORD;
		}
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
