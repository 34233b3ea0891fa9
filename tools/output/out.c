/* SPDX-License-Identifier: MIT */
/* out.c - a buffer for many short pieces of output; see out.h. */
#include "tools/output/out.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_out(struct pxt_out *out, const char *text, size_t bytes)
{
	if (out->error == 0)
		out->error = pxt_write_all(out->fd, text, bytes);
}

void pxt_out_flush(struct pxt_out *out)
{
	write_out(out, out->buffer, out->used);
	out->used = 0;
}

void pxt_out_long(struct pxt_out *out, const char *text, size_t bytes)
{
	pxt_out_flush(out);
	write_out(out, text, bytes);
}

void pxt_out_spaces(struct pxt_out *out, size_t count)
{
	static const char blank[] = "                                ";

	while (count > 0) {
		size_t part = count < sizeof blank - 1 ? count : sizeof blank - 1;

		pxt_out_bytes(out, blank, part);
		count -= part;
	}
}

void pxt_out_column(
    struct pxt_out *out, const char *text, size_t bytes, size_t width, size_t column)
{
	pxt_out_bytes(out, text, bytes);
	if (width < column)
		pxt_out_spaces(out, column - width);
}

/* Two digits at a time: the loop's division by a constant is its whole cost. */
char *pxt_out_digits_before(char *end, uint64_t value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
	                            "25262728293031323334353637383940414243444546474849"
	                            "50515253545556575859606162636465666768697071727374"
	                            "75767778798081828384858687888990919293949596979899";

	while (value >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * value, 2);
		return end;
	}
	*--end = (char)('0' + value);
	return end;
}

void pxt_out_unsigned(struct pxt_out *out, uint64_t value)
{
	char text[20];
	char *begin = pxt_out_digits_before(text + sizeof text, value);

	pxt_out_bytes(out, begin, (size_t)(text + sizeof text - begin));
}

