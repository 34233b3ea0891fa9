/* SPDX-License-Identifier: MIT */
/*
 * stream.h - a stream: its block of memory and what this process keeps beside it.
 *
 *   concurrency        writers (emit.c)   consumer   control
 *   writers                       -              -          -
 *   consumer                      -              X          X     X: by the stream's mutex
 *   control                       -              X          X     and, for what touches
 *                                                                 _pxt_wanted, the process lock
 *
 * The block holds no pointers, only offsets and indices, so that it can be mapped anywhere, shared
 * between processes, or found in a file or a dump: header, the words of all lanes, then their slots.
 *
 * Order of locks: process lock, then stream mutex.  No thread that waits for events sleeps with either,
 * and no log is written to with them, but by the handler that seals it (tolog/seal.c).  They are held
 * over what may take a while, too; all but the first has a bound:
 *
 *   create             the process lock, while a file's pages are taken for a stream that lives in it
 *                      (core/control/filestream.h): as long as that file system takes
 *   stop               both, while trace points that are inside come out (pxt_threads_wait_left()):
 *                      up to the hold-back time
 *   set_filter         both, for the same, twice
 *   shutdown           both for its stop; then the process lock, for the same once more, and until
 *                      readers that slept are gone
 *   seal               the mutex, for the same
 *   names, formats,    the process lock, while a forked process has the forked processes' (pxt_forks_lock()): up
 *   new replicas        to the hold-back time, but 1 ms where that process is stopped
 *   a replica's end     the process lock, as for shutdown
 */
#ifndef PXT_STREAM_H
#define PXT_STREAM_H

#include "base/handle.h"
#include "core/process/threads.h"
#include "core/stream/block.h"

/* Who and where, as recorded. */
struct pxt_origin {
	uint64_t thread;
	int32_t pid;
	uintptr_t address;
	bool known; /* the thread was recorded */
};

/* What this process keeps of a stream; static, so that a stale identifier finds something. */
struct pxt_stream {
	struct pxt_port_mutex mutex;
	const struct pxt_ops *ops;
	struct pxt_block *block;
	size_t block_bytes;
	trace_id_t trid;        /* 0: free */
	_Atomic uint32_t epoch; /* of the process that created it; looked at before the mutex */
	uint32_t index;
	_Atomic uint32_t users;   /* sleeping readers, which still need the block */
	trace_event_id_t type_at; /* position in the list of types */
	uint8_t inherited;        /* children go on with it (core/process/forks.h) */
	/* The place of a forked process' stream, which this process only writes into. */
	uint8_t theirs;
	uint8_t lent;      /* children have its memory, or zeros there */
	uint8_t has_mutex; /* made once: a thread with an old identifier may hold it at any time */
	uint8_t polling;
	uint8_t closing;  /* shutdown has begun: sleepers leave */
	uint8_t dead_log; /* the log cannot take more: start has no effect (DEC-14) */
	void *log;        /* Trace-To-Log's own */
	void *views;      /* On-Line's own: events that are handed out many at once */
	PXT_SHARE_MEMBER
	/* What a unit wants done: before the block goes, and when the stream is cleared. */
	int (*at_shutdown)(struct pxt_stream *stream);
	/* The process ends.  False: the unit's part cannot be ended in time; it is left as it is. */
	bool (*at_exit)(struct pxt_stream *stream);
	int (*at_clear)(struct pxt_stream *stream);
	/* With the mutex alone, which it may give up meanwhile.  An error: nothing is cleared. */
	int (*before_clear)(struct pxt_stream *stream);

	/* After what all functions ask for: what a reader does. */
	struct pxt_ticks ticks;        /* counter to CLOCK_REALTIME, as anchored at creation */
	struct pxt_second second;      /* that the reader's times are in */
	struct pxt_origin last_origin; /* of the event that was read last; core/read/take.h */
	uint32_t last_thread;          /* its thread's index; PXT_THREAD_EXTRA: not known */
	uint32_t last_given;           /* pxt_threads_given then */
};

extern struct pxt_stream pxt_streams[CONFIG_PTRACE_MAX_STREAMS];
/* What a writer needs: the blocks by index.  NULL where there is no stream. */
extern struct pxt_block *_Atomic pxt_blocks[CONFIG_PTRACE_MAX_STREAMS];

/* Acquire: pairs with the release of create, so the block is complete. */
PXT_INLINE struct pxt_block *pxt_stream_block(uint32_t index)
{
	return atomic_load_explicit(&pxt_blocks[index], memory_order_acquire);
}

extern const char pxt_stream_kind;

/* ---- stream.c ---- */

/* The living stream of this process after @trid, its mutex held; NULL: EINVAL. */
struct pxt_stream *pxt_stream_lock(trace_id_t trid);
/*
 * The same for an operation that already found the object: 0, or EINVAL where it is not @trid's any
 * more.
 */
int pxt_stream_enter_as(void *object, trace_id_t trid);
/* Whatever identifier it has. */
bool pxt_stream_enter(struct pxt_stream *stream);
void pxt_stream_unlock(struct pxt_stream *stream);
/* The same; returns @error. */
int pxt_stream_leave(void *object, int error);
/* With both locks, in their order: start, stop, clear, set_filter. */
struct pxt_stream *pxt_stream_control(trace_id_t trid);
void pxt_stream_control_end(struct pxt_stream *stream);

/* ---- Whether other processes may write into a stream's block (core/process/forks.h) ---- */

PXT_INLINE bool pxt_stream_is_inherited(const struct pxt_block *block)
{
	return CONFIG_PTRACE_INHERIT && block->attr._pxt_inherit == POSIX_TRACE_INHERITED;
}

/* Who may be inside a trace point that writes into @block. */
PXT_INLINE enum pxt_whose pxt_stream_whose(const struct pxt_block *block)
{
	return pxt_stream_is_inherited(block) ? PXT_FORKED : PXT_OWN;
}

/*
 * Places of the thread table that no record of any stream names any more are given again.
 *
 *   concurrency: begin() under the process lock; the look is taken by a thread that ends, one at a
 *   time, beside writers, readers and control calls.
 */

#if PXT_PLACES_AGAIN && !PXT_ENDS_ASIDE
/* With the first stream: from now on threads that end look, now and then. */
void pxt_places_begin(void);
#else
PXT_OFF(pxt_places_begin, void);
#endif

#endif
