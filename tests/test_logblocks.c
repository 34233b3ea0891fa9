/* SPDX-License-Identifier: MIT */
/*
 * test_logblocks.c - a log block by block (posix_trace_log_nextblock_np()), and what its ticks mean
 * (posix_trace_log_gettime_np()).
 */
#include "suite.h"

#include "golden/golden.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *const complete[] = { "be32", "be64", "cleared", "le32", "le64", "loop-be32",
	"loop-empty", "loop-le64", "loop-short", "newer-minor", "sealed-be32", "sealed-le64",
	"coded-le64", "coded-be32", "loop-coded-le64", "loop-coded-be32" };
#define COMPLETE (sizeof(complete) / sizeof(complete[0]))

struct sums {
	uint64_t records;
	uint64_t lost;
};

static bool read_one(trace_id_t trid, struct posix_trace_eventextra_np *extra)
{
	struct posix_trace_event_info event;
	unsigned char data[512];
	int unavailable = 1;
	size_t len;

	PXT_EQ_FATAL(
	    posix_trace_getnext_event(trid, &event, data, sizeof(data), &len, &unavailable), 0);
	if (!unavailable)
		CU_ASSERT(posix_trace_eventinfo_getextra_np(&event, extra, sizeof(*extra)) == 0);
	return !unavailable;
}

static bool enter(trace_id_t trid, struct posix_trace_logblock_np *block)
{
	int unavailable = 1;

	PXT_EQ_FATAL(posix_trace_log_nextblock_np(trid, block, sizeof(*block), &unavailable), 0);
	return !unavailable;
}

static struct sums count_events(trace_id_t trid)
{
	struct posix_trace_eventextra_np extra;
	struct sums sums = { 0, 0 };

	while (read_one(trid, &extra)) {
		sums.records++;
		sums.lost += extra.posix_lost_before_np;
	}
	return sums;
}

/* Every record of every block by itself; its stamp must lie in the block's. */
static struct sums count_blocks(const char *log, trace_id_t trid)
{
	struct posix_trace_logblock_np block;
	struct sums sums = { 0, 0 };

	while (enter(trid, &block)) {
		sums.lost += block.posix_lost_np;
		for (uint64_t i = 0; i < block.posix_records_np; i++) {
			struct posix_trace_eventextra_np extra;

			CU_ASSERT_FATAL(read_one(trid, &extra));
			PXT_CHECK(extra.posix_ticks_np >= block.posix_begin_ticks_np &&
			              extra.posix_ticks_np <= block.posix_end_ticks_np,
			    "%s: a stamp outside its block", log);
			sums.records++;
		}
	}
	return sums;
}

