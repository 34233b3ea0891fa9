/* SPDX-License-Identifier: MIT */
/* notes.h - what `pxtrace run` puts into its log in words: the user's notes, the command, its status. */
#ifndef PXT_NOTES_H
#define PXT_NOTES_H

#include "tools/run/throttle.h"

#include <stdbool.h>
#include <trace.h>
#include <trace_np.h>

#define PXT_NOTES_MAX 32u

struct pxt_notes {
	unsigned count;
	bool no_arguments; /* the command without what may be nobody else's business */
	struct posix_trace_lognote_np list[PXT_NOTES_MAX];
};

/* One of the user's: KEY=VALUE.  False, with a word to the user, where it is none. */
bool pxt_notes_add(struct pxt_notes *notes, const char *text);
/* All of them, and the command, into the log of @trid. */
void pxt_notes_tell(const struct pxt_notes *notes, trace_id_t trid, char *const *argv);
/* That the kernel kept it from running, if it did. */
void pxt_notes_tell_throttled(trace_id_t trid, const struct pxt_throttle *throttled);
/* How the program ended. */
void pxt_notes_tell_status(trace_id_t trid, int status);

#endif
