/* SPDX-License-Identifier: MIT */
/*
 * shutdown.c - the end of a stream: first it cannot be found, then nobody writes, then nobody sleeps on
 * it, then its memory goes; at exit() of the process the end of every stream.  The start of a forked
 * child: what it keeps of its parent's streams.
 */
#include "core/control/control.h"

#include "core/control/filestream.h"
#include "core/process/forks.h"
#include "core/process/replica.h"
#include "core/record/inspect.h"
#include "core/stream/share.h"
#include "core/stream/wanted.h"

#define HEAD_BYTES 4096u

/* Where the note of memory that is kept lies: in what was the consumer's, which no writer looks at. */
static struct pxt_kept *note_in(struct pxt_block *block)
{
	_Static_assert(sizeof(struct pxt_kept) <= 5 * sizeof(uint64_t), "the consumer's counts");
	return (struct pxt_kept *)(void *)&block->retrieved;
}

/*
 * Writers that are late may still need the addresses, and the head, which tells them where a lane is;
 * nobody reads what they store any more.  So all but the first page is given back at once.
 *
 * A file's own first page stays as the file has it: what is kept is a copy.  Without memory for that
 * the stream's is never given back: better than under a writer's feet.
 */
static void keep(struct pxt_block *block, size_t bytes)
{
	if (bytes > HEAD_BYTES)
		pxt_port_empty((unsigned char *)block + HEAD_BYTES, bytes - HEAD_BYTES);
	if (!pxt_port_own(block, bytes < HEAD_BYTES ? bytes : HEAD_BYTES, false))
		return;
	pxt_threads_kept_add(note_in(block), block, bytes);
}

/*
 * The process ends: some reader may be the thread that was interrupted by the handler that called
 * exit(), and never goes on.
 */
static _Atomic uint32_t ending;

#define WAKE_SLICE_NS 50000u

/* Those who sleep in a stream that is found no more.  False: a thread may be there still. */
static bool wake_sleepers(struct pxt_stream *stream)
{
	struct pxt_patience patience;

	pxt_patience_begin(&patience, pxt_holdback_ns);
	while (atomic_load_explicit(&stream->users, memory_order_acquire)) {
		atomic_store_explicit(&stream->block->asleep, 0u, memory_order_release);
		pxt_port_wake(&stream->block->asleep);
		if (!atomic_load_explicit(&ending, memory_order_relaxed)) {
			pxt_port_pause_ns(WAKE_SLICE_NS);
			pxt_patience_begin(&patience, pxt_holdback_ns);
		} else if (!pxt_patience_pause(&patience, WAKE_SLICE_NS)) {
			return false;
		}
	}
	return true;
}

/*
 * No thread can find the stream, and it holds no lock.  Writers go first: the wanted table and the
 * pointer are taken from them, then everyone inside is waited for.  Then the sleeping readers.
 * False: a thread may be inside still, and the memory is kept.  [proof: dismantle] [proof: sleepers]
 */
static bool dismantle(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	struct pxt_inspect_rules *rules;
	bool awake;
	bool left;

	atomic_store_explicit(&pxt_blocks[stream->index], NULL, memory_order_release);
	rules = pxt_inspect_withdraw(stream->index);
	pxt_wanted_update(stream->index, false);
	pxt_replica_end(stream->index);
	left = pxt_threads_wait_left(pxt_holdback_ns, PXT_OWN);
	awake = wake_sleepers(stream);
	/* The last sleeper still holds the lock; this place may be another stream's soon. */
	pxt_port_mutex_lock(&stream->mutex);
	pxt_port_mutex_unlock(&stream->mutex);
	if (awake && !left)
		keep(block, stream->block_bytes);
	else if (awake)
		pxt_port_free(block, stream->block_bytes);
	pxt_inspect_give_back(rules, left);
	pxt_threads_kept_give_back();
	pxt_port_mutex_lock(&stream->mutex);
	stream->block = NULL;
	stream->closing = 0;
	pxt_port_mutex_unlock(&stream->mutex);
	return left;
}

