/* SPDX-License-Identifier: MIT */
/*
 * label.h - the label at the beginning of the directory (format/label.h), where the configuration has
 * labels.
 *
 *   concurrency: written before anybody else finds the block.
 */
#ifndef PXT_CORE_LABEL_H
#define PXT_CORE_LABEL_H

#include "format/compiler.h"

#include <stddef.h>
#include <stdint.h>

struct pxt_directory;

#if CONFIG_PTRACE_LABELS
#include "format/label.h"
#define PXT_DIRECTORY_LABEL struct pxt_directory_label label;

/* What all labels begin with, but for the magic number; @bytes: of the whole block. */
void pxt_label_fill(struct pxt_label *label, size_t bytes, uint64_t key);
/* The magic number: from now on a thread that finds the block takes it for what it says. */
void pxt_label_make_valid(struct pxt_label *label, const char *magic);
void pxt_label_directory(struct pxt_directory *directory);
#else
#define PXT_DIRECTORY_LABEL

PXT_INLINE void pxt_label_directory(struct pxt_directory *directory)
{
	(void)directory;
}
#endif

#endif
