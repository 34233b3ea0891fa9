/* SPDX-License-Identifier: MIT */
/* text.c - a trace among the text of a console; see text.h. */
#include "tools/link/text.h"

#include <stdint.h>
#include <string.h>

static const char mark[] = "PTL:";
#define MARK_BYTES (sizeof mark - 1)

/* Six bits, or -1. */
static int digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Where the mark is in the line; NULL: nowhere. */
static const char *find_mark(const char *line, size_t count)
{
	for (const char *at = line; count - (size_t)(at - line) >= MARK_BYTES; at++)
		if (memcmp(at, mark, MARK_BYTES) == 0)
			return at;
	return NULL;
}

/* Base64 of whole groups of four.  False: it is none.  @to: 3 bytes for each 4. */
static bool decode(const char *from, size_t count, unsigned char *to, size_t *bytes)
{
	size_t padding = 0;

	*bytes = 0;
	while (padding < 2 && count > 0 && from[count - 1] == '=') {
		count--;
		padding++;
	}
	if (count == 0 || (count + padding) % 4 != 0)
		return false;
	uint32_t bits = 0;
	for (size_t i = 0; i < count; i++) {
		int six = digit(from[i]);

		if (six < 0)
			return false;
		bits = bits << 6 | (uint32_t)six;
		/* The first of four characters ends no byte. */
		if (i % 4 != 0)
			to[(*bytes)++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
	}
	return true;
}

bool pxt_linktext_is_in(const unsigned char *bytes, size_t count)
{
	const char *line = (const char *)bytes;
	const char *end = line + count;

	while ((line = find_mark(line, (size_t)(end - line))) != NULL) {
		line += MARK_BYTES;
		/* A group of base64 after it: who only writes about the mark is not meant. */
		size_t digits = 0;
		while (digits < 4 && line + digits < end && digit(line[digits]) >= 0)
			digits++;
		if (digits == 4)
			return true;
	}
	return false;
}

static void take_line(struct pxt_linktext *text)
{
	static unsigned char bytes[PXT_LINKTEXT_BYTES];
	size_t count = text->used;
	size_t decoded;

	text->used = 0;
	while (count > 0 && (text->line[count - 1] == '\r' || text->line[count - 1] == ' ' ||
	                        text->line[count - 1] == '\t'))
		count--;
	const char *at = find_mark(text->line, count);
	if (!at) {
		text->text(text->context, text->line, count);
		return;
	}
	at += MARK_BYTES;
	if (decode(at, count - (size_t)(at - text->line), bytes, &decoded))
		text->trace(text->context, bytes, decoded);
	else
		text->spoilt(text->context);
}

void pxt_linktext_bytes(struct pxt_linktext *text, const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bytes[i] == '\n' || text->used == sizeof text->line)
			take_line(text);
		if (bytes[i] != '\n')
			text->line[text->used++] = (char)bytes[i];
	}
}

void pxt_linktext_end(struct pxt_linktext *text)
{
	if (text->used > 0)
		take_line(text);
}
