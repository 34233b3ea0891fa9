/* SPDX-License-Identifier: MIT */
/*
 * flight.h - a flight recorder: one log or two grow in memory and are read at two places.  In front each event
 * is judged (below).  Some seconds behind that memory is given back.  What lies between is there when the
 * condition is met: the seconds before and after become a log of their own.
 *
 *	flight = pxt_flight_new(&wish);
 *	pxt_flight_watch(flight, fd);      once the log's head is there; the program's own log first
 *	while (...)
 *	    pxt_flight_step(flight);       ten times a second, say
 *	met = pxt_flight_end(flight, &sum);  the logs have their ends: takes the rest
 *
 * A log is written by a child process (cut.c) from its copy of the reader behind, so this one goes on
 * meanwhile, and from where that reader was.
 *
 * A log begins that long before what was met began (a round, a wait), but no earlier than twice as long before
 * it ended.
 *
 * Which meetings share a log: all up to the end of the time after the first one.  The next one begins a
 * log, which has the seconds before it, too, even if they are in the log before.
 *
 * Memory: no more than the wish says, twice as much while a log is written, and what comes in a tenth of a second.  Where it is full, the oldest
 * events go, so a log has less before.  Where events come faster than they can be judged, some are
 * passed over unjudged, and counted.
 */
#ifndef PXT_FLIGHT_H
#define PXT_FLIGHT_H

#include "tools/read/source.h"
#include "tools/select/select.h"

/*
 * What the recorder waits for: --when 'control late > 20ms'.
 *
 * 	THREAD late > T           a round of the thread, or its wait between rounds, was longer than usual by T
 * 	span NAME > T             a span (X_begin .. X_end) took longer
 * 	wait > T                  a wait for a lock took longer, ...
 * 	wait NAME > T             ... for this one, or a call: wait table_mutex > 5ms, wait read > 1s
 * 	wakeup [THREAD] > T       from a wake-up until the thread ran it took longer
 * 	event NAME                an event of this type came, ...
 * 	event NAME.CONDITION      ... of which this is true, as --where has it: event job_end.late_ns > 1ms
 *
 * THREAD is a name or a number; names are globs.
 */

#define PXT_CONDITION_NAME 256u
/* A wait in a condition variable ("cond"), beside the numbers of calls (trace_hooks_np.h). */
#define PXT_CONDITION_COND UINT64_MAX

enum pxt_condition_kind {
	PXT_CONDITION_LATE,
	PXT_CONDITION_SPAN,
	PXT_CONDITION_LOCK,
	PXT_CONDITION_CALL,
	PXT_CONDITION_WAKEUP,
	PXT_CONDITION_EVENT
};

struct pxt_condition {
	const char *text; /* as it was written */
	enum pxt_condition_kind kind;
	char name[PXT_CONDITION_NAME]; /* "": any */
	int64_t limit_ns;
	uint64_t call;           /* its number */
	struct pxt_where *where; /* EVENT; NULL: every one */
};

/* False, with a word to the user that names what makes no sense and lists what does. */
bool pxt_condition_parse(struct pxt_condition *condition, const char *text);

/*
 * Events of a log, one by one while it grows: is the condition met?  What a round is, who has
 * which lock, and what a span is, the parts of `pxtrace why` say.
 *
 * Bounded as they are (state.h, rounds.h), however long it goes on.
 */

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
/* Whether anything had the name that the condition has. */
bool pxt_judge_knows(const struct pxt_judge *judge);
/* Events were passed over: what was known is not known any more. */
void pxt_judge_forget(struct pxt_judge *judge);

#define PXT_FLIGHT_LOGS_MAX 1000u

struct pxt_flight_wish {
	const char *command;            /* for messages */
	const char *output;             /* OUT.ptl: logs are OUT.when-1.ptl, ... */
	struct pxt_condition condition; /* without a text: none was asked for */
	int64_t keep_ns;                /* before, and after */
	unsigned most;                  /* logs */
	uint64_t size;                  /* bytes of memory */
};

