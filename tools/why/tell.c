/* SPDX-License-Identifier: MIT */
/* tell.c - what text and JSON have in common: what is worth telling, and in which order. */
#include "tools/why/tell.h"

#include "tools/output/out.h"

#include <stdlib.h>

struct pxt_setting pxt_tell_setting(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	struct pxt_setting setting = { .book = tell->book,
		.misses = tell->search->misses.all,
		.by_median = tell->search->mode == PXT_LATE_UNUSUAL };

	if (blame->late.kind == PXT_LATE_SPAN)
		setting.median_ns = pxt_late_median(tell->search, blame->late.name, &setting.spans);
	return setting;
}

static void want_cause(struct pxt_places *places, const struct pxt_cause *cause)
{
	pxt_places_want(places, &cause->function);
	for (unsigned i = 0; i < cause->links; i++) {
		pxt_places_want(places, &cause->chain[i].place);
		pxt_places_want(places, &cause->chain[i].lock->first);
	}
}

static void want_link(struct pxt_places *places, const struct pxt_link *link)
{
	pxt_places_want(places, &link->stretch.place);
	pxt_places_want(places, &link->peer_place);
	for (unsigned i = 0; i < link->place_count; i++)
		pxt_places_want(places, &link->places[i]);
	if (link->stretch.lock)
		pxt_places_want(places, &link->stretch.lock->first);
}

void pxt_tell_want(const struct pxt_tell *tell)
{
	for (unsigned i = 0; i < tell->blames->count; i++) {
		const struct pxt_blame *blame = &tell->blames->list[i];

		if (blame->late.of_system)
			pxt_places_want(tell->book->places, &blame->late.first);
		pxt_places_want(tell->book->places, &blame->asked_in);
		pxt_places_want(tell->book->places, &blame->signal.place);
		for (unsigned k = 0; k < blame->caller_count; k++)
			pxt_places_want(tell->book->places, &blame->callers[k]);
		for (unsigned k = 0; k < blame->chain.count; k++)
			want_link(tell->book->places, &blame->chain.links[k]);
		for (unsigned k = 0; k < blame->cause_count && k < PXT_CAUSES_MAX; k++)
			want_cause(tell->book->places, &blame->causes[k]);
	}
}

#define RECURRING 2u /* causes in a sentence */