PXT_TEST(blocks_hold_the_same_records_and_losses_as_the_log)
{
	for (unsigned i = 0; i < COMPLETE; i++) {
		trace_id_t trid = golden_open(complete[i]);
		struct sums whole = count_events(trid);
		struct sums parts;

		CU_ASSERT(posix_trace_rewind(trid) == 0);
		parts = count_blocks(complete[i], trid);
		PXT_CHECK(parts.records == whole.records, "%s: records", complete[i]);
		/* What is after the last record is told by the block alone. */
		PXT_CHECK(parts.lost >= whole.lost, "%s: losses", complete[i]);
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}

PXT_TEST(what_a_loop_log_overwrote_is_lost_in_front_of_its_first_block)
{
	struct posix_trace_logblock_np block;
	struct posix_trace_eventextra_np extra;
	trace_id_t trid = golden_open("loop-le64");

	CU_ASSERT_FATAL(enter(trid, &block));
	CU_ASSERT_FATAL(read_one(trid, &extra));
	CU_ASSERT(extra.posix_lost_before_np > 0);
	PXT_EQ(block.posix_lost_np, extra.posix_lost_before_np);
	CU_ASSERT(posix_trace_close(trid) == 0);
}

PXT_TEST(entering_a_block_passes_over_the_rest_of_the_one_before)
{
	struct posix_trace_logblock_np block;
	trace_id_t trid = golden_open("loop-le64");
	unsigned blocks = 0;
	uint64_t last = 0;

	while (enter(trid, &block)) {
		CU_ASSERT(blocks == 0 || block.posix_sequence_np == last + 1);
		last = block.posix_sequence_np;
		blocks++;
	}
	CU_ASSERT(blocks > 1);
	PXT_EQ(count_events(trid).records, 0);
	CU_ASSERT(posix_trace_rewind(trid) == 0);
	CU_ASSERT(count_events(trid).records > 0);
	CU_ASSERT(posix_trace_close(trid) == 0);
}

static uint64_t number_at(const unsigned char *at, size_t bytes)
{
	uint64_t number = 0;

	for (size_t i = bytes; i-- > 0;)
		number = number << 8 | at[i];
	return number;
}

static void put_number(unsigned char *at, size_t bytes, uint64_t number)
{
	for (size_t i = 0; i < bytes; i++, number >>= 8)
		at[i] = (unsigned char)number;
}

#define EVENT_BYTES 32u /* a record of the golden LOOP logs */

/* The block at @at, of two events, before the second one came. */
static void take_one_back(struct golden *golden, size_t at)
{
	unsigned char *block = golden->bytes + at;

	CU_ASSERT_FATAL(number_at(block + 12, 4) == 2);
	put_number(block + 8, 4, number_at(block + 8, 4) - EVENT_BYTES);
	put_number(block + 12, 4, 1);
	put_number(block + 72, 8, number_at(block + 72, 8) - 1);
	golden_sign(golden, at);
}

/* The newest block of a LOOP log is written again with more records. */
PXT_TEST(a_frame_that_grew_is_a_block_of_what_came_to_it)
{
	const size_t newest = 1024 + 4 % 3 * 512;
	struct posix_trace_logblock_np block;
	struct posix_trace_eventextra_np extra;
	struct golden golden;
	trace_id_t trid;
	int fd;

	golden_read(&golden, "loop-growing");
	take_one_back(&golden, newest);
	fd = golden_file(golden.bytes, golden.size);
	CU_ASSERT_FATAL(
	    posix_trace_log_open_np(&fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, NULL, 0) == 0);
	CU_ASSERT(enter(trid, &block) && enter(trid, &block) && enter(trid, &block));
	CU_ASSERT(block.posix_sequence_np == 4 && block.posix_records_np == 1);
	CU_ASSERT(read_one(trid, &extra));
	CU_ASSERT(!enter(trid, &block));
	golden_read(&golden, "loop-growing");
	golden_rewrite(fd, golden.bytes, golden.size);
	/* The first look may still be at what was in memory. */
	CU_ASSERT(enter(trid, &block) || enter(trid, &block));
	CU_ASSERT(block.posix_sequence_np == 4 && block.posix_records_np == 1);
	PXT_EQ(block.posix_lost_np, 0);
	CU_ASSERT(read_one(trid, &extra));
	CU_ASSERT(!enter(trid, &block));
	CU_ASSERT(posix_trace_close(trid) == 0);
	CU_ASSERT(close(fd) == 0);
}

/* Block 1, in which ten losses are told before its two events. */
PXT_TEST(a_frame_that_grew_does_not_tell_its_losses_again)
{
	const size_t size = 1024 + 3 * 512;
	const size_t newest = 1024 + 512;
	struct posix_trace_logblock_np block;
	struct golden golden;
	trace_id_t trid;
	int fd;

	golden_read(&golden, "loop-short");
	take_one_back(&golden, newest);
	fd = golden_file(golden.bytes, size);
	CU_ASSERT_FATAL(
	    posix_trace_log_open_np(&fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, NULL, 0) == 0);
	CU_ASSERT(enter(trid, &block) && enter(trid, &block));
	CU_ASSERT(block.posix_sequence_np == 1 && block.posix_records_np == 1);
	PXT_EQ(block.posix_lost_np, 10);
	CU_ASSERT(!enter(trid, &block));
	golden_read(&golden, "loop-short");
	golden_rewrite(fd, golden.bytes, size);
	/* The first look may still be at what was in memory. */
	CU_ASSERT(enter(trid, &block) || enter(trid, &block));
	CU_ASSERT(block.posix_sequence_np == 1 && block.posix_records_np == 1);
	PXT_EQ(block.posix_lost_np, 0);
	CU_ASSERT(posix_trace_close(trid) == 0);
	CU_ASSERT(close(fd) == 0);
}

/* TIM-06 apart: the stamp of an event that no earlier one holds back. */
PXT_TEST(ticks_mean_what_the_events_stamps_say)
{
	for (unsigned i = 0; i < COMPLETE; i++) {
		struct timespec largest = { 0, 0 };
		trace_id_t trid = golden_open(complete[i]);
		struct posix_trace_event_info event;
		unsigned char data[512];
		int unavailable = 0;
		size_t len;

		for (;;) {
			struct posix_trace_eventextra_np extra;
			struct timespec time;

			PXT_EQ_FATAL(posix_trace_getnext_event(
			                 trid, &event, data, sizeof(data), &len, &unavailable),
			    0);
			if (unavailable)
				break;
			CU_ASSERT(
			    posix_trace_eventinfo_getextra_np(&event, &extra, sizeof(extra)) == 0);
			CU_ASSERT(
			    posix_trace_log_gettime_np(trid, extra.posix_ticks_np, &time) == 0);
			if (time.tv_sec > largest.tv_sec ||
			    (time.tv_sec == largest.tv_sec && time.tv_nsec > largest.tv_nsec))
				largest = time;
			PXT_CHECK(largest.tv_sec == event.posix_timestamp.tv_sec &&
			              largest.tv_nsec == event.posix_timestamp.tv_nsec,
			    "%s: time", complete[i]);
		}
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}
