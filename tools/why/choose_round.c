/* SPDX-License-Identifier: MIT */
/* choose_round.c - of several threads that were late, which one is explained, and which of its rounds; see blame.h. */
#include "tools/why/blame.h"

#include <limits.h>
#include <string.h>

/* Less is no delay that the program made: the machine is as late now and then. */
#define FAR_NS INT64_C(5000000)

/* ---- What was late for the program's own reasons ---- */

/* Who ran while the thread could; NULL: it did not wait for a CPU, or nobody knows. */
static const struct pxt_actor *runner_of(const struct pxt_link *link)
{
	switch ((int)link->kind) {
	case PXT_LINK_CALL:
		return link->instead;
	case PXT_LINK_RAN:
	case PXT_LINK_READY:
		return link->peer;
	default:
		return NULL;
	}
}

/* The time in which a thread could run, and other programs did. */
static int64_t outside_of(const struct pxt_link *link)
{
	const struct pxt_actor *by = runner_of(link);

	if (!by || by->own)
		return 0;
	return link->kind == PXT_LINK_READY ? link->ns : link->ready_ns;
}

/* Of the excess, what other programs caused: in the thread itself, and along its chain. */
static int64_t outside_round(const struct pxt_late_round *round, const struct pxt_chain *chain)
{
	int64_t outside = 0;

	for (unsigned i = 0; i < chain->count; i++)
		outside += outside_of(&chain->links[i]);
	/* Who ran most is better known than who ran last. */
	if (round->outside_ns > outside && !runner_of(&chain->links[0]))
		outside = round->outside_ns;
	return outside < round->excess_ns ? outside : round->excess_ns;
}

/* The excess of all rounds of a thread; what other programs caused counts little, or not at all. */
static int64_t sum_of(
    const struct pxt_blames *blames, const struct pxt_actor *actor, bool only_inside)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < blames->followed_count; i++) {
		const struct pxt_followed *followed = &blames->followed[i];

		if (followed->actor == actor)
			ns += only_inside ? followed->inside_ns : followed->own_ns;
	}
	return ns;
}

static int64_t largest_sum(const struct pxt_blames *blames, bool only_inside)
{
	int64_t largest = 0;

	for (unsigned i = 0; i < blames->count; i++) {
		int64_t ns = sum_of(blames, blames->list[i].actor, only_inside);

		largest = ns > largest ? ns : largest;
	}
	return largest;
}

static const struct pxt_followed *followed_of(
    const struct pxt_blames *blames, const struct pxt_blame *blame)
{
	for (unsigned i = 0; i < blames->followed_count; i++)
		if (blames->followed[i].actor == blame->actor &&
		    blames->followed[i].begin_ns == blame->late.begin_ns)
			return &blames->followed[i];
	return NULL;
}

/* Whether other programs, or what the thread planned itself, caused most of it. */
static bool is_outside(const struct pxt_blames *blames, const struct pxt_blame *blame)
{
	const struct pxt_followed *followed = followed_of(blames, blame);
	const struct pxt_late *late = &blame->late;

	return followed && followed->own_ns * 2 < late->end_ns - late->begin_ns - late->usual_ns;
}

/* Of each thread, what was late for the program's own reasons comes first. */
static void sort_rounds(struct pxt_blames *blames)
{
	for (unsigned i = 1; i < blames->count; i++) {
		struct pxt_blame blame = blames->list[i];
		unsigned at = i;

		/* Past those of the same thread; others stay where they are. */
		for (unsigned k = i; !is_outside(blames, &blame) && k-- > 0;)
			if (blames->list[k].actor == blame.actor &&
			    is_outside(blames, &blames->list[k])) {
				blames->list[at] = blames->list[k];
				at = k;
			}
		blames->list[at] = blame;
	}
}

/* ---- Who suffers ---- */

/* Threads of a pool are one, when it is asked who suffers from whom. */
static bool is_alike(
    const struct pxt_late_search *search, const struct pxt_actor *a, const struct pxt_actor *b)
{
	return a == b || (a && b && a->index < search->kind_count &&
	                     b->index < search->kind_count && search->kinds[a->index] != 0 &&
	                     search->kinds[a->index] == search->kinds[b->index]);
}

