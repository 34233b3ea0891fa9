/* SPDX-License-Identifier: MIT */
/* lines.c - the marker, and what is said of it. */
#include "frame.h"

#include <stddef.h>
#include <stdio.h>

#define LINE   64u
#define STEP   16u /* between places where the stack may end */
#define PASSES 4u  /* counted with each: records of any length lie in all ways in their lines */
#define WARM                                                                                       \
	320u /* before them: thread, lane and addresses are known, nothing happens for the first time */

/* On a page of its own: nobody else's line or page is taken for it. */
static union {
	lines_word word;
	unsigned char page[4096];
} marker __attribute__((aligned(4096)));

static union {
	lines_word word;
	unsigned char page[4096];
} nobody __attribute__((aligned(4096)));

void lines_begin(void)
{
	(void)printf("marker %p\n", (void *)marker.page);
	(void)fflush(stdout);
}

/* @calls with the stack so many bytes further down in its line, whatever the environment above it. */
static __attribute__((noinline)) void call_at(
    size_t down, lines_calls *calls, lines_word *store, unsigned passes)
{
	size_t over = (uintptr_t)__builtin_frame_address(0) % LINE;
	volatile unsigned char *room = __builtin_alloca(over + down + 1);

	*room = 0;
	calls(store, passes);
}

void lines_row(const char *name, lines_calls *calls)
{
	calls(&nobody.word, WARM);
	for (size_t down = 0; down < LINE; down += STEP)
		call_at(down, calls, &marker.word, PASSES);
	(void)printf("row %u %s\n", LINE / STEP * PASSES, name);
	(void)fflush(stdout);
}
