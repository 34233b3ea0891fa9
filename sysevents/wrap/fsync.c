/* SPDX-License-Identifier: MIT */
/* fsync.c - what waits for the disk. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

PXT_CALL_WRAP(int, fsync, (int fd), (fd), POSIX_TRACE_CALL_FSYNC_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, fdatasync, (int fd), (fd), POSIX_TRACE_CALL_FSYNC_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, syncfs, (int fd), (fd), POSIX_TRACE_CALL_FSYNC_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, sync_file_range, (int fd, off64_t from, off64_t bytes, unsigned flags),
    (fd, from, bytes, flags), POSIX_TRACE_CALL_FSYNC_NP, fd, bytes);
PXT_CALL_WRAP(int, msync, (void *from, size_t bytes, int flags), (from, bytes, flags),
    POSIX_TRACE_CALL_MSYNC_NP, pxt_wrap_address(from), bytes);
