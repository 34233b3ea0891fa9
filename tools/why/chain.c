/* SPDX-License-Identifier: MIT */
/* chain.c - why a thread was late, followed to the end; see chain.h. */
#include "tools/why/chain.h"

#include <trace_hooks_np.h>

#define SOON INT64_C(1000000)

/* ---- Links ---- */

/*
 * The first time that it asked for a lock in vain, if it did so all the while; *@same: the lock had the same holder
 * each time, if one was told.
 */
static const struct pxt_mark *failed_lock(const struct pxt_history *history,
    const struct pxt_actor *actor, int64_t begin_ns, int64_t end_ns, bool *same)
{
	const struct pxt_mark *first = NULL;
	int64_t latest_ns = begin_ns;
	int64_t gap_ns = 0;

	*same = true;
	for (uint32_t i = pxt_history_mark(history, begin_ns - SOON);
	     i < history->mark_count && history->marks[i].ns <= end_ns; i++) {
		const struct pxt_mark *mark = &history->marks[i];

		if (mark->kind != PXT_MARK_FAILED || mark->actor != actor->index)
			continue;
		first = first ? first : mark;
		gap_ns = mark->ns - latest_ns > gap_ns ? mark->ns - latest_ns : gap_ns;
		latest_ns = mark->ns;
		*same = *same && mark->object == first->object && mark->peer == first->peer;
	}
	gap_ns = end_ns - latest_ns > gap_ns ? end_ns - latest_ns : gap_ns;
	return gap_ns * 2 < end_ns - begin_ns ? first : NULL;
}

/* Where several had it in turn, what the one that had it longest did then is looked at. */
static void link_lock(
    struct pxt_link *link, const struct pxt_history *history, int64_t *begin_ns, int64_t *end_ns)
{
	const struct pxt_stretch *hold =
	    pxt_history_holder(history, link->stretch.object, link->actor, *begin_ns, *end_ns);

	int64_t sum_ns;

	if (!hold) {
		link->peer = link->stretch.peer;
		return;
	}
	link->peer = history->state->actors[hold->actor];
	link->peer_place = hold->place;
	if (link->stretch.lock->is_given)
		return;
	/* What it did later, when the lock was free and this thread could run, held up nobody. */
	if (pxt_stretch_within(hold, *begin_ns, *end_ns) * 3 > (*end_ns - *begin_ns) * 2) {
		pxt_stretch_clip(hold, begin_ns, end_ns);
		return;
	}
	link->turn_count = pxt_history_turns(history, link->stretch.object, link->actor, *begin_ns,
	    *end_ns, link->turns, PXT_LINK_TURNS, &sum_ns);
	link->together = sum_ns > *end_ns - *begin_ns;
	if (link->turn_count < 2) {
		link->turn_count = 0;
		return;
	}
	/* That one is named first. */
	for (unsigned i = 0; i < link->turn_count && i < PXT_LINK_TURNS; i++) {
		if (link->turns[i] != link->peer)
			continue;
		link->turns[i] = link->turns[0];
		link->turns[0] = link->peer;
	}
	pxt_stretch_clip(hold, begin_ns, end_ns);
}

/*
 * No event tells who had the mutex, as it was free when it was taken: who woke the thread again and did not signal
 * the condition gave it back.
 */
static bool gave_mutex(const struct pxt_history *history, struct pxt_link *link,
    const struct pxt_mark *first, int64_t end_ns)
{
	const struct pxt_mark *last = pxt_history_waker(history, link->actor, first->ns, end_ns);

	if (!last || last == first || first->object != link->stretch.object ||
	    last->object == link->stretch.object || !last->peer || !last->peer->own ||
	    last->peer == link->actor)
		return false;
	link->peer = last->peer;
	link->stretch.lock = NULL;
	link->stretch.object = link->stretch.mutex;
	return true;
}

/*
 * It was signalled early, and then waited for the mutex of the condition: who is woken twice within one wait was
 * woken to ask for it.
 */
static bool link_cond(
    struct pxt_link *link, const struct pxt_history *history, int64_t *begin_ns, int64_t *end_ns)
{
	int64_t from = *begin_ns;
	int64_t to = *end_ns;
	const struct pxt_mark *first;
	const struct pxt_stretch *hold;

