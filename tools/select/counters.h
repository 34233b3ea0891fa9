/* SPDX-License-Identifier: MIT */
/* counters.h - which numeric fields are shown as curves: --counter FIELD, --counter EVENT.FIELD. */
#ifndef PXT_COUNTERS_H
#define PXT_COUNTERS_H

#include "tools/event/event.h"

#define PXT_COUNTERS_MAX 32u

struct pxt_counters {
	const char *patterns[PXT_COUNTERS_MAX];
	unsigned count;
};

/* Takes a --counter.  False, with a word to the user, when there are too many. */
bool pxt_counters_option(struct pxt_counters *counters, const char *pattern);
bool pxt_counters_want(const struct pxt_counters *counters, const struct pxt_type *type,
    const struct pxt_layout *field);

#endif
