/* SPDX-License-Identifier: MIT */
/*
 * words.c - causes and the answer, in words; which is the main cause, and what is a priority inversion;
 * see words.h.
 */
#include "tools/why/words.h"

#include "tools/event/sysnames.h"
#include "tools/output/escape.h"
#include "tools/output/when.h"
#include "tools/why/saychain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pxt_say(struct pxt_words *words, const char *format, ...)
{
	size_t room = sizeof words->text - words->used;
	va_list args;

	va_start(args, format);
	int bytes = vsnprintf(words->text + words->used, room, format, args);
	va_end(args);
	if (bytes <= 0)
		return;
	if ((size_t)bytes < room) {
		words->used += (size_t)bytes;
		return;
	}
	/* Cut, but not within a character. */
	words->used = sizeof words->text - 1;
	while (words->used > 0 && ((unsigned char)words->text[words->used - 1] & 0xc0) == 0x80)
		words->used--;
	if (words->used > 0 && ((unsigned char)words->text[words->used - 1] & 0xc0) == 0xc0)
		words->used--;
	words->text[words->used] = '\0';
}

/* ---- Names ---- */

void pxt_say_name(struct pxt_words *words, const struct pxt_roles_book *book, uint32_t name,
    const struct pxt_key *key)
{
	char text[4 * TRACE_EVENT_NAME_MAX + 1] = "span";

	if (name != PXT_NO_NAME)
		(void)pxt_escape(
		    book->names[name], strlen(book->names[name]), text, sizeof text, NULL);
	pxt_say(words, "%s%s%s", text, key && key->is_set ? " " : "",
	    key && key->is_set ? key->label : "");
}

/* A lock of which system events tell is the variable that it lies in, or what was first done with it. */
static void say_system_lock(struct pxt_words *words, const struct pxt_roles_book *book,
    uint32_t name, const struct pxt_key *key, const struct pxt_log_address *self,
    const struct pxt_log_address *first)
{
	const char *text = pxt_places_variable(book->places, self);

	if (text) {
		pxt_say(words, "%s", text);
		return;
	}
	pxt_say_name(words, book, name, key);
	text = pxt_places_code(book->places, first);
	if (text)
		pxt_say(words, " (first used in %s)", text);
}

void pxt_say_lock(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_state_lock *lock)
{
	if (lock->of_system && lock->key.is_set) {
		say_system_lock(words, book, lock->name, &lock->key, &lock->self, &lock->first);
		return;
	}
	if (!lock->key.is_set)
		pxt_say(words, "the lock ");
	pxt_say_name(words, book, lock->name, &lock->key);
}

const char *pxt_word_had(const struct pxt_state_lock *lock)
{
	if (!lock->is_given)
		return "had";
	return lock->is_futex ? "woke" : "posted";
}

bool pxt_say_lock_short(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_state_lock *lock)
{
	const char *text = lock->of_system ? pxt_places_variable(book->places, &lock->self) : NULL;

	if (text)
		pxt_say(words, "%s", text);
	else if (lock->of_system)
		pxt_say_name(words, book, lock->name, &lock->key);
	else
		pxt_say_lock(words, book, lock);
	return text || !lock->of_system;
}

/* What a wait was for. */
static void say_late_lock(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_late *late)
{
	if (late->of_system && late->key.is_set)
		say_system_lock(words, book, late->name, &late->key, &late->self, &late->first);
	else
		pxt_say_name(words, book, late->name, &late->key);
}

static void say_mode(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_late *late)
{
	if (late->mode != PXT_NO_NAME)
		pxt_say(words, " (to %s)", book->names[late->mode]);
}

static void say_late_lock_short(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_late *late)
{
	const char *text = late->of_system ? pxt_places_variable(book->places, &late->self) : NULL;

	if (text)
		pxt_say(words, "%s", text);
	else
		pxt_say_name(words, book, late->name, &late->key);
	say_mode(words, book, late);
}

