/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - what the files of `pxtrace run` share: the stream into which all traced processes record, and its
 * log; notes, the summary, the program and what is loaded into it.
 *
 * This process owns the stream; the others attach to it.  So all are in one log, what a killed process
 * recorded is still taken from its memory, and no process but this one has the log's file.
 */
#ifndef PXT_RECORDER_H
#define PXT_RECORDER_H

#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/sched/sched.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <trace.h>
#include <trace_np.h>

struct pxt_recorder {
	trace_id_t trid;
	char name[32]; /* of the stream */
	int fd;
	const char *path;
	const struct posix_trace_rotation_np *rotation; /* NULL: the log is one file */
};

#define PXT_RECORDER_REASONS 8u

/* What came of it. */
struct pxt_recorder_sum {
	struct posix_trace_counts_np counts; /* of the stream, at its end */
	uint64_t
	    log_lost;     /* what the log was given and does not hold: overwritten, without room, or
	                      not written */
	uint64_t refused; /* so often a process found no place among those that are attached */
	struct {
		char why[64];
		uint64_t count;
	} untraced
	    [PXT_RECORDER_REASONS]; /* processes that are not in the log, the rest, by the reason */
	/* Numbers of processes: children that their parents told; those that are told of otherwise, in order; ... */
	struct pxt_recorder_numbers {
		int32_t *of;
		size_t count;
	} forked, told, executed; /* @executed: other programs, of which nothing has come yet */
	/* What some of the programs do is not recorded: a part of what is told once. */
	char looked[256]; /* the program that was looked at last */
	bool has_go;
	bool has_uring;
	bool has_spaces; /* dlmopen() */
	int error;       /* the log has no end; what was recorded before is in it */
};

/* Whether the file at @path is a log. */
bool pxt_recorder_is_log(const char *path);
/* The name that its stream will have. */
void pxt_recorder_name(struct pxt_recorder *recorder);
/*
 * @size 0: no limit; @ring: the newest @size bytes.  Where @recorder->rotation is set, @fd is a folder's.  False with
 * a word to the user.
 */
bool pxt_recorder_open(
    struct pxt_recorder *recorder, int fd, const char *path, uint64_t size, bool ring);
/* What was taken goes into the log. */
void pxt_recorder_flush(const struct pxt_recorder *recorder);
/*
 * Takes what all processes have recorded so far, and ends the log.  pxt_recorder_free() gives back what *sum holds.  @looks: the
 * log is read for what it says of processes and losses; else *sum has the stream's counts alone.
 */
void pxt_recorder_close(struct pxt_recorder *recorder, struct pxt_recorder_sum *sum, bool looks);
void pxt_recorder_free(struct pxt_recorder_sum *sum);
static inline int pxt_recorder_in_order(const void *one, const void *other)
{
	int32_t a = *(const int32_t *)one;
	int32_t b = *(const int32_t *)other;

	return (a > b) - (a < b);
}

/* In order, each once. */
static inline void pxt_recorder_sort(struct pxt_recorder_numbers *numbers)
{
	size_t kept = 0;

	if (numbers->count)
		qsort(numbers->of, numbers->count, sizeof *numbers->of, pxt_recorder_in_order);
	for (size_t i = 0; i < numbers->count; i++)
		if (!kept || numbers->of[kept - 1] != numbers->of[i])
			numbers->of[kept++] = numbers->of[i];
	numbers->count = kept;
}

/* Whether @number is one of those that are in order. */
static inline bool pxt_recorder_has(const struct pxt_recorder_numbers *numbers, int32_t number)
{
	return numbers->count &&
	       bsearch(&number, numbers->of, numbers->count, sizeof number, pxt_recorder_in_order);
}

/* What `pxtrace run` puts into its log in words: the user's notes, the command, its status. */

#define PXT_NOTES_MAX 32u

struct pxt_notes {
	unsigned count;
	bool no_arguments; /* the command without what may be nobody else's business */
	struct posix_trace_lognote_np list[PXT_NOTES_MAX];
};

/* One of the user's: KEY=VALUE.  False, with a word to the user, where it is none. */
bool pxt_recorder_notes_add(struct pxt_notes *notes, const char *text);
/* All of them, and the command, into the log of @trid. */
void pxt_recorder_notes_tell(const struct pxt_notes *notes, trace_id_t trid, char *const *argv);
/* That the kernel kept it from running, if it did. */
void pxt_recorder_notes_tell_throttled(trace_id_t trid, const struct pxt_throttle *throttled);
/* How the program ended. */
void pxt_recorder_notes_tell_status(trace_id_t trid, int status);

