/* SPDX-License-Identifier: MIT */
/*
 * blame.h - where the time of a late span went: the second pass over the logs.
 *
 * Every moment of a span, from its release to its end, has exactly one cause; the causes add up to
 * its length, to the nanosecond.
 *
 * Bounded: for each of at most PXT_LATE_MAX spans PXT_CAUSES_MAX causes (what comes beyond is one
 * cause "other"), PXT_OVERLAPS_MAX spans of others by thread and name, PXT_LINES_MAX lines of the
 * time line (the middle is left out and counted): 1 MiB a span.
 */
#ifndef PXT_BLAME_H
#define PXT_BLAME_H

#include "tools/event/event.h"
#include "tools/why/chain.h"
#include "tools/why/late.h"

#define PXT_CAUSES_MAX   256u
#define PXT_OVERLAPS_MAX 64u
#define PXT_LINES_MAX    4096u
#define PXT_CHAIN_MAX    8u

/* What the thread itself did. */
enum pxt_cause_kind {
	PXT_CAUSE_OWN,
	PXT_CAUSE_PENDING,   /* released, not yet begun */
	PXT_CAUSE_WAIT,      /* for a lock */
	PXT_CAUSE_PREEMPTED, /* it could run, another one did */
	PXT_CAUSE_BLOCKED,   /* between a block and a wake event */
	PXT_CAUSE_SLEPT,     /* the scheduler says so */
	PXT_CAUSE_LOST,      /* events are missing: nobody knows */
	PXT_CAUSE_OTHER,     /* beyond PXT_CAUSES_MAX */
	PXT_CAUSE_KINDS
};

/* What the last one of the chain of holders did; PENDING: the thread itself. */
enum pxt_last {
	PXT_LAST_RAN,
	PXT_LAST_READY,   /* @runner ran instead */
	PXT_LAST_SLEPT,   /* the scheduler says so */
	PXT_LAST_BLOCKED, /* between a block and a wake event */
	PXT_LAST_ENDED,   /* it had ended; the scheduler says so */
	PXT_LAST_LOST,    /* nobody knows */
	PXT_LAST_UNKNOWN, /* who has the lock is not in the log */
	PXT_LAST_SEEN,    /* who has it was seen when it gave it back */
	PXT_LAST_FREE,    /* nobody has the lock any more */
	PXT_LAST_DOUBT, /* nobody had it, as far as events say, when it was asked for: why wait? */
	PXT_LAST_DEADLOCK, /* the chain comes back */
	PXT_LAST_KINDS
};

/* A lock that is waited for, and who has it. */
struct pxt_cause_link {
	const struct pxt_state_lock *lock;
	struct pxt_actor *holder; /* NULL: see @last */
	unsigned others;          /* how many have it, too: they read */
	/* not compared: */
	int64_t since_ns;             /* when it got it; 0: not seen */
	struct pxt_log_address place; /* where in the program, ... */
	bool given_back; /* ... when it gave it back: no event told of the other place */
};

struct pxt_cause {
	enum pxt_cause_kind kind;
	/*
	 * OWN: the innermost span within, PXT_NO_NAME: the span itself.  PENDING: what the thread was still
	 * busy with; the chain is that one's.
	 */
	uint32_t inside;
	const struct pxt_state_lock *with; /* OWN: the newest lock that it has */
	unsigned links;
	struct pxt_cause_link chain[PXT_CHAIN_MAX];
	enum pxt_last last;
	/* BLOCKED: in which call of the C library the last one is, or PXT_NO_NAME, and what it is about */
	uint32_t call;
	struct pxt_log_address object;
	/* OWN, or the last one ran: the innermost function that it is in, where events tell; value 0: none. */
	struct pxt_log_address function;
	struct pxt_actor *runner; /* who ran instead of the last one */
	bool exact;               /* the scheduler says so */
	/* not compared: */
	bool sealed;
	bool touched;
	int64_t ns;
	int64_t recent_ns; /* of it, since the log's last event */
};

struct pxt_overlap {
	const struct pxt_actor *actor;
	uint32_t name;
	struct pxt_key key; /* of the longest */
	int64_t longest_ns;
	int64_t ns;
	uint64_t count;
};

#define PXT_LINE_TEXT 96u

struct pxt_blame_line {
	int64_t ns;
	enum pxt_deed deed;            /* PXT_DEEDS: an event without role */
	const struct pxt_actor *actor; /* SWITCH: who runs now, NULL: nobody */
	const struct pxt_actor *other; /* WAIT: who has the lock; SWITCH: who ran */
	const struct pxt_state_lock *lock;
	bool known; /* WAIT: whether it is known who has the lock */
	bool gap;   /* no event: some are missing */
	uint64_t lost;
	int cpu;
	struct pxt_key key;
	char text[PXT_LINE_TEXT]; /* of the event: its name and fields, escaped */
};