struct pxt_flight_sum {
	uint64_t met;
	unsigned written;
	unsigned failed;
	uint64_t unjudged; /* events */
	bool unknown;      /* nothing had the name that the condition has */
};

extern const struct pxt_option pxt_flight_options[]; /* of a struct pxt_flight_wish */

#define PXT_FLIGHT_HELP                                                                            \
	"      --when CONDITION  a flight recorder: only what is around each time that it is "     \
	"met,\n"                                                                                   \
	"                    as a log of its own (LOG.when-1.ptl, ...), with its sentence at "     \
	"once:\n"                                                                                  \
	"                    'THREAD late > 20ms', 'span NAME > 5ms', 'wait > 5ms',\n"             \
	"                    'wait LOCK|CALL > 5ms', 'wakeup > 2ms', 'event NAME.FIELD > 7'\n"     \
	"      --keep T      of these logs: T before and T after (5s)\n"                           \
	"      --most N      N of these logs at most (10)\n"

/* Once all were taken: what was not said.  False, with a word to the user: --keep or --most without --when. */
bool pxt_flight_check(struct pxt_flight_wish *wish);

struct pxt_flight;

/* NULL, with a word to the user: nothing can be written there. */
struct pxt_flight *pxt_flight_new(const struct pxt_flight_wish *wish);
/*
 * One more log that grows, as @fd, which is taken over.  The first one is judged, for late wake-ups the
 * last one.  False, with a word to the user: it cannot be read.
 */
bool pxt_flight_watch(struct pxt_flight *flight, const char *name, int fd);
void pxt_flight_step(struct pxt_flight *flight);
/* No log grows any more.  Waits until all is written; frees @flight. */
void pxt_flight_end(struct pxt_flight *flight, struct pxt_flight_sum *sum);
/* How often it was met, and what was written, in a line. */
void pxt_flight_summary(const struct pxt_flight_wish *wish, const struct pxt_flight_sum *sum);

/*
 * What events said once and holds since: images, descriptors, semaphores, names of threads.  A log
 * that begins later begins with it, so that it can be read by itself.
 *
 * Bounded: PXT_STANDING_MAX events; what comes beyond is not kept.
 */

#define PXT_STANDING_MAX 65536u

struct pxt_standing;

struct pxt_standing *pxt_standing_new(void);
void pxt_standing_free(struct pxt_standing *standing);
/* Any event. */
void pxt_standing_take(struct pxt_standing *standing, const struct pxt_event *event);
/* All of them, in their order. */
void pxt_standing_each(const struct pxt_standing *standing,
    void (*take)(void *self, const struct pxt_event *event), void *self);

/* ---- A part of the logs that flight.h watches, as a log of its own, and its sentence ---- */

/* One log that is watched, at the place behind. */
struct pxt_cut_lane {
	struct pxt_reader *reader;
	struct pxt_event *held;        /* the next event, which is read already; NULL: none */
	struct pxt_standing *standing; /* so far */
};

struct pxt_cut {
	const struct pxt_flight_wish *wish;
	const char *parts; /* a folder for what is not finished */
	struct pxt_cut_lane lanes[2];
	unsigned lane_count;
	int64_t begin_ns;
	int64_t end_ns;
	int64_t zero_ns;          /* of the times that are shown */
	struct pxt_meeting first; /* met in it */
};

/* In a process of its own, whose readers nobody else uses.  True: it is done. */

/* The log, as @path; what it is made of is gone afterwards. */
bool pxt_cut_write(const struct pxt_cut *cut, const char *path);
/* A log that is thrown away again, and what `pxtrace why` says of it. */
bool pxt_cut_tell(const struct pxt_cut *cut);
/* The log, under the next name that is free. */
bool pxt_cut_save(const struct pxt_cut *cut);

#endif
