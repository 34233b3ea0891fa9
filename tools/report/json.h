/* SPDX-License-Identifier: MIT */
/*
 * json.h - JSON inside a page: what means something to HTML (<, >, &) is written as \u00NN, so that
 * no text ends the element that the JSON is in.
 */
#ifndef PXT_REPORT_JSON_H
#define PXT_REPORT_JSON_H

#include "tools/output/out.h"

#include <stdbool.h>
#include <stdint.h>

/* Text from a log: escaped as for a terminal (escape.h) first, so that it is printable UTF-8. */
void pxt_json_text(struct pxt_out *out, const char *text);
/* Text that is escaped already (a label). */
void pxt_json_label(struct pxt_out *out, const char *label);
/* Numbers beyond 2^53, which JavaScript would round, become strings. */
void pxt_json_number(struct pxt_out *out, uint64_t value);
void pxt_json_signed(struct pxt_out *out, int64_t value);
/* ,"name": for every member of an object but the first. */
void pxt_json_name(struct pxt_out *out, const char *name);
void pxt_json_member(struct pxt_out *out, const char *name, uint64_t value);
void pxt_json_member_text(struct pxt_out *out, const char *name, const char *text);

#endif
