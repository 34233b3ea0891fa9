/* SPDX-License-Identifier: MIT */
/*
 * merge.h - several logs, and what the kernel traced, as one log.
 *
 *   timeline.c     where each log lies on the common line of time, or why it has no place there
 *   align.c      clocks of several machines, by events that their logs have in common
 *   types.c     event types of all logs under common numbers; modules, notes
 *   threads.c   threads of all logs under common indices; processes that have one number
 *   pidns.c   threads whose logs have no number of theirs, by who had their CPU
 *   ftrace.c    where scheduler events of ftrace, trace-cmd and perf lie on that line
 *   write.c     events in the order of time; the whole of it, for another command
 *   choice.c    the events that attach -o chose, into a log that grows
 *
 * Bounded: 992 types and 65,534 threads in all (threads beyond are written without name), one event
 * a log in memory.
 */
#ifndef PXT_MERGE_H
#define PXT_MERGE_H

#include "tools/import/import.h"
#include "tools/read/source.h"
#include "tools/write/logwrite.h"

#define PXT_MERGE_TYPES   1024u /* numbers; the first 32 are the standard's and ours */
#define PXT_MERGE_USER    32u
#define PXT_MERGE_THREADS PXT_LOGWRITE_THREADS

/* ---- timeline.c ---- */

/* By which clock logs are placed. */
enum pxt_clock_rule {
	PXT_CLOCK_AUTO, /* of one boot CLOCK_MONOTONIC, else civil time */
	PXT_CLOCK_ONE_BOOT, /* CLOCK_MONOTONIC: the user says that all come from one boot of one machine */
	PXT_CLOCK_DATES /* civil time */
};

#define PXT_SHIFTS 64u

/* What the user knows of the machines' clocks. */
struct pxt_placing {
	enum pxt_clock_rule rule;
	unsigned shift_count;
	struct {
		const char *name; /* of a host or a log, ... */
		int64_t ns;       /* ... whose civil time is so much further */
	} shifts[PXT_SHIFTS];
	const char *event; /* the type that several logs have at one moment; NULL: none */
	/* Which of them belong together; NULL: the first ones, the second ones, ... */
	const char *field;
};

struct pxt_place {
	uint32_t group;     /* logs of one boot: the place of its first log */
	uint32_t base;      /* the log of the group whose civil time is the group's */
	uint32_t others;    /* processes of other logs have its number: how many (threads.c) */
	int64_t real_ns;    /* CLOCK_REALTIME at creation */
	int64_t mono_ns;    /* CLOCK_MONOTONIC; 0: unknown */
	int64_t boot_ns;    /* CLOCK_BOOTTIME; 0: unknown */
	int64_t moved_ns;   /* what the user adds to @real_ns */
	bool aligned;       /* of the first of a group: the group's clock was compared (align.c) */
	uint32_t tid_count; /* entries of its table, if threads there lack numbers; ... */
	uint32_t tid_first; /* ... in the line's @tids from here on */
};

/* The common line. */
struct pxt_merge_line {
	struct pxt_place *places; /* by source */
	pid_t *tids;              /* pidns.c; 0: not found */
	bool monotonic;           /* all of one boot: ticks are CLOCK_MONOTONIC */
	int64_t start_ns;         /* the earliest creation, since 1970 */
	struct pxt_logclock created;
	unsigned note_count; /* how clocks were compared; the new log says it, too */
	struct posix_trace_lognote_np *notes;
};

/*
 * Says where each log belongs and sets its shift; false, with a word to the user, when one cannot be
 * placed.
 */
bool pxt_merge_line_make(
    struct pxt_merge_line *line, struct pxt_reader *reader, const struct pxt_placing *placing);
uint64_t pxt_merge_line_ticks(const struct pxt_merge_line *line, int64_t ns);
void pxt_merge_line_free(struct pxt_merge_line *line);

/* ---- align.c ---- */

/*
 * Reads all logs once, and compares the clock of each group of @line with that of @reference by
 * placing->event; false, with a word to the user, when that cannot be.  Which groups were compared is in
 * their places; the others stay as they are.
 */
bool pxt_align_clocks(struct pxt_merge_line *line, struct pxt_reader *reader,
    const struct pxt_placing *placing, uint32_t reference);

