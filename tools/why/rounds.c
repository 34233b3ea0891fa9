/* SPDX-License-Identifier: MIT */
/* rounds.c - where threads wait again and again, and how long they are away; see rounds.h. */
#include "tools/why/rounds.h"

#include "tools/output/out.h"
#include "tools/why/state_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define MS          INT64_C(1000000)
#define CALL_RESULT 2u /* the field of call_exit */
#define CONNECTIONS 64u

/* ---- Homes ---- */

struct pxt_round_thread *pxt_rounds_thread(struct pxt_rounds *rounds, const struct pxt_actor *actor)
{
	rounds->threads = pxt_must_reach(
	    rounds->threads, &rounds->thread_room, actor->index, sizeof *rounds->threads);
	return &rounds->threads[actor->index];
}

static struct pxt_home *home_of(struct pxt_rounds *rounds, const struct pxt_home *key)
{
	uint32_t at = pxt_state_mix(key->object ^ key->place,
	                  key->actor + ((uint64_t)key->call << 32) + key->asked) %
	              PXT_ROUNDS_TABLE;

	for (; rounds->homes[at]; at = (at + 1) % PXT_ROUNDS_TABLE) {
		struct pxt_home *home = rounds->homes[at];

		if (home->actor == key->actor && home->call == key->call &&
		    home->object == key->object && home->asked == key->asked &&
		    home->place == key->place)
			return home;
	}
	if (rounds->home_count == PXT_ROUNDS_HOMES) {
		rounds->beyond++;
		return NULL;
	}
	rounds->home_count++;
	rounds->homes[at] = pxt_must(calloc(1, sizeof *key));
	*rounds->homes[at] = *key;
	return rounds->homes[at];
}

void pxt_rounds_keep(struct pxt_round_list **list, const struct pxt_round *round)
{
	if (!*list)
		*list = pxt_must(calloc(1, sizeof **list));
	struct pxt_round *all = (*list)->list;
	unsigned at = (*list)->count;
	while (at > 0 && all[at - 1].rank_ns < round->rank_ns)
		at--;
	if (at == PXT_ROUNDS_KEPT)
		return;
	if ((*list)->count < PXT_ROUNDS_KEPT)
		(*list)->count++;
	memmove(all + at + 1, all + at, ((*list)->count - 1 - at) * sizeof *all);
	all[at] = *round;
}

/* ---- Events ---- */

/*
 * How long the wait is to last at most: to the nanosecond, where the event says it so, from then on.  A sleep
 * without milliseconds has a date, and so has a read of a timer.
 */
static void take_asked(
    struct pxt_round_thread *thread, const struct pxt_home *key, const struct pxt_event *event)
{
	int64_t asked = pxt_calls_asked_ns(event, key->call);
	bool is_date = key->call == POSIX_TRACE_CALL_READ_NP ||
	               (key->call == POSIX_TRACE_CALL_SLEEP_NP && key->asked == UINT64_MAX);

	thread->asked_ns = asked > 0 ? asked : 0;
	thread->date_ns = is_date && asked != 0 ? event->ns + asked : 0;
}

/* It sends to the descriptor for which it waited in vain, or to any one, where it waited for several. */
static bool is_asked_again(const struct pxt_round_thread *thread, const struct pxt_event *event)
{
	const struct pxt_home *home = thread->silent;

	if (!home)
		return false;
	if (!pxt_calls_is_set(home->call) ||
	    (home->call == POSIX_TRACE_CALL_POLL_NP && home->object != 0))
		return pxt_key_number(event, 1) == home->object;
	return pxt_key_number(event, 0) == POSIX_TRACE_CALL_SEND_NP;
}

/*
 * Who sends again what was not answered did not mean to wait so long.  Else it was a timer, or nobody wanted
 * anything.
 */
static void settle(struct pxt_round_thread *thread, bool asked_again)
{
	if (thread->silent && asked_again) {
		thread->silence.planned_ns = 0;
		pxt_rounds_keep(&thread->silent->long_waits, &thread->silence);
	} else if (thread->silent) {
		pxt_series_add(&thread->silent->client_waits, (uint64_t)thread->silence.rank_ns);
	}
	thread->silent = NULL;
}

