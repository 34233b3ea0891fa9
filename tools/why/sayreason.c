/* SPDX-License-Identifier: MIT */
/* sayreason.c - what held up late rounds, in words; see words.h. */
#include "tools/why/words.h"

#include "tools/read/source.h"

#include <trace_hooks_np.h>

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
