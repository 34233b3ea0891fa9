/* SPDX-License-Identifier: MIT */
/* saychain.c - the chain of a late round in words; see words.h. */
#include "tools/why/words.h"

#include "tools/event/event.h"
#include "tools/read/source.h"

#include <stdio.h>
#include <string.h>
#include <trace_hooks_np.h>

/* @before and the time, unless the answer has just told it. */
static void say_time(struct pxt_words *words, const char *before, int64_t ns)
{
	int64_t by = ns - words->told_ns;

	if (words->brief >= PXT_BRIEF_TIMES && (by < 0 ? -by : by) < words->told_ns / 10)
		return;
	pxt_say(words, "%s", before);
	pxt_say_ns(words, ns);
	words->told_ns = ns;
}

/* Where somebody else was: that is left out first. */
static void say_other_place(struct pxt_words *words, const struct pxt_roles_book *book,
    const char *before, const struct pxt_log_address *at)
{
	if (words->brief >= PXT_BRIEF_WAKERS)
		return;
	(void)pxt_say_place(words, book, before, at);
	if (words->brief < PXT_BRIEF_PLACES)
		pxt_say_caller(words, book, at, NULL);
}

/* Where the thread itself was: a helper that many functions use says less than who called it. */
static void say_own_place(struct pxt_words *words, const struct pxt_roles_book *book,
    const char *before, const struct pxt_log_address *at, const uint64_t *above)
{
	if (pxt_say_place(words, book, before, at) &&
	    (words->at_end || words->brief < PXT_BRIEF_PLACES))
		pxt_say_caller(words, book, at, above);
}

static void say_inference(struct pxt_words *words, const char *how)
{
	if (words->brief < PXT_BRIEF_HOW)
		pxt_say(words, " (an inference%s)", how);
	else
		pxt_say(words, " (inferred)");
}

/* ---- Calls ---- */

static const char *word_of(uint32_t call)
{
	const char *word = call == PXT_CALL_COND
	                       ? "pthread_cond_wait"
	                       : pxt_sysnames_word(POSIX_TRACE_CALL_ENTER_NP, "call", call);

	return word ? word : "a call";
}

/* " of descriptor 5", " of queue_changed". */
static void say_object(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_stretch *call)
{
	struct pxt_log_address object = call->place;
	const char *variable;

	if (pxt_sysnames_has_descriptor(word_of(call->call), call->object)) {
		pxt_say_descriptor(words, book, word_of(call->call), &object, call->object);
		return;
	}
	object.address.value = call->object;
	variable = call->object ? pxt_places_variable(book->places, &object) : NULL;
	if (variable)
		pxt_say(words, " of %s", variable);
}

void pxt_say_wait(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_stretch *call)
{
	pxt_say(words, "%s", word_of(call->call));
	say_object(words, book, call);
}

/* Waits that somebody has to end. */
static bool is_signalled(uint32_t call)
{
	return call == PXT_CALL_COND || call == POSIX_TRACE_CALL_SEM_WAIT_NP ||
	       call == POSIX_TRACE_CALL_FUTEX_WAIT_NP;
}

/* Which CPUs a thread may use, no event tells. */
static void say_bound(struct pxt_words *words, const struct pxt_link *link)
{
	if (link->bound_cpu >= 0)
		pxt_say(words, " on CPU %d, to which it seems to be bound: another one was free",
		    link->bound_cpu);
}

static void say_throttled(struct pxt_words *words, const struct pxt_actor *instead)
{
	pxt_say(words, " and was throttled: less urgent threads ran, as %s", instead->name);
}

static void say_ended(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link)
{
	if (link->stretch.open) {
		pxt_say(words, ", and the log ends in it");
		if (link->peer)
			pxt_say(words, " (mostly %s woke it)", link->peer->name);
	} else if (link->timed_out) {
		pxt_say(words, ", until it timed out: %s",
		    is_signalled(link->stretch.call) ? "nobody signalled it"
		    : link->stretch.asked_ns > 0     ? "nothing came"
		                                     : "nothing came within its limit");
		if (link->stretch.asked_ns > 0) {
			pxt_say(words, " within ");
			pxt_say_ns(words, link->stretch.asked_ns);
			/* It waited again as soon as its time was up. */
			if (link->stretch.end_ns - link->stretch.begin_ns >
			    2 * link->stretch.asked_ns)
				pxt_say(words, " each time");
		}
		if (link->peer)
			pxt_say(words,
			    is_signalled(link->stretch.call) ? " (mostly %s does)"
			                                     : " (mostly from %s)",
			    link->peer->name);
	} else if (link->peer) {
		pxt_say(words, ", until %s woke it", link->peer->name);
		if (link->inferred)
			say_inference(words, " from the order of events");
		say_other_place(words, book, " in ", &link->peer_place);
	}
	if (link->ready_ns * 10 > link->ns * (words->brief < PXT_BRIEF_CALLERS ? 3 : 5)) {
		pxt_say(words, "; for ");
		pxt_say_ns(words, link->ready_ns);
		pxt_say(words, " of it it could run");
		if (link->throttled)
			say_throttled(words, link->instead);
		else if (link->instead)
			pxt_say(words, ", but %s ran instead", link->instead->name);
		if (!link->throttled)
			say_bound(words, link);
	} else if (link->ran_ns * 2 > link->ns) {
		pxt_say(words, "; it ran there for ");
		pxt_say_ns(words, link->ran_ns);
	}
}