void pxt_rounds_settle(struct pxt_rounds *rounds)
{
	for (uint32_t i = 0; i < rounds->thread_room; i++)
		settle(&rounds->threads[i], false);
}

/* It connected the descriptor, sends there, and waits there: that is for a reply. */
static void note_request(struct pxt_round_thread *thread, struct pxt_home *home)
{
	if (!pxt_calls_is_input(home->call) || home->object >= CONNECTIONS ||
	    !(thread->connected >> home->object & 1))
		return;
	home->requests += thread->sent_to == home->object + 1;
	thread->sent_to = 0;
}

static void note_connection(struct pxt_round_thread *thread, const struct pxt_event *event)
{
	uint64_t call = pxt_key_number(event, 0);
	uint64_t fd = pxt_key_number(event, 1);
	int64_t result = (int64_t)pxt_key_number(event, CALL_RESULT);

	if (fd >= CONNECTIONS)
		return;
	if (call == POSIX_TRACE_CALL_CONNECT_NP && (result == 0 || result == -EINPROGRESS))
		thread->connected |= UINT64_C(1) << fd;
	else if (call == POSIX_TRACE_CALL_CLOSE_NP)
		thread->connected &= ~(UINT64_C(1) << fd);
}

static void add_round(struct pxt_rounds *rounds, const struct pxt_actor *actor,
    struct pxt_round_thread *thread, const struct pxt_round *round)
{
	struct pxt_home *home = thread->home;

	thread->is_unsure = false;
	thread->round_ns = round->rank_ns;
	pxt_series_add(&home->rounds, (uint64_t)round->rank_ns);
	pxt_rounds_keep(&home->long_rounds, round);
	pxt_limits_measure_round(
	    home, round, pxt_limits_of(rounds->limits, actor->raw), thread->date_ns);
	rounds->rounds_read++;
	if (rounds->ended)
		rounds->ended(rounds->self, home, round, false);
}

static void begin(struct pxt_rounds *rounds, struct pxt_actor *actor,
    struct pxt_round_thread *thread, struct pxt_home key, const struct pxt_event *event)
{
	uint64_t epoch = rounds->state->epochs[actor->source];
	const struct pxt_home *before = thread->home;

	key.actor = actor->index;
	take_asked(thread, &key, event);
	/* Sleeps of other lengths are others; what limits another wait is no part of what it is. */
	if (key.call != POSIX_TRACE_CALL_SLEEP_NP)
		key.asked = 0;
	key.place = (uint64_t)(uintptr_t)event->info.posix_prog_address;
	thread->waits = true;
	thread->call = key.call;
	thread->since_ns = event->ns;
	thread->round_ns = 0;
	thread->is_unsure = false;
	thread->begun_ns = thread->outside_ns;
	thread->woken_outside = false;
	thread->woken_by = NULL;
	thread->in_vain = thread->ran_out = false;
	thread->epoch = epoch;
	settle(thread, false);
	thread->home = pxt_calls_is_home(key.call) ? home_of(rounds, &key) : NULL;
	struct pxt_home *home = thread->home;
	if (home)
		note_request(thread, home);
	if (!home || home->waits.count == 0 || home->epoch != epoch)
		return;
	home->again +=
	    home == before && thread->gave_up && event->ns - home->last_ns < PXT_AGAIN_NS;
	thread->before = (struct pxt_round){ .begin_ns = home->last_ns,
		.end_ns = event->ns,
		.rank_ns = event->ns - home->last_ns,
		.planned_ns = thread->planned_ns - home->planned_ns,
		.outside_ns = thread->outside_ns - home->outside_ns,
		.tried = thread->tries != home->tries };

	/* Who asks for children and there are none, or none has ended, does not wait. */
	if (key.call == POSIX_TRACE_CALL_WAIT_NP)
		thread->is_unsure = true;
	else
		add_round(rounds, actor, thread, &thread->before);
}

/*
 * It waited as long as it had said: its own plan.  Not where it waited to be signalled, and gave up: that it was
 * not is what delayed it.
 */
static bool is_planned(const struct pxt_round_thread *thread, int64_t length)
{
	int64_t asked = thread->asked_ns;

	return asked > 0 && (pxt_calls_has_limit(thread->call) || thread->date_ns != 0) &&
	       length >= asked - MS && length < asked + asked / 9;
}