void pxt_say_span(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_blame *blame)
{
	const struct pxt_actor *actor = blame->actor;
	const char *name = blame->late.name != PXT_NO_NAME ? book->names[blame->late.name] : NULL;

	if (blame->late.kind != PXT_LATE_SPAN) {
		pxt_say(words, "%s, ", actor ? actor->name : "?");
		if (blame->late.kind == PXT_LATE_OFF)
			pxt_say(words, "off the CPU");
		else if (pxt_late_is_round(&blame->late))
			pxt_say(words, blame->late.kind == PXT_LATE_ROUND ? "a round" : "its wait");
		else
			say_late_lock_short(words, book, &blame->late);
		return;
	}
	/* Where a thread's jobs are called as the thread is, or the miss alone tells of the job. */
	if (!name || (actor && strcmp(actor->raw, name) == 0 && blame->late.key.is_set))
		pxt_say(words, "job %s", blame->late.key.is_set ? blame->late.key.label : "?");
	else
		pxt_say_name(words, book, blame->late.name, &blame->late.key);
	if (actor)
		pxt_say(words, " of %s", actor->name);
}

static void say_ns(struct pxt_words *words, int64_t ns)
{
	char text[24];

	pxt_duration(text, ns < 0 ? 0 : (uint64_t)ns);
	pxt_say(words, "%s", text);
}

/* ---- Causes ---- */

/* " and 2 more", who read as well. */
static void say_others(struct pxt_words *words, const struct pxt_cause_link *link)
{
	if (link->others > 0)
		pxt_say(words, " and %u more", link->others);
}

/* ", which waited for LOCK: HOLDER had it" for each further link. */
static void say_chain(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause *cause)
{
	for (unsigned i = 0; i < cause->links; i++) {
		const struct pxt_actor *holder = cause->chain[i].holder;

		pxt_say(words, i == 0 ? "waited for " : ", which waited for ");
		(void)pxt_say_lock_short(words, book, cause->chain[i].lock);
		if (!holder)
			continue;
		pxt_say(words, ": %s", holder->name);
		say_others(words, &cause->chain[i]);
		pxt_say(words, " %s it", pxt_word_had(cause->chain[i].lock));
	}
}

/* "was in read of descriptor 5", "was in pthread_cond_wait of queue_changed". */
static void say_call(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause *cause)
{
	const char *call = book->names[cause->call];
	uint64_t object = cause->object.address.value;

	pxt_say(words, "was in %s", call);
	if (pxt_sysnames_has_descriptor(call, object)) {
		pxt_say(words, " of descriptor %llu", (unsigned long long)object);
		return;
	}
	const char *variable = pxt_places_variable(book->places, &cause->object);
	if (variable)
		pxt_say(words, " of %s", variable);
}

static void say_blocked(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause *cause)
{
	if (cause->last != PXT_LAST_BLOCKED || cause->call == PXT_NO_NAME) {
		pxt_say(words, " and slept");
		return;
	}
	pxt_say(words, " and ");
	say_call(words, book, cause);
}

/* "in refill (cache.c:88)", where functions tell of themselves. */
static void say_function(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_cause *cause, const char *before)
{
	const char *function = pxt_places_code(book->places, &cause->function);

	if (function)
		pxt_say(words, "%s%s", before, function);
}

static const char *free_word(const struct pxt_cause *cause)
{
	const struct pxt_state_lock *lock = cause->chain[cause->links - 1].lock;

	if (!lock->is_given)
		return "nobody had it";
	return lock->is_futex ? "it was woken" : "it was posted";
}

static void say_last(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause *cause)
{
	switch (cause->last) {
	case PXT_LAST_READY:
		if (cause->runner)
			pxt_say(words, " and could not run: %s did", cause->runner->name);
		else
			pxt_say(words, " and could not run");
		break;
	case PXT_LAST_SLEPT:
	case PXT_LAST_BLOCKED:
		say_blocked(words, book, cause);
		break;
	case PXT_LAST_LOST:
		pxt_say(words, "; what it did is not known, events are missing");
		break;
	case PXT_LAST_UNKNOWN:
		pxt_say(words, ": who %s it is not in the log",
		    pxt_word_had(cause->chain[cause->links - 1].lock));
		break;
	case PXT_LAST_FREE:
		pxt_say(words, ": %s", free_word(cause));
		if (cause->runner)
			pxt_say(words, ", but %s ran", cause->runner->name);
		break;
	case PXT_LAST_DOUBT:
		pxt_say(words, ": who had it is not known, no event says that anybody did");
		if (cause->runner)
			pxt_say(words, "; %s ran", cause->runner->name);
		break;
	case PXT_LAST_DEADLOCK:
		pxt_say(words, ": a deadlock");
		break;
	case PXT_LAST_RAN:
		say_function(words, book, cause, " and was in ");
		break;
	case PXT_LAST_SEEN:
	case PXT_LAST_KINDS:
		break;
	}
}

