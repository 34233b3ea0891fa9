/* SPDX-License-Identifier: MIT */
/*
 * fuzz_link.c - whatever a target's line brings, `pxtrace link` takes no answer but the one to its order, and
 * the first one it is.
 *
 * The first byte says whether the line is a console's, and in what pieces the bytes come; the rest is the line.
 * With FRAMES it is frames without COBS and checksum, each after its length, as in fuzz_line.c.
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "format/frame.h"
#include "tools/link/frame.h"

#define CONSOLE 1u
#define FRAMES  2u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned char order[PXT_ORDER_BYTES] = { 1, 2, PXT_ORDER_STAT };

static void give(struct pxt_linkanswer *link, const uint8_t *bytes, size_t count, size_t piece)
{
	for (size_t at = 0; at < count; at += piece) {
		struct pxt_linkanswer before = *link;

		pxt_linkanswer_bytes(link, bytes + at, count - at < piece ? count - at : piece);
		if (link->answered &&
		    (link->answer.number != 0x0201 || link->answer.what != PXT_ORDER_STAT))
			abort();
		if (before.answered && (!link->answered || memcmp(&link->answer, &before.answer,
		                                               sizeof before.answer) != 0))
			abort();
	}
}

static void give_frames(struct pxt_linkanswer *link, const uint8_t *data, size_t size, size_t piece)
{
	uint32_t seed = 0;

	while (size >= 2) {
		unsigned char frame[512 + PXT_FRAME_CRC_BYTES];
		unsigned char stuffed[1 + PXT_FRAME_ROOM(sizeof frame)] = { PXT_FRAME_DELIMITER };
		size_t count = data[0] | (size_t)data[1] << 8;
		uint32_t sum;

		data += 2;
		size -= 2;
		count = count < size ? count : size;
		count = count < 512 ? count : 512;
		memcpy(frame, data, count);
		data += count;
		size -= count;
		sum = pxt_crc32(
		    count >= 2 && frame[1] >> 6 == PXT_FRAME_HEAD ? 0 : seed, frame, count);
		for (unsigned i = 0; i < PXT_FRAME_CRC_BYTES; i++)
			frame[count + i] = (unsigned char)(sum >> 8 * i);
		if (count >= PXT_FRAME_START_BYTES + PXT_FRAME_HEAD_BYTES &&
		    frame[1] >> 6 == PXT_FRAME_HEAD)
			seed = pxt_crc32(0, frame + PXT_FRAME_START_BYTES + PXT_FRAME_UUID_AT, 16);
		give(link, stuffed,
		    1 + pxt_linkframe_stuff(frame, count + PXT_FRAME_CRC_BYTES, stuffed + 1),
		    piece);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pxt_linkanswer link;
	size_t piece;

	if (size < 1)
		return 0;
	memset(&link, 0, sizeof link);
	pxt_linkanswer_begin(&link, order);
	link.console = (data[0] & CONSOLE) != 0;
	piece = 1u + data[0] / 4u * 16u;
	if (data[0] & FRAMES)
		give_frames(&link, data + 1, size - 1, piece);
	else
		give(&link, data + 1, size - 1, piece);
	return 0;
}
