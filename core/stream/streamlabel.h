/* SPDX-License-Identifier: MIT */
/*
 * streamlabel.h - the label at the beginning of a stream's block (format/label.h), where the
 * configuration has labels.
 *
 *   concurrency: written before anybody else finds the block.
 */
#ifndef PXT_STREAMLABEL_H
#define PXT_STREAMLABEL_H

#include "format/compiler.h"

#include <stddef.h>

struct pxt_block;

#if CONFIG_PTRACE_LABELS
#include "format/label.h"
#define PXT_STREAM_LABEL struct pxt_stream_label label;

/* After what creation fills in; @bytes: of the block with its lanes.  All but the magic number. */
void pxt_streamlabel_fill(struct pxt_block *block, size_t bytes);
/* The magic number: from now on a thread that finds the block takes it for a stream's. */
void pxt_streamlabel_make_valid(struct pxt_block *block);
#else
#define PXT_STREAM_LABEL

PXT_INLINE void pxt_streamlabel_fill(struct pxt_block *block, size_t bytes)
{
	(void)block;
	(void)bytes;
}

PXT_INLINE void pxt_streamlabel_make_valid(struct pxt_block *block)
{
	(void)block;
}
#endif

#endif