/* Who waited in vain itself held up nobody: a server hears nothing while its client waits for an answer. */
static bool leads_to(const struct pxt_chain *chain, const struct pxt_late_search *search,
    const struct pxt_actor *actor)
{
	for (unsigned i = 0; i < chain->count; i++)
		if (is_alike(search, chain->links[i].peer, actor))
			return i + 1 == chain->count || !chain->links[i + 1].timed_out;
	return false;
}

static bool is_late(const struct pxt_blames *blames, const struct pxt_actor *actor)
{
	for (unsigned i = 0; i < blames->followed_count; i++)
		if (blames->followed[i].actor == actor)
			return true;
	return false;
}

/* It waited for another one that was late, too, as that one waited in vain. */
static bool is_for_vain(const struct pxt_blames *blames, const struct pxt_chain *chain)
{
	for (unsigned i = 1; i < chain->count; i++)
		if (chain->links[i].timed_out)
			return is_late(blames, chain->links[i].actor);
	return false;
}

/* Of the late rounds of a thread, how many thousandths were waits for who waited in vain. */
static unsigned share_for_vain(const struct pxt_blames *blames, const struct pxt_actor *actor)
{
	unsigned all = 0;
	unsigned vain = 0;

	for (unsigned i = 0; i < blames->followed_count; i++) {
		if (blames->followed[i].actor != actor)
			continue;
		all++;
		vain += is_for_vain(blames, &blames->followed[i].chain);
	}
	return all > 0 ? vain * 1000 / all : 0;
}

/*
 * Of the late rounds of another thread, how many thousandths @actor held up: of the thread that suffers most.  What is
 * late only because another one waited in vain counts as little.
 */
static unsigned share_held_up(const struct pxt_blames *blames, const struct pxt_late_search *search,
    const struct pxt_actor *actor)
{
	unsigned most = share_for_vain(blames, actor);

	for (unsigned i = 0; i < blames->followed_count; i++) {
		const struct pxt_actor *other = blames->followed[i].actor;
		unsigned all = 0;
		unsigned by = 0;

		/* Rounds of one thread stand together. */
		if (is_alike(search, other, actor) ||
		    (i > 0 && blames->followed[i - 1].actor == other))
			continue;
		for (unsigned k = i;
		     k < blames->followed_count && blames->followed[k].actor == other; k++) {
			all++;
			by += leads_to(&blames->followed[k].chain, search, actor);
		}
		if (by * 1000 / all > most)
			most = by * 1000 / all;
	}
	return most;
}

/* Of a span's excess: what is lost, and what other programs caused, in the thread itself and along its chain. */
static int64_t outside_span(const struct pxt_blame *blame)
{
	int64_t own = 0;
	int64_t held = 0;
	int64_t along = 0;

	for (unsigned i = 0; i < blame->cause_count; i++) {
		const struct pxt_cause *cause = &blame->causes[i];

		bool is_lost = cause->kind == PXT_CAUSE_LOST;

		if (!is_lost && (!cause->exact || !cause->runner || cause->runner->own))
			continue;
		*(cause->kind == PXT_CAUSE_WAIT ? &held : &own) += cause->ns;
	}
	/* The holder of a lock is in the chain, too. */
	for (unsigned i = 1; i < blame->chain.count; i++)
		along += outside_of(&blame->chain.links[i]);
	return own + (held > along ? held : along);
}

/*
 * Of spans that the program itself made far longer than usual those come first, by how much; of others, other
 * programs' time counts little.
 */
static int64_t own_rank(const struct pxt_blame *blame, bool far)
{
	int64_t rank = (int64_t)blame->late.rank;
	int64_t inside = rank - outside_span(blame);
	int64_t usual = blame->late.end_ns - blame->late.release_ns - rank;

	if (far)
		return inside > FAR_NS && inside > 2 * usual ? inside : 0;
	return inside + (rank - inside) * 3 / 10;
}

static void first_of_own(struct pxt_blames *blames)
{
	struct pxt_blame first;
	unsigned best = 0;
	bool far = false;

	for (unsigned i = 0; i < blames->count; i++)
		far = far || own_rank(&blames->list[i], true) > 0;
	for (unsigned i = 1; i < blames->count; i++)
		if (own_rank(&blames->list[i], far) > own_rank(&blames->list[best], far))
			best = i;
	first = blames->list[best];
	memmove(blames->list + 1, blames->list, best * sizeof first);
	blames->list[0] = first;
}

