/* SPDX-License-Identifier: MIT */
/* parts.c - the parts of a thread's time: calls, waits for locks, and what the scheduler says; see chain.h. */
#include "tools/why/chain.h"

#include <trace_hooks_np.h>

#define PARTS 128u

struct parts {
	struct pxt_part list[PARTS];
	unsigned count;
	int64_t ns[PXT_STRETCH_ENDED + 1]; /* what the scheduler says of the time outside of them */
	int64_t rest_ns;                   /* outside of them, and of what the scheduler says */
};

/*
 * A wait for a semaphore or a futex is told twice: by the call, and as the wait for a lock.  It is that of a
 * lock where somebody has it, as in Python's locks.
 */
static bool is_double(const struct pxt_history *history, const struct pxt_stretch *stretch)
{
	uint32_t count;
	const struct pxt_stretch *locks;

	if (stretch->kind == PXT_STRETCH_LOCK)
		return stretch->lock->is_given;
	if (stretch->kind != PXT_STRETCH_CALL ||
	    (stretch->call != POSIX_TRACE_CALL_SEM_WAIT_NP &&
	        stretch->call != POSIX_TRACE_CALL_FUTEX_WAIT_NP))
		return false;
	locks = pxt_history_of(
	    history, history->state->actors[stretch->actor], PXT_STRETCH_LOCK, &count);
	for (uint32_t i = pxt_history_after(locks, count, stretch->begin_ns);
	     i < count && locks[i].begin_ns <= stretch->begin_ns; i++)
		if (locks[i].begin_ns == stretch->begin_ns)
			return !locks[i].lock->is_given;
	return false;
}

static bool is_alike(const struct pxt_stretch *a, const struct pxt_stretch *b)
{
	return a->kind == b->kind && a->call == b->call && a->object == b->object &&
	       a->place.address.value == b->place.address.value;
}

/* Adds it to those that are alike; where there is no place left, in place of the smallest. */
static void add_part(struct parts *parts, const struct pxt_stretch *stretch, int64_t ns)
{
	static const enum pxt_link_kind kinds[PXT_STRETCH_KINDS] = { [PXT_STRETCH_CALL] =
		                                                         PXT_LINK_CALL,
		[PXT_STRETCH_LOCK] = PXT_LINK_LOCK,
		[PXT_STRETCH_HANDLER] = PXT_LINK_HANDLER };
	struct pxt_part *place = parts->list;

	for (unsigned i = 0; i < parts->count; i++) {
		struct pxt_part *part = &parts->list[i];

		if (is_alike(part->stretch, stretch)) {
			part->ns += ns;
			if (ns > part->own_ns) {
				part->own_ns = ns;
				part->stretch = stretch;
			}
			return;
		}
		if (part->ns < place->ns)
			place = part;
	}
	if (parts->count < PARTS)
		place = &parts->list[parts->count++];
	else if (ns <= place->ns)
		return;
	*place = (struct pxt_part){
		.kind = kinds[stretch->kind], .ns = ns, .own_ns = ns, .stretch = stretch
	};
}

/* Of that time, what the scheduler says of it, but for that in handlers: these are parts of their own. */
static int64_t within_but_handlers(const struct pxt_history *history, const struct pxt_actor *actor,
    enum pxt_stretch_kind kind, int64_t begin_ns, int64_t end_ns)
{
	uint32_t count;
	const struct pxt_stretch *list =
	    pxt_history_of(history, actor, PXT_STRETCH_HANDLER, &count);
	int64_t ns = pxt_history_within(history, actor, kind, begin_ns, end_ns);

	for (uint32_t i = 0; i < count && list[i].begin_ns < end_ns; i++) {
		int64_t from = begin_ns;
		int64_t to = end_ns;

		pxt_stretch_clip(&list[i], &from, &to);
		if (to > from)
			ns -= pxt_history_within(history, actor, kind, from, to);
	}
	return ns;
}

