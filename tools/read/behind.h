/* SPDX-License-Identifier: MIT */
/*
 * behind.h - gives memory back while a log in memory grows at one end and is read at the other.
 *
 * Log Retrieval reads a sequential log front to back: its head may be read again, the block that is
 * being read may be, what lies between them is never looked at again.
 */
#ifndef PXT_READ_BEHIND_H
#define PXT_READ_BEHIND_H

#include "format/logfmt.h"

#include <stdbool.h>
#include <stdint.h>

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
