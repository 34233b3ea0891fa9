/* SPDX-License-Identifier: MIT */
/* where_words.c - the words of a condition: names, numbers with units, texts, relations. */
#include "tools/select/where_inner.h"

#include "format/hexdigit.h"
#include "tools/command/command.h"

#include <stdlib.h>

/* Not <ctype.h>: its answers depend on the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* ---- Texts ---- */

/* What stands for itself after a backslash, or -1. */
static int escaped(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	case '\\':
	case '"':
	case '\'':
		return c;
	default:
		return -1;
	}
}

/* After a backslash: the byte that is meant; *from moves to its last character. */
static bool read_escape(struct pxt_words *words, const char **from, char *byte)
{
	const char *at = *from;
	int value = escaped(*at);

	if (*at == 'x' && pxt_hexdigit(at[1]) >= 0 && pxt_hexdigit(at[2]) >= 0) {
		value = pxt_hexdigit(at[1]) * 16 + pxt_hexdigit(at[2]);
		*from += 2;
	}
	if (value < 0)
		return pxt_text_wrong(words->error, (size_t)(at - 1 - words->text),
		    "behind a backslash stands n, t, r, another one, a quote, or x and two hex "
		    "digits");
	*byte = (char)value;
	return true;
}

static bool read_text(struct pxt_words *words, struct pxt_word *word)
{
	char *to = words->pool + words->pool_used;
	const char *from = words->next + 1;
	char quote = *words->next;

	word->kind = PXT_WORD_VALUE;
	word->value = (struct pxt_value){ .kind = POSIX_TRACE_FIELD_TEXT_NP, .text = to };
	for (; *from != quote; from++) {
		char byte = *from;

		if (byte == '\0')
			return pxt_text_wrong(
			    words->error, word->at, "the text that begins here has no end");
		if (byte == '\\') {
			from++;
			if (!read_escape(words, &from, &byte))
				return false;
		}
		*to++ = byte;
	}
	/* Its two quotes leave room for the NUL, which patterns need. */
	*to = '\0';
	word->value.bytes = (uint32_t)(to - word->value.text);
	words->pool_used += word->value.bytes + 1;
	words->next = from + 1;
	return true;
}

/* ---- Numbers ---- */

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	{ "min", UINT64_C(60000000000) }, { "h", UINT64_C(3600000000000) } };

static bool too_large(struct pxt_words *words, const struct pxt_word *word)
{
	return pxt_text_wrong(words->error, word->at, "this number has no room in 64 bits");
}

static bool take_sign(struct pxt_words *words, struct pxt_word *word, uint64_t size, bool negative)
{
	word->value = (struct pxt_value){ .kind = POSIX_TRACE_FIELD_UNSIGNED_NP, .u = size };
	if (!negative || size == 0)
		return true;
	if (size > UINT64_C(1) << 63)
		return too_large(words, word);
	word->value.kind = POSIX_TRACE_FIELD_SIGNED_NP;
	word->value.i = -(int64_t)(size - 1) - 1;
	return true;
}

static bool read_hex(struct pxt_words *words, struct pxt_word *word, const char **at, bool negative)
{
	uint64_t size = 0;

	*at += 2;
	if (pxt_hexdigit(**at) < 0)
		return pxt_text_wrong(words->error, word->at, "hex digits are missing behind 0x");
	for (; pxt_hexdigit(**at) >= 0; ++*at) {
		if (size >> 60 != 0)
			return too_large(words, word);
		size = size << 4 | (uint64_t)pxt_hexdigit(**at);
	}
	return take_sign(words, word, size, negative);
}

