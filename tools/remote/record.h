/* SPDX-License-Identifier: MIT */
/*
 * record.h - a stream of another process, as it goes on, into a log of its own.
 *
 * The process writes into memory that it was handed. From there the receiver (receive/receiver.h)
 * takes it block by block, since the process may be anybody. The log can be read at each instant, and
 * it gets an end whichever side ends it. Memory that was read is given back.
 */
#ifndef PXT_REMOTE_RECORD_H
#define PXT_REMOTE_RECORD_H

#include "tools/remote/ctlsock.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct pxt_record {
	const char *output;
	int64_t for_ns; /* so long at most; 0: no limit */
	uint64_t size;  /* no more bytes than this; 0: no limit */
	bool strict;
	bool quiet;
};

/*
 * Records until the stream is shut down, a limit is reached, or *@stop; @memory is what the owner of
 * @remote writes into, and is closed.  Returns the exit status, after a word to the user.
 */
int pxt_record_run(const struct pxt_record *record, const struct pxt_remote *remote, int memory,
    const volatile sig_atomic_t *stop);

/* ---- What a stream of another process holds, as a complete log in a file ---- */

struct pxt_snapshot {
	const char *name;   /* of the stream */
	const char *output; /* the file; "-": standard output */
	bool quiet;         /* says nothing where all went well */
};

/* Returns the exit status, after a word to the user. */
int pxt_snapshot_save(const struct pxt_snapshot *snapshot);

#endif
