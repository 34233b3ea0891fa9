/* SPDX-License-Identifier: MIT */
/*
 * lockuse.h - how locks were used: how often and how long they were waited for and held, by whom,
 * and in which order threads took them.
 *
 * Two locks that are taken in both orders, by different threads, may deadlock some day though they
 * never did; the same for a ring of more.  An order counts for nothing where a third lock was held
 * around it each time.  Of locks of traced programs there are no orders where none was recorded that was
 * free: a lock that was held around two others may be missing (`pxtrace run` without --all).
 *
 * Bounded: PXT_STATE_LOCKS_MAX locks (state.h), PXT_LOCKUSE_ORDERS_MAX pairs of one lock and the next.
 */
#ifndef PXT_LOCKUSE_H
#define PXT_LOCKUSE_H

#include "tools/why/state.h"

#define PXT_LOCKUSE_ORDERS_MAX 65536u
#define PXT_LOCKUSE_GATES      4u
#define PXT_LOCKUSE_RING       8u  /* locks of a ring, at most */
#define PXT_LOCKUSE_RINGS      16u /* that are told */

/* Where somebody who had a lock took it, or, where no event told of that, gave it back. */
struct pxt_lockuse_place {
	struct pxt_log_address at;
	bool given_back;
};

struct pxt_lockuse_row {
	struct pxt_state_lock *lock;
	uint64_t taken;
	uint64_t resumed; /* of these, after a wait for a condition: always an event */
	/* Somebody had it when it was asked for; also those that were given up or never ended. */
	uint64_t waits;
	int64_t wait_ns;
	int64_t longest_ns;
	int64_t longest_at_ns; /* when it was asked for */
	const struct pxt_actor *longest_by;
	const struct pxt_actor *longest_holder; /* NULL: not known */
	struct pxt_lockuse_place longest_place; /* of the holder */
	int64_t held_ns;                        /* the longest, ... */
	int64_t held_to_ns;                     /* ... which ended then */
	const struct pxt_actor *held_by;
	struct pxt_lockuse_place held_place;
	const struct pxt_actor *given_by; /* last; where, when, and where that one took it */
	struct pxt_log_address given_at;
	int64_t given_ns;
	struct pxt_log_address given_taken_at;
};

/* @to was taken, or waited for up to the end of the log, while @from was held. */
struct pxt_lockuse_order {
	uint32_t from; /* rows */
	uint32_t to;
	uint64_t count;
	const struct pxt_actor *by;        /* the first time: who, ... */
	bool others;                       /* ... later also others, ... */
	struct pxt_log_address from_place; /* ... and where in the program */
	struct pxt_log_address to_place;
	int64_t ns;
	unsigned gate_count; /* locks that were held around it each time */
	uint32_t gates[PXT_LOCKUSE_GATES];
};

struct pxt_lockuse_ring {
	unsigned count;
	const struct pxt_lockuse_order *orders[PXT_LOCKUSE_RING];
};

struct pxt_lockuse {
	struct pxt_state *state;
	struct pxt_lockuse_row *rows;
	uint32_t row_count;
	uint32_t row_room;
	struct pxt_lockuse_order *orders;
	uint32_t order_count;
	uint32_t *table; /* of orders, by both their rows: index + 1 */
	/* By thread: which lock it asked for, since when, and who had it. */
	struct pxt_lockuse_wait {
		struct pxt_state_lock *lock;
		const struct pxt_actor *holder;
		struct pxt_log_address place;    /* where that one took it */
		struct pxt_log_address asked_in; /* by this thread */
		int64_t since_ns;
		uint64_t epoch;
	} * waits;
	uint32_t wait_room;
	bool asks;       /* some event says when a lock is asked for */
	bool is_traced;  /* there are locks of traced programs, ... */
	bool tells_free; /* ... of which some were free when they were taken */
	uint64_t beyond;
};

/* Reads all logs.  False when a roles file does not fit them. */
bool pxt_lockuse_read(
    struct pxt_lockuse *use, struct pxt_reader *reader, struct pxt_roles_book *book);
void pxt_lockuse_free(struct pxt_lockuse *use);

/* Rings of orders that could deadlock; how many are in @rings.  *@all: false where no further were looked for. */
unsigned pxt_lockuse_rings(
    const struct pxt_lockuse *use, struct pxt_lockuse_ring rings[PXT_LOCKUSE_RINGS], bool *all);

#endif
