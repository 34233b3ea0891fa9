/* SPDX-License-Identifier: MIT */
/* stream.c - S.Ha.R.K.'s tracer: the stream of the actual chunk, and what becomes of its events. */
#include "shark.h"

#include <string.h>

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

int shark_begin(void)
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

int shark_go_on(int number)
{
	static DWORD times;

	if (shark.chunks[number].seen.capacity > shark.largest)
		return -1;
	/* First: who has a place in the next chunk records after it, and only who has one in this comes late. */
	shark_record(FTrace_EVT_next_chunk, (WORD)number, times++);
	atomic_store_explicit(&shark.actual, number, memory_order_release);
	take(number);
	return 0;
}

void shark_end(void)
{
	atomic_store(&shark.actual, -1);
	if (shark.stream == 0)
		return;
	(void)posix_trace_stop(shark.stream);
	take(-1);
	(void)posix_trace_shutdown(shark.stream);
	shark.stream = 0;
}
