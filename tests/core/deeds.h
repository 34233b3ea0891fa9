/* SPDX-License-Identifier: MIT */
/*
 * deeds.h - what may come between two steps of a write, on which ground, and the verdict: the
 * books balance, nothing is torn, nothing is lost that need not be, and everybody goes on.
 */
#ifndef PXT_CORE_DEEDS_H
#define PXT_CORE_DEEDS_H

#include "kit.h"

/* Who writes. */
enum deed_writer {
	OUTER = 1, /* the write that is interrupted */
	BEFORE,
	NESTED,
	AFTER,
	INNER, /* a write that interrupts it and is interrupted itself */
	SPARE
};

enum deed_fill {
	FRESH, /* START was read, nothing else is there */
	SOME,  /* a few unread records */
	FREE,  /* so many slots are left as the record has, plus `more` */
	LAPPED,
	EDGE, /* the record crosses the ring's end */
};

#define TWO     1u /* a second stream wants the event as well */
#define ORDERED 2u /* stamps */

/* Where it happens. */
struct ground {
	int policy;
	unsigned lanes;
	size_t bytes;
	size_t len;
	enum deed_fill fill;
	int more;
	unsigned kind; /* TWO, ORDERED */
};

enum deed_effect {
	LAPS = 1,   /* more than a ring is written meanwhile */
	STOPS = 2,  /* the stream is stopped when the writer goes on */
	CLEARS = 4, /* what was there is cleared */
	ENDS = 8,   /* the stream is gone */
	DIES = 16,
	WAITS = 32, /* long enough that the unfinished record is given up */
	MARKS = 64, /* START and STOP take room */
};

struct deed {
	const char *name;
	void (*run)(void *);
	unsigned effect;
	int policy;     /* 0: any */
	unsigned lanes; /* at least */
};

#define DEEDS 22u
extern const struct deed deeds[DEEDS];

/* One case, as the verdict must know it. */
struct deed_case {
	const struct deed *deed;
	int point;      /* where the outer write was interrupted */
	int inner;      /* where the inner one was; -1: there is none */
	unsigned spoil; /* records that late stores may have spoiled (ruling 23) */
};

extern const struct ground *deed_ground;
extern trace_id_t deed_stream;
/* Bytes of the inner write; 0: there is none. */
extern size_t deed_inner_len;

bool deed_fits(const struct deed *deed, const struct ground *ground);
/* The stream (or both), running, filled as the ground says. */
void deed_begin(const struct ground *ground);
void deed_verdict(const struct deed_case *what);
void deed_end(void);
void deed_stop(void *argument);
void deed_filter(int how);
/* @one_case for the nth point of a write, from 0 on, until it says that there is none. */
void deed_at_all_points(const struct deed *deed, bool (*one_case)(const struct deed *, uint32_t));
/* So for all deeds that fit, but those that have such an effect. */
void deed_all_on(
    const struct ground *ground, unsigned without, bool (*one_case)(const struct deed *, uint32_t));

#endif
