/* SPDX-License-Identifier: MIT */
/* escape.c - text from a log on its way to a terminal; see out.h. */
#include "tools/output/out.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of the well-formed UTF-8 character at @p, and its number; 0 where there is none. */
static size_t decode(const unsigned char *p, size_t bytes, uint32_t *number)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = *p < 0xc0 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf8 ? 4 : 0;

	if (length == 0 || length > bytes)
		return 0;
	uint32_t value = *p & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (p[i] & 0x3fu);
	}
	if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	*number = value;
	return length;
}

/* Characters that move, hide or reverse what is beside them. */
static bool harmful(uint32_t c)
{
	return c < 0xa0 || c == 0xad || c == 0x61c || c == 0x180e || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfff0 && c <= 0xfffb) || c >= 0xe0000;
}

static size_t put_hex(char *to, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";

	to[0] = '\\';
	to[1] = 'x';
	to[2] = digits[byte >> 4];
	to[3] = digits[byte & 15];
	return 4;
}

size_t pxt_escape_one(const char *from, size_t bytes, char *to, size_t *taken)
{
	static const char named[][2] = { { '\n', 'n' }, { '\t', 't' }, { '\r', 'r' },
		{ '\\', '\\' } };
	const unsigned char *p = (const unsigned char *)from;
	uint32_t number = 0;
	size_t length;

	*taken = 1;
	for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
		if (*from == named[i][0]) {
			to[0] = '\\';
			to[1] = named[i][1];
			return 2;
		}
	}
	if (*p >= 0x20 && *p < 0x7f) {
		*to = *from;
		return 1;
	}
	length = *p < 0x80 ? 0 : decode(p, bytes, &number);
	if (length == 0)
		return put_hex(to, *p);
	*taken = length;
	if (harmful(number)) {
		for (size_t i = 0; i < length; i++)
			(void)put_hex(to + 4 * i, p[i]);
		return 4 * length;
	}
	memcpy(to, from, length);
	return length;
}

static size_t put_unit(char *to, uint32_t unit)
{
	static const char digits[] = "0123456789abcdef";

	to[0] = '\\';
	to[1] = 'u';
	for (unsigned i = 0; i < 4; i++)
		to[2 + i] = digits[unit >> (12 - 4 * i) & 15];
	return 6;
}

/* \uNNNN, for what lies beyond 16 bits as a pair of them. */
static size_t put_unicode(char *to, uint32_t number)
{
	if (number < 0x10000)
		return put_unit(to, number);
	number -= 0x10000;
	return put_unit(to, 0xd800 + (number >> 10)) + put_unit(to + 6, 0xdc00 + (number & 0x3ff));
}

size_t pxt_escape_json(const char *from, size_t bytes, char *to, size_t *taken)
{
	const unsigned char *p = (const unsigned char *)from;
	uint32_t number = *p;
	size_t length = 1;

	*taken = 1;
	if (*p == '"' || *p == '\\') {
		to[0] = '\\';
		to[1] = *from;
		return 2;
	}
	if (*p >= 0x80) {
		length = decode(p, bytes, &number);
		if (length == 0)
			return put_unicode(to, 0xfffd);
	}
	*taken = length;
	if (number < 0x20 || (number >= 0x7f && harmful(number)))
		return put_unicode(to, number);
	memcpy(to, from, length);
	return length;
}

size_t pxt_escape_plain(const char *from, size_t bytes)
{
	size_t count = 0;

	while (count < bytes && from[count] >= 0x20 && from[count] < 0x7f && from[count] != '"' &&
	       from[count] != '\\')
		count++;
	return count;
}

size_t pxt_escape(const char *from, size_t bytes, char *to, size_t room, size_t *width)
{
	size_t used = 0;
	size_t columns = 0;

	while (bytes > 0) {
		char piece[16];
		size_t taken;
		size_t length = pxt_escape_one(from, bytes, piece, &taken);

		if (used + length + 1 > room)
			break;
		memcpy(to + used, piece, length);
		used += length;
		/* A character that passes unescaped is taken for one column wide. */
		columns += *piece == '\\' || length == 1 ? length : 1;
		from += taken;
		bytes -= taken;
	}
	to[used] = '\0';
	if (width)
		*width = columns;
	return used;
}
