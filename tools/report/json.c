/* SPDX-License-Identifier: MIT */
/* json.c - JSON inside a page; see json.h. */
#include "tools/report/json.h"

#include "tools/output/escape.h"

#define EXACT_MAX (UINT64_C(1) << 53)

static void put_safe(struct pxt_out *out, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		char c = text[i];

		if (c == '<' || c == '>' || c == '&')
			pxt_out_format(out, "\\u%04x", (unsigned)c);
		else if (c == '"' || c == '\\')
			pxt_out_format(out, "\\%c", c);
		else
			pxt_out_char(out, c);
	}
}

void pxt_json_text(struct pxt_out *out, const char *text)
{
	size_t bytes = strlen(text);

	pxt_out_char(out, '"');
	while (bytes > 0) {
		char piece[16];
		size_t taken;
		size_t length = pxt_escape_one(text, bytes, piece, &taken);

		put_safe(out, piece, length);
		text += taken;
		bytes -= taken;
	}
	pxt_out_char(out, '"');
}

void pxt_json_label(struct pxt_out *out, const char *label)
{
	pxt_out_char(out, '"');
	put_safe(out, label, strlen(label));
	pxt_out_char(out, '"');
}

void pxt_json_number(struct pxt_out *out, uint64_t value)
{
	pxt_out_text(out, value > EXACT_MAX ? "\"" : "");
	pxt_out_unsigned(out, value);
	pxt_out_text(out, value > EXACT_MAX ? "\"" : "");
}

void pxt_json_signed(struct pxt_out *out, int64_t value)
{
	bool exact = value <= (int64_t)EXACT_MAX && value >= -(int64_t)EXACT_MAX;

	pxt_out_text(out, exact ? "" : "\"");
	pxt_out_signed(out, value);
	pxt_out_text(out, exact ? "" : "\"");
}

void pxt_json_name(struct pxt_out *out, const char *name)
{
	pxt_out_format(out, ",\"%s\":", name);
}

void pxt_json_member(struct pxt_out *out, const char *name, uint64_t value)
{
	pxt_json_name(out, name);
	pxt_json_number(out, value);
}

void pxt_json_member_text(struct pxt_out *out, const char *name, const char *text)
{
	pxt_json_name(out, name);
	pxt_json_text(out, text);
}