static void say_own(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause *cause)
{
	pxt_say(words,
	    cause->exact ? "its own work" : "not recorded: own work, or a call that blocked");
	if (cause->inside != PXT_NO_NAME) {
		pxt_say(words, ", in ");
		pxt_say_name(words, book, cause->inside, NULL);
	}
	say_function(words, book, cause, ", in ");
	if (cause->with) {
		pxt_say(words, ", with ");
		(void)pxt_say_lock_short(words, book, cause->with);
	}
}

static void say_pending(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_cause *cause, uint32_t name)
{
	if (cause->inside == PXT_NO_NAME) {
		pxt_say(words, "released, not yet begun");
		if (cause->runner)
			pxt_say(words, ": %s ran", cause->runner->name);
		return;
	}
	pxt_say(words, "released, but its thread was still at ");
	if (cause->inside == name)
		pxt_say(words, "the one before");
	else
		pxt_say_name(words, book, cause->inside, NULL);
	if (cause->links > 0) {
		pxt_say(words, " and ");
		say_chain(words, book, cause);
	}
	say_last(words, book, cause);
}

void pxt_say_cause(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_blame *blame, const struct pxt_cause *cause)
{
	switch (cause->kind) {
	case PXT_CAUSE_OWN:
		say_own(words, book, cause);
		return;
	case PXT_CAUSE_PENDING:
		say_pending(words, book, cause, blame->late.name);
		return;
	case PXT_CAUSE_WAIT:
		say_chain(words, book, cause);
		say_last(words, book, cause);
		return;
	case PXT_CAUSE_PREEMPTED:
		if (cause->runner)
			pxt_say(words, "could run, but %s did", cause->runner->name);
		else
			pxt_say(words, "could run, but did not");
		return;
	case PXT_CAUSE_BLOCKED:
		if (cause->call == PXT_NO_NAME)
			pxt_say(words, "blocked");
		else
			say_call(words, book, cause);
		return;
	case PXT_CAUSE_SLEPT:
		pxt_say(words, "slept");
		return;
	case PXT_CAUSE_LOST:
		if (blame->lost > 0)
			pxt_say(words, "not known: %llu events were lost",
			    (unsigned long long)blame->lost);
		else
			pxt_say(words, "not known: nothing was recorded");
		return;
	case PXT_CAUSE_OTHER:
	case PXT_CAUSE_KINDS:
		pxt_say(words, "other things");
	}
}

bool pxt_is_inversion(const struct pxt_blame *blame, const struct pxt_cause *cause, bool *sure)
{
	const struct pxt_actor *runner = cause->runner;

	*sure = false;
	if (cause->kind != PXT_CAUSE_WAIT || cause->last != PXT_LAST_READY || !runner ||
	    runner->tid < 0)
		return false;
	for (unsigned i = 0; i < cause->links; i++)
		if (cause->chain[i].holder == runner)
			return false;
	*sure = blame->actor && blame->actor->has_prio && runner->has_prio;
	return !*sure || blame->actor->prio < runner->prio;
}

int64_t pxt_concluded_ns(const struct pxt_blame *blame)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < blame->cause_count; i++)
		if (blame->causes[i].runner && !blame->causes[i].exact)
			ns += blame->causes[i].ns;
	return ns;
}

/* ---- The answer ---- */

/* Whether two causes are told in one breath. */
static bool same_story(const struct pxt_cause *a, const struct pxt_cause *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == PXT_CAUSE_WAIT)
		return a->chain[0].lock == b->chain[0].lock &&
		       a->chain[0].holder == b->chain[0].holder;
	return a->kind != PXT_CAUSE_PREEMPTED || a->runner == b->runner;
}

