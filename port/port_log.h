/* SPDX-License-Identifier: MIT */
/*
 * port_log.h - what Trace-To-Log asks of the system: a place for a log's bytes.
 *
 * concurrency: one caller at a time for one struct pxt_port_log.  No function is a
 * cancellation point, none touches errno, none raises a signal in the program (DEC-40).
 */
#ifndef PXT_PORT_LOG_H
#define PXT_PORT_LOG_H

#include "format/compiler.h"
#include "port/port_place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pxt_log_kind {
	PXT_LOG_FILE = 1,   /* regular file: write_at and truncate as one likes */
	PXT_LOG_APPEND,     /* regular file opened with O_APPEND: sequential, size says if empty */
	PXT_LOG_SEQUENTIAL, /* pipe, socket, terminal, character device */
};

#define PXT_LOG_PATIENCE_MS 1000

struct pxt_port_log {
	int fd; /* the port's own duplicate, closed by exec; -1: it is not, or no longer */
	enum pxt_log_kind kind;
	/*
	 * Set by Trace-To-Log when the process ends: a write to what is no file is given up with
	 * ETIMEDOUT when nothing of it is taken for PXT_LOG_PATIENCE_MS.
	 */
	bool hurried;
	uint32_t piece; /* bytes that such a device takes without waiting if it takes any */
	uint64_t size;  /* bytes in a regular file when it was opened, else 0 */

	/* What the descriptor is known by (DEC-22): before each use it is compared. */
	struct pxt_port_place place;
	uint64_t reached; /* a regular file has at least so many bytes */
	/* Where a PXT_LOG_FILE is opened again if the program has closed the descriptor; NULL: it is not. */
	const char *path;
};

/*
 * Duplicates @fd (DEC-22) and says what it is.  Returns EBADF when it is not open for writing,
 * EINVAL for a directory, a block device and the like (DEC-21), EMFILE.
 */
int pxt_port_log_open(struct pxt_port_log *log, int fd);
void pxt_port_log_close(struct pxt_port_log *log);

/*
 * What a PXT_LOG_SEQUENTIAL is to a line: bytes arrive as they are and in order (pipe, stream
 * socket); some may be lost or damaged (terminal, a board's device); or so may packets.
 * (CONFIG_PTRACE_LOG_LINE)
 */
enum pxt_log_line {
	PXT_LINE_NONE = 0,
	PXT_LINE_BYTES,
	PXT_LINE_PACKETS,
};
enum pxt_log_line pxt_port_log_line(const struct pxt_port_log *log);

/*
 * Write all @bytes, at the descriptor's own position or at @offset (PXT_LOG_FILE only).  Interrupted
 * and short writes are continued.  On an error *done says how much went out before it: ENOSPC,
 * EFBIG, EAGAIN (a device that does not wait) and so on; the caller goes on from there later.  EBADF: the
 * program has closed the descriptor, or made something else of its number, which was left alone; it stays so, but
 * where the file is still found at the path.
 */
int pxt_port_log_write(struct pxt_port_log *log, const void *data, size_t bytes, size_t *done);
int pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done);

/*
 * What is written from now on does not arrive, also by a write that was interrupted before it began
 * and goes on after the handler that calls this.  (CONFIG_PTRACE_LOG_SEAL)
 */
void pxt_port_log_cut_off(struct pxt_port_log *log);

/* Cuts or extends a PXT_LOG_FILE. */
/* Whether that can be done at all: 0, or what it would fail with for good.  No one may write meanwhile. */
int pxt_port_log_may_truncate(const struct pxt_port_log *log);
int pxt_port_log_truncate(struct pxt_port_log *log, uint64_t size);

#endif
