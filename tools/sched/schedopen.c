/* SPDX-License-Identifier: MIT */
/* schedopen.c - events of perf_event_open(2) for each CPU, and their rings; see sched.h. */
#define _GNU_SOURCE
#include "tools/sched/sched.h"

#include "tools/output/out.h"

#include "format/cfi.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FORMAT_LOST   16u         /* PERF_FORMAT_LOST, since Linux 6.0 */
#define CLOSE_RANGE   436         /* which a C library or its headers may not know */
#define INITIAL_SPACE 0xeffffffcu /* inode of the kernel's own numbers of processes */

/* ---- One event ---- */

/* Events that have an address in the program; a watched thread's alone, where others say nothing. */
static const struct {
	uint64_t config;
	uint64_t sample_type;
	uint64_t period;
	bool own;
} addresses[] = {
	{ PERF_COUNT_SW_PAGE_FAULTS, PXT_PERFREC_FAULTS_TYPE, PXT_PERFREC_FAULTS_EACH, false },
	{ PERF_COUNT_SW_PAGE_FAULTS_MAJ, PXT_PERFREC_MAJOR_TYPE, 1, false },
	{ PERF_COUNT_SW_TASK_CLOCK,
	    PXT_SCHEDCALLERS_KNOWN ? PXT_PERFREC_STACK_TYPE : PXT_PERFREC_RUNS_TYPE,
	    PXT_SCHEDOPEN_RUNS, true },
};

#define ADDRESSES (sizeof addresses / sizeof *addresses)
#define RUNS      (ADDRESSES - 1)

_Static_assert(PXT_SCHEDOPEN_EVENTS == 1 + ADDRESSES + PXT_TRACEPOINTS, "a descriptor for each");

static struct perf_event_attr attr_of_address(unsigned kind, bool wide)
{
	struct perf_event_attr attr = { .size = sizeof attr, .type = PERF_TYPE_SOFTWARE };

	attr.config = addresses[kind].config;
	attr.sample_type = addresses[kind].sample_type;
	attr.sample_period = addresses[kind].period;
	if (attr.sample_type & PERF_SAMPLE_STACK_USER) {
		attr.sample_regs_user = PXT_PERFREC_MASK;
		attr.sample_stack_user = PXT_PERFREC_STACK;
	}
	attr.read_format = FORMAT_LOST;
	attr.sample_id_all = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.inherit = !wide;
	/* Counters of the kernel's own are for the privileged; who runs is not. */
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.watermark = 1;
	return attr;
}

/*
 * The first event of a CPU, which tells who runs, names, begins and ends.  Watched threads have a copy of each event for
 * each CPU, which is half of what a fork of them costs: so theirs says where they run as well.
 */
static struct perf_event_attr attr_of_first(bool wide)
{
	struct perf_event_attr attr = attr_of_address(RUNS, wide);

	if (wide) {
		attr.config = PERF_COUNT_SW_DUMMY;
		attr.sample_type = PXT_PERFREC_SAMPLE_TYPE;
		attr.sample_period = attr.sample_regs_user = attr.sample_stack_user = 0;
	}
	attr.context_switch = 1;
	attr.comm = attr.comm_exec = attr.task = 1;
	return attr;
}

static struct perf_event_attr attr_of_point(const struct pxt_tracepoint *point)
{
	struct perf_event_attr attr = { .size = sizeof attr, .type = PERF_TYPE_TRACEPOINT };

	attr.config = point->id;
	attr.sample_type = PXT_PERFREC_SAMPLE_TYPE | PERF_SAMPLE_RAW;
	attr.sample_period = 1;
	attr.read_format = FORMAT_LOST;
	attr.sample_id_all = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.watermark = 1;
	return attr;
}

/* The descriptor, or -1 with errno. */
static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, uint64_t ring_bytes)
{
	attr->wakeup_watermark = (uint32_t)(ring_bytes / 4);
	for (;;) {
		int fd = (int)syscall(
		    SYS_perf_event_open, attr, pid, cpu, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			return fd;
		/* An older kernel does not count losses for each event. */
		if (errno == EINVAL && attr->read_format)
			attr->read_format = 0;
		else if (errno != EMFILE || !pxt_more_descriptors())
			return -1;
	}
}

/* ---- One CPU ---- */

static void close_cpu(struct pxt_schedcpu *cpu)
{
	if (cpu->ring.page)
		(void)munmap(cpu->ring.page, cpu->mapped);
	pxt_perfring_destroy(&cpu->ring);
	for (unsigned i = 0; i < PXT_SCHEDOPEN_EVENTS; i++)
		if (cpu->fds[i] >= 0)
			(void)close(cpu->fds[i]);
}

static int map_ring(const struct pxt_schedrings *rings, struct pxt_schedcpu *cpu)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = page + (size_t)rings->ring_bytes;
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, cpu->fds[0], 0);

	/* That there are too many locked pages is EPERM here: other than what may not be opened. */
	if (at == MAP_FAILED)
		return errno == EPERM ? ENOMEM : errno;
	cpu->mapped = size;
	return pxt_perfring_init(
	           &cpu->ring, at, (const unsigned char *)at + page, rings->ring_bytes)
	           ? 0
	           : ENOMEM;
}

