/* SPDX-License-Identifier: MIT */
/* filemap.c - files that do not become memory. */
#include "fakes.h"

struct pxt_fault pxt_fault_extend;
struct pxt_fault pxt_fault_filemap;

/* The room is taken and then found to be too little, as on a disk that fills up meanwhile. */
PXT_WRAPPED(int, pxt_port_filemap_extend, (int fd, uint64_t bytes))
{
	int error = __real_pxt_port_filemap_extend(fd, bytes);

	return pxt_fault_hit(&pxt_fault_extend) ? pxt_fault_extend.error : error;
}

PXT_WRAPPED(int, pxt_port_filemap, (int fd, size_t bytes, bool inherited, void **memory))
{
	int error = pxt_fault_hit(&pxt_fault_filemap)
	                ? pxt_fault_filemap.error
	                : __real_pxt_port_filemap(fd, bytes, inherited, memory);

	if (!error) {
		atomic_fetch_add(&pxt_live_blocks, 1);
		atomic_fetch_add(&pxt_live_bytes, (long)bytes);
	}
	return error;
}
