/* SPDX-License-Identifier: MIT */
/*
 * syspairs.h - durations that system events tell of: calls, functions, waits for locks, locks that are
 * held, handlers of signals, what a kernel is busy with.
 *
 * Some have a row for each value of the field by which begin and end belong together: read() and write()
 * are both calls.
 */
#ifndef PXT_SYSPAIRS_H
#define PXT_SYSPAIRS_H

#include "tools/event/event.h"

struct pxt_syspair {
	const char *name;  /* "call" */
	const char *field; /* begin and end have the same value of it */
	bool by_value;     /* a row, and a name, for each value */
	bool alone;        /* an end without begin is no mistake */
	enum pxt_syspair_names {
		PXT_SYSPAIR_NUMBERS,
		PXT_SYSPAIR_WORDS,    /* values are words (event/sysnames.h) */
		PXT_SYSPAIR_FUNCTIONS /* values are addresses where functions begin */
	} names;
};

/* What an event of one type does in one of these pairs. */
struct pxt_syspair_role {
	trace_event_id_t id;
	unsigned pair; /* index in pxt_syspairs */
	bool begins;
	const char *test;  /* it does so only where this field is ... */
	int64_t values[2]; /* ... one of these */
};

#define PXT_SYSPAIRS 12u
extern const struct pxt_syspair pxt_syspairs[PXT_SYSPAIRS];

/* The next role of that type behind @after (NULL: the first one); NULL: there is none. */
const struct pxt_syspair_role *pxt_syspairs_next(
    trace_event_id_t id, const struct pxt_syspair_role *after);
/* Whether the event does so. */
bool pxt_syspairs_does(const struct pxt_event *event, const struct pxt_syspair_role *role);

#endif
