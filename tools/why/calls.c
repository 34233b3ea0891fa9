/* SPDX-License-Identifier: MIT */
/* calls.c - which calls wait for what, and for how long; see rounds.h. */
#include "tools/why/rounds.h"

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
