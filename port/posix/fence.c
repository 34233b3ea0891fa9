/* SPDX-License-Identifier: MIT */
/* fence.c - the fence in all threads of the process (membarrier), which spares trace points one; see owncalls.h. */
#define _GNU_SOURCE

#include "port/posix/owncalls.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's numbers; musl comes without the kernel's headers. */
#define MEMBARRIER_PRIVATE_EXPEDITED          8
#define MEMBARRIER_REGISTER_PRIVATE_EXPEDITED 16

const struct pxt_processes *_Atomic pxt_processes;

/* The first call of a process (of an exec, to be exact) has to register it. */
bool pxt_port_fence_all(void)
{
	PXT_KEEP_ERRNO();
	const struct pxt_processes *processes =
	    atomic_load_explicit(&pxt_processes, memory_order_acquire);
	long result;

	if (processes)
		return processes->fence();
	result = syscall(SYS_membarrier, MEMBARRIER_PRIVATE_EXPEDITED, 0);
	if (result < 0 && errno == EPERM &&
	    syscall(SYS_membarrier, MEMBARRIER_REGISTER_PRIVATE_EXPEDITED, 0) == 0)
		result = syscall(SYS_membarrier, MEMBARRIER_PRIVATE_EXPEDITED, 0);
	return result == 0;
}