void pxt_out_signed(struct pxt_out *out, int64_t value)
{
	if (value < 0)
		pxt_out_char(out, '-');
	pxt_out_unsigned(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void pxt_out_digits(struct pxt_out *out, uint64_t value, unsigned digits)
{
	char text[20];
	char *begin = text + sizeof text - digits;
	char *first = pxt_out_digits_before(text + sizeof text, value);

	if (first > begin)
		memset(begin, '0', (size_t)(first - begin));
	pxt_out_bytes(out, begin, digits);
}

void pxt_out_right(struct pxt_out *out, uint64_t value, size_t column)
{
	char text[20];
	char *begin = pxt_out_digits_before(text + sizeof text, value);
	size_t bytes = (size_t)(text + sizeof text - begin);

	if (bytes < column)
		pxt_out_spaces(out, column - bytes);
	pxt_out_bytes(out, begin, bytes);
}

void pxt_out_hexdigits(struct pxt_out *out, uint64_t value)
{
	static const char digits[] = "0123456789abcdef";
	char text[16];
	char *begin = text + sizeof text;

	do {
		*--begin = digits[value & 15];
		value >>= 4;
	} while (value != 0);
	pxt_out_bytes(out, begin, (size_t)(text + sizeof text - begin));
}

void pxt_out_hex(struct pxt_out *out, uint64_t value)
{
	pxt_out_bytes(out, "0x", 2);
	pxt_out_hexdigits(out, value);
}

static bool same_number(double a, double b, unsigned bytes)
{
	if (bytes == 4)
		return (float)a >= (float)b && (float)a <= (float)b;
	return a >= b && a <= b;
}

/*
 * Numbers with few decimals, which are most: an integer and a point.  A quotient of two integers is
 * rounded as strtod() would round its digits, so that they read back as the same number.
 */
static bool put_decimals(struct pxt_out *out, double value, unsigned bytes)
{
	const unsigned decimals = bytes == 4 ? 3 : 6;
	const double scale = bytes == 4 ? 1e3 : 1e6;
	double scaled = value * scale;

	if (!(scaled < 1e15 && scaled > -1e15))
		return false;
	int64_t number = (int64_t)(scaled + (scaled < 0 ? -0.5 : 0.5));
	if (!same_number((double)number / scale, value, bytes) || (number == 0 && signbit(value)))
		return false;
	uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	uint64_t rest = size % (uint64_t)scale;
	unsigned digits = decimals;
	if (number < 0)
		pxt_out_char(out, '-');
	pxt_out_unsigned(out, size / (uint64_t)scale);
	if (rest == 0)
		return true;
	for (; rest % 10 == 0; rest /= 10)
		digits--;
	pxt_out_char(out, '.');
	pxt_out_digits(out, rest, digits);
	return true;
}

/* The fewest digits that read back as the same number. */
void pxt_out_float(struct pxt_out *out, double value, unsigned bytes)
{
	char text[40];

	if (put_decimals(out, value, bytes))
		return;
	/*
	 * Zeros at the end are left out: what needs fewer digits is shown with fewer.  Numbers next to 0
	 * have fewer to begin with.
	 */
	int digits = bytes == 4 ? FLT_DIG : DBL_DIG;
	if (fabs(value) < (bytes == 4 ? (double)FLT_MIN : DBL_MIN))
		digits = 1;
	for (; digits <= (bytes == 4 ? 9 : 17); digits++) {
		(void)snprintf(text, sizeof text, "%.*g", digits, value);
		if (same_number(strtod(text, NULL), value, bytes))
			break;
	}
	pxt_out_text(out, text);
}

static void put_escaped(struct pxt_out *out, const char *text, size_t bytes,
    size_t (*escape)(const char *from, size_t bytes, char *to, size_t *taken))
{
	while (bytes > 0) {
		size_t taken = pxt_escape_plain(text, bytes);

		if (taken > 0)
			pxt_out_bytes(out, text, taken);
		else
			out->used += escape(text, bytes, pxt_out_room(out, 32), &taken);
		text += taken;
		bytes -= taken;
	}
}

void pxt_out_escaped(struct pxt_out *out, const char *text, size_t bytes)
{
	put_escaped(out, text, bytes, pxt_escape_one);
}

void pxt_out_json(struct pxt_out *out, const char *text, size_t bytes)
{
	pxt_out_char(out, '"');
	put_escaped(out, text, bytes, pxt_escape_json);
	pxt_out_char(out, '"');
}

void pxt_out_hexbytes(struct pxt_out *out, const unsigned char *data, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < bytes; i++) {
		char *to = pxt_out_room(out, 2);

		to[0] = digits[data[i] >> 4];
		to[1] = digits[data[i] & 15];
		out->used += 2;
	}
}

void pxt_out_dump(struct pxt_out *out, const unsigned char *data, size_t bytes, size_t limit)
{
	static const char digits[] = "0123456789abcdef";
	size_t shown = limit != 0 && bytes > limit ? limit : bytes;

	for (size_t i = 0; i < shown; i++) {
		char *to = pxt_out_room(out, 3);

		to[0] = digits[data[i] >> 4];
		to[1] = digits[data[i] & 15];
		to[2] = ' ';
		out->used += 3;
	}
	pxt_out_char(out, '|');
	for (size_t i = 0; i < shown; i++)
		pxt_out_char(out, (char)(data[i] >= 0x20 && data[i] < 0x7f ? data[i] : '.'));
	pxt_out_char(out, '|');
	if (shown < bytes)
		pxt_out_format(out, " +%zu bytes", bytes - shown);
}

void pxt_out_colour(struct pxt_out *out, enum pxt_colour colour)
{
	static const char *const codes[] = {
		[PXT_COLOUR_TIME] = "\033[2m",
		[PXT_COLOUR_THREAD] = "\033[36m",
		[PXT_COLOUR_EVENT] = "\033[1m",
		[PXT_COLOUR_LOSS] = "\033[1;31m",
		[PXT_COLOUR_SYSTEM] = "\033[33m",
		[PXT_COLOUR_OFF] = "\033[0m",
	};

	if (out->colour)
		pxt_out_text(out, codes[colour]);
}

void pxt_out_format(struct pxt_out *out, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	int bytes = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (bytes > 0)
		pxt_out_bytes(
		    out, text, (size_t)bytes < sizeof text ? (size_t)bytes : sizeof text - 1);
}

bool pxt_colour_wanted(const char *choice, int fd)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (choice && strcmp(choice, "auto") != 0)
		return strcmp(choice, "always") == 0;
	if (no_colour && *no_colour)
		return false;
	return isatty(fd) && (!term || strcmp(term, "dumb") != 0);
}

bool pxt_colour_valid(const char *choice)
{
	if (strcmp(choice, "auto") == 0 || strcmp(choice, "always") == 0 ||
	    strcmp(choice, "never") == 0)
		return true;
	pxt_complain("--color is auto, always or never, not \"%s\"", choice);
	return false;
}

/* ---- Text in a cell of CSV: its quotes, and the apostrophe before = + - @ ---- */

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
