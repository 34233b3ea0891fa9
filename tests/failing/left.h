/* SPDX-License-Identifier: MIT */
/*
 * left.h - what a process has at a moment, as far as a call of the library can leave something
 * after: descriptors, threads, memory, locks; and calls of the system that fail.  Linked with the fakes, which count for it.
 */
#ifndef FAILING_LEFT_H
#define FAILING_LEFT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct left {
	unsigned descriptors; /* how many, ... */
	unsigned long which;  /* ... and what they are */
	unsigned stale;       /* not open, but wrappers of close() take them for the library's */
	unsigned threads;
	unsigned
	    maps; /* lines of /proc/self/maps, but for heap, stacks and what the C library keeps */
	size_t map_bytes;
	long blocks; /* the fakes' counts */
	long bytes;
	long heap;
	int locks; /* of the calling thread */
};

struct left left_now(void);
bool left_same(const struct left *one, const struct left *two);
/*
 * Waits up to 30 seconds until the process has again what it had: threads end, and other sides
 * close, a moment later.  False: it has not, and @what says in what it differs.
 */
bool left_again(const struct left *before, char *what, size_t room);

/*
 * ---- The C library's calls that port/posix makes ----
 *
 * The n-th of them fails.  They are before the real ones (--wrap, calls.options).  Counted are those of the
 * library's own threads, and of others between calls_enter() and calls_leave().
 */

#define CALLS(X)                                                                                   \
	X(accept4)                                                                                 \
	X(bind)                                                                                    \
	X(close)                                                                                   \
	X(connect)                                                                                 \
	X(fcntl_duplicate)                                                                         \
	X(fcntl_seal)                                                                              \
	X(flock)                                                                                   \
	X(fstat)                                                                                   \
	X(fstatfs)                                                                                 \
	X(ftruncate)                                                                               \
	X(futex_wait)                                                                              \
	X(getcwd)                                                                                  \
	X(getrandom)                                                                               \
	X(get_robust_list)                                                                         \
	X(listen)                                                                                  \
	X(lstat)                                                                                   \
	X(madvise)                                                                                 \
	X(membarrier)                                                                              \
	X(memfd_create)                                                                            \
	X(mmap)                                                                                    \
	X(munmap)                                                                                  \
	X(open)                                                                                    \
	X(fdopendir)                                                                               \
	X(pidfd_open)                                                                              \
	X(poll)                                                                                    \
	X(posix_fallocate)                                                                         \
	X(preadv)                                                                                  \
	X(pthread_attr_init)                                                                       \
	X(pthread_create)                                                                          \
	X(pthread_mutex_init)                                                                      \
	X(pwrite)                                                                                  \
	X(pwritev)                                                                                 \
	X(read)                                                                                    \
	X(readlink)                                                                                \
	X(realloc)                                                                                 \
	X(recvmsg)                                                                                 \
	X(sendmsg)                                                                                 \
	X(socket)                                                                                  \
	X(socketpair)                                                                              \
	X(sysconf)                                                                                 \
	X(unlink)                                                                                  \
	X(write)

enum call {
#define X(name) CALL_##name,
	CALLS(X)
#undef X
	CALL_COUNT
};

/* No error: half of the bytes are taken. */
#define CALLS_HALF (-1)
#define CALLS_MOST 8

struct calls {
	atomic_uint made[CALL_COUNT];
	atomic_int which; /* enum call; -1: none fails */
	atomic_uint first;
	atomic_uint last;
	atomic_int error;
};

/* In memory that children share. */
extern struct calls *calls;
extern const char *const calls_names[CALL_COUNT];
/* What each can fail with, by its manual page; ends with 0. */
extern const int calls_errors[CALL_COUNT][CALLS_MOST];

void calls_enter(void);
void calls_leave(void);

#endif
