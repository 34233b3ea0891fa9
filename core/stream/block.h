/* SPDX-License-Identifier: MIT */
/*
 * block.h - the memory of a stream: its header, the words of all lanes, then their slots.
 *
 *   concurrency        writers (emit.c)   consumer   control
 *   writers                       -              -          -
 *   consumer                      -              X          X     X: by the stream's mutex
 *   control                       -              X          X     and, for what touches
 *                                                                 _pxt_wanted, the process lock
 *
 * It holds offsets and indices, so that it can be mapped anywhere, shared between processes, or found
 * in a file or a dump.
 */
#ifndef PXT_BLOCK_H
#define PXT_BLOCK_H

#include "core/ring/ring.h"
#include "format/ticks.h"
#include "port/port.h"

#include <trace_np.h>

/*
 * ---- The image header at the block's beginning (format/imageheader.h) ----
 *
 * Only where the configuration has headers.  Written before any other thread finds the block.
 */

struct pxt_block;

#if CONFIG_PTRACE_LABELS
#include "format/imageheader.h"
#define PXT_STREAM_HEADER struct pxt_stream_header header;
#else
#define PXT_STREAM_HEADER
#endif

/* After what creation fills in; @bytes: of the block with its lanes.  All but the magic number. */
void pxt_streamheader_fill(struct pxt_block *block, size_t bytes);
/* The magic number: from now on a thread that finds the block takes it for a stream's. */
void pxt_streamheader_make_valid(struct pxt_block *block);

/* ---- The block ---- */

/*
 * gate: [1:0] state [2] no overwriting [3] filter in force [4] not for the fast path: ordered
 * stamps, or a clock or slots that need a test each time [5] the filter in force is not empty
 * [6] no stop where there is no room [7] events are inspected one by one [31:8] generation
 */
#define PXT_GATE_OFF      0u /* new, or stopped by call */
#define PXT_GATE_RUNNING  1u
#define PXT_GATE_AUTO     2u /* stopped automatically */
#define PXT_GATE_STATE    3u
#define PXT_GATE_KEEPS    4u /* no overwriting: UNTIL_FULL, FLUSH, DISCARD */
#define PXT_GATE_FILTER   8u
#define PXT_GATE_CAREFUL  16u
#define PXT_GATE_FILTERED 32u
#define PXT_GATE_DISCARDS 64u /* and no automatic stop: DISCARD */
/* Of a new stream. */
#if CONFIG_PTRACE_START_FILTERED
#define PXT_GATE_FIRST PXT_GATE_FILTERED
#else
#define PXT_GATE_FIRST 0u
#endif
#if CONFIG_PTRACE_INSPECT
#define PXT_GATE_INSPECTED 128u /* core/record/inspect.h */
#else
#define PXT_GATE_INSPECTED 0u
#endif
#define PXT_GATE_GENERATION 256u

/*
 * asleep: who goes to sleep stores the number of its sleep with both bits.  The writer that wakes it takes
 * ASLEEP away, calls the system, and then stores 0.  It may be killed, stopped or preempted before
 * the call, or leave by a jump; then the next writer sees that the word is not 0, and calls.  The number
 * keeps a late writer from storing 0 over what another one still has to do for a later sleep.
 */
#define PXT_ASLEEP     1u
#define PXT_WOKEN      2u
#define PXT_SLEEP_STEP 4u

#define PXT_SET_WORDS (PXT_ID_COUNT / 32u)

/* Bytes of the largest system event's data: FILTER's two sets, START's one, STOP's int. */
#if CONFIG_PTRACE_FILTER
#define PXT_START_BYTES (PXT_ID_COUNT / 8u)
#else
#define PXT_START_BYTES 0u
#endif

/*
 * A START or STOP that found no room in a stream that does not overwrite: it is between what
 * was recorded before and after, which is what each lane's oob_pos tells.  One START at most.
 */
struct pxt_oob {
	uint32_t info;      /* pxt_slot_info(); 0: unused */
	uint32_t automatic; /* an automatic STOP: not among the counts */
	uint64_t ticks;
	uint64_t ctx;
	int32_t why;     /* STOP's data */
	uint64_t thread; /* of one without a place, as in its record */
};

