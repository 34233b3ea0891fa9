/* SPDX-License-Identifier: MIT */
/* log.c - S.Ha.R.K.'s tracer: an event, its filter, and the way to the next chunk. */
#include "shark.h"

#include <string.h>

/*
 * The chunk that @from is linked to becomes the actual one; somebody else may have been here first.
 * -1: there is none to go on to.
 */
static int go_on(int from, bool is_full)
{
	struct shark_chunk *chunk = &shark.chunks[from];
	int next;

	if (!shark_lock())
		return -1;
	next = atomic_load(&shark.actual);
	if (next == from) {
		if (is_full)
			chunk->seen.flags |= FTRACE_CHUNK_FLAG_FULL;
		next = chunk->seen.next;
		if ((is_full && !(chunk->seen.flags & FTRACE_CHUNK_FLAG_JTN)) ||
		    shark_select(next) != 0)
			next = -1;
	}
	return shark_unlock(next);
}

static void refuse(struct shark_chunk *chunk)
{
	if (atomic_fetch_add_explicit(&chunk->refused, 1, memory_order_relaxed) == UINT32_MAX)
		(void)atomic_fetch_add_explicit(&chunk->refused_high, 1, memory_order_relaxed);
}

/*
 * Takes a place in a chunk that keeps old events; each full chunk is left for the next.
 * Bounded by the number of chunks: what was left is not free.
 */
static bool place(int number)
{
	struct shark_chunk *chunk = &shark.chunks[number];
	uint32_t limit;

	while ((limit = atomic_load_explicit(&chunk->limit, memory_order_relaxed)) != UINT32_MAX) {
		/* Looked at first, so that refused events do not count round. */
		if (atomic_load_explicit(&chunk->taken, memory_order_relaxed) < limit &&
		    atomic_fetch_add_explicit(&chunk->taken, 1, memory_order_relaxed) < limit)
			return true;
		number = go_on(number, true);
		if (number < 0) {
			refuse(chunk);
			return false;
		}
		chunk = &shark.chunks[number];
	}
	return true;
}

void shark_record(WORD type, WORD par1, DWORD par2)
{
	unsigned char data[SHARK_OTHER_BYTES];
	const trace_event_id_t id = type < SHARK_OTHER ? shark.types[type] : 0;

	memcpy(&data[0], &par1, sizeof(par1));
	memcpy(&data[2], &par2, sizeof(par2));
	memcpy(&data[SHARK_DATA_BYTES], &type, sizeof(type));
	if (__builtin_expect(id != 0, 1))
		posix_trace_event(id, data, SHARK_DATA_BYTES);
	else
		posix_trace_event(shark.types[SHARK_OTHER], data, SHARK_OTHER_BYTES);
}

void FTrace_log_event(WORD type, WORD par1, DWORD par2)
{
	/* Acquire: pairs with the release of who opened the chunk. */
	int chunk = atomic_load_explicit(&shark.actual, memory_order_acquire);
	const uint32_t quiet = atomic_load_explicit(&shark.quiet, memory_order_relaxed);

	if (chunk < 0 || type == FTrace_EVT_empty)
		return;
	if (type == FTrace_EVT_next_chunk) {
		(void)go_on(chunk, false);
		return;
	}
	/* Codes from 0xF0 are the filter's own, and no filter's business. */
	if (type < FTrace_filter_trace_Events && (quiet >> (type & FTrace_family_mask) & 1u))
		return;
	if (place(chunk))
		shark_record(type, par1, par2);
}

void FTrace_set_filter(BYTE family, int status)
{
	const WORD code = FTrace_filter_trace_Events | (family & FTrace_family_mask);
	const uint32_t bit = 1u << (family & FTrace_family_mask);

	if (code > FTrace_filter_timer)
		return;
	if (status)
		(void)atomic_fetch_or_explicit(&shark.quiet, bit, memory_order_relaxed);
	else
		(void)atomic_fetch_and_explicit(&shark.quiet, ~bit, memory_order_relaxed);
	FTrace_log_event(code, (WORD)status, 0);
}
