/* SPDX-License-Identifier: MIT */
/*
 * salvage.h - a complete log out of one that lacks its end or is damaged: every block is alone,
 * and the sums in its head tell what is missing before it.
 *
 * Memory: two blocks of 1 MiB at most, and what a receiver keeps (receive/run.h); of a log with the policy
 * LOOP 16 bytes a frame.
 */
#ifndef PXT_RECOVER_SALVAGE_H
#define PXT_RECOVER_SALVAGE_H

#include "tools/recover/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PXT_SALVAGE_GAPS 16u

struct pxt_salvaged {
	uint64_t events;  /* in the new log */
	uint64_t missing; /* that the old one was given and does not hold whole */
	uint64_t lost;    /* in the stream, before any log */
	uint64_t held;    /* in the stream at its end */
	uint64_t
	    unsure; /* of the events: from a block that is cut off, which no checksum vouches for */
	enum pxt_filehead head;
	uint64_t blocks;
	uint64_t gaps; /* stretches of the file that are no sound block; of the first ones: */
	struct {
		uint64_t from;
		uint64_t to;
	} gap[PXT_SALVAGE_GAPS];
	uint64_t skipped; /* bytes in them */
	bool complete;    /* the trailer was there */
	bool end_unknown; /* how many events were recorded after the last block is */
	bool gave_up;     /* too much of it looks like blocks and is none */
	bool frames;      /* policy LOOP: what is missing may have been overwritten */
};

/* Whether @image begins like a log, though its head may be damaged. */
bool pxt_salvage_is_log(const struct pxt_image *image);
/* Returns NULL, or why nothing can be made of it; *error is an errno where the new file is. */
const char *pxt_salvage(
    const struct pxt_image *image, const char *path, struct pxt_salvaged *salvaged, int *error);

#endif
