/* SPDX-License-Identifier: MIT */
/*
 * schedhead.c - what a log of the scheduler says besides events: machine, process, clock, threads; see
 * sched.h.
 */
#define _GNU_SOURCE
#include "tools/sched/sched.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/*
 * ---- Machine, process and clock of a log; see sched.h.  The library says the same of the logs of its
 * own process (port/posix/sysinfo.c), so that what is merged agrees ----
 */

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

/* ---- Threads by number, and what /proc says of them ---- */

#define ROOM_FIRST 256u
#define PRIO_FIELD 18
#define PRIO_ABOVE 100 /* of the kernel's priorities, those below are of real-time threads */

static size_t place_of(const struct pxt_schedthreads *threads, int32_t tid)
{
	size_t mask = threads->room - 1;
	uint32_t mixed = (uint32_t)tid * UINT32_C(0x9e3779b1);
	size_t at = mixed & mask;

	while (threads->table[at] && threads->table[at]->tid != tid)
		at = (at + 1) & mask;
	return at;
}

/* At most half of it is used, so that each search ends soon. */
static bool make_room(struct pxt_schedthreads *threads)
{
	struct pxt_schedthreads larger = { .room = threads->room ? threads->room * 2 : ROOM_FIRST };

	if (threads->room && threads->count < threads->room / 2)
		return true;
	larger.table = calloc(larger.room, sizeof(struct pxt_schedthread *));
	if (!larger.table)
		return false;
	larger.count = threads->count;
	for (size_t i = 0; i < threads->room; i++)
		if (threads->table[i])
			larger.table[place_of(&larger, threads->table[i]->tid)] = threads->table[i];
	free(threads->table);
	*threads = larger;
	return true;
}

struct pxt_schedthread *pxt_schedthreads_find(const struct pxt_schedthreads *threads, int32_t tid)
{
	return threads->room == 0 || tid <= 0 ? NULL : threads->table[place_of(threads, tid)];
}

struct pxt_schedthread *pxt_schedthreads_of(struct pxt_schedthreads *threads, int32_t tid)
{
	struct pxt_schedthread *thread = pxt_schedthreads_find(threads, tid);

	if (thread || tid <= 0 || !make_room(threads))
		return thread;
	thread = calloc(1, sizeof *thread);
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->waits_on = -1;
	threads->table[place_of(threads, tid)] = thread;
	threads->count++;
	return thread;
}

void pxt_schedthreads_free(struct pxt_schedthreads *threads)
{
	for (size_t i = 0; i < threads->room; i++)
		free(threads->table[i]);
	free(threads->table);
	*threads = (struct pxt_schedthreads){ 0 };
}

/* Field 18 is the priority, as far above that of the last real-time thread as the kernel has it. */
bool pxt_schedthreads_parse(const char *line, char name[PXT_SCHEDTHREAD_NAME], int32_t *prio)
{
	const char *begin = strchr(line, '(');
	const char *end = strrchr(line, ')');
	char *behind;

	if (!begin || !end || end < begin)
		return false;
	const char *at = end;
	for (unsigned field = 2; at && field < PRIO_FIELD; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	long value = strtol(at, &behind, 10);
	if (behind == at || value < -PRIO_ABOVE - 1 || value > PRIO_ABOVE)
		return false;
	*prio = (int32_t)value + PRIO_ABOVE;
	size_t bytes = (size_t)(end - begin - 1);
	bytes = bytes < PXT_SCHEDTHREAD_NAME ? bytes : PXT_SCHEDTHREAD_NAME - 1;
	memcpy(name, begin + 1, bytes);
	name[bytes] = '\0';
	return true;
}

bool pxt_schedthreads_ask(int32_t tid, char name[PXT_SCHEDTHREAD_NAME], int32_t *prio)
{
	char path[40];
	char line[1024];

	/* Many have ended since: that is known sooner than that a file is not there. */
	if (kill(tid, 0) != 0 && errno == ESRCH)
		return false;
	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t got = fread(line, 1, sizeof line - 1, file);
	(void)fclose(file);
	line[got] = '\0';
	return pxt_schedthreads_parse(line, name, prio);
}

bool pxt_schedthreads_ask_parents(int32_t tid, int32_t *pid, int32_t *parent)
{
	char path[40];
	char line[256];

	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	*pid = *parent = 0;
	while (fgets(line, sizeof line, file)) {
		if (strncmp(line, "Tgid:", 5) == 0)
			*pid = (int32_t)strtol(line + 5, NULL, 10);
		if (strncmp(line, "PPid:", 5) == 0)
			*parent = (int32_t)strtol(line + 5, NULL, 10);
	}
	(void)fclose(file);
	return *pid > 0;
}
