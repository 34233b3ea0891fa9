/* SPDX-License-Identifier: MIT */
/* eventset.h - the event sets that START and FILTER carry, as one text. */
#ifndef PXT_EVENTSET_H
#define PXT_EVENTSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

/* Room for all 1,024 types. */
#define PXT_EVENTSET_TEXT 5120u

struct pxt_eventset {
	const char *name;
	char text[PXT_EVENTSET_TEXT]; /* "none", or the numbers of its types: "32 33 40" */
};

/*
 * The sets in the data of an event of type @id: START has one ("filter"), FILTER two ("old", "new").
 * Returns their number; 0: it is another type, or its data is none.
 */
unsigned pxt_eventset_count(trace_event_id_t id, size_t bytes);
/* The @index-th of @count; @data: of the whole event, numbers in this machine's byte order. */
void pxt_eventset_of(struct pxt_eventset *set, const unsigned char *data, size_t bytes,
    unsigned index, unsigned count);

#endif
