/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the ring of 16-byte slots under one lane: the writer's side.
 *
 * Every slot validates itself: its first word carries the lap of its position and the low bits of
 * its record's number.  A writer owns nothing but the slots it reserved, so whatever becomes of
 * it harms one record, which the consumer passes over and counts.
 *
 *   concurrency     reserve/store   consumer (core/read/consumer.c)   control (core/control/control.c)
 *   reserve/store             -                     -                           -
 *   consumer                  -                     X                           X
 *   control                   -                     X                           X
 *   (-: any number at once, in signal handlers too.  X: the stream's mutex excludes.)
 *
 * Words and who writes them:
 *   head       writers (compare-exchange), control (closed bit, its own records)
 *   limit      the consumer, and control when it clears: slots before it are free
 *   fast_end   writers that went beyond it, were refused, or stopped the stream, the consumer when it
 *              jumps: up to here nothing unusual is in the way of a record, neither the
 *              ring's end, where a new quarter may begin, nor an unread record, nor the mark of a
 *              refused one, nor the last free slot, nor the mark of a flusher that sleeps
 *   refused    writers that found no room, or were overtaken for a whole ring
 *   marked     DISCARD writers that put a mark (core/record/fullpolicy.c)
 *   first_lost the LOOP writer that takes the slot `limit` points to; the consumer, to 0, when it
 *              has passed over records (core/read/lane.c, jump())
 *   epoch      writers, once per quarter of the cursor's range
 *   the rest   the consumer, and control when it clears or puts a barrier
 *
 * A record's stamp is read between the look at head and the exchange that moves it.  A thread that was
 * overtaken in between fails and reads again.  So the moment of a stamp lies inside the call, and
 * along a lane stamps rise with positions, up to the error of a reading (core/read/merge.c).
 *
 * Pairs of fences:
 *   slot store (release)  -> slot load (acquire): a consumer that sees a slot sees the reservation
 *                            after which it was stored.
 *   limit store (release) -> limit load (acquire): a writer that sees a slot freed does not store
 *                            into it before the consumer has read it.
 *   head load (acquire) in the consumer: its second look at a slot is not older than head.
 */
#ifndef PXT_RING_H
#define PXT_RING_H

#include "core/testpoints.h"
#include "format/position.h"
#include "port_atomic.h"

#include <stdatomic.h>
#include <string.h>

/*
 * ---- The first and the last bytes of an event's data, as words of slots ----
 *
 * A slot that is put together in memory costs a stall when it is loaded as a whole.
 */

PXT_INLINE uint32_t pxt_piece_load4(const unsigned char *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, 4);
	return value;
}

PXT_INLINE uint64_t pxt_piece_load8(const unsigned char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, 8);
	return value;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* Up to eight bytes, the rest zero; two overlapping loads instead of a loop. */
PXT_INLINE uint64_t pxt_piece_load_some(const unsigned char *bytes, uint32_t count)
{
	uint16_t first;
	uint16_t last;

	if (count >= 8)
		return pxt_piece_load8(bytes);
	if (count >= 4)
		return pxt_piece_load4(bytes) | (uint64_t)pxt_piece_load4(bytes + count - 4)
		                                    << 8 * (count - 4);
	if (count < 2)
		return count ? *bytes : 0;
	memcpy(&first, bytes, 2);
	memcpy(&last, bytes + count - 2, 2);
	return (uint64_t)first | (uint64_t)last << 8 * (count - 2);
}

#else

PXT_INLINE uint64_t pxt_piece_load_some(const unsigned char *bytes, uint32_t count)
{
	uint64_t value = 0;

	memcpy(&value, bytes, count < 8 ? count : 8);
	return value;
}

#endif

