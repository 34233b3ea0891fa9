/* SPDX-License-Identifier: MIT */
/*
 * wakes.c - which events say that their thread does something that wakes another one, and, where no scheduler
 * tells who woke whom, which of them ended a wait; see history.h.
 */
#include "tools/why/history.h"

#include <errno.h>
#include <string.h>
#include <trace_hooks_np.h>

#define JUST_NOW    INT64_C(200000)
#define CALL_SIGNAL 0x10001u /* beside PXT_CALL_COND: it sent a signal to @object */

/* Whether another thread may be woken by such a call while it lasts. */
static bool call_wakes(uint32_t call)
{
	switch (call) {
	case POSIX_TRACE_CALL_SEM_POST_NP:
	case POSIX_TRACE_CALL_BARRIER_WAIT_NP:
	case POSIX_TRACE_CALL_ONCE_NP:
	case POSIX_TRACE_CALL_WRITE_NP:
	case POSIX_TRACE_CALL_OPEN_NP:
	case POSIX_TRACE_CALL_CLOSE_NP:
	case POSIX_TRACE_CALL_ACCEPT_NP:
	case POSIX_TRACE_CALL_CONNECT_NP:
	case POSIX_TRACE_CALL_SEND_NP:
	case POSIX_TRACE_CALL_READ_NP:
	case POSIX_TRACE_CALL_RECV_NP:
	case POSIX_TRACE_CALL_SENDFILE_NP:
	case POSIX_TRACE_CALL_FLOCK_NP:
	case POSIX_TRACE_CALL_LOCKF_NP:
	case POSIX_TRACE_CALL_FCNTL_NP:
	case POSIX_TRACE_CALL_MQ_NP:
	case POSIX_TRACE_CALL_MQ_SEND_NP:
	case POSIX_TRACE_CALL_MQ_RECEIVE_NP:
	case POSIX_TRACE_CALL_MSGSND_NP:
	case POSIX_TRACE_CALL_MSGRCV_NP:
	case POSIX_TRACE_CALL_SEMOP_NP:
	case POSIX_TRACE_CALL_FUTEX_WAKE_NP:
		return true;
	default:
		return false;
	}
}

bool pxt_wakes_event(const struct pxt_event *event)
{
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_MUTEX_UNLOCK_NP:
	case POSIX_TRACE_SYNC_UNLOCK_NP:
	case POSIX_TRACE_COND_WAIT_NP:
	case POSIX_TRACE_COND_SIGNAL_NP:
	case POSIX_TRACE_COND_BROADCAST_NP:
		return true;
	case POSIX_TRACE_CALL_ENTER_NP:
		return call_wakes((uint32_t)pxt_key_number(event, 0));
	case POSIX_TRACE_CALL_EXIT_NP:
		/* Calls that cannot block tell of their end alone. */
		return pxt_key_number(event, 0) == POSIX_TRACE_CALL_SEM_POST_NP ||
		       pxt_key_number(event, 0) == POSIX_TRACE_CALL_FUTEX_WAKE_NP;
	case POSIX_TRACE_SIGNAL_NP:
	case POSIX_TRACE_PROCESS_NP:
		return true;
	default:
		return false;
	}
}

/* ---- Without a scheduler ---- */

void pxt_wakes_note(
    struct pxt_history *history, const struct pxt_actor *actor, const struct pxt_event *event)
{
	history->wakings = pxt_must_reach(
	    history->wakings, &history->waking_room, actor->index, sizeof *history->wakings);
	struct pxt_wakings *wakings = &history->wakings[actor->index];
	struct pxt_waking *last = &wakings->list[(wakings->next + PXT_WAKINGS - 1) % PXT_WAKINGS];
	int id = (int)event->info.posix_event_id;
	bool is_call = id == POSIX_TRACE_CALL_ENTER_NP;
	bool is_exit = id == POSIX_TRACE_CALL_EXIT_NP;
	bool is_sent =
	    id == POSIX_TRACE_SIGNAL_NP && pxt_key_number(event, 0) == POSIX_TRACE_SIGNAL_SENT_NP;
	uint32_t call = is_call || is_exit ? (uint32_t)pxt_key_number(event, 0)
	                : is_sent          ? CALL_SIGNAL
	                                   : PXT_CALL_COND;

	if (is_exit && last->call == call && last->end_ns == INT64_MAX) {
		last->end_ns = event->ns;
		return;
	}
	if (!pxt_wakes_event(event) ||
	    !(is_call || is_exit || is_sent || id == POSIX_TRACE_COND_SIGNAL_NP ||
	        id == POSIX_TRACE_COND_BROADCAST_NP))
		return;
	wakings->list[wakings->next] = (struct pxt_waking){ .call = call,
		.object = pxt_key_number(event, is_sent              ? 3
		                                : is_call || is_exit ? 1
		                                                     : 0),
		.begin_ns = event->ns,
		.end_ns = is_call ? INT64_MAX : event->ns,
		.place = pxt_places_of(event) };
	wakings->next = (wakings->next + 1) % PXT_WAKINGS;
}

