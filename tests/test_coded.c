/* SPDX-License-Identifier: MIT */
/* test_coded.c - records of a block in few bytes, and the same slots out of them (format/compress.h). */
#include "format/compress.h"
#include "suite.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROOM   16384u
#define BEYOND 64u /* bytes behind the room, which nobody writes */

static struct coding {
	struct pxt_log_block block;
	struct pxt_log_header header;
	struct pxt_log_blockhead head;
	struct pxt_compress_made made;
	struct pxt_compress_told told;
	_Alignas(16) unsigned char slots[ROOM];
	_Alignas(16) unsigned char coded[ROOM];
	_Alignas(16) unsigned char again[ROOM + BEYOND];
	uint64_t ticks;
	uint64_t context;
	uint32_t seed;
	bool cuts; /* data may be cut */
} coding;

static uint32_t drawn(uint32_t below)
{
	coding.seed = coding.seed * 1664525u + 1013904223u;
	return (coding.seed >> 8) % below;
}

static void begin(void)
{
	coding.header = (struct pxt_log_header){ .word_bytes = sizeof(void *),
		.ctx_bytes = PXT_CTX_BYTES,
		.contents = CONFIG_PTRACE_RECORD_THREAD ? PXT_LOG_HAS_THREAD : 0u,
		.largest_block = ROOM };
	coding.ticks = UINT64_C(1) << 40;
	coding.context = 1;
	coding.cuts = false;
	pxt_logfmt_start(&coding.block, coding.slots, ROOM);
	memset(coding.again, 0xaa, sizeof(coding.again));
}

/* False: no room.  @differ: data is drawn, else it is zeros with a count in front. */
static bool record(uint32_t id, uint32_t bytes, bool extra, uint32_t cpu, bool differ)
{
	const uint32_t more = extra ? PXT_THREAD_EXTRA_BYTES : 0u;
	const uint32_t n = pxt_slots_for(PXT_CTX_BYTES + more + bytes);
	unsigned char payload[4128] = { 0 };
	struct pxt_slot slots[350] = { 0 };

	for (uint32_t i = 0; i < PXT_CTX_BYTES; i++)
		payload[i] = (unsigned char)(coding.context >> 8 * i);
	for (uint32_t i = PXT_CTX_BYTES; i < PXT_CTX_BYTES + more + bytes; i++)
		payload[i] = (unsigned char)(differ ? drawn(256) : 0);
	if (!differ && bytes)
		payload[PXT_CTX_BYTES + more] = (unsigned char)coding.block.count;
	slots[0].word[0] = PXT_SLOT_BEGIN;
	slots[0].word[1] = pxt_slot_info(id, bytes, coding.cuts && drawn(2), extra, cpu);
	slots[0].word[2] = (uint32_t)coding.ticks;
	slots[0].word[3] = (uint32_t)(coding.ticks >> 32);
	for (uint32_t i = 0; i < PXT_CTX_BYTES + more + bytes; i++)
		((unsigned char *)&slots[1 + i / 12].word[1])[i % 12] = payload[i];
	return pxt_logfmt_put_record(&coding.block, slots, n);
}

/* The block in few bytes, from memory as large as they are, so that a reader of more is noticed. */
static bool get(uint32_t bytes, uint32_t room)
{
	unsigned char *from = malloc(bytes + 1u);
	bool whole;

	CU_ASSERT_FATAL(from != NULL);
	memcpy(from, coding.coded + PXT_LOG_BLOCK_BYTES, bytes);
	coding.head = (struct pxt_log_blockhead){ .begin = coding.block.begin };
	whole = pxt_compress_get(&coding.told, &coding.header, &coding.head, from, bytes,
	    coding.again, room, &coding.made);
	free(from);
	return whole;
}

/* Codes what begin() and record() made; returns its bytes. */
static uint32_t code(void)
{
	struct pxt_log_block block = coding.block;

	memcpy(coding.coded, coding.slots, ROOM);
	block.bytes = coding.coded;
	pxt_compress_put(&coding.told, &block);
	CU_ASSERT(block.coded <= coding.block.used - PXT_LOG_BLOCK_BYTES);
	PXT_EQ(block.used, PXT_LOG_BLOCK_BYTES + block.coded);
	return block.coded;
}

