/* SPDX-License-Identifier: MIT */
/*
 * words.h - what `pxtrace why` found, in words: phrases for the table and the one sentence that
 * answers the question.  Everything that comes from a log is escaped for the screen.
 */
#ifndef PXT_WORDS_H
#define PXT_WORDS_H

#include "tools/why/blame.h"

/* A text that is put together; what does not fit is cut. */
struct pxt_words {
	size_t used;
	char text[1024];
};

__attribute__((format(printf, 2, 3))) void pxt_say(
    struct pxt_words *words, const char *format, ...);

/* What belongs to an explanation beside the span itself. */
struct pxt_setting {
	const struct pxt_roles_book *book;
	uint64_t median_ns; /* of spans of that name; 0: not known */
	uint64_t spans;     /* how many there were */
	uint64_t misses;    /* deadlines missed, in all */
	bool by_median;     /* chosen because it is longer than others */
};

/* "frame 7 of vision"; "job 7 of control" where span and thread have one name. */
void pxt_say_span(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_blame *blame);
void pxt_say_name(struct pxt_words *words, const struct pxt_roles_book *book, uint32_t name,
    const struct pxt_key *key);
void pxt_say_lock(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_state_lock *lock);
/* What a thread did with it that another one waited for: "had", of a semaphore "posted", of a futex "woke". */
const char *pxt_word_had(const struct pxt_state_lock *lock);
/* The same without where it was first used; false: then that is what tells it from others. */
bool pxt_say_lock_short(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_state_lock *lock);
void pxt_say_cause(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_blame *blame, const struct pxt_cause *cause);
/* The answer: one sentence. */
void pxt_say_answer(
    struct pxt_words *words, const struct pxt_setting *setting, const struct pxt_blame *blame);
/* Whether the answer goes along the chain of wake-ups (chain.h). */
bool pxt_says_chain(const struct pxt_setting *setting, const struct pxt_blame *blame);
/* What would help, one sentence; nothing where the log does not say. */
void pxt_say_help(
    struct pxt_words *words, const struct pxt_setting *setting, const struct pxt_blame *blame);

/*
 * Whether a more urgent thread waits here for a less urgent one that a third thread keeps from
 * running; *@sure when the priorities are known.
 */
bool pxt_is_inversion(const struct pxt_blame *blame, const struct pxt_cause *cause, bool *sure);
/* What most of the time went to, whether or not it explains that the span was late. */
const struct pxt_cause *pxt_largest_cause(const struct pxt_blame *blame);
/* The cause that the answer is about: that of the excess over what is usual. */
const struct pxt_cause *pxt_main_cause(
    const struct pxt_setting *setting, const struct pxt_blame *blame, int64_t *ns);
/* How many moments were concluded from the order of events, not told by a scheduler. */
int64_t pxt_concluded_ns(const struct pxt_blame *blame);

#endif
