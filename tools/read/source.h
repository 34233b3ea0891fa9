/* SPDX-License-Identifier: MIT */
/*
 * source.h - logs as the subcommands see them: opened with an explanation of what is wrong, read
 * merged by time, with the types and threads of each log looked up once.
 *
 * Memory is bounded whatever the log says: at most PXT_TYPES_MAX types and PXT_THREADS_MAX
 * threads are remembered; what comes beyond shares one entry that is filled anew each time.
 */
#ifndef PXT_SOURCE_H
#define PXT_SOURCE_H

#include "format/logfmt.h"
#include "tools/event/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

/*
 * How a log came to its end: the signal that ended its process, what could not be written, how long
 * its stream lived; and whether it began at all.
 */

/* "signal 11 (SIGSEGV) ..."; false: by none. */
bool pxt_ended_by(const struct posix_trace_loginfo_np *info, char *text, size_t room);

/* "SIGSEGV", of Linux' numbers; "real-time" of others. */
const char *pxt_ended_signal(int number);

/* What every command says of a log of which the next is true. */
#define PXT_NEVER_STARTED                                                                          \
	"nothing was recorded, not even the start: the stream was never started "                  \
	"(posix_trace_start()), or all types are filtered"
/* Of a log in which @events were read to its end. */
bool pxt_never_started(const struct posix_trace_loginfo_np *info, uint64_t events);

/*
 * ---- Why a log could not be written, in words, and what else is not in it ----
 */

struct pxt_unwritten {
	char text[64];      /* "no space left on the device (ENOSPC)" */
	const char *advice; /* what loses less */
};

/* The first flush that failed, as the log's end says; false: none did. */
bool pxt_unwritten(trace_id_t trid, struct pxt_unwritten *why);
/* Records that the log was given and does not hold: overwritten, without room, or in a damaged place. */
uint64_t pxt_unwritten_records(const struct posix_trace_loginfo_np *info);

/*
 * ---- How long a log's stream lived, and where its clocks contradict each other ----
 *
 * Lengths come from CLOCK_MONOTONIC, by which events are placed, too.
 * The civil clock may be set meanwhile.
 */

/* From creation to shutdown, in nanoseconds; 0 where that is not known. */
int64_t pxt_lasting_ns(const struct posix_trace_loginfo_np *info);
/* The end on the line on which the log's events are, since 1970; 0 where it is not known. */
int64_t pxt_lasting_end(const struct posix_trace_loginfo_np *info);
/* Whether the civil clock was set meanwhile, by more than a second; *by: forward, in nanoseconds. */
bool pxt_lasting_stepped(const struct posix_trace_loginfo_np *info, int64_t *by);

/*
 * Whether the CLOCK_MONOTONIC of two logs of one boot is one, as the processor's counter says, which is one for
 * all time namespaces, and which nobody sets.  *counted: it could say so; else they are taken for one.
 */
bool pxt_lasting_one_monotonic(
    const struct posix_trace_loginfo_np *a, const struct posix_trace_loginfo_np *b, bool *counted);

/*
 * Logs are read in place; what comes through a pipe, a socket or a terminal line is copied
 * to a temporary file without a name first, as a whole or bit by bit while it is read.
 */

struct pxt_spool {
	const char *path; /* for messages */
	int from;         /* -1: nothing is copied */
	int to;
	bool ended;     /* no more will come */
	uint64_t bytes; /* so far */
};

/* No more of what is neither a log nor a core file: what a board's memory may have. */
#define PXT_SPOOL_MEMORY_MAX ((uint64_t)256 << 20)

/* Makes the file; false, with a word to the user, where that cannot be.  Takes @from over. */
bool pxt_spool_begin(struct pxt_spool *spool, const char *path, int from);
/*
 * Copies what is there, a megabyte at most, after waiting up to @wait_ms (-1: as long as it takes)
 * for something.  False, with a word to the user, when the copy failed.
 */
bool pxt_spool_take(struct pxt_spool *spool, int wait_ms);
/*
 * Copies to the end, if it has one: @log: only while it can be a log; else up to PXT_SPOOL_MEMORY_MAX, unless it is a
 * core file.  What never ends would fill the disk.
 */
bool pxt_spool_all(struct pxt_spool *spool, bool log);
/*
 * In place of a compressed log, *@fd becomes a temporary file that has it unpacked (@log: as packed.h says); all else stays.  False,
 * with a word to the user, when that failed.
 */
bool pxt_spool_unpack(const char *path, int *fd, bool log);
/* Closes what was copied from; the copy stays open. */
void pxt_spool_end(struct pxt_spool *spool);

