/* SPDX-License-Identifier: MIT */
/*
 * filestream.h - streams that live in a file, so that they can be read when their process is gone.
 *
 *   concurrency: under the process lock, but for publish(), which is called when no other thread knows
 *   the stream yet.
 *
 * The file holds the block with its lanes as they are in memory, then a copy of the process'
 * directory that is kept up to date (core/process/replica.h), then process information (blackbox/blackbox.h).  It becomes a stream's
 * file with the header's magic number, which is written last: a process that dies before leaves a
 * file that no tool takes for one.
 */
#ifndef PXT_FILESTREAM_H
#define PXT_FILESTREAM_H

#include "base/attr.h"
#include "core/stream/stream.h"
#include "core/testpoints.h"
#include "port/port_file.h"

#include <errno.h>

#if CONFIG_PTRACE_FILE_STREAMS

/* ---- What the unit Black Box does for a stream that has a file (blackbox/filestream.c); create alone calls it ---- */

/* Zeroed memory of @attr's file for a block of @bytes with its lanes.  EINVAL (the file will not do), ENOMEM, or 0. */
int pxt_filestream_make(
    const struct _pxt_attr *attr, size_t bytes, struct pxt_block **block, size_t *whole);
/* The stream is known to registering threads: what the file has beside the block. */
void pxt_filestream_fill(struct pxt_block *block, uint32_t index, size_t whole);
/* Creation has succeeded, and cannot fail any more: the descriptor is not looked at again. */
void pxt_filestream_publish(struct pxt_block *block);

/* ---- What the others do ---- */

/* Creation has failed and the memory is given back: the file that the block had is empty again. */
PXT_INLINE void pxt_filestream_undo(int32_t file)
{
	if (file)
		pxt_port_filemap_cut(file - 1);
}

/* A normal end: says so in the file. */
PXT_INLINE void pxt_filestream_end(struct pxt_block *block)
{
	if (!block->header.directory_at)
		return;
	__atomic_store_n(&block->header.ended, 1u, __ATOMIC_RELEASE);
	PXT_TESTPOINT(PXT_TP_FILE_ENDED);
}

/* Whether @fd is open on the file that the stream is to live in. */
PXT_INLINE bool pxt_filestream_is(const struct _pxt_attr *attr, int fd)
{
	return attr->_pxt_file != 0 && pxt_port_filemap_same(attr->_pxt_file - 1, fd);
}
#else
PXT_OFF_RETURNS(EINVAL, int, pxt_filestream_make, const struct _pxt_attr *attr, size_t bytes,
    struct pxt_block **block, size_t *whole);
PXT_OFF(pxt_filestream_fill, struct pxt_block *block, uint32_t index, size_t whole);
PXT_OFF(pxt_filestream_publish, struct pxt_block *block);
PXT_OFF(pxt_filestream_undo, int32_t file);
PXT_OFF(pxt_filestream_end, struct pxt_block *block);
PXT_OFF_RETURNS(false, bool, pxt_filestream_is, const struct _pxt_attr *attr, int fd);
#endif

#endif
