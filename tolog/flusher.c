/* SPDX-License-Identifier: MIT */
/*
 * flusher.c - policy FLUSH: a thread that flushes before the stream is full (how full sets a mark, at which
 * writers wake it), restarts it when it was not fast enough, and tries again a while after an error.
 *
 * It sleeps as a reader does (online/online.c): it announces itself, makes all writers pass a
 * fence, looks again, sleeps.  The writer that fills a lane up to the mark, or stops the stream,
 * wakes it.
 */
#include "tolog/tolog.h"

/* No more than so much waits for a flusher that sleeps, which the rest of a large lane is for. */
#define MARK_BYTES 1048576u

#define POLL_NS    1000000u
#define RECOVER_NS 100000000u /* after an error, before the next attempt */

struct pxt_tolog_flusher {
	struct pxt_port_thread thread;
	_Atomic uint32_t ending;
	bool started;
};

size_t pxt_tolog_flusher_bytes(void)
{
	return sizeof(struct pxt_tolog_flusher);
}

static bool ending(struct pxt_tolog_flusher *flusher)
{
	return atomic_load_explicit(&flusher->ending, memory_order_seq_cst) != 0;
}

/* A lane is filled up to the mark, or the stream waits for being flushed. */
static bool due(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;

	if (pxt_block_state(block) == PXT_GATE_AUTO)
		return true;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);
		uint32_t used = pxt_head_pos(pxt_cursor_load(&lane->head)) -
		                atomic_load_explicit(&lane->limit, memory_order_relaxed);

		if (used >= block->mark)
			return true;
	}
	return false;
}

/* [proof: sleep] */
static void nap(struct pxt_stream *stream, struct pxt_tolog_flusher *flusher)
{
	struct pxt_block *block = stream->block;
	uint32_t number = 0;
	uint64_t slice = stream->polling ? POLL_NS : 0u;

	if (!stream->polling) {
		number = pxt_block_announce_sleep(block);
		if (!pxt_port_fence_all())
			slice = POLL_NS;
	}
	if (ending(flusher) || due(stream)) {
		atomic_store_explicit(&block->asleep, 0u, memory_order_relaxed);
		return;
	}
	pxt_stream_unlock(stream);
	(void)pxt_port_wait(&block->asleep, number, NULL, slice);
	pxt_port_mutex_lock(&stream->mutex);
}

/* After an error the flusher waits before it tries again. */
static void flush(struct pxt_stream *stream, struct pxt_tolog_flusher *flusher)
{
	int error = 0;

	pxt_tolog_lock(stream);
	/* Somebody else may have done it meanwhile. */
	if (due(stream) && !ending(flusher))
		error = pxt_tolog_flush(stream, false);
	pxt_tolog_unlock(stream);
	if (!error)
		return;
	pxt_stream_unlock(stream);
	(void)pxt_port_wait(&flusher->ending, 0u, NULL, RECOVER_NS);
	pxt_port_mutex_lock(&stream->mutex);
}

static void run(void *argument)
{
	struct pxt_stream *stream = argument;
	struct pxt_tolog_flusher *flusher = pxt_tolog_of(stream)->flusher;

	if (!stream->block->attr._pxt_flush_priority)
		pxt_port_thread_hurry();
	pxt_port_mutex_lock(&stream->mutex);
	while (!ending(flusher)) {
		if (due(stream))
			flush(stream, flusher);
		else
			nap(stream, flusher);
	}
	pxt_stream_unlock(stream);
}

int pxt_tolog_flusher_start(struct pxt_stream *stream)
{
	struct pxt_tolog_flusher *flusher = pxt_tolog_of(stream)->flusher;
	struct pxt_block *block = stream->block;
	const uint32_t most = MARK_BYTES / PXT_SLOT_BYTES;
	uint64_t slots = (uint64_t)block->slot_mask + 1u;
	int error;

	if (block->full_policy != POSIX_TRACE_FLUSH)
		return 0;
	block->mark = (uint32_t)(slots * CONFIG_PTRACE_FLUSH_MARK_PCT / 100u);
	block->mark = block->mark < most ? block->mark : most;
	error =
	    pxt_port_thread_start(&flusher->thread, run, stream, block->attr._pxt_flush_priority);
	flusher->started = !error;
	return error;
}

/* Announced to the sleeper in both ways, and looked at by it after its own announcement. */
void pxt_tolog_flusher_end(struct pxt_stream *stream)
{
	struct pxt_tolog_flusher *flusher = pxt_tolog_of(stream)->flusher;
	struct pxt_block *block = stream->block;

	if (!flusher->started)
		return;
	atomic_store_explicit(&flusher->ending, 1u, memory_order_seq_cst);
	pxt_port_wake(&flusher->ending);
	atomic_store_explicit(&block->asleep, 0u, memory_order_seq_cst);
	pxt_port_wake(&block->asleep);
	pxt_port_thread_join(&flusher->thread);
	flusher->started = false;
}
