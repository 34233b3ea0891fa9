/* SPDX-License-Identifier: MIT */
/* cpus.c - how many CPUs there can be. */
#define _GNU_SOURCE
#include "port/port.h"
#include "port/posix/ticksource.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

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
