/* SPDX-License-Identifier: MIT */
/* memory.c - allocations that fail. */
#include "fakes.h"
#include "wrap.h"

struct pxt_fault pxt_fault_alloc;

PXT_WRAPPED(void *, pxt_port_alloc, (size_t bytes))
{
	return pxt_fault_hit(&pxt_fault_alloc) ? NULL : __real_pxt_port_alloc(bytes);
}
