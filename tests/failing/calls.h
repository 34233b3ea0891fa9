/* SPDX-License-Identifier: MIT */
/*
 * calls.h - the C library's calls that port/posix makes, of which the n-th fails.  They are
 * before the real ones (--wrap, calls.options).  Counted are those of the library's own threads,
 * and of others between calls_enter() and calls_leave().
 */
#ifndef FAILING_CALLS_H
#define FAILING_CALLS_H

#include <stdatomic.h>

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
	X(opendir)                                                                                 \
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
