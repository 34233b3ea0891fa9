/* SPDX-License-Identifier: MIT */
/*
 * compact.c - records in COMPACT frames: they come out as they went in, whatever the line does to the frames.  And
 * the other way: orders of a host out of the bytes of a line: what is one, and what is text or nothing.
 */
#include "logs.h"

#include "format/crc32.h"
#include "format/frame.h"
#include "format/order.h"
#include "tools/receive/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_SLOTS 20000u
#define ROOM       300u

static struct pxt_slot slots[MOST_SLOTS];
static uint32_t used;
static uint32_t records;
static uint64_t lost;
static struct pxt_receive_run run;
static char paths[2][32] = { "/tmp/pxt-compact-XXXXXX", "/tmp/pxt-compact-XXXXXX" };

__attribute__((constructor)) static void name_them(void)
{
	(void)close(mkstemp(paths[0]));
	(void)close(mkstemp(paths[1]));
}

__attribute__((destructor)) static void remove_them(void)
{
	(void)unlink(paths[0]);
	(void)unlink(paths[1]);
}

static void begin_run(const char *path, bool swapped)
{
	char golden[4096];
	unsigned char head[PXT_FRAME_FILE_HEAD];
	FILE *file;

	(void)snprintf(golden, sizeof golden, "%s/%s%u.ptl", PXT_GOLDEN, swapped ? "be" : "le",
	    (unsigned)sizeof(void *) * 8u);
	file = fopen(golden, "rb");
	CU_ASSERT_FATAL(file != NULL);
	PXT_EQ(fread(head, 1, sizeof head, file), sizeof head);
	(void)fclose(file);
	CU_ASSERT_FATAL(pxt_receive_run_begin(&run, path, PXT_LOG_GROWING, head) == NULL);
	PXT_EQ_FATAL(run.header.ctx_bytes, PXT_CTX_BYTES);
}

/* ---- Records of all kinds ---- */

static void put_payload(uint32_t at, uint32_t byte)
{
	unsigned char *slot = (unsigned char *)&slots[used + 1u + at / PXT_SLOT_PAYLOAD];

	slot[4u + at % PXT_SLOT_PAYLOAD] = (unsigned char)byte;
}

static void draw_loss(uint64_t *seed)
{
	slots[used] = (struct pxt_slot){ .word = { PXT_SLOT_BEGIN, PXT_LOG_ID_LOSS,
		                             capture_random(seed) % 9 } };
	lost += slots[used].word[2];
	used++;
}

static uint64_t draw_stamp(uint64_t *seed, uint64_t before)
{
	uint64_t far = (uint64_t)capture_random(seed) << 31 | capture_random(seed);

	/* Every width, and back by a little. */
	if (capture_random(seed) % 20 == 0)
		return before - capture_random(seed) % 300;
	return before + (far >> (22u + capture_random(seed) % 40));
}

static void draw_record(uint64_t *seed, uint64_t *stamp)
{
	static const uint32_t lengths[] = { 0, 1, 4, 8, 13, 24, 200 };
	uint32_t bytes = lengths[capture_random(seed) % 7];
	bool extra = capture_random(seed) % 10 == 0;
	bool known = capture_random(seed) % 4 != 0;
	uint32_t cpu = known ? PXT_CPU_UNKNOWN : capture_random(seed) % 4;
	uint32_t id = capture_random(seed) % 6 == 0 ? 1023u : 3u + capture_random(seed) % 6;
	uint32_t info = pxt_slot_info(id, bytes, capture_random(seed) % 10 == 0, extra, cpu);
	uint64_t context = capture_random(seed) % 3 | (capture_random(seed) % 4 * 0x8013u) << 16;
	uint32_t zeros = capture_random(seed) % 3;
	uint32_t at = 0;

	*stamp = draw_stamp(seed, *stamp);
	memset(slots + used, 0, pxt_info_slots(info, PXT_CTX_BYTES) * sizeof *slots);
	slots[used] = (struct pxt_slot){ .word = { PXT_SLOT_BEGIN, info, (uint32_t)*stamp,
		                             (uint32_t)(*stamp >> 32) } };
	for (; at < PXT_CTX_BYTES; at++)
		put_payload(at, (uint32_t)(context >> 8 * at));
	for (uint32_t i = 0; i < bytes + (extra ? PXT_THREAD_EXTRA_BYTES : 0u); i++)
		put_payload(at++, capture_random(seed) % 3 < zeros ? 0 : capture_random(seed));
	used += pxt_info_slots(info, PXT_CTX_BYTES);
	records++;
}

