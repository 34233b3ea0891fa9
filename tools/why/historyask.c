/* SPDX-License-Identifier: MIT */
/* historyask.c - which times the history keeps, its order, and questions to it once it is closed; see history.h. */
#include "tools/why/history.h"

#include "tools/output/out.h"

#include <errno.h>
#include <stdlib.h>
#include <trace_hooks_np.h>

#define SOON        INT64_C(1000000)
#define WOKEN_LATER INT64_C(100000) /* the event of an end may come before its waking's */

/* ---- What is kept, and its order ---- */

static int by_begin(const void *a, const void *b)
{
	const struct pxt_window *x = a;
	const struct pxt_window *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

void pxt_history_windows(struct pxt_history *history, struct pxt_window *windows, uint32_t count)
{
	uint32_t kept = 0;

	if (count > 0)
		qsort(windows, count, sizeof *windows, by_begin);
	for (uint32_t i = 0; i < count; i++) {
		if (kept == 0 || windows[i].begin_ns > windows[kept - 1].end_ns)
			windows[kept++] = windows[i];
		else if (windows[i].end_ns > windows[kept - 1].end_ns)
			windows[kept - 1].end_ns = windows[i].end_ns;
	}
	history->windows = windows;
	history->window_count = kept;
}

bool pxt_history_wants(const struct pxt_history *history, int64_t begin_ns, int64_t end_ns)
{
	uint32_t low = 0;
	uint32_t high = history->window_count;

	/* The first one that has not ended before. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (history->windows[middle].end_ns < begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < history->window_count && history->windows[low].begin_ns <= end_ns;
}

bool pxt_stretch_timed_out(const struct pxt_stretch *call)
{
	/* Its end was not told, as that of a call that a handler jumped out of. */
	if (call->asked_ns > 0 && call->end_ns > call->begin_ns &&
	    call->end_ns - call->begin_ns < call->asked_ns / 10 * 9)
		return false;
	switch (call->call) {
	case POSIX_TRACE_CALL_POLL_NP:
	case POSIX_TRACE_CALL_SELECT_NP:
	case POSIX_TRACE_CALL_EPOLL_WAIT_NP:
		return call->result == 0;
	case POSIX_TRACE_CALL_SEM_WAIT_NP:
	case POSIX_TRACE_CALL_FUTEX_WAIT_NP:
	case POSIX_TRACE_CALL_MQ_NP:
	case POSIX_TRACE_CALL_MQ_SEND_NP:
	case POSIX_TRACE_CALL_MQ_RECEIVE_NP:
	case PXT_CALL_COND:
		return call->result == ETIMEDOUT || call->result == -ETIMEDOUT;
	case POSIX_TRACE_CALL_SIGWAIT_NP:
	case POSIX_TRACE_CALL_READ_NP:
	case POSIX_TRACE_CALL_RECV_NP:
	case POSIX_TRACE_CALL_ACCEPT_NP:
		/* Descriptors may have limits (SO_RCVTIMEO); one that does not block ends at once. */
		return call->result == -EAGAIN && call->end_ns - call->begin_ns > SOON;
	default:
		return false;
	}
}

static int by_thread(const void *a, const void *b)
{
	const struct pxt_stretch *x = a;
	const struct pxt_stretch *y = b;

	if (x->actor != y->actor)
		return x->actor < y->actor ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

void pxt_history_sort(struct pxt_history *history)
{
	size_t places = (size_t)history->state->actor_count * PXT_STRETCH_KINDS;
	uint32_t next = 0;

	if (history->count > 0)
		qsort(history->stretches, history->count, sizeof *history->stretches, by_thread);
	history->first = pxt_must(calloc(places + 1, sizeof *history->first));
	for (size_t place = 0; place <= places; place++) {
		while (next < history->count &&
		       (size_t)history->stretches[next].actor * PXT_STRETCH_KINDS +
		               history->stretches[next].kind <
		           place)
			next++;
		history->first[place] = next;
	}
}

const struct pxt_stretch *pxt_history_of(const struct pxt_history *history,
    const struct pxt_actor *actor, enum pxt_stretch_kind kind, uint32_t *count)
{
	const uint32_t *first = &history->first[(size_t)actor->index * PXT_STRETCH_KINDS + kind];

	*count = first[1] - first[0];
	return *count > 0 ? history->stretches + first[0] : NULL;
}

/* ---- Questions ---- */

uint32_t pxt_history_after(const struct pxt_stretch *list, uint32_t count, int64_t ns)
{
	uint32_t low = 0;

	while (low < count) {
		uint32_t middle = low + (count - low) / 2;

		if (list[middle].end_ns <= ns)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

int64_t pxt_history_within(const struct pxt_history *history, const struct pxt_actor *actor,
    enum pxt_stretch_kind kind, int64_t begin_ns, int64_t end_ns)
{
	uint32_t count;
	const struct pxt_stretch *list = pxt_history_of(history, actor, kind, &count);
	int64_t ns = 0;

	for (uint32_t i = pxt_history_after(list, count, begin_ns);
	     i < count && list[i].begin_ns < end_ns; i++)
		ns += pxt_stretch_within(&list[i], begin_ns, end_ns);
	return ns;
}

uint32_t pxt_history_mark(const struct pxt_history *history, int64_t ns)
{
	uint32_t low = 0;
	uint32_t high = history->mark_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (history->marks[middle].ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_waking(const struct pxt_mark *mark, const struct pxt_actor *actor)
{
	return mark->kind == PXT_MARK_WOKE && mark->actor == actor->index;
}

const struct pxt_mark *pxt_history_waker(const struct pxt_history *history,
    const struct pxt_actor *actor, int64_t begin_ns, int64_t end_ns)
{
	uint32_t end = pxt_history_mark(history, end_ns + 1);

	for (uint32_t i = end; i-- > 0 && history->marks[i].ns >= begin_ns;)
		if (is_waking(&history->marks[i], actor))
			return &history->marks[i];
	/* What comes behind the end may already be the next wait's: it counts only where nothing else is. */
	for (; end < history->mark_count && history->marks[end].ns <= end_ns + WOKEN_LATER; end++)
		if (is_waking(&history->marks[end], actor))
			return &history->marks[end];
	return NULL;
}

const struct pxt_mark *pxt_history_first_waker(const struct pxt_history *history,
    const struct pxt_actor *actor, int64_t begin_ns, int64_t end_ns)
{
	for (uint32_t i = pxt_history_mark(history, begin_ns);
	     i < history->mark_count && history->marks[i].ns < end_ns; i++)
		if (is_waking(&history->marks[i], actor))
			return &history->marks[i];
	return NULL;
}

static bool is_same_wait(const struct pxt_stretch *a, const struct pxt_stretch *b)
{
	return a->call == b->call && a->object == b->object &&
	       a->place.address.value == b->place.address.value;
}

/* Of all that were kept, who ended most of such waits; of two candidates the more frequent one stays. */
static const struct pxt_actor *mostly_ended_by(
    const struct pxt_history *history, const struct pxt_stretch *call)
{
	uint32_t count;
	const struct pxt_stretch *list =
	    pxt_history_of(history, history->state->actors[call->actor], PXT_STRETCH_CALL, &count);
	const struct pxt_actor *most = NULL;
	uint32_t ahead = 0;
	uint32_t times = 0;
	uint32_t waits = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct pxt_mark *woke;

		if (!is_same_wait(&list[i], call))
			continue;
		waits++;
		woke = pxt_stretch_timed_out(&list[i])
		           ? NULL
		           : pxt_history_waker(history, history->state->actors[call->actor],
		                 list[i].begin_ns, list[i].end_ns);
		if (!woke || !woke->meant || !woke->peer || !woke->peer->own)
			continue;
		if (ahead == 0)
			most = woke->peer;
		times = most == woke->peer && ahead > 0 ? times + 1 : ahead == 0 ? 1 : times;
		ahead += most == woke->peer ? 1 : (uint32_t)-1;
	}
	return times * 2 > waits ? most : NULL;
}

const struct pxt_actor *pxt_history_usual_end(
    const struct pxt_history *history, const struct pxt_stretch *call)
{
	for (uint32_t i = 0; i < history->usual_end_count; i++) {
		const struct pxt_usual_end *end = &history->usual_ends[i];

		if (end->actor == call->actor && end->call == call->call &&
		    end->object == call->object && end->place == call->place.address.value &&
		    end->by < history->state->actor_count)
			return history->state->actors[end->by];
	}
	return mostly_ended_by(history, call);
}

/* How long a thread ran on a CPU. */
static int64_t ran_on(const struct pxt_history *history, const struct pxt_actor *actor, int cpu,
    int64_t begin_ns, int64_t end_ns)
{
	uint32_t count;
	const struct pxt_stretch *runs = pxt_history_of(history, actor, PXT_STRETCH_RAN, &count);
	int64_t ns = 0;
	/* Those whom the scheduler does not name run on several CPUs at once. */
	bool is_one = actor != history->state->others;

	for (uint32_t i = is_one ? pxt_history_after(runs, count, begin_ns) : 0;
	     i < count && runs[i].begin_ns < end_ns; i++)
		if (runs[i].cpu == cpu)
			ns += pxt_stretch_within(&runs[i], begin_ns, end_ns);
	return ns;
}

/* Threads of other programs count as one, for which the one stands that ran most. */
struct runner {
	const struct pxt_actor *actor;
	int64_t own_ns;
	int64_t ns; /* of all of the program */
};

#define RUNNERS 64u

static void add_runner(
    struct runner *runners, unsigned *count, const struct pxt_actor *actor, int64_t ns)
{
	unsigned at = 0;

	while (at < *count && !pxt_actor_is_with(runners[at].actor, actor))
		at++;
	if (at == RUNNERS)
		return;
	if (at == *count)
		runners[(*count)++] = (struct runner){ 0 };
	runners[at].ns += ns;
	if (ns > runners[at].own_ns) {
		runners[at].own_ns = ns;
		runners[at].actor = actor;
	}
}

/* Who ran on a CPU, the most of that time; *@most_ns: how long, *@all_ns: how long all did. */
static const struct pxt_actor *most_on(const struct pxt_history *history, int cpu,
    const struct pxt_actor *but, int64_t begin_ns, int64_t end_ns, int64_t *most_ns,
    int64_t *all_ns)
{
	struct runner runners[RUNNERS];
	unsigned count = 0;
	unsigned best = 0;

	*all_ns = 0;
	for (uint32_t i = 0; i < history->state->actor_count; i++) {
		const struct pxt_actor *actor = history->state->actors[i];
		int64_t ns = actor == but || actor->tid == 0
		                 ? 0
		                 : ran_on(history, actor, cpu, begin_ns, end_ns);

		*all_ns += ns;
		if (ns > 0)
			add_runner(runners, &count, actor, ns);
	}
	for (unsigned i = 1; i < count; i++)
		if (runners[i].ns > runners[best].ns)
			best = i;
	*most_ns = count > 0 ? runners[best].ns : 0;
	return count > 0 ? runners[best].actor : NULL;
}

const struct pxt_stretch *pxt_history_longest(const struct pxt_history *history,
    const struct pxt_actor *actor, enum pxt_stretch_kind kind, int64_t begin_ns, int64_t end_ns)
{
	const struct pxt_stretch *best = NULL;
	uint32_t count;
	const struct pxt_stretch *list = pxt_history_of(history, actor, kind, &count);

	for (uint32_t i = pxt_history_after(list, count, begin_ns);
	     i < count && list[i].begin_ns < end_ns; i++)
		if (!best || pxt_stretch_within(&list[i], begin_ns, end_ns) >
		                 pxt_stretch_within(best, begin_ns, end_ns))
			best = &list[i];
	return best;
}

/*
 * The longest time in that it could run and did not; returns the CPU on which it ran next, -1: none.  *@queued: the
 * one on which it was to run when that time began.
 */
static int wait_for_cpu(const struct pxt_history *history, const struct pxt_actor *actor,
    int64_t *begin_ns, int64_t *end_ns, int *queued)
{
	const struct pxt_stretch *ready =
	    pxt_history_longest(history, actor, PXT_STRETCH_READY, *begin_ns, *end_ns);
	uint32_t count;
	const struct pxt_stretch *runs = pxt_history_of(history, actor, PXT_STRETCH_RAN, &count);
	uint32_t next;

	*queued = ready ? ready->cpu : -1;
	if (!ready)
		return -1;
	next = pxt_history_after(runs, count, ready->end_ns);
	pxt_stretch_clip(ready, begin_ns, end_ns);
	return next < count ? runs[next].cpu : actor->cpu;
}

const struct pxt_actor *pxt_history_instead(const struct pxt_history *history,
    const struct pxt_actor *actor, int64_t begin_ns, int64_t end_ns)
{
	int queued;
	int cpu = wait_for_cpu(history, actor, &begin_ns, &end_ns, &queued);
	int64_t ns;
	int64_t all_ns;
	const struct pxt_actor *most =
	    cpu >= 0 ? most_on(history, cpu, actor, begin_ns, end_ns, &ns, &all_ns) : NULL;

	/* Of who ran for a moment it cannot be said that it ran instead. */
	if (most && ns * 5 > end_ns - begin_ns)
		return most;
	/* A thread that another CPU took over at last had been queued elsewhere. */
	if (queued < 0 || queued == cpu)
		return NULL;
	most = most_on(history, queued, actor, begin_ns, end_ns, &ns, &all_ns);
	return most && ns * 5 > end_ns - begin_ns ? most : NULL;
}

const struct pxt_actor *pxt_history_among(const struct pxt_history *history,
    const struct pxt_actor *actor, int64_t begin_ns, int64_t end_ns)
{
	int queued;
	int cpu = wait_for_cpu(history, actor, &begin_ns, &end_ns, &queued);
	int64_t ns;
	int64_t all_ns;
	const struct pxt_actor *most =
	    cpu >= 0 ? most_on(history, cpu, actor, begin_ns, end_ns, &ns, &all_ns) : NULL;

	return most && all_ns * 2 > end_ns - begin_ns ? most : NULL;
}

/* How long anybody ran on a CPU. */
static int64_t busy_on(const struct pxt_history *history, int cpu, int64_t begin_ns, int64_t end_ns)
{
	int64_t ns = 0;

	for (uint32_t i = 0; i < history->state->actor_count; i++)
		ns += ran_on(history, history->state->actors[i], cpu, begin_ns, end_ns);
	return ns;
}

int pxt_history_bound(const struct pxt_history *history, const struct pxt_actor *actor,
    int64_t begin_ns, int64_t end_ns)
{
	int queued;
	int cpu = wait_for_cpu(history, actor, &begin_ns, &end_ns, &queued);
	uint32_t count;
	const struct pxt_stretch *runs = pxt_history_of(history, actor, PXT_STRETCH_RAN, &count);

	for (uint32_t i = 0; i < count; i++)
		if (runs[i].cpu != cpu)
			return -1;
	for (int other = 0; other < (int)PXT_STATE_CPUS_MAX; other++)
		if (other != cpu && history->state->cpus[other].known &&
		    busy_on(history, other, begin_ns, end_ns) * 2 < end_ns - begin_ns)
			return cpu;
	return -1;
}

const struct pxt_stretch *pxt_history_holder(const struct pxt_history *history, uint64_t lock,
    const struct pxt_actor *but, int64_t begin_ns, int64_t end_ns)
{
	const struct pxt_stretch *best = NULL;

	for (uint32_t i = 0; i < history->state->actor_count; i++) {
		const struct pxt_actor *actor = history->state->actors[i];
		uint32_t count;
		const struct pxt_stretch *holds =
		    pxt_history_of(history, actor, PXT_STRETCH_HOLD, &count);

		for (uint32_t k = 0; actor != but && k < count && holds[k].begin_ns < end_ns; k++)
			if (holds[k].object == lock &&
			    pxt_stretch_within(&holds[k], begin_ns, end_ns) >
			        (best ? pxt_stretch_within(best, begin_ns, end_ns) : 0))
				best = &holds[k];
	}
	return best;
}

/* How long a thread had a lock. */
static int64_t had(const struct pxt_history *history, uint64_t lock, const struct pxt_actor *actor,
    int64_t begin_ns, int64_t end_ns)
{
	uint32_t count;
	const struct pxt_stretch *holds = pxt_history_of(history, actor, PXT_STRETCH_HOLD, &count);
	int64_t ns = 0;

	for (uint32_t k = 0; k < count && holds[k].begin_ns < end_ns; k++)
		if (holds[k].object == lock)
			ns += pxt_stretch_within(&holds[k], begin_ns, end_ns);
	return ns;
}

unsigned pxt_history_turns(const struct pxt_history *history, uint64_t lock,
    const struct pxt_actor *but, int64_t begin_ns, int64_t end_ns, const struct pxt_actor **turns,
    unsigned most, int64_t *sum_ns)
{
	unsigned count = 0;

	*sum_ns = 0;
	for (uint32_t i = 0; i < history->state->actor_count; i++) {
		const struct pxt_actor *actor = history->state->actors[i];

		int64_t ns = actor == but ? 0 : had(history, lock, actor, begin_ns, end_ns);

		/* Who had it for a moment is no reason. */
		if (ns == 0 || ns * 20 < end_ns - begin_ns)
			continue;
		*sum_ns += ns;
		if (count < most)
			turns[count] = actor;
		count++;
	}
	return count;
}

void pxt_history_free(struct pxt_history *history)
{
	free(history->windows);
	free(history->stretches);
	free(history->first);
	free(history->marks);
	free(history->threads);
	free(history->wakings);
}
