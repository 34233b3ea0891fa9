/* SPDX-License-Identifier: MIT */
/* sysnames.h - words for what fields of system events say by numbers (FORMAT.md 5.1). */
#ifndef PXT_EVENT_SYSNAMES_H
#define PXT_EVENT_SYSNAMES_H

#include <stdint.h>
#include <trace.h>

/* The word for @value of the field @name of a system event of type @id; NULL: it has none. */
const char *pxt_sysnames_word(trace_event_id_t id, const char *name, uint64_t value);

#endif
