/* SPDX-License-Identifier: MIT */
/*
 * stream.h - a stream: its block of memory and what this process keeps beside it.
 *
 *   who beside whom        writers (emit.c)   consumer   control
 *   writers                       -              -          -
 *   consumer                      -              X          X     X: by the stream's mutex
 *   control                       -              X          X     and, for what touches
 *                                                                 _pxt_wanted, the process lock
 *
 * The block holds no pointers, only offsets and indices, so that it can be mapped anywhere, shared
 * between processes, or found in a file or a dump: header, the words of all lanes, then their slots.
 *
 * Order of locks: process lock, then stream mutex.  Nobody who waits for events sleeps with either,
 * and no log is written to with them, but by the handler that seals it (tolog/seal.c).  They are held
 * over what may take a while, too; all but the first has a bound:
 *
 *   create             the process lock, while a file's pages are taken for a stream that lives in it
 *                      (core/filestream.h): as long as that file system takes
 *   stop               both, while trace points that are inside come out (pxt_threads_wait_left()):
 *                      up to the hold-back time
 *   set_filter         both, for the same, twice
 *   shutdown           both for its stop; then the process lock, for the same once more, and until
 *                      readers that slept are gone
 *   seal               the mutex, for the same
 *   names, formats,    the process lock, while a relative has the family's (pxt_family_lock()): up
 *   new mirrors        to a second
 *   a mirror's end     the process lock, as for shutdown
 */
#ifndef PXT_STREAM_H
#define PXT_STREAM_H

#include "base/handle.h"
#include "base/ticks.h"
#include "core/label.h"
#include "core/process.h"
#include "core/ring.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

/*
 * gate: [1:0] state [2] no overwriting [3] filter in force [4] not for the short path: ordered
 * stamps, or a clock or slots that need a test each time [5] the filter in force is not empty
 * [31:6] generation
 */
#define PXT_GATE_OFF        0u /* new, or stopped by call */
#define PXT_GATE_RUNNING    1u
#define PXT_GATE_AUTO       2u /* stopped automatically */
#define PXT_GATE_STATE      3u
#define PXT_GATE_KEEPS      4u /* no overwriting: UNTIL_FULL, FLUSH */
#define PXT_GATE_FILTER     8u
#define PXT_GATE_CAREFUL    16u
#define PXT_GATE_FILTERED   32u
#define PXT_GATE_GENERATION 64u

#define PXT_SET_WORDS (PXT_ID_COUNT / 32u)

/* Bytes of the largest system event's data: FILTER's two sets, START's one, STOP's int. */
#if CONFIG_PTRACE_FILTER
#define PXT_START_BYTES (PXT_ID_COUNT / 8u)
#else
#define PXT_START_BYTES 0u
#endif

/*
 * A START or STOP that found no room in a stream that does not overwrite: it stands between what
 * was recorded before and after, which is what each lane's side_pos tells.  One START at most.
 */
struct pxt_side {
	uint32_t info;      /* pxt_slot_info(); 0: unused */
	uint32_t automatic; /* an automatic STOP: not among the counts */
	uint64_t ticks;
	uint64_t ctx;
	int32_t why; /* STOP's data */
};

#if CONFIG_PTRACE_ATTACH
/* 1: behind the others is the lane for what other processes record (share.h). */
#define PXT_GUESTS_MEMBER       uint32_t guests_lanes;
#define PXT_GUESTS_LANES(block) ((block)->guests_lanes)
#define PXT_SHARE_MEMBER        void *share; /* Attached Processes' own; NULL: the stream has no name */
#else
#define PXT_GUESTS_MEMBER
#define PXT_GUESTS_LANES(block) 0u
#define PXT_SHARE_MEMBER
#endif

/* Of a private copy (copy.h), which is no stream of the process. */
#define PXT_INDEX_COPY UINT32_MAX

struct pxt_block {
	PXT_STREAM_LABEL
	/* Read by every writer, written by control calls only. */
	PXT_ALIGNED(PXT_CACHE_LINE) _Atomic uint32_t gate;
	uint32_t lane_mask; /* of the lanes that trace points choose from */
	uint32_t slot_mask;
	uint32_t max_data;
	uint32_t mark; /* slots in use at which a sleeper is woken; 0: by every record */
	_Atomic uint32_t
	    no_short;   /* not 0: not for the short path, whose hot stream it is (family.h) */
	uint32_t index; /* of the stream in its process; PXT_INDEX_COPY */
	int32_t pid;
	uint64_t
	    lane_stride; /* bytes of a lane's words: by it, trace points need one multiplication */
	uint64_t short_step; /* of a record in the common case (emit_short.h): pxt_ring_step(2) */
	_Atomic uint32_t asleep; /* set by who goes to sleep, taken by the writer that wakes him */
	pxt_wide auto_stop_ticks;

