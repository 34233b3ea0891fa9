/* SPDX-License-Identifier: MIT */
/*
 * inside.h - a thread of this process that is inside a trace point, for tests that put records
 * together by hand: as long as it does, somebody lives who could finish what is unfinished.
 */
#ifndef TESTS_INSIDE_H
#define TESTS_INSIDE_H

#include "core/process/threads.h"

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

#endif
