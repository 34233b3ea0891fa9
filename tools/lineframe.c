/* SPDX-License-Identifier: MIT */
/* lineframe.c - delimiters, COBS, and the words around a frame's contents. */
#include "lineframe.h"

#include "base/crc32.h"

#include <string.h>

#define CODE_MAX 0xffu

static uint32_t little(const unsigned char *at, unsigned bytes)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint32_t)at[i] << 8 * i;
	return value;
}

bool pxt_lineframe_parse(struct pxt_lineframe *frame, const unsigned char *bytes, size_t count)
{
	uint32_t word;

	if (count < PXT_LINE_OVERHEAD || count > PXT_LINEFRAME_BYTES)
		return false;
	word = little(bytes, 2);
	if (word >> PXT_LINE_KIND_SHIFT > PXT_LINE_META)
		return false;
	frame->kind = (enum pxt_line_kind)(word >> PXT_LINE_KIND_SHIFT);
	frame->number = word & PXT_LINE_NUMBER_MASK;
	frame->records = little(bytes + 2, 2);
	frame->contents = bytes + PXT_LINE_START_BYTES;
	frame->bytes = (uint32_t)count - PXT_LINE_OVERHEAD;
	frame->all = bytes;
	frame->sum = little(bytes + count - PXT_LINE_CRC_BYTES, PXT_LINE_CRC_BYTES);
	return true;
}

bool pxt_lineframe_sound(const struct pxt_lineframe *frame, uint32_t seed)
{
	return pxt_crc32(seed, frame->all, PXT_LINE_START_BYTES + frame->bytes) == frame->sum;
}

size_t pxt_lineframe_unstuff(const unsigned char *from, size_t count, unsigned char *to)
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

size_t pxt_lineframe_stuff(const unsigned char *from, size_t count, unsigned char *to)
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
	to[used++] = PXT_LINE_DELIMITER;
	return used;
}

static void finish(struct pxt_linecut *cut, struct pxt_linepiece *piece)
{
	static const struct pxt_linepiece none;

	*piece = none;
	piece->torso = !cut->begun;
	if (!cut->overlong)
		piece->count = pxt_lineframe_unstuff(cut->bytes, cut->used, cut->bytes);
	if (piece->count)
		piece->bytes = cut->bytes;
	cut->used = 0;
	cut->overlong = false;
	cut->begun = true;
}

bool pxt_linecut_next(struct pxt_linecut *cut, const unsigned char **at, const unsigned char *end,
    struct pxt_linepiece *piece)
{
	while (*at < end) {
		const unsigned char *stop = memchr(*at, PXT_LINE_DELIMITER, (size_t)(end - *at));
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

void pxt_linecut_reset(struct pxt_linecut *cut)
{
	cut->used = 0;
	cut->overlong = false;
	cut->begun = false;
}
