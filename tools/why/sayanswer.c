/* SPDX-License-Identifier: MIT */
/* sayanswer.c - the answer, in one sentence; see words.h. */
#include "tools/why/words.h"

#include <string.h>
#include <trace_hooks_np.h>

/* ", taken in FUNCTION (FILE:LINE)". */
static void say_taken(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause_link *link)
{
	(void)pxt_say_place(words, book,
	    link->lock->is_given ? " in "
	    : link->given_back   ? ", given back in "
	                         : ", taken in ",
	    &link->place);
}

/* Of a lock that the program itself tells of, an address that is no function says less than its name. */
static bool has_place(const struct pxt_roles_book *book, const struct pxt_cause_link *link)
{
	const char *text = pxt_places_code(book->places, &link->place);

	return link->lock->of_system || (text && !strstr(text, "0x"));
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
		pxt_say_others(words, link);
		pxt_say(words, " had");
	}
	if (has_place(book, link))
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
		pxt_say_ns(words, cause->ns);
		pxt_say(words, " %s", pxt_word_free(cause));
		if (cause->runner)
			pxt_say(words, ", but %s ran", cause->runner->name);
		return;
	}
	if (!cause->chain[0].lock->of_system || !(ran || called || cause->last == PXT_LAST_SLEPT)) {
		pxt_say_last(words, book, cause);
		return;
	}
	pxt_say(words, "; that one ");
	if (called)
		pxt_say_call(words, book, cause);
	else if (ran)
		pxt_say(words, cause->exact ? "ran" : "was");
	else
		pxt_say(words, "slept");
	if (ran)
		(void)pxt_say_place(words, book, " in ", &cause->function);
	pxt_say(words, " for ");
	pxt_say_ns(words, cause->ns);
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
		pxt_say_ns(words, cause->ns);
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
	pxt_say_ns(words, ns);
	pxt_say(words, " for ");
	pxt_say_lock(words, setting->book, cause->chain[0].lock);
	say_holders(words, setting, blame, cause);
}

/* Whether it is known who signalled the condition that it waited for. */
static bool is_signalled(const struct pxt_blame *blame, const struct pxt_cause *cause)
{
	return cause->kind == PXT_CAUSE_BLOCKED && blame->signal.by &&
	       blame->signal.condition == cause->object.address.value;
}

/* ", until WHO signalled it in FUNCTION (FILE:LINE)". */
static void say_signal(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_blame *blame, const struct pxt_cause *cause)
{
	if (!is_signalled(blame, cause))
		return;
	pxt_say(words, ", until %s signalled it", blame->signal.by->name);
	(void)pxt_say_place(words, book, " in ", &blame->signal.place);
}

/* Who had the lock, or posted the semaphore, was held up itself, which the chain tells better. */
static bool wait_leads_further(const struct pxt_blame *blame, const struct pxt_cause *cause)
{
	const struct pxt_chain *chain = &blame->chain;
	const struct pxt_link *first = &chain->links[0];
	const struct pxt_state_lock *lock = cause->chain[0].lock;

	if (!lock->of_system || chain->count < 2)
		return false;
	if (first->kind == PXT_LINK_CALL)
		return blame->late.kind == PXT_LATE_SPAN && lock->is_given &&
		       first->stretch.object == lock->key.value;
	return first->kind == PXT_LINK_LOCK && first->stretch.lock == lock &&
	       (chain->count > 2 || chain->links[1].kind == PXT_LINK_CALL ||
	           (cause->runner && !cause->runner->own));
}

/* Another program ran instead, but the thread wanted the CPU for unusually much, or waited meanwhile. */
static bool preempted_leads_further(
    const struct pxt_setting *setting, const struct pxt_chain *chain, const struct pxt_cause *cause)
{
	const struct pxt_link *first = &chain->links[0];

	if (!cause->runner || cause->runner->own)
		return false;
	if (first->kind == PXT_LINK_RAN)
		return setting->spans > 1 && first->ran_ns > 2 * (int64_t)setting->median_ns;
	return first->kind <= PXT_LINK_HANDLER;
}

