/* SPDX-License-Identifier: MIT */
/*
 * imageheader.h - the header at the beginning of the directory (format/imageheader.h), where the configuration has
 * headers.
 *
 *   concurrency: written before any other thread finds the block.
 */
#ifndef PXT_CORE_IMAGEHEADER_H
#define PXT_CORE_IMAGEHEADER_H

#include "format/compiler.h"

#include <stddef.h>
#include <stdint.h>

struct pxt_directory;

#if CONFIG_PTRACE_LABELS
#include "format/imageheader.h"
#define PXT_DIRECTORY_HEADER struct pxt_directory_header header;

/* What all headers begin with, but for the magic number; @bytes: of the whole block. */
void pxt_imageheader_fill(struct pxt_imageheader *header, size_t bytes, uint64_t key);
/* The magic number: from now on a thread that finds the block takes it for what it says. */
void pxt_imageheader_make_valid(struct pxt_imageheader *header, const char *magic);
void pxt_imageheader_directory(struct pxt_directory *directory);
#else
#define PXT_DIRECTORY_HEADER

PXT_INLINE void pxt_imageheader_directory(struct pxt_directory *directory)
{
	(void)directory;
}
#endif

#endif
