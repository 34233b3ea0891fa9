/* SPDX-License-Identifier: MIT */
/* cpus.c - how many CPUs there can be. */
#define _GNU_SOURCE
#include "port/port.h"

#include <errno.h>
#include <unistd.h>

/*
 * Configured, not on-line ones: a CPU that is plugged in later must not share a lane that was
 * meant for one.
 */
unsigned pxt_port_cpus(void)
{
	int saved = errno;
	long count = sysconf(_SC_NPROCESSORS_CONF);

	errno = saved;
	return count > 0 ? (unsigned)count : 1u;
}
