/* SPDX-License-Identifier: MIT */
/*
 * shark.h - what the parts of the tracer share.
 *
 * Who beside whom: any number of threads and signal handlers log; they read @actual, count
 * themselves into a chunk that keeps old events (@taken), and call posix_trace_event().  Everything
 * else is done under the lock.  A thread that finds a chunk full takes the lock and goes on to the
 * next chunk; a signal handler inside a thread that has the lock is refused, and counted.
 *
 * All chunks share one stream of one lane, which has one order.  Going on is an event of it, too: what
 * comes before it is for the former chunk, what comes after it for the next.  So nothing is lost
 * or doubled there, whatever other threads have in their hands.
 */
#ifndef COMPAT_SHARK_H
#define COMPAT_SHARK_H

#include "../own.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <tracer.h>

/* Of an event: parameter 1, parameter 2; and the code, where that has no type of its own. */
#define SHARK_DATA_BYTES       6u
#define SHARK_OTHER_BYTES      8u
#define SHARK_FORMAT(one, two) "u16 " one ", u32 " two
#define SHARK_OTHER            256 /* place of the type of such codes */
/* Room beyond a chunk's size, for what was let into the former one and came late. */
#define SHARK_LATE             64u

/* A chunk, and what its user does not see; it is there if it has memory. */
struct shark_chunk {
	struct FTrace_Chunk seen;
	_Atomic uint32_t limit; /* places that there are; UINT32_MAX: the oldest event makes room */
	_Atomic uint32_t taken; /* places given out, if there is a limit */
	/* Events refused since it was selected; 64 bits of two, since some processors have no more at once. */
	_Atomic uint32_t refused;
	_Atomic uint32_t refused_high;
};

struct shark_tracer {
	_Atomic int actual;     /* chunk that events go into; -1: the tracer is disabled */
	_Atomic uint32_t quiet; /* families that are not logged, a bit each */
	int selected;           /* -1: none */
	int filled;             /* chunk that what is read of the stream goes into */
	DWORD largest;          /* events that the stream has room for */
	trace_id_t stream;      /* 0: disabled */
	struct shark_chunk chunks[FTRACE_CHUNKS_MAX];
	trace_event_id_t types[SHARK_OTHER + 1]; /* 0: no such code */
};

extern struct shark_tracer shark COMPAT_INSIDE;

/* False: the calling thread has the lock already, further up. */
bool shark_lock(void) COMPAT_INSIDE;
/* Returns @result. */
int shark_unlock(int result) COMPAT_INSIDE;
/* The chunk, and the lock; NULL: neither. */
struct shark_chunk *shark_enter(int number) COMPAT_INSIDE;
/* Under the lock. */
void shark_set_flags(struct shark_chunk *chunk, FTrace_flags flags) COMPAT_INSIDE;

/* The form of files and datagrams. */
static inline void shark_little(unsigned char *to, uint32_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

#endif
