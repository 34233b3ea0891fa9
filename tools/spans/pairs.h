/* SPDX-License-Identifier: MIT */
/*
 * pairs.h - durations from a begin event to its end event; their extremes, mean and quantiles.
 *
 * User events are paired by name: X_begin and X_start with X_end and X_stop, X_enter with X_exit, X_lock with
 * X_unlock; system events by the table below; --pair names others.  An end belongs to
 * the newest begin of its thread that is still open; where the first fields of both types have the same
 * name, also that field must be equal.  A loss of events closes everything that is open: no duration is
 * measured across a gap.
 *
 * Bounded: PXT_PAIRS_MAX pairs, PXT_ROWS_MAX rows, PXT_STACKS_MAX pairs and threads at once,
 * PXT_OPEN_MAX open begins; what does not fit is counted as unmatched.  With what series need, below, that is
 * less than 100 MiB, whatever a log says.
 */
#ifndef PXT_PAIRS_H
#define PXT_PAIRS_H

#include "tools/event/event.h"
#include "tools/read/source.h"
#include "tools/symbols/symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Durations of one kind: count, extremes, mean and deviation; quantiles exactly up to
 * PXT_SERIES_EXACT values, then from a histogram.
 *
 * The histogram is log-linear: every power of two is divided into 128 equal parts, and a quantile
 * is the middle of its part.  It is wrong by at most 1/256 (0.4 %) of itself, values below 256 ns
 * by nothing, however many values there are.
 *
 * Memory, of all series together: PXT_SERIES_VALUES exact values (8 MiB), then PXT_SERIES_CHUNKS
 * chunks of 128 parts (64 MiB), a chunk for each power of two that occurs in a series.  Who finds no
 * chunk any more counts whole powers of two: their quantiles are within a third.  No log of a program
 * gets there, but a hostile one may.
 */

#define PXT_SERIES_EXACT  16384u
#define PXT_SERIES_VALUES (UINT32_C(1) << 20)
#define PXT_SERIES_CHUNKS (UINT32_C(1) << 16)
#define PXT_SERIES_SHIFT  7u
#define PXT_SERIES_PARTS  (1u << PXT_SERIES_SHIFT)
#define PXT_SERIES_POWERS (64u - PXT_SERIES_SHIFT)

/* When a series is counted in cells. */
struct pxt_cells {
	/* Values from 2^(p+7) up to 2^(p+8) - 1 (p = 0: from 0), in PARTS parts (p = 0: two times). */
	uint64_t *chunks[PXT_SERIES_POWERS + 1];
	uint64_t whole[PXT_SERIES_POWERS + 1]; /* what found no chunk */
};

struct pxt_series {
	uint64_t count;
	uint64_t least;
	uint64_t most;
	double mean;
	double squares;   /* of the distances from the mean: their sum */
	uint64_t *values; /* while there are few of them */
	uint32_t room;
	bool sorted;
	struct pxt_cells *cells; /* when there are many */
};

void pxt_series_add(struct pxt_series *series, uint64_t value);
/* Adds all that is in @from; what that has counted in cells becomes the middle of them. */
void pxt_series_join(struct pxt_series *series, const struct pxt_series *from);
/* The value that @per_mille thousandths of the values do not exceed; *exact: it is one of them. */
uint64_t pxt_series_quantile(struct pxt_series *series, unsigned per_mille, bool *exact);
/* Standard deviation of the values, as of a whole population. */
double pxt_series_deviation(const struct pxt_series *series);
/*
 * How many values there are from @low up to, but without, @high: exactly where both are multiples
 * of an eighth of the power of two below them.
 */
uint64_t pxt_series_between(struct pxt_series *series, uint64_t low, uint64_t high);
void pxt_series_free(struct pxt_series *series);
/* For qsort() of values. */
int pxt_series_ascending(const void *a, const void *b);

#define PXT_PAIRS_MAX    512u
#define PXT_ROWS_MAX     4096u
#define PXT_STACKS_MAX   65536u
#define PXT_OPEN_MAX     262144u /* in all stacks together */
#define PXT_OPEN_DEPTH   1024u   /* in one stack */
#define PXT_EXPLICIT_MAX 64u

/* What a person asked for. */
struct pxt_pair_options {
	struct pxt_pair_option {
		const char *begin;
		const char *end;
		const char *field; /* NULL: the first one, where it is the same */
		bool begun, ended; /* such events were read, of whatever log */
	} pairs[PXT_EXPLICIT_MAX];
	unsigned count;
	bool any_thread; /* a pair may begin in one thread and end in another */
	bool no_field;   /* nesting alone decides */
	enum pxt_rows {
		PXT_ROWS_PAIR,
		PXT_ROWS_THREAD,
		PXT_ROWS_FIELD
	} rows;
};

/* A line of the table. */
struct pxt_row {
	uint32_t pair;
	uint64_t group; /* of the thread, of the field */
	/* Of the first event in it: the field by which it is matched, whose it was, and when. */
	uint64_t key;
	pid_t pid;
	int64_t ns;
	char label[160];
	uint32_t number; /* whatever the caller calls it; 0: not yet */
	struct pxt_series series;
	uint64_t open;     /* begins without end */
	uint64_t unopened; /* ends without begin */
	uint64_t cut;      /* begins that a gap parts from their end */
	/* How many are open, and the integral of that over time, in ns, up to @area_ns. */
	uint64_t losses; /* those from before this one are not */
	uint64_t open_now;
	double area;
	int64_t area_ns;
};