/* ---- types.c ---- */

struct pxt_merge_type {
	char name[TRACE_EVENT_NAME_MAX + 1];
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	const char *path; /* of the log that it came from first */
};

struct pxt_merge_types {
	uint32_t count; /* numbers in use, from PXT_MERGE_USER on */
	bool switches;  /* are described in two ways (PXT_MERGE_SWITCH_FORMAT) */
	struct pxt_merge_type types[PXT_MERGE_TYPES];
	uint16_t (*numbers)[PXT_MERGE_TYPES]; /* by source and the log's own number; 0: none */
};

/* What both forms of a context switch say (POSIX_TRACE_CONTEXT_SWITCH_NP), where logs have both. */
#define PXT_MERGE_SWITCH_FORMAT "u32 cpu,u32 prev_tid,u32 next_tid,u32 prev_state,i32 next_prio"

/* False, with a word to the user, when there are too many. */
bool pxt_merge_types_make(struct pxt_merge_types *types, const struct pxt_reader *reader);
/* The number of a type that no log brings; 0: too many. */
trace_event_id_t pxt_merge_types_add(
    struct pxt_merge_types *types, const char *name, const char *format, const char *path);
void pxt_merge_types_write(const struct pxt_merge_types *types, struct pxt_logwrite *log);

/* ---- threads.c: processes ---- */

/*
 * Finds processes of different logs that have one number: two containers' first processes, or programs of
 * two machines.  Their numbers and those of their threads become others in the new log, which is said.
 */
void pxt_processes_part(const struct pxt_merge_line *line, const struct pxt_reader *reader);
/* A number of the process or a thread of the log at @place, in the new log. */
pid_t pxt_processes_number(const struct pxt_merge_line *line, uint32_t place, pid_t number);

/* ---- threads.c ---- */

struct pxt_merge_thread {
	uint64_t id; /* in the new log */
	pid_t pid;
	pid_t tid;
	uint32_t index; /* PXT_LOGWRITE_NO_INDEX: the table was full */
	uint32_t place; /* the key: log, ... */
	uint64_t own;   /* ... pthread_t and ... */
	uint32_t entry; /* ... entry of the table there, if it has one; with @pid and @tid */
	bool met;       /* it had an event */
	bool over;      /* another one has its number since */
	uint32_t next;  /* in the list of its hash, and of equal ids and tids */
	uint32_t next_id;
	uint32_t next_tid;
};

struct pxt_merge_threads;
struct pxt_merge_threads *pxt_merge_threads_new(void);
void pxt_merge_threads_free(struct pxt_merge_threads *threads);
/* The thread of an event, told to the new log when it is first met. */
const struct pxt_merge_thread *pxt_merge_threads_of(struct pxt_merge_threads *threads,
    const struct pxt_merge_line *line, struct pxt_logwrite *log, const struct pxt_event *event);
/* The kernel's event that a thread begins: who had its number has ended. */
void pxt_merge_threads_fork(struct pxt_merge_threads *threads, const struct pxt_merge_line *line,
    const struct pxt_event *event);
/* All that a log's table knows, so that what the kernel says of them finds them. */
void pxt_merge_threads_learn(struct pxt_merge_threads *threads, const struct pxt_merge_line *line,
    struct pxt_logwrite *log, const struct pxt_source *source);
/* ---- types.c: modules ---- */

/* Writes the modules of all logs; says so when addresses mean different things in two of them. */
void pxt_merge_modules(const struct pxt_reader *reader, struct pxt_logwrite *log);

/* ---- types.c: notes ---- */

void pxt_merge_notes(const struct pxt_reader *reader, struct pxt_logwrite *log);

/* ---- ftrace.c ---- */

enum pxt_ftrace_clock {
	PXT_FTRACE_AUTO,
	PXT_FTRACE_MONO,
	PXT_FTRACE_BOOT,
	PXT_FTRACE_TSC
};

struct pxt_ftrace {
	const char *path;
	enum pxt_ftrace_clock clock;
	const struct pxt_reader *reader;
	const struct pxt_merge_line *line;
	int64_t ns; /* where the text's event lies on the line */
	struct pxt_ftracetext text;
};

