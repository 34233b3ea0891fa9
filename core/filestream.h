/* SPDX-License-Identifier: MIT */
/*
 * filestream.h - streams that live in a file, so that they can be read when their process is gone.
 *
 *   who beside whom: under the process lock, but for publish(), which is called when nobody knows
 *   the stream yet.
 *
 * The file holds the block with its lanes as they are in memory, then a copy of the process'
 * directory that is kept up to date (mirror.h), then text about the process (about.h).  It becomes a stream's
 * file with the label's magic number, which is written last: a process that dies before leaves a
 * file that nobody takes for one.
 */
#ifndef PXT_FILESTREAM_H
#define PXT_FILESTREAM_H

#include "base/attr.h"
#include "core/family.h"
#include "core/stream.h"

#include <errno.h>

#if CONFIG_PTRACE_FILE_STREAMS
#include "port/port_filemap.h"

/*
 * Zeroed memory for a block of @bytes with its lanes: the file's of @attr, if it names one, else
 * the port's; *whole: bytes to give back.  EINVAL (the file will not do), ENOMEM, or 0.
 */
int pxt_file_block(const trace_attr_t *attr, size_t bytes, struct pxt_block **block, size_t *whole);
/* The stream is known to registering threads: what the file has beside the block. */
void pxt_file_fill(struct pxt_block *block, uint32_t index, size_t whole);
/* Creation has succeeded, and cannot fail any more: the descriptor is not looked at again. */
void pxt_file_publish(struct pxt_block *block);
/* Creation has failed and the memory is given back: the file that @block had is empty again. */
void pxt_file_undo(int32_t file);
/* A normal end: says so in the file. */
void pxt_file_end(struct pxt_block *block);
#if CONFIG_PTRACE_ATTACH
PXT_INLINE int pxt_file_take_room(const trace_attr_t *attr, size_t bytes)
{
	return pxt_attr_guest(attr) ? pxt_port_filemap_fill(attr->_pxt_file - 1, bytes)
	                            : pxt_port_filemap_extend(attr->_pxt_file - 1, bytes);
}
#else
PXT_INLINE int pxt_file_take_room(const trace_attr_t *attr, size_t bytes)
{
	return pxt_port_filemap_extend(attr->_pxt_file - 1, bytes);
}
#endif
/* Whether @fd is open on the file that the stream is to live in. */
PXT_INLINE bool pxt_file_is(const trace_attr_t *attr, int fd)
{
	return attr->_pxt_file != 0 && pxt_port_filemap_same(attr->_pxt_file - 1, fd);
}
#else
PXT_INLINE int pxt_file_block(
    const trace_attr_t *attr, size_t bytes, struct pxt_block **block, size_t *whole)
{
	*whole = bytes;
	*block = pxt_family_alloc(bytes, attr->_pxt_inherit == POSIX_TRACE_INHERITED);
	return *block ? 0 : ENOMEM;
}

PXT_INLINE void pxt_file_fill(struct pxt_block *block, uint32_t index, size_t whole)
{
	(void)block;
	(void)index;
	(void)whole;
}

PXT_INLINE void pxt_file_publish(struct pxt_block *block)
{
	(void)block;
}

PXT_INLINE void pxt_file_undo(int32_t file)
{
	(void)file;
}

PXT_INLINE void pxt_file_end(struct pxt_block *block)
{
	(void)block;
}

PXT_INLINE bool pxt_file_is(const trace_attr_t *attr, int fd)
{
	(void)attr;
	(void)fd;
	return false;
}
#endif

#endif
