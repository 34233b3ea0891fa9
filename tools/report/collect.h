/* SPDX-License-Identifier: MIT */
/*
 * collect.h - one pass over the logs: events and spans go into the page as they come, what belongs
 * to the whole is kept for the metadata at the page's end.
 *
 * Memory does not follow the number of events: a chunk (pack.h), the types and threads of the logs
 * (source.h), open begins and durations (pairs.h), loss marks.  Of the page itself
 * PXT_REPORT_EVENTS events by default and PXT_REPORT_DATA bytes of their data are the most; what
 * comes after is counted by type, thread and pair, its losses are marked, and the page says so.
 */
#ifndef PXT_COLLECT_H
#define PXT_COLLECT_H

#include "tools/event/fields.h"
#include "tools/output/out.h"
#include "tools/output/outfile.h"
#include "tools/read/source.h"
#include "tools/report/answers.h"
#include "tools/report/pack.h"
#include "tools/select/select.h"
#include "tools/spans/pairs.h"

#include <stdint.h>

/*
 * ---- Where events of one log were lost ----
 *
 * At most PXT_LOSSES_MAX marks.  When there are more, neighbours are joined two by two: marks become wider,
 * their sum stays exact.
 */

#define PXT_LOSSES_MAX 4096u

struct pxt_loss {
	int64_t from_ns; /* the log's last event before, ... */
	int64_t to_ns;   /* ... and the first one after */
	uint64_t count;  /* events */
	uint64_t times;  /* losses that this mark stands for */
};

struct pxt_losses {
	struct pxt_loss *marks;
	uint32_t count;
};

void pxt_losses_add(struct pxt_losses *losses, int64_t from_ns, int64_t to_ns, uint64_t count);
void pxt_losses_free(struct pxt_losses *losses);

/*
 * ---- The processes of a log that `pxtrace run` traced, and their programs ----
 *
 * Threads of all other processes are in the log because the scheduler told of them.
 *
 * Bounded: PXT_PROGRAMS_MAX processes; those beyond are taken for others.
 */

#define PXT_PROGRAMS_MAX 4096u

struct pxt_program {
	pid_t pid;
	char *path; /* as the log has it; of a process that became another program: the last one */
};

struct pxt_programs {
	struct pxt_program *list; /* in the order of their first events */
	uint32_t count;
};

/* Any event, chosen or not: those that tell of a traced process are noted. */
void pxt_programs_take(struct pxt_programs *programs, const struct pxt_event *event);
/* As JSON: [[pid, path], ...]. */
void pxt_programs_put(const struct pxt_programs *programs, struct pxt_out *out);
void pxt_programs_free(struct pxt_programs *programs);

#define PXT_REPORT_EVENTS UINT64_C(5000000)
#define PXT_REPORT_DATA   (UINT64_C(512) << 20)
#define PXT_REPORT_NONE   UINT32_MAX

/* A type, thread or pair of the page. */
struct pxt_entry {
	uint32_t log;
	uint32_t index;      /* in the log; PXT_INDEX_NONE: of all that the log has no room for */
	const void *subject; /* struct pxt_type, pxt_thread or pxt_row */
	const struct pxt_type_roles *roles; /* of a type */
	uint64_t count;                     /* of events, or spans */
	uint64_t bytes;                     /* of their data */
};

struct pxt_entries {
	struct pxt_entry *list;
	uint32_t count;
	uint32_t room;
};

/* What is known of a log beside its source: the page's numbers for the log's. */
struct pxt_report_log {
	uint32_t types[PXT_TYPES_MAX + 1]; /* by index, the last for all others; PXT_REPORT_NONE */
	uint32_t *threads;                 /* the same, thread_room + 1 of them */
	uint32_t thread_room;
	uint32_t other_threads;
	struct pxt_pairs *spans;
	struct pxt_symbols *symbols;
	struct pxt_losses losses;
	struct pxt_programs programs;
	struct pxt_lockcounts taken;
	uint64_t events; /* selected ones */
	int64_t last_ns; /* of the log's last event, selected or not; since the start */
};

struct pxt_report {
	struct pxt_outfile file;
	struct pxt_out out;
	struct pxt_reader reader;
	struct pxt_select select;
	struct pxt_pair_options options;
	struct pxt_answers answers;
	uint64_t limit;
	struct pxt_pack pack;
	struct pxt_report_log *logs;
	struct pxt_entries types;
	struct pxt_entries threads;
	struct pxt_entries pairs;
	uint64_t events;           /* selected ones */
	int64_t first_ns;          /* of the first selected one, since the start, ... */
	int64_t last_ns;           /* ... and of the last one */
	int64_t shown_ns;          /* of the last one on the page */
	struct pxt_report_log *at; /* the log at work */
};

/* From the start of the earliest log to @ns. */
int64_t pxt_report_since(const struct pxt_report *report, int64_t ns);

/*
 * Reads everything; afterwards the chunks are written, the numbers complete, and the worst spans found.
 * False, with a word to the user, when a roles file does not fit the logs.
 */
bool pxt_report_collect(struct pxt_report *report);
void pxt_report_free(struct pxt_report *report);

/* Writes the metadata as one JSON object: what was read, and what is the answer, for which all is read again. */
void pxt_report_meta(struct pxt_report *report);
void pxt_report_meta_answers(struct pxt_report *report);

#endif
