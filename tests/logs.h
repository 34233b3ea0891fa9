/* SPDX-License-Identifier: MIT */
/* logs.h - what tests make and read of logs: golden ones, sets of files, black boxes, and those that children leave. */
#ifndef PXT_TESTS_LOGS_H
#define PXT_TESTS_LOGS_H

#include "format/imageheader.h"
#include "suite_trace.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

#if _PXT_UNIT_LOGRETRIEVAL

/* ---- The golden logs, as they are or damaged, in files of the test's own (golden/golden.c) ---- */

#define GOLDEN_MAX 8192

struct golden {
	unsigned char bytes[GOLDEN_MAX];
	size_t size;
};

/* Reads NAME.ptl of those that make_golden.py made. */
void golden_read(struct golden *golden, const char *name);
/* The one of 64 bits in this machine's byte order: its name, and whether that is the lowest byte first. */
const char *golden_native(void);
bool golden_little_endian(void);
/* A descriptor of a new, nameless file with these bytes. */
int golden_file(const void *bytes, size_t size);
/* Replaces the file's content. */
void golden_rewrite(int fd, const void *bytes, size_t size);
/* Makes the checksum of the head (@at 0) or of the block at @at right again. */
void golden_sign(struct golden *golden, size_t at);
/* Stores a number of 1, 2, 4 or 8 bytes in this machine's byte order; checksums stay as they were. */
void golden_put(struct golden *golden, size_t at, unsigned bytes, uint64_t number);
/* The bytes from @from up to @to are taken out, or are there twice. */
void golden_cut(struct golden *golden, size_t from, size_t to);
void golden_double(struct golden *golden, size_t from, size_t to);
/* Offset of the @which-th block (from 0) of @type in a sequential log of this byte order. */
size_t golden_block(const struct golden *golden, unsigned type, unsigned which);
/*
 * What posix_trace_log_open_np() says to these bytes, or what reading finds damaged first (EINVAL as well); a
 * log that it takes is closed.
 */
int golden_try(const void *bytes, size_t size, struct posix_trace_logerror_np *error);
/* Opens a golden log, fatally. */
trace_id_t golden_open(const char *name);

#endif

/*
 * ---- Logs that go from file to file, in a folder of their own (tolog/folder.c) ----
 *
 * And what all their files say together.
 */

#if _PXT_UNIT_LOG_ROTATE && _PXT_UNIT_LOGRETRIEVAL

#define FOLDER_FILES 64u

/* An empty folder; gone with all that is in it. */
struct folder {
	char path[64];
	int fd;
};
void folder_make(struct folder *folder);
void folder_remove(struct folder *folder);

/* Number of files; those of them that can be opened as a complete log. */
unsigned folder_count(const struct folder *folder);
bool folder_has(const struct folder *folder, const char *name);

/* A running stream of @rotation in the folder.  @attr may be NULL. */
trace_id_t folder_stream(const struct folder *folder, trace_attr_t *attr,
    const struct posix_trace_rotation_np *rotation);

/* Events that hold numbers, and behind them what no two have in common: no log has them in fewer bytes. */
void folder_record(trace_event_id_t event, uint32_t first, uint32_t last);

/* What a file holds. */
struct folder_log {
	struct posix_trace_loginfo_np info;
	uint32_t events; /* of the type that is asked for */
	uint32_t first;  /* 0: none */
	uint32_t last;
	uint64_t records;
	bool gap;   /* not one number after another */
	bool whole; /* has its end, and `pxtrace check` would find nothing */
};
/* File "NAME.number"; false: it is not there, or no log. */
bool folder_read(
    const struct folder *folder, unsigned number, const char *type, struct folder_log *log);

#endif

/*
 * ---- A stream's file as it is at this moment (blackbox/box.c) ----
 *
 * It is read in two ways that share no code: by the library's own reader, which takes a copy of the file for
 * a stream of this process, and by `pxtrace recover`, whose log is read.
 */

struct box_reader;

struct box {
	unsigned char *bytes;
	size_t size;
	const struct pxt_stream_header *header;
	const struct pxt_directory_header *directory;
	const char *procinfo;
	struct box_reader *reader;
	trace_id_t log; /* not 0: what pxtrace recover made of it */
	char type_name[TRACE_EVENT_NAME_MAX + 1];
	char type_format[POSIX_TRACE_FORMAT_MAX_NP + 1];
};

struct box_event {
	uint32_t id;
	uint32_t bytes;
	unsigned char data[4096];
	uint64_t thread;
	int32_t pid;
	uint64_t lost_before; /* as a log says it */
};

/* False: the file is no stream's.  What it claims to be beyond that is asserted. */
bool box_open(struct box *box, int fd);
/* From now on @box says what the log says that pxtrace recover makes of @fd; false: there is no pxtrace. */
bool box_recover(struct box *box, int fd);
/*
 * The log that pxtrace recover makes of @fd, a black box or a log; @all: with what the program had taken
 * itself.  Returns its exit status, and sets *salvaged if that is 0; -1: there is no pxtrace.
 */
int box_salvage(int fd, bool all, trace_id_t *salvaged);
void box_close(struct box *box);
/* The next event; false: there is none, and what is unfinished was given up. */
bool box_next(struct box *box, struct box_event *event);
void box_counts(struct box *box, struct posix_trace_counts_np *counts);
/* Whether the stream runs, as its gate says. */
bool box_runs(const struct box *box);
/* Threads that the file knows, by the library's reader alone. */
uint32_t box_threads(const struct box *box);
struct pxt_thread;
const struct pxt_thread *box_thread(const struct box *box, uint32_t index);

/* Name and description of a type, good until the next call; NULL: the file has no such type. */
const char *box_name(struct box *box, uint32_t id);
const char *box_format(struct box *box, uint32_t id);

/* Where a living stream of this process has its block. */
void *box_memory(trace_id_t trid);

/*
 * ---- A child that traces into a log and comes to an end of some kind (crash/kit.c) ----
 *
 * Its parent looks at what became of the log.
 */

struct crash {
	int stream_policy; /* 0: the default; so for the others */
	int log_policy;
	unsigned lanes;
	size_t stream_bytes;
	int fd;         /* of the log; 0: a file of its own */
	bool unwatched; /* no handler is installed */
	bool impatient; /* locks will not be had */
	/* In the child, after the first events.  A value returned is its exit status. */
	int (*act)(const struct crash *crash);
	int argument;
};

/* What the child wrote down for its parent; zero before each crash. */
struct crash_notes {
	_Atomic uint32_t written; /* events whose call has returned: 0, 1, 2 ... */
	_Atomic uint32_t begun;   /* events whose call was entered */
	_Atomic uint32_t mark;    /* the crash's own */
	_Atomic uintptr_t address;
};
extern struct crash_notes *crash_notes;

/* In the child: the stream, its descriptor, and events numbered on. */
extern trace_id_t crash_stream;
extern int crash_log;
#define CRASH_EVENTS 20u
void crash_trace(unsigned events);

/* Plays @crash in a child; returns how it ended, as of waitpid(). */
int crash_play(const struct crash *crash);
/* How long it took, in milliseconds. */
extern long crash_took_ms;

/* Of the log that the last crash left: posix_trace_open()'s result. */
int crash_open(trace_id_t *log);
/*
 * The log is complete: it has every event that was written, in order, once, and at most one that was only
 * begun; its books balance; it ends with STOP.  @signal: what it says ended the process (0: none).
 */
void crash_expect_whole(int signal);
/* Either that, or it is refused and can be read as a growing one.  True: it is complete. */
bool crash_expect_honest(int signal);

#endif