/*
 * ---- Gives memory back while a log in memory grows at one end and is read at the other ----
 *
 * Log Retrieval reads a sequential log front to back: its head may be read again, the block that is
 * being read may be, what lies between them is never looked at again.
 */

struct pxt_behind {
	int fd;
	bool begun;  /* @header is the log's */
	bool off;    /* it is no such log, or the system cannot */
	uint64_t at; /* the first block that may still be read */
	uint64_t freed;
	struct pxt_log_header header;
};

/* Event @number of the log (posix_number_np) was handed out, hence all blocks before its own. */
void pxt_behind_read(struct pxt_behind *behind, uint64_t number);

/* Said of a log whose own end is missing. */
#define PXT_END_UNKNOWN   "events after the last flush: number unknown"
#define PXT_VIEWS         256u  /* events that are asked for at once */
#define PXT_STRETCHES_MAX 4096u /* of a log, whose heads were read */

/* Which types and threads are wanted; see select.h. */
struct pxt_select;
/* Files that are one log; see below. */
struct pxt_logset;

#define PXT_NUMBERED 1024u

struct pxt_source {
	const char *path;
	const struct pxt_logset *set; /* NULL: the log is one file */
	const struct pxt_select *select;
	int fd;
	struct pxt_spool spool; /* what is copied to @fd while it is read, if anything */
	bool is_open;
	bool at_end;
	bool failed;         /* it could not be read to its end, ... */
	bool told;           /* ... which was said */
	bool goes_on;        /* reading goes on after what is damaged */
	bool drained;        /* the end of a pipe was read, too */
	bool damaged;        /* something in it was passed over */
	bool lacks_end;      /* its newest file is empty */
	bool let_go;         /* that it has no end is nobody's concern */
	bool read_all;       /* its end was reached once, and ... */
	int64_t newest_ns;   /* ... the last event there; INT64_MIN: none */
	int64_t first_ns;    /* of the first event that was read, and ... */
	uint64_t first_lost; /* ... what was lost before it */
	uint64_t pids_met;   /* those of --pid (select.h), a bit each */
	uint64_t names_met;  /* those of --thread, also by names that threads had for a while */
	pid_t pid;           /* of the log, or the first one met */
	bool many_pids;      /* events of several processes are in it */
	uint64_t crashed;    /* the thread that a fatal signal came to; 0: none, or not known */
	uint32_t crashed_entry;
	trace_id_t trid;
	struct posix_trace_loginfo_np info;
	int64_t start_ns;
	int64_t shift_ns; /* added to the time of each event, see pxtrace merge; and ... */
	double drift;     /* ... so much for each ns since ... */
	int64_t drift_ns; /* ... this time, which has the shift in it */
	uint64_t events;
	uint64_t newest_ticks;  /* the largest stamp so far */
	uint64_t backward;      /* how often a stamp was a millisecond or more before it, and ... */
	uint64_t backward_most; /* ... by how many ticks at most */
	bool stepped;           /* the counter has, and is not where it was yet: */
	bool is_back;           /* ... the stamp of @event is, */
	bool steps;             /* ... or that of the one before: lengths do not reach across it */
	uint64_t lost;          /* the sum of what the events so far said was lost before them */
	/* Of a log that went on in another file while it was read: */
	uint64_t before;        /* records and losses in front of the first file, ... */
	uint64_t lost_former;   /* ... losses in front of the present one, in @info, too, and ... */
	uint64_t lost_between;  /* ... those of them that the next event is to tell */
	struct pxt_event event; /* the next one, when @filled */
	bool filled;
	bool passing;          /* what is before the part is passed over, up to ... */
	int64_t passing_ns;    /* ... this time, but for ... */
	uint64_t passing_left; /* ... so many events of a block that may tell names */
	uint32_t place;        /* among the sources of the reader */
	uint32_t refills;      /* of @views */
	uint32_t view;         /* the next one of ... */
	uint32_t view_end;     /* ... so many */
	struct posix_trace_eventview_np views[PXT_VIEWS];
	uint32_t type_count;
	uint32_t thread_count;
	size_t name_width; /* of the widest type of the log */
	struct pxt_type *types[PXT_TYPES_MAX];
	struct pxt_type odd_type;
	struct pxt_thread odd_thread;
	struct pxt_thread *last_thread;
	bool may_rename;     /* it has a type of event that gives threads other names */
	uint64_t all_events; /* of the whole log, ... */
	uint64_t all_lost; /* ... and what they say was lost before them: pxt_reader_read_part() */
	/* The same by stretches of so many blocks that have events. */
	struct pxt_log_stretch {
		int64_t begin_ns; /* the earliest stamp */
		uint64_t events;
	} * stretches; /* PXT_STRETCHES_MAX; NULL: nobody asked */
	uint32_t stretch_count;
	uint64_t stretch_blocks;
	uint64_t blocks_noted;
	bool renames; /* one of its threads was given another name than its table has */
	struct posix_trace_logthread_np *names; /* the log's table, by pthread_t */
	uint32_t name_count;
	uint32_t names_asked;                      /* posix_threads_np when @names was filled */
	struct pxt_thread **threads;               /* hash table */
	struct pxt_thread *numbered[PXT_NUMBERED]; /* chains, by the kernel's number */
	bool own_numbers;                          /* a process numbers its threads otherwise */
	uint32_t thread_mask;
	void *user; /* the subcommand's own */
};

