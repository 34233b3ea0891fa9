/* SPDX-License-Identifier: MIT */
/* lockorder.c - rings of locks that could deadlock; see lockuse.h. */
#include "tools/output/out.h"
#include "tools/why/lockuse.h"

#include <stdlib.h>

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

unsigned pxt_lockorder_rings(
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
