/* SPDX-License-Identifier: MIT */
/* identity.c - who this process is, and whom it may trace; how many CPUs there can be. */
#define _GNU_SOURCE
#include "port/port.h"
#include "port/posix/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

int32_t pxt_port_pid(void)
{
	return (int32_t)getpid();
}

/* kill() also says EPERM for processes that exist and may not be signalled: they exist. */
int pxt_port_may_trace(int32_t pid)
{
	int saved = errno;
	int result;

	if (pid == pxt_port_pid())
		return 0;
	if (pid < 0)
		return ESRCH;
	result = kill((pid_t)pid, 0) != 0 && errno == ESRCH ? ESRCH : EPERM;
	errno = saved;
	return result;
}

/* How many CPUs there can be. */

/*
 * Configured, not on-line ones: a CPU that is plugged in later must not share a lane that was
 * meant for one.  Their number does not change, and asking the system opens a file.
 */
static _Atomic unsigned known;

void pxt_cpus_told(uint64_t count)
{
	if (count >= 1 && count <= UINT32_MAX)
		atomic_store_explicit(&known, (unsigned)count, memory_order_relaxed);
}

unsigned pxt_port_cpus(void)
{
	unsigned cpus = atomic_load_explicit(&known, memory_order_relaxed);

	if (!cpus) {
		int saved = errno;
		long count = sysconf(_SC_NPROCESSORS_CONF);

		errno = saved;
		cpus = count > 0 ? (unsigned)count : 1u;
		atomic_store_explicit(&known, cpus, memory_order_relaxed);
	}
	return cpus;
}