/* Into the ring of the first event.  A kernel that does not count them goes without. */
static void open_addresses(const struct pxt_schedrings *rings, struct pxt_schedcpu *cpu,
    pid_t child, int number, bool wide)
{
	for (unsigned kind = 0; kind < (wide ? ADDRESSES : RUNS); kind++) {
		bool all = wide && !addresses[kind].own;
		struct perf_event_attr attr = attr_of_address(kind, all);
		int fd = open_event(&attr, all ? -1 : child, number, rings->ring_bytes);

		if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->fds[0]) == 0)
			cpu->fds[1 + kind] = fd;
		else if (fd >= 0)
			(void)close(fd);
	}
}

/* The tracepoints write into the ring of the first event. */
static int open_points(const struct pxt_schedrings *rings, struct pxt_schedcpu *cpu, int number)
{
	unsigned count = 1 + ADDRESSES;

	for (unsigned kind = 0; kind < PXT_TRACEPOINTS; kind++) {
		struct perf_event_attr attr = attr_of_point(&rings->points[kind]);

		if (!rings->points[kind].known)
			continue;
		int fd = open_event(&attr, -1, number, rings->ring_bytes);
		if (fd < 0 && pxt_tracepoint_group(kind) != 0)
			continue;
		if (fd < 0)
			return errno;
		cpu->fds[count++] = fd;
		/* What interrupts nobody is not of interest. */
		if (pxt_tracepoint_group(kind) & (PXT_SCHEDGROUP_IRQ | PXT_SCHEDGROUP_SOFTIRQ))
			(void)ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "common_pid != 0");
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->fds[0]) != 0)
			return errno;
	}
	return 0;
}

static int open_cpu(
    const struct pxt_schedrings *rings, struct pxt_schedcpu *cpu, pid_t child, int number)
{
	bool wide = rings->level >= PXT_SCHEDLEVEL_ALL;
	bool points = rings->level == PXT_SCHEDLEVEL_POINTS;
	struct perf_event_attr attr = attr_of_first(wide);

	*cpu = (struct pxt_schedcpu){ .mapped = 0 };
	for (unsigned i = 0; i < PXT_SCHEDOPEN_EVENTS; i++)
		cpu->fds[i] = -1;
	cpu->fds[0] = open_event(&attr, wide ? -1 : child, number, rings->ring_bytes);
	if (cpu->fds[0] < 0)
		return errno;
	int error = map_ring(rings, cpu);
	if (error == 0)
		open_addresses(rings, cpu, child, number, wide);
	return error == 0 && points ? open_points(rings, cpu, number) : error;
}

/* ---- All ---- */

static uint64_t first_size(unsigned cpus)
{
	uint64_t bytes = PXT_SCHEDOPEN_LARGE;

	while (bytes > PXT_SCHEDOPEN_SMALL && bytes * cpus > PXT_SCHEDOPEN_BYTES)
		bytes /= 2;
	return bytes;
}

/* An offline CPU cannot be watched. */
static int open_cpus(struct pxt_schedrings *rings, pid_t child, long cpus)
{
	int error = 0;

	rings->count = 0;
	rings->cpus = calloc((size_t)cpus, sizeof *rings->cpus);
	if (!rings->cpus)
		return ENOMEM;
	for (int number = 0; number < (int)cpus && error == 0; number++) {
		struct pxt_schedcpu *cpu = &rings->cpus[rings->count];

		error = open_cpu(rings, cpu, child, number);
		if (error == 0)
			rings->count++;
		else
			close_cpu(cpu);
		if (error == ENODEV)
			error = 0;
	}
	if (error == 0 && rings->count > 0)
		return 0;
	pxt_schedopen_close(rings);
	return error ? error : ENODEV;
}