struct pxt_pair {
	const struct pxt_syspair *system; /* of system events; NULL: not */
	bool is_explicit;
	unsigned family; /* of the suffixes */
	char base[256];  /* what is before the suffix */
	const char *field;
	const struct pxt_type *begin;
	const struct pxt_type *end;
};

struct pxt_pairs {
	struct pxt_pair_options *options;
	const struct pxt_event *event; /* the one at work, or NULL */
	uint64_t mark;                 /* whatever the caller calls the event at work */
	/* Told of each span at its end, with the mark and the time of its begin; may be NULL. */
	void (*on_span)(void *context, uint32_t pair, uint64_t begin_mark, int64_t begin_ns);
	void *context;
	struct pxt_row *row; /* of the span that on_span() is told of */
	int64_t now_ns;      /* of the last event */
	struct pxt_pair pairs[PXT_PAIRS_MAX];
	uint32_t pair_count;
	struct pxt_row **rows; /* hash table, PXT_ROWS_MAX * 2 */
	uint32_t row_count;
	struct pxt_stack *stacks; /* hash table */
	uint32_t stack_size;
	uint32_t stack_count;
	uint32_t room;           /* entries that all stacks have room for */
	uint64_t losses;         /* how often everything open was closed */
	bool by_clock;           /* once, because the clock stepped back */
	struct pxt_roles *roles; /* of each type, by its index */
};

/* What a type's own name says of the pair it belongs to. */
struct pxt_pair_name {
	size_t bytes;    /* of the name before the suffix */
	unsigned family; /* suffixes that go together */
	bool begins;
};
/* False: the name ends in no suffix of a pair, or it is no user event. */
bool pxt_pair_name(const struct pxt_type *type, struct pxt_pair_name *name);

/* "A,B" or "A,B,FIELD": false, with a word to the user, when it is neither.  Changes @text. */
bool pxt_pairs_option(struct pxt_pair_options *options, char *text);
struct pxt_pairs *pxt_pairs_new(struct pxt_pair_options *options);
/*
 * Before an event: what was lost may have been an end, and what lies across a step of the clock has no
 * length.
 */
void pxt_pairs_gap(struct pxt_pairs *pairs, const struct pxt_event *event);
void pxt_pairs_take(struct pxt_pairs *pairs, const struct pxt_event *event);
/* Everything that is open stays so: after the last event. */
void pxt_pairs_end(struct pxt_pairs *pairs);
/* The rows worth showing, by pair and label; free() the result. */
struct pxt_row **pxt_pairs_rows(struct pxt_pairs *pairs, uint32_t *count);
/* All was read: rows of functions are called as their symbols say, not by addresses any more (syspairs.c). */
void pxt_pairs_name(struct pxt_pairs *pairs, struct pxt_symbols *symbols);
/* The row of a pair for this thread (@who: NULL, of others) or key; after the limit all share one. */
struct pxt_row *pxt_pairs_row(struct pxt_pairs *pairs, uint32_t pair, uint64_t thread,
    const struct pxt_thread *who, uint64_t key);
/* The row of a pair for this group, or NULL. */
struct pxt_row *pxt_pairs_find(const struct pxt_pairs *pairs, uint32_t pair, uint64_t group);
void pxt_pairs_free(struct pxt_pairs *pairs);

/* A loss at @ns has closed what was open. */
void pxt_row_close(struct pxt_row *row, const struct pxt_pairs *pairs, int64_t ns);
/* The integral of the number of open spans up to @ns, which is not before the last event. */
static inline double pxt_row_area(const struct pxt_row *row, int64_t ns)
{
	return row->area + (double)row->open_now * (double)(ns - row->area_ns);
}

/*
 * Durations that system events tell of: calls, functions, waits for locks, locks that are
 * held, handlers of signals, what a kernel is busy with.
 *
 * Some have a row for each value of the field by which begin and end belong together: read() and write()
 * are both calls.
 */

struct pxt_syspair {
	const char *name;  /* "call" */
	const char *field; /* begin and end have the same value of it */
	bool by_value;     /* a row, and a name, for each value */
	bool alone;        /* an end without begin is no mistake */
	enum pxt_syspair_names {
		PXT_SYSPAIR_NUMBERS,
		PXT_SYSPAIR_WORDS,    /* values are words (tools/event/sysnames.c) */
		PXT_SYSPAIR_FUNCTIONS /* values are addresses where functions begin */
	} names;
};

/* What an event of one type does in one of these pairs. */
struct pxt_syspair_role {
	trace_event_id_t id;
	unsigned pair; /* index in pxt_syspairs */
	bool begins;
	const char *test;  /* it does so only where this field is ... */
	int64_t values[2]; /* ... one of these */
};

#define PXT_SYSPAIRS 12u
extern const struct pxt_syspair pxt_syspairs[PXT_SYSPAIRS];

/* Whether the pair has a row for each value. */
static inline bool pxt_pairs_by_value(const struct pxt_pairs *pairs, uint32_t pair)
{
	return pairs->pairs[pair].system && pairs->pairs[pair].system->by_value;
}

/* For the hash tables of rows and stacks. */
static inline uint32_t pxt_pairs_mix(uint64_t a, uint64_t b)
{
	return (uint32_t)(((a ^ b * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15)) >>
	                  32);
}

/* The next role of that type behind @after (NULL: the first one); NULL: there is none. */
const struct pxt_syspair_role *pxt_syspairs_next(
    trace_event_id_t id, const struct pxt_syspair_role *after);
/* Whether the event does so. */
bool pxt_syspairs_does(const struct pxt_event *event, const struct pxt_syspair_role *role);

#endif
