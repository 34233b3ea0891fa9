/* SPDX-License-Identifier: MIT */
/* processes.c - fences that reach other processes, and whether such a process is still there. */
#define _GNU_SOURCE
#include "port/posix/owncalls.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same number on all machines; older C libraries do not know it. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
/* The kernel's numbers; musl comes without the kernel's headers. */
#define MEMBARRIER_GLOBAL_EXPEDITED          2
#define MEMBARRIER_REGISTER_GLOBAL_EXPEDITED 4

/* False: registration failed, so no process is reached and callers wait instead. */
static _Atomic bool registered;

static bool fence(void)
{
	PXT_KEEP_ERRNO();

	return atomic_load_explicit(&registered, memory_order_relaxed) &&
	       syscall(SYS_membarrier, MEMBARRIER_GLOBAL_EXPEDITED, 0) == 0;
}

static const struct pxt_processes reached = { .fence = fence };

void pxt_port_fence_processes(void)
{
	PXT_KEEP_ERRNO();

	atomic_store_explicit(&registered,
	    syscall(SYS_membarrier, MEMBARRIER_REGISTER_GLOBAL_EXPEDITED, 0) == 0,
	    memory_order_relaxed);
	atomic_store_explicit(&pxt_processes, &reached, memory_order_release);
}

/* A process that has ended is there until its parent asks; a descriptor of it tells the end itself. */
bool pxt_port_process_gone(int32_t pid)
{
	PXT_KEEP_ERRNO();
	struct pollfd ended = { .fd = -1, .events = POLLIN };
	int error;
	bool gone;

	pxt_lows_begin();
	ended.fd = pxt_descriptor_up((int)syscall(SYS_pidfd_open, (pid_t)pid, 0));
	error = errno;
	pxt_lows_end();
	if (ended.fd < 0)
		return error == ESRCH || (kill((pid_t)pid, 0) != 0 && errno == ESRCH);
	gone = poll(&ended, 1, 0) == 1;
	(void)close(ended.fd);
	return gone;
}

/* Whether the numbers in /proc are those of our own namespace. */
static bool proc_is_ours(void)
{
	char own[16];
	char seen[16];
	ssize_t got = readlink("/proc/self", seen, sizeof(seen) - 1);

	if (got <= 0)
		return false;
	seen[got] = '\0';
	(void)snprintf(own, sizeof(own), "%ld", (long)getpid());
	return strcmp(own, seen) == 0;
}

/* Behind the last bracket of the stat line: the name before it may hold some. */
static int state_of(pid_t pid)
{
	char line[256];
	char path[48];
	const char *state;

	(void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	if (pxt_descriptor_text(path, line, sizeof(line)) < 0)
		return 0;
	state = strrchr(line, ')');
	return state && state[1] == ' ' ? state[2] : 0;
}

bool pxt_port_process_stopped(int32_t pid)
{
	PXT_OWNCALLS();
	int state = proc_is_ours() ? state_of((pid_t)pid) : 0;

	return state == 'T' || state == 't';
}

uint32_t pxt_port_pid_space(void)
{
	PXT_KEEP_ERRNO();
	struct stat space;

	return stat("/proc/self/ns/pid", &space) == 0 ? (uint32_t)space.st_ino : 0;
}