struct pxt_progress;

struct pxt_reader {
	struct pxt_source **sources;
	unsigned count;
	struct pxt_logset *sets;
	unsigned set_count;
	int64_t start_ns; /* of the earliest log: zero of relative times */
	/* The sources that have a next event, as a heap: the earliest one first. */
	struct pxt_source **heap;
	unsigned heap_count;
	bool heap_made;
	const struct pxt_select
	    *part;      /* what is outside of its times stays unread; NULL: all is read */
	bool part_ends; /* what is behind them, too */
	bool misnamed;  /* no log has a name that the command line asked for (unknown.h) */
};

enum pxt_open_mode {
	PXT_OPEN_COMPLETE,
	PXT_OPEN_INCOMPLETE,
	PXT_OPEN_LIVE /* incomplete, and a pipe is read while it still brings something */
};

/*
 * Opens all logs, or says what is wrong with each and what can be done; returns an exit status.
 * @select may be NULL; it must outlive the reader.
 */
int pxt_reader_open(struct pxt_reader *reader, char *const *paths, unsigned count,
    enum pxt_open_mode mode, const struct pxt_select *select);
/* One log that grows, as @fd, which is taken over; @name is for messages. */
int pxt_reader_open_growing(
    struct pxt_reader *reader, const char *name, int fd, const struct pxt_select *select);
void pxt_reader_close(struct pxt_reader *reader);
/* The file alone ("-": standard input), a copy of it where it cannot be read in place. */
int pxt_open_file(const char *path, bool log, int *fd);

/* Learns from the log's table whose events may come. */
void pxt_source_learn_pids(struct pxt_source *source);
/*
 * A log that went to another file while it was read goes on there.  False: it is over; true: there is more, or
 * will be soon.
 */
bool pxt_source_go_on(struct pxt_reader *reader, struct pxt_source *source);
/* Whether @path names the log's file, or one of its files. */
bool pxt_source_has_file(const struct pxt_source *source, const char *path);
/* Learns which thread a fatal signal came to, from the STOP that it left; reading begins anew. */
void pxt_source_learn_crash(struct pxt_source *source);

/* The next event of all logs in the order of time, valid until the next call; NULL at the end. */
struct pxt_event *pxt_reader_next(struct pxt_reader *reader);
/*
 * ---- Reading a part ----
 *
 * What is before --from is passed over, and what is after --to is not read, if nothing that is shown depends on it:
 * the logs are complete, and no thread is chosen by a name that it may get on the way.  Times of events never
 * decrease, even where stamps do.
 */

/*
 * From now on, and after each pxt_reader_rewind(), the events of that part alone are read, if that can be: the rest
 * is counted as if it had been read.  @select must outlive the reader.  Events that tell names of threads and images
 * are read before it, too; @images: and behind it.
 */
void pxt_reader_read_part(struct pxt_reader *reader, const struct pxt_select *select, bool images);
/* Whether the logs are complete, and their heads can be read; all of these are looked at, for pxt_reader_last(). */
bool pxt_reader_has_stretches(struct pxt_reader *reader);
/*
 * After pxt_reader_has_stretches(): a time, the latest that the heads tell, from which on there are so many events at
 * least; INT64_MIN: there are not.
 */
int64_t pxt_reader_last(const struct pxt_reader *reader, uint64_t events);
/*
 * To the first events that are not before @ns, from wherever it was; threads must not have been renamed before.
 * False: a log cannot be read there; all are at their first events.
 */
bool pxt_reader_go_to(struct pxt_reader *reader, int64_t ns);
/*
 * In part.c, for source.c: to the first events that are in the part; past blocks in front of it, where one was read
 * that may tell names; what is behind it is counted.
 */
