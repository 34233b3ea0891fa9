/* SPDX-License-Identifier: MIT */
/*
 * waits.h - the waits of threads: for a lock, from the event that asks for it to the one that ends the
 * wait; and off the CPU, from the switch away from the thread to the switch back.
 *
 * A wait across a loss is none, for nobody knows when it ended.  A thread that the scheduler never
 * switches back to may have ended: its time off the CPU is none, either.
 *
 * Bounded: two waits for each of PXT_ACTORS_MAX threads (state.h).
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

#endif