PXT_INLINE uint64_t pxt_piece_pair(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

/* Up to four bytes, the rest zero: the data that is after the context. */
PXT_INLINE uint32_t pxt_piece_first(const unsigned char *data, size_t bytes)
{
	uint32_t first = 0;

	if (PXT_LIKELY(bytes >= 4)) {
		memcpy(&first, data, 4);
		return first;
	}
	/* Bound: 3 bytes. */
	PXT_BOUND(bytes, 3);
	for (uint32_t i = 0; i < bytes; i++) {
		PXT_ROUND(bytes);
		first |= (uint32_t)data[i] << 8 * i;
	}
	return first;
}

/*
 * The last 1 to 12 bytes, the rest zero.  The four bytes before them are the event's, too, so two
 * loads that overlap do instead of a loop.
 */
PXT_INLINE void pxt_piece_last(
    const unsigned char *data, size_t left, uint32_t *first, uint64_t *rest)
{
	*rest = 0;
	if (left > 4) {
		memcpy(first, data, 4);
		memcpy(rest, data + left - 8, 8);
		*rest >>= 8 * (PXT_SLOT_PAYLOAD - left);
	} else {
		memcpy(first, data + left - 4, 4);
		*first >>= 8 * (4 - left);
	}
}

/* ---- The ring ---- */

#define PXT_RING_MIN_SHIFT 5u /* 32 slots: the smallest ring */
#define PXT_RING_MAX_SHIFT 26u

/* START and STOP that may be beside the lanes (core/stream/stream.h). */
#define PXT_OOBS 3u

/* What the consumer knows of the record at its position in a lane. */
enum pxt_front {
	PXT_FRONT_UNKNOWN, /* not looked at, or not covered by the last look at head */
	PXT_FRONT_EMPTY,
	PXT_FRONT_READY, /* `front` holds its begin slot, the whole record was seen finished */
	PXT_FRONT_BUSY,  /* reserved, not finished */
};

struct pxt_lane {
	/* The writers' line. */
	PXT_ALIGNED(PXT_CACHE_LINE) pxt_cursor head; /* [63:32] pos [31:1] seq [0] closed */
	_Atomic uint32_t fast_end; /* records that end before this pos need no further look */
	pxt_counter refused;       /* records that found no room; not in seq */
	pxt_twins epoch;           /* how often the two ran through a quarter; pxt_epoch_make() */
	union {
		pxt_wide first_lost;     /* LOOP: stamp of the first one overwritten unread */
		_Atomic uint32_t marked; /* DISCARD: what the last mark said of `refused` */
	};
	uint32_t oob_pos[PXT_OOBS]; /* control: what is beside the lanes comes before this pos */
	uint32_t barrier_pos;       /* control: where it put the newest mark of a START or STOP */
	size_t cells_at;            /* bytes from here to the slots, for writers; never changed */

	/* The consumer's line. */
	PXT_ALIGNED(PXT_CACHE_LINE) uint64_t pos; /* next position to consume, all 64 bits */
	uint64_t seq;                             /* number of the record there */
	uint64_t look_ticks;                      /* clock at the last look at head */
	uint64_t next_ticks;  /* LOOP: stamp of the record at pos, 0 while it is not there */
	uint64_t front_ticks; /* READY: stamp of the record at pos */
	uint64_t floor;       /* BUSY: stamp of the first record from pos on that has one */
	uint64_t barrier;     /* number of the last mark passed */
	uint32_t front_info;  /* READY: as in the begin slot */
	uint32_t front_state; /* enum pxt_front */

	/* Off the writers' line, which the common case reads: `limit`; an unfinished record, a lap. */
	_Atomic uint32_t limit; /* pos of the first unread record, as last stored by the consumer */
	union {
		uint32_t lap_slack;      /* LOOP: slots left to the writers after a lap ... */
		uint32_t refused_marked; /* DISCARD: what the last mark that was passed said */
	};
	uint64_t stuck_pos;     /* an unfinished record was first seen here ... */
	uint64_t stuck_since;   /* ... at this time, ticks; 0: none */
	uint64_t stuck_head;    /* ... with head here, ... */
	uint64_t stuck_seq;     /* ... and so many records reserved */
	uint64_t stuck_checked; /* when it was last asked whether its writer lives */
	union {
		uint32_t lap_turn;     /* ... in this turn of the consumer */
		uint32_t refused_told; /* DISCARD: so many of `refused` were reported */
	};
	uint32_t partial; /* slots before pos that are not free: parts of overwritten records */
	size_t reader_cells_at; /* as cells_at: the consumer stays off the writers' line */
};

#if CONFIG_PTRACE_PORT_POSIX
_Static_assert(sizeof(struct pxt_lane) == 192, "a lane costs 192 bytes beside its slots");
#endif

/* A ring as one call sees it: where the lane's words and slots are. */
struct pxt_ring {
	struct pxt_lane *lane;
	pxt_cell *slots;
	uint32_t mask;
};

/* The words of all lanes are in a row, and then their slots: so few pages hold what a call reads. */
PXT_INLINE pxt_cell *pxt_lane_slots(struct pxt_lane *lane)
{
	return (pxt_cell *)(void *)((unsigned char *)lane + lane->cells_at);
}

/* The same for the consumer. */
PXT_INLINE pxt_cell *pxt_lane_cells(struct pxt_lane *lane)
{
	return (pxt_cell *)(void *)((unsigned char *)lane + lane->reader_cells_at);
}

/* What reserve() hands to store(). */
struct pxt_place {
	struct pxt_ring ring;
	uint32_t pos;
	uint32_t seq;
	uint32_t used;  /* slots in use after this record; 0 when overwriting */
	uint64_t ticks; /* the counter, read within the reservation */
};

void pxt_ring_bump_epoch(struct pxt_lane *lane, uint64_t head);

PXT_INLINE void pxt_ring_keep_epoch(struct pxt_lane *lane, uint64_t head)
{
	if (PXT_UNLIKELY((head ^ pxt_twins_peek(&lane->epoch)) & PXT_EPOCH_BITS))
		pxt_ring_bump_epoch(lane, head);
}

enum pxt_reserve {
	PXT_RESERVED,      /* go on to store */
	PXT_RESERVED_LAST, /* the same, and the ring is full now */
	PXT_NO_ROOM,
	PXT_CLOSED, /* a stop came first */
};

/* Whether a record of @slots at @pos covers the slot of the first unread one in @limit. */
PXT_INLINE bool pxt_ring_covers(uint32_t mask, uint32_t pos, uint32_t slots, uint32_t limit)
{
	return limit + mask + 1u - pos < slots;
}

/* Whether a record of @slots at @pos is one for the fast path: it ends at `fast_end` at the latest. */
PXT_INLINE bool pxt_ring_is_fast(struct pxt_lane *lane, uint32_t pos, uint32_t slots)
{
	return (int32_t)pxt_word_behind(&lane->fast_end, pos) <= -(int32_t)slots;
}

/*
 * How far the fast path may go after @pos: to the end of this lap, or to where the first unread record is
 * overwritten.  By exchange from @seen, which was read before head: who was stopped in between, for
 * however long, changes nothing, and @seen comes back only where the same is right again.
 */
PXT_INLINE void pxt_ring_raise_fast_end(
    const struct pxt_ring *ring, uint32_t seen, uint32_t pos, uint32_t limit)
{
	uint32_t fast_end = (pos | ring->mask) + 1u;
	uint32_t unread = limit + ring->mask + 1u;

	if ((int32_t)(unread - pos) >= 0 && (int32_t)(unread - fast_end) < 0)
		fast_end = unread;
	(void)atomic_compare_exchange_strong_explicit(
	    &ring->lane->fast_end, &seen, fast_end, memory_order_relaxed, memory_order_relaxed);
}

/* How a place is taken: alternatives, together. */
#define PXT_TAKE_FREE    1u /* never overwrite what was not read */
#define PXT_TAKE_ORDERED 2u /* the stamp is not read before older instructions have finished */

/*
 * Reserves @slots and reads the counter, in one step as others see it: head is looked at, the counter
 * read, head exchanged; who was overtaken begins again.  At most N + 1 rounds: each one more means
 * that another record was admitted meanwhile, and after N of them a whole ring went by, which
 * counts as "no room".
 */
enum pxt_reserve pxt_ring_reserve(struct pxt_place *place, uint32_t slots, unsigned how);

/* Takes @slots of a lane that is closed: the caller is the only control call. */
void pxt_ring_reserve_closed(struct pxt_place *place, uint32_t slots);

/*
 * Takes one slot without a record's number, for a mark.  The caller is the only control call, and
 * has closed the lane.  False: no room, where nothing is overwritten.
 */
bool pxt_ring_reserve_mark(struct pxt_place *place, bool overwrite);

/*
 * Stores one slot, unless a newer lap is already there: then this writer was lapped, its record
 * is counted as lost, and it must not spoil a newer one.
 */
PXT_INLINE void pxt_ring_put(const struct pxt_ring *ring, uint32_t pos, uint64_t low, uint64_t high)
{
	pxt_cell *slot = &ring->slots[pos & ring->mask];

	if (PXT_UNLIKELY(pxt_tag_ahead(pxt_slot_peek(slot), (uint32_t)low) > 0))
		return;
	PXT_TESTPOINT(PXT_TP_LOOKED);
	pxt_slot_store(slot, low, high);
}

/* What a writer puts into a record. */
struct pxt_ring_event {
	const unsigned char *data;
	uint32_t bytes;
	uint32_t info;   /* pxt_slot_info() */
	uint64_t ctx;    /* thread index and address, PXT_CTX_BYTES of it */
	uint64_t thread; /* only with the extra bit: pthread_t ... */
	uint32_t pid;    /* ... and pid */
	uint64_t ticks;
};

/* Stores the begin slot, then the continuation slots.  Bounded by the record's slots. */
void pxt_ring_store(const struct pxt_place *place, const struct pxt_ring_event *event);
/*
 * The continuation slots from @pos on, for @left bytes of data; @data has 4 bytes before it.  The
 * place in pieces, because a structure put together in memory costs a stall when it is loaded.
 */
void pxt_ring_store_rest(pxt_cell *slots, uint32_t mask, uint32_t pos, uint32_t seq,
    const unsigned char *data, uint32_t left);
/* A mark, not a record: @kind is PXT_MARK_...; @number: how many barriers, or refused records. */
void pxt_ring_store_mark(const struct pxt_place *place, uint32_t kind, uint64_t number);

#endif
