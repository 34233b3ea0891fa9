/* SPDX-License-Identifier: MIT */
/*
 * judge.h - events of a log, one by one while it grows: is the condition met?  What a round is, who has
 * which lock, and what a span is, the parts of `pxtrace why` say.
 *
 * Bounded as they are (state.h, rounds.h), however long it goes on.
 */
#ifndef PXT_JUDGE_H
#define PXT_JUDGE_H

#include "tools/flight/condition.h"
#include "tools/read/source.h"

/* That it was met. */
struct pxt_meeting {
	int64_t begin_ns;
	int64_t end_ns;   /* the event that says so */
	int64_t over_ns;  /* how long, or how much longer than usual */
	int64_t usual_ns; /* LATE */
	bool is_wait;     /* LATE: the wait between rounds */
	bool waits;       /* for a lock, still: it has not ended */
	pid_t tid;        /* 0: not known */
	char who[96];     /* the thread, escaped */
};

struct pxt_judge;

/* All of these outlive the judge. */
struct pxt_judge *pxt_judge_new(const struct pxt_condition *condition, struct pxt_reader *reader,
    void (*met)(void *self, const struct pxt_meeting *meeting), void *self);
void pxt_judge_free(struct pxt_judge *judge);
void pxt_judge_take(struct pxt_judge *judge, const struct pxt_event *event);
/* No event up to @now_ns is missing: who waits for a lock still, and has done so for too long already? */
void pxt_judge_look(struct pxt_judge *judge, int64_t now_ns);
/* Whether anything had the name that the condition has; true where only binaries could tell. */
bool pxt_judge_knows(const struct pxt_judge *judge);
/* Events were passed over: what was known is not known any more. */
void pxt_judge_forget(struct pxt_judge *judge);

#endif