#if CONFIG_PTRACE_ATTACH
/*
 * 1: after the others is the lane for what other processes record, or of a guest, for what defines (share.h).
 * That may have fewer slots than the others.
 */
#define PXT_PRODUCERS_MEMBER                                                                       \
	uint16_t producers_lanes;                                                                  \
	uint8_t last_log; /* the last lane has 2 to this slots */
#define PXT_PRODUCERS_LANES(block) ((block)->producers_lanes)
#define PXT_LANE_MASK(block, index)                                                                \
	(PXT_LIKELY((index) <= (block)->lane_mask) ? (block)->slot_mask                            \
	                                           : (1u << (block)->last_log) - 1u)
#define PXT_SHARE_MEMBER void *share; /* Attached Processes' own; NULL: the stream has no name */
#else
#define PXT_PRODUCERS_MEMBER
#define PXT_PRODUCERS_LANES(block)  0u
#define PXT_LANE_MASK(block, index) ((void)(index), (block)->slot_mask)
#define PXT_SHARE_MEMBER
#endif

/* Of a private copy (copy.h), which is not a stream of the process. */
#define PXT_INDEX_COPY UINT32_MAX

struct pxt_block {
	PXT_STREAM_HEADER
	/* Read by every writer, written by control calls only. */
	PXT_ALIGNED(PXT_CACHE_LINE) _Atomic uint32_t gate;
	uint32_t lane_mask; /* of the lanes that trace points choose from */
	uint32_t slot_mask;
	uint32_t max_data;
	uint32_t mark; /* slots in use at which a sleeper is woken; 0: by every record */
	/* Not 0: not for the fast path, whose hot stream it is (forks.h). */
	_Atomic uint32_t no_short;
	uint32_t index; /* of the stream in its process; PXT_INDEX_COPY */
	int32_t pid;
	/* Bytes of a lane's words: by it, trace points need one multiplication. */
	uint64_t lane_stride;
	uint64_t short_step; /* of a record in the common case (emit.c): pxt_head_step(2) */
	/* 0, or a sleep's number with PXT_WOKEN, and PXT_ASLEEP before it. */
	_Atomic uint32_t asleep;
	_Atomic uint32_t
	    unreported; /* not 0: events were refused, and no reader may know of them yet (lane.h) */
	pxt_wide auto_stop_ticks;

	/* The consumer's. */
	/* This and the next four are in a row: format/imageheader.h, counts_at. */
	PXT_ALIGNED(PXT_CACHE_LINE) uint64_t retrieved;
	uint64_t lost; /* beside the lanes' `refused` */
	uint64_t cleared;
	uint64_t oob_records;  /* records that went to `oob` instead of a lane */
	uint64_t barriers;     /* marks issued */
	uint64_t last_ticks;   /* of the last event handed out: reported stamps never decrease */
	uint64_t snapshot;     /* clock before the last look at lanes without a front */
	uint64_t give_up;      /* LOOP: what is older than this was overwritten somewhere */
	uint64_t gap_ticks;    /* stamp of the first lost record of a gap, 0 unknown */
	uint64_t lost_before;  /* records lost since the last event handed out */
	uint64_t refused_told; /* of the lanes' `refused`, already in lost_before */
	uint64_t lost_told;    /* losses that get_status() has reported */
	uint64_t start_ticks;  /* stamp of the automatic START that is due */
	uint64_t calls_at;     /* records admitted before the last start or stop by call */
	uint64_t turn_end;   /* consumer.h: below it turn_lane comes next; 0: look at everything */
	uint64_t idle_since; /* clock before nothing was found in any lane; 0: look at everything */
	uint32_t turn_lane;
	uint32_t turn;       /* items handed out, for core/read/lane.c */
	uint32_t limit_step; /* so far `limit` may stay behind a lane's position */
	uint32_t sleeps;     /* number of the last sleep, in steps of PXT_SLEEP_STEP */
	PXT_PRODUCERS_MEMBER
	uint8_t phase; /* enum pxt_phase (gate.h): what is due of automatic stops and restarts */
	uint8_t gap;   /* enum pxt_gap (core/read/lane.h): what is due of a loss */
	uint8_t freed_since_full;
	uint8_t quiet; /* stopped, and no writer is inside: nothing unfinished will be finished */
	uint8_t full_policy; /* POSIX_TRACE_LOOP, ... */
	uint8_t with_log;    /* the flusher restarts, not the reader */
	struct pxt_oob oob[PXT_OOBS];

#if CONFIG_PTRACE_FILTER
	/* Two sets: control writes the one that is not in force, then turns the gate's bit. */
	_Atomic uint32_t filter[2][PXT_SET_WORDS];
	uint32_t start_set[PXT_SET_WORDS]; /* in force at the automatic START that is due */
	uint32_t oob_set[PXT_SET_WORDS];   /* in force at the START beside the lanes */
#endif
	struct pxt_clock_set created;
	struct _pxt_attr attr; /* as in force */
};

