/* SPDX-License-Identifier: MIT */
/*
 * tracer.c - S.Ha.R.K.'s tracer: chunks, and which of them is the actual one; its stream, and what becomes of the events
 * there; an event, its filter, and the way to the next chunk.
 */
#include "shark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS 0x7f

struct shark_tracer shark = { .actual = -1, .selected = -1 };

static FTrace_Chunk_Ptr table[FTRACE_CHUNKS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread volatile bool inside;

/* ---- The lock ---- */

bool shark_lock(void)
{
	/* A signal handler would wait for the thread that it interrupted. */
	if (inside)
		return false;
	inside = true;
	(void)pthread_mutex_lock(&lock);
	return true;
}

int shark_unlock(int result)
{
	(void)pthread_mutex_unlock(&lock);
	inside = false;
	return result;
}

struct shark_chunk *shark_enter(int number)
{
	if (number < 0 || number >= FTRACE_CHUNKS_MAX || !shark_lock())
		return NULL;
	if (shark.chunks[number].seen.memory)
		return &shark.chunks[number];
	(void)shark_unlock(0);
	return NULL;
}

/* ---- The stream of the actual chunk ---- */

/* Puts an event into all streams. */
static void record(WORD type, WORD par1, DWORD par2)
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

#define EVENT(name, one, two) { name, #name, SHARK_FORMAT(#one, #two) },
#define FILTER(name)          { name, #name, SHARK_FORMAT("status", "par2") },
static const struct {
	WORD code;
	const char *name;
	const char *format;
} codes[] = { { FTrace_EVT_next_chunk, "FTrace_EVT_next_chunk", SHARK_FORMAT("next", "number") },
	FTRACE_EVENTS(EVENT) FTRACE_FILTERS(FILTER){
	    SHARK_OTHER, "FTrace_EVT_other", SHARK_FORMAT("par1", "par2") ", x16 code" } };

static int open_types(void)
{
	int error = 0;

	for (size_t i = 0; !error && i < sizeof(codes) / sizeof(codes[0]); i++)
		if (shark.types[codes[i].code] == 0)
			error = compat_open_type(
			    codes[i].name, codes[i].format, &shark.types[codes[i].code]);
	return error;
}

static WORD code_of(trace_event_id_t id, const unsigned char *data)
{
	WORD code;

	for (code = 0; code < SHARK_OTHER; code++)
		if (shark.types[code] == id)
			return code;
	memcpy(&code, &data[SHARK_DATA_BYTES], sizeof(code));
	return code;
}

/* The 16 bytes of the manual: code, parameter 1, stamp (high half first), parameter 2. */
static void keep(struct FTrace_Chunk *c, WORD code, const unsigned char *data, uint64_t ticks)
{
	const bool cyclic = !(c->flags & (FTRACE_CHUNK_FLAG_JTN | FTRACE_CHUNK_FLAG_STOP));
	DWORD at = c->events;
	unsigned char *to;
	WORD par1;
	DWORD par2;

	if (at < c->capacity || (!cyclic && at < c->capacity + SHARK_LATE)) {
		c->events++;
	} else if (cyclic) {
		at = c->oldest;
		c->oldest = (at + 1) % c->capacity;
		c->overwritten++;
	} else {
		c->refused++;
		return;
	}
	to = &c->memory[(size_t)at * FTRACE_EVENT_BYTES];
	memcpy(&par1, &data[0], sizeof(par1));
	memcpy(&par2, &data[2], sizeof(par2));
	shark_little(&to[0], code, 2);
	shark_little(&to[2], par1, 2);
	shark_little(&to[4], (uint32_t)(ticks >> 32), 4);
	shark_little(&to[8], (uint32_t)ticks, 4);
	shark_little(&to[12], par2, 4);
}

/*
 * Reads up to the event that says that @next follows; -1: all that there is.  That event was recorded,
 * so it comes: who stands still in the middle of an earlier one is waited for, at most a second.
 */
static void take(int next)
{
	struct shark_chunk *chunk = &shark.chunks[shark.filled];
	struct posix_trace_event_info info;
	struct posix_trace_eventextra_np extra;
	unsigned char data[SHARK_OTHER_BYTES];
	struct timespec until;
	size_t bytes;
	int none = 0;
	WORD code = FTrace_EVT_empty;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += next < 0 ? 0 : 1;
	while (code != FTrace_EVT_next_chunk &&
	       posix_trace_timedgetnext_event(
	           shark.stream, &info, data, sizeof(data), &bytes, &none, &until) == 0 &&
	       !none) {
		(void)posix_trace_eventinfo_getextra_np(&info, &extra, sizeof(extra));
		chunk->seen.overwritten += extra.posix_lost_before_np;
		code = code_of(info.posix_event_id, data);
		if (code != FTrace_EVT_next_chunk)
			keep(&chunk->seen, code, data, extra.posix_ticks_np);
	}
	chunk->seen.refused += atomic_exchange(&chunk->refused, 0);
	chunk->seen.refused += (uint64_t)atomic_exchange(&chunk->refused_high, 0) << 32;
	shark.filled = next;
}

/* The stream, for the selected chunk; -1: it cannot be had. */
static int begin(void)
{
	struct compat_own own = {
		.name = "shark",
		.policy = POSIX_TRACE_LOOP,
		.data_bytes = SHARK_OTHER_BYTES,
		.event_bytes = SHARK_OTHER_BYTES,
		.types = shark.types,
		.count = sizeof(shark.types) / sizeof(shark.types[0]),
	};

	for (int i = 0; i < FTRACE_CHUNKS_MAX; i++)
		if (shark.chunks[i].seen.memory && shark.chunks[i].seen.capacity > own.events)
			own.events = shark.chunks[i].seen.capacity;
	shark.largest = (DWORD)own.events;
	/* A chunk is emptied while others fill the next one. */
	own.events = own.events * 2 + SHARK_LATE;
	if (open_types() != 0 || compat_make_stream(&own, &shark.stream) != 0)
		return -1;
	shark.filled = shark.selected;
	/* Release: who finds the number finds the types. */
	atomic_store_explicit(&shark.actual, shark.selected, memory_order_release);
	return 0;
}

/* The chunk becomes the actual one of a tracer that is enabled; -1: it is larger than the stream. */
static int make_actual(int number)
{
	static DWORD times;

	if (shark.chunks[number].seen.capacity > shark.largest)
		return -1;
	/* First: who has a place in the next chunk records after it, and only who has one in this comes late. */
	record(FTrace_EVT_next_chunk, (WORD)number, times++);
	atomic_store_explicit(&shark.actual, number, memory_order_release);
	take(number);
	return 0;
}

/* Takes what the stream holds, and ends it. */
static void end(void)
{
	atomic_store(&shark.actual, -1);
	if (shark.stream == 0)
		return;
	(void)posix_trace_stop(shark.stream);
	take(-1);
	(void)posix_trace_shutdown(shark.stream);
	shark.stream = 0;
}

/* ---- Chunks ---- */

void shark_set_flags(struct shark_chunk *chunk, FTrace_flags flags)
{
	const bool keeps = flags & (FTRACE_CHUNK_FLAG_JTN | FTRACE_CHUNK_FLAG_STOP);

	chunk->seen.flags = flags;
	atomic_store(&chunk->limit, keeps ? chunk->seen.capacity : UINT32_MAX);
}

int FTrace_chunk_create(int normal_size, int emergency_size, FTrace_flags flags)
{
	int number = 0;
	void *memory = NULL;

	if (normal_size < FTRACE_EVENT_BYTES || emergency_size < 0 || (flags & ~FLAGS) ||
	    !shark_lock())
		return -1;
	while (number < FTRACE_CHUNKS_MAX && table[number])
		number++;
	if (number < FTRACE_CHUNKS_MAX)
		memory = calloc(
		    (size_t)normal_size / FTRACE_EVENT_BYTES + SHARK_LATE, FTRACE_EVENT_BYTES);
	if (!memory)
		return shark_unlock(-1);
	shark.chunks[number].seen = (struct FTrace_Chunk){ .number = number,
		.normal_size = normal_size,
		.emergency_size = emergency_size,
		.next = -1,
		.capacity = (DWORD)(normal_size / FTRACE_EVENT_BYTES),
		.memory = memory };
	shark_set_flags(&shark.chunks[number], flags);
	table[number] = &shark.chunks[number].seen;
	return shark_unlock(number);
}

int FTrace_chunk_delete(int number)
{
	struct shark_chunk *chunk = shark_enter(number);

	if (!chunk)
		return -1;
	if ((chunk->seen.flags & FTRACE_CHUNK_FLAG_NODEL) || atomic_load(&shark.actual) == number)
		return shark_unlock(chunk->seen.flags & FTRACE_CHUNK_FLAG_NODEL ? 0 : -1);
	free(chunk->seen.memory);
	chunk->seen.memory = NULL;
	table[number] = NULL;
	if (shark.selected == number)
		shark.selected = -1;
	return shark_unlock(0);
}

int FTrace_set_chunk_flags(int number, FTrace_flags flags)
{
	struct shark_chunk *chunk = flags & ~FLAGS ? NULL : shark_enter(number);

	if (!chunk)
		return -1;
	shark_set_flags(chunk, flags);
	return shark_unlock(0);
}

int FTrace_get_chunk_flags(int number, FTrace_flags *flags)
{
	const struct shark_chunk *chunk = flags ? shark_enter(number) : NULL;

	if (!chunk)
		return -1;
	*flags = chunk->seen.flags;
	return shark_unlock(0);
}

int FTrace_chunk_link(int chunk_A, int chunk_B)
{
	struct shark_chunk *chunk = shark_enter(chunk_A);
	const bool both = chunk && chunk_B >= 0 && chunk_B < FTRACE_CHUNKS_MAX && table[chunk_B];

	if (both)
		chunk->seen.next = chunk_B;
	return chunk ? shark_unlock(both ? 0 : -1) : -1;
}

int FTrace_get_first_chunk(FTrace_flags flags)
{
	int number = 0;

	if (!shark_lock())
		return -1;
	while (number < FTRACE_CHUNKS_MAX &&
	       (!table[number] || (table[number]->flags & flags) != flags))
		number++;
	return shark_unlock(number < FTRACE_CHUNKS_MAX ? number : -1);
}

FTrace_Chunk_Ptr *FTrace_get_chunk_table(void)
{
	return table;
}

int FTrace_chunk_dump(int number)
{
	const struct shark_chunk *chunk = shark_enter(number);

	if (!chunk)
		return -1;
	printf("chunk %d flags 0x%02x normal %d emergency %d events %" PRIu32 " next %d\n", number,
	    chunk->seen.flags, chunk->seen.normal_size, chunk->seen.emergency_size,
	    chunk->seen.events, chunk->seen.next);
	return shark_unlock(0);
}

int FTrace_compress_chunk(int number, FTrace_flags new_flags)
{
	return (void)number, (void)new_flags, -1;
}

/* ---- The actual chunk ---- */

/* A free chunk becomes the selected one, and the actual one of an enabled tracer. */
static int choose(int number)
{
	struct shark_chunk *chunk;

	if (number < 0 || number >= FTRACE_CHUNKS_MAX)
		return -1;
	chunk = &shark.chunks[number];
	if (!table[number] || !(chunk->seen.flags & FTRACE_CHUNK_FLAG_FREE) ||
	    atomic_load(&shark.actual) == number)
		return -1;
	chunk->seen.events = chunk->seen.oldest = 0;
	chunk->seen.overwritten = chunk->seen.refused = 0;
	atomic_store(&chunk->taken, 0);
	if (atomic_load(&shark.actual) >= 0 && make_actual(number) != 0)
		return -1;
	chunk->seen.flags &= (FTrace_flags) ~(FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_FULL);
	shark.selected = number;
	return 0;
}

int FTrace_actual_chunk_select(int number)
{
	return shark_enter(number) ? shark_unlock(choose(number)) : -1;
}

int FTrace_enable(void)
{
	if (!shark_lock())
		return -1;
	if (atomic_load(&shark.actual) >= 0)
		return shark_unlock(0);
	return shark_unlock(shark.selected < 0 ? -1 : begin());
}

int FTrace_disable(void)
{
	if (!shark_lock())
		return -1;
	end();
	return shark_unlock(0);
}

/* ---- Events ---- */

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
		if ((is_full && !(chunk->seen.flags & FTRACE_CHUNK_FLAG_JTN)) || choose(next) != 0)
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
		record(type, par1, par2);
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
