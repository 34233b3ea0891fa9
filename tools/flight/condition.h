/* SPDX-License-Identifier: MIT */
/*
 * condition.h - what the recorder waits for: --when 'control late > 20ms'.
 *
 *	THREAD late > T           a round of the thread, or its wait between rounds, was longer than usual by T
 *	span NAME > T             a span (X_begin .. X_end) took longer
 *	wait > T                  a wait for a lock took longer, ...
 *	wait NAME > T             ... for this one, or a call: wait table_mutex > 5ms, wait read > 1s
 *	wakeup [THREAD] > T       from a wake-up until the thread ran it took longer
 *	event NAME                an event of this type came, ...
 *	event NAME.CONDITION      ... of which this is true, as --where has it: event job_end.late_ns > 1ms
 *
 * THREAD is a name or a number; names are globs.
 */
#ifndef PXT_CONDITION_H
#define PXT_CONDITION_H

#include "tools/select/where.h"

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

#endif