	pxt_stretch_clip(&link->stretch, &from, &to);
	first = pxt_history_first_waker(history, link->actor, from, to);
	if (link->stretch.call != PXT_CALL_COND || !first || (to - first->ns) * 2 < to - from)
		return false;
	hold = pxt_history_holder(history, link->stretch.mutex, link->actor, first->ns, to);
	if (hold && pxt_stretch_within(hold, first->ns, to) * 5 >= (to - first->ns)) {
		link->stretch.lock = hold->lock;
		link->stretch.object = hold->object;
	} else if (!gave_mutex(history, link, first, to)) {
		return false;
	}
	link->kind = PXT_LINK_LOCK;
	link->in_cond = true;
	link->ns = to - first->ns;
	*begin_ns = first->ns;
	*end_ns = to;
	return true;
}

/* Who sent the signal that stopped it. */
static void link_stopped(struct pxt_link *link, const struct pxt_history *history, int64_t begin_ns)
{
	for (uint32_t i = 0; i < history->mark_count && history->marks[i].ns <= begin_ns + SOON;
	     i++) {
		const struct pxt_mark *mark = &history->marks[i];

		if (mark->kind != PXT_MARK_STOP)
			continue;
		link->peer = history->state->actors[mark->actor];
		link->peer_place = mark->place;
	}
}

/* Who sent the signal whose handler ran: the last one before it. */
static void link_handler(struct pxt_link *link, const struct pxt_history *history)
{
	const struct pxt_actor *actor = link->actor;

	for (uint32_t i = pxt_history_mark(history, link->stretch.begin_ns); i-- > 0;) {
		const struct pxt_mark *mark = &history->marks[i];

		if (mark->kind != PXT_MARK_SIGNAL || mark->object != link->stretch.object ||
		    !pxt_actor_answers_to(actor, mark->to))
			continue;
		link->peer = history->state->actors[mark->actor];
		link->peer_place = mark->place;
		return;
	}
}

/* A real-time thread could run, and one that is less urgent did. */
static bool is_throttled(const struct pxt_history *history, const struct pxt_actor *actor,
    const struct pxt_actor *instead, int64_t begin_ns, int64_t end_ns)
{
	const struct pxt_stretch *ready =
	    pxt_history_longest(history, actor, PXT_STRETCH_READY, begin_ns, end_ns);
	const struct pxt_stretch *ran =
	    pxt_history_longest(history, instead, PXT_STRETCH_RAN, begin_ns, end_ns);

	return ready && ran && ready->has_prio && ran->has_prio && ready->prio < PXT_REAL_TIME &&
	       ran->prio > ready->prio;
}

static void link_call(
    struct pxt_link *link, const struct pxt_history *history, int64_t begin_ns, int64_t end_ns)
{
	const struct pxt_stretch *call = &link->stretch;
	const struct pxt_mark *woke;
	int64_t from = begin_ns;
	int64_t to = end_ns;
	int64_t stopped_ns;

	pxt_stretch_clip(call, &from, &to);
	link->ran_ns = pxt_history_within(history, link->actor, PXT_STRETCH_RAN, from, to);
	link->ready_ns = pxt_history_within(history, link->actor, PXT_STRETCH_READY, from, to);
	stopped_ns = pxt_history_within(history, link->actor, PXT_STRETCH_STOPPED, from, to);
	if (stopped_ns * 2 > to - from) {
		link->kind = PXT_LINK_STOPPED;
		link->ns = stopped_ns;
		link_stopped(link, history, to);
		return;
	}
	link->timed_out = !call->open && !call->cut && pxt_stretch_timed_out(call);
	if (link->timed_out || call->open)
		link->peer = pxt_history_usual_end(history, call);
	woke = pxt_history_waker(history, link->actor, from, to);
	if (woke && woke->meant && !link->timed_out && !call->open &&
	    call->call != POSIX_TRACE_CALL_SLEEP_NP && woke->peer && woke->peer->own &&
	    woke->peer != link->actor) {
		link->peer = woke->peer;
		link->peer_place = woke->place;
		link->inferred = woke->inferred;
	}
	if (link->ready_ns * 10 > (to - from) * 3) {
		link->instead = pxt_history_instead(history, link->actor, from, to);
		link->bound_cpu = pxt_history_bound(history, link->actor, from, to);
		link->throttled =
		    link->instead && is_throttled(history, link->actor, link->instead, from, to);
	}
}

