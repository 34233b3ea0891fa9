/* SPDX-License-Identifier: MIT */
/*
 * owncalls.h - the library's own system calls, which the program must not notice: errno stays, the thread is not
 * cancelled in the middle (a lock of Core may be held around it), no write raises SIGPIPE or SIGXFSZ, and wrappers do
 * not record them as the program's.  Which descriptors are the library's: never 0 to 2, and none that the program has
 * closed.
 */
#ifndef PXT_OWNCALLS_H
#define PXT_OWNCALLS_H

#include "port/port.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

PXT_INLINE void pxt_errno_end(const int *kept)
{
	errno = *kept;
}

/* errno alone stays as it is here, to the end of the block, which may return a value.  Async-signal-safe. */
#define PXT_KEEP_ERRNO()                                                                           \
	PXT_UNUSED const int pxt_errno_here __attribute__((cleanup(pxt_errno_end))) = errno

struct pxt_owncalls {
	int error;
	int cancel;
};

struct pxt_owncalls pxt_owncalls_begin(void);
void pxt_owncalls_end(const struct pxt_owncalls *kept);
/* From here to the end of the block, which may return a value; the value of @call, which is made so. */
#define PXT_OWNCALLS()                                                                             \
	PXT_UNUSED const struct pxt_owncalls pxt_owncalls_here                                     \
	    __attribute__((cleanup(pxt_owncalls_end))) = pxt_owncalls_begin()
#define PXT_OWNCALL(call)                                                                          \
	__extension__({                                                                            \
		PXT_OWNCALLS();                                                                    \
                                                                                                   \
		call;                                                                              \
	})

/*
 * Writes that end no program: SIGPIPE, SIGXFSZ and SIGTTOU of the library's own writes never
 * reach it.  Async-signal-safe.
 */

struct pxt_unraised {
	sigset_t mask;    /* as it was */
	sigset_t pending; /* what the program left pending before */
};

void pxt_unraised_begin(struct pxt_unraised *unraised);
/* @failed: a write had an error, and may have raised one. */
void pxt_unraised_end(const struct pxt_unraised *unraised, bool failed);
/* A line of @count pieces to standard error, which nobody may read any more. */
struct iovec pxt_unraised_piece(const char *text);
void pxt_unraised_tell(const struct iovec *line, int count);

/* How long a file of this process may become: files that are memory (a log's: logout.c). */

/* Beyond this limit, also of a file in memory, the system would not only refuse, but send SIGXFSZ. */
PXT_INLINE bool pxt_beyond_limit(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	       bytes > (uint64_t)limit.rlim_cur;
}

/*
 * ---- Which descriptors are the library's ----
 *
 * Never one of the numbers 0 to 2, also in a program that closed its own; and how an open file is told from
 * another one of the same inode.  Async-signal-safe; errno is not kept.
 */

#define PXT_FIRST_DESCRIPTOR 3

/*
 * The system gives the lowest number that is free.  From begin() to end() those of 0 to 2 are taken by descriptors
 * that nothing can be read from and written to, as from closed ones.  Where another thread frees one meanwhile,
 * pxt_descriptor_up() moves what got it.  Pairs within a pair of the same thread ask nothing.
 */
void pxt_lows_begin(void);
void pxt_lows_end(void);

/* @fd, or its duplicate at a number that can be the library's; -1. */
int pxt_descriptor_up(int fd);
/* openat(), closed by exec, with the above; @mode: of a file that is made. */
int pxt_descriptor_open(int folder, const char *path, int flags, unsigned mode);
/* What a file of the system's says, which ends in NUL then, and its bytes; -1: nothing. */
long pxt_descriptor_text(const char *path, char *text, size_t room);

/*
 * A duplicate has its original's mark, a file that is opened once more has none.  The mark is the number of the signal
 * that would tell of input and output, set to what it is anyway.
 */
PXT_INLINE int pxt_descriptor_mark(int fd)
{
	if (fcntl(fd, F_GETSIG) == 0)
		(void)fcntl(fd, F_SETSIG, SIGIO);
	return fcntl(fd, F_GETSIG);
}

/* Where a file is; whether it is the one that was there. */
PXT_INLINE struct pxt_port_place pxt_descriptor_place(const struct stat *state)
{
	return (struct pxt_port_place){ (uint64_t)state->st_dev, (uint64_t)state->st_ino };
}

PXT_INLINE bool pxt_descriptor_at(const struct stat *state, const struct pxt_port_place *place)
{
	return (uint64_t)state->st_dev == place->device && (uint64_t)state->st_ino == place->file;
}

/* Closed by exec, as the library's are, and of the open file that had @mark. */
PXT_INLINE bool pxt_descriptor_is(int fd, int mark)
{
	return fcntl(fd, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_GETSIG) == mark;
}

/*
 * ---- Of those, what is open for long beside the program (kept.c) ----
 *
 * The program may close such a number, and open something of its own there.
 */

/*
 * *fd moves up, if need be, and is the library's from now on, until pxt_kept_close(); closed where that fails.  Where it
 * only might be higher, it stays then.  @marked: nobody else has this open file.
 */
int pxt_kept_take(int *fd, bool marked);
/* Without an answer of the system it is not another's, as far as anybody knows. */
bool pxt_kept_is(int fd);
/* What the program has at that number since is not closed. */
void pxt_kept_close(int fd);
/* What stays open when the call has ended: wrappers keep the program from closing it. */
int pxt_kept_open(int fd, int error);
/* What a path or a new descriptor can have against it, as callers of the library know it. */
int pxt_kept_error(int error);
/* A new descriptor, or -1 with errno as its maker left it; after pxt_lows_begin(), which it ends. */
int pxt_kept_adopt(int made, int *fd, bool marked);
/* Closes *fd after an error, which comes back. */
int pxt_kept_settle(int *fd, int error);

/*
 * ---- The fence that reaches other processes (processes.c), for fence.c ----
 *
 * A pointer, because Log Retrieval has the one file and not the other.
 *
 *   concurrency: any thread, at any time.
 */

/* Set by pxt_port_fence_processes(), in this process or before the fork it came from; else NULL. */
struct pxt_processes {
	bool (*fence)(void);
};
extern const struct pxt_processes *_Atomic pxt_processes;

#endif
