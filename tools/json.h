/* SPDX-License-Identifier: MIT */
/*
 * json.h - an event's data as a JSON object.
 *
 *	{"job":5,"late_ns":-5000,"label":"warm"}
 *
 * Fields in the order of the description. Integers, also hexadecimal ones, are decimal numbers, exact
 * up to 64 bits; floats read back as the same number, and those that JSON has no number for are the
 * strings "NaN", "Infinity", "-Infinity". Text is a string: control characters and those that hide or
 * turn text are \uNNNN, a NUL and a byte that is no UTF-8 are U+FFFD. What is no field begins with @,
 * which no field's name can: "@data" (data without description) and "@rest" (behind the description)
 * are bytes in hexadecimal, "@cut" is 1 where the data was cut. The standard's STOP and ERROR
 * have "automatic" and "error". An event without data: {}.
 */
#ifndef PXT_JSON_H
#define PXT_JSON_H

#include "fields.h"
#include "out.h"
#include "source.h"

/* @bytes of any text, with its quotes. */
void pxt_json_text(struct pxt_out *out, const char *text, size_t bytes);
void pxt_json_value(struct pxt_out *out, const struct pxt_value *value);
/* At most PXT_JSON_MAX bytes. */
void pxt_json_payload(struct pxt_out *out, const struct pxt_event *event);

/* 6 bytes for each of 4,095, and 32 names of 63. */
#define PXT_JSON_MAX 32768u

#endif
