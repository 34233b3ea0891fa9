/* SPDX-License-Identifier: MIT */
/*
 * streamheader.h - the header at the beginning of a stream's block (format/imageheader.h), where the
 * configuration has headers.
 *
 *   concurrency: written before any other thread finds the block.
 */
#ifndef PXT_STREAMHEADER_H
#define PXT_STREAMHEADER_H

#include "format/compiler.h"

#include <stddef.h>

struct pxt_block;

#if CONFIG_PTRACE_LABELS
#include "format/imageheader.h"
#define PXT_STREAM_HEADER struct pxt_stream_header header;

/* After what creation fills in; @bytes: of the block with its lanes.  All but the magic number. */
void pxt_streamheader_fill(struct pxt_block *block, size_t bytes);
/* The magic number: from now on a thread that finds the block takes it for a stream's. */
void pxt_streamheader_make_valid(struct pxt_block *block);
#else
#define PXT_STREAM_HEADER

PXT_INLINE void pxt_streamheader_fill(struct pxt_block *block, size_t bytes)
{
	(void)block;
	(void)bytes;
}

PXT_INLINE void pxt_streamheader_make_valid(struct pxt_block *block)
{
	(void)block;
}
#endif

#endif
