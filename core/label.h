/* SPDX-License-Identifier: MIT */
/*
 * label.h - the labels at the beginning of stream and directory (base/label.h), where the
 * configuration has them.
 *
 *   who beside whom: written before anybody else finds the block.
 */
#ifndef PXT_CORE_LABEL_H
#define PXT_CORE_LABEL_H

#include "base/compiler.h"

#include <stddef.h>

struct pxt_block;
struct pxt_directory;

#if CONFIG_PTRACE_LABELS
#include "base/label.h"
#define PXT_STREAM_LABEL    struct pxt_stream_label label;
#define PXT_DIRECTORY_LABEL struct pxt_directory_label label;

/* Behind what creation fills in; @bytes: of the block with its lanes.  All but the magic number. */
void pxt_label_stream(struct pxt_block *block, size_t bytes);
/* The magic number: from now on whoever finds the block takes it for a stream's. */
void pxt_label_valid(struct pxt_block *block);
void pxt_label_directory(struct pxt_directory *directory);
#else
#define PXT_STREAM_LABEL
#define PXT_DIRECTORY_LABEL

PXT_INLINE void pxt_label_stream(struct pxt_block *block, size_t bytes)
{
	(void)block;
	(void)bytes;
}

PXT_INLINE void pxt_label_valid(struct pxt_block *block)
{
	(void)block;
}

PXT_INLINE void pxt_label_directory(struct pxt_directory *directory)
{
	(void)directory;
}
#endif

#endif
