/* SPDX-License-Identifier: MIT */
/*
 * timeuse.h - what the threads of traced programs did with their time: ran, could have run while others
 * did, waited for locks, sat in calls that block.
 *
 * Running and runnable are what the scheduler's events say, and nothing where a log has none.  A time
 * across a loss is left out: nobody knows what was in it.
 *
 * Bounded: PXT_ACTORS_MAX threads (state.h).
 */
#ifndef PXT_TIMEUSE_H
#define PXT_TIMEUSE_H

#include "tools/why/waits.h"

struct pxt_timeuse_row {
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

struct pxt_timeuse {
	struct pxt_state *state;
	struct pxt_waits waits;
	struct pxt_timeuse_row *rows; /* by the thread's index */
	uint32_t row_room;
	int64_t last_ns;
};

/* Reads all logs.  False when a roles file does not fit them. */
bool pxt_timeuse_read(
    struct pxt_timeuse *use, struct pxt_reader *reader, struct pxt_roles_book *book);
void pxt_timeuse_free(struct pxt_timeuse *use);

/*
 * Threads of traced programs, who waited longest first (locks, then runnable, then running); at most @most,
 * in @sorted.  Returns how many there are.
 */
uint32_t pxt_timeuse_sort(
    const struct pxt_timeuse *use, const struct pxt_timeuse_row **sorted, uint32_t most);

#endif
