/* SPDX-License-Identifier: MIT */
/* field_next.c - one event's data, field by field; and by a description that was taken apart before. */
#include "base/attr.h"
#include "base/fields.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

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

static uint64_t load_turned(const unsigned char *from, uint32_t bytes)
{
	unsigned char raw[8] = { 0 };

	for (uint32_t i = 0; i < bytes; i++)
		raw[i] = from[bytes - 1 - i];
	return load_unsigned(raw, bytes);
}

/* Conversion to a narrower signed type keeps the low bits with every compiler that we know. */
static int64_t extend_sign(uint64_t value, uint32_t bytes)
{
	switch (bytes) {
	case 1:
		return (int8_t)value;
	case 2:
		return (int16_t)value;
	case 4:
		return (int32_t)value;
	default:
		return (int64_t)value;
	}
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

static void load(struct posix_trace_field_np *field, const unsigned char *from, bool swapped)
{
	uint64_t bits;

	if (field->posix_kind_np == POSIX_TRACE_FIELD_TEXT_NP) {
		field->posix_bytes_np = text_bytes(from, field->posix_bytes_np);
		field->posix_value_np.posix_u_np = 0;
		return;
	}
	bits = swapped ? load_turned(from, field->posix_bytes_np)
	               : load_unsigned(from, field->posix_bytes_np);
	if (field->posix_kind_np == POSIX_TRACE_FIELD_SIGNED_NP)
		field->posix_value_np.posix_i_np = extend_sign(bits, field->posix_bytes_np);
	else if (field->posix_kind_np == POSIX_TRACE_FIELD_FLOAT_NP)
		field->posix_value_np.posix_f_np = load_float(bits, field->posix_bytes_np);
	else
		field->posix_value_np.posix_u_np = bits;
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
	if (next.bytes != 0)
		load(&own, (const unsigned char *)data + offset, swapped != 0);
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

PXT_API int posix_trace_field_value_np(const struct posix_trace_field_np *field, const void *data,
    size_t len, int swapped, struct posix_trace_field_np *value, size_t bytes)
{
	bool text;
	size_t left;

	if (!pxt_arg_given(field) || !pxt_arg_given(value) || bytes < FIRST_BYTES ||
	    (len != 0 && !pxt_arg_given(data)))
		return EINVAL;
	text = field->posix_kind_np == POSIX_TRACE_FIELD_TEXT_NP;
	if (!text && (field->posix_bytes_np == 0 || field->posix_bytes_np > sizeof(uint64_t)))
		return EINVAL;
	if (field->posix_offset_np > len)
		return ENOENT;
	left = len - field->posix_offset_np;
	if (field->posix_bytes_np > left)
		return ENOENT;
	value->posix_kind_np = field->posix_kind_np;
	value->posix_offset_np = field->posix_offset_np;
	value->posix_bytes_np = field->posix_bytes_np ? field->posix_bytes_np : (uint32_t)left;
	if (value->posix_bytes_np != 0)
		load(value, (const unsigned char *)data + field->posix_offset_np, swapped != 0);
	else
		value->posix_value_np.posix_u_np = 0;
	if (bytes > sizeof(*value))
		memset(value + 1, 0, bytes - sizeof(*value));
	return 0;
}
