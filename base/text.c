/* SPDX-License-Identifier: MIT */
/* text.c - the message of an event, put together from its description and its fields when it is read. */
#include "base/attr.h"
#include "base/fields.h"

#include <errno.h>
#include <stdio.h>

/* '%', five flags, three digits, '.', three digits, "ll", letter, NUL: more is not copied. */
#define SPEC_BYTES   24
/* Widths and precisions are below 256, and no number has more digits than 309 before its point. */
#define NUMBER_BYTES 640

struct text {
	char *to;
	size_t room; /* for bytes before the NUL */
};

struct spec {
	char text[SPEC_BYTES]; /* up to the precision */
	size_t bytes;
	char letter;
	bool left;
	int width;
	int precision; /* -1: none */
};

/* An event, and how far its fields are taken. */
struct taking {
	const char *format;
	const void *data;
	size_t len;
	int swapped;
	size_t cursor;
	unsigned taken;
};

static void put(struct text *text, const char *from, size_t bytes)
{
	if (bytes > text->room)
		bytes = text->room;
	memcpy(text->to, from, bytes);
	text->to += bytes;
	text->room -= bytes;
}

/* A number below 256 at @at, copied. */
static const char *take_number(const char *at, struct spec *spec, int *value)
{
	*value = 0;
	while (*at >= '0' && *at <= '9' && *value * 10 + (*at - '0') < 256) {
		*value = *value * 10 + (*at - '0');
		spec->text[spec->bytes++] = *at++;
	}
	return at;
}

/* The conversion after a '%'; NULL: not a conversion. */
static const char *take_spec(const char *at, struct spec *spec)
{
	*spec = (struct spec){ .text = "%", .bytes = 1, .precision = -1 };
	while (*at != '\0' && strchr("-+ #0", *at)) {
		spec->left |= *at == '-';
		if (!memchr(spec->text, *at, spec->bytes))
			spec->text[spec->bytes++] = *at;
		at++;
	}
	at = take_number(at, spec, &spec->width);
	if (*at == '.') {
		spec->text[spec->bytes++] = *at++;
		while (*at == '0' && at[1] >= '0' && at[1] <= '9')
			at++;
		at = take_number(at, spec, &spec->precision);
	}
	while (*at != '\0' && strchr("hlLqjzt", *at))
		at++;
	spec->letter = *at;
	return *at != '\0' && strchr("diuxXoceEfFgGaAsp", *at) ? at + 1 : NULL;
}

/* The specification ends as @end says; integers have 64 bits there. */
static const char *with_end(struct spec *spec, const char *end)
{
	memcpy(spec->text + spec->bytes, end, strlen(end) + 1);
	return spec->text;
}

/* Where the program's locale has a comma in numbers, it is a point here. */
static void put_number(struct text *text, char *number, int bytes)
{
	if (bytes < 0)
		return;
	if (bytes >= NUMBER_BYTES)
		bytes = NUMBER_BYTES - 1;
	for (int i = 0; i < bytes; i++) {
		if (number[i] == ',')
			number[i] = '.';
	}
	put(text, number, (size_t)bytes);
}

/* The bits of the field alone, as %x shows a negative number. */
static uint64_t unsigned_of(const struct posix_trace_field_np *field)
{
	uint64_t value = field->posix_value_np.posix_u_np;

	return field->posix_bytes_np < 8u
	           ? value & ((UINT64_C(1) << (8u * field->posix_bytes_np)) - 1u)
	           : value;
}

/* The format is made here, of letters that suit the argument: NOLINTBEGIN(clang-diagnostic-format-nonliteral) */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_float(struct text *text, struct spec *spec, double value)
{
	char number[NUMBER_BYTES];
	char end[2] = "g";

	if (strchr("eEfFgGaA", spec->letter))
		end[0] = spec->letter;
	put_number(text, number, snprintf(number, sizeof(number), with_end(spec, end), value));
}

static void put_integer(
    struct text *text, struct spec *spec, const struct posix_trace_field_np *field)
{
	bool is_signed = field->posix_kind_np == POSIX_TRACE_FIELD_SIGNED_NP;
	char number[NUMBER_BYTES];
	char end[4] = { 'l', 'l', spec->letter, '\0' };
	int bytes;