/* The call that ends a wait for the same object; 0: none that is known. */
static uint32_t counterpart(uint32_t call)
{
	switch (call) {
	case PXT_CALL_COND:
	case POSIX_TRACE_CALL_BARRIER_WAIT_NP:
	case POSIX_TRACE_CALL_ONCE_NP:
		return call;
	case POSIX_TRACE_CALL_SEM_WAIT_NP:
		return POSIX_TRACE_CALL_SEM_POST_NP;
	case POSIX_TRACE_CALL_FUTEX_WAIT_NP:
		return POSIX_TRACE_CALL_FUTEX_WAKE_NP;
	case POSIX_TRACE_CALL_MQ_RECEIVE_NP:
		return POSIX_TRACE_CALL_MQ_SEND_NP;
	case POSIX_TRACE_CALL_MQ_SEND_NP:
		return POSIX_TRACE_CALL_MQ_RECEIVE_NP;
	case POSIX_TRACE_CALL_MSGRCV_NP:
		return POSIX_TRACE_CALL_MSGSND_NP;
	default:
		return 0;
	}
}

static bool is_input(uint32_t call)
{
	return call == POSIX_TRACE_CALL_READ_NP || call == POSIX_TRACE_CALL_RECV_NP;
}

/* What is at the other end of a descriptor is told by its kind alone; nobody waits for a disk's file. */
static bool are_ends(const struct pxt_history *history, const struct pxt_stretch *wait,
    const struct pxt_waking *waking)
{
	char name[64] = "";
	struct pxt_places *places = history->state->book->places;
	const char *kind = pxt_places_descriptor(places, &waking->place, waking->object);

	if (!kind || *kind == '/')
		return false;
	if (pxt_calls_is_set(wait->call))
		return true;
	(void)strncat(name, kind, sizeof name - strlen(name) - 1);
	kind = pxt_places_descriptor(places, &wait->place, wait->object);
	if (!kind || *kind == '/' || !strchr(name, ':') != !strchr(kind, ':'))
		return false;
	if (strcmp(kind, "an eventfd") == 0)
		return wait->object == waking->object;
	return strchr(kind, ':') || strncmp(kind, name, sizeof name - 1) == 0;
}

/* Waits that only a signal ends, or that one did end. */
static bool ends_by_signal(const struct pxt_stretch *wait)
{
	return wait->call == POSIX_TRACE_CALL_PAUSE_NP ||
	       wait->call == POSIX_TRACE_CALL_SIGWAIT_NP ||
	       wait->call == POSIX_TRACE_CALL_SIGSUSPEND_NP || wait->result == -EINTR;
}

static bool ends(const struct pxt_history *history, const struct pxt_stretch *wait,
    const struct pxt_waking *waking, bool *exact)
{
	const struct pxt_actor *actor = history->state->actors[wait->actor];

	if (waking->call == CALL_SIGNAL) {
		*exact = ends_by_signal(wait);
		/* A set of descriptors may have one of signals. */
		return (*exact || pxt_calls_is_set(wait->call)) &&
		       pxt_actor_answers_to(actor, waking->object);
	}
	*exact = counterpart(wait->call) != 0;
	if (*exact)
		return waking->call == counterpart(wait->call) && waking->object == wait->object;
	return ((pxt_calls_is_output(waking->call) &&
	            (is_input(wait->call) || pxt_calls_is_set(wait->call))) ||
	           (is_input(waking->call) && pxt_calls_is_output(wait->call))) &&
	       are_ends(history, wait, waking);
}

static const struct pxt_waking *latest_of(const struct pxt_history *history,
    const struct pxt_wakings *wakings, const struct pxt_stretch *wait, bool *exact)
{
	for (unsigned i = 1; i <= PXT_WAKINGS; i++) {
		const struct pxt_waking *waking =
		    &wakings->list[(wakings->next + PXT_WAKINGS - i) % PXT_WAKINGS];

		if (waking->call == 0 || waking->end_ns < wait->begin_ns)
			return NULL;
		/* Who waits at a barrier itself came last, where it came after the wait had begun. */
		if ((waking->begin_ns > wait->begin_ns || waking->end_ns != INT64_MAX) &&
		    ends(history, wait, waking, exact))
			return waking;
	}
	return NULL;
}

/* A wait for a child says which one it was: the latest of that number. */
static const struct pxt_actor *ended_child(
    const struct pxt_history *history, const struct pxt_stretch *wait)
{
	const struct pxt_state *state = history->state;

	for (uint32_t i = wait->result > 0 ? state->actor_count : 0; i-- > 0;)
		if (state->actors[i]->own && (int64_t)state->actors[i]->tid == wait->result &&
		    state->actors[i]->source == state->actors[wait->actor]->source)
			return state->actors[i];
	return NULL;
}

/* Where no object says it, it has to be the only one who did such a thing, or just now. */
bool pxt_wakes_ended(const struct pxt_history *history, const struct pxt_stretch *wait,
    const struct pxt_actor **peer, struct pxt_waking *by, bool *inferred)
{
	const struct pxt_waking *latest = NULL;
	unsigned count = 0;

	if (history->now_ns - wait->begin_ns < JUST_NOW || pxt_stretch_timed_out(wait))
		return false;
	if (wait->call == POSIX_TRACE_CALL_WAIT_NP) {
		*peer = ended_child(history, wait);
		*by = (struct pxt_waking){ .call = wait->call };
		*inferred = false;
		return *peer != NULL;
	}
	for (uint32_t i = 0; i < history->state->actor_count && i < history->waking_room; i++) {
		bool exact;
		const struct pxt_waking *waking =
		    i == wait->actor ? NULL
		                     : latest_of(history, &history->wakings[i], wait, &exact);

		count += waking != NULL;
		if (!waking || (latest && waking->begin_ns < latest->begin_ns))
			continue;
		latest = waking;
		*peer = history->state->actors[i];
		*by = *waking;
		*inferred = !exact;
	}
	return latest && (!*inferred || count == 1 || latest->end_ns >= history->now_ns - JUST_NOW);
}