static void say_disk(struct pxt_words *words, const struct pxt_link *link)
{
	if (!pxt_link_has_disk(link))
		return;
	pxt_say(words, ", of it ");
	pxt_say_ns(words, link->disk_ns);
	pxt_say(words, " for the disk");
	if (link->disk_peer && words->brief < PXT_BRIEF_CALLERS)
		pxt_say(words, " (requests of %s)", link->disk_peer->name);
}

static void say_call(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link)
{
	struct pxt_log_address place = link->stretch.place;

	if (link->stretch.call == POSIX_TRACE_CALL_SLEEP_NP) {
		pxt_say(words, "slept");
	} else {
		pxt_say(words, "was in ");
		pxt_say_wait(words, book, &link->stretch);
	}
	say_time(words, " for ", link->ns);
	if (link->stretch.caller)
		place.address.value = link->stretch.caller;
	say_own_place(words, book, " in ", &place, link->stretch.above);
	say_disk(words, link);
	say_ended(words, book, link);
}

/* ---- Locks ---- */

#define TURNS 3u /* that are told by their names */

/* "load-1, load-2 and 2 more". */
static void say_turns(struct pxt_words *words, const struct pxt_link *link)
{
	unsigned named = link->turn_count > TURNS ? TURNS - 1 : link->turn_count;

	for (unsigned i = 0; i < named; i++)
		pxt_say(words, "%s%s",
		    i == 0                      ? ""
		    : i + 1 == link->turn_count ? " and "
		                                : ", ",
		    link->turns[i]->name);
	if (named < link->turn_count)
		pxt_say(words, " and %u more", link->turn_count - named);
}

void pxt_say_mutex(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_stretch *call)
{
	struct pxt_log_address object = call->place;
	const char *variable;

	object.address.value = call->object;
	variable = pxt_places_variable(book->places, &object);
	pxt_say(words, "%s", variable ? variable : "a mutex");
}

/* Not each reading of a free lock is an event: who read at the same time is not always known. */
static const char *had_by_several(const struct pxt_roles_book *book, const struct pxt_link *link)
{
	if (link->together)
		return " had together";
	return strcmp(book->names[link->stretch.lock->name], "rwlock") == 0
	           ? " had in turn or together"
	           : " had in turn";
}

static void say_lock(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link)
{
	pxt_say(words, link->stretch.open ? "has waited" : "waited");
	say_time(words, " ", link->ns);
	pxt_say(words, link->stretch.open ? " without end for " : " for ");
	if (link->stretch.lock)
		pxt_say_lock(words, book, link->stretch.lock);
	else
		pxt_say_mutex(words, book, &link->stretch);
	if (link->in_cond)
		pxt_say(words, " to come back from pthread_cond_wait");
	if (!link->peer) {
		pxt_say(words, "; who had it is not in the log");
		return;
	}
	pxt_say(words, ", which ");
	if (link->turn_count > 0)
		say_turns(words, link);
	else
		pxt_say(words, "%s", link->peer->name);
	pxt_say(words, "%s", link->turn_count > 0 ? had_by_several(book, link) : " had");
	say_other_place(words, book, ", taken in ", &link->peer_place);
}

static void say_tried(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link)
{
	pxt_say(words, "tried ");
	if (link->stretch.lock)
		pxt_say_lock(words, book, link->stretch.lock);
	else
		pxt_say_mutex(words, book, &link->stretch);
	pxt_say(words, " in vain");
	say_own_place(words, book, " in ", &link->stretch.place, NULL);
	pxt_say(words, " and slept in between");
	say_time(words, " for ", link->ns);
	pxt_say(words, ", while %s had it", link->peer->name);
	say_other_place(words, book, ", taken in ", &link->peer_place);
}