/* Whether the chain of wake-ups begins with this cause and leads further. */
static bool leads_further(
    const struct pxt_setting *setting, const struct pxt_blame *blame, const struct pxt_cause *cause)
{
	const struct pxt_chain *chain = &blame->chain;
	const struct pxt_link *first = &chain->links[0];

	if (chain->count == 0 || (cause->kind == PXT_CAUSE_PENDING) != pxt_blame_began_late(blame))
		return false;
	if (cause->kind == PXT_CAUSE_PENDING)
		return cause->inside == PXT_NO_NAME && !cause->runner &&
		       first->kind <= PXT_LINK_STOPPED &&
		       first->stretch.call != POSIX_TRACE_CALL_SLEEP_NP;
	if (cause->kind == PXT_CAUSE_WAIT)
		return wait_leads_further(blame, cause);
	if (cause->kind == PXT_CAUSE_PREEMPTED)
		return preempted_leads_further(setting, chain, cause);
	if (cause->kind == PXT_CAUSE_BLOCKED)
		return first->kind == PXT_LINK_TRIED || first->kind == PXT_LINK_HANDLER ||
		       (first->kind == PXT_LINK_LOCK && first->in_cond) ||
		       (first->kind == PXT_LINK_CALL &&
		           (chain->count > 1 || first->timed_out || !is_signalled(blame, cause)));
	if (cause->kind == PXT_CAUSE_OWN)
		return first->kind == PXT_LINK_RAN && first->place_count > 0;
	return cause->kind == PXT_CAUSE_SLEPT &&
	       (first->kind <= PXT_LINK_STOPPED || (first->kind == PXT_LINK_SLEPT && first->peer));
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
		pxt_say_ns(words, ns);
		pxt_say(words, " it ran for ");
		pxt_say_ns(words, late->ran_ns);
		pxt_say(words, " only, by its CPU time; what it waited for is not recorded");
	} else if (cause->exact || late->has_ran) {
		pxt_say(words, "its own work took ");
		pxt_say_ns(words, cause->exact ? ns : late->ran_ns);
	} else {
		pxt_say(words, "what it did for ");
		pxt_say_ns(words, ns);
		pxt_say(words, " is not recorded (own work, or a call that blocked)");
	}
	if (cause->inside != PXT_NO_NAME) {
		pxt_say(words, ", most of it in ");
		pxt_say_name(words, setting->book, cause->inside, NULL);
	}
	(void)pxt_say_place(words, setting->book,
	    cause->inside != PXT_NO_NAME ? ", in " : ", most of it in ", &cause->function);
}

