/* SPDX-License-Identifier: MIT */
/* fields.h - an event's data as text: by its description, by what the standard says, as bytes, or as JSON. */
#ifndef PXT_TOOLS_FIELDS_H
#define PXT_TOOLS_FIELDS_H

#include "tools/event/event.h"
#include "tools/output/out.h"

struct pxt_fields {
	const char *only[POSIX_TRACE_FIELDS_MAX_NP]; /* names to show; none: all */
	unsigned only_count;
	size_t dump_limit; /* most bytes shown as hex; 0: all */
	bool no_callers;   /* callers (below) are shown in another way */
};

/* "job,late_ns": false, with a word to the user, when it is no list of names.  Changes @list. */
bool pxt_fields_only(struct pxt_fields *fields, char *list);

/*
 * What the recorder wanted to be read in place of the fields, with their values; NULL: the type has no
 * message.  Good until the next call.
 */
const char *pxt_fields_message(const struct pxt_event *event);

/* Whether it is no field's name but stands for bytes that no description tells of. */
bool pxt_fields_is_bytes(const char *name);

bool pxt_fields_wanted(const struct pxt_fields *fields, const char *name);

/* Two spaces and the fields; nothing for an event without data. */
void pxt_out_fields(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event);

/* The same without the two spaces in front. */
void pxt_out_fields_bare(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event);

/*
 * Fields as numbers that are equal when the fields are equal; false where there is no such field
 * in this event, or where it is no good for telling things apart (float).
 */
bool pxt_field_key(const struct pxt_event *event, const struct pxt_layout *field, uint64_t *key);
const struct pxt_layout *pxt_field_named(const struct pxt_type *type, const char *name);

/* A field's value.  A text is where the event's data is, without padding, and has no NUL after it. */
struct pxt_value {
	int kind;       /* POSIX_TRACE_FIELD_..._NP */
	uint32_t bytes; /* of the text, or of the number as it was recorded */
	union {
		uint64_t u; /* unsigned, hex */
		int64_t i;
		double f;
		const char *text;
	};
};
/* False where this event has no such field (it was cut). */
bool pxt_field_value(
    const struct pxt_event *event, const struct pxt_layout *field, struct pxt_value *value);
/* The value's usual form; a text without quotes, escaped. */
void pxt_out_value(struct pxt_out *out, const struct pxt_value *value);

/* Bytes after the last field that is there: their number, and where they begin in *@offset. */
size_t pxt_fields_rest(const struct pxt_event *event, size_t *offset);

/* Fills in the layout of a type from its description in the log @trid, if it has one. */
void pxt_fields_learn(trace_id_t trid, struct pxt_type *type);

/* ---- The functions that called, which the events of long waits carry ---- */

#define PXT_CALLERS_MAX 8u

/* Innermost first; returns how many there are. */
unsigned pxt_callers_of(const struct pxt_event *event, uint64_t callers[PXT_CALLERS_MAX]);
/* Whether that field of a type is one of them. */
bool pxt_callers_is(const struct pxt_type *type, unsigned field);

/*
 * ---- Locks that were free when they were taken ----
 *
 * A traced program counts them, and tells that of each lock and thread (FORMAT.md 5.1: taken).
 */

#define PXT_LOCKCOUNTS_KINDS 8u /* the last: all beyond */

struct pxt_lockcounts_kind {
	char name[24]; /* mutex, escaped; "": here and behind there is none */
	uint64_t times;
};

struct pxt_lockcounts {
	struct pxt_lockcounts_kind kinds[PXT_LOCKCOUNTS_KINDS];
};

/* Any event. */
void pxt_lockcounts_add(struct pxt_lockcounts *taken, const struct pxt_event *event);

/*
 * A field's value as JSON, and an event's data as an object, for a cell of a table.
 *
 * 	{"job":5,"late_ns":-5000,"label":"warm"}
 *
 * Fields in the order of the description.  Integers, also hexadecimal ones, are decimal numbers, exact
 * up to 64 bits; floats read back as the same number, and those that JSON has no number for are the
 * strings "nan", "inf", "-inf".  Text is a string, see pxt_escape_json(); a NUL within it is U+FFFD.
 * What is no field begins with @, which no field's name can: "@data" (data without description) and
 * "@rest" (after the description) are bytes in hexadecimal, "@cut" is 1 where the data was cut.  The
 * standard's STOP and ERROR have "automatic" and "error".  An event without data: {}.
 */

void pxt_json_payload(struct pxt_out *out, const struct pxt_event *event);
/* A number, or a string. */
void pxt_json_value(struct pxt_out *out, const struct pxt_value *value);
/* The word that a number of a system event stands for, behind it as "call_name". */
void pxt_json_word(struct pxt_out *out, const struct pxt_type *type, unsigned field,
    const struct pxt_value *value);

#endif
