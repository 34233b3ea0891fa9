/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - system calls that a caller of the library must not notice: errno stays, and the thread
 * is not cancelled in the middle (a lock of Core may be held around it); nor are they told as the program's.
 */
#ifndef PXT_QUIET_H
#define PXT_QUIET_H

#include "format/compiler.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

struct pxt_quiet {
	int error;
	int cancel;
};

struct pxt_quiet pxt_quiet_begin(void);
void pxt_quiet_end(struct pxt_quiet quiet);
/* The same, and returns @error. */
int pxt_quiet_error(struct pxt_quiet quiet, int error);

/*
 * Writes that end no program: SIGPIPE, SIGXFSZ and SIGTTOU of the library's own writes never
 * reach it.  Async-signal-safe.
 */

struct pxt_unraised {
	sigset_t mask;    /* as it was */
	sigset_t pending; /* what the program left pending before */
};

void pxt_unraised_begin(struct pxt_unraised *unraised);
/* @failed: a write had an error, and may have raised one. */
void pxt_unraised_end(const struct pxt_unraised *unraised, bool failed);

/* How long a file of this process may become: files that are memory (a log's: logout.c). */

/* Beyond this limit, also of a file in memory, the system would not only refuse, but send SIGXFSZ. */
PXT_INLINE bool pxt_beyond_limit(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	       bytes > (uint64_t)limit.rlim_cur;
}

#endif