/* ---- Links ---- */

static bool is_same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/*
 * Of its places, a function that most of them are in; its first place stands for it.  *@called: that is one of those
 * of which most had the same caller.
 */
static const struct pxt_log_address *most_in(
    const struct pxt_roles_book *book, const struct pxt_link *link, bool *called)
{
	const struct pxt_log_address *at = link->places;
	const char *callers[PXT_LINK_PLACES];
	char names[PXT_LINK_PLACES][128];
	unsigned most = PXT_LINK_PLACES;

	for (unsigned i = 0; i < link->place_count; i++) {
		const char *place = pxt_places_code(book->places, &at[i]);

		/* Up to the file's name; an address that has no name says nothing. */
		(void)snprintf(names[i], sizeof names[i], "%s",
		    place && strncmp(place, "0x", 2) != 0 ? place : "");
		names[i][strcspn(names[i], "(")] = '\0';
		callers[i] = pxt_places_caller(book->places, &at[i], link->above[i]);
	}
	*called = false;
	for (unsigned i = 0; i < link->place_count && !*called; i++) {
		unsigned same = 0;
		unsigned by_same = 0;

		for (unsigned k = 0; k < link->place_count; k++) {
			bool is_same = strcmp(names[i], names[k]) == 0;

			same += is_same;
			by_same += is_same && is_same_text(callers[i], callers[k]);
		}
		if (!*names[i] || same * 2 <= link->place_count)
			continue;
		*called = by_same * 2 > same;
		most = *called || i < most ? i : most;
	}
	return most < link->place_count ? &at[most] : NULL;
}

#define FAULT_PLACES 3u /* fewer say nothing of where they were */

/* "page faults in new_buffer", "most of it in rebuild". */
static void say_where(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link)
{
	bool called;
	const struct pxt_log_address *at = most_in(book, link, &called);
	const char *before = ", most of it in ";

	if (pxt_link_has_faults(link)) {
		/* One record tells of many, at the place of the last one. */
		bool few = link->place_count < FAULT_PLACES && !link->faults_major;

		at = few ? NULL : at;
		pxt_say(words, ", with %s%llu page faults%s", few ? "some " : "",
		    (unsigned long long)link->faults,
		    link->faults_major && link->faults_ns == 0 ? " (some waited for a disk)" : "");
		if (link->faults_ns > 0) {
			pxt_say(words, " (some waited for a disk, ");
			pxt_say_ns(words, link->faults_ns);
			pxt_say(words, " in all)");
		}
		before = " in ";
	}
	if (at && called)
		say_own_place(words, book, before, at, link->above[at - link->places]);
	else if (at)
		(void)pxt_say_place(words, book, before, at);
}

/* Of a signal. */
static void say_sender(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link)
{
	if (!link->peer)
		return;
	pxt_say(words, link->kind == PXT_LINK_HANDLER ? ", sent by %s" : ", which %s sent",
	    link->peer->name);
	say_other_place(words, book, " in ", &link->peer_place);
}

static void say_stopped(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link)
{
	pxt_say(words, "was stopped by SIGSTOP");
	say_time(words, " for ", link->ns);
	say_sender(words, book, link);
}

/* It had used up the CPU time that it may have. */
static void say_cgroup(struct pxt_words *words, const struct pxt_link *link)
{
	pxt_say(words, ", but its cgroup was throttled: for ");
	pxt_say_ns(words, link->cgroup_ns);
	pxt_say(words, " within ");
	pxt_say_ns(words, link->cgroup_within_ns);
}

static void say_ran(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link)
{
	pxt_say(words, "ran");
	say_time(words, " for ", link->ran_ns);
	if (link->irq_ns > 0) {
		pxt_say(words, ", of it ");
		pxt_say_ns(words, link->irq_ns);
		pxt_say(words, " in interrupts");
	}
	if (link->khz > 0)
		pxt_say(words, ", at %llu of %llu MHz", (unsigned long long)(link->khz / 1000u),
		    (unsigned long long)(link->khz_most / 1000u));
	say_where(words, book, link);
	if (link->ready_ns * 5 < link->ran_ns || !(link->peer || link->cgroup_ns > 0))
		return;
	pxt_say(words, ", and could run for ");
	pxt_say_ns(words, link->ready_ns);
	if (link->cgroup_ns > 0) {
		say_cgroup(words, link);
		return;
	}
	pxt_say(words, " in which %s ran", link->peer->own ? link->peer->name : "another program");
	if (!link->peer->own && words->brief < PXT_BRIEF_CALLERS)
		pxt_say(words, " (%s)", link->peer->name);
}

