/* SPDX-License-Identifier: MIT */
/* pack.c - columns of numbers on their way into a page; see report.h. */
#include "tools/report/report.h"

#include "tools/output/out.h"

#include <stdlib.h>

enum {
	COLUMN_TIME,
	COLUMN_TYPE,
	COLUMN_THREAD,
	COLUMN_CPU,
	COLUMN_CUT,
	COLUMN_BYTES,
	COLUMN_DATA,
	COLUMN_END,
	COLUMN_DISTANCE,
	COLUMN_PAIR
};

#define SAME_VALUE (UINT32_C(1) << 31)

/* ---- Columns ---- */

static unsigned char *room_for(struct pxt_column *column, size_t bytes)
{
	if (column->room - column->used < bytes) {
		column->room = 2 * column->room + 4096;
		column->bytes = pxt_must(realloc(column->bytes, column->room));
	}
	return column->bytes + column->used;
}

static size_t put_number(unsigned char *to, uint64_t value)
{
	size_t used = 0;

	for (; value >= 128; value >>= 7)
		to[used++] = (unsigned char)(value | 128);
	to[used++] = (unsigned char)value;
	return used;
}

static void add(struct pxt_pack *pack, unsigned index, uint64_t value)
{
	struct pxt_column *column = &pack->columns[index];

	if (column->values++ == 0)
		column->first = value;
	column->varied |= value != column->first;
	column->used += put_number(room_for(column, 10), value);
}

static unsigned char *data_before(struct pxt_pack *pack, uint32_t type)
{
	pack->before =
	    pxt_must_reach(pack->before, &pack->before_count, type, sizeof *pack->before);
	return pack->before[type];
}

static void add_data(struct pxt_pack *pack, uint32_t type, const unsigned char *data, size_t bytes)
{
	struct pxt_column *column = &pack->columns[COLUMN_DATA];
	unsigned char *before = data_before(pack, type);

	for (size_t at = 0; at < bytes; at += 8) {
		unsigned char *to = room_for(column, 9);
		size_t used = 1;

		*to = 0;
		for (unsigned i = 0; i < 8 && at + i < bytes; i++) {
			unsigned char changed = before[at + i] ^ data[at + i];

			if (changed) {
				*to |= (unsigned char)(1u << i);
				to[used++] = changed;
			}
			before[at + i] = data[at + i];
		}
		column->used += used;
	}
	memset(before + bytes, 0, PXT_PACK_KEEP - bytes);
	column->varied = true;
}

/* ---- Base64 ---- */

struct encoder {
	struct pxt_out *out;
	uint32_t bits;
	unsigned held; /* bytes in @bits */
};

static void put_group(struct encoder *encoder, unsigned letters)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                               "0123456789+/";
	char *to = pxt_out_room(encoder->out, 4);

	memset(to, '=', 4);
	for (unsigned i = 0; i < letters; i++)
		to[i] = alphabet[encoder->bits >> (18 - 6 * i) & 63];
	encoder->out->used += 4;
	encoder->bits = 0;
	encoder->held = 0;
}

static void encode(struct encoder *encoder, const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		encoder->bits |= (uint32_t)bytes[i] << (16 - 8 * encoder->held);
		if (++encoder->held == 3)
			put_group(encoder, 4);
	}
}

static void encode_word(struct encoder *encoder, uint32_t word)
{
	const unsigned char bytes[4] = { (unsigned char)word, (unsigned char)(word >> 8),
		(unsigned char)(word >> 16), (unsigned char)(word >> 24) };

	encode(encoder, bytes, sizeof bytes);
}

static void encode_column(struct encoder *encoder, struct pxt_column *column)
{
	unsigned char number[10];

	if (column->varied || column->used == 0) {
		encode_word(encoder, (uint32_t)column->used);
		encode(encoder, column->bytes, column->used);
	} else {
		size_t bytes = put_number(number, column->first);

		encode_word(encoder, SAME_VALUE | (uint32_t)bytes);
		encode(encoder, number, bytes);
	}
	column->used = 0;
	column->values = 0;
	column->varied = false;
}

