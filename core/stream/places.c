/* SPDX-License-Identifier: MIT */
/*
 * places.c - which places of the thread table no record names any more; see stream.h.
 *
 * A thread that has ended stores no more records.  So a place that no slot of any lane named when all of
 * them were looked at is named by none later.  What was taken out of a lane before, by a flush or a
 * copy, is kept from this by pxt_threads_pin().
 */
#include "core/stream/stream.h"

/* So many threads end between two looks, or more where the last one found nothing. */
#define TURN_LEAST (CONFIG_PTRACE_MAX_THREADS / 16u + 1u)
#define TURN_MOST  (CONFIG_PTRACE_MAX_THREADS)

#define WORD_BITS 32u

#if PXT_PLACES_AGAIN

static _Atomic uint32_t busy;
static _Atomic uint32_t ended; /* threads since the last look */

/* Of who looks: one at a time. */
static uint32_t turn = TURN_LEAST;
static uint64_t last_ticks;
static uint32_t named[PXT_PLACES_WORDS];

/* All slots; on a board, where each look costs, those that were not read yet. */
static uint32_t unread(const struct pxt_ring *ring, uint32_t head)
{
	uint32_t limit;

	if (!PXT_ENDS_ASIDE)
		return ring->mask + 1u;
	limit = atomic_load_explicit(&ring->lane->limit, memory_order_acquire);
	return head - limit <= ring->mask ? head - limit : ring->mask + 1u;
}

static void note_lane(const struct pxt_ring *ring)
{
	uint32_t head = pxt_head_pos(pxt_cursor_load(&ring->lane->head));

	for (uint32_t left = unread(ring, head); left > 0; left--) {
		uint32_t at = (head - left) & ring->mask;
		struct pxt_halves begin = pxt_slot_load_halves(&ring->slots[at]);
		struct pxt_halves next;
		uint32_t index;

		if (!((uint32_t)begin.low & PXT_SLOT_BEGIN))
			continue;
		next = pxt_slot_load_halves(&ring->slots[(at + 1u) & ring->mask]);
		index = (uint32_t)(next.low >> 32) & 0xffffu;
		if (index < CONFIG_PTRACE_MAX_THREADS)
			named[index / WORD_BITS] |= 1u << index % WORD_BITS;
	}
}

/* The caller is inside: a stream that is found stays until it has left. */
static void note_all(void)
{
	memset(named, 0, sizeof(named));
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		struct pxt_block *block = pxt_stream_block(i);

		for (uint32_t lane = 0; block && lane <= pxt_block_last(block); lane++) {
			const struct pxt_ring ring = pxt_block_ring(block, lane);

			note_lane(&ring);
		}
	}
}

static uint32_t give_back(uint64_t since)
{
	uint32_t given = 0;

	for (uint32_t i = 1; i < CONFIG_PTRACE_MAX_THREADS; i++) {
		if (pxt_threads_has_ended(i) && !(named[i / WORD_BITS] & 1u << i % WORD_BITS)) {
			pxt_threads_give_back(i, since);
			given++;
		}
	}
	return given;
}

/*
 * Threads that ended before the last look recorded before it.  Who comes next records after this one.
 * So a stamp halfway between the two parts their records, also where processors' counters differ a little.
 */
static void look(void)
{
	const uint64_t now = pxt_port_ticks_ordered();
	const uint64_t before = last_ticks;
	bool may = !pxt_threads_pinned() && now > before;
	uint32_t given = 0;

	last_ticks = now;
	pxt_threads_next_look();
	if (may) {
		note_all();
		if (!pxt_threads_pinned())
			given = give_back(now - (now - before) / 2u);
	}
	turn = given ? TURN_LEAST : turn < TURN_MOST / 2u ? turn * 2u : TURN_MOST;
	atomic_store_explicit(&ended, 0u, memory_order_relaxed);
}

static void one_more_ended(void)
{
	uint32_t count = 1u + atomic_fetch_add_explicit(&ended, 1u, memory_order_relaxed);
	struct pxt_pass pass;

	if (count < TURN_LEAST || !pxt_threads_few_places() ||
	    atomic_exchange_explicit(&busy, 1u, memory_order_acquire))
		return;
	if (count >= turn && pxt_enter(&pass)) {
		look();
		pxt_leave(&pass);
	}
	atomic_store_explicit(&busy, 0u, memory_order_release);
}

#if !PXT_ENDS_ASIDE
void pxt_places_begin(void)
{
	if (sizeof(pxt_cell) == sizeof(struct pxt_slot))
		atomic_store_explicit(&pxt_threads_one_ended, one_more_ended, memory_order_release);
}
#endif

#elif PXT_ENDS_ASIDE

PXT_OFF(one_more_ended, void);

#endif

#if PXT_ENDS_ASIDE
PXT_API void posix_trace_task_end_np(struct posix_trace_task_np *task)
{
	pxt_threads_end((void *)task);
	one_more_ended();
}
#endif
