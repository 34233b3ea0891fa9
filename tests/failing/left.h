/* SPDX-License-Identifier: MIT */
/*
 * left.h - what a process has at a moment, as far as a call of the library can leave something
 * after: descriptors, threads, memory, locks.  Linked with the fakes, which count for it.
 */
#ifndef FAILING_LEFT_H
#define FAILING_LEFT_H

#include <stdbool.h>
#include <stddef.h>

struct left {
	unsigned descriptors; /* how many, ... */
	unsigned long which;  /* ... and what they are */
	unsigned stale;       /* not open, but wrappers of close() take them for the library's */
	unsigned threads;
	unsigned
	    maps; /* lines of /proc/self/maps, but for heap, stacks and what the C library keeps */
	size_t map_bytes;
	long blocks; /* the fakes' counts */
	long bytes;
	long heap;
	int locks; /* of the calling thread */
};

struct left left_now(void);
bool left_same(const struct left *one, const struct left *two);
/*
 * Waits up to 30 seconds until the process has again what it had: threads end, and other sides
 * close, a moment later.  False: it has not, and @what says in what it differs.
 */
bool left_again(const struct left *before, char *what, size_t room);

#endif
