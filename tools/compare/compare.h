/* SPDX-License-Identifier: MIT */
/*
 * compare.h - how long things took in two sets of logs, and which of that differs by more than noise.
 *
 * Of each log and name three figures are kept: median, p99, worst.  A run of a program is one
 * observation, however many spans it has: what varies from run to run (addresses, caches, neighbours)
 * does not vary within one.  So logs are compared, not spans.
 *
 * Bounded: PXT_COMPARE_LOGS logs a side, PXT_COMPARE_NAMES names of 8 KiB each, for a page of 16 KiB; while
 * a log is read, what spans/pairs.h and state.h say.
 */
#ifndef PXT_COMPARE_H
#define PXT_COMPARE_H

#include "tools/read/source.h"
#include "tools/spans/pairs.h"

#define PXT_COMPARE_LOGS  64u
#define PXT_COMPARE_NAMES 4096u
/* A conclusion is wrong in at most so many of all comparisons of logs that do not differ. */
#define PXT_COMPARE_ERROR 0.05
/* Of a distribution: durations below 8 ns have a cell each, then each power of two has eight. */
#define PXT_COMPARE_CELLS 496u

struct pxt_actor;
struct pxt_open_span;
struct pxt_roles_book;
struct pxt_state_lock;
struct pxt_wait;
struct pxt_words;

enum pxt_side {
	PXT_BEFORE,
	PXT_AFTER,
	PXT_SIDES
};

enum pxt_figure {
	PXT_FIGURE_MEDIAN,
	PXT_FIGURE_P99,
	PXT_FIGURE_WORST,
	PXT_FIGURES
};

enum pxt_compared_kind {
	PXT_COMPARED_SPAN,
	PXT_COMPARED_ROUND, /* of threads of one name (rounds.h) */
	PXT_COMPARED_WAIT   /* for a lock */
};

enum pxt_verdict {
	PXT_VERDICT_UNJUDGED, /* too few logs, or figures that cannot be compared */
	PXT_VERDICT_NOISE,    /* no difference that is more than noise */
	PXT_VERDICT_SLOWER,
	PXT_VERDICT_FASTER
};

/* After divided by before. */
struct pxt_change {
	enum pxt_verdict verdict;
	double ratio;
	double low; /* the interval: from here ... */
	double high;
	double p; /* of all permutations of the logs so many differ as much, in whatever figure */
};

/* A name of one kind in all logs. */
struct pxt_compared {
	enum pxt_compared_kind kind;
	char *name; /* escaped */
	struct pxt_measured {
		uint64_t count; /* 0: the log does not have it */
		uint64_t ns[PXT_FIGURES];
	} logs[PXT_SIDES][PXT_COMPARE_LOGS];
	unsigned found[PXT_SIDES]; /* in so many logs */
	uint64_t counts[PXT_SIDES];
	uint64_t shown[PXT_SIDES][PXT_FIGURES]; /* the median of the logs that have it */
	struct pxt_change changes[PXT_FIGURES];
	struct pxt_held {
		char *
		    thread; /* that waited longest for the lock, of all logs after; NULL: not told */
		char *holder;
		char *place; /* where that one took it; NULL: not known */
		uint64_t ns;
	} held;
	/* Of a page: the share of durations in each cell, added up over the logs; else NULL. */
	double *shares[PXT_SIDES];
	struct pxt_series series; /* of the log at hand */
};

/* How long threads waited for one lock within the spans, or rounds, of one name. */
struct pxt_reason {
	struct pxt_compared *of;
	char *lock;
	uint64_t ns[PXT_SIDES][PXT_COMPARE_LOGS][PXT_FIGURES]; /* 0: that many waited for nothing */
	int64_t longest_ns;                                    /* of the waits after: ... */
	char *holder;             /* ... who had the lock then, NULL: not known, ... */
	char *place;              /* ... and where it took it, NULL: not known */
	struct pxt_series series; /* of the log at hand */
};

struct pxt_comparison {
	unsigned logs[PXT_SIDES];
	struct pxt_compared **list; /* PXT_COMPARE_NAMES */
	unsigned count;
	uint64_t beyond; /* durations whose name found no place */
	bool has_spans;  /* then rounds are left out */
	bool has_shares; /* for a page */
	struct pxt_reason **reasons;
	unsigned reason_count;
	unsigned verdicts[PXT_VERDICT_FASTER + 1];
	uint64_t permutations;
	bool all_permutations; /* else so many were drawn */
	double level;          /* of the intervals: 0.971; 0: too few logs for one */
};

/* ---- compare/measure.c ---- */

