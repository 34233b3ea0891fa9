/* SPDX-License-Identifier: MIT */
/* forks.c - whose a thread's entry is, where processes that came from one another by fork share a table; see forks.h. */
#include "core/process/forks.h"

const struct pxt_forks_ops *_Atomic pxt_forks_ops;
uint32_t pxt_forks_space;
static int32_t own_pid;

void pxt_forks_start(int32_t pid)
{
	own_pid = pid;
	pxt_forks_space = pxt_forks_table() ? pxt_port_pid_space() : 0u;
}

void pxt_forks_ask_space(void)
{
	pxt_forks_space = pxt_port_pid_space();
}

/* The pid last: an entry of the process before it would be taken for a forked process' for a moment only. */
void pxt_forks_sign(struct pxt_thread *entry, int32_t pid)
{
	atomic_store_explicit(&entry->space, pxt_forks_space, memory_order_relaxed);
	atomic_store_explicit(&entry->pid, pid, memory_order_relaxed);
}

bool pxt_forks_foreign(const struct pxt_thread *entry)
{
	uint32_t space = atomic_load_explicit(&entry->space, memory_order_relaxed);

	return atomic_load_explicit(&entry->pid, memory_order_relaxed) != own_pid ||
	       (space && pxt_forks_space && space != pxt_forks_space);
}

bool pxt_forks_gone(const struct pxt_thread *entry)
{
	uint32_t space = atomic_load_explicit(&entry->space, memory_order_relaxed);

	return pxt_forks_foreign(entry) && space && space == pxt_forks_space &&
	       pxt_port_process_gone(atomic_load_explicit(&entry->pid, memory_order_relaxed));
}
