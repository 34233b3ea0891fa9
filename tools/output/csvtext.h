/* SPDX-License-Identifier: MIT */
/*
 * csvtext.h - text in a cell of CSV: quotes as RFC 4180 has them, and what a spreadsheet would take for a
 * formula.
 */
#ifndef PXT_CSVTEXT_H
#define PXT_CSVTEXT_H

#include "tools/output/out.h"

#include <stddef.h>

/*
 * A cell that begins with = + - @, a tab or a return has an apostrophe in front.  In quotes, where a comma, a
 * quote or the end of a line is in it.
 */
void pxt_csvtext_put(struct pxt_out *out, const char *text, size_t bytes);
/* As it is, in quotes in any case. */
void pxt_csvtext_quote(struct pxt_out *out, const char *text, size_t bytes);

#endif