/*
 * What a recorded run came to, in a few lines for a person: events and losses, the locks that
 * were waited for longest, what threads did with their time, the longest waits in a sentence each.
 */

struct pxt_summary {
	const char *path; /* of the log */
	bool replaced;    /* it took an older one's place */
	bool ring;        /* what the log does not hold was overwritten, as was asked for */
	const struct pxt_recorder_sum *sum;
	struct pxt_throttle throttled;
	uint64_t sched_lost;    /* records of the scheduler */
	uint64_t sched_beyond;  /* its events that are not in the log because of --size */
	uint64_t sched_unended; /* requests to disks, of which the kernel told no end */
};

/* An exit status. */
int pxt_summary(struct pxt_out *out, const struct pxt_summary *summary);

/*
 * The library that is loaded into the program, and what tells it what to record: variables of
 * the program's environment (sysevents/wrap/start.c reads them).
 */

#define PXT_PRELOAD_PATH     4096u
#define PXT_PRELOAD_VARIABLE 16384u
#define PXT_PRELOAD_COUNT    12u
/* Bytes of a ring at least (sysevents/wrap/start.c). */
#define PXT_PRELOAD_RING     65536u

struct pxt_preload {
	char library[PXT_PRELOAD_PATH];
	char text[PXT_PRELOAD_COUNT][PXT_PRELOAD_VARIABLE];
	char *list[PXT_PRELOAD_COUNT + 1]; /* "NAME=value", NULL last */
	unsigned count;
};

/* What is to be recorded. */
struct pxt_preload_wish {
	const char *stream; /* its name */
	struct pxt_groups groups;
	uint64_t buffer; /* bytes of all rings of a process; 0: as the library has it */
	/* Waits that long tell all who called; 0: long ones the next; UINT64_MAX: none. */
	uint64_t stack_us;
	bool all; /* locks that were free are events, too */
};

/* Finds the library: beside this program, or where PXTRACE_PRELOAD says.  False with a word to the user. */
bool pxt_preload_find(struct pxt_preload *preload);
void pxt_preload_set(struct pxt_preload *preload, const struct pxt_preload_wish *wish);

/*
 * A log that goes from file to file, in a folder of that name: all of them are called by its last part.
 */

struct pxt_rotate {
	bool is_set;
	struct posix_trace_rotation_np rotation;
	char folder[PXT_PRELOAD_PATH]; /* without slashes at its end */
};

/* Of --rotate: BYTES, TIME, or both, and FILES.  False, with a word to the user. */
bool pxt_rotate_take(struct pxt_rotate *rotate, char *value);
/* The folder @output, which is made if it is not there; -1, with a word to the user. */
int pxt_rotate_open(struct pxt_rotate *rotate, const char *output);
/* Files of an older log make room, as an older log does that is one file.  False: there were none. */
bool pxt_rotate_remove_older(struct pxt_rotate *rotate);

/*
 * The program that `pxtrace run` starts: where it is, whether a library can be loaded
 * into it, and its life.
 */

/* What a shell returns where a program cannot be started. */
#define PXT_PROGRAM_NOT_FOUND   127
#define PXT_PROGRAM_NOT_STARTED 126

struct pxt_program {
	char **argv;
	char path[PATH_MAX];
	pid_t pid;
	int start;  /* a pipe: what is written there lets it begin */
	int failed; /* a pipe: why it could not be started */
};

/*
 * Looks for argv[0] as a shell would.  0, or the exit status with a word to the user.
 */
int pxt_program_find(struct pxt_program *program, char **argv);
/* Whether Go made the program at @path. */
bool pxt_program_is_go(const char *path);
/*
 * Whether the preload library will be loaded into it; if not, says why and what helps.  @library: where
 * the preload library is.
 */
bool pxt_program_traceable(const struct pxt_program *program, const char *library);
/* A process that waits to become the program, with @variables ("NAME=value", NULL last) in its environment. */
bool pxt_program_prepare(struct pxt_program *program, char *const *variables);
/* It begins.  0, or the exit status with a word to the user. */
int pxt_program_begin(struct pxt_program *program);
/* Has it ended?  Then its exit status as a shell has it. */
bool pxt_program_ended(struct pxt_program *program, int *status);
/* Processes that lose their parent become children of this one. */
void pxt_program_adopt(void);
/* Whether there are children of this process left; those that have ended are forgotten. */
bool pxt_program_has_children(void);
/* From now on signals to this process go to the program; those of the terminal reach it by themselves. */
void pxt_program_forward(const struct pxt_program *program);
/* Signals mean what they did before. */
void pxt_program_forward_no_more(void);
/* Whether that process is there, has not ended, and is no older than this one: numbers are used again. */
bool pxt_program_is_alive(pid_t pid);

#endif