static int by_time(const void *a, const void *b)
{
	const struct pxt_delay *x = a;
	const struct pxt_delay *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

void pxt_tell_followers(struct pxt_words *words, const struct pxt_blame *blame, const char *before)
{
	const struct pxt_late *late = &blame->late;
	char text[24];

	if (late->followers == 0)
		return;
	pxt_say(words, "%s%llu more follow%s from it", before, (unsigned long long)late->followers,
	    late->followers == 1 ? "s" : "");
	if (late->worst_ns > 0) {
		pxt_duration(text, (uint64_t)late->worst_ns);
		pxt_say(words, ", late by up to %s", text);
	}
	pxt_say(words, ".");
}

static int by_rounds(const void *a, const void *b)
{
	const struct pxt_delay_thread *x = a;
	const struct pxt_delay_thread *y = b;

	if (x->rounds != y->rounds)
		return x->rounds > y->rounds ? -1 : 1;
	return (x->actor->index > y->actor->index) - (x->actor->index < y->actor->index);
}

/* Whose doing it was; threads of another program are one. */
static void add_thread(struct pxt_delay *reason, const struct pxt_actor *actor)
{
	unsigned at = 0;

	if (!actor)
		return;
	while (at < reason->thread_count && !pxt_actor_is_with(reason->threads[at].actor, actor))
		at++;
	if (at == PXT_DELAY_THREADS) {
		reason->threads_beyond++;
		return;
	}
	if (at == reason->thread_count)
		reason->threads[reason->thread_count++].actor = actor;
	reason->threads[at].rounds++;
}

unsigned pxt_tell_reasons(const struct pxt_tell *tell, const struct pxt_blame *blame,
    struct pxt_delay list[PXT_TELL_REASONS], unsigned *rounds)
{
	unsigned count = 0;

	*rounds = 0;
	for (unsigned i = 0; i < tell->blames->followed_count; i++) {
		const struct pxt_followed *round = &tell->blames->followed[i];
		unsigned at = 0;

		if (round->actor != blame->actor || round->chain.count == 0)
			continue;
		++*rounds;
		while (at < count && !pxt_link_is_same(list[at].link, &round->chain.links[0]))
			at++;
		if (at == PXT_TELL_REASONS)
			continue;
		if (at == count)
			list[count++] = (struct pxt_delay){ .link = round->chain.links };
		list[at].rounds++;
		list[at].ns += round->chain.links[0].ns;
		add_thread(
		    &list[at], pxt_link_is_cpu(round->chain.links) && round->chain.links[0].instead
		                   ? round->chain.links[0].instead
		                   : round->chain.links[0].peer);
	}
	qsort(list, count, sizeof *list, by_time);
	for (unsigned i = 0; i < count; i++)
		qsort(list[i].threads, list[i].thread_count, sizeof list[i].threads[0], by_rounds);
	return count;
}

void pxt_tell_recurring(struct pxt_words *words, const struct pxt_tell *tell,
    const struct pxt_blame *blame, const char *before)
{
	struct pxt_delay list[PXT_TELL_REASONS];
	unsigned rounds;
	unsigned count;

	if (!pxt_late_is_round(&blame->late))
		return;
	count = pxt_tell_reasons(tell, blame, list, &rounds);
	if (rounds < 2)
		return;
	pxt_say(words, "%s", before);
	pxt_say(words, rounds < blame->late.late_count     ? "Of the longest late rounds"
	               : blame->late.kind == PXT_LATE_HOME ? "Late waits:"
	                                                   : "Late rounds:");
	for (unsigned i = 0; i < count && i < RECURRING; i++) {
		pxt_say(words, "%s %u of %u by ", i > 0 ? ";" : "", list[i].rounds, rounds);
		pxt_say_reason(words, tell->book, &list[i]);
	}
	pxt_say(words, ".");
}

static int by_share(const void *a, const void *b)
{
	const struct pxt_cause *x = *(const struct pxt_cause *const *)a;
	const struct pxt_cause *y = *(const struct pxt_cause *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x < y ? -1 : 1;
}

void pxt_tell_causes(
    const struct pxt_blame *blame, const struct pxt_cause *sorted[PXT_CAUSES_MAX], unsigned *count)
{
	*count = 0;
	for (unsigned i = 0; i < blame->cause_count; i++)
		if (blame->causes[i].ns > 0)
			sorted[(*count)++] = &blame->causes[i];
	qsort(sorted, *count, sizeof(struct pxt_cause *), by_share);
}

static int by_length(const void *a, const void *b)
{
	const struct pxt_overlap *x = *(const struct pxt_overlap *const *)a;
	const struct pxt_overlap *y = *(const struct pxt_overlap *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x < y ? -1 : 1;
}

void pxt_tell_overlaps(const struct pxt_blame *blame,
    const struct pxt_overlap *sorted[PXT_OVERLAPS_MAX], unsigned *count)
{
	*count = blame->overlap_count;
	for (unsigned i = 0; i < blame->overlap_count; i++)
		sorted[i] = &blame->overlaps[i];
	qsort(sorted, *count, sizeof(struct pxt_overlap *), by_length);
}

/* Whether the thread is in a cause that is worth a word: a hundredth of the span. */
static bool involved(const struct pxt_blame *blame, const struct pxt_actor *actor)
{
	if (!actor)
		return false;
	for (unsigned i = 0; i < blame->cause_count; i++) {
		const struct pxt_cause *cause = &blame->causes[i];

		if (cause->ns < pxt_blame_length(blame) / 100)
			continue;
		if (cause->runner == actor)
			return true;
		for (unsigned k = 0; k < cause->links; k++)
			if (cause->chain[k].holder == actor)
				return true;
	}
	return false;
}

bool pxt_tell_line(const struct pxt_blame *blame, const struct pxt_blame_line *line)
{
	if (line->gap || (line->actor && line->actor == blame->actor))
		return true;
	if (line->deed == PXT_SWITCH)
		return line->other == blame->actor || involved(blame, line->actor) ||
		       involved(blame, line->other);
	return line->deed != PXT_DEEDS && involved(blame, line->actor);
}

/* The event as it was traced; what the log knows beyond it is after an arrow. */
void pxt_tell_deed(
    struct pxt_words *words, const struct pxt_blame *blame, const struct pxt_blame_line *line)
{
	if (line->gap && line->lost > 0)
		pxt_say(words, "%llu EVENTS LOST up to here", (unsigned long long)line->lost);
	else if (line->gap)
		pxt_say(words, "nothing was recorded up to here: the trace was stopped");
	if (line->gap)
		return;
	if (line->deed == PXT_SWITCH) {
		if (!line->actor)
			pxt_say(words, "CPU %d has nothing to do", line->cpu);
		else
			pxt_say(words, "%s on CPU %d", line->actor->tid < 0 ? "may run" : "runs",
			    line->cpu);
		if (line->other)
			pxt_say(words, ", where %s ran", line->other->name);
		return;
	}
	pxt_say(words, "%s", line->text);
	if (line->deed == PXT_LOCK_WAIT && line->other)
		pxt_say(words, "  <- %s has it", line->other->name);
	else if (line->deed == PXT_LOCK_WAIT && line->actor == blame->actor && !line->known)
		pxt_say(words, "  <- who has it is not in the log");
}
