/* SPDX-License-Identifier: MIT */
/* sysnames.h - words for what fields of system events say by numbers (FORMAT.md 5.1). */
#ifndef PXT_EVENT_SYSNAMES_H
#define PXT_EVENT_SYSNAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

/* The word for @value of the field @name of a system event of type @id; NULL: it has none. */
const char *pxt_sysnames_word(trace_event_id_t id, const char *name, uint64_t value);
/* Whether that value of the field says that there was none: a call without a size. */
bool pxt_sysnames_is_none(trace_event_id_t id, const char *name, uint64_t value);
/* How many values of that field have words, from 0 on; 0: none has. */
size_t pxt_sysnames_count(trace_event_id_t id, const char *name);

/* Whether the object of that call is a descriptor: of some it may be, if it is a number like one. */
bool pxt_sysnames_has_descriptor(const char *call, uint64_t object);

/* ---- What the data of a POSIX_TRACE_ERROR event says ---- */

/* "flush failed", for people; "failed" where the cause is one that is not known here. */
const char *pxt_failure_what(int32_t data);
/* One word for programs: log, record, types, attach; "" where it is not known. */
const char *pxt_failure_word(int32_t data);

#endif
