/* SPDX-License-Identifier: MIT */
/*
 * intake.h - what the owner notes of a producer's memory (intake*.c).
 *
 *   concurrency     learn (intake_numbers.c)   pull (the rest)   the producer
 *   learn                     -                     X                X
 *   pull                      X                     -                X
 *                                               X: meet in words marked _Atomic here, and in the
 *                                               producer's memory, which both only read
 *
 * A producer can change its memory at any moment.  So each word there is read once, into a variable,
 * and is believed no further than it was checked; sizes and places are this build's own, and all
 * that moves forward (positions, numbers, names taken) is here.
 */
#ifndef PXT_INTAKE_H
#define PXT_INTAKE_H

#include "attach/attach.h"

/* Slots that a producer's stream can have in all lanes together. */
#define PXT_PRODUCER_SLOTS (PXT_CTLSOCK_MEMORY / PXT_SLOT_BYTES)

/* What is known of the record at a lane's position. */
enum pxt_producer_front {
	PXT_PRODUCER_EMPTY, /* there is none, up to head */
	PXT_PRODUCER_READY, /* `low` and `ticks` are its begin slot's, and the whole was seen finished */
	PXT_PRODUCER_STUCK, /* reserved, not finished */
};

/* Stamps rise along a lane (core/ring/ring.h); a producer that lies spoils the order of its own records. */
struct pxt_intake_lane {
	const struct pxt_lane *words; /* the producer's */
	const pxt_cell *cells;
	uint32_t mask;        /* slots less 1 */
	uint64_t pos;         /* of what comes next, */
	uint64_t seq;         /* ... and its number */
	uint64_t head;        /* as the producer said at the beginning of this pull */
	uint64_t head_seq;    /* ... the same for the number */
	uint64_t counted;     /* when losses were counted last, ticks */
	uint64_t least;       /* stamp of the record that was taken last */
	uint64_t floor;       /* STUCK: what is here or after and may have returned is no older */
	uint64_t stuck_pos;   /* an unfinished record was first seen here ... */
	uint64_t stuck_since; /* ... at this time; 0: none */
	uint64_t stuck_head;  /* ... with head here */
	uint64_t low;         /* READY: tag and info, */
	uint64_t ticks;       /* ... stamp */
	/* Slots left to the writers at the last lap; 0: something was taken since. */
	uint32_t slack;
	uint8_t front; /* enum pxt_producer_front */
	bool lapped;   /* in this pull: not again */
};

struct pxt_producer_memory {
	const unsigned char *memory; /* mapped for reading */
	size_t bytes;
	const struct pxt_directory *directory; /* mapped for reading */
	size_t directory_bytes;                /* 0: it is a guest's, behind the stream */
	const struct pxt_locktally *counts;    /* there; NULL: it counts nothing, or all was told */
	struct pxt_intake_tally *tally;        /* what was told of them; NULL: nothing */
	struct pxt_wish *wish;                 /* a guest's, in its memory, written here */
	struct pxt_producer_memory *spare;     /* nobody's: the next one that is left, ... */
	uint32_t spares;                       /* ... and how many are behind it */
	int32_t pid;
	uint32_t lanes;
	uint32_t mask;      /* slots of a lane less 1 */
	uint32_t last_mask; /* ... of the last lane */
	uint32_t max_data;
	uint64_t run_from;     /* older records are dropped */
	uint64_t patient_from; /* before, what it does not finish is passed over */
	uint64_t gone_at;      /* ticks; 0: it is there */
	uint64_t life;         /* struct pxt_intake_life's number */

	/* Types */
	_Atomic uint32_t learnt; /* how often */
	_Atomic uint32_t wanted; /* a type is needed */
	_Atomic bool refused;    /* the owner could not define all: the next look tries again */
	uint64_t asked_at;       /* pull: since when; 0: not */
	uint32_t asked_learnt;
	bool liar;  /* had records of a type that it never named */
	bool again; /* a guest that has gone: its images and names are recorded once more, ... */
	uint64_t bound; /* ... at this moment: until here all was taken in the last pull */

	/* learn's own. */
	uint32_t names;      /* taken over */
	uint32_t names_left; /* that this producer may still add */
	uint32_t pool_left;  /* bytes of descriptions, the same */
	uint8_t described[(PXT_NAMES_ROOM + 7u) / 8u];

	/* This process' number for each of the producer's types; 0: not learnt. */
	_Atomic uint16_t type[PXT_ID_COUNT];
	uint16_t thread[CONFIG_PTRACE_MAX_THREADS]; /* this process' entry; 0: not asked yet */
	/* Lowest bits of what its own entry said then, ... */
	uint32_t since[CONFIG_PTRACE_MAX_THREADS];
	int32_t own_tid[CONFIG_PTRACE_MAX_THREADS]; /* ... and the number there */
	uint32_t threads;                           /* entries that were asked are below */
	uint16_t main; /* this process' entry of the first thread; 0: not known */
	/* Of the record that was taken last. */
	struct {
		uint64_t thread;
		uint32_t index;
		bool extra;
		bool known; /* there is one */
	} teller;
	struct pxt_intake_lane lane[CONFIG_PTRACE_LANES_MAX];
};

/* All was taken, up to the heads of the last look. */
PXT_INLINE bool pxt_intake_is_drained(const struct pxt_producer_memory *producer)
{
	for (uint32_t i = 0; i < producer->lanes; i++) {
		if (producer->lane[i].pos != producer->lane[i].head)
			return false;
	}
	return true;
}

