/* SPDX-License-Identifier: MIT */
/* line.c - packs frames: number and checksum, and COBS where bytes have no borders. */
#include "base/line.h"

#include "base/crc32.h"

#include <string.h>

#define CODE_MAX 0xffu

/* COBS: a code says how far the next zero is; 254 other bytes need a code of their own. */
static void stuff(struct pxt_line_frame *frame, const unsigned char *from, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++) {
		uint32_t code = frame->used - frame->code_at;

		if (from[i])
			frame->to[frame->used++] = from[i];
		if (!from[i] || code + 1u == CODE_MAX) {
			frame->to[frame->code_at] = (unsigned char)(frame->used - frame->code_at);
			frame->code_at = frame->used++;
		}
	}
}

static void put(struct pxt_line_frame *frame, const unsigned char *from, uint32_t bytes)
{
	if (!frame->plain) {
		stuff(frame, from, bytes);
		return;
	}
	memcpy(frame->to + frame->used, from, bytes);
	frame->used += bytes;
}

static void put_little(unsigned char *at, uint32_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

void pxt_line_begin(struct pxt_line_frame *frame, void *to, const struct pxt_line_start *start,
    bool plain, bool lone)
{
	unsigned char words[PXT_LINE_START_BYTES];

	frame->to = to;
	frame->used = 0;
	frame->crc = start->seed;
	frame->plain = plain;
	if (!plain) {
		if (lone)
			frame->to[frame->used++] = PXT_LINE_DELIMITER;
		frame->code_at = frame->used++;
	}
	put_little(words,
	    ((uint32_t)start->frames & PXT_LINE_NUMBER_MASK) | (uint32_t)start->kind
	                                                           << PXT_LINE_KIND_SHIFT,
	    2);
	put_little(words + 2, (uint32_t)start->records, 2);
	pxt_line_add(frame, words, sizeof(words));
}

void pxt_line_add(struct pxt_line_frame *frame, const void *contents, uint32_t bytes)
{
	frame->crc = pxt_crc32(frame->crc, contents, bytes);
	put(frame, contents, bytes);
}

uint32_t pxt_line_end(struct pxt_line_frame *frame)
{
	unsigned char sum[PXT_LINE_CRC_BYTES];

	put_little(sum, frame->crc, sizeof(sum));
	put(frame, sum, sizeof(sum));
	if (!frame->plain) {
		frame->to[frame->code_at] = (unsigned char)(frame->used - frame->code_at);
		frame->to[frame->used++] = PXT_LINE_DELIMITER;
	}
	return frame->used;
}
