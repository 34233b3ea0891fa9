/* SPDX-License-Identifier: MIT */
/*
 * ftracetext.h - events of the Linux kernel from text: tracefs' own (`cat trace`), that of `trace-cmd report`, or
 * that of `perf script`.
 *
 *	TASK-TID [(TGID)] [CPU] [FLAGS] STAMP: EVENT: PAYLOAD
 *	TASK [PID/]TID [CPU] STAMP: [GROUP:]EVENT: PAYLOAD
 *
 * Of the scheduler's switches and wakeups the payload becomes data: the kernel's own ("prev_comm=a prev_pid=1 ..."),
 * or the short one that trace-cmd makes of sched_switch and sched_wakeup ("a:1 [120] S ==> b:2 [120]").  Fields are
 * named as LTTng names them (tid for the kernel's pid).
 */
#ifndef PXT_FTRACETEXT_H
#define PXT_FTRACETEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define PXT_FTRACETEXT_KINDS 4u
#define PXT_FTRACETEXT_BYTES 64u
#define PXT_FTRACETEXT_LINE  1024u
#define PXT_FTRACETEXT_COMM  16u

struct pxt_ftracetext_event {
	uint64_t stamp; /* nanoseconds, or ticks */
	uint64_t lost_before;
	unsigned
	    kind; /* of pxt_ftracetext_types; PXT_FTRACETEXT_KINDS: another one, with @name and @text */
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

#endif
