/* SPDX-License-Identifier: MIT */
/*
 * fixture.h - a child that traces into a log and comes to an end of some kind; its parent looks at
 * what became of the log.
 */
#ifndef PXT_CRASH_FIXTURE_H
#define PXT_CRASH_FIXTURE_H

#include "../suite_trace.h"

#include <stdatomic.h>
#include <stdint.h>
#include <trace_np.h>

struct fixture {
	int stream_policy; /* 0: the default; so for the others */
	int log_policy;
	unsigned lanes;
	size_t stream_bytes;
	int fd;         /* of the log; 0: a file of its own */
	bool unwatched; /* no handler is installed */
	bool impatient; /* locks will not be had */
	/* In the child, after the first events.  A value returned is its exit status. */
	int (*act)(const struct fixture *fixture);
	int argument;
};

/* What the child wrote down for its parent; zero before each fixture. */
struct fixture_notes {
	_Atomic uint32_t written; /* events whose call has returned: 0, 1, 2 ... */
	_Atomic uint32_t begun;   /* events whose call was entered */
	_Atomic uint32_t mark;    /* the fixture's own */
	_Atomic uintptr_t address;
};
extern struct fixture_notes *fixture_notes;

/* In the child: the stream, its descriptor, and events numbered on. */
extern trace_id_t fixture_stream;
extern int fixture_log;
#define FIXTURE_EVENTS 20u
void fixture_trace(unsigned events);

/* Plays @fixture in a child; returns how it ended, as of waitpid(). */
int fixture_play(const struct fixture *fixture);
/* How long it took, in milliseconds. */
extern long fixture_took_ms;

/* Of the log that the last fixture left: posix_trace_open()'s result. */
int fixture_open(trace_id_t *log);
/*
 * The log is complete: it has every event that was written, in order, once, and at most one that was only
 * begun; its books balance; it ends with STOP.  @signal: what it says ended the process (0: none).
 */
void fixture_expect_whole(int signal);
/* Either that, or it is refused and can be read as a growing one.  True: it is complete. */
bool fixture_expect_honest(int signal);

#endif
