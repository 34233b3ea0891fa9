/* SPDX-License-Identifier: MIT */
/* callers.h - the functions that called, which the events of long waits carry. */
#ifndef PXT_EVENT_CALLERS_H
#define PXT_EVENT_CALLERS_H

#include "tools/event/event.h"

#define PXT_CALLERS_MAX 8u

/* Innermost first; returns how many there are. */
unsigned pxt_callers_of(const struct pxt_event *event, uint64_t callers[PXT_CALLERS_MAX]);
/* Whether that field of a type is one of them. */
bool pxt_callers_is(const struct pxt_type *type, unsigned field);

#endif