/* All CPUs of one level, with rings of one size: as large as is allowed for all of them. */
static int open_level(struct pxt_schedrings *rings, pid_t child, enum pxt_schedlevel level)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int error;

	rings->level = level;
	rings->ring_bytes = first_size((unsigned)cpus);
	while ((error = open_cpus(rings, child, cpus)) == ENOMEM &&
	       rings->ring_bytes / 2 >= PXT_SCHEDOPEN_SMALL && rings->ring_bytes / 2 >= page)
		rings->ring_bytes /= 2;
	return error;
}

/* Tracepoints number threads as the kernel itself does, which is not how a container does. */
static bool own_numbers(void)
{
	struct stat space;

	return stat("/proc/self/ns/pid", &space) == 0 && space.st_ino == INITIAL_SPACE;
}

static int find_points(struct pxt_schedrings *rings, unsigned groups)
{
	rings->other_space = !own_numbers();
	return rings->other_space ? EXDEV : pxt_tracefs_points(rings->points, groups);
}

int pxt_schedopen(
    struct pxt_schedrings *rings, pid_t child, enum pxt_schedlevel most, unsigned groups)
{
	int error = EPERM;

	*rings = (struct pxt_schedrings){ .level = PXT_SCHEDLEVEL_NONE };
	if (most >= PXT_SCHEDLEVEL_POINTS) {
		rings->points_error = find_points(rings, groups);
		if (rings->points_error == 0)
			rings->points_error = open_level(rings, child, PXT_SCHEDLEVEL_POINTS);
		if (rings->points_error == 0)
			return 0;
	}
	memset(rings->points, 0, sizeof rings->points);
	if (most >= PXT_SCHEDLEVEL_ALL) {
		rings->all_error = open_level(rings, child, PXT_SCHEDLEVEL_ALL);
		if (rings->all_error == 0)
			return 0;
	}
	if (most >= PXT_SCHEDLEVEL_OWN)
		error = open_level(rings, child, PXT_SCHEDLEVEL_OWN);
	if (error != 0)
		rings->level = PXT_SCHEDLEVEL_NONE;
	return error;
}

void pxt_schedopen_stop(struct pxt_schedrings *rings)
{
	for (unsigned i = 0; i < rings->count; i++)
		for (unsigned k = 0; k < PXT_SCHEDOPEN_EVENTS; k++)
			if (rings->cpus[i].fds[k] >= 0)
				(void)ioctl(rings->cpus[i].fds[k], PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t pxt_schedopen_lost(const struct pxt_schedrings *rings)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < rings->count; i++) {
		for (unsigned k = 0; k < PXT_SCHEDOPEN_EVENTS; k++) {
			uint64_t values[2] = { 0, 0 };

			if (rings->cpus[i].fds[k] >= 0 &&
			    read(rings->cpus[i].fds[k], values, sizeof values) ==
			        (ssize_t)sizeof values)
				lost += values[1];
		}
	}
	return lost;
}

static bool is_event(const struct pxt_schedrings *rings, int fd)
{
	for (unsigned i = 0; i < rings->count; i++)
		for (unsigned k = 0; k < PXT_SCHEDOPEN_EVENTS; k++)
			if (rings->cpus[i].fds[k] == fd)
				return true;
	return false;
}

/*
 * The kernel waits for all CPUs before it gives a tracepoint up: 15 to 50 milliseconds for each of them.  A process
 * that has nothing else does so, and nobody has to wait for it.
 */
static void close_later(const struct pxt_schedrings *rings)
{
	int last = -1;

	if (rings->level != PXT_SCHEDLEVEL_POINTS || fork() != 0)
		return;
	for (unsigned i = 0; i < rings->count; i++)
		for (unsigned k = 0; k < PXT_SCHEDOPEN_EVENTS; k++)
			last = rings->cpus[i].fds[k] > last ? rings->cpus[i].fds[k] : last;
	for (int fd = 0; fd <= last; fd++)
		if (!is_event(rings, fd))
			(void)close(fd);
	(void)syscall(CLOSE_RANGE, last + 1, ~0u, 0);
	for (unsigned i = 0; i < rings->count; i++)
		(void)munmap(rings->cpus[i].ring.page, rings->cpus[i].mapped);
	_exit(0);
}

void pxt_schedopen_close(struct pxt_schedrings *rings)
{
	close_later(rings);
	for (unsigned i = 0; i < rings->count; i++)
		close_cpu(&rings->cpus[i]);
	free(rings->cpus);
	rings->cpus = NULL;
	rings->count = 0;
}
