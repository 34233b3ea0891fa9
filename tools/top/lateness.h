/* SPDX-License-Identifier: MIT */
/*
 * lateness.h - which threads of one stream had late rounds in the last seconds: what is late, and by how much,
 * is said as in `pxtrace why` (tools/why/rounds.h).
 */
#ifndef PXT_TOP_LATENESS_H
#define PXT_TOP_LATENESS_H

#include "tools/top/numbers.h"
#include "tools/why/rounds.h"

#define PXT_LATENESS_SLOTS 5u

struct pxt_lateness {
	struct pxt_rounds rounds;
	const struct pxt_home *
	    *homes; /* by thread, as far as they are known by now; NULL: ask again */
	uint32_t home_count;
	struct pxt_lateness_thread *threads; /* by index */
	uint32_t thread_room;
	unsigned slot;
	bool counts;
};

void pxt_lateness_open(struct pxt_lateness *lateness, const struct pxt_state *state);
void pxt_lateness_free(struct pxt_lateness *lateness);
/* After the state has taken the event, which is one of @slot, if it @counts. */
void pxt_lateness_take(
    struct pxt_lateness *lateness, const struct pxt_event *event, unsigned slot, bool counts);
/* What was in a slot is forgotten. */
void pxt_lateness_forget(struct pxt_lateness *lateness, unsigned slot);
/* Adds a row for each thread that had late rounds. */
void pxt_lateness_rows(
    const struct pxt_lateness *lateness, uint32_t stream, struct pxt_numbers *numbers);

#endif