/* It slept in its own call and asked for a lock before and after. */
static void link_tried(
    struct pxt_link *link, const struct pxt_history *history, int64_t begin_ns, int64_t end_ns)
{
	bool same;
	const struct pxt_mark *failed = failed_lock(history, link->actor, begin_ns, end_ns, &same);
	const struct pxt_stretch *hold;

	if (!failed)
		return;
	hold = pxt_history_holder(history, failed->object, link->actor, begin_ns, end_ns);
	if (!hold && !(failed->peer && same))
		return;
	link->kind = PXT_LINK_TRIED;
	link->stretch.lock = hold ? hold->lock : NULL;
	link->stretch.object = failed->object;
	link->stretch.place = failed->place;
	link->peer = hold ? history->state->actors[hold->actor] : failed->peer;
	if (hold)
		link->peer_place = hold->place;
}

bool pxt_link_is_cpu(const struct pxt_link *link)
{
	return link->kind == PXT_LINK_READY ||
	       (link->kind == PXT_LINK_CALL && link->ready_ns * 2 > link->ns && link->instead);
}

bool pxt_link_is_same(const struct pxt_link *a, const struct pxt_link *b)
{
	if (pxt_link_is_cpu(a) || pxt_link_is_cpu(b))
		return pxt_link_is_cpu(a) && pxt_link_is_cpu(b);
	if (a->kind != b->kind)
		return false;
	switch ((int)a->kind) {
	case PXT_LINK_RAN:
		return pxt_link_has_faults(a) == pxt_link_has_faults(b);
	case PXT_LINK_SLEPT:
		return a->inferred == b->inferred && a->is_child == b->is_child;
	case PXT_LINK_THROTTLED:
	case PXT_LINK_UNKNOWN:
		return true;
	default:
		return a->stretch.lock == b->stretch.lock && a->stretch.call == b->stretch.call &&
		       a->stretch.object == b->stretch.object && a->timed_out == b->timed_out;
	}
}

/* ---- Sleeps ---- */

#define LINUX_SLEEPING 1 /* a wait that a signal may end, as one for a futex */

/* vfork(), or clone() as posix_spawn() has it: it made the thread, and slept before it had done anything else. */
static bool is_child(const struct pxt_history *history, const struct pxt_actor *actor,
    const struct pxt_stretch *slept, const struct pxt_actor *child)
{
	for (uint32_t i = pxt_history_mark(history, slept->begin_ns + 1); i-- > 0;) {
		const struct pxt_mark *mark = &history->marks[i];

		if (mark->is_new && mark->peer == actor)
			return mark->actor == child->index &&
			       pxt_history_within(history, actor, PXT_STRETCH_RAN, mark->ns,
			           slept->begin_ns) < SOON;
	}
	return false;
}

/*
 * It slept in a call that nobody tells of, and a thread of the program ran when it was woken.  The C
 * library waits so for its own locks.  An interrupt would wake in the name of the running thread: so it
 * is an inference.
 */
static void link_slept(
    struct pxt_link *link, const struct pxt_history *history, int64_t *begin_ns, int64_t *end_ns)
{
	const struct pxt_stretch *slept =
	    pxt_history_longest(history, link->actor, PXT_STRETCH_SLEPT, *begin_ns, *end_ns);
	const struct pxt_mark *woke;

	pxt_machine_disk(link, history, *begin_ns, *end_ns);
	if (!slept || link->faults_major)
		return;
	woke = pxt_history_waker(history, link->actor, slept->begin_ns, slept->end_ns);
	if (!woke || !woke->peer || !woke->peer->own || woke->peer == link->actor)
		return;
	link->is_child = slept->object == PXT_STATE_UNINTERRUPTIBLE &&
	                 is_child(history, link->actor, slept, woke->peer);
	if (slept->object != LINUX_SLEEPING && !link->is_child)
		return;
	link->peer = woke->peer;
	link->peer_place = woke->place;
	link->inferred = !woke->meant && !link->is_child;
	if (link->is_child)
		pxt_stretch_clip(slept, begin_ns, end_ns);
}