static void comes_out_again(void)
{
	const uint32_t slots = coding.block.used - PXT_LOG_BLOCK_BYTES;
	const uint32_t bytes = code();

	CU_ASSERT(get(bytes, ROOM));
	PXT_EQ(coding.made.bytes, slots);
	PXT_EQ(coding.made.count, coding.block.count);
	PXT_EQ(coding.made.lost, coding.block.lost);
	PXT_EQ(coding.made.read, bytes);
	CU_ASSERT(memcmp(coding.again, coding.slots + PXT_LOG_BLOCK_BYTES, slots) == 0);
}

/* Records as programs make them: of some sites, threads and CPUs, with losses, and stamps that step back. */
static void draw_block(void)
{
	const uint32_t sites = 1 + drawn(300);
	const uint32_t threads = 1 + drawn(40);
	const uint32_t most = drawn(3) ? 48 : 400;
	bool room = true;

	begin();
	coding.cuts = true;
	while (room) {
		const uint32_t site = drawn(sites);

		coding.ticks += drawn(20) ? drawn(3000) : (uint64_t)0 - drawn(100);
		if (!drawn(50))
			coding.ticks += (uint64_t)drawn(1u << 24) << drawn(16);
		coding.context = drawn(threads) | (uint64_t)(site * 64u + 0x401000u) << 16;
		if (!drawn(40))
			(void)pxt_logfmt_put_loss(&coding.block, drawn(1u << 20));
		room = record(1 + site % 28, drawn(4) ? site % 48 : drawn(most), !drawn(30),
		    drawn(4), drawn(2));
	}
}

PXT_TEST(what_was_coded_is_the_same_slots_again)
{
	for (coding.seed = 1; coding.seed < 2000000000u; coding.seed += 10000019u) {
		const uint32_t seed = coding.seed;

		draw_block();
		comes_out_again();
		coding.seed = seed;
	}
}

/* Each of them is of another site, another thread, and long after the one before. */
PXT_TEST(records_that_have_nothing_in_common_take_no_more_than_their_slots)
{
	for (uint32_t bytes = 0; bytes < 64; bytes++) {
		begin();
		coding.seed = bytes;
		do {
			coding.ticks += UINT64_C(1) << 33;
			coding.context += UINT64_C(0x123456789101) << 16 | 1u;
		} while (record(1 + coding.block.count % 28, bytes, coding.block.count % 3 == 2,
		    coding.block.count % 250, true));
		comes_out_again();
	}
}

/* Bytes an event, of data that has nothing in common, or is a count. */
static double bytes_of(uint32_t bytes, bool differ)
{
	begin();
	coding.seed = 1;
	do
		coding.ticks += 20 + drawn(200);
	while (record(1, bytes, false, 3, differ));
	return (double)code() / coding.block.count;
}

PXT_TEST(an_event_takes_two_bytes_more_than_its_data)
{
	static const uint32_t sizes[] = { 0, 4, 32, 256 };

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		PXT_CHECK(bytes_of(sizes[i], true) <= sizes[i] + 2.5, "%u bytes of data",
		    (unsigned)sizes[i]);
}

