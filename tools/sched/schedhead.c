/* SPDX-License-Identifier: MIT */
/*
 * schedhead.c - machine, process and clock of a log; see schedlog.h.  The library says the same of
 * the logs of its own process (port/posix/sysinfo.c), so that what is merged agrees.
 */
#define _GNU_SOURCE
#include "tools/sched/schedlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

uint64_t pxt_schedhead_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return ns_of(&now);
}

/* The reading of CLOCK_MONOTONIC lies between the two others. */
static struct pxt_logclock read_clocks(void)
{
	struct pxt_logclock clock = { .ticks = 0 };

	(void)clock_gettime(CLOCK_REALTIME, &clock.realtime);
	(void)clock_gettime(CLOCK_MONOTONIC, &clock.monotonic);
	(void)clock_gettime(CLOCK_BOOTTIME, &clock.boottime);
	clock.ticks = ns_of(&clock.monotonic);
	return clock;
}

/* "8-4-4-4-12" digits; all 0 where it is not known. */
static void read_boot_id(unsigned char id[16])
{
	char text[64] = "";
	size_t digits = 0;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	memset(id, 0, 16);
	if (!file)
		return;
	(void)!fgets(text, sizeof text, file);
	(void)fclose(file);
	for (const char *at = text; *at && *at != '\n' && digits < 32; at++) {
		char digit[2] = { *at, '\0' };

		if (*at == '-')
			continue;
		unsigned value = (unsigned)strtoul(digit, NULL, 16);
		id[digits / 2] = (unsigned char)((unsigned)id[digits / 2] << 4 | value);
		digits++;
	}
}

void pxt_schedhead_make(struct pxt_loghead *head, struct posix_trace_loginfo_np *info)
{
	char text[3 * sizeof(struct utsname)];
	struct utsname system;
	ssize_t length;

	*head = (struct pxt_loghead){ .name = "scheduler",
		.clock_source = POSIX_TRACE_CLOCK_MONOTONIC_NP,
		.hz = 1000000000,
		.created = read_clocks() };
	memset(info, 0, sizeof *info);
	info->posix_pid_np = getpid();
	info->posix_cpus_np = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	length = readlink(
	    "/proc/self/exe", info->posix_executable_np, sizeof info->posix_executable_np - 1);
	info->posix_executable_np[length > 0 ? length : 0] = '\0';
	if (gethostname(info->posix_host_np, sizeof info->posix_host_np - 1) != 0)
		*info->posix_host_np = '\0';
	read_boot_id(info->posix_boot_id_np);
	if (uname(&system) != 0)
		return;
	(void)snprintf(
	    text, sizeof text, "%s %s %s", system.machine, system.sysname, system.release);
	memcpy(info->posix_system_np, text, strnlen(text, sizeof info->posix_system_np - 1));
}

void pxt_schedhead_clock(struct pxt_logwrite *log)
{
	const struct pxt_logclock clock = read_clocks();

	pxt_logwrite_clock(log, &clock);
}
