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

#endif
