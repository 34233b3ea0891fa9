/* SPDX-License-Identifier: MIT */
/* frame.c - delimiters, COBS, and the words around a frame's contents. */
#include "tools/line/frame.h"

#include "format/crc32.h"
#include "format/logfmt.h"
#include "format/logfmt_fields.h"

#include <stdint.h>
#include <string.h>

#define CODE_MAX 0xffu

static uint32_t little(const unsigned char *at, unsigned bytes)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint32_t)at[i] << 8 * i;
	return value;
}

bool pxt_linkframe_parse(struct pxt_linkframe *frame, const unsigned char *bytes, size_t count)
{
	uint32_t word;

	if (count < PXT_FRAME_OVERHEAD || count > PXT_LINKFRAME_BYTES)
		return false;
	word = little(bytes, 2);
	frame->kind = (enum pxt_frame_kind)(word >> PXT_FRAME_KIND_SHIFT);
	frame->number = word & PXT_FRAME_NUMBER_MASK;
	frame->records = little(bytes + 2, 2);
	frame->contents = bytes + PXT_FRAME_START_BYTES;
	frame->bytes = (uint32_t)count - PXT_FRAME_OVERHEAD;
	frame->all = bytes;
	frame->sum = little(bytes + count - PXT_FRAME_CRC_BYTES, PXT_FRAME_CRC_BYTES);
	return true;
}

bool pxt_linkframe_sound(const struct pxt_linkframe *frame, uint32_t seed)
{
	return pxt_crc32(seed, frame->all, PXT_FRAME_START_BYTES + frame->bytes) == frame->sum;
}

size_t pxt_linkframe_unstuff(const unsigned char *from, size_t count, unsigned char *to)
{
	size_t used = 0;

	for (size_t at = 0; at < count;) {
		size_t code = from[at++];

		if (code == 0 || code - 1u > count - at)
			return 0;
		/* In place, too: what is written never overtakes what is read. */
		memmove(to + used, from + at, code - 1u);
		used += code - 1u;
		at += code - 1u;
		if (code < CODE_MAX && at < count)
			to[used++] = 0;
	}
	return used;
}

size_t pxt_linkframe_stuff(const unsigned char *from, size_t count, unsigned char *to)
{
	size_t code_at = 0;
	size_t used = 1;

	for (size_t i = 0; i < count; i++) {
		if (from[i])
			to[used++] = from[i];
		if (!from[i] || used - code_at == CODE_MAX) {
			to[code_at] = (unsigned char)(used - code_at);
			code_at = used++;
		}
	}
	to[code_at] = (unsigned char)(used - code_at);
	to[used++] = PXT_FRAME_DELIMITER;
	return used;
}

static void finish(struct pxt_linkcut *cut, struct pxt_linkpiece *piece)
{
	static const struct pxt_linkpiece none;

	*piece = none;
	piece->torso = !cut->begun;
	if (!cut->overlong)
		piece->count = pxt_linkframe_unstuff(cut->bytes, cut->used, cut->bytes);
	if (piece->count)
		piece->bytes = cut->bytes;
	cut->used = 0;
	cut->overlong = false;
	cut->begun = true;
}

bool pxt_linkcut_next(struct pxt_linkcut *cut, const unsigned char **at, const unsigned char *end,
    struct pxt_linkpiece *piece)
{
	while (*at < end) {
		const unsigned char *stop = memchr(*at, PXT_FRAME_DELIMITER, (size_t)(end - *at));
		size_t count = (size_t)((stop ? stop : end) - *at);

		if (count > sizeof cut->bytes - cut->used) {
			cut->overlong = true;
			cut->used = 0;
		} else if (!cut->overlong) {
			memcpy(cut->bytes + cut->used, *at, count);
			cut->used += count;
		}
		*at = stop ? stop + 1 : end;
		if (!stop)
			return false;
		if (cut->used || cut->overlong) {
			finish(cut, piece);
			return true;
		}
		cut->begun = true;
	}
	return false;
}

void pxt_linkcut_reset(struct pxt_linkcut *cut)
{
	cut->used = 0;
	cut->overlong = false;
	cut->begun = false;
}

/* ---- A trace among the text of a console ---- */

static const char mark[] = "PTL:";
#define MARK_BYTES (sizeof mark - 1)

/* Six bits, or -1. */
static int digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Where the mark is in the line; NULL: nowhere. */
static const char *find_mark(const char *line, size_t count)
{
	for (const char *at = line; count - (size_t)(at - line) >= MARK_BYTES; at++)
		if (memcmp(at, mark, MARK_BYTES) == 0)
			return at;
	return NULL;
}

