/* SPDX-License-Identifier: MIT */
/*
 * import.h - recordings of others, as a log: of the Linux kernel by perf, trace-cmd or ftrace, of SEGGER SystemView, and
 * of S.Ha.R.K.'s tracer.  (CTF, as LTTng writes it: cmd_import.c runs babeltrace2 with tools/babeltrace/sink.c.)
 *
 * A file of perf (perf.data) or trace-cmd (trace.dat) is read by its own command (`perf script`, `trace-cmd report`);
 * the text is read twice: once for threads and types, once for the events.  Switches and wakeups have
 * the types of merged logs.  Each other event is a type with its name; what it says as KEY=VALUE
 * are its fields, if all its events say the same ones, else it is one text, `payload`.
 *
 * Memory: 24 bytes a thread, 1 KiB a type (PXT_LINUX_TYPES).
 */
#ifndef PXT_IMPORT_H
#define PXT_IMPORT_H

#include "tools/output/out.h"

#include "tools/write/logwrite.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#define PXT_LINUX_TYPES 512u

/*
 * @hz: rate of stamps that are a counter; 0: not known, or as the recording says.  Returns the exit status; if it is not
 * 0, a message was printed.
 */
int pxt_linux_import(const char *path, uint64_t hz, const char *output);
int pxt_sysview_import(const char *path, uint64_t hz, const char *output);
/* As pxt_linux_import(), of text that is open already; closes @file. */
int pxt_linux_text(FILE *file, const char *path, uint64_t hz, const char *output);

/* Ends @log (NULL: it could not be made).  Returns the exit status; if it is not 0, a message was printed. */
static inline int pxt_import_end(
    struct pxt_logwrite *log, const struct pxt_logend *end, const char *command, const char *output)
{
	int error = log ? pxt_logwrite_end(log, end) : ENOMEM;

	if (error)
		pxt_complain("%s: %s: %s", command, output, strerror(error));
	return error ? PXT_EXIT_OUTPUT : PXT_EXIT_OK;
}

/*
 * ---- Events of the Linux kernel from text (ftracetext.c) ----
 *
 * tracefs' own (`cat trace`), that of `trace-cmd report`, or that of `perf script`.
 *
 *	TASK-TID [(TGID)] [CPU] [FLAGS] STAMP: EVENT: PAYLOAD
 *	TASK [PID/]TID [CPU] STAMP: [GROUP:]EVENT: PAYLOAD
 *
 * Of the scheduler's switches and wakeups the payload becomes data: the kernel's own ("prev_comm=a prev_pid=1 ..."),
 * or the short one that trace-cmd makes of sched_switch and sched_wakeup ("a:1 [120] S ==> b:2 [120]").  Fields are
 * named as LTTng names them (tid for the kernel's pid).
 */

#define PXT_FTRACETEXT_KINDS 4u
#define PXT_FTRACETEXT_BYTES 64u
#define PXT_FTRACETEXT_LINE  1024u
#define PXT_FTRACETEXT_COMM  16u

struct pxt_ftracetext_event {
	uint64_t stamp; /* nanoseconds, or ticks */
	uint64_t lost_before;
	/* Of pxt_ftracetext_types; PXT_FTRACETEXT_KINDS: another one, with @name and @text. */
	unsigned kind;
	int cpu;
	pid_t tid;
	pid_t pid; /* 0: unknown */
	char comm[PXT_FTRACETEXT_COMM];
	size_t bytes;
	unsigned char data[PXT_FTRACETEXT_BYTES];
	char name[64];
	const char *text; /* the payload, until the next event */
};

/* Names and descriptions. */
extern const struct pxt_ftracetext_type {
	const char *name;
	const char *format;
} pxt_ftracetext_types[PXT_FTRACETEXT_KINDS];

/* Begin with zeros, @file and @others. */
struct pxt_ftracetext {
	FILE *file;
	bool others; /* events of other kinds are told, too */
	bool ticks;  /* stamps have no point: a counter */
	bool cut;    /* its last line has no end, and is not told */
	uint64_t events;
	uint64_t lost;    /* as the text says */
	uint64_t unknown; /* losses without a number, each counted as 1 */
	uint64_t skipped; /* lines of events that are not told */
	uint64_t pending; /* lost before the next event */
	struct pxt_ftracetext_event event;
	char line[PXT_FTRACETEXT_LINE];
};

/* The next event into @event; false at the end, or where the file cannot be read (ferror()). */
bool pxt_ftracetext_next(struct pxt_ftracetext *ftrace);
/* Back to the first one. */
void pxt_ftracetext_rewind(struct pxt_ftracetext *ftrace);

/*
 * ---- What S.Ha.R.K.'s tracer left (shark.c) ----
 *
 * Files of 16 bytes an event or datagrams of them, as a log.
 *
 *	struct pxt_shark shark = { .hz = 0 };
 *	if (pxt_shark_file(&shark, "0trace.dat")) ...
 *	status = pxt_shark_write(&shark, "run.ptl");
 *	pxt_shark_free(&shark);
 */

struct pxt_shark_record {
	uint64_t ticks;
	uint64_t place; /* in which it came: equal stamps stay in this order */
	uint32_t par2;
	uint16_t par1;
	uint16_t code;
};

struct pxt_shark {
	uint64_t hz; /* of the stamps; 0: what the trace says */
	struct pxt_shark_record *records;
	size_t count;
	size_t room;
	uint64_t empty;      /* places without an event */
	uint64_t packets;    /* datagrams taken */
	uint64_t spoilt;     /* datagrams that are none of these, short or too long */
	uint64_t twice;      /* datagrams whose number came before */
	uint32_t first;      /* lowest and ... */
	uint32_t last;       /* ... highest number of one */
	unsigned char *seen; /* a bit for each number */
	size_t seen_bytes;
	bool failed; /* there was no memory */
};

/* Datagrams are numbered from 0; one numbered higher is no part of a trace that anybody could have sent. */
#define PXT_SHARK_PACKETS_MAX 16777216u
/* No more are taken: what never ends would fill the memory. */
#define PXT_SHARK_EVENTS_MAX  16777216u

/* All events of a file.  An exit status; the user was told. */
int pxt_shark_file(struct pxt_shark *shark, const char *path);
/* Whether a datagram is one of these, whole or not. */
bool pxt_shark_is_packet(const unsigned char *bytes, size_t count);
void pxt_shark_packet(struct pxt_shark *shark, const unsigned char *bytes, size_t count);
/* Datagrams that did not come between those that did. */
uint64_t pxt_shark_missing(const struct pxt_shark *shark);
/* Sorts, and writes a log.  An exit status; the user was told. */
int pxt_shark_write(struct pxt_shark *shark, const char *command, const char *output);
void pxt_shark_free(struct pxt_shark *shark);

#endif
