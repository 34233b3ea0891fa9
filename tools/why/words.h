/* SPDX-License-Identifier: MIT */
/*
 * words.h - what `pxtrace why` found, in words: phrases for the table and the one sentence that
 * answers the question.  Everything that comes from a log is escaped for the screen.
 */
#ifndef PXT_WORDS_H
#define PXT_WORDS_H

#include "tools/why/blame.h"

/*
 * What an answer leaves out so that it is four lines of a terminal: each level also what those before it do.
 * Tables and JSON have all of it.
 */
enum pxt_brief {
	PXT_BRIEF_NOT,
	PXT_BRIEF_PLACES, /* files and lines; who called, but where the chain ends */
	PXT_BRIEF_TIMES,  /* of a chain: times that are about what was told before */
	PXT_BRIEF_WAKERS, /* where somebody was who woke or had something */
	PXT_BRIEF_HOW,    /* from what something was inferred */
	PXT_BRIEF_MIDDLE, /* of a chain: what threads did between its first and its last */
	PXT_BRIEF_CALLERS, /* which function called, which other program ran, and less than half of a time */
	PXT_BRIEFS
};

/* A text that is put together; what does not fit is cut. */
struct pxt_words {
	size_t used;
	enum pxt_brief brief;
	int64_t told_ns; /* the latest time in a chain */
	bool at_end;     /* of a chain: at its last link, which is the cause */
	char text[1024];
};

__attribute__((format(printf, 2, 3))) void pxt_say(
    struct pxt_words *words, const char *format, ...);

void pxt_say_ns(struct pxt_words *words, int64_t ns);
/* @before and the function, with its file and line; nothing, and false, where no name is known. */
bool pxt_say_place(struct pxt_words *words, const struct pxt_roles_book *book, const char *before,
    const struct pxt_log_address *at);
/* ", called by FUNCTION", of the program's, where it is known who called what is there. */
void pxt_say_caller(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_log_address *at, const uint64_t *above);

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
/* What a wait was for. */
void pxt_say_late_lock(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_late *late);
/* " (to write)". */
void pxt_say_mode(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_late *late);

/* ---- Causes (saycause.c) ---- */

/* " of /var/lib/x.db", " from 127.0.0.1:5432": what @fd was in that call, or " of descriptor 5". */
void pxt_say_descriptor(struct pxt_words *words, const struct pxt_roles_book *book,
    const char *call, const struct pxt_log_address *at, uint64_t fd);
void pxt_say_cause(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_blame *blame, const struct pxt_cause *cause);
/* ---- Parts of causes, for the answer ---- */

/* Who ran instead: "indexer", "3 threads of make". */
void pxt_say_runners(
    struct pxt_words *words, const struct pxt_blame *blame, const struct pxt_actor *runner);

/* " and 2 more", who read as well. */
void pxt_say_others(struct pxt_words *words, const struct pxt_cause_link *link);
/* "waited for LOCK: HOLDER had it", ", which waited for LOCK ..." for each further link. */
void pxt_say_holders(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause *cause);
/* "was in read of descriptor 5", "was in pthread_cond_wait of queue_changed". */
void pxt_say_call(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause *cause);
/* What the last one of the chain did. */
void pxt_say_last(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_cause *cause);
/* What a deadlock is about, and what keeps it away. */
void pxt_say_deadlock_help(struct pxt_words *words, const struct pxt_cause *cause);
/* Nobody has what the last one waited for. */
const char *pxt_word_free(const struct pxt_cause *cause);

/* ---- The answer (sayanswer.c) ---- */

/* One sentence. */
void pxt_say_answer(
    struct pxt_words *words, const struct pxt_setting *setting, const struct pxt_blame *blame);
/* Whether the answer goes along the chain of wake-ups (chain.h). */
bool pxt_says_chain(const struct pxt_setting *setting, const struct pxt_blame *blame);
/* Whether the chain begins with what the answer names, be it that other words say the same. */
bool pxt_has_chain_of_answer(const struct pxt_setting *setting, const struct pxt_blame *blame);
/* What would help, one sentence; nothing where the log does not say. */
void pxt_say_help(
    struct pxt_words *words, const struct pxt_setting *setting, const struct pxt_blame *blame);

/* What most of the time went to, whether or not it explains that the span was late. */
const struct pxt_cause *pxt_largest_cause(const struct pxt_blame *blame);
/* The cause that the answer is about: that of the excess over what is usual. */
const struct pxt_cause *pxt_main_cause(
    const struct pxt_setting *setting, const struct pxt_blame *blame, int64_t *ns);
/* How many moments were concluded from the order of events, not told by a scheduler. */
int64_t pxt_concluded_ns(const struct pxt_blame *blame);

/* ---- The chain of a late round (saychain.c) ---- */

/* "read from a pipe", "futex_wait of screen_word". */
void pxt_say_wait(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_stretch *call);
/* A mutex of which no event tells that somebody had it. */
void pxt_say_mutex(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_stretch *call);
/* What one thread did: "waited 60 ms for table_mutex, which low had, taken in fill (cache.c:3)". */
void pxt_say_link(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link);
/* The links, from @subject to the end. */
void pxt_say_links(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_chain *chain, const char *subject);
/* What held up rounds of a thread, and whose doing it was. */
#define PXT_DELAY_THREADS 16u
struct pxt_delay {
	const struct pxt_link *link; /* of one of them */
	unsigned rounds;
	int64_t ns; /* in all */
	struct pxt_delay_thread {
		const struct pxt_actor *actor;
		unsigned rounds;
	} threads[PXT_DELAY_THREADS]; /* the most rounds first */
	unsigned thread_count;
	unsigned threads_beyond;
};
/* In a few words: "table_mutex, held by netsync". */
void pxt_say_reason(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_delay *reason);

#endif
