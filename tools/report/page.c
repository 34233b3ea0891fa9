/* SPDX-License-Identifier: MIT */
/*
 * page.c - the parts of the page that are the same for every log, as embed.py packed them: an LZ4
 * block each.  The block is our own, so nothing in it is checked.
 */
#include "tools/output/out.h"
#include "tools/report/report.h"
#include <stdlib.h>

/* A length of four bits goes on in bytes, the last of which is not 255. */
static size_t take_length(size_t length, const unsigned char **from)
{
	unsigned char more = 255;

	if (length < 15)
		return length;
	while (more == 255) {
		more = *(*from)++;
		length += more;
	}
	return length;
}

static void unpack(unsigned char *to, const struct pxt_page_part *part)
{
	const unsigned char *from = part->block;
	const unsigned char *end = from + part->block_bytes;

	while (from < end) {
		unsigned token = *from++;
		const unsigned char *copy;
		size_t length;

		for (length = take_length(token >> 4, &from); length > 0; length--)
			*to++ = *from++;
		if (from == end)
			break;
		copy = to - (from[0] | from[1] << 8);
		from += 2;
		/* Byte by byte: a copy may reach into itself. */
		for (length = take_length(token & 15, &from) + 4; length > 0; length--)
			*to++ = *copy++;
	}
}

void pxt_page_put(struct pxt_out *out, const struct pxt_page_part *part)
{
	unsigned char *text = pxt_must(malloc(part->bytes));

	unpack(text, part);
	pxt_out_bytes(out, (const char *)text, part->bytes);
	free(text);
}
