/* SPDX-License-Identifier: MIT */
/*
 * limits.c - which calls wait for what, and how long they are to: by themselves, by what the user says of rounds and
 * home waits, or by a timer's date; see rounds.h.
 */
#include "tools/why/rounds.h"

#include <fnmatch.h>
#include <string.h>
#include <trace_hooks_np.h>

#define MS         INT64_C(1000000)
/* The fields of call_enter and cond_wait that say how long (FORMAT.md 5.1). */
#define CALL_MS    2u
#define CALL_ASKED 3u
#define COND_ASKED 2u

bool pxt_calls_is_home(uint32_t call)
{
	switch (call) {
	case POSIX_TRACE_CALL_SEM_WAIT_NP:
	case POSIX_TRACE_CALL_BARRIER_WAIT_NP:
	case POSIX_TRACE_CALL_SLEEP_NP:
	case POSIX_TRACE_CALL_READ_NP:
	case POSIX_TRACE_CALL_ACCEPT_NP:
	case POSIX_TRACE_CALL_RECV_NP:
	case POSIX_TRACE_CALL_POLL_NP:
	case POSIX_TRACE_CALL_SELECT_NP:
	case POSIX_TRACE_CALL_EPOLL_WAIT_NP:
	case POSIX_TRACE_CALL_FUTEX_WAIT_NP:
	case POSIX_TRACE_CALL_TIMER_NP:
	case POSIX_TRACE_CALL_WAIT_NP:
	case POSIX_TRACE_CALL_PAUSE_NP:
	case POSIX_TRACE_CALL_SIGWAIT_NP:
	case POSIX_TRACE_CALL_SIGSUSPEND_NP:
	case POSIX_TRACE_CALL_MQ_NP:
	case POSIX_TRACE_CALL_MQ_SEND_NP:
	case POSIX_TRACE_CALL_MQ_RECEIVE_NP:
	case POSIX_TRACE_CALL_MSGRCV_NP:
	case PXT_CALL_COND:
		return true;
	default:
		return false;
	}
}

bool pxt_calls_is_set(uint32_t call)
{
	return call == POSIX_TRACE_CALL_POLL_NP || call == POSIX_TRACE_CALL_SELECT_NP ||
	       call == POSIX_TRACE_CALL_EPOLL_WAIT_NP;
}

bool pxt_calls_has_limit(uint32_t call)
{
	return call == POSIX_TRACE_CALL_SLEEP_NP || pxt_calls_is_set(call);
}

bool pxt_calls_is_input(uint32_t call)
{
	return call == POSIX_TRACE_CALL_READ_NP || call == POSIX_TRACE_CALL_ACCEPT_NP ||
	       call == POSIX_TRACE_CALL_RECV_NP || pxt_calls_is_set(call);
}

bool pxt_calls_is_output(uint32_t call)
{
	return call == POSIX_TRACE_CALL_WRITE_NP || call == POSIX_TRACE_CALL_SEND_NP ||
	       call == POSIX_TRACE_CALL_SENDFILE_NP;
}

int64_t pxt_calls_asked_ns(const struct pxt_event *event, uint32_t call)
{
	int64_t asked =
	    (int64_t)pxt_key_number(event, call == PXT_CALL_COND ? COND_ASKED : CALL_ASKED);
	uint64_t ms = pxt_key_number(event, CALL_MS);

	if (asked == 0 && pxt_calls_has_limit(call) && ms < INT64_MAX / (2 * MS))
		asked = (int64_t)ms * MS;
	return asked;
}

bool pxt_calls_is_from_far(const struct pxt_state *state, const struct pxt_actor *actor,
    const struct pxt_home *home, int64_t ns)
{
	const struct pxt_log_address at = { .source = actor->source,
		.address = { .pid = actor->pid, .ns = ns } };
	const char *name = pxt_places_descriptor(state->book->places, &at, home->object);

	return name && *name != '/' && strchr(name, ':');
}

/* ---- What is late by the user's words ---- */

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
