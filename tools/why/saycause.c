/* SPDX-License-Identifier: MIT */
/* saycause.c - causes in words; which is the main cause; what held up late rounds; see words.h. */
#include "tools/why/words.h"

#include "tools/event/event.h"
#include "tools/read/source.h"

#include <string.h>
#include <trace_hooks_np.h>

/* ---- Causes ---- */

void pxt_say_others(struct pxt_words *words, const struct pxt_cause_link *link)
{
	if (link->others > 0)
		pxt_say(words, " and %u more", link->others);
}

void pxt_say_holders(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause *cause)
{
	for (unsigned i = 0; i < cause->links; i++) {
		const struct pxt_actor *holder = cause->chain[i].holder;

		pxt_say(words, i == 0 ? "waited for " : ", which waited for ");
		(void)pxt_say_lock_short(words, book, cause->chain[i].lock);
		if (!holder)
			continue;
		pxt_say(words, ": %s", holder->name);
		pxt_say_others(words, &cause->chain[i]);
		pxt_say(words, " %s it", pxt_word_had(cause->chain[i].lock));
	}
}

void pxt_say_descriptor(struct pxt_words *words, const struct pxt_roles_book *book,
    const char *call, const struct pxt_log_address *at, uint64_t fd)
{
	static const char *const froms[] = { "read", "recv" };
	static const char *const tos[] = { "write", "send", "connect", "sendfile" };
	const char *name = pxt_places_descriptor(book->places, at, fd);
	const char *word = "of";

	if (!name) {
		pxt_say(words, " of descriptor %llu", (unsigned long long)fd);
		return;
	}
	for (size_t i = 0; i < sizeof froms / sizeof *froms; i++)
		if (strcmp(call, froms[i]) == 0)
			word = "from";
	for (size_t i = 0; i < sizeof tos / sizeof *tos; i++)
		if (strcmp(call, tos[i]) == 0)
			word = "to";
	pxt_say(words, " %s %s", word, name);
}

void pxt_say_call(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause *cause)
{
	const char *call = book->names[cause->call];
	uint64_t object = cause->object.address.value;

	pxt_say(words, "was in %s", call);
	if (pxt_sysnames_has_descriptor(call, object)) {
		pxt_say_descriptor(words, book, call, &cause->object, object);
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
	pxt_say_call(words, book, cause);
}

const char *pxt_word_free(const struct pxt_cause *cause)
{
	const struct pxt_state_lock *lock = cause->chain[cause->links - 1].lock;

	if (!lock->is_given)
		return "nobody had it";
	return lock->is_futex ? "it was woken" : "it was posted";
}

void pxt_say_last(
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
	case PXT_LAST_ENDED:
		pxt_say(words, "; that one had ended");
		break;
	case PXT_LAST_LOST:
		pxt_say(words, "; what it did is not known, events are missing");
		break;
	case PXT_LAST_UNKNOWN:
		pxt_say(words, ": who %s it is not in the log",
		    pxt_word_had(cause->chain[cause->links - 1].lock));
		break;
	case PXT_LAST_FREE:
		pxt_say(words, ": %s", pxt_word_free(cause));
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
		(void)pxt_say_place(words, book, " and was in ", &cause->function);
		break;
	case PXT_LAST_SEEN:
	case PXT_LAST_KINDS:
		break;
	}
}

void pxt_say_deadlock_help(struct pxt_words *words, const struct pxt_cause *cause)
{
	for (unsigned i = 1; i < cause->links; i++) {
		if (cause->chain[i].lock == cause->chain[0].lock)
			continue;
		pxt_say(words, "Locks that are always taken in the same order cannot do that.");
		return;
	}
	pxt_say(words, "It asked for a lock that it had.");
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
	(void)pxt_say_place(words, book, ", in ", &cause->function);
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
		pxt_say_holders(words, book, cause);
	}
	pxt_say_last(words, book, cause);
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
		pxt_say_holders(words, book, cause);
		pxt_say_last(words, book, cause);
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
			pxt_say_call(words, book, cause);
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

int64_t pxt_concluded_ns(const struct pxt_blame *blame)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < blame->cause_count; i++)
		if (blame->causes[i].runner && !blame->causes[i].exact)
			ns += blame->causes[i].ns;
	return ns;
}

/* ---- The main cause ---- */

/* Whether two causes are told in one breath. */
static bool same_story(const struct pxt_cause *a, const struct pxt_cause *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == PXT_CAUSE_WAIT)
		return a->chain[0].lock == b->chain[0].lock &&
		       a->chain[0].holder == b->chain[0].holder;
	return a->kind != PXT_CAUSE_PREEMPTED || pxt_actor_is_with(a->runner, b->runner);
}

void pxt_say_runners(
    struct pxt_words *words, const struct pxt_blame *blame, const struct pxt_actor *runner)
{
	unsigned threads = 0;