/*
 * Reads @path through once, to see what it is and whether it belongs to the logs, and goes back to
 * its beginning.  False, with a word to the user, when it does not.
 */
bool pxt_ftrace_open(struct pxt_ftrace *ftrace, const char *path, enum pxt_ftrace_clock clock,
    const struct pxt_reader *reader, const struct pxt_merge_line *line);
/* The next event into @ftrace->text.event; false at the end. */
bool pxt_ftrace_next(struct pxt_ftrace *ftrace);
void pxt_ftrace_close(struct pxt_ftrace *ftrace);

/* ---- threads.c, of the kernel: by the text of ftrace ---- */

/* The thread in which the kernel traced: the logs' own one of its number, or one of the kernel's. */
const struct pxt_merge_thread *pxt_merge_threads_tid(struct pxt_merge_threads *threads,
    const struct pxt_merge_line *line, struct pxt_logwrite *log,
    const struct pxt_ftracetext_event *event);

/* ---- pidns.c ---- */

/*
 * Reads all logs once, if a thread of theirs has no number but a process, and goes back to the first events.
 * What was found is in the places of @line.
 */
void pxt_merge_numbers_find(struct pxt_merge_line *line, struct pxt_reader *reader);
/* Of the thread at @entry of the table of the log at @place, which has @tid there. */
pid_t pxt_merge_numbers_of(
    const struct pxt_merge_line *line, uint32_t place, uint32_t entry, pid_t tid);

/* ---- write.c ---- */

struct pxt_merge {
	struct pxt_reader reader;
	struct pxt_merge_line line;
	struct pxt_merge_types types;
	struct pxt_merge_threads *threads;
	struct pxt_ftrace ftrace;
	trace_event_id_t ftrace_ids[PXT_FTRACETEXT_KINDS];
	struct pxt_logwrite *log;
	uint64_t lost_before; /* events, before the first of all logs */
};

/* What an event is in a new log, but for its data, and for its number where types have others there. */
void pxt_merge_event_of(struct pxt_logevent *made, struct pxt_merge_threads *threads,
    const struct pxt_merge_line *line, struct pxt_logwrite *log, const struct pxt_event *event);
/* Everything into @path; returns an exit status. */
int pxt_merge_write(struct pxt_merge *merge, const char *path);

/* ---- write.c: for another command ---- */

/* What it has opened and allocated; of one that was not filled, nothing. */
void pxt_merge_close(struct pxt_merge *merge);

/*
 * The logs of @paths, of one boot of one machine, as one, which tells of @lost events before their first;
 * returns an exit status.
 */
int pxt_merge_files(const char *output, char *const *paths, unsigned count, uint64_t lost);

/*
 * ---- choice.c: attach -o with a choice (--event, --where, ...): what was chosen, into a log that grows ----
 *
 * What was not chosen takes no room in the log.  Numbers of types are the stream's own; losses before an
 * event that was not chosen are told before the next one that was.
 */

struct pxt_choice;

/*
 * Once the head of the stream's log was read.  The log begins at @from_ns, or with the stream, if that is later.
 * NULL, with a word to the user: it cannot be.
 */
struct pxt_choice *pxt_choice_begin(const char *path, struct pxt_reader *reader, int64_t from_ns);
/* All threads that the log's table knows, also those that have no event. */
void pxt_choice_threads(struct pxt_choice *choice, const struct pxt_source *source);
void pxt_choice_put(struct pxt_choice *choice, const struct pxt_event *event);
void pxt_choice_lose(struct pxt_choice *choice, uint64_t events);
/* What is in it so far. */
uint64_t pxt_choice_events(const struct pxt_choice *choice);
uint64_t pxt_choice_lost(const struct pxt_choice *choice);
/* The first error so far, an errno; 0. */
int pxt_choice_error(const struct pxt_choice *choice);
/* Brings what was put so far into the file, from time to time; its bytes by now. */
uint64_t pxt_choice_flush(struct pxt_choice *choice, int64_t now_ns);
/* @unknown: the stream goes on, and nobody wanted the log to end here.  0, or the first errno. */
int pxt_choice_end(struct pxt_choice *choice, const struct pxt_source *source, bool unknown);

#endif