static int64_t story_ns(const struct pxt_blame *blame, const struct pxt_cause *cause)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < blame->cause_count; i++)
		if (same_story(&blame->causes[i], cause))
			ns += blame->causes[i].ns;
	return ns;
}

/* By how much the span was longer than it should have been, as far as anybody can say. */
static int64_t excess_of(const struct pxt_setting *setting, const struct pxt_blame *blame)
{
	int64_t length = pxt_blame_length(blame);

	if (blame->late.has_late && blame->late.late_ns > 0 && blame->late.late_ns < length)
		return blame->late.late_ns;
	if (setting->spans > 1 && (int64_t)setting->median_ns < length)
		return length - (int64_t)setting->median_ns;
	return length;
}

const struct pxt_cause *pxt_main_cause(
    const struct pxt_setting *setting, const struct pxt_blame *blame, int64_t *ns)
{
	const struct pxt_cause *best = NULL;
	const struct pxt_cause *own = NULL;
	int64_t most = 0;

	for (unsigned i = 0; i < blame->cause_count; i++) {
		const struct pxt_cause *cause = &blame->causes[i];

		if (cause->kind == PXT_CAUSE_OWN) {
			own = own && own->ns >= cause->ns ? own : cause;
			continue;
		}
		int64_t story = story_ns(blame, cause);
		if (cause->ns > 0 &&
		    (!best || story > most || (story == most && cause->ns > best->ns))) {
			most = story;
			best = cause;
		}
	}
	/* What explains less than half of the excess does not explain it, unless nothing else does. */
	if (own && (!best || (most < excess_of(setting, blame) / 2 && story_ns(blame, own) > most)))
		best = own;
	*ns = best ? story_ns(blame, best) : 0;
	return best;
}

const struct pxt_cause *pxt_largest_cause(const struct pxt_blame *blame)
{
	const struct pxt_cause *best = NULL;
	int64_t most = 0;

	for (unsigned i = 0; i < blame->cause_count; i++) {
		const struct pxt_cause *cause = &blame->causes[i];
		int64_t story = story_ns(blame, cause);

		if (cause->ns > 0 &&
		    (!best || story > most || (story == most && cause->ns > best->ns))) {
			most = story;
			best = cause;
		}
	}
	return best;
}

/* ", taken in FUNCTION (FILE:LINE)". */
static void say_taken(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause_link *link)
{
	const char *place = pxt_places_code(book->places, &link->place);

	if (place && link->lock->is_given)
		pxt_say(words, " in %s", place);
	else if (place)
		pxt_say(words, ", %s in %s", link->given_back ? "given back" : "taken", place);
}

/* ", which HOLDER had, taken in FUNCTION (FILE:LINE)", or ", until THREAD posted it in FUNCTION". */
static void say_holder(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause_link *link)
{
	if (!link->holder)
		return;
	if (link->lock->is_given) {
		pxt_say(words, ", until %s %s it", link->holder->name, pxt_word_had(link->lock));
	} else {
		pxt_say(words, ", which %s", link->holder->name);
		say_others(words, link);
		pxt_say(words, " had");
	}
	if (link->lock->of_system)
		say_taken(words, book, link);
}

/* "; that one ran for 2.3 ms": what it did most of the time, where events tell. */
static void say_meanwhile(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause *cause)
{
	bool ran =
	    cause->last == PXT_LAST_RAN && (cause->exact || cause->function.address.value != 0);
	bool called = cause->last == PXT_LAST_BLOCKED && cause->call != PXT_NO_NAME;

	/* It was woken and had to wait for a CPU, or another one was faster. */
	if (cause->chain[0].lock->of_system && cause->last == PXT_LAST_FREE) {
		pxt_say(words, ": for ");
		say_ns(words, cause->ns);
		pxt_say(words, " %s", free_word(cause));
		if (cause->runner)
			pxt_say(words, ", but %s ran", cause->runner->name);
		return;
	}
	if (!cause->chain[0].lock->of_system || !(ran || called || cause->last == PXT_LAST_SLEPT)) {
		say_last(words, book, cause);
		return;
	}
	pxt_say(words, "; that one ");
	if (called)
		say_call(words, book, cause);
	else if (ran)
		pxt_say(words, cause->exact ? "ran" : "was");
	else
		pxt_say(words, "slept");
	if (ran)
		say_function(words, book, cause, " in ");
	pxt_say(words, " for ");
	say_ns(words, cause->ns);
}

