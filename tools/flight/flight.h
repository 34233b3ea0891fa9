/* SPDX-License-Identifier: MIT */
/*
 * flight.h - a flight recorder: one log or two grow in memory and are read at two places.  In front each event
 * is judged (judge.h).  Some seconds behind that memory is given back.  What lies between is there when the
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

#include "tools/flight/judge.h"

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

/* Codes of the options; above every character, and above those of other headers. */
enum {
	PXT_OPT_WHEN = 900,
	PXT_OPT_KEEP,
	PXT_OPT_MOST
};

#define PXT_FLIGHT_OPTIONS                                                                         \
	{ "when", required_argument, NULL, PXT_OPT_WHEN },                                         \
	    { "keep", required_argument, NULL, PXT_OPT_KEEP },                                     \
	{                                                                                          \
		"most", required_argument, NULL, PXT_OPT_MOST                                      \
	}

#define PXT_FLIGHT_HELP                                                                            \
	"      --when CONDITION  a flight recorder: only what is around each time that it is "     \
	"met,\n"                                                                                   \
	"                    as a log of its own (LOG.when-1.ptl, ...), with its sentence at "     \
	"once:\n"                                                                                  \
	"                    'THREAD late > 20ms', 'span NAME > 5ms', 'wait > 5ms',\n"             \
	"                    'wait LOCK|CALL > 5ms', 'wakeup > 2ms', 'event NAME.FIELD > 7'\n"     \
	"      --keep T      of these logs: T before and T after (5s)\n"                           \
	"      --most N      N of these logs at most (10)\n"

static inline bool pxt_flight_is(int code)
{
	return code >= PXT_OPT_WHEN && code <= PXT_OPT_MOST;
}
/* Takes an option.  False, with a word to the user, when its value makes no sense. */
bool pxt_flight_option(struct pxt_flight_wish *wish, int code, const char *value);
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

#endif
