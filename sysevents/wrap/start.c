/* SPDX-License-Identifier: MIT */
/*
 * start.c - the begin of a traced process; see start.h.
 *
 * pxtrace run says by the environment what it wants:
 *
 *	PXTRACE_ATTACH     the name of its stream
 *	PXTRACE_EVENTS     types of system events, bit by bit, as one number
 *	PXTRACE_CALLS      calls that may block, bit by bit
 *	PXTRACE_KINDS      read-write locks and spin locks, bit by bit by their kind
 *	PXTRACE_RING       bytes of memory in which events wait until they are taken
 *	PXTRACE_CONTENDED  locks only where a thread has to wait
 *	PXTRACE_STACK_US   waits that long carry the functions that called
 *
 * Descriptors of the attachment get high numbers, so that the program's own are what they would be.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/start.h"

#include "sysevents/wrap/process.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#define RING_BYTES ((size_t)4 << 20)
/* A forked child has a part of it: every page of it is touched before the child goes on. */
#define CHILD_PART 8u
#define RING_LEAST ((size_t)64 << 10)
/* How many descriptors an attachment may have, and where they begin at most. */
#define OWN_MAX    16
#define OWN_HIGH   240
#define FIRST_TYPE POSIX_TRACE_MUTEX_WAIT_NP
#define LAST_TYPE  POSIX_TRACE_GENERAL_DEBUG_NP

struct pxt_wrap_wishes pxt_wrap_wishes = {
	.stack_ns = UINT64_MAX, .calls = UINT64_MAX, .kinds = UINT64_MAX
};

static int own_first = INT_MAX;
static uint32_t own; /* bit by bit, from own_first on */

bool pxt_start_owns(int fd)
{
	return fd >= own_first && fd - own_first < OWN_MAX && (own >> (fd - own_first) & 1u);
}

int pxt_start_next_own(int fd)
{
	for (int next = fd > own_first ? fd : own_first; next < own_first + OWN_MAX && own; next++)
		if (pxt_start_owns(next))
			return next;
	return INT_MAX;
}

static uint64_t number_of(const char *name, int base, uint64_t otherwise)
{
	const char *text = secure_getenv(name);
	char *end;
	uint64_t value;

	if (!text || !*text)
		return otherwise;
	value = strtoull(text, &end, base);
	return *end ? otherwise : value;
}

/* ---- What is the library's ---- */

/* The image that holds posix_trace_start(). */
static int find_own(struct dl_phdr_info *info, size_t bytes, void *argument)
{
	uintptr_t inside = *(const uintptr_t *)argument;

	(void)bytes;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t low = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || inside < low || inside - low >= part->p_memsz)
			continue;
		pxt_wrap_wishes.own_low = low;
		pxt_wrap_wishes.own_size = part->p_memsz;
		return 1;
	}
	return 0;
}

static void note_own_code(void)
{
	uintptr_t inside = (uintptr_t)&posix_trace_attach_np;

	(void)dl_iterate_phdr(find_own, &inside);
}

/* So many of the lowest descriptors are taken, @made says which of them by this. */
static void fill_up_to(int limit, unsigned char *made)
{
	int first = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int next = first;

	while (next >= 0 && next < limit) {
		made[next] = 1;
		next = fcntl(first, F_DUPFD_CLOEXEC, 0);
	}
	if (next >= 0)
		(void)close(next);
}

static void give_back(int limit, const unsigned char *made)
{
	for (int fd = 0; fd < limit; fd++)
		if (made[fd])
			(void)close(fd);
}

static int own_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 4 * OWN_MAX)
		return 0;
	return limit.rlim_cur < OWN_HIGH + OWN_MAX ? (int)limit.rlim_cur - OWN_MAX : OWN_HIGH;
}

static uint32_t taken_from(int limit)
{
	uint32_t taken = 0;

	for (int i = 0; i < OWN_MAX; i++)
		if (fcntl(limit + i, F_GETFD) >= 0)
			taken |= 1u << i;
	return taken;
}

/* ---- Attaching ---- */

static void complain(const char *name, int error)
{
	char text[128];
	char line[256];
	int length = snprintf(line, sizeof(line),
	    "libptrace-preload: %s: %s; the program runs without being traced\n", name,
	    strerror_r(error, text, sizeof(text)));

	if (length > 0)
		(void)!write(STDERR_FILENO, line,
		    (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1);
}

/* Types that were not asked for cost nothing. */
static void filter(trace_id_t trid)
{
	uint64_t events = number_of("PXTRACE_EVENTS", 10, UINT64_MAX);
	trace_event_set_t set;

	(void)posix_trace_eventset_empty(&set);
	for (unsigned id = FIRST_TYPE; id <= LAST_TYPE; id++)
		if (!(events >> id & 1u))
			(void)posix_trace_eventset_add(id, &set);
	if (events != UINT64_MAX)
		(void)posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
}

static int attach_as(const char *name, bool is_child)
{
	size_t bytes =
	    (size_t)number_of("PXTRACE_RING", 10, RING_BYTES) / (is_child ? CHILD_PART : 1u);
	trace_attr_t attr;
	trace_id_t trid;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error =
		    posix_trace_attr_setstreamsize(&attr, bytes < RING_LEAST ? RING_LEAST : bytes);
	if (!error)
		error = posix_trace_attach_np(name, &attr, &trid);
	if (!error)
		filter(trid);
	return error;
}

static bool attach(bool is_child)
{
	const char *name = secure_getenv("PXTRACE_ATTACH");
	unsigned char made[OWN_HIGH] = { 0 };
	int limit = own_limit();
	uint32_t before;
	int error;

	if (!name || !*name)
		return false;
	(void)posix_trace_thread_exclude_np(1);
	fill_up_to(limit, made);
	before = taken_from(limit);
	error = attach_as(name, is_child);
	own_first = limit;
	own = limit ? taken_from(limit) & ~before : 0;
	give_back(limit, made);
	(void)posix_trace_thread_exclude_np(0);
	/* A process that outlives the recording starts others, which are none of its business. */
	if (error && error != ENOENT)
		complain(name, error);
	return !error;
}

static void tell(void)
{
	char path[256] = "";

	(void)!readlink("/proc/self/exe", path, sizeof(path) - 1);
	pxt_process_tell(
	    POSIX_TRACE_PROCESS_TRACED_NP, (uint32_t)getpid(), 0, (uint64_t)getppid(), path, NULL);
	pxt_process_tell_images();
	pxt_process_tell_thread(0);
}

void pxt_start_child(void)
{
	int saved = errno;

	own = 0;
	if (secure_getenv("PXTRACE_ATTACH") && attach(true))
		tell();
	errno = saved;
}

static void note_wishes(void)
{
	uint64_t stack_us = number_of("PXTRACE_STACK_US", 10, UINT64_MAX);
	void *frame;

	pxt_wrap_wishes.calls = number_of("PXTRACE_CALLS", 10, UINT64_MAX);
	pxt_wrap_wishes.kinds = number_of("PXTRACE_KINDS", 10, UINT64_MAX);
	pxt_wrap_wishes.contended = number_of("PXTRACE_CONTENDED", 10, 0) != 0;
	if (stack_us < UINT64_MAX / 1000u) {
		/* The first call loads what it needs. */
		(void)backtrace(&frame, 1);
		pxt_wrap_wishes.stack_ns = stack_us * 1000u;
	}
}

static __attribute__((constructor)) void start(void)
{
	int saved = errno;

	note_own_code();
	note_wishes();
	if (attach(false) || posix_trace_wanted_np(POSIX_TRACE_PROCESS_NP))
		tell();
	errno = saved;
}