/* ", which HOLDER had", and what that one did. */
static void say_holders(struct pxt_words *words, const struct pxt_setting *setting,
    const struct pxt_blame *blame, const struct pxt_cause *cause)
{
	bool sure;

	say_holder(words, setting->book, &cause->chain[0]);
	for (unsigned i = 1; i < cause->links; i++) {
		pxt_say(words, " while that one waited for ");
		pxt_say_lock(words, setting->book, cause->chain[i].lock);
		say_holder(words, setting->book, &cause->chain[i]);
	}
	if (cause->last == PXT_LAST_READY && cause->runner) {
		pxt_say(words, " and could not give back, because %s ran instead for ",
		    cause->runner->name);
		say_ns(words, cause->ns);
		if (pxt_is_inversion(blame, cause, &sure))
			pxt_say(words, ": a priority inversion");
		return;
	}
	say_meanwhile(words, setting->book, cause);
}

static void answer_wait(struct pxt_words *words, const struct pxt_setting *setting,
    const struct pxt_blame *blame, const struct pxt_cause *cause, int64_t ns)
{
	pxt_say(words, "it waited ");
	say_ns(words, ns);
	pxt_say(words, " for ");
	pxt_say_lock(words, setting->book, cause->chain[0].lock);
	say_holders(words, setting, blame, cause);
}

/* ", until WHO signalled it in FUNCTION (FILE:LINE)". */
static void say_signal(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_blame *blame, const struct pxt_cause *cause)
{
	const struct pxt_blame_signal *signal = &blame->signal;
	const char *place;

	if (cause->kind != PXT_CAUSE_BLOCKED || !signal->by ||
	    signal->condition != cause->object.address.value)
		return;
	pxt_say(words, ", until %s signalled it", signal->by->name);
	place = pxt_places_code(book->places, &signal->place);
	if (place)
		pxt_say(words, " in %s", place);
}

/* Whether the chain of wake-ups begins with this cause and leads further. */
static bool leads_further(const struct pxt_blame *blame, const struct pxt_cause *cause)
{
	const struct pxt_chain *chain = &blame->chain;

	if (chain->count == 0)
		return false;
	if (cause->kind == PXT_CAUSE_WAIT)
		return chain->links[0].kind == PXT_LINK_LOCK && chain->count > 2 &&
		       cause->chain[0].lock->of_system &&
		       cause->chain[0].lock == chain->links[0].stretch.lock;
	if (cause->kind == PXT_CAUSE_BLOCKED)
		return chain->links[0].kind == PXT_LINK_CALL &&
		       (chain->count > 1 || chain->links[0].timed_out);
	if (cause->kind == PXT_CAUSE_OWN)
		return chain->links[0].kind == PXT_LINK_RAN && chain->links[0].place_count > 0;
	return cause->kind == PXT_CAUSE_SLEPT && chain->links[0].kind <= PXT_LINK_STOPPED;
}

/*
 * What a thread did without an event.  With the scheduler's it is known that it ran; its CPU time says how much
 * of it was own work.  What it waited for in the rest, no event tells.
 */
static void answer_own(struct pxt_words *words, const struct pxt_setting *setting,
    const struct pxt_blame *blame, const struct pxt_cause *cause, int64_t ns)
{
	const struct pxt_late *late = &blame->late;

	if (!cause->exact && late->has_ran && late->ran_ns * 2 < ns) {
		pxt_say(words, "of ");
		say_ns(words, ns);
		pxt_say(words, " it ran for ");
		say_ns(words, late->ran_ns);
		pxt_say(words, " only, by its CPU time; what it waited for is not recorded");
	} else if (cause->exact || late->has_ran) {
		pxt_say(words, "its own work took ");
		say_ns(words, cause->exact ? ns : late->ran_ns);
	} else {
		pxt_say(words, "what it did for ");
		say_ns(words, ns);
		pxt_say(words, " is not recorded (own work, or a call that blocked)");
	}
	if (cause->inside != PXT_NO_NAME) {
		pxt_say(words, ", most of it in ");
		pxt_say_name(words, setting->book, cause->inside, NULL);
	}
	say_function(words, setting->book, cause,
	    cause->inside != PXT_NO_NAME ? ", in " : ", most of it in ");
}

