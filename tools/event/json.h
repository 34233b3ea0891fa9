/* SPDX-License-Identifier: MIT */
/*
 * json.h - a field's value as JSON, and an event's data as an object, for a cell of a table.
 *
 *	{"job":5,"late_ns":-5000,"label":"warm"}
 *
 * Fields in the order of the description.  Integers, also hexadecimal ones, are decimal numbers, exact
 * up to 64 bits; floats read back as the same number, and those that JSON has no number for are the
 * strings "nan", "inf", "-inf".  Text is a string, see pxt_escape_json(); a NUL within it is U+FFFD.
 * What is no field begins with @, which no field's name can: "@data" (data without description) and
 * "@rest" (after the description) are bytes in hexadecimal, "@cut" is 1 where the data was cut.  The
 * standard's STOP and ERROR have "automatic" and "error".  An event without data: {}.
 */
#ifndef PXT_JSON_H
#define PXT_JSON_H

#include "tools/event/event.h"
#include "tools/event/fields.h"
#include "tools/output/out.h"

void pxt_json_payload(struct pxt_out *out, const struct pxt_event *event);
/* A number, or a string. */
void pxt_json_value(struct pxt_out *out, const struct pxt_value *value);
/* The word that a number of a system event stands for, behind it as "call_name". */
void pxt_json_word(struct pxt_out *out, const struct pxt_type *type, unsigned field,
    const struct pxt_value *value);

#endif
