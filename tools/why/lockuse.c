/* SPDX-License-Identifier: MIT */
/* lockuse.c - waits for locks, the orders in which they are taken, and rings of orders; see lockuse.h. */
#include "tools/why/lockuse.h"

#include "tools/output/out.h"
#include "tools/why/state_parts.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define TABLE ((size_t)2 * PXT_LOCKUSE_ORDERS_MAX)

/* ---- Rows ---- */

static uint32_t row_of(struct pxt_lockuse *use, struct pxt_state_lock *lock)
{
	if (lock->row != 0 && lock->row_life != lock->life)
		use->rows[lock->row - 1] = (struct pxt_lockuse_row){ .lock = lock };
	lock->row_life = lock->life;
	if (lock->row != 0)
		return lock->row - 1;
	use->rows = pxt_must_grow(use->rows, &use->row_room, use->row_count, sizeof *use->rows);
	use->rows[use->row_count] = (struct pxt_lockuse_row){ .lock = lock };
	lock->row = ++use->row_count;
	return lock->row - 1;
}

static struct pxt_lockuse_wait *wait_of(struct pxt_lockuse *use, const struct pxt_actor *actor)
{
	use->waits = pxt_must_reach(use->waits, &use->wait_room, actor->index, sizeof *use->waits);
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

/* Where the thread took a lock that it has. */
static struct pxt_log_address place_of(
    const struct pxt_actor *actor, const struct pxt_state_lock *lock)
{
	for (unsigned i = 0; i < lock->share_count; i++)
		if (lock->shares[i].actor == actor)
			return lock->shares[i].place;
	return lock->place;
}

/* @to was taken, or waited for to the end, by a thread that has others. */
static void note_orders(struct pxt_lockuse *use, const struct pxt_actor *actor, uint32_t to,
    struct pxt_log_address to_place, int64_t ns)
{
	for (unsigned i = 0; i < actor->hold_count; i++) {
		uint32_t from = row_of(use, actor->holds[i]);
		struct pxt_lockuse_order *order = from == to ? NULL : order_of(use, from, to);

		if (!order)
			continue;
		actor->holds[i]->kept = use->rows[to].lock->kept = true;
		keep_gates(use, order, actor);
		if (order->count++ == 0) {
			order->by = actor;
			order->from_place = place_of(actor, actor->holds[i]);
			order->to_place = to_place;
			order->ns = ns;
		}
		order->others = order->others || order->by != actor;
	}
}

/* ---- Events ---- */

static void asked(struct pxt_lockuse *use, const struct pxt_act *act)
{
	bool known;

	use->asks = true;
	*wait_of(use, act->actor) = (struct pxt_lockuse_wait){ .lock = act->lock,
		.holder = pxt_lock_holder(use->state, act->lock, &known),
		.place = act->lock->place,
		.asked_in = pxt_places_of(act->event),
		.since_ns = act->ns,
		.epoch = use->state->epochs[act->actor->source] };
}

/* Where it took what it had, else where it gave it back. */
static struct pxt_lockuse_place place_or_given(const struct pxt_lockuse_row *row,
    const struct pxt_actor *holder, struct pxt_log_address taken_at)
{
	if (taken_at.address.value == 0 && row->given_by == holder)
		return (struct pxt_lockuse_place){ .at = row->given_at, .given_back = true };
	return (struct pxt_lockuse_place){ .at = taken_at };
}

/* A lock of a traced program is asked for when somebody has it; others are always asked for. */
static bool has_waited(const struct pxt_lockuse *use, const struct pxt_lockuse_wait *wait,
    const struct pxt_actor *actor)
{
	bool waited = wait->lock->of_system || (wait->holder && wait->holder != actor);

	/* Across a loss nobody knows what it waited for. */
	return waited && wait->epoch == use->state->epochs[actor->source];
}

static void end_wait(struct pxt_lockuse *use, const struct pxt_lockuse_wait *wait,
    const struct pxt_actor *actor, int64_t end_ns, struct pxt_lockuse_row *row)
{
	int64_t ns = end_ns - wait->since_ns;

	if (!has_waited(use, wait, actor))
		return;
	row->waits++;
	row->lock->kept = true;
	row->wait_ns += ns;
	if (ns <= row->longest_ns)
		return;
	row->longest_ns = ns;
	row->longest_at_ns = wait->since_ns;
	row->longest_by = actor;
	row->longest_holder = wait->holder;
	row->longest_place = (struct pxt_lockuse_place){ 0 };
	if (wait->holder)
		row->longest_place = place_or_given(row, wait->holder, wait->place);
	/* It waited in the end for the thread that gave it back last. */
	if (wait->holder || !row->given_by || row->given_ns < wait->since_ns)
		return;
	row->longest_holder = row->given_by;
	row->longest_place = place_or_given(row, row->given_by, row->given_taken_at);
}

/* The wait is over, and the lock is not had. */
static void given_up(struct pxt_lockuse *use, const struct pxt_act *act)
{
	struct pxt_lockuse_wait *wait = wait_of(use, act->actor);
	uint32_t index;

	if (!wait->lock || !wait->lock->of_system)
		return;
	/* Maybe nobody ever takes it. */
	index = row_of(use, wait->lock);
	end_wait(use, wait, act->actor, act->ns, &use->rows[index]);
	wait->lock = NULL;
}

static void note_traced(
    struct pxt_lockuse *use, const struct pxt_act *act, const struct pxt_lockuse_wait *wait)
{
	trace_event_id_t id = act->event->info.posix_event_id;