static void add_parts(struct parts *parts, const struct pxt_history *history,
    const struct pxt_actor *actor, enum pxt_stretch_kind kind, int64_t begin_ns, int64_t end_ns)
{
	uint32_t count;
	const struct pxt_stretch *list = pxt_history_of(history, actor, kind, &count);

	for (uint32_t i = 0; i < count && list[i].begin_ns < end_ns; i++) {
		int64_t ns = pxt_stretch_within(&list[i], begin_ns, end_ns);
		int64_t from = begin_ns;
		int64_t to = end_ns;

		if (ns == 0 || is_double(history, &list[i]))
			continue;
		pxt_stretch_clip(&list[i], &from, &to);
		/* A handler that a call was interrupted by is a part of its own. */
		if (kind != PXT_STRETCH_HANDLER)
			ns -= pxt_history_within(history, actor, PXT_STRETCH_HANDLER, from, to);
		if (ns <= 0)
			continue;
		add_part(parts, &list[i], ns);
		parts->rest_ns -= ns;
		for (unsigned k = 0; k <= PXT_STRETCH_ENDED; k++) {
			enum pxt_stretch_kind what = (enum pxt_stretch_kind)k;
			int64_t part = kind == PXT_STRETCH_HANDLER
			                   ? pxt_history_within(history, actor, what, from, to)
			                   : within_but_handlers(history, actor, what, from, to);

			parts->ns[k] -= part;
			parts->rest_ns += part;
		}
	}
}

static void prefer(struct pxt_part *best, enum pxt_link_kind kind, int64_t ns)
{
	if (ns > best->ns)
		*best = (struct pxt_part){ .kind = kind, .ns = ns };
}

struct pxt_part pxt_parts_largest(const struct pxt_history *history, const struct pxt_actor *actor,
    int64_t begin_ns, int64_t end_ns)
{
	struct pxt_part best = { .kind = PXT_LINK_UNKNOWN };
	struct parts parts = { .rest_ns = end_ns - begin_ns };

	for (unsigned k = 0; k <= PXT_STRETCH_ENDED; k++) {
		parts.ns[k] =
		    pxt_history_within(history, actor, (enum pxt_stretch_kind)k, begin_ns, end_ns);
		parts.rest_ns -= parts.ns[k];
	}
	add_parts(&parts, history, actor, PXT_STRETCH_CALL, begin_ns, end_ns);
	add_parts(&parts, history, actor, PXT_STRETCH_LOCK, begin_ns, end_ns);
	add_parts(&parts, history, actor, PXT_STRETCH_HANDLER, begin_ns, end_ns);
	for (unsigned i = 0; i < parts.count; i++)
		if (parts.list[i].ns > best.ns)
			best = parts.list[i];
	/*
	 * Other programs are in the way of all that runs: it is what the thread wanted to run for; what it did
	 * otherwise for half as long counts more.
	 */
	const struct pxt_actor *runner = pxt_history_instead(history, actor, begin_ns, end_ns);
	if (!runner)
		runner = pxt_history_among(history, actor, begin_ns, end_ns);
	bool by_others = runner && !runner->own;
	if (by_others && parts.ns[PXT_STRETCH_RAN] * 10 > parts.ns[PXT_STRETCH_READY] &&
	    parts.ns[PXT_STRETCH_RAN] > best.ns) {
		prefer(
		    &best, PXT_LINK_RAN, parts.ns[PXT_STRETCH_RAN] + parts.ns[PXT_STRETCH_READY]);
	} else {
		prefer(&best, PXT_LINK_RAN, parts.ns[PXT_STRETCH_RAN]);
		if (!by_others || parts.ns[PXT_STRETCH_READY] > 2 * best.ns)
			prefer(&best, PXT_LINK_READY, parts.ns[PXT_STRETCH_READY]);
	}
	prefer(&best, PXT_LINK_SLEPT, parts.ns[PXT_STRETCH_SLEPT]);
	prefer(&best, PXT_LINK_STOPPED, parts.ns[PXT_STRETCH_STOPPED]);
	prefer(&best, PXT_LINK_ENDED, parts.ns[PXT_STRETCH_ENDED]);
	prefer(&best, PXT_LINK_UNKNOWN, parts.rest_ns);
	return best;
}
