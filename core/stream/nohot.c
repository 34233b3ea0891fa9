/* SPDX-License-Identifier: MIT */
/* nohot.c - what stands for the hot stream where there is none (core/process/process.h). */
#include "core/process/process.h"
#include "core/stream/block.h"

#include <stddef.h>

/* As far into a block as a trace point looks that finds no hot stream. */
struct pxt_no_hot {
	PXT_ALIGNED(PXT_CACHE_LINE) unsigned char before[offsetof(struct pxt_block, no_short)];
	uint32_t no_short;
};

const struct pxt_no_hot pxt_no_hot = { .no_short = 1u };
