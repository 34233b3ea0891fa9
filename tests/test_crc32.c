/* SPDX-License-Identifier: MIT */
/* test_crc32.c - both checksums are the one of IEEE 802.3. */
#include "suite.h"

#include <stdint.h>
#include <string.h>

/* The two files under names of their own. */
#define pxt_crc32 crc_fast
#include "format/crc32_fast.c"
#undef pxt_crc32
#undef PXT_CRC32_H
#define pxt_crc32 crc_small
#include "format/crc32_small.c"
#undef pxt_crc32

static unsigned char bytes[4099];

/* The definition, a bit at a time. */
static uint32_t crc_by_bits(const unsigned char *at, size_t count)
{
	uint32_t crc = 0xffffffffu;

	while (count--) {
		crc ^= *at++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
	}
	return ~crc;
}

static void fill(void)
{
	uint32_t state = 1;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		state = state * 1664525u + 1013904223u;
		bytes[i] = (unsigned char)(state >> 24);
	}
}

PXT_TEST(published_values_come_out)
{
	CU_ASSERT(crc_fast(0, "123456789", 9) == 0xcbf43926u);
	CU_ASSERT(crc_small(0, "123456789", 9) == 0xcbf43926u);
	CU_ASSERT(crc_fast(0, "", 0) == 0);
	CU_ASSERT(crc_small(0, "", 0) == 0);
	CU_ASSERT(crc_fast(0, "The quick brown fox jumps over the lazy dog", 43) == 0x414fa339u);
	CU_ASSERT(crc_small(0, "The quick brown fox jumps over the lazy dog", 43) == 0x414fa339u);
}

PXT_TEST(every_length_and_alignment_gives_the_definition_s_value)
{
	unsigned wrong = 0;

	fill();
	for (size_t count = 0; count < 200; count++) {
		for (size_t from = 0; from < 17; from++) {
			uint32_t want = crc_by_bits(bytes + from, count);

			wrong += crc_fast(0, bytes + from, count) != want;
			wrong += crc_small(0, bytes + from, count) != want;
		}
	}
	CU_ASSERT(wrong == 0);
}

PXT_TEST(each_single_byte_has_the_definition_s_effect_at_each_distance)
{
	unsigned wrong = 0;
	unsigned char run[16];

	for (unsigned value = 0; value < 256; value++) {
		for (unsigned place = 0; place < 16; place++) {
			memset(run, 0, sizeof(run));
			run[place] = (unsigned char)value;
			wrong += crc_fast(0, run, sizeof(run)) != crc_by_bits(run, sizeof(run));
		}
	}
	CU_ASSERT(wrong == 0);
}

PXT_TEST(a_run_may_be_given_in_two_parts)
{
	uint32_t want;
	unsigned wrong = 0;

	fill();
	want = crc_by_bits(bytes, sizeof(bytes));
	for (size_t first = 0; first <= sizeof(bytes); first += 13) {
		uint32_t crc = crc_fast(0, bytes, first);

		wrong += crc_fast(crc, bytes + first, sizeof(bytes) - first) != want;
		crc = crc_small(0, bytes, first);
		wrong += crc_small(crc, bytes + first, sizeof(bytes) - first) != want;
	}
	CU_ASSERT(wrong == 0);
}