/* Reads a log, of which the reader has no other: it becomes the next one of @side. */
void pxt_compare_measure(
    struct pxt_comparison *comparison, struct pxt_reader *reader, enum pxt_side side);
/* All logs were read: what is shown, and in which order. */
void pxt_compare_finish(struct pxt_comparison *comparison);
void pxt_compare_free(struct pxt_comparison *comparison);
/* NULL: there is none of that name. */
struct pxt_compared *pxt_compare_known(
    const struct pxt_comparison *comparison, enum pxt_compared_kind kind, const char *name);
/* Threads without a name are called by numbers, which differ from run to run. */
const char *pxt_compare_rounds_of(const struct pxt_actor *actor);
/* The least duration of a cell. */
uint64_t pxt_compare_cell_low(unsigned cell);
/* What a lock is called in the next run, too: the variable, or in which function it was first used. */
void pxt_compare_lock_name(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_state_lock *lock);

/* ---- compare/significance.c ---- */

/* Whether so many logs could ever tell a difference from noise. */
bool pxt_compare_enough(unsigned before, unsigned after);
void pxt_compare_judge(struct pxt_comparison *comparison);

/* ---- compare/reasons.c ---- */

/* Of the log at hand. */
struct pxt_compare_waited;
struct pxt_compare_waited *pxt_compare_waited_new(void);
void pxt_compare_waited_begun(struct pxt_compare_waited *waited, const struct pxt_wait *wait);
void pxt_compare_waited_ended(
    struct pxt_compare_waited *waited, const struct pxt_wait *wait, int64_t end_ns);
/* The thread has ended that span. */
void pxt_compare_waited_span(struct pxt_compare_waited *waited, const struct pxt_actor *actor,
    const struct pxt_open_span *span);
/* Places that are asked for, before the first is shown. */
void pxt_compare_waited_want(
    const struct pxt_compare_waited *waited, const struct pxt_roles_book *book);
/* The log ends: what was waited for becomes reasons.  @spans: by the book's names. */
void pxt_compare_waited_close(struct pxt_compare_waited *waited, struct pxt_comparison *comparison,
    enum pxt_side side, const struct pxt_roles_book *book, struct pxt_compared *const *spans);
/* The figures of the log; series of spans and rounds are still those of the log. */
void pxt_compare_reasons_note(struct pxt_comparison *comparison, enum pxt_side side, unsigned log);

/* What a figure became slower by. */
struct pxt_cause_of {
	enum pxt_figure figure;
	const struct pxt_reason *reason;
	uint64_t before_ns;
	uint64_t after_ns;
};
/* False: it is not slower, or no wait explains a good part of that. */
bool pxt_compare_cause(const struct pxt_comparison *comparison, const struct pxt_compared *compared,
    struct pxt_cause_of *cause);
/* @of NULL: all. */
void pxt_compare_reasons_free(struct pxt_comparison *comparison, const struct pxt_compared *of);

/* ---- compare/reasons.c ---- */

/* Whether a wait that is new or became slower was longest in this log of the second set. */
bool pxt_compare_asks(const struct pxt_comparison *comparison, unsigned log);
/* Reads that log, for who had the locks then. */
void pxt_compare_ask(struct pxt_comparison *comparison, struct pxt_reader *reader, unsigned log);

/* ---- compare/tell.c ---- */

struct pxt_out;

void pxt_compare_text(struct pxt_out *out, const struct pxt_comparison *comparison);
void pxt_compare_json(struct pxt_out *out, const struct pxt_comparison *comparison);
/* Parts that a page has, too. */
void pxt_compare_answer(struct pxt_out *out, const struct pxt_comparison *comparison);
/* What became slower by which wait, a line each. */
void pxt_compare_sentences(struct pxt_out *out, const struct pxt_comparison *comparison, bool html);
/* Of a wait that is new or slower: who had the lock. */
void pxt_compare_held(struct pxt_out *out, const struct pxt_held *held, bool html);
bool pxt_compare_is_changed(const struct pxt_compared *compared);
double pxt_compare_ratio(const struct pxt_compared *compared, unsigned figure);
extern const char *const pxt_compare_figures[PXT_FIGURES];
extern const char *const pxt_compare_kinds[];
extern const char *const pxt_compare_verdicts[];

/* ---- compare/page.c ---- */

/* What a page begins with. */
extern const char pxt_compare_page_mark[];
void pxt_compare_page(struct pxt_out *out, const struct pxt_comparison *comparison);
void pxt_compare_put_html(struct pxt_out *out, const char *text);

#endif
