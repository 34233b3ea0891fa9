/* SPDX-License-Identifier: MIT */
/*
 * schedwatch.h - a program's threads as the kernel's scheduler sees them, beside the program, into a
 * log of its own (schedlog.h says which events), which `pxtrace merge` brings onto one line of time
 * with the program's own.
 *
 *	pid = fork();                 the child waits for a byte, say, before it calls exec
 *	file = { .path = "run.sched.ptl" };
 *	watch = pxt_schedwatch_open(pid, &file, PXT_SCHEDLEVEL_POINTS, &told);
 *	if (pxt_schedsay_missing(&say, &told))  what is not recorded, and what would allow it: once
 *	...the child may go on...
 *	poll() of pxt_schedwatch_fd(watch) and whatever else, PXT_SCHEDWATCH_MS at most, then
 *	    pxt_schedwatch_poll(watch);
 *	error = pxt_schedwatch_end(watch, &told);
 *
 * All functions are for one thread.  The child may be anybody's program: static, setuid (whose
 * records end with its exec unless the caller is root), or one that closes all descriptors.  Nothing of
 * this is in it.
 *
 * Memory: the rings (schedlog.h), 64 KiB a CPU, and 64 bytes a thread.
 */
#ifndef PXT_SCHEDWATCH_H
#define PXT_SCHEDWATCH_H

#include "tools/sched/schedlog.h"

#define PXT_SCHEDWATCH_MS 100 /* how often it wants to be polled */

#define PXT_SCHEDTOLD_UNKNOWN 99

/* What is recorded, and what became of it. */
struct pxt_schedtold {
	enum pxt_schedlevel level;
	int error;        /* why nothing is recorded, an errno; 0 */
	int all_error;    /* why not of all threads; 0 */
	int points_error; /* why no tracepoints; 0 */
	bool other_space; /* ... because this is a container with its own numbers of threads */
	int paranoid;     /* kernel.perf_event_paranoid; -1 to 4, or PXT_SCHEDTOLD_UNKNOWN */
	unsigned cpus;
	uint64_t ring_bytes; /* of one CPU */
	/* After the end: */
	uint64_t events;   /* in the log */
	uint64_t switches; /* of watched threads */
	uint64_t wakes;
	uint64_t lost;     /* records that had no room, told to the log where they are missing */
	uint64_t beyond;   /* events that had no room in the file, or were overwritten there */
	unsigned segments; /* 2: the older events are in the other file */
	uint64_t
	    late; /* records that came too late for their place: written with the time before */
	uint64_t broken; /* bytes that were no record */
};

struct pxt_schedwatch;

/* Where it is recorded. */
struct pxt_schedwatch_file {
	const char *path; /* NULL: in memory (pxt_schedwatch_memory()) */
	uint64_t limit;   /* bytes of records; 0: no bound */
	const char *
	    other; /* with it, both take turns, and the newest events are kept; NULL: the first are */
};

/*
 * Begins to watch @child, a process that does not run yet, and all that it will start.  @path gets the
 * log when it ends.  @most: no more than this (PXT_SCHEDLEVEL_POINTS: all that can be had).  NULL:
 * nothing is recorded, @told->error says why.
 */
struct pxt_schedwatch *pxt_schedwatch_open(pid_t child, const struct pxt_schedwatch_file *file,
    enum pxt_schedlevel most, struct pxt_schedtold *told);
/* Readable (POLLIN) when a ring is a quarter full; stays the same. */
int pxt_schedwatch_fd(const struct pxt_schedwatch *watch);
/* Of a log in memory: its descriptor, until the end; -1: there is none. */
int pxt_schedwatch_memory(const struct pxt_schedwatch *watch);
/* Takes what is there, but for the last moments, since CPUs may tell theirs late.  0, or the log's errno. */
int pxt_schedwatch_poll(struct pxt_schedwatch *watch);
/* Takes all and closes the log.  0, or its errno: then there is no log.  @told is filled anew; NULL is allowed. */
int pxt_schedwatch_end(struct pxt_schedwatch *watch, struct pxt_schedtold *told);
/* The same without a log; also in a child process, which must not go on watching. */
void pxt_schedwatch_abandon(struct pxt_schedwatch *watch);

/* ---- What is not recorded, in a sentence ---- */

struct pxt_schedsay {
	char what[160]; /* for pxt_complain(): what is not recorded, and why */
	char how[160];  /* for pxt_explain(): the line that would allow it; "": there is none */
};

/* False: all that the kernel has is recorded, and there is nothing to say. */
bool pxt_schedsay_missing(struct pxt_schedsay *say, const struct pxt_schedtold *told);

#endif