/* The next thread of the chain: whose time, up to *@to_ns, is to be looked at. */
static const struct pxt_actor *complete(
    struct pxt_link *link, const struct pxt_history *history, int64_t *from_ns, int64_t *to_ns)
{
	const struct pxt_stretch *stopped;
	int64_t begin_ns = *from_ns;
	int64_t end_ns = *to_ns;
	uint32_t count;

	if (link->kind == PXT_LINK_LOCK ||
	    (link->kind == PXT_LINK_CALL && link_cond(link, history, from_ns, to_ns))) {
		if (link->stretch.lock)
			link_lock(link, history, from_ns, to_ns);
		return link->peer;
	}
	switch ((int)link->kind) {
	case PXT_LINK_CALL:
		link_call(link, history, begin_ns, end_ns);
		pxt_machine_disk(link, history, begin_ns, end_ns);
		if (link->stretch.call == POSIX_TRACE_CALL_SLEEP_NP)
			link_tried(link, history, begin_ns, end_ns);
		/* A thread that was woken and could not run was not held up by its waker. */
		return link->kind == PXT_LINK_STOPPED ||
		               (link->kind == PXT_LINK_CALL &&
		                   (link->stretch.open || link->ready_ns * 2 > link->ns))
		           ? NULL
		           : link->peer;
	case PXT_LINK_HANDLER:
		link_handler(link, history);
		return NULL;
	case PXT_LINK_RAN:
		pxt_machine_ran(link, history, begin_ns, end_ns);
		return NULL;
	case PXT_LINK_SLEPT:
		pxt_machine_ran(link, history, begin_ns, end_ns);
		link_slept(link, history, from_ns, to_ns);
		return link->peer;
	case PXT_LINK_READY:
		pxt_machine_cgroup(link, history, link->ns, begin_ns, end_ns);
		link->peer = pxt_history_instead(history, link->actor, begin_ns, end_ns);
		if (!link->peer)
			link->among = pxt_history_among(history, link->actor, begin_ns, end_ns);
		link->bound_cpu = pxt_history_bound(history, link->actor, begin_ns, end_ns);
		if (link->peer && is_throttled(history, link->actor, link->peer, begin_ns, end_ns))
			link->kind = PXT_LINK_THROTTLED;
		return NULL;
	case PXT_LINK_STOPPED:
		stopped = pxt_history_of(history, link->actor, PXT_STRETCH_STOPPED, &count);
		if (count > 0)
			link_stopped(link, history,
			    stopped[pxt_history_after(stopped, count, begin_ns)].begin_ns);
		return NULL;
	default:
		return NULL;
	}
}

static bool is_in(const struct pxt_chain *chain, const struct pxt_actor *actor)
{
	for (unsigned i = 0; i < chain->count; i++)
		if (chain->links[i].actor == actor)
			return true;
	return false;
}

/* From @actor on all wait for locks, and none ever got his. */
static bool is_circle(const struct pxt_chain *chain, const struct pxt_actor *actor)
{
	bool inside = false;

	for (unsigned i = 0; i < chain->count; i++) {
		const struct pxt_link *link = &chain->links[i];

		inside = inside || link->actor == actor;
		if (inside && (link->kind != PXT_LINK_LOCK || !link->stretch.open || link->in_cond))
			return false;
	}
	return inside;
}

void pxt_chain_follow(struct pxt_chain *chain, const struct pxt_history *history,
    const struct pxt_actor *actor, int64_t begin_ns, int64_t end_ns)
{
	*chain = (struct pxt_chain){ 0 };
	while (actor && chain->count < PXT_CHAIN_LINKS && !is_in(chain, actor)) {
		struct pxt_part part = pxt_parts_largest(history, actor, begin_ns, end_ns);
		struct pxt_link *link = &chain->links[chain->count];

		*link = (struct pxt_link){
			.kind = part.kind, .actor = actor, .ns = part.ns, .bound_cpu = -1
		};
		if (part.stretch)
			link->stretch = *part.stretch;
		/* Where one of them is most of it, what the others did in that time counts. */
		if (part.stretch && part.own_ns * 5 > part.ns * 4)
			pxt_stretch_clip(part.stretch, &begin_ns, &end_ns);
		link->begin_ns = begin_ns;
		link->end_ns = end_ns;
		chain->count++;
		actor = complete(link, history, &begin_ns, &end_ns);
	}
	chain->is_deadlock = actor && is_circle(chain, actor);
}
