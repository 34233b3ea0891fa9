/* SPDX-License-Identifier: MIT */
/* calls.c - see fixture.h. */
#define _GNU_SOURCE
#include "fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct calls *calls;

const char *const calls_names[CALL_COUNT] = {
#define X(name) #name,
	CALLS(X)
#undef X
};

const int calls_errors[CALL_COUNT][CALLS_MOST] = {
	[CALL_accept4] = { EMFILE, ECONNABORTED, EINTR, ENOMEM },
	[CALL_bind] = { EADDRINUSE, EACCES, ENOENT, ENOMEM },
	[CALL_close] = { EIO, EINTR },
	[CALL_connect] = { EINTR, EAGAIN, ECONNREFUSED, ENOENT, EACCES },
	[CALL_fcntl_duplicate] = { EMFILE },
	[CALL_fcntl_seal] = { EPERM, EINVAL, EBUSY },
	[CALL_flock] = { EINTR, EWOULDBLOCK, ENOLCK },
	[CALL_fstat] = { ENOMEM, EIO },
	[CALL_fstatfs] = { EINTR, EIO, ENOSYS },
	[CALL_ftruncate] = { EINTR, EIO, EFBIG, EPERM },
	[CALL_futex_wait] = { EINTR, EAGAIN },
	[CALL_getcwd] = { ENOENT, ENOMEM },
	[CALL_getrandom] = { EAGAIN, EINTR, ENOSYS },
	[CALL_get_robust_list] = { EPERM, ENOSYS },
	[CALL_listen] = { EADDRINUSE },
	[CALL_lstat] = { EACCES, ENOENT, ENOMEM },
	[CALL_madvise] = { EINVAL, ENOMEM, EAGAIN },
	[CALL_membarrier] = { ENOSYS, EPERM, EINVAL },
	[CALL_memfd_create] = { EMFILE, ENFILE, ENOMEM, EINVAL },
	[CALL_mmap] = { ENOMEM, EAGAIN, EPERM },
	[CALL_munmap] = { ENOMEM },
	[CALL_open] = { EMFILE, EINTR, EACCES, ENOENT },
	[CALL_fdopendir] = { ENOMEM },
	[CALL_pidfd_open] = { EMFILE, ENOSYS, ENODEV },
	[CALL_poll] = { EINTR, ENOMEM, EINVAL },
	[CALL_posix_fallocate] = { ENOSPC, EFBIG, EIO, ENODEV }, /* no signal is let through */
	[CALL_preadv] = { EINTR, EIO, CALLS_HALF },
	[CALL_pthread_attr_init] = { ENOMEM },
	[CALL_pthread_create] = { EAGAIN },
	[CALL_pthread_mutex_init] = { ENOTSUP, ENOMEM },
	[CALL_pwrite] = { EINTR, CALLS_HALF, ENOSPC, EIO, EFBIG, EDQUOT },
	[CALL_pwritev] = { EINTR, CALLS_HALF, ENOSPC, EFBIG },
	[CALL_read] = { EIO, EINTR, CALLS_HALF },
	[CALL_readlink] = { EACCES, ENOENT },
	[CALL_realloc] = { ENOMEM },
	[CALL_recvmsg] = { EINTR, ECONNRESET, ENOMEM },
	[CALL_sendmsg] = { EINTR, EAGAIN, ENOBUFS, EPIPE, ETOOMANYREFS },
	[CALL_socket] = { EMFILE, ENFILE, ENOMEM, ENOBUFS },
	[CALL_socketpair] = { EMFILE, ENFILE, ENOMEM, ENOBUFS },
	[CALL_sysconf] = { EINVAL },
	[CALL_unlink] = { EACCES, EBUSY, ENOENT },
	[CALL_write] = { EINTR, CALLS_HALF, EPIPE, EIO, ENOSPC, EAGAIN },
};

static _Thread_local int from_outside;

void calls_enter(void)
{
	from_outside--;
}

/* What calls this before anything else is no thread of the library. */
void calls_leave(void)
{
	from_outside++;
}

/* 0: it is not this call that fails. */
static int hit(enum call call)
{
	unsigned made;

	if (from_outside || !calls)
		return 0;
	made = atomic_fetch_add(&calls->made[call], 1u) + 1u;
	if (atomic_load(&calls->which) != (int)call || made < atomic_load(&calls->first) ||
	    made > atomic_load(&calls->last))
		return 0;
	return atomic_load(&calls->error);
}

