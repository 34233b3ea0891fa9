/* SPDX-License-Identifier: MIT */
/* limits.c - rounds and home waits beside what the user says of them, or a timer's date; see rounds.h. */
#include "tools/why/rounds.h"

#include <fnmatch.h>

const struct pxt_limit *pxt_limits_of(struct pxt_limits *limits, const char *name)
{
	const struct pxt_limit *found = NULL;

	for (unsigned i = 0; limits && i < limits->count; i++) {
		struct pxt_limit *limit = &limits->list[i];

		if (limit->name && fnmatch(limit->name, name, 0) != 0)
			continue;
		limit->matched = true;
		found = limit;
	}
	return found;
}

static void add_beyond(struct pxt_beyond *beyond, const struct pxt_round *round)
{
	pxt_series_add(&beyond->by, round->rank_ns > 0 ? (uint64_t)round->rank_ns : 0);
}

/* A round that was late: of its own, or because the one before it was. */
static void take_late(struct pxt_home *home, const struct pxt_round *round)
{
	if (home->is_behind && home->head.end_ns != 0) {
		bool is_outside = home->head.outside_ns * 2 > home->head.rank_ns;

		home->head.followers++;
		/* What the first one owes to the outside, they owe as well. */
		if (home->head.limit_ns > 0)
			home->late_rounds.followed_ns +=
			    is_outside ? round->rank_ns * 3 / 10 : round->rank_ns;
		/* It began behind its date: the wait before it was late, and they are because of that. */
		else if (!is_outside)
			home->late_waits.followed_ns += round->rank_ns;
		return;
	}
	if (home->head.end_ns != 0)
		pxt_rounds_keep(&home->late_rounds.worst, &home->head);
	home->head = *round;
	/* What began behind its date is late by no more than it took: the wait before it was late. */
	if (home->head.rank_ns > round->end_ns - round->begin_ns)
		home->head.rank_ns = round->end_ns - round->begin_ns;
}

void pxt_limits_measure_round(struct pxt_home *home, const struct pxt_round *ended,
    const struct pxt_limit *limit, int64_t date_ns)
{
	struct pxt_round round = *ended;

	if (limit) {
		home->measure = limit->is_period ? PXT_MEASURE_PERIOD : PXT_MEASURE_DEADLINE;
		round.limit_ns = limit->ns;
		/* A deadline counts from when the thread was to be woken. */
		if (!limit->is_period && home->date_ns != 0 && home->date_ns < round.begin_ns)
			round.begin_ns = home->date_ns;
	} else if (date_ns != 0) {
		home->measure = PXT_MEASURE_DATE;
		/* The date knows of the wait before as well. */
		round.outside_ns += home->outside_ns - home->behind_ns;
		round.limit_ns = date_ns > round.begin_ns ? date_ns - round.begin_ns : 0;
	} else {
		return;
	}
	round.rank_ns = limit ? round.end_ns - round.begin_ns - limit->ns : round.end_ns - date_ns;
	add_beyond(&home->late_rounds, &round);
	if (round.rank_ns > 0)
		take_late(home, &round);
}

void pxt_limits_measure_wait(struct pxt_home *home, const struct pxt_round *ended,
    const struct pxt_limit *limit, int64_t date_ns, int64_t round_ns)
{
	struct pxt_round wait = *ended;
	int64_t length = wait.end_ns - wait.begin_ns;

	if (limit && limit->is_period && round_ns <= limit->ns) {
		wait.limit_ns = limit->ns;
		wait.rank_ns = round_ns + length - limit->ns;
		/* No wake-up comes to the microsecond. */
		if (wait.rank_ns < limit->ns / 10)
			wait.rank_ns = 0;
	} else if (!limit && date_ns > wait.begin_ns) {
		wait.limit_ns = date_ns - wait.begin_ns;
		wait.rank_ns = wait.end_ns - date_ns;
	} else {
		return;
	}
	add_beyond(&home->late_waits, &wait);
	if (wait.rank_ns > 0)
		pxt_rounds_keep(&home->late_waits.worst, &wait);
}