#if CONFIG_PTRACE_PORT_POSIX
_Static_assert(sizeof(struct pxt_block) <= 1344, "a stream costs 1,600 bytes with its first lane");
#endif

PXT_INLINE struct pxt_lane *pxt_block_lane(struct pxt_block *block, uint32_t lane)
{
	return (struct pxt_lane *)(void *)((unsigned char *)(block + 1) +
	                                   (size_t)lane * (size_t)block->lane_stride);
}

/* The lane that a record goes into which is made on @cpu. */
PXT_INLINE struct pxt_lane *pxt_block_lane_of(struct pxt_block *block, uint32_t cpu)
{
	return pxt_block_lane(block, cpu & block->lane_mask);
}

/* Slots of a lane less 1. */
PXT_INLINE uint32_t pxt_block_mask(const struct pxt_block *block, uint32_t index)
{
	return PXT_LANE_MASK(block, index);
}

/* For the consumer and control. */
PXT_INLINE struct pxt_ring pxt_block_ring(struct pxt_block *block, uint32_t index)
{
	struct pxt_lane *lane = pxt_block_lane(block, index);

	return (struct pxt_ring){
		.lane = lane, .slots = pxt_lane_cells(lane), .mask = pxt_block_mask(block, index)
	};
}

/* Index of the last lane, that of other processes included. */
PXT_INLINE uint32_t pxt_block_last(const struct pxt_block *block)
{
	return block->lane_mask + PXT_PRODUCERS_LANES(block);
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

/*
 * The turn: once it was found out which record comes next, that holds for more of the same lane, as
 * long as their stamps are below `turn_end`: the other lanes' fronts, the snapshot and what is due
 * beside the lanes stay as they were.  Writers cannot make that wrong: what they add is later, what
 * they overwrite is seen by its tag.  Everything else that changes what comes next ends it.
 */
PXT_INLINE void pxt_block_end_turn(struct pxt_block *block)
{
	block->turn_end = 0;
	block->idle_since = 0;
}

/* ---- block.c ---- */

/* Where the lanes' slots are, after the words of all of them; once masks and lanes are known. */
void pxt_block_lay_out(struct pxt_block *block);
/*
 * A thread is going to sleep, with the stream's mutex: what it has to give pxt_port_wait().  After a fence
 * on all writers it looks at the stream once more.
 */
uint32_t pxt_block_announce_sleep(struct pxt_block *block);
/* Wakes all threads that sleep on the stream, unless another writer has. */
void pxt_block_wake(struct pxt_block *block);
/*
 * A record was stored, with @used slots in use: a sleeper is woken at its mark, or because the writer
 * that was to wake it has not called yet.  [proof: wake]  Not ordered after the slots: the sleeper's
 * membarrier sees to it (ruling 13).
 */
PXT_INLINE void pxt_block_wake_at(struct pxt_block *block, uint32_t used)
{
	uint32_t seen = atomic_load_explicit(&block->asleep, memory_order_relaxed);

	if (PXT_UNLIKELY(seen) && (used >= block->mark || !(seen & PXT_ASLEEP)))
		pxt_block_wake(block);
}
/* A record is refused: it is counted, and wakes like one that was stored. */
PXT_COLD void pxt_block_refuse(struct pxt_block *block, struct pxt_lane *lane);
/*
 * Slots that are free in the fullest lane; as many as there are when overwriting.  Beside writers the
 * answer may be old when it is returned.
 */
uint32_t pxt_block_room(struct pxt_block *block);

#endif