void pxt_shutdown_abandon(struct pxt_stream *stream)
{
	int32_t file = stream->block->attr._pxt_file;

	pxt_process_lock();
	pxt_port_mutex_lock(&stream->mutex);
	stream->closing = 1;
	pxt_port_mutex_unlock(&stream->mutex);
	if (dismantle(stream))
		pxt_filestream_undo(file);
	pxt_process_unlock();
}

int pxt_shutdown_stream(trace_id_t trid, const void *caller)
{
	struct pxt_stream *stream;
	int error = 0;

	pxt_share_settle(trid);
	stream = pxt_stream_control(trid);
	if (!stream)
		return EINVAL;
	pxt_control_stop(stream, caller);
	/* [proof: closing] */
	stream->closing = 1;
	pxt_handle_remove(trid);
	stream->trid = 0;
	pxt_stream_control_end(stream);
	pxt_share_close(stream);
	/* The unit's part may take long (the log's last write): without any lock. */
	if (stream->at_shutdown)
		error = stream->at_shutdown(stream);
	pxt_process_lock();
	pxt_filestream_end(stream->block);
	(void)dismantle(stream);
	pxt_process_unlock();
	return error;
}

/* How long another thread's posix_trace_shutdown() is waited for. */
#define EXIT_WAIT_NS  3000000000u
#define EXIT_SLICE_NS 1000000u

/* False: another thread shuts it down, or its lock could not be had. */
static bool wait_for_others(struct pxt_stream *stream)
{
	struct pxt_patience patience;

	pxt_patience_begin(&patience, EXIT_WAIT_NS);
	do {
		struct pxt_patience for_lock;
		bool closing;

		pxt_patience_begin(&for_lock, pxt_lock_patience_ns);
		if (!pxt_process_mutex_within(&stream->mutex, &for_lock))
			return false;
		closing = stream->closing;
		pxt_stream_unlock(stream);
		if (!closing)
			return stream->trid != 0;
	} while (pxt_patience_pause(&patience, EXIT_SLICE_NS));
	return false;
}

/*
 * Whether a stream can be shut down without waiting for ever: exit() may have been called by a
 * handler that interrupted the holder of a lock, and a log's device may take nothing any more.
 * What cannot be is left as it is; its memory goes with the process.
 */
static bool may_be_shut_down(struct pxt_stream *stream)
{
	struct pxt_patience patience;

	pxt_patience_begin(&patience, pxt_lock_patience_ns);
	if (!pxt_process_lock_within(&patience))
		return false;
	pxt_process_unlock();
	return wait_for_others(stream) && (!stream->at_exit || stream->at_exit(stream));
}

/*
 * At exit of the process that made them (DEC-23), after ordinary exit handlers: logs are
 * completed.  A forked child has no streams of its parent's to shut down.  The priority, the
 * first that programs may have, puts it after a program's own destructors in a static program,
 * too; the shared library's run after the program's anyway.
 */
__attribute__((destructor(101))) static void shut_all_down(void)
{
	atomic_store_explicit(&ending, 1u, memory_order_relaxed);
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		struct pxt_stream *stream = &pxt_streams[i];

		if (!pxt_stream_block(i) ||
		    !pxt_process_owns(atomic_load_explicit(&stream->epoch, memory_order_relaxed)) ||
		    !may_be_shut_down(stream))
			continue;
		/* Another thread may have begun it while this one waited. */
		if (pxt_shutdown_stream(stream->trid, NULL) != 0)
			(void)wait_for_others(stream);
	}
}

PXT_API int posix_trace_shutdown(trace_id_t trid)
{
	return pxt_shutdown_stream(trid, __builtin_return_address(0));
}

/*
 * ---- In the handler of a fatal signal ----
 *
 * The stream's mutex is held.  The process lock is not: any thread may have it.
 */

/* The stream's block stays while its mutex is held; those of others may go at any time. */
static void take_wanted(struct pxt_stream *stream)
{
	atomic_store_explicit(&pxt_fork.hot, PXT_NO_HOT, memory_order_release);
	pxt_bits_cool();
	/* Forked processes' fast paths. */
	atomic_store_explicit(&stream->block->no_short, 1u, memory_order_release);
	pxt_wanted_take(stream->index);
}

