/* SPDX-License-Identifier: MIT */
/*
 * intake.h - what the owner notes of a guest's memory (attach/intake.c, guestlane.c, types.c).
 *
 *   who beside whom     learn (types.c)   pull (the rest)   the guest
 *   learn                     -                 X                X
 *   pull                      X                 -                X
 *                                               X: meet in words marked _Atomic here, and in the
 *                                               guest's memory, which both only read
 *
 * A guest can change its memory at any moment.  So each word there is read once, into a variable,
 * and is believed no further than it was checked; sizes and places are this build's own, and all
 * that moves forward (positions, numbers, names taken) stands here.
 */
#ifndef PXT_INTAKE_H
#define PXT_INTAKE_H

#include "attach/attach.h"
#include "core/directory.h"

/*
 * Records of a lane that were looked at and not taken yet.  Along a lane stamps rise, up to the
 * error of a reading (core/ring.h), so among so many in a row there is the smallest stamp of all
 * that follow; unless the guest lies, which spoils the order of its own records.
 */
#define PXT_GUEST_AHEAD 16u
#define PXT_GUEST_LOOKS 4u
/* Slots that a guest's stream can have in all lanes together: 64 MiB of 16-byte slots. */
#define PXT_GUEST_SLOTS (UINT64_C(1) << 22)

struct pxt_guest_record {
	uint64_t pos;
	uint64_t low; /* the begin slot: tag and info, */
	uint64_t ticks;
};

/* At @clock or later, the lane's head was here: what stands there or behind was reserved later. */
struct pxt_guest_look {
	uint64_t head;
	uint64_t clock;
};

struct pxt_guest_lane {
	const struct pxt_lane *words; /* the guest's */
	const pxt_cell *cells;
	uint64_t pos;         /* looked at next, */
	uint64_t seq;         /* ... the number of the record there */
	uint64_t head;        /* as the guest said at the beginning of this pull */
	uint64_t head_seq;    /* ... the same for the number */
	uint64_t since;       /* what stands at pos or behind was reserved later */
	uint64_t stuck_pos;   /* an unfinished record was first seen here ... */
	uint64_t stuck_since; /* ... at this time; 0: none */
	uint64_t stuck_head;  /* ... with head here */
	uint64_t top[2];      /* the two largest stamps before pos, the larger one first */
	struct pxt_guest_look look[PXT_GUEST_LOOKS];
	uint32_t looks;
	uint32_t
	    slack;   /* slots left to the writers at the last lap; 0: something was taken since */
	bool lapped; /* in this pull: not again */
	bool stuck;
	/* Sorted by stamp: [first, last). */
	uint32_t first;
	uint32_t last;
	struct pxt_guest_record ahead[2u * PXT_GUEST_AHEAD];
};

/* A record of 4,095 bytes of data: whole slots, and what a writer may load before its data. */
#define PXT_GUEST_PAYLOAD                                                                          \
	((PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + PXT_DATA_MAX + PXT_SLOT_PAYLOAD - 1u) /         \
	    PXT_SLOT_PAYLOAD * PXT_SLOT_PAYLOAD)

struct pxt_guest_memory {
	const unsigned char *memory; /* mapped for reading */
	size_t bytes;
	const struct pxt_directory *directory; /* mapped for reading */
	size_t directory_bytes;
	int32_t pid;
	uint32_t lanes;
	uint32_t mask; /* slots of a lane less 1 */
	uint32_t max_data;
	uint64_t run_from;     /* older records are nobody's */
	uint64_t patient_from; /* before, nobody waits for what this guest does not finish */
	uint64_t gone_at;      /* ticks; 0: it is there */

	/* Types: this process' number for each of the guest's; 0: not learnt. */
	_Atomic uint16_t type[PXT_ID_COUNT];
	_Atomic uint32_t learnt; /* how often */
	_Atomic uint32_t wanted; /* a type is needed */
	uint64_t asked_at;       /* pull: since when; 0: not */
	uint32_t asked_learnt;
	bool liar; /* had records of a type that it never named */

	/* learn's own. */
	uint32_t names;      /* taken over */
	uint32_t names_left; /* that this guest may still add */
	uint32_t pool_left;  /* bytes of descriptions, the same */
	uint8_t described[(PXT_NAMES_ROOM + 7u) / 8u];

	uint16_t thread[CONFIG_PTRACE_MAX_THREADS]; /* this process' entry; 0: not asked yet */
	struct pxt_guest_lane lane[CONFIG_PTRACE_LANES_MAX];
	unsigned char before[16]; /* loaded along with what follows, never used */
	unsigned char payload[PXT_GUEST_PAYLOAD];
};

/* Bytes of another process' memory, read once: nothing derived from them is read there again. */
PXT_INLINE void pxt_guest_read(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	atomic_signal_fence(memory_order_seq_cst);
}

/* ---- One lane (attach/guestlane.c); with the stream's mutex ---- */

/* What pull hands through; records lost are counted here first. */
struct pxt_guest_pull {
	struct pxt_stream *stream;
	uint64_t clock;
	uint64_t lost;
	bool all;
};

void pxt_guest_lane_begin(struct pxt_guest_lane *lane, const struct pxt_guest_memory *guest,
    uint32_t index, uint64_t clock);
/* Reads head; what was overwritten meanwhile is lost. */
void pxt_guest_lane_look(
    struct pxt_guest_pull *pull, struct pxt_guest_memory *guest, struct pxt_guest_lane *lane);
/* Looks at records up to that head until enough are ahead; lane->stuck: one is unfinished. */
void pxt_guest_lane_fill(
    struct pxt_guest_pull *pull, struct pxt_guest_memory *guest, struct pxt_guest_lane *lane);
/*
 * A record that was not looked at has no smaller stamp, or was reserved, and so returned, later
 * than that.  Of the stamps before it the largest does not count: the next may be smaller, by the
 * error of a reading.
 */
uint64_t pxt_guest_lane_floor(struct pxt_guest_lane *lane);
/* The payload of @record comes into guest->payload.  False: it is not there any more. */
bool pxt_guest_lane_copy(struct pxt_guest_memory *guest, const struct pxt_guest_lane *lane,
    const struct pxt_guest_record *record);

PXT_INLINE bool pxt_guest_lane_none(const struct pxt_guest_lane *lane)
{
	return lane->first == lane->last;
}

PXT_INLINE const struct pxt_guest_record *pxt_guest_lane_first(const struct pxt_guest_lane *lane)
{
	return &lane->ahead[lane->first];
}

/* ---- Types (attach/types.c) ---- */

void pxt_guest_types_begin(struct pxt_guest_memory *guest);

#endif
