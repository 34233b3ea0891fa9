/* SPDX-License-Identifier: MIT */
/* logswap.c - the tables say where the numbers of FORMAT.md lie, and how wide they are. */
#include "tools/write/logwrite.h"

#include "format/crc32.h"
#include "format/logfmt.h"

#include <string.h>

#define AT_CRC    92u
#define AT_SUM    508u /* in the file head */
#define AT_CREATE 64u
#define AT_SET_UP 152u
#define AT_CLOCKS 8u   /* in a CLOCKS entry */
#define AT_END    104u /* in a trailer */
#define AT_ATTR   160u

static const struct pxt_logswap block_runs[] = { { 4, 2, 2 }, { 8, 4, 2 }, { 16, 8, 1 },
	{ 40, 8, 6 } };
static const struct pxt_logswap head_runs[] = { { 8, 4, 1 }, { 12, 2, 4 }, { 24, 4, 2 },
	{ 48, 4, 2 }, { 56, 8, 1 }, { 120, 4, 2 }, { 128, 8, 1 }, { 136, 4, 4 } };
static const struct pxt_logswap slot_runs[] = { { 0, 4, 4 } };
static const struct pxt_logswap type_runs[] = { { 0, 2, 4 } };
static const struct pxt_logswap thread_runs[] = { { 0, 2, 2 }, { 4, 4, 3 }, { 16, 8, 2 } };
static const struct pxt_logswap process_runs[] = { { 0, 2, 2 }, { 4, 4, 1 }, { 8, 8, 1 },
	{ 16, 4, 2 } };
static const struct pxt_logswap cpus_run[] = { { PXT_LOG_PROCESS_1_1, 4, 1 } };
static const struct pxt_logswap module_runs[] = { { 0, 2, 4 }, { 8, 8, 3 } };
static const struct pxt_logswap note_runs[] = { { 0, 2, 4 } };
static const struct pxt_logswap clock_runs[] = { { 0, 2, 2 } };
static const struct pxt_logswap clear_runs[] = { { 0, 2, 1 }, { 8, 8, 1 } };
static const struct pxt_logswap trailer_runs[] = { { 0, 2, 1 }, { 8, 4, 8 }, { 40, 8, 8 } };
static const struct pxt_logswap crash_runs[] = { { 304, 4, 2 }, { 312, 8, 2 }, { 328, 4, 2 } };
/* clocks: ticks, then thrice seconds and nanoseconds */
static const struct pxt_logswap set_runs[] = { { 0, 8, 2 }, { 16, 4, 2 }, { 24, 8, 1 },
	{ 32, 4, 2 }, { 40, 8, 1 }, { 48, 4, 2 } };
static const struct pxt_logswap attr_runs[] = { { 0, 4, 6 }, { 24, 8, 5 }, { 64, 4, 4 } };

void pxt_logswap(unsigned char *at, const struct pxt_logswap *runs, size_t count)
{
	for (const struct pxt_logswap *run = runs; run < runs + count; run++) {
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

#define TURN(at, runs) pxt_logswap(at, runs, sizeof(runs) / sizeof *(runs))

void pxt_logswap_head(unsigned char *head)
{
	static const struct pxt_logswap sum_run[] = { { AT_SUM, 4, 1 } };
	uint32_t sum;

	TURN(head, head_runs);
	TURN(head + AT_CREATE, set_runs);
	TURN(head + AT_SET_UP, attr_runs);
	sum = pxt_crc32(0, head, AT_SUM);
	memcpy(head + AT_SUM, &sum, sizeof sum);
	TURN(head, sum_run);
}

void pxt_logswap_block(unsigned char *block, uint32_t length)
{
	static const struct pxt_logswap crc_run[] = { { AT_CRC, 4, 1 } };
	uint32_t crc;

	TURN(block, block_runs);
	crc = pxt_crc32(
	    pxt_crc32(0, block, AT_CRC), block + PXT_LOG_BLOCK_BYTES, length - PXT_LOG_BLOCK_BYTES);
	memcpy(block + AT_CRC, &crc, sizeof crc);
	TURN(block, crc_run);
}

void pxt_logswap_slot(unsigned char *slot)
{
	TURN(slot, slot_runs);
}

void pxt_logswap_type(unsigned char *entry)
{
	TURN(entry, type_runs);
}

void pxt_logswap_thread(unsigned char *entry)
{
	TURN(entry, thread_runs);
}

void pxt_logswap_process(unsigned char *entry)
{
	uint16_t length;

	memcpy(&length, entry, sizeof length);
	if (length >= PXT_LOG_PROCESS_1_2)
		TURN(entry, cpus_run);
	TURN(entry, process_runs);
}

void pxt_logswap_module(unsigned char *entry)
{
	TURN(entry, module_runs);
}

void pxt_logswap_note(unsigned char *entry)
{
	TURN(entry, note_runs);
}

void pxt_logswap_clocks(unsigned char *entry)
{
	TURN(entry, clock_runs);
	TURN(entry + AT_CLOCKS, set_runs);
}

void pxt_logswap_clear(unsigned char *entry)
{
	TURN(entry, clear_runs);
}

void pxt_logswap_trailer(unsigned char *entry)
{
	uint16_t length;

	memcpy(&length, entry, sizeof length);
	if (length >= PXT_LOG_CRASH_BYTES)
		TURN(entry, crash_runs);
	TURN(entry, trailer_runs);
	TURN(entry + AT_END, set_runs);
	TURN(entry + AT_ATTR, attr_runs);
}