/*
 * A control call that was interrupted, or runs beside, may put the hot stream in force once more:
 * so it is taken out of force again when that has had its time.  A thread that is inside then is lost:
 * it may be the caller's own thread, and the process ends.
 */
void pxt_shutdown_seal(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	uint32_t state = pxt_block_state(block);

	if (state == PXT_GATE_OFF)
		return;
	state = pxt_control_shut_gate(stream);
	take_wanted(stream);
	(void)pxt_threads_wait_left(pxt_holdback_ns, pxt_stream_whose(block));
	take_wanted(stream);
	block->quiet = 1;
	if (state == PXT_GATE_RUNNING)
		pxt_sysevent_stop(block, PXT_STOP_BY_SIGNAL, NULL);
}

/* ---- In a forked child ---- */

static bool goes_on(void)
{
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		if (pxt_forks_keeps(i))
			return true;
	}
	return false;
}

/*
 * The thread that forks is inside a trace point, so none of these is given back now.  What a child
 * needs not have is not kept from later ones either, as other threads may be forking, too.
 */
static void lend(void)
{
	for (uint32_t i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		struct pxt_block *block = pxt_stream_block(i);

		if (!block || pxt_streams[i].theirs)
			continue;
		if (!pxt_streams[i].inherited)
			pxt_port_lend(block, pxt_streams[i].block_bytes);
		pxt_streams[i].lent = 1;
	}
}

/*
 * The trace point to come back into may have the block's address, and finds zeros there.  False: the child
 * goes on without the stream.
 */
static bool leave_behind(uint32_t index, bool kept)
{
	struct pxt_block *block = atomic_load_explicit(&pxt_blocks[index], memory_order_relaxed);
	size_t bytes = pxt_streams[index].block_bytes;
	void *moved = kept ? pxt_port_alias(block, bytes) : NULL;

	if (moved || pxt_streams[index].lent || pxt_streams[index].theirs)
		pxt_port_empty(block, bytes);
	atomic_store_explicit(&pxt_blocks[index], moved, memory_order_relaxed);
	return moved != NULL;
}

/* How a child begins. */
enum how {
	USUAL,
	INSIDE, /* its thread comes back into a trace point (core/process/forked.h) */
	ALONE,  /* so it does, and it leaves the forked processes */
};

/* Who comes back into a trace point may be in its rules, which this process cannot note as kept: it shares them. */
static void forget_stream(uint32_t index, enum how how)
{
	struct pxt_inspect_rules *rules = pxt_inspect_withdraw(index);

	atomic_store_explicit(&pxt_blocks[index], NULL, memory_order_relaxed);
	if (how == USUAL)
		pxt_inspect_give_back(rules, true);
}

static void forget_streams(enum how how)
{
	pxt_handle_forget_kind(&pxt_stream_kind);
	pxt_threads_kept_after_fork();
	for (uint32_t i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		bool kept = how != ALONE && pxt_forks_keeps(i);
		size_t bytes = pxt_streams[i].block_bytes;

		if (how != USUAL && atomic_load_explicit(&pxt_blocks[i], memory_order_relaxed))
			kept = leave_behind(i, kept);
		memset(&pxt_streams[i], 0, sizeof(pxt_streams[i]));
		pxt_streams[i].theirs = kept;
		pxt_streams[i].block_bytes = bytes;
		if (!kept)
			forget_stream(i, how);
	}
	pxt_replica_after_fork();
}

/* A child that was not started is not traced, and has none of its parent's streams. */
static void abandon(void)
{
	pxt_wanted_none();
	pxt_share_forget();
}

/* What it inherits, it goes on with. */
static bool begin(PXT_UNUSED bool shared, uint32_t inside)
{
	enum how how = USUAL;

	if (inside)
		how = goes_on() && pxt_directory_move() ? INSIDE : ALONE;
	forget_streams(how);
	return pxt_forks_after_fork();
}

const struct pxt_child_part pxt_shutdown_child = {
	.lend = lend,
	.abandon = abandon,
	.goes_on = goes_on,
	.begin = begin,
};