/* In parts, behind what is there, as the newest frame of a LOOP log grows. */
PXT_TEST(records_that_come_to_a_block_leave_its_coded_bytes_as_they_are)
{
	static unsigned char before[ROOM];
	struct pxt_log_block block;
	uint32_t coded = 0;
	uint32_t records = 0;

	coding.seed = 46;
	draw_block();
	pxt_logfmt_start(&block, coding.coded, ROOM);
	block.grows = true;
	coding.header.layout = PXT_LAYOUT_FRAMES;
	for (uint32_t at = PXT_LOG_BLOCK_BYTES; at < coding.block.used;) {
		const struct pxt_slot *slot = (const void *)(coding.slots + at);
		const uint32_t n = pxt_info_slots(slot->word[1], PXT_CTX_BYTES);
		const bool loss = pxt_info_id(slot->word[1]) == PXT_LOG_ID_LOSS;

		CU_ASSERT(loss ? pxt_logfmt_put_loss(&block, pxt_slot_ticks(slot))
		               : pxt_logfmt_put_record(&block, slot, n));
		at += (loss ? 1u : n) * PXT_SLOT_BYTES;
		if (++records % 5 && at < coding.block.used)
			continue;
		pxt_compress_put(&coding.told, &block);
		CU_ASSERT(memcmp(before, coding.coded + PXT_LOG_BLOCK_BYTES, coded) == 0);
		coded = block.coded;
		memcpy(before, coding.coded + PXT_LOG_BLOCK_BYTES, coded);
	}
	PXT_EQ(block.slots, coding.block.used - PXT_LOG_BLOCK_BYTES);
	CU_ASSERT(get(coded, ROOM));
	PXT_EQ(coding.made.bytes, block.slots);
	CU_ASSERT(memcmp(coding.again, coding.slots + PXT_LOG_BLOCK_BYTES, block.slots) == 0);
}

PXT_TEST(data_like_that_before_it_takes_a_byte_for_eight)
{
	CU_ASSERT(bytes_of(4, false) <= 4.1);
	CU_ASSERT(bytes_of(32, false) <= 7.2);
}

/* Wherever it is cut, all records in front of the cut come out. */
PXT_TEST(a_block_that_is_cut_gives_the_records_in_front_of_the_cut)
{
	uint32_t bytes;
	uint32_t before = 0;

	begin();
	for (uint32_t i = 0; i < 40; i++) {
		coding.ticks += 300;
		coding.context = (i & 3u) | (uint64_t)(i % 7u) << 20;
		(void)record(1 + i % 7u, i * 3u, i % 5u == 4, i & 1u, i & 1u);
		if (i % 9u == 8)
			(void)pxt_logfmt_put_loss(&coding.block, i);
	}
	bytes = code();
	for (uint32_t cut = 0; cut < bytes; cut++) {
		bool whole = get(cut, ROOM);

		PXT_CHECK(whole == (coding.made.read == cut), "cut at %u", (unsigned)cut);
		CU_ASSERT(coding.made.bytes >= before);
		before = coding.made.bytes;
		CU_ASSERT(memcmp(coding.again, coding.slots + PXT_LOG_BLOCK_BYTES, before) == 0);
	}
	CU_ASSERT(before > 0);
}

/* Any bytes at all: nothing is read or written beyond what is there. */
PXT_TEST(bytes_that_mean_nothing_are_refused_within_the_room)
{
	for (coding.seed = 7; coding.seed < 1000000000u; coding.seed += 1000003u) {
		const uint32_t seed = coding.seed;
		const uint32_t room = 16u * drawn(40);
		const uint32_t bytes = drawn(600);

		begin();
		for (uint32_t i = 0; i < bytes; i++)
			coding.coded[PXT_LOG_BLOCK_BYTES + i] =
			    (unsigned char)(drawn(3) ? drawn(256) : drawn(2) * 8u);
		(void)get(bytes, room);
		CU_ASSERT(coding.made.bytes <= room && coding.made.read <= bytes);
		for (uint32_t i = room; i < room + BEYOND; i++)
			CU_ASSERT_FATAL(coding.again[i] == 0xaa);
		coding.seed = seed;
	}
}

/* ---- Both checksums are the one of IEEE 802.3 ---- */

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

#if defined(__x86_64__)
/* As this processor can: 16 bytes in one step, or 32. */
PXT_TEST(each_way_of_folding_gives_the_definition_s_value)
{
	unsigned char sum[16];

	fill();
	for (size_t count = FOLD_MIN; count <= 2048; count += 128) {
		const uint32_t want = crc_by_bits(bytes, count);

		if (how_to() != BY_TABLE) {
			fold_16(~0u, bytes, count, sum);
			CU_ASSERT(~by_table(0, sum, sizeof(sum)) == want);
		}
		if (how_to() == BY_32) {
			fold_32(~0u, bytes, count, sum);
			CU_ASSERT(~by_table(0, sum, sizeof(sum)) == want);
		}
	}
}
#endif

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
