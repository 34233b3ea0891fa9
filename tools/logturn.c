/* SPDX-License-Identifier: MIT */
/* logturn.c - the tables say where the numbers of FORMAT.md lie, and how wide they are. */
#include "logturn.h"

#include "base/crc32.h"
#include "base/logfmt.h"

#include <string.h>

#define AT_CRC    92u
#define AT_CLOCKS 8u   /* in a CLOCKS entry */
#define AT_END    104u /* in a trailer */
#define AT_ATTR   160u

/* @count numbers of @bytes bytes each, from offset @at. */
struct run {
	uint16_t at;
	uint8_t bytes;
	uint8_t count;
};

static const struct run head_runs[] = { { 4, 2, 2 }, { 8, 4, 2 }, { 16, 8, 1 }, { 40, 8, 5 } };
static const struct run slot_runs[] = { { 0, 4, 4 } };
static const struct run clock_runs[] = { { 0, 2, 2 } };
static const struct run clear_runs[] = { { 0, 2, 1 }, { 8, 8, 1 } };
static const struct run trailer_runs[] = { { 0, 2, 1 }, { 8, 4, 8 }, { 40, 8, 8 } };
/* clocks: ticks, then thrice seconds and nanoseconds */
static const struct run set_runs[] = { { 0, 8, 2 }, { 16, 4, 2 }, { 24, 8, 1 }, { 32, 4, 2 },
	{ 40, 8, 1 }, { 48, 4, 2 } };
static const struct run attr_runs[] = { { 0, 4, 6 }, { 24, 8, 5 }, { 64, 4, 4 } };

static void turn(unsigned char *at, const struct run *runs, size_t count)
{
	for (const struct run *run = runs; run < runs + count; run++) {
		unsigned char *number = at + run->at;

		for (unsigned i = 0; i < run->count; i++, number += run->bytes) {
			for (unsigned k = 0; k < run->bytes / 2u; k++) {
				unsigned char byte = number[k];

				number[k] = number[run->bytes - 1u - k];
				number[run->bytes - 1u - k] = byte;
			}
		}
	}
}

#define TURN(at, runs) turn(at, runs, sizeof(runs) / sizeof *(runs))

void pxt_logturn_block(unsigned char *block, uint32_t length)
{
	static const struct run crc_run[] = { { AT_CRC, 4, 1 } };
	uint32_t crc;

	TURN(block, head_runs);
	crc = pxt_crc32(
	    pxt_crc32(0, block, AT_CRC), block + PXT_LOG_BLOCK_BYTES, length - PXT_LOG_BLOCK_BYTES);
	memcpy(block + AT_CRC, &crc, sizeof crc);
	TURN(block, crc_run);
}

void pxt_logturn_slot(unsigned char *slot)
{
	TURN(slot, slot_runs);
}

void pxt_logturn_clocks(unsigned char *entry)
{
	TURN(entry, clock_runs);
	TURN(entry + AT_CLOCKS, set_runs);
}

void pxt_logturn_clear(unsigned char *entry)
{
	TURN(entry, clear_runs);
}

void pxt_logturn_trailer(unsigned char *entry)
{
	TURN(entry, trailer_runs);
	TURN(entry + AT_END, set_runs);
	TURN(entry + AT_ATTR, attr_runs);
}
