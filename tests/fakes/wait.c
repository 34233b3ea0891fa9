/* SPDX-License-Identifier: MIT */
/* wait.c - waits that are interrupted, and a system without membarrier. */
#include "fakes.h"
#include "wrap.h"

#include <time.h>

struct pxt_fault pxt_fault_wait;
struct pxt_fault pxt_fault_fence;

PXT_WRAPPED(int, pxt_port_wait,
    (_Atomic uint32_t *word, uint32_t expected, const struct timespec *until, uint64_t slice_ns))
{
	if (pxt_fault_hit(&pxt_fault_wait))
		return pxt_fault_wait.error;
	return __real_pxt_port_wait(word, expected, until, slice_ns);
}

PXT_WRAPPED(bool, pxt_port_fence_all, (void))
{
	return pxt_fault_hit(&pxt_fault_fence) ? false : __real_pxt_port_fence_all();
}