static void draw(uint64_t seed)
{
	uint64_t stamp = UINT64_C(1) << 40;

	used = 0;
	records = 0;
	lost = 0;
	while (used + 64u < MOST_SLOTS) {
		if (capture_random(&seed) % 50 == 0)
			draw_loss(&seed);
		draw_record(&seed, &stamp);
	}
}

/* ---- Frames ---- */

/* A packet of the records from @from; *next: those that come after it. */
static uint32_t pack(uint32_t from, uint32_t *next, unsigned char *packet)
{
	const struct pxt_frame_start start = { .kind = PXT_FRAME_COMPACT };
	struct pxt_frame frame;
	uint32_t bytes;

	CU_ASSERT_FATAL(pxt_compact_takes(slots + from, ROOM));
	pxt_frame_begin(&frame, packet, &start, true, false);
	bytes = pxt_compact_add(
	    &frame, slots + from, (used - from) * PXT_SLOT_BYTES, ROOM, run.header.created.ticks);
	CU_ASSERT_FATAL(bytes > 0);
	*next = from + bytes / PXT_SLOT_BYTES;
	bytes = pxt_frame_end(&frame) - PXT_FRAME_OVERHEAD;
	CU_ASSERT(bytes <= ROOM);
	return bytes;
}

static uint32_t begun_in(uint32_t from, uint32_t to)
{
	uint32_t begun = 0;

	for (; from < to; from++)
		begun += slots[from].word[0] == PXT_SLOT_BEGIN &&
		         pxt_info_id(slots[from].word[1]) != PXT_LOG_ID_LOSS;
	return begun;
}

/* The words that a machine of the other byte order would have had; payload is in memory order. */
static void swap_words(void)
{
	for (uint32_t i = 0; i < used; i++) {
		if (slots[i].word[0] != PXT_SLOT_BEGIN)
			continue;
		for (uint32_t k = 0; k < 4; k++)
			slots[i].word[k] = __builtin_bswap32(slots[i].word[k]);
	}
}

static void expect_same_files(void)
{
	FILE *one = fopen(paths[0], "rb");
	FILE *other = fopen(paths[1], "rb");
	int byte;

	CU_ASSERT_FATAL(one && other);
	do {
		byte = fgetc(one);
		PXT_EQ_FATAL(fgetc(other), byte);
	} while (byte != EOF);
	(void)fclose(one);
	(void)fclose(other);
}

static void receive_both(uint64_t seed, bool swapped)
{
	unsigned char packet[PXT_FRAME_ROOM(ROOM)];

	draw(seed);
	begin_run(paths[0], swapped);
	for (uint32_t from = 0; from < used;)
		pxt_receive_run_compact(
		    &run, packet + PXT_FRAME_START_BYTES, pack(from, &from, packet));
	PXT_EQ(run.kept, records);
	PXT_EQ(run.target_lost, lost);
	PXT_EQ(run.odd, 0);
	PXT_EQ(pxt_receive_run_end(&run), 0);
	begin_run(paths[1], swapped);
	if (swapped)
		swap_words();
	pxt_receive_run_slots(&run, (const unsigned char *)slots, used);
	PXT_EQ(pxt_receive_run_end(&run), 0);
	expect_same_files();
}

PXT_TEST(the_log_of_compact_frames_is_that_of_slots_byte_for_byte)
{
	for (uint64_t seed = 1; seed < 6; seed++)
		receive_both(seed, false);
}

