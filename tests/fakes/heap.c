/* SPDX-License-Identifier: MIT */
/* heap.c - logs that cannot be read, and tables for which there is no memory. */
#include "fakes.h"
#include "port/port_file.h"

#include <string.h>

struct pxt_fault pxt_fault_heap;
struct pxt_fault pxt_fault_read;
atomic_long pxt_live_heap;

PXT_WRAPPED(void *, pxt_port_heap_resize, (void *old, size_t bytes))
{
	void *memory =
	    pxt_fault_hit(&pxt_fault_heap) ? NULL : __real_pxt_port_heap_resize(old, bytes);

	if (memory && !old)
		atomic_fetch_add(&pxt_live_heap, 1);
	return memory;
}

PXT_WRAPPED(void, pxt_port_heap_free, (void *memory))
{
	if (memory)
		atomic_fetch_sub(&pxt_live_heap, 1);
	__real_pxt_port_heap_free(memory);
}

PXT_WRAPPED(int, pxt_port_file_read,
    (const struct pxt_port_file *file, uint64_t offset, void *buffer, size_t bytes, size_t *done))
{
	if (!pxt_fault_hit(&pxt_fault_read))
		return __real_pxt_port_file_read(file, offset, buffer, bytes, done);
	/* It may have stored something before it failed. */
	memset(buffer, 0xee, bytes);
	*done = 0;
	return pxt_fault_read.error;
}
