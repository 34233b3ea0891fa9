/* SPDX-License-Identifier: MIT */
/* fields.c - the grammar of payload descriptions. */
#include "base/fields.h"

#include "format/slot.h"

#include <errno.h>
#include <string.h>

static const struct type {
	char word[8];
	uint8_t word_bytes;
	uint8_t kind;
	uint8_t bytes; /* 0: text */
} types[] = {
	{ "u8", 2, POSIX_TRACE_FIELD_UNSIGNED_NP, 1 },
	{ "u16", 3, POSIX_TRACE_FIELD_UNSIGNED_NP, 2 },
	{ "u32", 3, POSIX_TRACE_FIELD_UNSIGNED_NP, 4 },
	{ "u64", 3, POSIX_TRACE_FIELD_UNSIGNED_NP, 8 },
	{ "i8", 2, POSIX_TRACE_FIELD_SIGNED_NP, 1 },
	{ "i16", 3, POSIX_TRACE_FIELD_SIGNED_NP, 2 },
	{ "i32", 3, POSIX_TRACE_FIELD_SIGNED_NP, 4 },
	{ "i64", 3, POSIX_TRACE_FIELD_SIGNED_NP, 8 },
	{ "x8", 2, POSIX_TRACE_FIELD_HEX_NP, 1 },
	{ "x16", 3, POSIX_TRACE_FIELD_HEX_NP, 2 },
	{ "x32", 3, POSIX_TRACE_FIELD_HEX_NP, 4 },
	{ "x64", 3, POSIX_TRACE_FIELD_HEX_NP, 8 },
	{ "float", 5, POSIX_TRACE_FIELD_FLOAT_NP, 4 },
	{ "f32", 3, POSIX_TRACE_FIELD_FLOAT_NP, 4 },
	{ "double", 6, POSIX_TRACE_FIELD_FLOAT_NP, 8 },
	{ "f64", 3, POSIX_TRACE_FIELD_FLOAT_NP, 8 },
	{ "char", 4, POSIX_TRACE_FIELD_TEXT_NP, 0 },
	{ "text", 4, POSIX_TRACE_FIELD_TEXT_NP, 0 },
	{ "string", 6, POSIX_TRACE_FIELD_TEXT_NP, 0 },
};

/* Not <ctype.h>: its answers depend on the program's locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

static const char *skip_word(const char *at)
{
	while (is_letter(*at) || is_digit(*at))
		at++;
	return at;
}

static const struct type *find_type(const char *word, size_t bytes)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].word_bytes == bytes && memcmp(types[i].word, word, bytes) == 0)
			return &types[i];
	}
	return NULL;
}

/* "[N]", N from 1 to the most data an event can have; NULL: something else is there. */
static const char *parse_length(const char *at, uint32_t *length)
{
	uint32_t value = 0;

	at++;
	while (is_digit(*at) && value <= PXT_DATA_MAX)
		value = value * 10 + (uint32_t)(*at++ - '0');
	if (*at != ']' || value == 0 || value > PXT_DATA_MAX)
		return NULL;
	*length = value;
	return at + 1;
}

static const char *parse_type(const char *at, struct pxt_field *field)
{
	const char *end = skip_word(at);
	const struct type *type = find_type(at, (size_t)(end - at));

	if (!type)
		return NULL;
	field->kind = type->kind;
	field->bytes = type->bytes;
	field->trailing = false;
	if (type->bytes != 0)
		return end;
	if (*end == '[' && type->word[0] != 's')
		return parse_length(end, &field->bytes);
	/* "char" alone would be one byte to some and a text to others: it needs its length. */
	if (type->word[0] == 'c')
		return NULL;
	field->trailing = true;
	return end;
}

bool pxt_field_parse(const char **at, struct pxt_field *field)
{
	const char *end = parse_type(skip_blanks(*at), field);
	const char *name;

	if (!end)
		return false;
	name = skip_blanks(end);
	if (name == end || !is_letter(*name))
		return false;
	end = skip_word(name);
	field->name = name;
	field->name_bytes = (uint32_t)(end - name);
	end = skip_blanks(end);
	if (field->name_bytes > PXT_FIELD_NAME_MAX || (*end != ',' && !pxt_fields_over(end)))
		return false;
	/* After a comma another field must follow, and no field follows a text without length. */
	if (*end == ',' && (field->trailing || pxt_fields_over(skip_blanks(end + 1))))
		return false;
	*at = *end == ',' ? end + 1 : end;
	return true;
}

/* Where a name is in the description: both numbers are below POSIX_TRACE_FORMAT_MAX_NP. */
struct place {
	uint8_t at;
	uint8_t bytes;
};

_Static_assert(POSIX_TRACE_FORMAT_MAX_NP <= UINT8_MAX, "a place fits");

static bool is_known(
    const char *format, const struct place *known, unsigned count, const struct pxt_field *field)
{
	for (unsigned i = 0; i < count; i++) {
		if (known[i].bytes == field->name_bytes &&
		    memcmp(format + known[i].at, field->name, field->name_bytes) == 0)
			return true;
	}
	return false;
}

int pxt_fields_check(const char *format, size_t *bytes)
{
	const char *end = memchr(format, '\0', POSIX_TRACE_FORMAT_MAX_NP + 1);
	const char *at = format;
	struct place known[POSIX_TRACE_FIELDS_MAX_NP];
	struct pxt_field field;
	unsigned count = 0;
	uint32_t sum = 0;

	if (!end)
		return EINVAL;
	if (*at == '\0')
		return EINVAL;
	while (!pxt_fields_over(at)) {
		if (count == POSIX_TRACE_FIELDS_MAX_NP || !pxt_field_parse(&at, &field) ||
		    is_known(format, known, count, &field))
			return EINVAL;
		sum += field.bytes;
		if (sum > PXT_DATA_MAX)
			return EINVAL;
		known[count].at = (uint8_t)(field.name - format);
		known[count].bytes = (uint8_t)field.name_bytes;
		count++;
	}
	*bytes = (size_t)(end - format) + 1;
	return 0;
}
