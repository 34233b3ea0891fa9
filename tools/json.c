/* SPDX-License-Identifier: MIT */
#include "json.h"

#include "escape.h"

#include <math.h>

/* "\uNNNN", as a pair where it takes two. */
static void put_unicode(struct pxt_out *out, uint32_t c)
{
	if (c > 0xffff) {
		put_unicode(out, 0xd800 + ((c - 0x10000) >> 10));
		c = 0xdc00 + ((c - 0x10000) & 0x3ff);
	}
	pxt_out_format(out, "\\u%04x", (unsigned)c);
}

/* The character at @p: how many bytes of it were taken. */
static size_t put_character(struct pxt_out *out, const unsigned char *p, size_t bytes)
{
	uint32_t number = *p;
	size_t length = *p < 0x80 ? 1 : pxt_utf8(p, bytes, &number);

	if (length == 0 || number == 0) {
		pxt_out_bytes(out, "\xef\xbf\xbd", 3);
		return 1;
	}
	switch (number) {
	case '"':
		pxt_out_bytes(out, "\\\"", 2);
		break;
	case '\\':
		pxt_out_bytes(out, "\\\\", 2);
		break;
	case '\n':
		pxt_out_bytes(out, "\\n", 2);
		break;
	case '\t':
		pxt_out_bytes(out, "\\t", 2);
		break;
	default:
		if (pxt_harmful(number) && (number < 0x20 || number > 0x7e))
			put_unicode(out, number);
		else
			pxt_out_bytes(out, (const char *)p, length);
	}
	return length;
}

void pxt_json_text(struct pxt_out *out, const char *text, size_t bytes)
{
	const unsigned char *p = (const unsigned char *)text;

	pxt_out_char(out, '"');
	while (bytes > 0) {
		size_t plain = 0;

		while (plain < bytes && p[plain] >= 0x20 && p[plain] < 0x7f && p[plain] != '"' &&
		       p[plain] != '\\')
			plain++;
		pxt_out_bytes(out, (const char *)p, plain);
		p += plain;
		bytes -= plain;
		if (bytes > 0) {
			size_t taken = put_character(out, p, bytes);

			p += taken;
			bytes -= taken;
		}
	}
	pxt_out_char(out, '"');
}

static void put_float(struct pxt_out *out, const struct pxt_value *value)
{
	if (isnan(value->real))
		pxt_out_text(out, "\"NaN\"");
	else if (isinf(value->real))
		pxt_out_text(out, value->real > 0 ? "\"Infinity\"" : "\"-Infinity\"");
	else
		pxt_out_float(out, value->real, value->size);
}

void pxt_json_value(struct pxt_out *out, const struct pxt_value *value)
{
	switch (value->kind) {
	case POSIX_TRACE_FIELD_UNSIGNED_NP:
	case POSIX_TRACE_FIELD_HEX_NP:
		pxt_out_unsigned(out, value->number);
		break;
	case POSIX_TRACE_FIELD_SIGNED_NP:
		pxt_out_signed(out, value->integer);
		break;
	case POSIX_TRACE_FIELD_FLOAT_NP:
		put_float(out, value);
		break;
	default:
		pxt_json_text(out, value->text, value->bytes);
	}
}

static void put_key(struct pxt_out *out, const char *name, bool *first)
{
	pxt_out_bytes(out, *first ? "\"" : ",\"", *first ? 1 : 2);
	pxt_out_text(out, name);
	pxt_out_bytes(out, "\":", 2);
	*first = false;
}

static void put_bytes(struct pxt_out *out, const unsigned char *data, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";
	char *to = pxt_out_room(out, 2 * bytes + 2);

	*to++ = '"';
	for (size_t i = 0; i < bytes; i++) {
		*to++ = digits[data[i] >> 4];
		*to++ = digits[data[i] & 15];
	}
	*to = '"';
	out->used += 2 * bytes + 2;
}

/* What the standard prescribes for events of its own; false: bytes. */
static bool put_standard(struct pxt_out *out, const struct pxt_event *event, bool *first)
{
	int32_t number;

	if (event->bytes != sizeof number)
		return false;
	memcpy(&number, event->data, sizeof number);
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_STOP:
		put_key(out, "automatic", first);
		pxt_out_char(out, number == 0 ? '0' : '1');
		return true;
	case POSIX_TRACE_ERROR:
		put_key(out, "error", first);
		pxt_out_signed(out, number);
		return true;
	default:
		return false;
	}
}

void pxt_json_payload(struct pxt_out *out, const struct pxt_event *event)
{
	const struct pxt_type *type = event->type;
	struct pxt_value value;
	bool first = true;

	pxt_out_char(out, '{');
	for (unsigned i = 0;
	     i < type->field_count && pxt_field_value(event, &type->fields[i], &value); i++) {
		put_key(out, type->fields[i].name, &first);
		pxt_json_value(out, &value);
	}
	if (event->bytes > 0 && type->field_count == 0 && !put_standard(out, event, &first)) {
		put_key(out, "@data", &first);
		put_bytes(out, event->data, event->bytes);
	} else if (type->field_count > 0) {
		size_t end = pxt_fields_end(event);

		if (end < event->bytes) {
			put_key(out, "@rest", &first);
			put_bytes(out, event->data + end, event->bytes - end);
		}
	}
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED) {
		put_key(out, "@cut", &first);
		pxt_out_char(out, '1');
	}
	pxt_out_char(out, '}');
}