/* ---- Which of its rounds ---- */

/* Of the excess of @actor's late rounds, that of those which the same as @by held up. */
static int64_t excess_by(
    const struct pxt_blames *blames, const struct pxt_actor *actor, const struct pxt_link *by)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < blames->followed_count; i++) {
		const struct pxt_followed *followed = &blames->followed[i];

		if (followed->actor == actor && followed->chain.count > 0 &&
		    pxt_link_is_same(by, &followed->chain.links[0]))
			ns += followed->inside_ns;
	}
	return ns;
}

/* A CPU that other programs had, or nobody knows who, is no reason of the program's. */
static bool is_of_others(const struct pxt_link *link)
{
	const struct pxt_actor *runner = runner_of(link);

	return pxt_link_is_cpu(link) && (!runner || !runner->own);
}

static int64_t inside_of(const struct pxt_blames *blames, const struct pxt_blame *blame)
{
	const struct pxt_followed *followed = followed_of(blames, blame);

	return followed ? followed->inside_ns : 0;
}

/*
 * Of rounds about as late as the first one, one comes first that was held up by what made more than half of the
 * thread's excess.  @count: the rounds of the thread, in front.
 */
static void usual_reason_first(struct pxt_blames *blames, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct pxt_blame blame = blames->list[i];

		if (blame.chain.count == 0 || is_of_others(&blame.chain.links[0]) ||
		    is_outside(blames, &blame) ||
		    inside_of(blames, &blame) < inside_of(blames, &blames->list[0]) * 9 / 10 ||
		    excess_by(blames, blame.actor, &blame.chain.links[0]) * 2 <=
		        sum_of(blames, blame.actor, true))
			continue;
		memmove(blames->list + 1, blames->list, i * sizeof blames->list[0]);
		blames->list[0] = blame;
		return;
	}
}

/* Who holds up fewer of another one's rounds is no cause of them: that happens. */
#define SHARE_OF_CHANCE 150u

/*
 * Of several threads that were late at once, the one at the end of the wake-ups suffers from the others.
 * All its rounds come first.  Threads that other programs delayed most are beside the point.
 */
void pxt_choose_round_first(struct pxt_blames *blames, const struct pxt_late_search *search)
{
	const struct pxt_actor *victim = NULL;
	unsigned least = UINT_MAX;
	unsigned next = 0;
	int64_t largest;
	bool only_inside;

	if (blames->count > 0 && search->mode == PXT_LATE_UNUSUAL)
		first_of_own(blames);
	if (blames->count == 0 || !pxt_late_is_round(&blames->list[0].late))
		return;
	/* As in usual.c: what other programs caused is left out, where the rest is more than next to nothing. */
	largest = largest_sum(blames, true);
	only_inside = largest > FAR_NS && largest > largest_sum(blames, false) / 20;
	if (!only_inside)
		largest = largest_sum(blames, false);
	sort_rounds(blames);
	for (unsigned i = 0; i < blames->count && least > SHARE_OF_CHANCE; i++) {
		unsigned share;

		if (sum_of(blames, blames->list[i].actor, only_inside) < largest * 6 / 10)
			continue;
		share = share_held_up(blames, search, blames->list[i].actor);
		if (share >= least)
			continue;
		least = share;
		victim = blames->list[i].actor;
	}
	for (unsigned i = 0; victim && i < blames->count; i++) {
		struct pxt_blame blame = blames->list[i];

		if (blame.actor != victim)
			continue;
		memmove(blames->list + next + 1, blames->list + next,
		    (i - next) * sizeof blames->list[0]);
		blames->list[next++] = blame;
	}
	usual_reason_first(blames, next);
}

void pxt_choose_round_weigh(struct pxt_followed *followed, const struct pxt_late_round *round)
{
	followed->begin_ns = round->begin_ns;
	followed->inside_ns = round->excess_ns - outside_round(round, &followed->chain);
	followed->own_ns = followed->inside_ns + (round->excess_ns - followed->inside_ns) * 3 / 10;
}
