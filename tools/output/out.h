/* SPDX-License-Identifier: MIT */
/*
 * out.h - output of many short pieces: one buffer, one write() when it is full.  stdio would
 * parse a format for every field of every event.  And text from a log on its way to a terminal.
 */
#ifndef PXT_OUT_H
#define PXT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PXT_OUT_BYTES 65536u

struct pxt_out {
	int fd;
	int error; /* the first error number of write(); later output is dropped */
	bool colour;
	size_t pad; /* columns that are to be filled before the next gap, see pxt_out_gap() */
	size_t used;
	char buffer[PXT_OUT_BYTES];
};

/* What a colour is used for. */
enum pxt_colour {
	PXT_COLOUR_TIME,
	PXT_COLOUR_THREAD,
	PXT_COLOUR_EVENT,
	PXT_COLOUR_LOSS,
	PXT_COLOUR_SYSTEM,
	PXT_COLOUR_OFF
};

void pxt_out_flush(struct pxt_out *out);
void pxt_out_long(struct pxt_out *out, const char *text, size_t bytes);

/* At least @bytes (up to PXT_OUT_BYTES) of room, to be written at the returned place. */
static inline char *pxt_out_room(struct pxt_out *out, size_t bytes)
{
	if (PXT_OUT_BYTES - out->used < bytes)
		pxt_out_flush(out);
	return out->buffer + out->used;
}

static inline void pxt_out_bytes(struct pxt_out *out, const char *text, size_t bytes)
{
	if (bytes > PXT_OUT_BYTES / 2) {
		pxt_out_long(out, text, bytes);
		return;
	}
	memcpy(pxt_out_room(out, bytes), text, bytes);
	out->used += bytes;
}

static inline void pxt_out_char(struct pxt_out *out, char c)
{
	*pxt_out_room(out, 1) = c;
	out->used++;
}

static inline void pxt_out_text(struct pxt_out *out, const char *text)
{
	pxt_out_bytes(out, text, strlen(text));
}

void pxt_out_spaces(struct pxt_out *out, size_t count);
/* Text of @bytes that takes @width columns of its own, and spaces up to @column. */
void pxt_out_column(
    struct pxt_out *out, const char *text, size_t bytes, size_t width, size_t column);
/*
 * Between columns: what pxt_out_pad() asked for and two spaces.  A line's end forgets the padding,
 * so that no line ends in spaces.
 */
static inline void pxt_out_pad(struct pxt_out *out, size_t width, size_t column)
{
	out->pad = width < column ? column - width : 0;
}
static inline void pxt_out_gap(struct pxt_out *out)
{
	pxt_out_spaces(out, out->pad + 2);
	out->pad = 0;
}
/* The next gap is none: what comes first in a line has nothing before it. */
static inline void pxt_out_no_gap(struct pxt_out *out)
{
	out->pad = (size_t)-2;
}
static inline void pxt_out_end(struct pxt_out *out)
{
	out->pad = 0;
	pxt_out_char(out, '\n');
}
void pxt_out_unsigned(struct pxt_out *out, uint64_t value);
void pxt_out_signed(struct pxt_out *out, int64_t value);
void pxt_out_hex(struct pxt_out *out, uint64_t value);
/* The same without 0x. */
void pxt_out_hexdigits(struct pxt_out *out, uint64_t value);
/* Exactly @digits decimal digits (up to 20), with leading zeros. */
void pxt_out_digits(struct pxt_out *out, uint64_t value, unsigned digits);
/* Decimal, right-aligned in @column columns. */
void pxt_out_right(struct pxt_out *out, uint64_t value, size_t column);
void pxt_out_float(struct pxt_out *out, double value, unsigned bytes);
/* Text from outside, see below. */
void pxt_out_escaped(struct pxt_out *out, const char *text, size_t bytes);
/* The same as a string of JSON, in quotes. */
void pxt_out_json(struct pxt_out *out, const char *text, size_t bytes);
/* Bytes as "48656c". */
void pxt_out_hexbytes(struct pxt_out *out, const unsigned char *data, size_t bytes);
/* Bytes as "48 65 6c |Hel|"; at most @limit of them (0: all), then how many more there are. */
void pxt_out_dump(struct pxt_out *out, const unsigned char *data, size_t bytes, size_t limit);
void pxt_out_colour(struct pxt_out *out, enum pxt_colour colour);
__attribute__((format(printf, 2, 3))) void pxt_out_format(
    struct pxt_out *out, const char *format, ...);

/* Whether @fd wants colour: @choice is NULL, "auto", "always" or "never". */
bool pxt_colour_wanted(const char *choice, int fd);
/* False, with a word to the user, when it is none of these. */
bool pxt_colour_valid(const char *choice);

/*
 * ---- Text in a cell of CSV ----
 *
 * Quotes as RFC 4180 has them, and what a spreadsheet would take for a formula.
 */

/*
 * A cell that begins with = + - @, a tab or a return has an apostrophe in front.  In quotes, where a comma, a
 * quote or the end of a line is in it.
 */
void pxt_csvtext_put(struct pxt_out *out, const char *text, size_t bytes);
/* As it is, in quotes in any case. */
void pxt_csvtext_quote(struct pxt_out *out, const char *text, size_t bytes);

/*
 * Text from a log on its way to a terminal.
 *
 * A log comes from somewhere else, and its names and texts may hold anything.  Printable ASCII and
 * well-formed UTF-8 pass; control characters (C0, DEL, C1), a backslash, bytes that are no UTF-8,
 * and the characters that turn or hide text around them become \n, \t, \\ or \xNN.
 */

/* Most bytes that one input byte can become. */
#define PXT_ESCAPE_GROWTH 4u

/*
 * Escapes the character at @from (of @bytes > 0 bytes) to @to, which has room for 16 bytes.
 * Returns the number of bytes written, and how many were read in *@taken.
 */
size_t pxt_escape_one(const char *from, size_t bytes, char *to, size_t *taken);

/*
 * Escapes a whole text to @to of @room bytes, NUL included; cut at a character's end when it does
 * not fit.  Returns the bytes written; *@width (may be NULL) is the number of columns.
 */
size_t pxt_escape(const char *from, size_t bytes, char *to, size_t room, size_t *width);

/*
 * The same for a string of JSON: invalid UTF-8 becomes U+FFFD, what could command a terminal \uNNNN.
 * @to has room for 32 bytes.
 */
size_t pxt_escape_json(const char *from, size_t bytes, char *to, size_t *taken);

/* How many bytes at @from stand for themselves in either: printable ASCII without \ and ". */
size_t pxt_escape_plain(const char *from, size_t bytes);

#endif
