/* SPDX-License-Identifier: MIT */
/* hints.h - what somebody who traces for the first time has forgotten, as far as a log can tell. */
#ifndef PXT_HINTS_H
#define PXT_HINTS_H

#include "tools/read/source.h"

#define PXT_HINTS      4u
#define PXT_HINT_BYTES 288u

/* What was read of a log, and of which. */
struct pxt_hint_facts {
	trace_id_t trid;
	const struct posix_trace_loginfo_np *info;
	uint64_t events;
	int64_t first_ns;    /* of the first event, and ... */
	int64_t last_ns;     /* ... of the last one; INT64_MIN: not read */
	uint64_t first_lost; /* events before the first */
	bool unnamed;        /* events of the type that needs not be opened were read */
};

struct pxt_hints {
	unsigned count;
	char list[PXT_HINTS][PXT_HINT_BYTES];
	/* What loses less, if something was lost; NULL: the log has no end that tells why. */
	const char *loss;
};

/* Of a log that was read to its end. */
void pxt_hints(struct pxt_hints *hints, const struct pxt_hint_facts *facts);
void pxt_hints_of_source(struct pxt_hints *hints, const struct pxt_source *source);
/* Reads as much of the log after @fd as it needs, of at most some thousand events. */
void pxt_hints_of_file(struct pxt_hints *hints, int fd, uint64_t records);

#endif
