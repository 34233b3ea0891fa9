/* SPDX-License-Identifier: MIT */
/*
 * beside.h - threads beside a test: one that is inside a trace point, one that is waited for, and records of
 * which nothing is reported.
 */
#ifndef PXT_TEST_BESIDE_H
#define PXT_TEST_BESIDE_H

#include "core/process/threads.h"
#include "core/read/lane.h"

#include <errno.h>
#include <semaphore.h>

/*
 * A thread of this process is inside a trace point, for tests that put records together by hand: while it is,
 * somebody lives who could finish what is unfinished.
 */
static inline void somebody_inside(bool inside)
{
	static uint32_t index;
	struct pxt_thread *entry;

	if (!index)
		index = 1u + atomic_fetch_add(&pxt_threads->count, 1u);
	entry = &pxt_threads->entry[index];
	atomic_store(&entry->pid, pxt_process_pid());
	if ((atomic_load(&entry->passes) & 1u) != inside)
		atomic_fetch_add(&entry->passes, 1u);
}

/* ---- Waits for another thread's sem_post(), over signals ---- */

static inline void semwait(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0 && errno == EINTR)
		;
}

/*
 * ---- Records that are passed over make no POSIX_TRACE_ERROR events ----
 *
 * For tests that count what they write themselves.
 */

#if CONFIG_PTRACE_SYSEV_ERROR
/* Once, before there are readers. */
#define UNREPORTED()                                                                               \
	do {                                                                                       \
		if (pxt_lane_passed_hook)                                                          \
			pxt_lane_passed_hook = NULL;                                               \
	} while (0)
#else
#define UNREPORTED() ((void)0)
#endif

/*
 * ---- Turns (lanes/turns.c) ----
 *
 * Threads of which one runs at a time, in an order that is drawn: a thread that runs passes places at which
 * another may be drawn to go on, and now and then does not come back for long.  The same seed gives the same
 * order, so a failure can be looked at again.
 */

#define TURNS_MOST 8 /* threads */

/* Before the first thread sits. */
void turns_prepare(void);

/*
 * One round for @count threads, which sit on seats 0 ... @count - 1, or will; returns when the last
 * one has left.
 */
void turns_round(uint64_t seed, unsigned count);

/* Of a thread, for each round: returns with its first turn; gives the last one away. */
void turns_sit(unsigned seat);
void turns_leave(void);

/* A place at which another may go on; nothing in a thread without a seat. */
void turns_pass(void);
/* Away for @draws draws, unless all others are away for longer.  False: a thread without a seat. */
bool turns_sleep(unsigned draws);

/* 0 ... @below - 1, of the sequence that the seed gives; by a thread whose turn it is. */
uint32_t turns_draw(uint32_t below);

#endif