PXT_TEST(so_it_is_of_a_target_of_the_other_byte_order)
{
	receive_both(7, true);
}

PXT_TEST(a_compact_frame_that_is_lost_costs_its_own_records_alone)
{
	unsigned char packet[PXT_FRAME_ROOM(ROOM)];
	uint32_t before = 0;
	uint32_t arrived = 0;
	uint32_t number = 0;

	draw(11);
	begin_run(paths[0], false);
	pxt_receive_run_start(&run, 0, 0);
	for (uint32_t from = 0, next; from < used; from = next, number++) {
		uint32_t bytes = pack(from, &next, packet);
		uint32_t begun = begun_in(from, next);

		/* The last one arrives. */
		if (number % 3 != 1 || next == used) {
			CU_ASSERT(pxt_receive_run_expect(&run, number, before));
			pxt_receive_run_compact(&run, packet + PXT_FRAME_START_BYTES, bytes);
			arrived += begun;
		}
		before += begun;
	}
	PXT_EQ(run.kept, arrived);
	PXT_EQ(run.missing, records - arrived);
	PXT_EQ(run.odd, 0);
	PXT_EQ(pxt_receive_run_end(&run), 0);
}

/* Right checksums are forged as easily as contents. */
PXT_TEST(contents_that_no_target_packs_are_odd_and_end_the_frame)
{
	static const unsigned char unknown[] = { 0x50, 1 };
	static const unsigned char endless[] = { 0x03, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff };
	static const unsigned char type[] = { 0xf0, 0xff, 0x7f, 0, 0, 1 };
	static const unsigned char cut[] = { 0xf0, 0x42, 4, 0, 1, 0xaa, 0xbb };

	begin_run(paths[0], false);
	pxt_receive_run_compact(&run, unknown, sizeof unknown);
	PXT_EQ(run.odd, 1);
	pxt_receive_run_compact(&run, endless, sizeof endless);
	PXT_EQ(run.odd, 2);
	pxt_receive_run_compact(&run, type, sizeof type);
	PXT_EQ(run.odd, 3);
	pxt_receive_run_compact(&run, cut, sizeof cut);
	PXT_EQ(run.odd, 4);
	PXT_EQ(run.kept, 0);
	PXT_EQ(pxt_receive_run_end(&run), 0);
}

PXT_TEST(any_bytes_are_contents_that_do_no_harm)
{
	uint64_t seed = 3;

	begin_run(paths[0], false);
	for (uint32_t turn = 0; turn < 3000; turn++) {
		unsigned char contents[ROOM];
		uint32_t bytes = 1u + capture_random(&seed) % ROOM;

		for (uint32_t i = 0; i < bytes; i++)
			contents[i] =
			    (unsigned char)(capture_random(&seed) >> capture_random(&seed) % 8);
		pxt_receive_run_compact(&run, contents, bytes);
	}
	CU_ASSERT(run.odd > 0);
	PXT_EQ(run.kept + run.missing, run.records);
	PXT_EQ(pxt_receive_run_end(&run), 0);
}

/* ---- Orders ---- */

static const char patterns[] = "net_*\0loop";

/* As it goes over a line, a delimiter on both sides; returns its bytes. */
static size_t pack_order(unsigned char *out, unsigned char what, const void *text, size_t bytes)
{
	unsigned char plain[PXT_ORDER_BYTES] = { 0x34, 0x12, what, PXT_ORDER_ADD };
	size_t end = PXT_ORDER_TEXT_AT + bytes;
	uint32_t sum;

	if (bytes)
		memcpy(plain + PXT_ORDER_TEXT_AT, text, bytes);
	sum = pxt_crc32(PXT_ORDER_SEED, plain, end);
	for (unsigned i = 0; i < PXT_ORDER_CRC; i++)
		plain[end++] = (unsigned char)(sum >> 8 * i);
	out[0] = 0;
	return 1 + pxt_linkframe_stuff(plain, end, out + 1);
}

