/* SPDX-License-Identifier: MIT */
/* csvtext.c - text in a cell of CSV: its quotes, and the apostrophe before = + - @; see csvtext.h. */
#include "tools/output/csvtext.h"

#include <stdbool.h>
#include <string.h>

static bool takes_quotes(char c)
{
	return c == ',' || c == '"' || c == '\r' || c == '\n';
}

static bool is_formula(const char *text, size_t bytes)
{
	return bytes > 0 && *text != '\0' && strchr("=+-@\t\r", *text);
}

static void put_doubled(struct pxt_out *out, const char *text, size_t bytes)
{
	while (bytes > 0) {
		const char *quote = memchr(text, '"', bytes);
		size_t plain = quote ? (size_t)(quote - text) + 1 : bytes;

		pxt_out_bytes(out, text, plain);
		if (quote)
			pxt_out_char(out, '"');
		text += plain;
		bytes -= plain;
	}
}

void pxt_csvtext_quote(struct pxt_out *out, const char *text, size_t bytes)
{
	pxt_out_char(out, '"');
	put_doubled(out, text, bytes);
	pxt_out_char(out, '"');
}

void pxt_csvtext_put(struct pxt_out *out, const char *text, size_t bytes)
{
	bool quotes = false;

	for (size_t i = 0; i < bytes && !quotes; i++)
		quotes = takes_quotes(text[i]);
	if (quotes)
		pxt_out_char(out, '"');
	if (is_formula(text, bytes))
		pxt_out_char(out, '\'');
	put_doubled(out, text, bytes);
	if (quotes)
		pxt_out_char(out, '"');
}