/*
 * A wait for descriptors that ran out where mostly something comes: somebody else did not answer.  A timer's has no
 * descriptors, or always runs out.
 */
static bool is_unanswered(const struct pxt_round_thread *thread)
{
	return thread->home && pxt_calls_is_set(thread->call) &&
	       thread->home->ran_out * 2 < thread->home->waits.count;
}

static void note_output(struct pxt_rounds *rounds, const struct pxt_actor *actor,
    struct pxt_round_thread *thread, const struct pxt_event *event)
{
	struct pxt_rounds_sent *sent = rounds->sent;

	if (!pxt_calls_is_output((uint32_t)pxt_key_number(event, 0)))
		return;
	thread->sent_to = pxt_key_number(event, 1) + 1;
	if (sent[0].by != actor)
		sent[1] = sent[0];
	sent[0] = (struct pxt_rounds_sent){ .by = actor, .ns = event->ns };
	if (is_asked_again(thread, event))
		settle(thread, true);
}

/* Another thread that sent something just before; NULL: none did. */
static const struct pxt_actor *who_sent(
    const struct pxt_rounds *rounds, const struct pxt_actor *receiver, int64_t ns)
{
	for (unsigned i = 0; i < 2; i++)
		if (rounds->sent[i].by && rounds->sent[i].by != receiver &&
		    ns - rounds->sent[i].ns < PXT_SENT_NS)
			return rounds->sent[i].by;
	return NULL;
}

/* Who ended most of the waits is known when all have ended: of two candidates the more frequent one stays. */
static void note_end(const struct pxt_rounds *rounds, const struct pxt_actor *actor,
    const struct pxt_round_thread *thread, int64_t ns)
{
	const struct pxt_actor *sent_by = who_sent(rounds, actor, ns);
	const struct pxt_actor *by = rounds->has_wakes ? thread->woken_by : sent_by;
	struct pxt_home *home = thread->home;

	if (!home)
		return;
	home->answered += sent_by != NULL;
	if (!by)
		return;
	if (home->ended_times > 0 && home->ended_by != by->index) {
		home->ended_times--;
		return;
	}
	home->ended_by = by->index;
	home->ended_times++;
}

/* A wait that ended: the scheduler says by whom.  Else mostly nobody else sent anything; a file is no client. */
static bool is_for_client(const struct pxt_rounds *rounds, const struct pxt_actor *actor,
    const struct pxt_round_thread *thread, int64_t ns, bool planned)
{
	const struct pxt_home *home = thread->home;

	if (thread->date_ns != 0 || planned || thread->in_vain ||
	    !pxt_calls_is_input(thread->call) || (home && pxt_home_is_for_reply(home)))
		return false;
	if (rounds->has_wakes)
		return thread->woken_outside;
	return home && home->answered * 2 < home->waits.count &&
	       (thread->call != POSIX_TRACE_CALL_READ_NP ||
	           pxt_calls_is_from_far(rounds->state, actor, home, ns));
}

/* Who woke it had been kept from running itself: so far the wait is others' doing, too. */
static int64_t waker_outside(const struct pxt_rounds *rounds, const struct pxt_round_thread *thread)
{
	const struct pxt_round_thread *by =
	    thread->woken_by ? &rounds->threads[thread->woken_by->index] : NULL;
	int64_t from;

	if (!by || thread->woken_by->index >= rounds->thread_room)
		return 0;
	from = by->others_from_ns > thread->since_ns ? by->others_from_ns : thread->since_ns;
	return by->others_to_ns > from ? by->others_to_ns - from : 0;
}

static void end(struct pxt_rounds *rounds, const struct pxt_actor *actor,
    struct pxt_round_thread *thread, int64_t ns)
{
	struct pxt_home *home = thread->home;
	int64_t length = ns - thread->since_ns;
	struct pxt_round wait = { .begin_ns = thread->since_ns, .end_ns = ns, .rank_ns = length };

