/* SPDX-License-Identifier: MIT */
/*
 * openfile.h - opening files that may not be what they should be: a FIFO waits for somebody at its
 * other end, a device may do things when it is opened.
 *
 * Every file that is opened by name goes through here or through outfile.h.
 */
#ifndef PXTRACE_OPENFILE_H
#define PXTRACE_OPENFILE_H

#include <stddef.h>

/* How long a FIFO is waited for that nobody has opened at the other end. */
#define PXT_OPEN_WAIT_MS 3000

/*
 * For reading, what a person named: it may be a pipe or a device.  A FIFO without a writer is waited
 * for so many milliseconds (below 0: for ever).  -1: errno says why, ETIMEDOUT nobody came.
 */
int pxt_open_named(const char *path, int wait_ms);
/* The same for writing; nothing is made or cut. */
int pxt_open_sink(const char *path, int wait_ms);

/*
 * For reading, what nobody named (a usual name, a name out of a log): a regular file, or -1 and
 * errno EINVAL.  Never waits.
 */
int pxt_open_plain(const char *path);

/* strerror() for the two above: says what a FIFO lacks, and that a name is no file's. */
const char *pxt_open_error(int error);

/* ---- All bytes into a descriptor, however many writes that takes ---- */

/* Everything, also where the system takes it in pieces.  0 or an error number. */
int pxt_write_all(int fd, const void *bytes, size_t count);

#endif