/* Bytes of another process' memory, read once: nothing derived from them is read there again. */
PXT_INLINE void pxt_producer_read(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	atomic_signal_fence(memory_order_seq_cst);
}

/* ---- One lane (attach/intake_lane.c); with the stream's mutex ---- */

/* What pull hands through; records lost are counted here first. */
struct pxt_producer_pull {
	struct pxt_stream *stream;
	unsigned char *payload; /* of one record, PXT_PRODUCER_PAYLOAD bytes */
	struct pxt_slot *row;   /* records that go into the stream together, as a log has them: */
	uint32_t slots;         /* ... so many slots, */
	uint32_t records;
	uint32_t room; /* ... of what the stream had room for when the first was put there */
	uint32_t gate; /* ... and its gate then */
	uint64_t clock;
	uint64_t lost;
	uint64_t latest; /* stamp of what was put */
	bool all;
	bool last; /* the last round: who is not waited for is passed over */
};

void pxt_intake_lane_begin(struct pxt_intake_lane *lane, const struct pxt_producer_memory *producer,
    uint32_t index, uint64_t clock);
/* Reads head; what was overwritten meanwhile is lost. */
void pxt_intake_lane_look(struct pxt_producer_pull *pull, struct pxt_intake_lane *lane);
/* Finds out what is at the position, before that head. */
void pxt_intake_lane_fill(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    struct pxt_intake_lane *lane);
/* The front (READY), as a log has it, comes to @to.  False: it is not there any more. */
bool pxt_intake_lane_copy(const struct pxt_intake_lane *lane, struct pxt_slot *to);
/* After the front, which is READY. */
void pxt_intake_lane_advance(struct pxt_intake_lane *lane);

PXT_INLINE bool pxt_intake_lane_ready(const struct pxt_intake_lane *lane)
{
	return lane->front == PXT_PRODUCER_READY;
}

PXT_INLINE uint32_t pxt_intake_lane_info(const struct pxt_intake_lane *lane)
{
	return (uint32_t)(lane->low >> 32);
}

/* ---- Counts of locks (attach/intake_put.c) ---- */

/* All was told. */
void pxt_intake_tally_end(struct pxt_producer_memory *producer);
/* What is told of its counts is told as of the thread of a record of its: @thread, where it is @extra. */
void pxt_intake_tally_note(
    struct pxt_producer_memory *producer, uint32_t index, bool extra, uint64_t thread);
/*
 * What was counted and not told, as far as there is room.  False: there is more.  Stamps are @ticks.  Bound: the slots
 * of the memory.
 */
bool pxt_intake_tally_tell(
    struct pxt_producer_pull *pull, struct pxt_producer_memory *producer, uint64_t ticks);

/*
 * ---- Into the producers' lane, as if a trace point of this process had recorded it (attach/intake_put.c) ----
 *
 * With the stream's mutex, beside this process' writers; _thread() under no lock.
 */

/* Slots that the producers' lane takes without overwriting anything that was not read. */
uint32_t pxt_intake_put_room(struct pxt_block *block);
/*
 * A producer's record, with its own stamp; event->info, ctx and what belongs to them as any record of
 * this process has them.  False: it did not enter the stream, as a trace point of this process
 * would not have at this moment: filtered, not running, or no room (counted then).
 */
bool pxt_intake_put_record(struct pxt_stream *stream, const struct pxt_ring_event *event);
/*
 * @records of them at once, in @count slots as a log has them.  False: none entered, because something unusual is in
 * the way: the stream does not run, or is nearly full, the lap ends; then they go one by one.
 */
bool pxt_intake_put_row(
    struct pxt_stream *stream, const struct pxt_slot *slots, uint32_t count, uint32_t records);
/* @records of a producer were overwritten in its own memory, or never finished, at about @ticks. */
void pxt_intake_put_lost(struct pxt_stream *stream, uint64_t records, uint64_t ticks);
/*
 * An entry for a thread of another process in this one's table, so that records and logs tell who
 * it was.  Returns its index; PXT_THREAD_EXTRA: the table is full.  Under no lock.
 */
uint32_t pxt_intake_put_thread(int32_t pid, int32_t tid, uint64_t thread, const char *name);

/* ---- Threads (attach/intake_numbers.c); with the mutex ---- */

/*
 * The entry of the producer's thread *index at @ticks.  Its pid is what the system says; a thread that says
 * nothing of itself has some number all the same.  False: there is none; *thread and *index are as in
 * the record of a thread without a place.
 */
bool pxt_intake_thread(
    struct pxt_producer_memory *producer, uint64_t ticks, uint32_t *index, uint64_t *thread);
/*
 * A record without a place, in a table that has some: its thread gave its own back and records all the same, as the
 * last one of a process does in exit().
 */
bool pxt_intake_thread_former(
    const struct pxt_producer_memory *producer, uint32_t *index, uint64_t thread);

/* Whether the producer's entry @at was asked since it became the thread's that has it, from @since on. */
PXT_INLINE bool pxt_intake_thread_known(
    const struct pxt_producer_memory *producer, uint32_t at, uint64_t since)
{
	return producer->thread[at] && producer->since[at] == (uint32_t)since;
}

/* ---- Types (attach/intake_numbers.c) ---- */

void pxt_intake_numbers_begin(struct pxt_producer_memory *producer);

#endif
