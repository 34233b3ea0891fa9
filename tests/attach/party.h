/* SPDX-License-Identifier: MIT */
/*
 * party.h - a stream with a name in this process, and forked children that attach to it by that
 * name.  (A forked child has nothing of its parent's stream, so it is any process.)
 */
#ifndef PXT_TESTS_PARTY_H
#define PXT_TESTS_PARTY_H

#include "suite_trace.h"

#include <stdint.h>
#include <sys/types.h>
#include <trace.h>
#include <trace_np.h>

/* The name: a path in a folder of this test's own. */
extern char owner_name[128];

struct owner_spec {
	size_t stream_bytes; /* 0: 64 KiB */
	size_t data_bytes;   /* 0: the default */
	int policy;          /* 0: LOOP */
	unsigned lanes;      /* 0: 2 */
	bool stopped;
	bool guests; /* takes programs that did not ask for it */
	bool inherited;
	bool placed; /* owner_place() was called */
};
/* Makes the folder; owner_open() does it else. */
void owner_place(void);
/* After its owner was killed: takes away what is left. */
void owner_clear_away(void);
trace_id_t owner_open(const struct owner_spec *spec);
/* Also: nothing of it is left in the file system. */
void owner_close(trace_id_t trid);

/* Entries of a folder, /proc/self/fd for example, with those of the folder itself and its parent. */
unsigned party_entries(const char *path);

/* What a child is told and tells, one word at a time. */
struct producer {
	pid_t pid;
	int to; /* the parent's ends */
	int from;
};
/* In the child: */
extern int producer_in;
extern int producer_out;
void producer_say(uint64_t word);
uint64_t producer_hear(void);
/* Attaches; @bytes of memory, 0: the default.  Ends the child with 3 if that fails. */
trace_id_t producer_attach(size_t bytes);
/* Waits until what the child traces has an effect, or has none. */
void producer_wait(trace_event_id_t id, bool wanted);

/* Starts a child that runs @body and ends with status 0. */
struct producer producer_begin(void (*body)(void *argument), void *argument);
void producer_tell(const struct producer *producer, uint64_t word);
uint64_t producer_told(const struct producer *producer);
/* Waits for its end, which must be with status 0. */
void producer_end(struct producer *producer);
void producer_kill(struct producer *producer);

/* However busy the machine is. */
#define PATIENCE_MS 30000
/* Events of user types, as they come: waits until there are @count, or for @ms. */
size_t owner_collect(trace_id_t trid, struct pxt_event *events, size_t count, int ms);
/* How many of type @id come until @count have come, or for @ms. */
size_t owner_count(trace_id_t trid, trace_event_id_t id, size_t count, int ms);
/* Attached processes whose memory is looked at (inside.c). */
unsigned owner_producers(trace_id_t trid);
/* Waits until @count processes are attached. */
void owner_wait_producers(trace_id_t trid, unsigned count);
void owner_expect_the_law(trace_id_t trid);

#endif
