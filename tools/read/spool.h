/* SPDX-License-Identifier: MIT */
/*
 * spool.h - logs are read in place; what comes through a pipe, a socket or a terminal line is copied
 * to a temporary file without a name first, as a whole or bit by bit while it is read.
 */
#ifndef PXT_SPOOL_H
#define PXT_SPOOL_H

#include "format/logfmt.h"

#include <stdbool.h>
#include <stdint.h>

struct pxt_spool {
	const char *path; /* for messages */
	int from;         /* -1: nothing is copied */
	int to;
	bool ended; /* no more will come */
};

/* Makes the file; false, with a word to the user, where that cannot be.  Takes @from over. */
bool pxt_spool_begin(struct pxt_spool *spool, const char *path, int from);
/*
 * Copies what is there, a megabyte at most, after waiting up to @wait_ms (-1: as long as it takes)
 * for something.  False, with a word to the user, when the copy failed.
 */
bool pxt_spool_take(struct pxt_spool *spool, int wait_ms);
/* Copies to the end; @log: only while it can be a log, for what is none may never end, and fill the disk. */
bool pxt_spool_all(struct pxt_spool *spool, bool log);
/*
 * In place of a compressed log, *@fd becomes a temporary file that has it unpacked (@log: as packed.h says); all else stays.  False,
 * with a word to the user, when that failed.
 */
bool pxt_spool_unpack(const char *path, int *fd, bool log);
/* Closes what was copied from; the copy stays open. */
void pxt_spool_end(struct pxt_spool *spool);

/*
 * ---- Gives memory back while a log in memory grows at one end and is read at the other ----
 *
 * Log Retrieval reads a sequential log front to back: its head may be read again, the block that is
 * being read may be, what lies between them is never looked at again.
 */

struct pxt_behind {
	int fd;
	bool begun;  /* @header is the log's */
	bool off;    /* it is no such log, or the system cannot */
	uint64_t at; /* the first block that may still be read */
	uint64_t freed;
	struct pxt_log_header header;
};

/* Event @number of the log (posix_number_np) was handed out, hence all blocks before its own. */
void pxt_behind_read(struct pxt_behind *behind, uint64_t number);

#endif