/* Base64 of whole groups of four.  False: it is none.  @to: 3 bytes for each 4. */
static bool decode(const char *from, size_t count, unsigned char *to, size_t *bytes)
{
	size_t padding = 0;

	*bytes = 0;
	while (padding < 2 && count > 0 && from[count - 1] == '=') {
		count--;
		padding++;
	}
	if (count == 0 || (count + padding) % 4 != 0)
		return false;
	uint32_t bits = 0;
	for (size_t i = 0; i < count; i++) {
		int six = digit(from[i]);

		if (six < 0)
			return false;
		bits = bits << 6 | (uint32_t)six;
		/* The first of four characters ends no byte. */
		if (i % 4 != 0)
			to[(*bytes)++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
	}
	return true;
}

bool pxt_linktext_is_in(const unsigned char *bytes, size_t count)
{
	const char *line = (const char *)bytes;
	const char *end = line + count;

	while ((line = find_mark(line, (size_t)(end - line))) != NULL) {
		line += MARK_BYTES;
		/* A group of base64 after it: who only writes about the mark is not meant. */
		size_t digits = 0;
		while (digits < 4 && line + digits < end && digit(line[digits]) >= 0)
			digits++;
		if (digits == 4)
			return true;
	}
	return false;
}

static void take_line(struct pxt_linktext *text)
{
	static unsigned char bytes[PXT_LINKTEXT_BYTES];
	size_t count = text->used;
	size_t decoded;

	text->used = 0;
	while (count > 0 && (text->line[count - 1] == '\r' || text->line[count - 1] == ' ' ||
	                        text->line[count - 1] == '\t'))
		count--;
	const char *at = find_mark(text->line, count);
	if (!at) {
		text->text(text->context, text->line, count);
		return;
	}
	at += MARK_BYTES;
	if (decode(at, count - (size_t)(at - text->line), bytes, &decoded))
		text->trace(text->context, bytes, decoded);
	else
		text->spoilt(text->context);
}

void pxt_linktext_bytes(struct pxt_linktext *text, const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bytes[i] == '\n' || text->used == sizeof text->line)
			take_line(text);
		if (bytes[i] != '\n')
			text->line[text->used++] = (char)bytes[i];
	}
}

void pxt_linktext_end(struct pxt_linktext *text)
{
	if (text->used > 0)
		take_line(text);
}

/* ---- What a target answers to an order, among all else that its line brings ---- */

static void take_answer(struct pxt_linkanswer *link, const unsigned char *entry)
{
	struct pxt_order_answer *answer = &link->answer;
	bool swapped = link->swapped;

	answer->number = (uint16_t)pxt_get16(entry + 2, swapped);
	answer->what = entry[4];
	answer->result = entry[5];
	answer->state = entry[6];
	answer->at = entry[7];
	answer->written = pxt_get64(entry + 8, swapped);
	answer->retrieved = pxt_get64(entry + 16, swapped);
	answer->lost = pxt_get64(entry + 24, swapped);
	link->answered = answer->number == (link->order[0] | (uint32_t)link->order[1] << 8) &&
	                 answer->what == link->order[2];
}

static void take_frame(struct pxt_linkanswer *link, const struct pxt_linkframe *frame)
{
	const unsigned char *contents = frame->contents;

	if (frame->kind == PXT_FRAME_HEAD && frame->bytes >= PXT_FRAME_HEAD_BYTES &&
	    pxt_linkframe_sound(frame, 0)) {
		link->swapped = pxt_get32(contents + 8, false) != PXT_LOG_ORDER_MARK;
		link->seed = pxt_crc32(0, contents + PXT_FRAME_UUID_AT, PXT_LOG_UUID_BYTES);
		link->has_head = true;
	} else if (link->has_head && frame->kind == PXT_FRAME_META &&
	           frame->bytes >= PXT_FRAME_META_START + PXT_ORDER_ANSWER_BYTES &&
	           pxt_get16(contents, link->swapped) == PXT_LOG_ANSWER &&
	           pxt_linkframe_sound(frame, link->seed)) {
		take_answer(link, contents + PXT_FRAME_META_START);
	}
}

static void take_bytes(void *context, const unsigned char *bytes, size_t count)
{
	struct pxt_linkanswer *link = context;
	const unsigned char *at = bytes;
	struct pxt_linkpiece piece;
	struct pxt_linkframe frame;

	while (!link->answered && pxt_linkcut_next(&link->cut, &at, bytes + count, &piece))
		if (piece.bytes && pxt_linkframe_parse(&frame, piece.bytes, piece.count))
			take_frame(link, &frame);
}

static void pass_over_text(void *context, const char *text, size_t count)
{
	(void)context;
	(void)text;
	(void)count;
}

static void pass_over(void *context)
{
	(void)context;
}

void pxt_linkanswer_begin(struct pxt_linkanswer *link, const unsigned char *order)
{
	link->order = order;
	link->text.trace = take_bytes;
	link->text.text = pass_over_text;
	link->text.spoilt = pass_over;
	link->text.context = link;
}

void pxt_linkanswer_bytes(struct pxt_linkanswer *link, const unsigned char *bytes, size_t count)
{
	if (link->console)
		pxt_linktext_bytes(&link->text, bytes, count);
	else
		take_bytes(link, bytes, count);
}
