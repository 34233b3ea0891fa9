/* SPDX-License-Identifier: MIT */
/*
 * file_io.c - reading and writing of files, pipes, terminals; locks on files.
 *
 * What the C library writes by itself, as in printf(), does not come through here.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

PXT_CALL_WRAP(ssize_t, read, (int fd, void *to, size_t bytes), (fd, to, bytes),
    POSIX_TRACE_CALL_READ_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, write, (int fd, const void *from, size_t bytes), (fd, from, bytes),
    POSIX_TRACE_CALL_WRITE_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count),
    POSIX_TRACE_CALL_READ_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count),
    POSIX_TRACE_CALL_WRITE_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, pread, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at),
    POSIX_TRACE_CALL_READ_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, pwrite, (int fd, const void *from, size_t bytes, off_t at),
    (fd, from, bytes, at), POSIX_TRACE_CALL_WRITE_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, preadv, (int fd, const struct iovec *parts, int count, off_t at),
    (fd, parts, count, at), POSIX_TRACE_CALL_READ_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at),
    (fd, parts, count, at), POSIX_TRACE_CALL_WRITE_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, sendfile, (int to, int from, off_t *at, size_t bytes), (to, from, at, bytes),
    POSIX_TRACE_CALL_SENDFILE_NP, to, bytes);
PXT_CALL_WRAP(ssize_t, pread64, (int fd, void *to, size_t bytes, off64_t at), (fd, to, bytes, at),
    POSIX_TRACE_CALL_READ_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, pwrite64, (int fd, const void *from, size_t bytes, off64_t at),
    (fd, from, bytes, at), POSIX_TRACE_CALL_WRITE_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, preadv64, (int fd, const struct iovec *parts, int count, off64_t at),
    (fd, parts, count, at), POSIX_TRACE_CALL_READ_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at),
    (fd, parts, count, at), POSIX_TRACE_CALL_WRITE_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, sendfile64, (int to, int from, off64_t *at, size_t bytes),
    (to, from, at, bytes), POSIX_TRACE_CALL_SENDFILE_NP, to, bytes);
PXT_CALL_WRAP(ssize_t, copy_file_range,
    (int from, off64_t *at, int to, off64_t *to_at, size_t bytes, unsigned flags),
    (from, at, to, to_at, bytes, flags), POSIX_TRACE_CALL_SENDFILE_NP, to, bytes);
PXT_CALL_WRAP(ssize_t, splice,
    (int from, off64_t *at, int to, off64_t *to_at, size_t bytes, unsigned flags),
    (from, at, to, to_at, bytes, flags), POSIX_TRACE_CALL_SENDFILE_NP, to, bytes);
PXT_CALL_WRAP(int, flock, (int fd, int operation), (fd, operation), POSIX_TRACE_CALL_FLOCK_NP, fd,
    PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, lockf, (int fd, int command, off_t bytes), (fd, command, bytes),
    POSIX_TRACE_CALL_FLOCK_NP, fd, PXT_CALL_NO_SIZE);

/* What programs call that were compiled with _FORTIFY_SOURCE. */
extern ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
extern ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t room);
extern ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t at, size_t room);
PXT_CALL_WRAP(ssize_t, __read_chk, (int fd, void *to, size_t bytes, size_t room),
    (fd, to, bytes, room), POSIX_TRACE_CALL_READ_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, __pread_chk, (int fd, void *to, size_t bytes, off_t at, size_t room),
    (fd, to, bytes, at, room), POSIX_TRACE_CALL_READ_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, __pread64_chk, (int fd, void *to, size_t bytes, off64_t at, size_t room),
    (fd, to, bytes, at, room), POSIX_TRACE_CALL_READ_NP, fd, bytes);

PXT_CALL_WRAP(int, lockf64, (int fd, int command, off64_t bytes), (fd, command, bytes),
    POSIX_TRACE_CALL_FLOCK_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, preadv2, (int fd, const struct iovec *parts, int count, off_t at, int flags),
    (fd, parts, count, at, flags), POSIX_TRACE_CALL_READ_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, pwritev2,
    (int fd, const struct iovec *parts, int count, off_t at, int flags),
    (fd, parts, count, at, flags), POSIX_TRACE_CALL_WRITE_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, preadv64v2,
    (int fd, const struct iovec *parts, int count, off64_t at, int flags),
    (fd, parts, count, at, flags), POSIX_TRACE_CALL_READ_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, pwritev64v2,
    (int fd, const struct iovec *parts, int count, off64_t at, int flags),
    (fd, parts, count, at, flags), POSIX_TRACE_CALL_WRITE_NP, fd, PXT_CALL_NO_SIZE);
