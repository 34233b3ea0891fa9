/* SPDX-License-Identifier: MIT */
/* view.c - other processes' files in memory are counted as memory. */
#include "fakes.h"

PXT_WRAPPED(int, pxt_port_filemap_view,
    (int fd, size_t limit, bool holes, const void **memory, size_t *bytes))
{
	int error = __real_pxt_port_filemap_view(fd, limit, holes, memory, bytes);

	if (!error) {
		atomic_fetch_add(&pxt_live_blocks, 1);
		atomic_fetch_add(&pxt_live_bytes, (long)*bytes);
	}
	return error;
}
