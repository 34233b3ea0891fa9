/* SPDX-License-Identifier: MIT */
/*
 * stat.h - what pxtrace stat has found out about a log, and the forms in which it says so.
 *
 * A log is read once for the tables, and again for the longest spans and for the slices, each of
 * which then knows what it is looking for.  So memory does not depend on the length of a log: the
 * reader's (source.h), the spans' (pairs.h), PXT_TOP_MAX spans of 2.5 KiB, PXT_SLICE_ROWS rows.
 */
#ifndef PXT_STAT_H
#define PXT_STAT_H

#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/read/source.h"
#include "tools/select/select.h"
#include "tools/spans/pairs.h"

#define PXT_TOP_MAX    1000u
#define PXT_SLICE_ROWS 64u

/* What is counted for a type or a thread. */
struct pxt_tally {
	uint64_t count;
	uint64_t bytes;
	const char *label;
	size_t width;
};

/* The longest time in which nothing happened. */
struct pxt_silence {
	uint64_t ns;
	int64_t from;
	int64_t to;
	uint64_t lost;     /* events, meanwhile */
	const char *label; /* of the type of the event before it; NULL: there were no two events */
};

enum pxt_stat_form {
	PXT_STAT_TEXT,
	PXT_STAT_JSON, /* an object a line */
	PXT_STAT_CSV
};

struct pxt_stat {
	struct pxt_out out;
	struct pxt_select select;
	struct pxt_pair_options options;
	enum pxt_stat_form form;
	bool histogram;
	bool plain_ns;
	unsigned top;     /* so many of the longest spans; 0: none */
	int64_t slice_ns; /* 0: no slices */
	bool aligned;     /* slices begin at whole multiples of their length since 1970 */
	/* The log at hand. */
	struct pxt_reader *reader;
	struct pxt_pairs *pairs;
	struct pxt_symbols *symbols;
	struct pxt_tally types[PXT_TYPES_MAX + 1]; /* the last: all beyond; then by number */
	struct pxt_tally *threads;                 /* PXT_THREADS_MAX + 1 */
	uint64_t events;
	uint64_t bytes;
	int64_t first_ns;
	int64_t last_ns;
	struct pxt_silence silence;
	struct pxt_lockcounts taken;
	int64_t slice_zero; /* where slice 0 begins */
	uint64_t fullest;   /* events in the slice that has most of them */
};

static inline bool pxt_stat_wants(const struct pxt_stat *s, const struct pxt_event *event)
{
	return pxt_select_event(&s->select, event, s->reader->start_ns);
}

static inline double pxt_stat_seconds(const struct pxt_stat *s)
{
	return (double)(s->last_ns - s->first_ns) / 1e9;
}

/* ---- stat/tables.c ---- */

/* "job_begin .. job_end" to @label, and how wide it is. */
size_t pxt_stat_pair_label(
    const struct pxt_stat *s, const struct pxt_row *row, char *label, size_t room);
/* How many tallies there are, the largest first. */
size_t pxt_stat_sort(struct pxt_tally *tallies, size_t length);
/* A duration as the options want it, in @text of 24 bytes. */
void pxt_stat_duration(const struct pxt_stat *s, char *text, uint64_t ns);

/* ---- stat/text.c ---- */

void pxt_stat_put_tables(struct pxt_stat *s);

/* ---- stat/tables.c: a histogram, as bars ---- */

void pxt_stat_put_histogram(struct pxt_stat *s, struct pxt_row *row);

/* ---- stat/top.c: the longest spans ---- */

struct pxt_top;

/* NULL where none are wanted.  From then on the spans of @s->pairs are looked at. */
struct pxt_top *pxt_top_new(struct pxt_stat *s);
/* Reads the log again, for what happened within them, and says it. */
void pxt_top_put(struct pxt_top *top);
void pxt_top_free(struct pxt_top *top);

/* ---- stat/slice.c ---- */

/* The number of the slice that @ns is in. */
int64_t pxt_slice_of(const struct pxt_stat *s, int64_t ns);
/* Reads the log again, and says each slice as it ends. */
void pxt_slices_put(struct pxt_stat *s);

/* ---- stat/tables.c: for programs, a line each in CSV or JSON ---- */

/* The columns of all tables; a row fills some of them. */
enum pxt_column {
	PXT_COL_TABLE,
	PXT_COL_LOG,
	PXT_COL_NAME,
	PXT_COL_GROUP,
	PXT_COL_COUNT,
	PXT_COL_BYTES,
	PXT_COL_PER_S,
	PXT_COL_LOST,
	PXT_COL_START,
	PXT_COL_END,
	PXT_COL_MIN,
	PXT_COL_MEDIAN,
	PXT_COL_MEAN,
	PXT_COL_STDDEV,
	PXT_COL_P99,
	PXT_COL_P999,
	PXT_COL_MAX,
	PXT_COL_EXACT,
	PXT_COL_BEGUN,
	PXT_COL_ENDED,
	PXT_COL_CUT,
	PXT_COL_LOAD,
	PXT_COLUMNS
};

struct pxt_record {
	struct pxt_cell {
		enum {
			PXT_CELL_EMPTY,
			PXT_CELL_TEXT,
			PXT_CELL_NUMBER,
			PXT_CELL_TIME,
			PXT_CELL_REAL,
			PXT_CELL_TRUTH
		} kind;
		const char *text;
		uint64_t number;
		int64_t time;
		double real;
	} cells[PXT_COLUMNS];
};

/* An empty record of the log at hand in @table. */
void pxt_record_begin(const struct pxt_stat *s, struct pxt_record *record, const char *table);
void pxt_record_text(struct pxt_record *record, enum pxt_column column, const char *text);
void pxt_record_number(struct pxt_record *record, enum pxt_column column, uint64_t number);
void pxt_record_time(struct pxt_record *record, enum pxt_column column, int64_t ns);
void pxt_record_real(struct pxt_record *record, enum pxt_column column, double real);
void pxt_record_put(struct pxt_stat *s, const struct pxt_record *record);
/* The head of the table, once: CSV only. */
void pxt_stat_put_head(struct pxt_stat *s);
void pxt_stat_put_records(struct pxt_stat *s);

/*
 * ---- Which thread had most events, over and over: in each slice of time ----
 *
 * Bounded: a count for each of PXT_THREADS_MAX threads; those beyond, and events of which the log does
 * not say whose they are, are nobody's.
 */

struct pxt_busiest;

struct pxt_busiest *pxt_busiest_new(void);
void pxt_busiest_free(struct pxt_busiest *busiest);

void pxt_busiest_take(struct pxt_busiest *busiest, const struct pxt_thread *thread);
/*
 * Who had most events since the last call, and how many; of two with as many, whose label comes first.
 * NULL: nobody had any.
 */
const struct pxt_thread *pxt_busiest_next(struct pxt_busiest *busiest, uint64_t *events);

#endif
