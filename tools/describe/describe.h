/* SPDX-License-Identifier: MIT */
/* describe.h - a log's own data: process, time, clock, policies, counts. */
#ifndef PXT_DESCRIBE_H
#define PXT_DESCRIBE_H

#include "tools/output/out.h"
#include "tools/read/source.h"

/* Call when the log was read to its end. */
void pxt_describe(struct pxt_out *out, const struct pxt_source *source);

/* "LOOP", "CLOCK_MONOTONIC": what a person calls the standard's and our numbers. */
const char *pxt_policy_name(int policy);
const char *pxt_clock_name(const struct posix_trace_clock_np *clock);

/* ---- What somebody who traces for the first time has forgotten, as far as a log can tell ---- */

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
