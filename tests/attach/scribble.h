/* SPDX-License-Identifier: MIT */
/* scribble.h - a process that writes whatever into the memory that it attached with. */
#ifndef PXT_TESTS_SCRIBBLE_H
#define PXT_TESTS_SCRIBBLE_H

#include <stdint.h>

/* Kinds of nonsense, together or alone. */
enum scribble {
	SCRIBBLE_WORDS = 1,   /* anything anywhere */
	SCRIBBLE_HEADS = 2,   /* positions and numbers */
	SCRIBBLE_SLOTS = 4,   /* slots that carry the right tag, and nonsense */
	SCRIBBLE_RECORDS = 8, /* whole records of any kind, of any thread, at any time */
	SCRIBBLE_NAMES = 16,  /* names, descriptions, their numbers */
	SCRIBBLE_THREADS = 32,
	SCRIBBLE_HEADERS = 64,
	SCRIBBLE_FLICKER = 128, /* a slot that is another one each time it is looked at */
	SCRIBBLE_ALL = 255,
};

/* Never returns. */
void scribble(uint64_t seed, unsigned kinds);

/* One record of this process' memory, as no trace point makes it; word: of its begin slot. */
struct craft {
	uint32_t id;
	uint32_t bytes;  /* of data, all 'd' */
	uint32_t thread; /* index */
	int64_t later;   /* its stamp: so much later than now, ticks */
	int extra;       /* with a thread and a pid of its own: */
	uint32_t pid;
	uint32_t lane;
};
void craft_record(const struct craft *craft);
/* Room for one that never comes, in lane 0. */
void craft_nothing(void);
/* Its position @quarters of 2^30 slots on, a quarter as many records. */
void craft_head(unsigned quarters);
/* The name of this process' type @id, as it is in memory. */
void craft_name(uint32_t id, const char *bytes, uint32_t count);
uint64_t craft_ticks_per_second(void);

#endif