	for (unsigned i = 0; i < blame->cause_count; i++)
		threads += blame->causes[i].kind == PXT_CAUSE_PREEMPTED &&
		           blame->causes[i].ns > 0 &&
		           pxt_actor_is_with(blame->causes[i].runner, runner);
	if (threads > 1)
		pxt_say(words, "%u threads of ", threads);
	pxt_say(words, "%s", runner->name);
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

/* The one whose story is longest, of two causes of it the longer one; @own: its own work is one, too. */
static const struct pxt_cause *longest(const struct pxt_blame *blame, bool own, int64_t *ns)
{
	const struct pxt_cause *best = NULL;

	*ns = 0;
	for (unsigned i = 0; i < blame->cause_count; i++) {
		const struct pxt_cause *cause = &blame->causes[i];
		int64_t story = story_ns(blame, cause);

		if ((own || cause->kind != PXT_CAUSE_OWN) && cause->ns > 0 &&
		    (!best || story > *ns || (story == *ns && cause->ns > best->ns))) {
			*ns = story;
			best = cause;
		}
	}
	return best;
}

const struct pxt_cause *pxt_main_cause(
    const struct pxt_setting *setting, const struct pxt_blame *blame, int64_t *ns)
{
	const struct pxt_cause *own = NULL;
	int64_t most;
	const struct pxt_cause *best = longest(blame, false, &most);

	for (unsigned i = 0; i < blame->cause_count; i++)
		if (blame->causes[i].kind == PXT_CAUSE_OWN &&
		    (!own || own->ns < blame->causes[i].ns))
			own = &blame->causes[i];
	/* What explains less than half of the excess does not explain it, unless nothing else does. */
	if (own && (!best || (most < excess_of(setting, blame) / 2 && story_ns(blame, own) > most)))
		best = own;
	*ns = best ? story_ns(blame, best) : 0;
	return best;
}

const struct pxt_cause *pxt_largest_cause(const struct pxt_blame *blame)
{
	int64_t ns;

	return longest(blame, true, &ns);
}

/* ---- What held up late rounds ---- */

#define REASON_THREADS 3u /* that are told by their names */

/* @before, and "clerk-2", or "clerk-2 (11), clerk-1 (10) and 4 more". */
static void say_threads(struct pxt_words *words, const char *before, const struct pxt_delay *reason)
{
	unsigned beyond = reason->threads_beyond;

	for (unsigned i = 0; i < reason->thread_count; i++) {
		const struct pxt_delay_thread *thread = &reason->threads[i];

		if (i >= REASON_THREADS) {
			beyond++;
			continue;
		}
		pxt_say(words, "%s%s", i > 0 ? ", " : before, thread->actor->name);
		if (reason->thread_count > 1)
			pxt_say(words, " (%u)", thread->rounds);
	}
	if (beyond > 0)
		pxt_say(words, " and %u more", beyond);
}

static void say_reason_cpu(struct pxt_words *words, const struct pxt_delay *reason)
{
	if (reason->thread_count == 0)
		pxt_say(words, "waiting for a CPU");
	else if (reason->thread_count == 1)
		pxt_say(words, "%s, which ran instead", reason->threads[0].actor->name);
	else
		say_threads(words, "others that ran instead: ", reason);
}

static void say_reason_call(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_delay *reason)
{
	const struct pxt_link *link = reason->link;

	if (link->stretch.call == POSIX_TRACE_CALL_SLEEP_NP) {
		pxt_say(words, "its sleep");
	} else {
		pxt_say_wait(words, book, &link->stretch);
	}
	if (link->timed_out)
		pxt_say(words, ", which timed out");
	else
		say_threads(words, ", ended by ", reason);
}

void pxt_say_reason(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_delay *reason)
{
	const struct pxt_link *link = reason->link;

	if (pxt_link_is_cpu(link)) {
		say_reason_cpu(words, reason);
		return;
	}
	switch (link->kind) {
	case PXT_LINK_LOCK:
	case PXT_LINK_TRIED:
		if (link->stretch.lock)
			(void)pxt_say_lock_short(words, book, link->stretch.lock);
		else
			pxt_say_mutex(words, book, &link->stretch);
		say_threads(words,
		    link->stretch.lock && link->stretch.lock->is_given ? ", given by "
		                                                       : ", held by ",
		    reason);
		return;
	case PXT_LINK_CALL:
		say_reason_call(words, book, reason);
		return;
	case PXT_LINK_HANDLER:
		pxt_say(words, "the handler of signal %llu (%s)",
		    (unsigned long long)link->stretch.object,
		    pxt_ended_signal((int)link->stretch.object));
		say_threads(words, ", sent by ", reason);
		return;
	case PXT_LINK_STOPPED:
		pxt_say(words, "SIGSTOP");
		say_threads(words, ", sent by ", reason);
		return;
	case PXT_LINK_RAN:
		pxt_say(words, pxt_link_has_faults(link) ? "page faults" : "what it ran itself");
		return;
	case PXT_LINK_THROTTLED:
		pxt_say(words, "throttling");
		return;
	case PXT_LINK_ENDED:
		pxt_say(words, "a thread that had ended");
		return;
	case PXT_LINK_SLEPT:
	case PXT_LINK_UNKNOWN:
		pxt_say(words, link->is_child   ? "children that had not run their program yet"
		               : link->inferred ? "a lock of the C library's own, by inference"
		                                : "what is not recorded");
		say_threads(words,
		    link->is_child   ? ": "
		    : link->inferred ? ", held by "
		                     : ", ended by ",
		    reason);
		return;
	case PXT_LINK_READY:
		return;
	}
}
