/* SPDX-License-Identifier: MIT */
/*
 * unraised.h - writes that end no program: SIGPIPE, SIGXFSZ and SIGTTOU of the library's own writes never
 * reach it.  Async-signal-safe.
 */
#ifndef PXT_UNRAISED_H
#define PXT_UNRAISED_H

#include <signal.h>
#include <stdbool.h>

struct pxt_unraised {
	sigset_t mask;    /* as it was */
	sigset_t pending; /* what the program left pending before */
};

void pxt_unraised_begin(struct pxt_unraised *unraised);
/* @failed: a write had an error, and may have raised one. */
void pxt_unraised_end(const struct pxt_unraised *unraised, bool failed);

#endif