	if (strchr("xXo", spec->letter)) {
		bytes = snprintf(number, sizeof(number), with_end(spec, end),
		    (unsigned long long)unsigned_of(field));
	} else if (spec->letter == 'c') {
		bytes = snprintf(number, sizeof(number), with_end(spec, "c"),
		    (int)(unsigned char)field->posix_value_np.posix_u_np);
	} else if (is_signed) {
		bytes = snprintf(number, sizeof(number), with_end(spec, "lld"),
		    (long long)field->posix_value_np.posix_i_np);
	} else {
		bool hex = field->posix_kind_np == POSIX_TRACE_FIELD_HEX_NP &&
		           !strchr("diu", spec->letter);

		bytes = snprintf(number, sizeof(number), with_end(spec, hex ? "llx" : "llu"),
		    (unsigned long long)field->posix_value_np.posix_u_np);
		if (hex)
			put(text, "0x", 2);
	}
	put_number(text, number, bytes);
}
#pragma GCC diagnostic pop
/* NOLINTEND(clang-diagnostic-format-nonliteral) */

static void put_spaces(struct text *text, size_t count)
{
	while (count-- > 0 && text->room > 0)
		put(text, " ", 1);
}

static void put_text(struct text *text, const struct spec *spec, const char *from, size_t bytes)
{
	size_t width = (size_t)spec->width;

	if (spec->precision >= 0 && (size_t)spec->precision < bytes)
		bytes = (size_t)spec->precision;
	if (!spec->left && width > bytes)
		put_spaces(text, width - bytes);
	put(text, from, bytes);
	if (spec->left && width > bytes)
		put_spaces(text, width - bytes);
}

static void put_field(struct text *text, struct spec *spec,
    const struct posix_trace_field_np *field, const char *data)
{
	bool integer = field->posix_kind_np != POSIX_TRACE_FIELD_FLOAT_NP;
	bool is_signed = field->posix_kind_np == POSIX_TRACE_FIELD_SIGNED_NP;

	if (field->posix_kind_np == POSIX_TRACE_FIELD_TEXT_NP) {
		put_text(text, spec, data + field->posix_offset_np, field->posix_bytes_np);
	} else if (integer && !strchr("eEfFgGaA", spec->letter)) {
		put_integer(text, spec, field);
	} else if (integer) {
		put_float(text, spec,
		    is_signed ? (double)field->posix_value_np.posix_i_np
		              : (double)field->posix_value_np.posix_u_np);
	} else {
		put_float(text, spec, field->posix_value_np.posix_f_np);
	}
}

/* Whether the description has a field more, which this event's data does not. */
static bool is_cut(const struct taking *taking)
{
	const char *at = taking->format;
	struct pxt_field field;
	unsigned count = 0;

	while (!pxt_fields_over(at) && pxt_field_parse(&at, &field))
		count++;
	return taking->taken < count;
}

/* One conversion at @at, which is behind its '%'; returns what is behind it. */
static const char *convert(struct text *text, struct taking *taking, const char *at)
{
	struct posix_trace_field_np field;
	struct spec spec;
	const char *behind = take_spec(at, &spec);

	if (*at == '%') {
		put(text, "%", 1);
		return at + 1;
	}
	if (!behind) {
		put(text, "%", 1);
		return at;
	}
	if (posix_trace_field_next_np(taking->format, taking->data, taking->len, taking->swapped,
	        &taking->cursor, &field, sizeof(field)) == 0) {
		put_field(text, &spec, &field, taking->data);
	} else if (is_cut(taking)) {
		put(text, "?", 1);
	} else {
		put(text, "%", 1);
		return at;
	}
	taking->taken++;
	return behind;
}

static void put_message(struct text *text, struct taking *taking, const char *at)
{
	while (*at != '\0' && text->room > 0) {
		if (*at == '%')
			at = convert(text, taking, at + 1);
		else
			put(text, at++, 1);
	}
	*text->to = '\0';
}

PXT_API int posix_trace_text_np(
    const char *format, const void *data, size_t len, int swapped, char *text, size_t room)
{
	struct taking taking = { .format = format, .data = data, .len = len, .swapped = swapped };
	struct text out = { text, room - 1 };
	const char *message;
	size_t bytes;

	if (!pxt_arg_given(format) || (len != 0 && !pxt_arg_given(data)) || !pxt_arg_given(text) ||
	    room == 0 || pxt_fields_check(format, &bytes) != 0)
		return EINVAL;
	message = strchr(format, ';');
	if (!message)
		return ENOENT;
	/* A blank after the semicolon belongs to it. */
	put_message(&out, &taking, message + 1 + (message[1] == ' '));
	return 0;
}