	/* Calls of semaphores are told in any case, and of a futex nothing but waits. */
	if (!act->lock->of_system || id == POSIX_TRACE_CALL_EXIT_NP)
		return;
	use->is_traced = true;
	if ((id == POSIX_TRACE_MUTEX_LOCK_NP || id == POSIX_TRACE_SYNC_LOCK_NP) &&
	    wait->lock != act->lock)
		use->tells_free = true;
}

static void taken(struct pxt_lockuse *use, const struct pxt_act *act)
{
	struct pxt_lockuse_wait *wait = wait_of(use, act->actor);
	uint32_t index = row_of(use, act->lock);
	struct pxt_lockuse_row *row = &use->rows[index];

	note_traced(use, act, wait);
	if (pxt_lock_depth(act->lock, act->actor) > 1)
		return;
	row->taken++;
	row->resumed += act->event->info.posix_event_id == POSIX_TRACE_COND_RESUME_NP;
	if (wait->lock == act->lock)
		end_wait(use, wait, act->actor, act->ns, row);
	wait->lock = NULL;
	note_orders(use, act->actor, index, pxt_places_of(act->event), act->ns);
}

static void end_hold(struct pxt_lockuse_row *row, const struct pxt_actor *actor,
    struct pxt_log_address place, int64_t since_ns, int64_t end_ns)
{
	if (end_ns - since_ns <= row->held_ns)
		return;
	row->held_ns = end_ns - since_ns;
	row->held_to_ns = end_ns;
	row->held_by = actor;
	row->held_place = place_or_given(row, actor, place);
}

static void given_back(struct pxt_lockuse *use, const struct pxt_act *act)
{
	uint32_t index = row_of(use, act->lock);
	struct pxt_lockuse_row *row = &use->rows[index];

	row->given_by = act->actor;
	row->given_at = pxt_places_of(act->event);
	row->given_ns = act->ns;
	row->given_taken_at = (struct pxt_log_address){ 0 };
	if (act->former == act->actor)
		row->given_taken_at = act->held_place;
	if (act->former && act->gave_back)
		end_hold(row, act->former, act->held_place, act->held_since_ns, act->ns);
}

static void look(void *self, const struct pxt_act *act)
{
	struct pxt_lockuse *use = self;

	if (act->actor && !act->lock && act->deed == PXT_LOCK_ACQUIRE)
		given_up(use, act);
	if (!act->lock || !act->actor)
		return;
	if (act->deed == PXT_LOCK_WAIT)
		asked(use, act);
	else if (act->deed == PXT_LOCK_ACQUIRE)
		taken(use, act);
	else if (act->deed == PXT_LOCK_RELEASE)
		given_back(use, act);
}

/* Who still waits at the end of the log has waited so long, and in an order: maybe for ever. */
static void end_waits(struct pxt_lockuse *use, int64_t end_ns)
{
	for (uint32_t i = 0; i < use->wait_room; i++) {
		const struct pxt_lockuse_wait *wait = &use->waits[i];
		const struct pxt_actor *actor;
		uint32_t row;

		if (!wait->lock)
			continue;
		actor = use->state->actors[i];
		row = row_of(use, wait->lock);
		end_wait(use, wait, actor, end_ns, &use->rows[row]);
		if (has_waited(use, wait, actor))
			note_orders(use, actor, row, wait->asked_in, wait->since_ns);
	}
}

/* Who still has a lock at the end of the log has had it so long. */
static void end_holds(struct pxt_lockuse *use, int64_t end_ns)
{
	for (uint32_t i = 0; i < use->state->actor_count; i++) {
		const struct pxt_actor *actor = use->state->actors[i];

		if (!pxt_actor_certain(use->state, actor))
			continue;
		for (unsigned j = 0; j < actor->hold_count; j++) {
			struct pxt_state_lock *lock = actor->holds[j];
			uint32_t row = row_of(use, lock);

			if (!lock->is_given)
				end_hold(
				    &use->rows[row], actor, lock->place, lock->since_ns, end_ns);
		}
	}
}

/* Without what was free, a lock that was held around two others may be missing. */
static void drop_orders(struct pxt_lockuse *use)
{
	uint32_t count = use->order_count;

	use->order_count = 0;
	memset(use->table, 0, TABLE * sizeof *use->table);
	for (uint32_t i = 0; i < count; i++) {
		const struct pxt_lockuse_order order = use->orders[i];

		if (!use->rows[order.from].lock->of_system)
			*order_of(use, order.from, order.to) = order;
	}
}

/* A traced program's own counts have all that events have, but for those after a wait for a condition, and more. */
static void take_counts(struct pxt_lockuse *use)
{
	struct pxt_state_lock *lock;

	for (size_t i = 0; i < (size_t)2 * PXT_STATE_LOCKS_MAX; i++) {
		lock = use->state->locks[i];
		if (lock && lock->counted) {
			uint32_t row = row_of(use, lock);

			use->rows[row].taken = lock->counted + use->rows[row].resumed;
		}
	}
	use->is_traced = use->is_traced || use->state->counts_locks;
}

bool pxt_lockuse_read(
    struct pxt_lockuse *use, struct pxt_reader *reader, struct pxt_roles_book *book)
{
	struct pxt_progress progress;
	struct pxt_event *event;
	int64_t end_ns = 0;