	/* The consumer's. */
	PXT_ALIGNED(PXT_CACHE_LINE)
	uint64_t retrieved; /* this and the next four stand in a row: base/label.h, counts_at */
	uint64_t lost;      /* beside the lanes' `refused` */
	uint64_t cleared;
	uint64_t sided;        /* records that went to `side` instead of a lane */
	uint64_t barriers;     /* marks issued */
	uint64_t last_ticks;   /* of the last event handed out: reported stamps never decrease */
	uint64_t snapshot;     /* clock before the last look at lanes without a front */
	uint64_t give_up;      /* LOOP: what is older than this was overwritten somewhere */
	uint64_t gap_ticks;    /* stamp of the first lost record of a gap, 0 unknown */
	uint64_t lost_before;  /* records lost since the last event handed out */
	uint64_t refused_told; /* of the lanes' `refused`, already in lost_before */
	uint64_t lost_told;    /* losses that get_status() has reported */
	uint64_t start_ticks;  /* stamp of the automatic START that is due */
	uint64_t turn_end;   /* consumer.h: below it turn_lane comes next; 0: look at everything */
	uint64_t idle_since; /* clock before nothing was found in any lane; 0: look at everything */
	uint32_t turn_lane;
	uint32_t turn;       /* items handed out, for core/lane.c */
	uint32_t limit_step; /* so far `limit` may stay behind a lane's position */
	PXT_GUESTS_MEMBER
	uint8_t gap; /* OVERFLOW is due before the next record, then RESUME */
	uint8_t resume_due;
	uint8_t owes_stop;  /* stopped by call while an automatic STOP was still due */
	uint8_t stop_told;  /* the automatic STOP was handed out, the restart is not done yet */
	uint8_t owes_start; /* an automatic START is due */
	uint8_t freed_since_full;
	uint8_t quiet; /* stopped, and no writer is inside: nothing unfinished will be finished */
	uint8_t full_policy; /* POSIX_TRACE_LOOP, ... */
	uint8_t with_log;    /* the flusher restarts, not the reader */
	struct pxt_side side[PXT_SIDES];

#if CONFIG_PTRACE_FILTER
	/* Two sets: control writes the one that is not in force, then turns the gate's bit. */
	_Atomic uint32_t filter[2][PXT_SET_WORDS];
	uint32_t start_set[PXT_SET_WORDS]; /* in force at the automatic START that is due */
	uint32_t side_set[PXT_SET_WORDS];  /* in force at the START beside the lanes */
#endif
	struct pxt_clock_set created;
	trace_attr_t attr; /* as in force */
};

#if CONFIG_PTRACE_PORT_POSIX
_Static_assert(sizeof(struct pxt_block) <= 1344, "a stream costs 1.5 KiB with its first lane");
#endif

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
	uint8_t inherited;        /* children go on with it (core/family.h) */
	uint8_t theirs; /* the place of a relative's stream, which this process only writes into */
	uint8_t lent;   /* children have its memory, or zeros there */
	uint8_t has_mutex; /* made once: somebody with an old identifier may hold it at any time */
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

	/* Behind what all functions ask for: what a reader does. */
	struct pxt_ticks ticks;        /* counter to CLOCK_REALTIME, as anchored at creation */
	struct pxt_second second;      /* that the reader's times are in */
	struct pxt_origin last_origin; /* of the event that was read last; core/take.h */
	uint32_t last_thread;          /* its thread's index; PXT_THREAD_EXTRA: not known */
};

extern struct pxt_stream pxt_streams[CONFIG_PTRACE_MAX_STREAMS];
/* What a writer needs: the blocks by index.  NULL where there is no stream. */
extern struct pxt_block *_Atomic pxt_blocks[CONFIG_PTRACE_MAX_STREAMS];

extern const char pxt_stream_kind;

PXT_INLINE struct pxt_lane *pxt_block_lane(struct pxt_block *block, uint32_t lane)
{
	return (struct pxt_lane *)(void *)((unsigned char *)(block + 1) +
	                                   (size_t)lane * (size_t)block->lane_stride);
}

/* For the consumer and control. */
PXT_INLINE struct pxt_ring pxt_block_ring(struct pxt_block *block, uint32_t index)
{
	struct pxt_lane *lane = pxt_block_lane(block, index);

	return (struct pxt_ring){
		.lane = lane, .slots = pxt_lane_cells(lane), .mask = block->slot_mask
	};
}

/* Where the lanes' slots are, behind the words of all of them; once masks and lanes are known. */
void pxt_block_lay_out(struct pxt_block *block);

/* Index of the last lane, that of other processes included. */
PXT_INLINE uint32_t pxt_block_last(const struct pxt_block *block)
{
	return block->lane_mask + PXT_GUESTS_LANES(block);
}

PXT_INLINE uint32_t pxt_block_lanes(const struct pxt_block *block)
{
	return pxt_block_last(block) + 1u;
}

