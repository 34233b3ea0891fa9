/* SPDX-License-Identifier: MIT */
/* fields.c - the grammar of payload descriptions; values of fields, out of data. */
#include "base/fields.h"
#include "base/attr.h"
#include "base/handle.h"

#include <errno.h>

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

	if (!end || *at == '\0')
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

/* ---- One event's data, field by field; and by a description that was taken apart before ---- */

/* The cursor: [31:16] offset in the data, [15:0] place in the description. */
#define CURSOR_PLACE 0xffffu
#define CURSOR_SHIFT 16

/* Of a field, in the first release: what comes after it, an older program has not. */
#define FIRST_BYTES                                                                                \
	(offsetof(struct posix_trace_field_np, posix_value_np) +                                   \
	    sizeof(((struct posix_trace_field_np *)NULL)->posix_value_np))

static uint64_t load_unsigned(const unsigned char *from, uint32_t bytes)
{
	uint32_t u32;
	uint16_t u16;
	uint64_t u64;

	switch (bytes) {
	case 1:
		return from[0];
	case 2:
		memcpy(&u16, from, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, from, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, from, sizeof(u64));
		return u64;
	}
}

/* @bytes is 1 to 8. */
static uint64_t load_turned(const unsigned char *from, uint32_t bytes)
{
	return __builtin_bswap64(load_unsigned(from, bytes)) >> (64u - 8u * bytes);
}

/* Conversion to a signed type keeps the bits with every compiler that we know. */
static int64_t extend_sign(uint64_t value, uint32_t bytes)
{
	const uint64_t sign = UINT64_C(1) << (8u * bytes - 1u);

	return (int64_t)((value ^ sign) - sign);
}