	if (!thread->waits)
		return;
	thread->waits = false;
	if (thread->is_unsure)
		add_round(rounds, actor, thread, &thread->before);
	thread->gave_up = thread->asked_ns > 0 && length >= thread->asked_ns &&
	                  thread->date_ns == 0 && !pxt_calls_has_limit(thread->call);
	if (thread->epoch != rounds->state->epochs[actor->source])
		return;
	if (thread->ran_out || is_planned(thread, length)) {
		/* On a busy machine it comes back later than it had said. */
		wait.planned_ns =
		    thread->ran_out && length > thread->asked_ns ? thread->asked_ns : length;
		if (!is_unanswered(thread))
			thread->planned_ns += wait.planned_ns;
	}
	thread->outside_ns += waker_outside(rounds, thread);
	wait.outside_ns = thread->outside_ns - thread->begun_ns;
	note_end(rounds, actor, thread, ns);
	wait.for_client = is_for_client(rounds, actor, thread, ns, wait.planned_ns > 0);
	if (wait.for_client)
		thread->outside_ns += length;
	if (!home)
		return;
	if (home->waits.count == 0)
		home->first_ns = thread->since_ns;
	pxt_series_add(&home->waits, (uint64_t)length);
	if ((wait.planned_ns > 0 && pxt_calls_is_set(thread->call)) || thread->in_vain) {
		home->ran_out++;
		thread->silent = home;
		thread->silence = wait;
	} else if (wait.for_client) {
		pxt_series_add(&home->client_waits, (uint64_t)length);
	} else {
		pxt_rounds_keep(&home->long_waits, &wait);
	}
	pxt_limits_measure_wait(home, &wait, pxt_limits_of(rounds->limits, actor->raw),
	    thread->date_ns, thread->round_ns);
	if (thread->date_ns == 0 && thread->asked_ns > home->asked_ns)
		home->asked_ns = thread->asked_ns;
	home->date_ns = thread->date_ns;
	home->is_behind = thread->date_ns != 0 && thread->date_ns <= thread->since_ns;
	home->waited_ns += length;
	home->last_ns = ns;
	home->epoch = thread->epoch;
	home->planned_ns = thread->planned_ns;
	home->outside_ns = thread->outside_ns;
	home->behind_ns = thread->begun_ns;
	home->tries = thread->tries;
	if (rounds->ended)
		rounds->ended(rounds->self, home, &wait, true);
}

/* A lock that was asked for and not got. */
static bool is_refusal(const struct pxt_event *event)
{
	if (event->info.posix_event_id != POSIX_TRACE_MUTEX_LOCK_NP &&
	    event->info.posix_event_id != POSIX_TRACE_SYNC_LOCK_NP)
		return false;
	return pxt_key_number(event, 2) != 0 && pxt_key_number(event, 1) == 0;
}

/* By events of the program's own: X_block, X_wake, or what a roles file says. */
static void take_roles(struct pxt_rounds *rounds, struct pxt_actor *actor,
    struct pxt_round_thread *thread, const struct pxt_event *event, unsigned source)
{
	const struct pxt_type_roles *roles = pxt_roles_of(rounds->state->book, event, source);

	for (unsigned i = 0; i < roles->count; i++) {
		struct pxt_key object;

		if (roles->list[i].deed == PXT_BLOCK) {
			object = pxt_key_of(event, &roles->list[i]);
			begin(rounds, actor, thread,
			    (struct pxt_home){ .call = PXT_CALL_COND, .object = object.value },
			    event);
			return;
		}
	}
	end(rounds, actor, thread, event->ns);
}

static bool waited_for_nothing(const struct pxt_round_thread *thread, int64_t result)
{
	return thread->call == POSIX_TRACE_CALL_WAIT_NP && (result == -ECHILD || result == 0);
}

/* Who ended waits for nothing, and of a process that called exit() nobody does. */
static void note_process(struct pxt_rounds *rounds, const struct pxt_actor *actor,
    struct pxt_round_thread *thread, const struct pxt_event *event)
{
	uint64_t what = pxt_key_number(event, 0);

	thread->ended = thread->ended || what == POSIX_TRACE_PROCESS_THREAD_END_NP;
	for (uint32_t i = 0; what == POSIX_TRACE_PROCESS_EXIT_NP && i < rounds->thread_room &&
	                     i < rounds->state->actor_count;
	     i++)
		if (rounds->state->actors[i]->pid == actor->pid)
			rounds->threads[i].ended = true;
}