/* Whether its order comes out of several lanes (merge.h). */
PXT_INLINE bool pxt_block_merges(const struct pxt_block *block)
{
	return pxt_block_last(block) != 0;
}

PXT_INLINE uint32_t pxt_block_state(struct pxt_block *block)
{
	return atomic_load_explicit(&block->gate, memory_order_acquire) & PXT_GATE_STATE;
}

/* ---- Life (core/create.c, core/shutdown.c) ---- */

struct pxt_create {
	int32_t pid;
	const trace_attr_t *attr; /* NULL: defaults */
	bool with_log;
	const struct pxt_ops *ops;
};

/* Every default resolved, every value checked and rounded: what the stream will have. */
int pxt_create_attr(const struct pxt_create *request, trace_attr_t *attr);
/*
 * EAGAIN, EINVAL, ENOMEM, EPERM, ESRCH or 0.  @attr: from pxt_create_attr().  On success *stream
 * is complete but cannot be found yet: a unit prepares its own part, then publishes or abandons.
 */
int pxt_stream_create(
    const struct pxt_create *request, const trace_attr_t *attr, struct pxt_stream **stream);
/* ENOMEM (no identifier is left), or what struct pxt_share_ops, open, says; else 0. */
int pxt_stream_publish(struct pxt_stream *stream, trace_id_t *trid);
void pxt_stream_abandon(struct pxt_stream *stream);
/* In the thread that forks, inside a trace point: its child will find memory where streams have theirs. */
void pxt_streams_before_fork(void);
enum pxt_after_fork {
	PXT_FORKED,
	PXT_FORKED_INSIDE, /* the thread comes back into a trace point (core/forked.h) */
	PXT_FORKED_ALONE,  /* so it does, and it leaves its relatives */
};
void pxt_streams_after_fork(enum pxt_after_fork how);

/* The living stream of this process behind @trid, its mutex held; NULL: EINVAL. */
struct pxt_stream *pxt_stream_lock(trace_id_t trid);
/*
 * The same for an operation that already found the object: 0, or EINVAL where it is not @trid's any
 * more.
 */
int pxt_stream_enter_as(struct pxt_stream *stream, trace_id_t trid);
/* Whatever identifier it has. */
bool pxt_stream_enter(struct pxt_stream *stream);
void pxt_stream_unlock(struct pxt_stream *stream);
/* The same; returns @error. */
int pxt_stream_leave(struct pxt_stream *stream, int error);
/* With both locks, in their order: start, stop, clear, set_filter. */
struct pxt_stream *pxt_stream_control(trace_id_t trid);
void pxt_stream_control_end(struct pxt_stream *stream);

/* ---- State (core/control.c); the stream's mutex is held ---- */

/* Who called, for the event's program address. */
void pxt_stream_start(struct pxt_stream *stream, const void *caller);
void pxt_stream_stop(struct pxt_stream *stream, const void *caller);
/*
 * Stops because the process ends, as an automatic stop; in a signal handler, without the process
 * lock.  Takes up to the hold-back time.  Control calls of other streams put right what is left.
 */
void pxt_stream_seal(struct pxt_stream *stream);
/* Stops for another reason than room (a full log), without an event of its own. */
void pxt_stream_stop_now(struct pxt_stream *stream);
/* Restart of an automatically stopped, emptied stream: START becomes due. */
void pxt_stream_restart(struct pxt_stream *stream);
void pxt_stream_clear(struct pxt_stream *stream);
/* One system event from a control call, into this stream only, if it is wanted and fits. */
bool pxt_stream_record(
    struct pxt_stream *stream, uint32_t id, const void *data, uint32_t bytes, const void *caller);
void pxt_stream_full_status(struct pxt_stream *stream, struct posix_trace_status_info *status);
void pxt_stream_counts(struct pxt_stream *stream, struct posix_trace_counts_np *counts);
/* Wakes whoever sleeps on the stream. */
void pxt_stream_wake(struct pxt_block *block);

/* Operations that streams of every unit share. */
int pxt_stream_get_attr(void *object, trace_id_t trid, trace_attr_t *attr);
/* Of a stream without log (core/status.c). */
int pxt_stream_get_status(void *object, trace_id_t trid, struct posix_trace_status_info *status);
int pxt_stream_type_name(void *object, trace_id_t trid, trace_event_id_t id, char *name);
int pxt_stream_type_format(void *object, trace_id_t trid, trace_event_id_t id, char *format);
int pxt_stream_type_next(void *object, trace_id_t trid, trace_event_id_t *next);
int pxt_stream_type_rewind(void *object, trace_id_t trid);
int pxt_stream_get_clock(void *object, trace_id_t trid, struct posix_trace_clock_np *clock);

/* True when this configuration makes events of system type @id, and @block's filter lets it in. */
bool pxt_stream_wants(struct pxt_block *block, uint32_t id);

#endif