static double load_float(uint64_t bits, uint32_t bytes)
{
	uint32_t half = (uint32_t)bits;
	float single;
	double value;

	if (bytes == sizeof(single)) {
		memcpy(&single, &half, sizeof(single));
		return (double)single;
	}
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Bytes of a text without the NULs that fill it up. */
static uint32_t text_bytes(const unsigned char *text, uint32_t bytes)
{
	while (bytes > 0 && text[bytes - 1] == 0)
		bytes--;
	return bytes;
}

/* An event without data has no address; a text may be empty, a number has a byte at least. */
PXT_INLINE void load(struct posix_trace_field_np *value, int kind, uint32_t bytes, const void *data,
    size_t offset, bool swapped)
{
	const unsigned char *from;
	uint64_t bits;

	if (kind == POSIX_TRACE_FIELD_TEXT_NP) {
		value->posix_bytes_np =
		    bytes ? text_bytes((const unsigned char *)data + offset, bytes) : 0;
		value->posix_value_np.posix_u_np = 0;
		return;
	}
	value->posix_bytes_np = bytes;
	from = (const unsigned char *)data + offset;
	bits = PXT_UNLIKELY(swapped) ? load_turned(from, bytes) : load_unsigned(from, bytes);
	if (kind == POSIX_TRACE_FIELD_SIGNED_NP)
		value->posix_value_np.posix_i_np = extend_sign(bits, bytes);
	else if (kind == POSIX_TRACE_FIELD_FLOAT_NP)
		value->posix_value_np.posix_f_np = load_float(bits, bytes);
	else
		value->posix_value_np.posix_u_np = bits;
}

/*
 * The whole description is checked at the first step; later ones only see to it that a cursor of
 * another description leads nowhere outside.
 */
static bool in_bounds(const char *format, size_t cursor)
{
	size_t bytes;

	if (cursor == 0)
		return pxt_fields_check(format, &bytes) == 0;
	return (cursor & CURSOR_PLACE) <= POSIX_TRACE_FORMAT_MAX_NP &&
	       !memchr(format, '\0', cursor & CURSOR_PLACE);
}

static void describe(
    struct posix_trace_field_np *field, const struct pxt_field *from, uint32_t offset)
{
	memset(field, 0, sizeof(*field));
	memcpy(field->posix_name_np, from->name, from->name_bytes);
	field->posix_kind_np = from->kind;
	field->posix_bytes_np = from->bytes;
	field->posix_offset_np = offset;
}

PXT_API int posix_trace_field_next_np(const char *format, const void *data, size_t len, int swapped,
    size_t *cursor, struct posix_trace_field_np *field, size_t bytes)
{
	struct posix_trace_field_np own;
	struct pxt_field next;
	const char *at;
	size_t offset;
	size_t left;

	if (!pxt_arg_given(format) || !pxt_arg_given(cursor) || !pxt_arg_given(field) ||
	    (len != 0 && !pxt_arg_given(data)) || !in_bounds(format, *cursor))
		return EINVAL;
	at = format + (*cursor & CURSOR_PLACE);
	offset = *cursor >> CURSOR_SHIFT;
	if (pxt_fields_over(at) || offset > len)
		return ENOENT;
	if (!pxt_field_parse(&at, &next))
		return EINVAL;
	left = len < UINT16_MAX ? len - offset : UINT16_MAX - offset;
	if (next.trailing)
		next.bytes = (uint32_t)left;
	if (next.bytes > left)
		return ENOENT;
	describe(&own, &next, (uint32_t)offset);
	load(&own, next.kind, next.bytes, data, offset, swapped != 0);
	pxt_give(field, bytes, &own, sizeof(own));
	*cursor = (offset + next.bytes) << CURSOR_SHIFT | (size_t)(at - format);
	return 0;
}

PXT_API int posix_trace_fields_np(const char *format, struct posix_trace_field_np *fields,
    size_t field_bytes, size_t room, size_t *count)
{
	struct posix_trace_field_np own;
	struct pxt_field next;
	uint32_t offset = 0;
	size_t found = 0;
	size_t bytes;

	if (!pxt_arg_given(format) || !pxt_arg_given(count) ||
	    (room != 0 && (!pxt_arg_given(fields) || field_bytes == 0)) ||
	    pxt_fields_check(format, &bytes) != 0)
		return EINVAL;
	/* Bound: the fields of a description. */
	while (!pxt_fields_over(format) && pxt_field_parse(&format, &next)) {
		if (found < room) {
			describe(&own, &next, offset);
			pxt_give((unsigned char *)fields + found * field_bytes, field_bytes, &own,
			    sizeof(own));
		}
		found++;
		offset += next.bytes;
	}
	*count = found;
	return 0;
}

/* What a later release's field has more.  Not inline: a call within would have the caller keep registers. */
static PXT_NOINLINE int clear_rest(struct posix_trace_field_np *value, size_t bytes)
{
	memset(value + 1, 0, bytes - sizeof(*value));
	return 0;
}

PXT_API int posix_trace_field_value_np(const struct posix_trace_field_np *field, const void *data,
    size_t len, int swapped, struct posix_trace_field_np *value, size_t bytes)
{
	uint32_t offset;
	uint32_t width;
	int kind;

	if (!pxt_arg_given(field) || !pxt_arg_given(value) || bytes < FIRST_BYTES ||
	    (len != 0 && !pxt_arg_given(data)))
		return EINVAL;
	/* Read once: *value may be *field for all that the compiler knows. */
	offset = field->posix_offset_np;
	width = field->posix_bytes_np;
	kind = field->posix_kind_np;
	if (kind != POSIX_TRACE_FIELD_TEXT_NP && width - 1u >= sizeof(uint64_t))
		return EINVAL;
	if ((uint64_t)offset + width > len)
		return ENOENT;
	value->posix_kind_np = kind;
	value->posix_offset_np = offset;
	/* A text without length is what is left. */
	if (kind == POSIX_TRACE_FIELD_TEXT_NP && width == 0)
		width = (uint32_t)(len - offset);
	load(value, kind, width, data, offset, swapped != 0);
	return bytes > sizeof(*value) ? clear_rest(value, bytes) : 0;
}

/* ---- What the standard's structure of an event has no public members for ---- */

PXT_API int posix_trace_eventinfo_getextra_np(const struct posix_trace_event_info *event,
    struct posix_trace_eventextra_np *extra, size_t bytes)
{
	struct posix_trace_eventextra_np own;

	if (!pxt_arg_given(event) || !pxt_arg_given(extra))
		return EINVAL;
	own = (struct posix_trace_eventextra_np){
		.posix_cpu_np = event->_pxt_cpu,
		.posix_ticks_np = event->_pxt_ticks,
		.posix_lost_before_np = event->_pxt_lost_before,
		.posix_thread_exact_np = (event->_pxt_flags & PXT_EVENT_THREAD_EXACT) != 0,
		.posix_thread_entry_np = event->_pxt_entry - 1u,
		.posix_number_np = event->_pxt_flags & PXT_EVENT_NUMBERED ? event->_pxt_number : 0,
	};
	pxt_give(extra, bytes, &own, sizeof(own));
	return 0;
}