struct pxt_blame {
	struct pxt_late late;
	const struct pxt_actor *actor; /* NULL until its first event */
	unsigned source;               /* its log, once @actor is known */
	bool over;
	struct pxt_cause causes[PXT_CAUSES_MAX];
	unsigned cause_count;
	unsigned last_cause;
	struct pxt_overlap overlaps[PXT_OVERLAPS_MAX];
	unsigned overlap_count;
	uint64_t overlaps_beyond;
	struct pxt_blame_line *lines; /* PXT_LINES_MAX */
	uint64_t line_count;          /* all that there were */
	/* Of a wait for a lock: where it was asked for, and who called, innermost first. */
	struct pxt_log_address asked_in;
	struct pxt_log_address callers[PXT_CALLERS_MAX];
	unsigned caller_count;
	/* The last signal to a condition that it waited for: who gave it, and where. */
	struct pxt_blame_signal {
		const struct pxt_actor *by; /* NULL: none */
		uint64_t condition;
		struct pxt_log_address place;
	} signal;
	struct pxt_chain chain; /* of a round, or of the longer part of a span */
	uint64_t lost;          /* events, inside */
	unsigned gaps;
};

/* A late round of a thread, and what held it up. */
struct pxt_followed {
	const struct pxt_actor *actor;
	struct pxt_chain chain;
	int64_t begin_ns;
	int64_t own_ns;    /* the excess, less most of what other programs caused, ... */
	int64_t inside_ns; /* ... or all of it */
};

struct pxt_blames {
	struct pxt_reader *reader;
	struct pxt_state *state;
	struct pxt_history history;
	struct pxt_blame list[PXT_LATE_MAX];
	unsigned count;
	unsigned finished;
	/* All late rounds that are known, of all threads that may be explained. */
	struct pxt_followed *followed;
	unsigned followed_count;
	int64_t now_ns;
};

/* Explains the first @count of what was found; the results live until pxt_blames_free(). */
void pxt_blames_read(struct pxt_blames *blames, struct pxt_reader *reader,
    struct pxt_roles_book *book, const struct pxt_late_search *search, unsigned count);
void pxt_blames_free(struct pxt_blames *blames);

/* ---- Which one comes first (choose_round.c) ---- */

/* Its chain is known: what it counts. */
void pxt_choose_round_weigh(struct pxt_followed *followed, const struct pxt_late_round *round);
void pxt_choose_round_first(struct pxt_blames *blames, const struct pxt_late_search *search);

/* ---- Causes (causes.c) ---- */

/* The cause of the time that begins at @ns and holds no event. */
struct pxt_cause pxt_causes_of(
    const struct pxt_state *state, const struct pxt_blame *blame, int64_t ns);
/* So much more time has this cause. */
void pxt_causes_add(struct pxt_blame *blame, const struct pxt_cause *cause, int64_t ns);
/*
 * An event of the span's log: what was said since the one before is final, or, when events between
 * the two are missing, void.
 */
void pxt_causes_settle(struct pxt_blame *blame, bool gap);
/*
 * Whether a more urgent thread waits here for a less urgent one that a third thread keeps from
 * running; *@sure when the priorities are known.
 */
bool pxt_is_inversion(const struct pxt_blame *blame, const struct pxt_cause *cause, bool *sure);
/* Whether a thread in between keeps a more urgent one from what a less urgent one has. */
bool pxt_chain_is_inversion(const struct pxt_chain *chain);

/* The span's length: what the causes add up to. */
static inline int64_t pxt_blame_length(const struct pxt_blame *blame)
{
	return blame->late.end_ns - blame->late.release_ns;
}
/* It was released for longer than it then took. */
static inline bool pxt_blame_began_late(const struct pxt_blame *blame)
{
	return blame->late.begin_ns - blame->late.release_ns >
	       blame->late.end_ns - blame->late.begin_ns;
}
/* What found no place in memory, in one of both passes. */
static inline uint64_t pxt_blames_beyond(
    const struct pxt_blames *blames, const struct pxt_late_search *search)
{
	uint64_t beyond = blames->state ? blames->state->beyond : 0;

	return beyond > search->beyond ? beyond : search->beyond;
}
/* The @index-th line, PXT_LINES_MAX / 2 and more: of the second half. */
const struct pxt_blame_line *pxt_blame_line(const struct pxt_blame *blame, uint64_t index);
/* How many lines are kept. */
uint64_t pxt_blame_lines(const struct pxt_blame *blame);

#endif