static void answer_cause(struct pxt_words *words, const struct pxt_setting *setting,
    const struct pxt_blame *blame, const struct pxt_cause *cause, int64_t ns)
{
	if (leads_further(setting, blame, cause)) {
		if (cause->kind == PXT_CAUSE_PENDING) {
			pxt_say(words, "it began only ");
			pxt_say_ns(words, ns);
			pxt_say(words, " after its release: ");
		}
		pxt_say_links(words, setting->book, &blame->chain, "it");
		return;
	}
	switch (cause->kind) {
	case PXT_CAUSE_WAIT:
		answer_wait(words, setting, blame, cause, ns);
		return;
	case PXT_CAUSE_PENDING:
		pxt_say(words, "it began only ");
		pxt_say_ns(words, ns);
		pxt_say(words, " after its release");
		if (cause->inside != PXT_NO_NAME) {
			pxt_say(words, ", because its thread was still at ");
			if (cause->inside == blame->late.name)
				pxt_say(words, "the one before");
			else
				pxt_say_name(words, setting->book, cause->inside, NULL);
			if (cause->links > 0) {
				pxt_say(words, " and ");
				pxt_say_holders(words, setting->book, cause);
			}
		} else if (cause->runner) {
			pxt_say(words, ", because %s ran", cause->runner->name);
		} else if (!cause->exact) {
			pxt_say(words, "; what it waited for is not recorded");
		}
		return;
	case PXT_CAUSE_PREEMPTED:
		if (cause->runner) {
			pxt_say_runners(words, blame, cause->runner);
			pxt_say(words, " ran instead of it for ");
		} else {
			pxt_say(words, "it could run and did not for ");
		}
		pxt_say_ns(words, ns);
		return;
	case PXT_CAUSE_BLOCKED:
	case PXT_CAUSE_SLEPT:
		pxt_say(words, "it ");
		if (cause->kind == PXT_CAUSE_BLOCKED && cause->call != PXT_NO_NAME)
			pxt_say_call(words, setting->book, cause);
		else
			pxt_say(words, "slept");
		pxt_say(words, " for ");
		pxt_say_ns(words, ns);
		say_signal(words, setting->book, blame, cause);
		return;
	case PXT_CAUSE_LOST:
		pxt_say(words, "what it did for ");
		pxt_say_ns(words, ns);
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
		pxt_say_ns(words, late->late_ns);
		if (late->usual_ns == 0)
			return;
		pxt_say(words, late->measure == PXT_MEASURE_PERIOD ? ", by its period of "
		                                                   : ", by its deadline of ");
		pxt_say_ns(words, late->usual_ns);
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
	pxt_say_ns(words, pxt_blame_length(blame));
	if (setting->spans > 1 && !late->missed) {
		pxt_say(words, ", where ");
		pxt_say_ns(words, (int64_t)setting->median_ns);
		pxt_say(words, " is usual");
	}
}

static void say_wait(
    struct pxt_words *words, const struct pxt_setting *setting, const struct pxt_blame *blame)
{
	const struct pxt_late *late = &blame->late;

	pxt_say(words, "%s %s ", blame->actor ? blame->actor->name : "A thread",
	    late->kind == PXT_LATE_OFF ? "was off the CPU for"
	    : late->unfinished         ? "has waited"
	                               : "waited");
	pxt_say_ns(words, pxt_blame_length(blame));
	if (late->kind != PXT_LATE_WAIT)
		return;
	pxt_say(words, late->unfinished ? " without end for " : " for ");
	pxt_say_late_lock(words, setting->book, late);
	pxt_say_mode(words, setting->book, late);
}

/* A wait: who waited how long, and why. */
static void answer_of_wait(struct pxt_words *words, const struct pxt_setting *setting,
    const struct pxt_blame *blame, const struct pxt_cause *cause, int64_t ns)
{
	const struct pxt_late *late = &blame->late;
	bool told = late->kind == PXT_LATE_WAIT && cause && cause->kind == PXT_CAUSE_WAIT;

	if (told && leads_further(setting, blame, cause)) {
		pxt_say_links(words, setting->book, &blame->chain, blame->actor->name);
	} else {
		say_wait(words, setting, blame);
		if (told) {
			say_holders(words, setting, blame, cause);
		} else if (cause) {
			pxt_say(words, ": ");
			answer_cause(words, setting, blame, cause, ns);
		}
	}
	pxt_say(words, ".");
	if (late->of_system && late->waits > 1) {
		pxt_say(words, " Waits for it: %llu, ", (unsigned long long)late->waits);
		pxt_say_ns(words, late->waits_ns);
		pxt_say(words, " in all.");
	}
}

/* ---- Rounds ---- */

/* By what it was late: "where 10.0 ms is usual (7 of 250)". */
static void say_measure(struct pxt_words *words, const struct pxt_late *late)
{
	static const char *const before[PXT_MEASURES] = { [PXT_MEASURE_DATE] =
		                                              "its timer was due after " };
	static const char *const behind[PXT_MEASURES] = { [PXT_MEASURE_USUAL] = " is usual",
		[PXT_MEASURE_ASKED] = " was asked for",
		[PXT_MEASURE_DATE] = "",
		[PXT_MEASURE_PERIOD] = " is its period",
		[PXT_MEASURE_DEADLINE] = " is its deadline" };

	pxt_say(words, "where %s", before[late->measure] ? before[late->measure] : "");
	pxt_say_ns(words, late->usual_ns);
	pxt_say(words, "%s", behind[late->measure]);
	if (late->of > 0)
		pxt_say(words, " (%llu of %llu)", (unsigned long long)late->late_count,
		    (unsigned long long)late->of);
}

static void say_round(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_blame *blame)
{
	const struct pxt_late *late = &blame->late;
	const struct pxt_chain *chain = &blame->chain;
	const char *name = blame->actor ? blame->actor->name : "A thread";

	if (late->kind == PXT_LATE_ROUND) {
		pxt_say(words, "%s took ", name);
		pxt_say_ns(words, late->end_ns - late->begin_ns);
		words->told_ns = late->end_ns - late->begin_ns;
		pxt_say(words, " for a round, ");
		say_measure(words, late);
		pxt_say(words, ": ");
		pxt_say_links(words, book, chain, "it");
	} else {
		pxt_say_links(words, book, chain, name);
		/* By a limit that the user set it is late whatever is usual. */
		if (late->usual_ns > 0 || late->of > 0) {
			pxt_say(words, ", ");
			say_measure(words, late);
		}
	}
	pxt_say(words, ".");
}

/* ---- The sentence ---- */

void pxt_say_answer(
    struct pxt_words *words, const struct pxt_setting *setting, const struct pxt_blame *blame)
{
	int64_t ns;
	const struct pxt_cause *cause = pxt_main_cause(setting, blame, &ns);

	if (pxt_late_is_round(&blame->late)) {
		say_round(words, setting->book, blame);
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

	return pxt_late_is_round(&blame->late) || (cause && leads_further(setting, blame, cause));
}

/* Whether a thread that does what the link says has lost its time by that cause. */
static bool is_of_cause(const struct pxt_link *link, const struct pxt_cause *cause)
{
	switch (cause->kind) {
	case PXT_CAUSE_WAIT:
		return link->kind == PXT_LINK_LOCK && link->stretch.lock == cause->chain[0].lock;
	case PXT_CAUSE_PREEMPTED:
		return link->kind == PXT_LINK_READY || link->kind == PXT_LINK_THROTTLED;
	case PXT_CAUSE_BLOCKED:
	case PXT_CAUSE_SLEPT:
		return link->kind == PXT_LINK_CALL || link->kind == PXT_LINK_STOPPED ||
		       link->kind == PXT_LINK_SLEPT;
	case PXT_CAUSE_OWN:
		return link->kind == PXT_LINK_RAN;
	case PXT_CAUSE_PENDING:
	case PXT_CAUSE_LOST:
	case PXT_CAUSE_OTHER:
	case PXT_CAUSE_KINDS:
		break;
	}
	return false;
}

bool pxt_has_chain_of_answer(const struct pxt_setting *setting, const struct pxt_blame *blame)
{
	int64_t ns;
	const struct pxt_cause *cause = pxt_main_cause(setting, blame, &ns);

	return pxt_says_chain(setting, blame) ||
	       (cause && blame->chain.count > 0 && is_of_cause(&blame->chain.links[0], cause));
}

static const char *lending_mutex(const struct pxt_setting *setting)
{
	return setting->book->own_kernel ? "A mutex with priority inheritance"
	                                 : "A mutex with PTHREAD_PRIO_INHERIT";
}

void pxt_say_help(
    struct pxt_words *words, const struct pxt_setting *setting, const struct pxt_blame *blame)
{
	int64_t ns;
	bool sure;
	const struct pxt_cause *cause = pxt_main_cause(setting, blame, &ns);

	if (pxt_late_is_round(&blame->late)) {
		if (pxt_chain_is_inversion(&blame->chain))
			pxt_say(words, "%s lets %s finish first.", lending_mutex(setting),
			    blame->chain.links[blame->chain.count - 1].actor->name);
		return;
	}
	if (cause && !cause->exact && !leads_further(setting, blame, cause) &&
	    ((cause->kind == PXT_CAUSE_OWN &&
	         !(blame->late.has_ran && blame->late.ran_ns * 2 >= ns)) ||
	        (cause->kind == PXT_CAUSE_PENDING && !cause->runner &&
	            cause->inside == PXT_NO_NAME)))
		pxt_say(
		    words, "`pxtrace run` would tell: it records the scheduler, locks and calls.");
	if (!cause || cause->kind != PXT_CAUSE_WAIT)
		return;
	if (cause->last == PXT_LAST_DEADLOCK)
		pxt_say_deadlock_help(words, cause);
	if (cause->last == PXT_LAST_ENDED && !cause->chain[cause->links - 1].lock->is_given)
		pxt_say(words, "Nobody else can give it back.");
	if (cause->last == PXT_LAST_DEADLOCK || cause->last == PXT_LAST_ENDED)
		return;
	if (!pxt_is_inversion(blame, cause, &sure))
		return;
	const struct pxt_actor *holder = cause->chain[cause->links - 1].holder;
	pxt_say(words, "%s lets %s finish first", lending_mutex(setting),
	    holder ? holder->name : "the holder");
	if (!sure)
		pxt_say(words, ", if %s is less urgent than %s", cause->runner->name,
		    blame->actor ? blame->actor->name : "this");
	pxt_say(words, ".");
}