/* Digits before and after the point as nanoseconds of @unit. */
static bool read_duration(struct pxt_words *words, struct pxt_word *word, const char *at,
    const struct unit *unit, bool negative)
{
	uint64_t part = unit->ns;
	uint64_t size = 0;

	for (; is_digit(*at); at++) {
		if (size > (UINT64_MAX - 9) / 10)
			return too_large(words, word);
		size = size * 10 + (uint64_t)(*at - '0');
	}
	if (size > UINT64_MAX / 2 / unit->ns)
		return too_large(words, word);
	size *= unit->ns;
	if (*at == '.')
		at++;
	for (; is_digit(*at); at++) {
		/* A minute and an hour are no powers of ten: what ten does not divide is none. */
		if (part % 10 != 0 && *at != '0')
			return pxt_text_wrong(
			    words->error, word->at, "this is finer than a nanosecond can tell");
		part /= 10;
		size += (uint64_t)(*at - '0') * part;
	}
	return take_sign(words, word, size, negative);
}

/* Digits, a point or an exponent, without unit. */
static bool read_plain(struct pxt_words *words, struct pxt_word *word, const char *begin,
    const char *end, bool negative)
{
	char copy[64];
	size_t bytes = (size_t)(end - begin);
	uint64_t size = 0;
	const char *at = begin;

	for (; at < end && is_digit(*at); at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (size > (UINT64_MAX - digit) / 10)
			return too_large(words, word);
		size = size * 10 + digit;
	}
	if (at == end)
		return take_sign(words, word, size, negative);
	if (bytes >= sizeof copy)
		return pxt_text_wrong(words->error, word->at, "a number of so many digits");
	memcpy(copy, begin, bytes);
	copy[bytes] = '\0';
	double value = strtod(copy, NULL);
	word->value = (struct pxt_value){
		.kind = POSIX_TRACE_FIELD_FLOAT_NP, .bytes = 8, .f = negative ? -value : value
	};
	return true;
}

static const char *skip_digits(const char *at)
{
	while (is_digit(*at))
		at++;
	return at;
}

static bool wrong_unit(struct pxt_words *words, const char *at)
{
	return pxt_text_wrong(words->error, (size_t)(at - words->text),
	    "behind a number may stand ns, us, ms, s, min or h");
}

static bool is_exponent(const char *at)
{
	return *at == 'e' &&
	       (is_digit(at[1]) || ((at[1] == '-' || at[1] == '+') && is_digit(at[2])));
}

static bool read_decimal(
    struct pxt_words *words, struct pxt_word *word, const char *begin, bool negative)
{
	const char *end = skip_digits(begin);
	const char *unit;

	if (*end == '.' && is_digit(end[1]))
		end = skip_digits(end + 1);
	if (is_exponent(end)) {
		words->next = skip_digits(end + 2);
		word->plain = true;
		return read_plain(words, word, begin, words->next, negative);
	}
	for (unit = end; is_letter(*end) || is_digit(*end);)
		end++;
	words->next = end;
	word->plain = end == unit;
	if (word->plain)
		return read_plain(words, word, begin, end, negative);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i].name) == (size_t)(end - unit) &&
		    memcmp(units[i].name, unit, (size_t)(end - unit)) == 0)
			return read_duration(words, word, begin, &units[i], negative);
	return wrong_unit(words, unit);
}

static bool read_number(struct pxt_words *words, struct pxt_word *word)
{
	bool negative = *words->next == '-';
	const char *begin = words->next + negative;

	word->kind = PXT_WORD_VALUE;
	if (begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X')) {
		words->next = begin;
		if (!read_hex(words, word, &words->next, negative))
			return false;
		word->plain = true;
	} else if (!read_decimal(words, word, begin, negative)) {
		return false;
	}
	/* 0xfms, 1e5ms, 1.5.2 */
	if (is_letter(*words->next) || is_digit(*words->next) || *words->next == '.')
		return wrong_unit(words, words->next);
	return true;
}

bool pxt_word_seconds(struct pxt_words *words, size_t at, struct pxt_value *value)
{
	static const struct unit second = { "s", 1000000000 };
	struct pxt_word word = { .at = at };
	bool negative = words->text[at] == '-';
	const char *begin = words->text + at + negative;
	const char *end = skip_digits(begin);
	long double number;

	if (*end == '.' && is_digit(end[1]))
		end = skip_digits(end + 1);
	if (!is_exponent(end) && *end != 'x' && *end != 'X') {
		if (!read_duration(words, &word, begin, &second, negative))
			return false;
		*value = word.value;
		return true;
	}
	number = value->kind == POSIX_TRACE_FIELD_FLOAT_NP    ? (long double)value->f
	         : value->kind == POSIX_TRACE_FIELD_SIGNED_NP ? (long double)value->i
	                                                      : (long double)value->u;
	*value = (struct pxt_value){
		.kind = POSIX_TRACE_FIELD_FLOAT_NP, .bytes = 8, .f = (double)(number * 1e9L)
	};
	return true;
}

