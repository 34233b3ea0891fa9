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
	/* As the scheduler counts: 0 is the most urgent, normal threads from 100. */
	int32_t priority;
	int32_t rt_priority; /* 0: no real-time thread */
	int32_t cpu;         /* where it ran last */
	const char *policy;  /* other, fifo, rr, batch, idle, deadline, unknown */
	const char *state;   /* runnable, sleeping, blocked, stopped, idle, ended, unknown */
};
/* What a thread of this process does at the moment; false: it is gone, or the system does not tell. */
bool pxt_port_thread_state(int32_t tid, struct pxt_port_thread_state *state);
/*
 * The functions that called what called at @caller, innermost first, at most @most.  Returns how many; 0: it is not
 * known on this machine, or the stack is the program's own.  Also in handlers of signals; errno stays.
 */
unsigned pxt_port_callers(const void *caller, uint64_t *callers, unsigned most);
/* The calling thread. */
void pxt_port_thread_self(struct pxt_port_thread_info *self);

/*
 * What who started the program asks the library for, and a word to them.
 *
 *   concurrency: at the start of the process, then by one thread at a time; remove() also in the handler of a
 *   fatal signal.
 */

#define PXT_ENVIRONMENT_PATH 4096u

/* The variable; NULL: it is not there, or the process has more rights than who started it. */
const char *pxt_port_environment(const char *name);
/* The working folder and a slash; "" where it cannot be told. */
void pxt_port_environment_folder(char folder[PXT_ENVIRONMENT_PATH]);

/*
 * A file for a log of this process alone.  What is at @path already is never written into, unless it is an
 * empty file of this user, or no file (a device, a pipe): a log of before, and the black box beside it, get
 * the names @path.~1~, @path.~2~, ... first.  *regular: it is a file.
 *
 * An error number: EBUSY if another process has it as its log; ELOOP: a symbolic link that another user made;
 * EPERM: something else that is another user's, in a folder for all; else what the system said.
 */
int pxt_port_environment_file(const char *path, uint32_t mode, int *fd, bool *regular);
/*
 * The same, a folder for the files of a log.  A folder of before gets another name, with its box.  ENOTDIR: something
 * else is at @path.
 */
int pxt_port_environment_newfolder(const char *path, uint32_t mode, int *fd);
/* A new file, and how to know it again.  Removed only as long as it is that one; async-signal-safe. */
struct pxt_port_newfile {
	char path[PXT_ENVIRONMENT_PATH];
	uint64_t device;
	uint64_t number;
};
int pxt_port_environment_box(const char *log, uint32_t mode, int *fd, struct pxt_port_newfile *box);
void pxt_port_environment_remove(const struct pxt_port_newfile *box);
/* What is written into a pipe from now on waits for its reader; up to here a full one is EAGAIN. */
void pxt_port_environment_close(int fd);

/*
 * "libptrace: NAME=VALUE: what: why" on the standard error output.  @what: "", or the part of it that is wrong;
 * @why: NULL: what the system says of @error.  Nothing where that output is another one than at the first call
 * of pxt_port_environment_folder(): a daemon has its own files there.
 */
void pxt_port_environment_complain(
    const char *name, const char *value, const char *what, const char *why, int error);

#endif
