/* SPDX-License-Identifier: MIT */
/* fields.h - an event's data as text: by its description, by what the standard says, or as bytes. */
#ifndef PXT_FIELDS_H
#define PXT_FIELDS_H

#include "out.h"
#include "source.h"

struct pxt_fields {
	const char *only[POSIX_TRACE_FIELDS_MAX_NP]; /* names to show; none: all */
	unsigned only_count;
	size_t dump_limit; /* most bytes shown as hex; 0: all */
};

/* "job,late_ns": false, with a word to the user, when it is no list of names.  Changes @list. */
bool pxt_fields_only(struct pxt_fields *fields, char *list);

/* Two spaces and the fields; nothing for an event without data. */
void pxt_out_fields(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event);

/*
 * Fields as numbers that are equal when the fields are equal; false where there is no such field
 * in this event, or where it is no good for telling things apart (float).
 */
bool pxt_field_key(const struct pxt_event *event, const struct pxt_layout *field, uint64_t *key);
const struct pxt_layout *pxt_field_named(const struct pxt_type *type, const char *name);

/* Fills in the layout of a type from its description, if it has one. */
void pxt_fields_learn(struct pxt_source *source, struct pxt_type *type);

#endif