static void say_not_run(struct pxt_words *words, const struct pxt_link *link)
{
	pxt_say(words, "could run");
	say_time(words, " for ", link->ns);
	if (link->cgroup_ns > 0) {
		say_cgroup(words, link);
		return;
	}
	if (!link->peer && link->among)
		pxt_say(words, ", but others ran instead, most of them %s", link->among->name);
	else if (!link->peer)
		pxt_say(words, " and did not");
	else if (link->kind == PXT_LINK_THROTTLED)
		say_throttled(words, link->peer);
	else
		pxt_say(words, ", but %s ran instead", link->peer->name);
	if (link->kind == PXT_LINK_READY && link->peer)
		say_bound(words, link);
}

/* Who ended a sleep in what no event tells of. */
static void say_woken(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link)
{
	if (!link->peer)
		return;
	pxt_say(words, ", until %s woke it", link->peer->name);
	if (link->inferred)
		say_inference(words, ": a lock of the C library's own, as malloc's");
	else
		say_other_place(words, book, " in ", &link->peer_place);
}

/* vfork() returns in the parent once the child runs another program, or ends. */
static void say_child(struct pxt_words *words, const struct pxt_link *link)
{
	pxt_say(words, "waited");
	say_time(words, " ", link->ns);
	pxt_say(words, " for its child %s to run its program (vfork)", link->peer->name);
}

void pxt_say_link(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link)
{
	switch (link->kind) {
	case PXT_LINK_LOCK:
		say_lock(words, book, link);
		return;
	case PXT_LINK_CALL:
		say_call(words, book, link);
		return;
	case PXT_LINK_TRIED:
		say_tried(words, book, link);
		return;
	case PXT_LINK_HANDLER:
		pxt_say(words, "was in the handler of signal %llu (%s)",
		    (unsigned long long)link->stretch.object,
		    pxt_ended_signal((int)link->stretch.object));
		say_time(words, " for ", link->ns);
		(void)pxt_say_place(words, book, ", ", &link->stretch.place);
		say_sender(words, book, link);
		return;
	case PXT_LINK_STOPPED:
		say_stopped(words, book, link);
		return;
	case PXT_LINK_RAN:
		say_ran(words, book, link);
		return;
	case PXT_LINK_READY:
	case PXT_LINK_THROTTLED:
		say_not_run(words, link);
		return;
	case PXT_LINK_SLEPT:
		if (link->is_child) {
			say_child(words, link);
			return;
		}
		pxt_say(words, "slept");
		say_time(words, " for ", link->ns);
		if (!link->faults_major)
			pxt_say(words, " in a call that is not recorded");
		say_where(words, book, link);
		say_woken(words, book, link);
		return;
	case PXT_LINK_ENDED:
		pxt_say(words, "had ended");
		return;
	case PXT_LINK_UNKNOWN:
		pxt_say(words, "did");
		say_time(words, " for ", link->ns);
		pxt_say(words, " what is not recorded: own work, or a call that blocked");
	}
}

/* "; so it went on over a, b to c": the threads after the first. */
static void say_middle(struct pxt_words *words, const struct pxt_chain *chain)
{
	for (unsigned i = 1; i + 1 < chain->count; i++)
		pxt_say(words, "%s%s", i == 1 ? "; so it went on over " : ", ",
		    chain->links[i].actor->name);
	pxt_say(words, " to %s", chain->links[chain->count - 1].actor->name);
}

void pxt_say_links(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_chain *chain, const char *subject)
{
	for (unsigned i = 0; i < chain->count; i++) {
		bool is_middle = i > 0 && i + 1 < chain->count;

		if (words->brief >= PXT_BRIEF_MIDDLE && is_middle)
			continue;
		if (words->brief >= PXT_BRIEF_MIDDLE && i > 1) {
			say_middle(words, chain);
			pxt_say(words, ", which ");
		} else {
			pxt_say(words, "%s%s ", i > 0 ? "; " : "",
			    i > 0 ? chain->links[i].actor->name : subject);
		}
		words->at_end = i + 1 == chain->count;
		pxt_say_link(words, book, &chain->links[i]);
	}
	if (chain->count > 0 && pxt_chain_is_inversion(chain))
		pxt_say(words, ": a priority inversion");
	if (chain->is_deadlock)
		pxt_say(words, ": a deadlock");
}