void pxt_part_begin(struct pxt_reader *reader);
void pxt_part_pass(struct pxt_source *source);
void pxt_part_end(struct pxt_reader *reader);

/*
 * In threads.c, for source.c: the log's table, once, and again when a growing log has more of it; the thread of an
 * event; what an event says of the number or the name of one; all threads as they are before the first event.
 */
void pxt_source_load_names(struct pxt_source *source);
struct pxt_thread *pxt_source_find_thread(
    struct pxt_source *source, uint64_t id, uint32_t entry, pid_t pid);
void pxt_source_learn_thread(struct pxt_reader *reader, const struct pxt_event *event);
void pxt_source_forget_threads(struct pxt_source *source);

/* Back to the first event of each log, or of the part. */
void pxt_reader_rewind(struct pxt_reader *reader);
/* Waits a moment, for a pipe until it brings something; then pxt_reader_again(). */
void pxt_reader_wait(struct pxt_reader *reader);
/* For growing logs: looks again at the end.  False when every log is complete by now. */
bool pxt_reader_again(struct pxt_reader *reader);

/* A time of the log on the line that it was placed on. */
int64_t pxt_source_placed(const struct pxt_source *source, int64_t ns);

/* What was lost and is not told by any event read so far (in the end: after the last one). */
uint64_t pxt_source_lost_rest(const struct pxt_source *source);

/* Whether more was recorded after the last event of the log, and how much, nobody knows. */
bool pxt_source_end_unknown(const struct pxt_source *source);

/*
 * The same, for one reading of all events of @reader; of logs that grow, those that were there when
 * they were opened.
 */
void pxt_progress_reader(struct pxt_progress *progress, const char *label,
    const struct pxt_reader *reader, bool beside_output);

/* One line on standard error about losses of a log, its end, its clock; an exit status. */
int pxt_ended_conclude(const struct pxt_source *source, bool whole, bool strict);
/* One line a log on standard error about losses, incomplete logs, failures; an exit status. */
int pxt_reader_conclude(struct pxt_reader *reader, bool whole, bool strict);

/*
 * Sets the shifts, and with them the starts, of opened logs: those of one boot lie by CLOCK_MONOTONIC, whatever
 * happened to the civil clock between their beginnings; where that is far, it is said.
 */
void pxt_align(struct pxt_reader *reader);

/* ---- What is wrong with a file that should be a log ---- */

/* Says why it could not be opened as a complete log, and the remedy that a person may need. */
void pxt_explain_log(const struct pxt_source *source, const struct posix_trace_logerror_np *error);
/* Whether it is one that may still grow. */
bool pxt_explain_is_growing(int fd);
/* What can be done about a complete log that is damaged; @read: what came before the damage was read. */
void pxt_explain_damage(const char *path, bool read);
/* Says what a file that is no log seems to be; false where it has no idea.  @path: for advice. */
bool pxt_explain_content(const char *path, int fd);

/*
 * Which of the files that a command was given are one log, which went from file to file.
 *
 * Named may be each of the files, in any order; their folder; or what their names begin with (run.ptl of
 * run.ptl.0001 and so on), where there is no file of that name.
 */

/* One log. */
struct pxt_logset {
	char *path;   /* as it is called */
	char **files; /* in the order of the log; NULL: @path is the file */
	uint32_t *numbers;
	unsigned count;
	unsigned char uuid[16];
};

/*
 * The logs of @paths, in the order in which they were named; a file of no such log is a log of its own.
 * Says which files are empty.
 */
struct pxt_logset *pxt_sets_find(char *const *paths, unsigned count, unsigned *found);
void pxt_sets_free(struct pxt_logset *sets, unsigned count);
/*
 * Of a log whose last known file was read to its end: opens the next one, which pxt_sets_add() makes one of @set.
 * It is made before that end is written, so it is there if there will be one.
 */
enum pxt_sets_next {
	PXT_SETS_OVER, /* there is none, */
	PXT_SETS_SOON, /* it is empty yet, */
	PXT_SETS_NEXT  /* it is open: *@fd, *@path, which is to be freed, *@number */
} pxt_sets_next(const struct pxt_logset *set, int *fd, char **path, uint32_t *number);
void pxt_sets_add(struct pxt_logset *set, const char *path, uint32_t number);
/* Its newest file is empty: what was recorded after the file before is not in it. */
bool pxt_sets_lacks_end(const struct pxt_logset *set);
/* How many files are not there between this one and the one before. */
uint32_t pxt_sets_missing(const struct pxt_logset *set, unsigned file);
/* Says which numbers are not there between the first and the last. */
void pxt_sets_say_missing(const struct pxt_logset *set);

#endif