	use->state = pxt_state_new(book, reader);
	use->state->lookers = (struct pxt_lookers){ .self = use, .act = look };
	use->orders = pxt_must(calloc(PXT_LOCKUSE_ORDERS_MAX, sizeof *use->orders));
	use->table = pxt_must(calloc(TABLE, sizeof *use->table));
	pxt_progress_reader(&progress, "locks", reader, false);
	while (!book->failed && (event = pxt_reader_next(reader)) != NULL) {
		pxt_progress_step(&progress);
		unsigned source = pxt_state_source(use->state, event);
		uint64_t lost;

		end_ns = event->ns;
		(void)pxt_state_gap(use->state, event, source, &lost);
		pxt_state_take(use->state, event, source);
	}
	pxt_progress_end(&progress);
	pxt_state_end(use->state);
	take_counts(use);
	/* What threads wait for at the end with others in their hands is so in any case. */
	if (use->is_traced && !use->tells_free)
		drop_orders(use);
	end_waits(use, end_ns);
	end_holds(use, end_ns);
	pxt_state_names_at(use->state, INT64_MAX);
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

/* ---- Rings of locks that could deadlock ---- */

/* Orders that are looked at, in all: a log with more rings than that has said enough. */
#define STEPS UINT64_C(20000000)

struct search {
	const struct pxt_lockuse *use;
	uint32_t *first; /* of each row: the orders from it are next to each other in @sorted */
	const struct pxt_lockuse_order **sorted;
	const struct pxt_lockuse_order **came; /* by which order a row was reached */
	uint32_t *queue;
	uint64_t steps;
};

static int by_from(const void *a, const void *b)
{
	const struct pxt_lockuse_order *x = *(const struct pxt_lockuse_order *const *)a;
	const struct pxt_lockuse_order *y = *(const struct pxt_lockuse_order *const *)b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void begin(struct search *search, const struct pxt_lockuse *use)
{
	uint32_t rows = use->row_count;

	search->use = use;
	search->first = pxt_must(calloc((size_t)rows + 2, sizeof *search->first));
	search->queue = pxt_must(calloc((size_t)rows + 1, sizeof *search->queue));
	search->sorted =
	    pxt_must(calloc((size_t)use->order_count + 1, sizeof(struct pxt_lockuse_order *)));
	search->came = pxt_must(calloc((size_t)rows + 1, sizeof(struct pxt_lockuse_order *)));
	for (uint32_t i = 0; i < use->order_count; i++) {
		search->sorted[i] = &use->orders[i];
		search->first[use->orders[i].from + 1]++;
	}
	for (uint32_t i = 0; i < rows; i++)
		search->first[i + 1] += search->first[i];
	qsort(search->sorted, use->order_count, sizeof(const struct pxt_lockuse_order *), by_from);
}

static void end(struct search *search)
{
	free(search->first);
	free(search->queue);
	free(search->sorted);
	free(search->came);
}

/* The ring that ends in @last, back by the orders by which its rows were reached. */
static bool make_ring(const struct search *search, const struct pxt_lockuse_order *start,
    const struct pxt_lockuse_order *last, struct pxt_lockuse_ring *ring)
{
	const struct pxt_lockuse_order *order = last;
	unsigned count = 1;

	for (; order != start; order = search->came[order->from])
		count++;
	if (count > PXT_LOCKUSE_RING)
		return false;
	ring->count = count;
	for (order = last; count > 0; order = search->came[order->from])
		ring->orders[--count] = order;
	return true;
}

static void forget_ways(struct search *search, uint32_t used)
{
	for (uint32_t i = 0; i < used; i++)
		search->came[search->queue[i]] = NULL;
}

/*
 * The shortest way from @start's second lock back to its first one, over locks of higher rows alone: so
 * each ring is found from its lowest.
 */
static bool find_ring(
    struct search *search, const struct pxt_lockuse_order *start, struct pxt_lockuse_ring *ring)
{
	uint32_t used = 0;
	bool found = false;

	search->came[start->to] = start;
	search->queue[used++] = start->to;
	for (uint32_t i = 0; i < used && !found; i++) {
		uint32_t row = search->queue[i];

		for (uint32_t k = search->first[row]; k < search->first[row + 1] && !found; k++) {
			const struct pxt_lockuse_order *order = search->sorted[k];

			search->steps++;
			found = order->to == start->from;
			if (found && !make_ring(search, start, order, ring))
				ring->count = 0;
			if (found || order->to < start->from || search->came[order->to])
				continue;
			search->came[order->to] = order;
			search->queue[used++] = order->to;
		}
	}
	forget_ways(search, used);
	return found && ring->count > 0;
}

/* One thread alone waits for nobody. */
static bool by_several(const struct pxt_lockuse_ring *ring)
{
	for (unsigned i = 0; i < ring->count; i++)
		if (ring->orders[i]->others || ring->orders[i]->by != ring->orders[0]->by)
			return true;
	return false;
}

static bool has_gate(const struct pxt_lockuse_order *order, uint32_t row)
{
	for (unsigned i = 0; i < order->gate_count; i++)
		if (order->gates[i] == row)
			return true;
	return false;
}

/* Who holds a lock that all others of the ring hold, too, is alone there. */
static bool is_guarded(const struct pxt_lockuse_ring *ring)
{
	for (unsigned i = 0; i < ring->orders[0]->gate_count; i++) {
		unsigned k = 1;

		while (k < ring->count && has_gate(ring->orders[k], ring->orders[0]->gates[i]))
			k++;
		if (k == ring->count)
			return true;
	}
	return false;
}

unsigned pxt_lockuse_rings(
    const struct pxt_lockuse *use, struct pxt_lockuse_ring rings[PXT_LOCKUSE_RINGS], bool *all)
{
	struct search search = { 0 };
	unsigned count = 0;
	uint32_t i;

	begin(&search, use);
	for (i = 0; i < use->order_count && count < PXT_LOCKUSE_RINGS && search.steps < STEPS;
	     i++) {
		const struct pxt_lockuse_order *order = search.sorted[i];

		if (order->to > order->from && find_ring(&search, order, &rings[count]) &&
		    by_several(&rings[count]) && !is_guarded(&rings[count]))
			count++;
	}
	*all = i == use->order_count;
	end(&search);
	return count;
}
