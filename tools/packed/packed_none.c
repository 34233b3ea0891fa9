/* SPDX-License-Identifier: MIT */
/* packed_none.c - where there is no libzstd, no log is compressed or unpacked; see packed.h. */
#include "tools/packed/packed.h"

#include <errno.h>

struct pxt_packer *pxt_packer_begin(int *error)
{
	*error = ENOTSUP;
	return NULL;
}

int pxt_packer_put(struct pxt_packer *packer, int fd, const void *bytes, size_t count)
{
	(void)packer;
	(void)fd;
	(void)bytes;
	(void)count;
	return ENOTSUP;
}

int pxt_packer_end(struct pxt_packer *packer, int fd)
{
	(void)packer;
	(void)fd;
	return ENOTSUP;
}

void pxt_packer_free(struct pxt_packer *packer)
{
	(void)packer;
}

int pxt_packed_unpack(int from, int to, bool log)
{
	(void)from;
	(void)to;
	(void)log;
	return ENOTSUP;
}