/* ---- Chunks ---- */

static void put_chunk(struct pxt_pack *pack)
{
	struct encoder encoder = { .out = pack->out };

	pxt_out_text(pack->out, "<script type=\"application/octet-stream\" class=\"chunk\">");
	encode_word(&encoder, pack->chunk_events);
	encode_word(&encoder, pack->chunk_spans);
	encode_word(&encoder, pack->chunk_data);
	encode_word(&encoder, 0);
	for (unsigned i = 0; i < PXT_PACK_COLUMNS; i++)
		encode_column(&encoder, &pack->columns[i]);
	if (encoder.held > 0)
		put_group(&encoder, encoder.held + 1);
	pxt_out_text(pack->out, "</script>\n");
	pack->chunk_events = pack->chunk_spans = pack->chunk_data = 0;
}

void pxt_pack_event(struct pxt_pack *pack, const struct pxt_packed *event)
{
	size_t kept = event->bytes < PXT_PACK_KEEP ? event->bytes : PXT_PACK_KEEP;

	/* The kernel's events may be before the start of all logs. */
	if (pack->events == 0 && event->ns < 0)
		pack->base_ns = pack->last_ns = event->ns;
	int64_t ns = event->ns > pack->last_ns ? event->ns : pack->last_ns;

	if (pack->chunk_events == PXT_PACK_CHUNK)
		put_chunk(pack);
	add(pack, COLUMN_TIME, (uint64_t)(ns - pack->last_ns));
	add(pack, COLUMN_TYPE, event->type);
	add(pack, COLUMN_THREAD, event->thread);
	add(pack, COLUMN_CPU, (uint64_t)(event->cpu < 0 ? 0 : event->cpu + 1));
	add(pack, COLUMN_CUT, event->cut);
	add(pack, COLUMN_BYTES, event->bytes);
	add_data(pack, event->type, event->data, kept);
	pack->last_ns = ns;
	pack->events++;
	pack->data_bytes += kept;
	pack->chunk_data += (uint32_t)kept;
	pack->chunk_events++;
}

void pxt_pack_span(struct pxt_pack *pack, uint64_t begin, uint64_t end, uint32_t pair)
{
	add(pack, COLUMN_END, end - pack->last_end);
	add(pack, COLUMN_DISTANCE, end - begin);
	add(pack, COLUMN_PAIR, pair);
	pack->last_end = end;
	pack->spans++;
	pack->chunk_spans++;
}

void pxt_pack_finish(struct pxt_pack *pack)
{
	if (pack->chunk_events > 0)
		put_chunk(pack);
	for (unsigned i = 0; i < PXT_PACK_COLUMNS; i++)
		free(pack->columns[i].bytes);
	free(pack->before);
}

/*
 * ---- The parts of the page that are the same for every log ----
 *
 * embed.py packed them: an LZ4 block each.  The block is our own, so nothing in it is checked.
 */

/* A length of four bits goes on in bytes, the last of which is not 255. */
static size_t take_length(size_t length, const unsigned char **from)
{
	unsigned char more = 255;

	if (length < 15)
		return length;
	while (more == 255) {
		more = *(*from)++;
		length += more;
	}
	return length;
}

static void unpack(unsigned char *to, const struct pxt_page_part *part)
{
	const unsigned char *from = part->block;
	const unsigned char *end = from + part->block_bytes;

	while (from < end) {
		unsigned token = *from++;
		const unsigned char *copy;
		size_t length;

		for (length = take_length(token >> 4, &from); length > 0; length--)
			*to++ = *from++;
		if (from == end)
			break;
		copy = to - (from[0] | from[1] << 8);
		from += 2;
		/* Byte by byte: a copy may reach into itself. */
		for (length = take_length(token & 15, &from) + 4; length > 0; length--)
			*to++ = *copy++;
	}
}

void pxt_page_put(struct pxt_out *out, const struct pxt_page_part *part)
{
	unsigned char *text = pxt_must(malloc(part->bytes));

	unpack(text, part);
	pxt_out_bytes(out, (const char *)text, part->bytes);
	free(text);
}
