/* SPDX-License-Identifier: MIT */
/* json.c - JSON piece by piece, on its own or inside of a page; see out.h. */
#include "tools/output/out.h"

#include <string.h>

#define EXACT_MAX (UINT64_C(1) << 53)

void pxt_json_begin(struct pxt_out *out)
{
	out->more = false;
	pxt_out_char(out, '{');
}

void pxt_json_end(struct pxt_out *out)
{
	pxt_out_bytes(out, "}\n", 2);
}

/* In one piece: there is one for each field of each event. */
void pxt_json_name(struct pxt_out *out, const char *name)
{
	size_t bytes = name ? strlen(name) : 0;
	char *to = pxt_out_room(out, bytes + 4);
	const char *begin = to;

	if (out->more)
		*to++ = ',';
	out->more = true;
	if (name) {
		*to++ = '"';
		for (; *name; name++)
			*to++ = *name;
		*to++ = '"';
		*to++ = ':';
	}
	out->used += (size_t)(to - begin);
}

void pxt_json_line(struct pxt_out *out)
{
	pxt_out_text(out, out->more ? ",\n" : "\n");
	out->more = false;
}

void pxt_json_open(struct pxt_out *out, const char *name, char bracket)
{
	pxt_json_name(out, name);
	pxt_out_char(out, bracket);
	out->more = false;
}

void pxt_json_close(struct pxt_out *out, const char *brackets)
{
	pxt_out_text(out, brackets);
	out->more = true;
}

/* What is printable already: quotation marks and backslashes are left. */
static void put_safe(struct pxt_out *out, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		char c = text[i];

		if (out->in_page && (c == '<' || c == '>' || c == '&')) {
			pxt_out_format(out, "\\u%04x", (unsigned)c);
			continue;
		}
		if (c == '"' || c == '\\')
			pxt_out_char(out, '\\');
		pxt_out_char(out, c);
	}
}

void pxt_json_label(struct pxt_out *out, const char *name, const char *label)
{
	pxt_json_name(out, name);
	if (!label) {
		pxt_out_text(out, "null");
		return;
	}
	pxt_out_char(out, '"');
	put_safe(out, label, strlen(label));
	pxt_out_char(out, '"');
}

/* In a page as on a terminal, so that both show the same. */
void pxt_json_part(struct pxt_out *out, const char *name, const char *text, size_t bytes)
{
	pxt_json_name(out, name);
	if (!out->in_page) {
		pxt_out_json(out, text, bytes);
		return;
	}
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

void pxt_json_text(struct pxt_out *out, const char *name, const char *text)
{
	pxt_json_part(out, name, text, strlen(text));
}

void pxt_json_hex(struct pxt_out *out, const char *name, const unsigned char *data, size_t bytes)
{
	pxt_json_name(out, name);
	pxt_out_char(out, '"');
	pxt_out_hexbytes(out, data, bytes);
	pxt_out_char(out, '"');
}

/* Around a number that JavaScript would round. */
static void quote(struct pxt_out *out, bool exact)
{
	if (!exact)
		pxt_out_char(out, '"');
}

void pxt_json_number(struct pxt_out *out, const char *name, uint64_t number)
{
	bool exact = !out->in_page || number <= EXACT_MAX;

	pxt_json_name(out, name);
	quote(out, exact);
	pxt_out_unsigned(out, number);
	quote(out, exact);
}

void pxt_json_signed(struct pxt_out *out, const char *name, int64_t number)
{
	bool exact =
	    !out->in_page || (number <= (int64_t)EXACT_MAX && number >= -(int64_t)EXACT_MAX);

	pxt_json_name(out, name);
	quote(out, exact);
	pxt_out_signed(out, number);
	quote(out, exact);
}

void pxt_json_bool(struct pxt_out *out, const char *name, bool value)
{
	pxt_json_name(out, name);
	pxt_out_text(out, value ? "true" : "false");
}