/* ---- Names and signs ---- */

static const struct sign {
	char text[4];
	enum pxt_word_kind kind;
	enum pxt_relation relation;
	bool is_word;
} signs[] = {
	/* What begins with another one is before it. */
	{ "==", PXT_WORD_RELATION, PXT_EQUAL, false },
	{ "!=", PXT_WORD_RELATION, PXT_NOT_EQUAL, false },
	{ "<=", PXT_WORD_RELATION, PXT_LESS_EQUAL, false },
	{ ">=", PXT_WORD_RELATION, PXT_GREATER_EQUAL, false },
	{ "!~", PXT_WORD_RELATION, PXT_NOT_LIKE, false },
	{ "&&", PXT_WORD_AND, PXT_EQUAL, false },
	{ "||", PXT_WORD_OR, PXT_EQUAL, false },
	{ "=", PXT_WORD_RELATION, PXT_EQUAL, false },
	{ "<", PXT_WORD_RELATION, PXT_LESS, false },
	{ ">", PXT_WORD_RELATION, PXT_GREATER, false },
	{ "~", PXT_WORD_RELATION, PXT_LIKE, false },
	{ "!", PXT_WORD_NOT, PXT_EQUAL, false },
	{ "(", PXT_WORD_OPEN, PXT_EQUAL, false },
	{ ")", PXT_WORD_CLOSE, PXT_EQUAL, false },
	{ "and", PXT_WORD_AND, PXT_EQUAL, true },
	{ "or", PXT_WORD_OR, PXT_EQUAL, true },
	{ "not", PXT_WORD_NOT, PXT_EQUAL, true },
	{ "has", PXT_WORD_HAS, PXT_EQUAL, true },
};

static bool read_name(struct pxt_words *words, struct pxt_word *word)
{
	word->dotted = *words->next == '.';
	word->begin = words->next + word->dotted;
	while (is_letter(*words->next) || is_digit(*words->next) || words->next < word->begin)
		words->next++;
	word->kind = PXT_WORD_NAME;
	word->bytes = (size_t)(words->next - word->begin);
	if (word->bytes > 63)
		return pxt_text_wrong(
		    words->error, word->at, "a field's name has at most 63 letters");
	return true;
}

static bool read_sign(struct pxt_words *words, struct pxt_word *word)
{
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		const struct sign *sign = &signs[i];
		size_t bytes = strlen(sign->text);

		if (strncmp(words->next, sign->text, bytes) != 0)
			continue;
		if (sign->is_word &&
		    (is_letter(words->next[bytes]) || is_digit(words->next[bytes])))
			continue;
		word->kind = sign->kind;
		word->relation = sign->relation;
		words->next += bytes;
		return true;
	}
	return false;
}

bool pxt_next_word(struct pxt_words *words, struct pxt_word *word)
{
	char c;

	while (*words->next == ' ' || *words->next == '\t' || *words->next == '\n')
		words->next++;
	c = *words->next;
	*word = (struct pxt_word){ .at = (size_t)(words->next - words->text) };
	if (c == '\0')
		return true;
	if (read_sign(words, word))
		return true;
	if (c == '"' || c == '\'')
		return read_text(words, word);
	if (is_digit(c) || (c == '-' && is_digit(words->next[1])))
		return read_number(words, word);
	if (is_letter(c) || (c == '.' && is_letter(words->next[1])))
		return read_name(words, word);
	return pxt_text_wrong(words->error, word->at,
	    "this means nothing here; a condition looks like: late_ns > 1ms and job == 3");
}
