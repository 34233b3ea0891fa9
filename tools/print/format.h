/* SPDX-License-Identifier: MIT */
/*
 * format.h - lines of the user's own: --format '{time} {event:20} {field:late_ns:>10}'.
 *
 * What is in braces is replaced, {{ and }} are braces, \n \t \\ are a line's end, a tabulator and
 * a backslash; a line's end follows by itself.  After a colon may be how wide it is to be at
 * least: 20 or <20 with spaces after it, >20 before it, 020 with zeros there; an x after
 * that shows an integer in hexadecimal.
 */
#ifndef PXT_FORMAT_H
#define PXT_FORMAT_H

#include "tools/print/line.h"

#define PXT_FORMAT_PIECES 128u
#define PXT_FORMAT_WIDTH  255u

struct pxt_text_error;

/* NULL where @text makes no sense: @error says where and why.  @text must outlive the result. */
struct pxt_format *pxt_format_parse(const char *text, struct pxt_text_error *error);
void pxt_format_free(struct pxt_format *format);
/* Whether it shows program addresses, which must be looked up first. */
bool pxt_format_has_address(const struct pxt_format *format);
/* The @i-th field that it names, NULL after the last. */
const char *pxt_format_field(const struct pxt_format *format, unsigned i);

void pxt_format_event(struct pxt_line *line, const struct pxt_event *event);

#endif