struct heard {
	struct pxt_order_line line;
	unsigned orders;
	struct pxt_order order; /* the last one; its text is gone with the next byte */
	size_t texts;
	char text[256];
};

static void hear(struct heard *heard, const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		switch (pxt_order_take(&heard->line, bytes[i], &heard->order)) {
		case PXT_ORDER_WHOLE:
			heard->orders++;
			break;
		case PXT_ORDER_TEXT:
			heard->text[heard->texts++ % sizeof heard->text] = (char)bytes[i];
			break;
		case PXT_ORDER_TAKEN:
		default:
			break;
		}
	}
}

/* ZEP-43 */
PXT_TEST(an_order_is_taken_out_of_text)
{
	unsigned char bytes[256] = "before ";
	size_t count = 7 + pack_order(bytes + 7, PXT_ORDER_FILTER, patterns, sizeof patterns);
	struct heard heard = { .orders = 0 };

	memcpy(bytes + count, "after", 5);
	hear(&heard, bytes, count);
	PXT_EQ(heard.orders, 1);
	PXT_EQ(heard.order.number, 0x1234);
	PXT_EQ(heard.order.what, PXT_ORDER_FILTER);
	PXT_EQ(heard.order.how, PXT_ORDER_ADD);
	PXT_EQ(heard.order.text_bytes, sizeof patterns);
	CU_ASSERT(memcmp(heard.order.text, patterns, sizeof patterns) == 0);
	hear(&heard, bytes + count, 5);
	CU_ASSERT(heard.texts == 12 && memcmp(heard.text, "before after", 12) == 0);
}

PXT_TEST(an_order_that_is_cut_or_changed_is_none)
{
	unsigned char bytes[256];
	size_t count = pack_order(bytes, PXT_ORDER_STOP, NULL, 0);

	for (size_t i = 0; i < count; i++) {
		struct heard cut = { .orders = 0 };

		hear(&cut, bytes, i);
		hear(&cut, bytes + i + 1, count - i - 1);
		/* Without the delimiter in front it is text. */
		PXT_EQ(cut.orders, 0);
		for (unsigned bit = 0; bit < 8 && i > 0 && i < count - 1; bit++) {
			struct heard changed = { .orders = 0 };

			bytes[i] ^= (unsigned char)(1u << bit);
			hear(&changed, bytes, count);
			PXT_EQ(changed.orders, 0);
			bytes[i] ^= (unsigned char)(1u << bit);
		}
	}
}

PXT_TEST(the_next_order_is_taken_whatever_came_before)
{
	unsigned char bytes[256];
	unsigned char noise[997] = { 0 };
	size_t count = pack_order(bytes, PXT_ORDER_START, NULL, 0);
	struct heard heard = { .orders = 0 };
	uint32_t state = 1;

	for (unsigned round = 1; round <= 2000; round++) {
		size_t much = state >> 8 & 511u;

		for (size_t i = 0; i < much; i++) {
			state = state * 1664525u + 1013904223u;
			noise[i] =
			    round % 2 ? (unsigned char)(state >> 24) : bytes[(state >> 24) % count];
		}
		hear(&heard, noise, much);
		hear(&heard, bytes, count);
		PXT_EQ_FATAL(heard.orders, round);
	}
}

PXT_TEST(names_that_have_no_end_are_no_order)
{
	unsigned char bytes[256];
	size_t count = pack_order(bytes, PXT_ORDER_FILTER, patterns, sizeof patterns - 1);
	struct heard heard = { .orders = 0 };

	hear(&heard, bytes, count);
	PXT_EQ(heard.orders, 0);
}

/* A zero that nobody meant costs the text behind it, up to the length of an order. */
PXT_TEST(text_after_a_stray_zero_comes_back)
{
	unsigned char letters[200];
	struct heard heard = { .orders = 0 };

	memset(letters, 'x', sizeof letters);
	letters[0] = 0;
	hear(&heard, letters, sizeof letters);
	PXT_EQ(heard.texts, sizeof letters - 1 - sizeof heard.line.bytes);
}