static void answer_cause(struct pxt_words *words, const struct pxt_setting *setting,
    const struct pxt_blame *blame, const struct pxt_cause *cause, int64_t ns)
{
	if (leads_further(blame, cause)) {
		pxt_say_links(words, setting->book, &blame->chain, "it");
		return;
	}
	switch (cause->kind) {
	case PXT_CAUSE_WAIT:
		answer_wait(words, setting, blame, cause, ns);
		return;
	case PXT_CAUSE_PENDING:
		pxt_say(words, "it began only ");
		say_ns(words, ns);
		pxt_say(words, " after its release");
		if (cause->inside != PXT_NO_NAME) {
			pxt_say(words, ", because its thread was still at ");
			if (cause->inside == blame->late.name)
				pxt_say(words, "the one before");
			else
				pxt_say_name(words, setting->book, cause->inside, NULL);
			if (cause->links > 0) {
				pxt_say(words, " and ");
				say_chain(words, setting->book, cause);
			}
		} else if (cause->runner) {
			pxt_say(words, ", because %s ran", cause->runner->name);
		}
		return;
	case PXT_CAUSE_PREEMPTED:
		if (cause->runner)
			pxt_say(words, "%s ran instead of it for ", cause->runner->name);
		else
			pxt_say(words, "it could run and did not for ");
		say_ns(words, ns);
		return;
	case PXT_CAUSE_BLOCKED:
	case PXT_CAUSE_SLEPT:
		pxt_say(words, "it ");
		if (cause->kind == PXT_CAUSE_BLOCKED && cause->call != PXT_NO_NAME)
			say_call(words, setting->book, cause);
		else
			pxt_say(words, "slept");
		pxt_say(words, " for ");
		say_ns(words, ns);
		say_signal(words, setting->book, blame, cause);
		return;
	case PXT_CAUSE_LOST:
		pxt_say(words, "what it did for ");
		say_ns(words, ns);
		if (blame->lost > 0)
			pxt_say(words, " is not known, because %llu events were lost",
			    (unsigned long long)blame->lost);
		else
			pxt_say(words, " was not recorded");
		return;
	case PXT_CAUSE_OWN:
	case PXT_CAUSE_OTHER:
	case PXT_CAUSE_KINDS:
		answer_own(words, setting, blame, cause, ns);
	}
}

static void say_verb(
    struct pxt_words *words, const struct pxt_setting *setting, const struct pxt_blame *blame)
{
	const struct pxt_late *late = &blame->late;

	if (late->missed && late->has_late) {
		pxt_say(words, " was late by ");
		say_ns(words, late->late_ns);
		if (late->usual_ns == 0)
			return;
		pxt_say(words, late->measure == PXT_MEASURE_PERIOD ? ", by its period of "
		                                                   : ", by its deadline of ");
		say_ns(words, late->usual_ns);
		return;
	}
	if (late->missed)
		pxt_say(words, " missed its deadline");
	else if (late->unfinished)
		pxt_say(words, " has not ended after ");
	else
		pxt_say(words, " took ");
	if (late->missed && late->no_begin)
		return;
	if (late->missed)
		pxt_say(words, " after ");
	say_ns(words, pxt_blame_length(blame));
	if (setting->spans > 1 && !late->missed) {
		pxt_say(words, ", where ");
		say_ns(words, (int64_t)setting->median_ns);
		pxt_say(words, " is usual");
	}
}

