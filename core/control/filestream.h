/* SPDX-License-Identifier: MIT */
/*
 * filestream.h - streams that live in a file, so that they can be read when their process is gone.
 *
 *   concurrency: under the process lock, but for publish(), which is called when no thread knows
 *   the stream yet.
 *
 * The file holds the block with its lanes as they are in memory, then a copy of the process'
 * directory that is kept up to date (core/process/replica.h), then process information (blackbox/procinfo.h).  It becomes a stream's
 * file with the header's magic number, which is written last: a process that dies before leaves a
 * file that no tool takes for one.
 */
#ifndef PXT_FILESTREAM_H
#define PXT_FILESTREAM_H

#include "base/attr.h"
#include "core/process/forks.h"
#include "core/stream/stream.h"

#include <errno.h>
#include <stdbool.h>

#if CONFIG_PTRACE_FILE_STREAMS

/* What the unit Black Box does for a stream that has a file (blackbox/filestream.c). */
struct pxt_filestream_ops {
	/*
	 * Zeroed memory for a block of @bytes with its lanes: the file's of @attr, if it names one, else
	 * the port's; *whole: bytes to give back.  EINVAL (the file will not do), ENOMEM, or 0.
	 */
	int (*make_block)(
	    const trace_attr_t *attr, size_t bytes, struct pxt_block **block, size_t *whole);
	/* The stream is known to registering threads: what the file has beside the block. */
	void (*fill)(struct pxt_block *block, uint32_t index, size_t whole);
	/* Creation has succeeded, and cannot fail any more: the descriptor is not looked at again. */
	void (*publish)(struct pxt_block *block);
	/* Creation has failed and the memory is given back: the file that @block had is empty again. */
	void (*undo)(int32_t file);
	/* A normal end: says so in the file. */
	void (*end)(struct pxt_block *block);
	/* Whether @fd is open on the file that the stream is to live in. */
	bool (*is)(const trace_attr_t *attr, int fd);
};

extern const struct pxt_filestream_ops pxt_filestream_ops;

PXT_INLINE int pxt_filestream_block(
    const trace_attr_t *attr, size_t bytes, struct pxt_block **block, size_t *whole)
{
	return pxt_filestream_ops.make_block(attr, bytes, block, whole);
}

PXT_INLINE void pxt_filestream_fill(struct pxt_block *block, uint32_t index, size_t whole)
{
	pxt_filestream_ops.fill(block, index, whole);
}

PXT_INLINE void pxt_filestream_publish(struct pxt_block *block)
{
	pxt_filestream_ops.publish(block);
}

PXT_INLINE void pxt_filestream_undo(int32_t file)
{
	pxt_filestream_ops.undo(file);
}

PXT_INLINE void pxt_filestream_end(struct pxt_block *block)
{
	pxt_filestream_ops.end(block);
}

PXT_INLINE bool pxt_filestream_is(const trace_attr_t *attr, int fd)
{
	return pxt_filestream_ops.is(attr, fd);
}
#else
PXT_INLINE int pxt_filestream_block(
    const trace_attr_t *attr, size_t bytes, struct pxt_block **block, size_t *whole)
{
	*whole = bytes;
	*block = pxt_forks_alloc(bytes, attr->_pxt_inherit == POSIX_TRACE_INHERITED);
	return *block ? 0 : ENOMEM;
}

PXT_INLINE void pxt_filestream_fill(struct pxt_block *block, uint32_t index, size_t whole)
{
	(void)block;
	(void)index;
	(void)whole;
}

PXT_INLINE void pxt_filestream_publish(struct pxt_block *block)
{
	(void)block;
}

PXT_INLINE void pxt_filestream_undo(int32_t file)
{
	(void)file;
}

PXT_INLINE void pxt_filestream_end(struct pxt_block *block)
{
	(void)block;
}

PXT_INLINE bool pxt_filestream_is(const trace_attr_t *attr, int fd)
{
	(void)attr;
	(void)fd;
	return false;
}
#endif

#endif
