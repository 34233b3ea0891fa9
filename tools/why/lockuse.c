/* SPDX-License-Identifier: MIT */
/* lockuse.c - waits for locks, and the orders in which they are taken; see lockuse.h. */
#include "tools/why/lockuse.h"

#include "tools/output/progress.h"
#include "tools/output/say.h"
#include "tools/why/state_parts.h"

#include <stdlib.h>
#include <string.h>

#define TABLE ((size_t)2 * PXT_LOCKUSE_ORDERS_MAX)

/* ---- Rows ---- */

static uint32_t row_of(struct pxt_lockuse *use, struct pxt_state_lock *lock)
{
	if (lock->row != 0)
		return lock->row - 1;
	if (use->row_count == use->row_room) {
		use->row_room = 2 * use->row_room + 64;
		use->rows = pxt_must(realloc(use->rows, use->row_room * sizeof *use->rows));
	}
	use->rows[use->row_count] = (struct pxt_lockuse_row){ .lock = lock };
	lock->row = ++use->row_count;
	return lock->row - 1;
}

static struct pxt_lockuse_wait *wait_of(struct pxt_lockuse *use, const struct pxt_actor *actor)
{
	if (actor->index >= use->wait_room) {
		uint32_t room = 2 * actor->index + 64;

		use->waits = pxt_must(realloc(use->waits, room * sizeof *use->waits));
		memset(
		    use->waits + use->wait_room, 0, (room - use->wait_room) * sizeof *use->waits);
		use->wait_room = room;
	}
	return &use->waits[actor->index];
}

/* ---- Orders ---- */

static struct pxt_lockuse_order *order_of(struct pxt_lockuse *use, uint32_t from, uint32_t to)
{
	uint32_t at = pxt_state_mix(from, to + 1u) % TABLE;

	for (; use->table[at] != 0; at = (at + 1) % TABLE) {
		struct pxt_lockuse_order *order = &use->orders[use->table[at] - 1];

		if (order->from == from && order->to == to)
			return order;
	}
	if (use->order_count == PXT_LOCKUSE_ORDERS_MAX) {
		use->beyond++;
		return NULL;
	}
	use->orders[use->order_count] = (struct pxt_lockuse_order){ .from = from, .to = to };
	use->table[at] = ++use->order_count;
	return &use->orders[use->order_count - 1];
}

static bool holds(struct pxt_lockuse *use, const struct pxt_actor *actor, uint32_t row)
{
	for (unsigned i = 0; i < actor->hold_count; i++)
		if (row_of(use, actor->holds[i]) == row)
			return true;
	return false;
}

/* All that is held beside the two is a gate the first time; later only what is held again. */
static void keep_gates(
    struct pxt_lockuse *use, struct pxt_lockuse_order *order, const struct pxt_actor *actor)
{
	unsigned kept = 0;

	if (order->count == 0) {
		for (unsigned i = 0; i < actor->hold_count; i++) {
			uint32_t row = row_of(use, actor->holds[i]);

			if (row != order->from && row != order->to && kept < PXT_LOCKUSE_GATES)
				order->gates[kept++] = row;
		}
	} else {
		for (unsigned i = 0; i < order->gate_count; i++)
			if (holds(use, actor, order->gates[i]))
				order->gates[kept++] = order->gates[i];
	}
	order->gate_count = kept;
}

static void note_orders(struct pxt_lockuse *use, const struct pxt_act *act)
{
	uint32_t to = row_of(use, act->lock);

	for (unsigned i = 0; i < act->actor->hold_count; i++) {
		uint32_t from = row_of(use, act->actor->holds[i]);
		struct pxt_lockuse_order *order = from == to ? NULL : order_of(use, from, to);

		if (!order)
			continue;
		keep_gates(use, order, act->actor);
		if (order->count++ == 0) {
			order->by = act->actor;
			order->source = act->actor->source;
			order->address = (uint64_t)(uintptr_t)act->event->info.posix_prog_address;
			order->ns = act->ns;
		}
		order->others = order->others || order->by != act->actor;
	}
}

/* ---- Events ---- */

static void asked(struct pxt_lockuse *use, const struct pxt_act *act)
{
	bool known;

	use->asks = true;
	*wait_of(use, act->actor) = (struct pxt_lockuse_wait){ .lock = act->lock,
		.holder = pxt_lock_holder(use->state, act->lock, &known),
		.since_ns = act->ns,
		.epoch = use->state->epochs[act->actor->source] };
}

static void taken(struct pxt_lockuse *use, const struct pxt_act *act)
{
	struct pxt_lockuse_wait *wait = wait_of(use, act->actor);
	uint32_t index = row_of(use, act->lock);
	struct pxt_lockuse_row *row = &use->rows[index];
	int64_t ns = act->ns - wait->since_ns;

	if (act->lock->depth > 1)
		return;
	row->taken++;
	/* Across a loss nobody knows what it waited for. */
	if (wait->lock == act->lock && wait->holder && wait->holder != act->actor &&
	    wait->epoch == use->state->epochs[act->actor->source]) {
		row->waits++;
		row->wait_ns += ns;
		if (ns > row->longest_ns) {
			row->longest_ns = ns;
			row->longest_at_ns = wait->since_ns;
			row->longest_by = act->actor;
			row->longest_holder = wait->holder;
		}
	}
	wait->lock = NULL;
	note_orders(use, act);
}

static void given_back(struct pxt_lockuse *use, const struct pxt_act *act)
{
	uint32_t index = row_of(use, act->lock);
	struct pxt_lockuse_row *row = &use->rows[index];
	int64_t ns = act->ns - act->held_since_ns;

	if (!act->former || act->lock->state == PXT_LOCK_HELD || ns <= row->held_ns)
		return;
	row->held_ns = ns;
	row->held_by = act->former;
}

static void look(void *self, const struct pxt_act *act)
{
	struct pxt_lockuse *use = self;

	if (!act->lock || !act->actor)
		return;
	if (act->deed == PXT_LOCK_WAIT)
		asked(use, act);
	else if (act->deed == PXT_LOCK_ACQUIRE)
		taken(use, act);
	else if (act->deed == PXT_LOCK_RELEASE)
		given_back(use, act);
}

bool pxt_lockuse_read(
    struct pxt_lockuse *use, struct pxt_reader *reader, struct pxt_roles_book *book)
{
	struct pxt_progress progress;
	struct pxt_event *event;

	use->state = pxt_state_new(book, reader);
	use->state->lookers = (struct pxt_lookers){ .self = use, .act = look };
	use->orders = pxt_must(calloc(PXT_LOCKUSE_ORDERS_MAX, sizeof *use->orders));
	use->table = pxt_must(calloc(TABLE, sizeof *use->table));
	pxt_progress_reader(&progress, "locks", reader, false);
	while (!book->failed && (event = pxt_reader_next(reader)) != NULL) {
		pxt_progress_step(&progress);
		unsigned source = pxt_state_source(use->state, event);
		uint64_t lost;

		(void)pxt_state_gap(use->state, event, source, &lost);
		pxt_state_take(use->state, event, source);
	}
	pxt_progress_end(&progress);
	return !book->failed;
}

void pxt_lockuse_free(struct pxt_lockuse *use)
{
	free(use->rows);
	free(use->orders);
	free(use->table);
	free(use->waits);
	if (use->state)
		pxt_state_free(use->state);
}
