/* SPDX-License-Identifier: MIT */
/* frame.c - packs frames: number and checksum, and COBS where bytes have no borders. */
#include "format/frame.h"

#include "format/crc32.h"

#include <string.h>

#define CODE_MAX 0xffu

/* COBS: a code says how far the next zero is; 254 other bytes need a code of their own. */
static void stuff(struct pxt_frame *frame, const unsigned char *from, uint32_t bytes)
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

static void put(struct pxt_frame *frame, const unsigned char *from, uint32_t bytes)
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

void pxt_frame_begin(
    struct pxt_frame *frame, void *to, const struct pxt_frame_start *start, bool plain, bool lone)
{
	unsigned char words[PXT_FRAME_START_BYTES];

	frame->to = to;
	frame->used = 0;
	frame->crc = start->seed;
	frame->plain = plain;
	if (!plain) {
		if (lone)
			frame->to[frame->used++] = PXT_FRAME_DELIMITER;
		frame->code_at = frame->used++;
	}
	put_little(words,
	    ((uint32_t)start->frames & PXT_FRAME_NUMBER_MASK) | (uint32_t)start->kind
	                                                            << PXT_FRAME_KIND_SHIFT,
	    2);
	put_little(words + 2, (uint32_t)start->records, 2);
	pxt_frame_add(frame, words, sizeof(words));
}

void pxt_frame_add(struct pxt_frame *frame, const void *contents, uint32_t bytes)
{
	frame->crc = pxt_crc32(frame->crc, contents, bytes);
	put(frame, contents, bytes);
}

uint32_t pxt_frame_end(struct pxt_frame *frame)
{
	unsigned char sum[PXT_FRAME_CRC_BYTES];

	put_little(sum, frame->crc, sizeof(sum));
	put(frame, sum, sizeof(sum));
	if (!frame->plain) {
		frame->to[frame->code_at] = (unsigned char)(frame->used - frame->code_at);
		frame->to[frame->used++] = PXT_FRAME_DELIMITER;
	}
	return frame->used;
}
