/* SPDX-License-Identifier: MIT */
/*
 * report.h - what the files of `pxtrace report` share: what is collected, how it is packed, what why
 * answers.
 */
#ifndef PXT_REPORT_H
#define PXT_REPORT_H

#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/read/source.h"
#include "tools/select/select.h"
#include "tools/spans/pairs.h"
#include "tools/why/tell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * ---- Events and spans on their way into a page: columns of variable-length numbers, in chunks, as
 * base64 in <script> elements that no browser runs.  data.js is the other end ----
 *
 * No compression library: what deltas leave is a few bytes an event, base64 costs a third of that, and
 * both ends need no more than loops.  Base64 has no letter that means anything to HTML, so that no
 * payload can leave its element.
 *
 * A chunk is PXT_PACK_CHUNK events at most: 4 numbers of 4 bytes (events, spans, bytes of data as the
 * reader will unpack them, 0), then 10 columns.  A column is 4 bytes of length and its bytes; with the
 * length's top bit set it is one number that stands for all.  Numbers of 4 bytes are little-endian,
 * the others have 7 bits a byte, the lowest first, the top bit saying that more follows.
 *
 * 	0  time in ns since the event before (of the first: since base_ns)
 * 	1  type          2  thread          3  CPU + 1         4  1: data was cut at recording
 * 	5  bytes of data as the log has them; kept are PXT_PACK_KEEP at most
 * 	6  data, by exclusive-or with the data before of the same type (that was longer: its head;
 * 	   shorter: as if zeros followed); of each 8 bytes a byte whose bits tell which are not zero,
 * 	   and those
 * 	7  span: its end event, counted from the span's before
 * 	8  span: events from begin to end
 * 	9  span: pair
 *
 * Memory: one chunk (at most 40 MB, if every event has the longest data and every number ten bytes; 1
 * MB in practice) and PXT_PACK_KEEP bytes a type.
 */

#define PXT_PACK_CHUNK   32768u
#define PXT_PACK_KEEP    256u
#define PXT_PACK_COLUMNS 10u

struct pxt_column {
	unsigned char *bytes;
	size_t used;
	size_t room;
	uint64_t first;
	uint64_t values;
	bool varied;
};

struct pxt_pack {
	struct pxt_out *out;
	uint64_t events; /* so far */
	uint64_t spans;
	uint64_t data_bytes; /* kept */
	int64_t base_ns;     /* of the first event, if that is before the start: else 0 */
	int64_t last_ns;
	uint64_t last_end;
	uint32_t chunk_events;
	uint32_t chunk_spans;
	uint32_t chunk_data;
	struct pxt_column columns[PXT_PACK_COLUMNS];
	unsigned char (*before)[PXT_PACK_KEEP]; /* by type */
	uint32_t before_count;
};

struct pxt_packed {
	int64_t ns; /* since the start, not below the event before */
	uint32_t type;
	uint32_t thread;
	int cpu; /* -1: not known */
	bool cut;
	size_t bytes;
	const unsigned char *data;
};

void pxt_pack_event(struct pxt_pack *pack, const struct pxt_packed *event);
/* Between two events of the page by their numbers; @end not below the span's before. */
void pxt_pack_span(struct pxt_pack *pack, uint64_t begin, uint64_t end, uint32_t pair);
/* Writes what is left, and frees everything. */
void pxt_pack_finish(struct pxt_pack *pack);

/*
 * The page of pxtrace report without its data: embed.py makes these two parts of page.html,
 * style.css and the scripts beside it.  The data are between them.
 */
struct pxt_page_part {
	const unsigned char *block; /* LZ4: a third of the bytes */
	size_t block_bytes, bytes;
};

extern const struct pxt_page_part pxt_page_head, pxt_page_tail;
/* By which a page is known. */
extern const unsigned char pxt_page_begin[64];

void pxt_page_put(struct pxt_out *out, const struct pxt_page_part *part);

/*
 * ---- What `pxtrace why` says of the worst spans, on the page: a sentence each, what would help, and
 * where the time went ----
 *
 * Which spans are the worst is found while the page's events are read.  What happened in them needs a
 * second reading, up to the end of the last one.  Memory: what late.h and blame.h say, for
 * PXT_LATE_MAX spans at most.
 */

struct pxt_answers {
	unsigned worst; /* how many; 0: none, and the logs are not read again */
	struct pxt_roles_book *book;
	struct pxt_late_search search;
	struct pxt_blames blames;
};

/*
 * Finds them: before the first event, each event, after the last one.  False, with a word to the user, when
 * a roles file does not fit the logs: then nothing else need be read.
 */
void pxt_answers_begin(
    struct pxt_answers *answers, const struct pxt_reader *reader, struct pxt_select *select);
bool pxt_answers_take(struct pxt_answers *answers, const struct pxt_event *event);
bool pxt_answers_end(struct pxt_answers *answers, const struct pxt_reader *reader);
/* Explains them: reads the logs again, and leaves @reader where the last one ends. */
void pxt_answers_explain(struct pxt_answers *answers, struct pxt_reader *reader);
/* Writes them as one JSON object; times are in ns since @start_ns. */
void pxt_answers_put(struct pxt_answers *answers, struct pxt_out *out, int64_t start_ns);
/* Once; also when nothing was found. */
void pxt_answers_free(struct pxt_answers *answers);

/*
 * ---- One pass over the logs: events and spans go into the page as they come, what belongs to the
 * whole is kept for the metadata at the page's end ----
 *
 * Memory does not follow the number of events: a chunk (report.h), the types and threads of the logs
 * (source.h), open begins and durations (pairs.h), loss marks.  Of the page itself PXT_REPORT_EVENTS
 * events by default and PXT_REPORT_DATA bytes of their data are the most; what comes after is counted
 * by type, thread and pair, its losses are marked, and the page says so.
 */

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

#define PXT_REPORT_EVENTS UINT64_C(1000000)
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
	struct pxt_counters counters;
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
/* The numbers by which the page knows a thread. */
void pxt_report_meta_thread(struct pxt_out *out, uint64_t id, long tid);

#endif
