/* SPDX-License-Identifier: MIT */
/* heir.c - see heir.h. */
#include "heir.h"

#include "core/process/process.h"
#include "core/process/threads.h"
#include "core/stream/wanted.h"
#include "port/port.h"

#include <string.h>

static struct {
	pxt_wanted_mask wanted[PXT_ID_COUNT];
	struct pxt_fork process; /* its page was wiped */
} parents;

void *__wrap_pxt_port_alloc(size_t bytes);

void *__wrap_pxt_port_alloc(size_t bytes)
{
	return pxt_port_alloc_shared(bytes);
}

void heir_note(void)
{
	memcpy(parents.wanted, _pxt_wanted, sizeof(parents.wanted));
	parents.process = pxt_fork;
}

uint32_t heir_entries(uint32_t count)
{
	return 1u + atomic_fetch_add(&pxt_threads->count, count);
}

void heir_begin(uint32_t entry)
{
	pxt_fork.epoch = parents.process.epoch;
	pxt_fork.self_at = parents.process.self_at;
	pxt_fork.wanted = parents.process.wanted;
	memcpy(_pxt_wanted, parents.wanted, sizeof(parents.wanted));
	memset(&pxt_self, 0, sizeof(pxt_self));
	pxt_self_is(entry, &pxt_threads->entry[entry]);
	atomic_store(&pxt_self.entry->pid, pxt_process_pid());
	pxt_wide_set(&pxt_self.entry->thread, pxt_port_thread());
	pxt_self.epoch = pxt_fork.epoch;
	atomic_store(&pxt_fork.hot, atomic_load(&parents.process.hot));
}

void heir_bury(uint32_t entry)
{
	uint32_t passes = atomic_load(&pxt_threads->entry[entry].passes);

	atomic_store(&pxt_threads->entry[entry].passes, passes + (passes & 1u));
}
