/* SPDX-License-Identifier: MIT */
/*
 * room.h - asks the port for a stream's room in a file, new or as a part of one that is there (filemap.c).
 *
 *   concurrency: under the process lock.
 */
#ifndef PXT_ROOM_H
#define PXT_ROOM_H

#include "base/attr.h"
#include "port/port_file.h"

#include <errno.h>

struct pxt_block;

#if CONFIG_PTRACE_ATTACH
PXT_INLINE int pxt_room_take(const struct _pxt_attr *attr, size_t bytes)
{
	return pxt_attr_producer(attr) ? pxt_port_filemap_fill(attr->_pxt_file - 1, bytes)
	                               : pxt_port_filemap_extend(attr->_pxt_file - 1, bytes);
}

/* Zeroed memory of a new file, which nobody touched. */
PXT_INLINE int pxt_room_guest(const struct _pxt_attr *attr, size_t bytes, struct pxt_block **block)
{
	void *memory = NULL;
	int error = pxt_port_filemap_untouched(attr->_pxt_file - 1, bytes, &memory);

	*block = memory;
	return error;
}
#else
PXT_INLINE int pxt_room_take(const struct _pxt_attr *attr, size_t bytes)
{
	return pxt_port_filemap_extend(attr->_pxt_file - 1, bytes);
}

PXT_INLINE int pxt_room_guest(const struct _pxt_attr *attr, size_t bytes, struct pxt_block **block)
{
	(void)attr;
	(void)bytes;
	(void)block;
	return ENOMEM;
}
#endif

#endif
