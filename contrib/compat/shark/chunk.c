/* SPDX-License-Identifier: MIT */
/* chunk.c - S.Ha.R.K.'s tracer: chunks, and which of them is the actual one. */
#include "shark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

int shark_select(int number)
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
	if (atomic_load(&shark.actual) >= 0 && shark_go_on(number) != 0)
		return -1;
	chunk->seen.flags &= (FTrace_flags) ~(FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_FULL);
	shark.selected = number;
	return 0;
}

int FTrace_actual_chunk_select(int number)
{
	return shark_enter(number) ? shark_unlock(shark_select(number)) : -1;
}

int FTrace_enable(void)
{
	if (!shark_lock())
		return -1;
	if (atomic_load(&shark.actual) >= 0)
		return shark_unlock(0);
	return shark_unlock(shark.selected < 0 ? -1 : shark_begin());
}

int FTrace_disable(void)
{
	if (!shark_lock())
		return -1;
	shark_end();
	return shark_unlock(0);
}
