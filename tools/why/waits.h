/* SPDX-License-Identifier: MIT */
/*
 * waits.h - the waits of threads: for a lock, from the event that asks for it to the one that ends the
 * wait; and off the CPU, from the switch away from the thread to the switch back.
 *
 * A wait across a loss is none, for nobody knows when it ended.  A thread that the scheduler never
 * switches back to may have ended: its time off the CPU is none, either.
 *
 * And what the threads of traced programs did with their time: ran, could have run while others did, waited for
 * locks, sat in calls that block.  Running and runnable are what the scheduler's events say, and nothing where a
 * log has none.  A time across a loss is left out: nobody knows what was in it.
 *
 * Bounded: two waits and a row of times for each of PXT_ACTORS_MAX threads (state.h).
 */
#ifndef PXT_WAITS_H
#define PXT_WAITS_H

#include "tools/why/state.h"

enum pxt_wait_kind {
	PXT_WAIT_LOCK,
	PXT_WAIT_CPU,
	PXT_WAIT_KINDS
};

struct pxt_wait {
	bool is_on;
	bool wanted; /* for who looks on */
	enum pxt_wait_kind kind;
	const struct pxt_actor *actor;
	struct pxt_state_lock *lock;
	uint32_t mode; /* for what it was asked for: a name, or PXT_NO_NAME */
	int64_t since_ns;
	unsigned source; /* of the event that began it, ... */
	uint64_t epoch;  /* ... and its log's epoch then */
	int cpu;
};

struct pxt_waits {
	const struct pxt_state *state;
	struct pxt_wait (*list)[PXT_WAIT_KINDS]; /* by thread */
	uint32_t room;
	void *self;
	/* Sets @wanted; @act is what begins it. */
	void (*begun)(void *self, struct pxt_wait *wait, const struct pxt_act *act);
	/* @act is what ends it; NULL: the log ends first. */
	void (*ended)(void *self, const struct pxt_wait *wait, const struct pxt_act *act);
};

/* After the state has changed. */
void pxt_waits_look(struct pxt_waits *waits, const struct pxt_act *act);
/* The log ends: who still waits for a lock. */
void pxt_waits_close(struct pxt_waits *waits);
void pxt_waits_free(struct pxt_waits *waits);

/* ---- What the threads did with their time ---- */

struct pxt_waits_times_row {
	const struct pxt_actor *actor; /* NULL: none has this place */
	int64_t locks_ns;
	int64_t calls_ns;
	int64_t ran_ns;
	int64_t ready_ns;
	/* Of what goes on: */
	bool in_call;
	int64_t call_since_ns;
	uint64_t call_epoch;
	enum pxt_running running;
	int64_t running_since_ns;
	uint64_t running_epoch;
};

struct pxt_waits_times {
	struct pxt_state *state;
	struct pxt_waits waits;
	struct pxt_waits_times_row *rows; /* by the thread's index */
	uint32_t row_room;
	int64_t last_ns;
};

/* Reads all logs.  False when a roles file does not fit them. */
bool pxt_waits_times_read(
    struct pxt_waits_times *use, struct pxt_reader *reader, struct pxt_roles_book *book);
void pxt_waits_times_free(struct pxt_waits_times *use);

/*
 * Threads of traced programs, who waited longest first (locks, then runnable, then running); at most @most,
 * in @sorted.  Returns how many there are.
 */
uint32_t pxt_waits_times_sort(
    const struct pxt_waits_times *use, const struct pxt_waits_times_row **sorted, uint32_t most);

#endif
