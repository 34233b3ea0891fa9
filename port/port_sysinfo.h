/* SPDX-License-Identifier: MIT */
/*
 * port_sysinfo.h - what a log says about the process that wrote it.
 *
 * Never on the trace path; any thread, but not a signal handler.  Texts are cut to their room and
 * always end in NUL; what cannot be found is empty or 0.
 */
#ifndef PXT_PORT_SYSINFO_H
#define PXT_PORT_SYSINFO_H

#include "format/compiler.h"
#include "format/elfnote.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The executable's path; of one that is longer than @room its end, with a + before it.  "": not known. */
void pxt_port_executable(char *path, size_t room);
void pxt_port_host(char *name, size_t room);
/* Machine, kernel and its release: "x86_64 Linux 6.1.0-13-amd64". */
void pxt_port_system(char *name, size_t room);
/* CLOCK_REALTIME of this process' start (of its exec), to about 10 ms. */
void pxt_port_process_start(struct timespec *start);
/* 16 bytes that no two boots of any machines have in common; zeros where the system has none. */
#define PXT_BOOT_ID_BYTES 16u
void pxt_port_boot_id(unsigned char *id);
/* Random bytes, as far as the system has any; never all alike in two processes. */
void pxt_port_random(void *bytes, size_t count);

/* An executable or shared library in memory. */
struct pxt_port_module {
	uint64_t base; /* difference between run-time and link-time addresses */
	uint64_t low;  /* lowest and ... */
	uint64_t high; /* ... one after the highest mapped address */
	uint32_t buildid_bytes;
	unsigned char buildid[PXT_BUILDID_MAX];
	char path[256];
};
/* Calls @each for every module, the executable first.  @each must not load or unload any. */
void pxt_port_modules(
    void (*each)(void *context, const struct pxt_port_module *module), void *context);

struct pxt_port_thread_info {
	uint64_t thread; /* pthread_t as a number; 0 when it could not be told */
	int32_t tid;
	char name[16];
};
/*
 * Calls @each for every thread of the process.  Those threads notice nothing: no signal, no
 * system call of theirs.  Threads that begin or end meanwhile may be left out, others told twice.
 */
void pxt_port_threads(
    void (*each)(void *context, const struct pxt_port_thread_info *thread), void *context);
struct pxt_port_thread_state {
	int32_t
	    priority; /* as the scheduler counts: 0 is the most urgent, normal threads from 100 */
	int32_t rt_priority; /* 0: no real-time thread */
	int32_t cpu;         /* where it ran last */
	const char *policy;  /* other, fifo, rr, batch, idle, deadline, unknown */
	const char *state;   /* runnable, sleeping, blocked, stopped, idle, ended, unknown */
};
/* What a thread of this process does at the moment; false: it is gone, or the system does not tell. */
bool pxt_port_thread_state(int32_t tid, struct pxt_port_thread_state *state);
/* The calling thread. */
void pxt_port_thread_self(struct pxt_port_thread_info *self);

#endif