void pxt_rounds_take(struct pxt_rounds *rounds, const struct pxt_event *event, unsigned source)
{
	struct pxt_actor *actor = rounds->state->latest;
	struct pxt_round_thread *thread;

	rounds->now_ns = event->ns;
	if (!actor)
		return;
	if (!rounds->homes)
		rounds->homes = pxt_must(calloc(PXT_ROUNDS_TABLE, sizeof(struct pxt_home *)));
	thread = pxt_rounds_thread(rounds, actor);
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_CALL_ENTER_NP:
		note_output(rounds, actor, thread, event);
		if (!pxt_call_lasts(event))
			return;
		begin(rounds, actor, thread,
		    (struct pxt_home){ .call = (uint32_t)pxt_key_number(event, 0),
		        .object = pxt_key_number(event, 1),
		        .asked = pxt_key_number(event, 2) },
		    event);
		return;
	case POSIX_TRACE_COND_WAIT_NP:
		begin(rounds, actor, thread,
		    (struct pxt_home){ .call = PXT_CALL_COND, .object = pxt_key_number(event, 0) },
		    event);
		return;
	case POSIX_TRACE_CALL_EXIT_NP:
		note_connection(thread, event);
		if (waited_for_nothing(thread, (int64_t)pxt_key_number(event, CALL_RESULT))) {
			thread->waits = false;
			return;
		}
		thread->in_vain = (int64_t)pxt_key_number(event, CALL_RESULT) == -EAGAIN &&
		                  pxt_calls_is_input(thread->call) &&
		                  event->ns - thread->since_ns > MS;
		thread->ran_out = thread->waits && thread->asked_ns > 0 &&
		                  pxt_calls_is_set(thread->call) &&
		                  pxt_key_number(event, CALL_RESULT) == 0;
		if (!thread->waits)
			note_output(rounds, actor, thread, event);
		end(rounds, actor, thread, event->ns);
		return;
	case POSIX_TRACE_COND_RESUME_NP:
		end(rounds, actor, thread, event->ns);
		return;
	case POSIX_TRACE_PROCESS_NP:
		note_process(rounds, actor, thread, event);
		thread->gave_up = false;
		return;
	default:
		thread->gave_up = false;
		thread->tries += is_refusal(event);
		if (event->info.posix_event_id > POSIX_TRACE_UNNAMED_USEREVENT)
			take_roles(rounds, actor, thread, event, source);
	}
}

/* ---- The end ---- */

struct pxt_usual_end *pxt_rounds_usual_ends(const struct pxt_rounds *rounds, uint32_t *count)
{
	struct pxt_usual_end *ends = pxt_must(calloc(rounds->home_count + 1, sizeof *ends));

	*count = 0;
	for (uint32_t i = 0; rounds->homes && i < PXT_ROUNDS_TABLE; i++) {
		const struct pxt_home *home = rounds->homes[i];

		if (home && home->ended_times * 2 > home->waits.count)
			ends[(*count)++] = (struct pxt_usual_end){ .actor = home->actor,
				.call = home->call,
				.object = home->object,
				.place = home->place,
				.by = home->ended_by };
	}
	return ends;
}

void pxt_rounds_free(struct pxt_rounds *rounds)
{
	free(rounds->stuck);
	for (uint32_t i = 0; rounds->homes && i < PXT_ROUNDS_TABLE; i++) {
		if (!rounds->homes[i])
			continue;
		pxt_series_free(&rounds->homes[i]->waits);
		pxt_series_free(&rounds->homes[i]->client_waits);
		pxt_series_free(&rounds->homes[i]->rounds);
		pxt_series_free(&rounds->homes[i]->late_waits.by);
		pxt_series_free(&rounds->homes[i]->late_rounds.by);
		free(rounds->homes[i]->late_waits.worst);
		free(rounds->homes[i]->late_rounds.worst);
		free(rounds->homes[i]->long_waits);
		free(rounds->homes[i]->long_rounds);
		free(rounds->homes[i]);
	}
	free(rounds->homes);
	free(rounds->threads);
	free(rounds->cpus);
	free(rounds->kinds);
}