/* The linker's names, reserved or not. */
#define DECLARE(result, name, parameters)                                                          \
	result __real_##name parameters;                                                           \
	result __wrap_##name parameters

#define WRAP_AS(call, result, failed, name, parameters, arguments)                                 \
	DECLARE(result, name, parameters);                                                         \
	result __wrap_##name parameters                                                            \
	{                                                                                          \
		int error = hit(CALL_##call);                                                      \
                                                                                                   \
		if (error) {                                                                       \
			errno = error;                                                             \
			return failed;                                                             \
		}                                                                                  \
		return __real_##name arguments;                                                    \
	}
#define WRAP(result, failed, name, parameters, arguments)                                          \
	WRAP_AS(name, result, failed, name, parameters, arguments)

WRAP(int, -1, accept4, (int fd, struct sockaddr *to, socklen_t *bytes, int flags),
    (fd, to, bytes, flags))
WRAP(int, -1, bind, (int fd, const struct sockaddr *to, socklen_t bytes), (fd, to, bytes))
WRAP(int, -1, connect, (int fd, const struct sockaddr *to, socklen_t bytes), (fd, to, bytes))
WRAP(int, -1, flock, (int fd, int how), (fd, how))
WRAP(int, -1, fstat, (int fd, struct stat *state), (fd, state))
WRAP_AS(fstat, int, -1, fstat64, (int fd, void *state), (fd, state))
WRAP_AS(fstatfs, int, -1, fstatfs64, (int fd, void *state), (fd, state))
WRAP(int, -1, ftruncate, (int fd, off_t bytes), (fd, bytes))
WRAP_AS(ftruncate, int, -1, ftruncate64, (int fd, off_t bytes), (fd, bytes))
WRAP(char *, NULL, getcwd, (char *path, size_t room), (path, room))
WRAP(ssize_t, -1, getrandom, (void *bytes, size_t count, unsigned flags), (bytes, count, flags))
WRAP(int, -1, listen, (int fd, int backlog), (fd, backlog))
WRAP_AS(lstat, int, -1, lstat64, (const char *path, void *state), (path, state))
WRAP(int, -1, madvise, (void *at, size_t bytes, int advice), (at, bytes, advice))
WRAP(int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(void *, MAP_FAILED, mmap, (void *at, size_t bytes, int prot, int flags, int fd, off_t from),
    (at, bytes, prot, flags, fd, from))
WRAP_AS(mmap, void *, MAP_FAILED, mmap64,
    (void *at, size_t bytes, int prot, int flags, int fd, off_t from),
    (at, bytes, prot, flags, fd, from))
WRAP(DIR *, NULL, fdopendir, (int fd), (fd))
WRAP(int, -1, poll, (struct pollfd * fds, nfds_t count, int ms), (fds, count, ms))
/* As compilers call them where they know how much room there is (_FORTIFY_SOURCE). */
WRAP_AS(poll, int, -1, __poll_chk, (struct pollfd * fds, nfds_t count, int ms, size_t room),
    (fds, count, ms, room))
WRAP_AS(getcwd, char *, NULL, __getcwd_chk, (char *path, size_t bytes, size_t room),
    (path, bytes, room))
WRAP_AS(posix_fallocate, int, error, posix_fallocate64, (int fd, off_t at, off_t bytes),
    (fd, at, bytes))
WRAP(int, error, pthread_attr_init, (pthread_attr_t * attr), (attr))
WRAP(int, error, pthread_create,
    (pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument),
    (thread, attr, run, argument))
WRAP(int, error, pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attr),
    (mutex, attr))
WRAP(ssize_t, -1, readlink, (const char *path, char *to, size_t room), (path, to, room))
WRAP(void *, NULL, realloc, (void *old, size_t bytes), (old, bytes))
WRAP(ssize_t, -1, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
WRAP(ssize_t, -1, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
WRAP(int, -1, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(int, -1, socketpair, (int domain, int type, int protocol, int ends[2]),
    (domain, type, protocol, ends))
WRAP(long, -1, sysconf, (int name), (name))
WRAP(int, -1, unlink, (const char *path), (path))

/* Those that have an effect all the same: the descriptor is closed, the memory is gone. */
#define WRAP_BEHIND(name, parameters, arguments)                                                   \
	DECLARE(int, name, parameters);                                                            \
	int __wrap_##name parameters                                                               \
	{                                                                                          \
		int error = hit(CALL_##name);                                                      \
		int result = __real_##name arguments;                                              \
                                                                                                   \
		if (error)                                                                         \
			errno = error;                                                             \
		return error ? -1 : result;                                                        \
	}
WRAP_BEHIND(close, (int fd), (fd))
WRAP_BEHIND(munmap, (void *at, size_t bytes), (at, bytes))

/* Those that can do half of what they are asked for. */
#define WRAP_HALF(call, name, pointer, more, arguments)                                            \
	DECLARE(ssize_t, name, (int fd, pointer bytes, size_t count more));                        \
	ssize_t __wrap_##name(int fd, pointer bytes, size_t count more)                            \
	{                                                                                          \
		int error = hit(CALL_##call);                                                      \
                                                                                                   \
		if (error == CALLS_HALF)                                                           \
			count = count > 1 ? count / 2 : count;                                     \
		if (error > 0) {                                                                   \
			errno = error;                                                             \
			return -1;                                                                 \
		}                                                                                  \
		return __real_##name arguments;                                                    \
	}
#define COMMA ,
WRAP_HALF(read, read, void *, , (fd, bytes, count))
WRAP_HALF(write, write, const void *, , (fd, bytes, count))
WRAP_HALF(pwrite, pwrite, const void *, COMMA off_t at, (fd, bytes, count, at))

/* Half of the pieces. */
DECLARE(ssize_t, pwritev64, (int fd, const struct iovec *pieces, int count, off_t at));
ssize_t __wrap_pwritev64(int fd, const struct iovec *pieces, int count, off_t at)
{
	int error = hit(CALL_pwritev);

	if (error > 0) {
		errno = error;
		return -1;
	}
	return __real_pwritev64(fd, pieces, error && count > 1 ? count / 2 : count, at);
}

/* ---- Those with a variable number of arguments: all are numbers or pointers ---- */

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, unsigned mode);
int __wrap_openat(int folder, const char *path, int flags, unsigned mode)
{
	int error = hit(CALL_open);

	if (error)
		errno = error;
	return error ? -1 : __real_openat(folder, path, flags, mode);
}

int __real_openat64(int folder, const char *path, int flags, ...);
int __wrap_openat64(int folder, const char *path, int flags, unsigned mode);
int __wrap_openat64(int folder, const char *path, int flags, unsigned mode)
{
	int error = hit(CALL_open);

	if (error)
		errno = error;
	return error ? -1 : __real_openat64(folder, path, flags, mode);
}

static int control_hit(int what)
{
	if (what == F_DUPFD_CLOEXEC)
		return hit(CALL_fcntl_duplicate);
	return what == F_ADD_SEALS || what == F_GET_SEALS ? hit(CALL_fcntl_seal) : 0;
}

int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, long argument);
int __wrap_fcntl(int fd, int what, long argument)
{
	int error = control_hit(what);

	if (error)
		errno = error;
	return error ? -1 : __real_fcntl(fd, what, argument);
}

int __real_fcntl64(int fd, int what, ...);
int __wrap_fcntl64(int fd, int what, long argument);
int __wrap_fcntl64(int fd, int what, long argument)
{
	int error = control_hit(what);

	if (error)
		errno = error;
	return error ? -1 : __real_fcntl64(fd, what, argument);
}

static int number_hit(long number, long second)
{
	switch (number) {
	case SYS_futex:
		/* Not waking. */
		return (second & 127) % 9 == 0 ? hit(CALL_futex_wait) : 0;
	case SYS_membarrier:
		return hit(CALL_membarrier);
	case SYS_preadv:
		return hit(CALL_preadv);
	case SYS_pidfd_open:
		return hit(CALL_pidfd_open);
	case SYS_get_robust_list:
		return hit(CALL_get_robust_list);
	default:
		return 0;
	}
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	int error = number_hit(number, b);

	if (error == CALLS_HALF) {
		struct iovec half;

		memcpy(&half, (const void *)(uintptr_t)b, sizeof(half));
		half.iov_len = half.iov_len > 1 ? half.iov_len / 2 : half.iov_len;
		return __real_syscall(number, a, &half, 1l, d, e, f);
	}
	if (error)
		errno = error;
	return error ? -1 : __real_syscall(number, a, b, c, d, e, f);
}
