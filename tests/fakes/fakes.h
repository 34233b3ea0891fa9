/* SPDX-License-Identifier: MIT */
/*
 * fakes.h - a port that does as a test says: a clock that stands still until it is moved, and
 * calls of which the n-th fails.
 *
 * The fakes are before the real port's functions (the linker's --wrap, tests/CMakeLists.txt); as long as
 * a test asks for nothing they pass every call through.  One file a subject, so that a
 * configuration without logs links without the fake of log output.
 *
 *	for (unsigned n = 1; ; n++) {
 *		pxt_fault_arm(&pxt_fault_alloc, n, 0);
 *		...
 *		if (pxt_fault_alloc.calls < n)
 *			break;          every place that can fail has failed once
 *	}
 */
#ifndef PXT_FAKES_H
#define PXT_FAKES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- Faults ---- */

struct pxt_fault {
	atomic_uint calls;    /* since it was armed */
	atomic_uint first;    /* this call fails, counted from 1; 0: none does */
	atomic_uint last;     /* and all others up to this one */
	atomic_int error;     /* what they return, where they return a number */
	atomic_size_t accept; /* log output: so many bytes go out before the error */
};

extern struct pxt_fault pxt_fault_alloc;    /* pxt_port_alloc: NULL */
extern struct pxt_fault pxt_fault_shared;   /* pxt_port_alloc_shared: NULL */
extern struct pxt_fault pxt_fault_heap;     /* pxt_port_heap_resize: NULL */
extern struct pxt_fault pxt_fault_read;     /* pxt_port_file_read */
extern struct pxt_fault pxt_fault_wait;     /* pxt_port_wait: does not sleep, returns the error */
extern struct pxt_fault pxt_fault_fence;    /* pxt_port_fence_all: false */
extern struct pxt_fault pxt_fault_thread;   /* pxt_port_thread_start */
extern struct pxt_fault pxt_fault_write;    /* pxt_port_log_write and _write_at, counted together */
extern struct pxt_fault pxt_fault_truncate; /* pxt_port_log_truncate */
extern struct pxt_fault pxt_fault_next;     /* pxt_port_log_next: no file is made */
extern struct pxt_fault pxt_fault_remove;   /* pxt_port_log_remove: nothing is removed */
extern struct pxt_fault pxt_fault_extend;   /* pxt_port_filemap_extend: after its work */
extern struct pxt_fault pxt_fault_filemap;  /* pxt_port_filemap */

/* What happens while the next pxt_port_alloc is under way, once; NULL: nothing. */
extern void (*_Atomic pxt_fault_alloc_meanwhile)(void);

/* Call @n from now on fails, once; 0 disarms. */
void pxt_fault_arm(struct pxt_fault *fault, unsigned n, int error);
/* All calls from the @n-th on fail. */
void pxt_fault_arm_from(struct pxt_fault *fault, unsigned n, int error);
/* Counts a call; true when it is to fail. */
bool pxt_fault_hit(struct pxt_fault *fault);

/* ---- What the library has at this moment ---- */

extern atomic_long pxt_live_blocks; /* of pxt_port_alloc, _alloc_shared, _filemap, _filemap_view */
extern atomic_long pxt_live_bytes;  /* in them */
extern atomic_long pxt_live_heap;   /* blocks of pxt_port_heap_resize */
extern atomic_ulong pxt_bytes_read; /* by pxt_port_file_read, so far */
/* Locks of pxt_port_mutex_lock and _try that this thread has not given back. */
extern _Thread_local int pxt_locks_held;

/* ---- Clock ---- */

#define PXT_FAKE_EPOCH  1700000000 /* CLOCK_REALTIME, in seconds, when the fake counter is 0 */
#define PXT_FAKE_UPTIME 1000       /* MONOTONIC and BOOTTIME at that moment */

/*
 * Stamps and clock pairs are made from a counter of @hz that only the test moves; the source says
 * it is the port's own.  Before the first stream of the process, and for its whole life.
 */
void pxt_fake_clock_start(uint64_t hz);
void pxt_fake_clock_set(uint64_t ticks);
void pxt_fake_clock_advance(uint64_t ticks);
/* Every reading moves the counter on by this much (0, as it starts: it stands still). */
void pxt_fake_clock_step(uint64_t ticks);
/* What a reading tells of what the counter says, if it is set: before any other thread reads it. */
extern uint64_t (*pxt_fake_clock_told)(uint64_t ticks);

/* ---- Random bytes ---- */

/* pxt_port_random() gives @byte over and over: two logs get the same UUID. */
void pxt_fake_random(unsigned char byte);

/*
 * ---- The two names that the linker gives a wrapped function ----
 *
 * Calls of f reach __wrap_f, and __real_f is the port's own.
 */

/* The names are the linker's choice, reserved or not. */
#define PXT_WRAPPED(result, name, parameters)                                                      \
	result __real_##name parameters;                                                           \
	result __wrap_##name parameters;                                                           \
	result __wrap_##name parameters

#endif