/* A wait: who waited how long, and why. */
static void answer_of_wait(struct pxt_words *words, const struct pxt_setting *setting,
    const struct pxt_blame *blame, const struct pxt_cause *cause, int64_t ns)
{
	const struct pxt_late *late = &blame->late;
	bool told = late->kind == PXT_LATE_WAIT && cause && cause->kind == PXT_CAUSE_WAIT;

	if (told && leads_further(blame, cause)) {
		pxt_say_links(words, setting->book, &blame->chain, blame->actor->name);
		pxt_say(words, ".");
		return;
	}
	pxt_say(words, "%s %s ", blame->actor ? blame->actor->name : "A thread",
	    late->kind == PXT_LATE_OFF ? "was off the CPU for"
	    : late->unfinished         ? "has waited"
	                               : "waited");
	say_ns(words, pxt_blame_length(blame));
	if (late->kind == PXT_LATE_WAIT) {
		pxt_say(words, late->unfinished ? " without end for " : " for ");
		say_late_lock(words, setting->book, late);
		say_mode(words, setting->book, late);
	}
	if (told) {
		say_holders(words, setting, blame, cause);
	} else if (cause) {
		pxt_say(words, ": ");
		answer_cause(words, setting, blame, cause, ns);
	}
	pxt_say(words, ".");
	if (late->of_system && late->waits > 1) {
		pxt_say(words, " Waits for it: %llu, ", (unsigned long long)late->waits);
		say_ns(words, late->waits_ns);
		pxt_say(words, " in all.");
	}
}

void pxt_say_answer(
    struct pxt_words *words, const struct pxt_setting *setting, const struct pxt_blame *blame)
{
	int64_t ns;
	const struct pxt_cause *cause = pxt_main_cause(setting, blame, &ns);

	if (pxt_late_is_round(&blame->late)) {
		pxt_say_round(words, setting->book, blame);
		return;
	}
	if (blame->late.kind != PXT_LATE_SPAN) {
		answer_of_wait(words, setting, blame, cause, ns);
		return;
	}
	pxt_say_span(words, setting->book, blame);
	/* A sentence begins with a capital letter, but a name stays as it is. */
	if (strncmp(words->text, "job ", 4) == 0)
		*words->text = 'J';
	say_verb(words, setting, blame);
	if (blame->late.no_begin) {
		pxt_say(words, "; why, is not known: its begin is not in the log");
	} else if (cause) {
		pxt_say(words, ": ");
		answer_cause(words, setting, blame, cause, ns);
	}
	pxt_say(words, ".");
}

bool pxt_says_chain(const struct pxt_setting *setting, const struct pxt_blame *blame)
{
	int64_t ns;
	const struct pxt_cause *cause = pxt_main_cause(setting, blame, &ns);

	return pxt_late_is_round(&blame->late) || (cause && leads_further(blame, cause));
}

void pxt_say_help(
    struct pxt_words *words, const struct pxt_setting *setting, const struct pxt_blame *blame)
{
	int64_t ns;
	bool sure;
	const struct pxt_cause *cause = pxt_main_cause(setting, blame, &ns);

	if (pxt_late_is_round(&blame->late)) {
		if (pxt_chain_is_inversion(&blame->chain))
			pxt_say(words, "A mutex with PTHREAD_PRIO_INHERIT lets %s finish first.",
			    blame->chain.links[blame->chain.count - 1].actor->name);
		return;
	}
	if (cause && cause->kind == PXT_CAUSE_OWN && !cause->exact &&
	    !(blame->late.has_ran && blame->late.ran_ns * 2 >= ns))
		pxt_say(
		    words, "`pxtrace run` would tell: it records the scheduler, locks and calls.");
	if (!cause || cause->kind != PXT_CAUSE_WAIT)
		return;
	if (cause->last == PXT_LAST_DEADLOCK) {
		pxt_say(words, "Locks that are always taken in the same order cannot do that.");
		return;
	}
	if (!pxt_is_inversion(blame, cause, &sure))
		return;
	const struct pxt_actor *holder = cause->chain[cause->links - 1].holder;
	pxt_say(words, "A mutex with PTHREAD_PRIO_INHERIT lets %s finish first",
	    holder ? holder->name : "the holder");
	if (!sure)
		pxt_say(words, ", if %s is less urgent than %s", cause->runner->name,
		    blame->actor ? blame->actor->name : "this");
	pxt_say(words, ".");
}
