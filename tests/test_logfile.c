/* SPDX-License-Identifier: MIT */
/*
 * test_logfile.c - a log block by block; an opened log beside a fork, other threads, and the other byte order.
 */
#include "logretrieval/log.h"
#include "logs.h"
#include "suite.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* ---- A log block by block (posix_trace_log_nextblock_np()) ---- */

/* And what its ticks mean (posix_trace_log_gettime_np()). */

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

/* ---- An opened log beside a fork, other threads, and the other byte order ---- */

#if PXT_CAN_LOG

static int fd;
static trace_id_t trid;
static struct pxt_log *object;
static atomic_bool held;
static atomic_bool may_go;
static atomic_bool may_stop;

static void make_log(void)
{
	const struct pxt_ops *ops;

	fd = pxt_temp_file();
	PXT_EQ_FATAL(posix_trace_shutdown(pxt_log_stream(NULL, fd)), 0);
	trid = pxt_open_log(fd);
	object = pxt_handle_find(trid, &ops);
	CU_ASSERT_PTR_NOT_NULL_FATAL(object);
	atomic_store(&held, false);
	atomic_store(&may_go, false);
	atomic_store(&may_stop, false);
}

static void drop_log(void)
{
	PXT_EQ(posix_trace_close(trid), 0);
	close(fd);
}

/* @wait: till it is told to go; NULL: for a moment. */
static void *in_the_middle(void *wait)
{
	pxt_log_lock(object);
	atomic_store(&held, true);
	if (!wait)
		pxt_sleep_ms(30);
	while (wait && !atomic_load(&may_go))
		pxt_sleep_ms(1);
	pxt_log_unlock(object);
	return NULL;
}

static pthread_t somebody(void *wait)
{
	pthread_t thread;

	PXT_EQ_FATAL(pthread_create(&thread, NULL, in_the_middle, wait), 0);
	while (!atomic_load(&held))
		pxt_sleep_ms(1);
	return thread;
}

static int read_on(void *argument)
{
	trace_attr_t attr;
	trace_id_t another;

	alarm(120);
	PXT_CHILD_CHECK(posix_trace_get_attr(trid, &attr) == 0);
	PXT_CHILD_CHECK(posix_trace_rewind(trid) == 0);
	PXT_CHILD_CHECK(posix_trace_open(fd, &another) == 0);
	PXT_CHILD_CHECK(posix_trace_close(another) == 0);
	return 0;
}

/* DEC-34, SAFE-03 */
PXT_TEST(a_child_reads_a_log_in_which_another_thread_was_at_the_fork)
{
	pthread_t thread;

	make_log();
	thread = somebody(NULL);
	PXT_EQ(pxt_in_child(read_on, NULL), 0);
	pthread_join(thread, NULL);
	drop_log();
}

static int do_without(void *argument)
{
	trace_attr_t attr;
	trace_id_t another;

	alarm(120);
	PXT_CHILD_CHECK(posix_trace_get_attr(trid, &attr) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_close(trid) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_open(fd, &another) == 0);
	PXT_CHILD_CHECK(posix_trace_get_attr(another, &attr) == 0);
	return 0;
}

/* DEC-34, SAFE-03 */
PXT_TEST(a_log_that_a_fork_cannot_wait_for_is_closed_in_the_child)
{
	trace_attr_t attr;
	pthread_t thread;

	make_log();
	thread = somebody(&held);
	PXT_EQ(pxt_in_child(do_without, NULL), 0);
	atomic_store(&may_go, true);
	pthread_join(thread, NULL);
	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	drop_log();
}

static void *open_and_close(void *unused)
{
	trace_id_t id;

	while (!atomic_load(&may_stop)) {
		(void)posix_trace_open(-1, &id);
		if (posix_trace_open(fd, &id) == 0)
			(void)posix_trace_close(id);
	}
	return unused;
}

/* DEC-34, SAFE-03 */
PXT_TEST(children_open_logs_beside_threads_of_their_parent_that_do)
{
	int rounds = pxt_in_full() ? 2000 : 200;
	pthread_t threads[2];
	int failed = 0;

	/*
	 * Opening allocates.  The C library takes its allocator's locks around a fork; AddressSanitizer's does not
	 * (gcc 12, clang 14), so a child would wait for a lock of a thread that it does not have.  What is the
	 * library's own, its locks at a fork, the other cases bring about without a second thread in malloc().
	 */
	if (PXT_SANITIZED) {
		pxt_skip("the sanitizers' allocators do not survive a fork beside threads");
		return;
	}
	make_log();
	for (size_t i = 0; i < 2; i++)
		PXT_EQ_FATAL(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
	for (int i = 0; i < rounds && !failed; i++)
		failed = pxt_in_child(read_on, NULL);
	PXT_EQ(failed, 0);
	atomic_store(&may_stop, true);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	drop_log();
}

/* The fork's own locks are given back in the parent. */
PXT_TEST(a_parent_reads_and_opens_logs_behind_a_fork)
{
	make_log();
	PXT_EQ(pxt_in_child(read_on, NULL), 0);
	PXT_EQ(read_on(NULL), 0);
	alarm(0);
	drop_log();
}
#endif

/* ---- The lock of a log excludes others, and its sleepers are woken ---- */

#define THREADS 4u
#define ROUNDS  2000u

static struct pxt_log shared;
static volatile unsigned inside;
static volatile unsigned together;
static volatile unsigned long rounds;

static void *come_and_go(void *unused)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		pxt_log_lock(&shared);
		together = together + (inside != 0);
		inside = 1;
		/* The others find it held, and go to sleep. */
		(void)sched_yield();
		rounds = rounds + 1;
		inside = 0;
		pxt_log_unlock(&shared);
	}
	return unused;
}

PXT_TEST(threads_that_use_one_log_come_one_after_the_other)
{
	pthread_t thread[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		CU_ASSERT_FATAL(pthread_create(&thread[i], NULL, come_and_go, NULL) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		CU_ASSERT(pthread_join(thread[i], NULL) == 0);
	PXT_EQ(together, 0);
	PXT_EQ(rounds, THREADS * ROUNDS);
}

/* ---- Data of a machine of the other byte order is turned round up to its last byte ---- */

#define TYPE  40u
#define BYTES 24u

static struct pxt_log reader;
static struct pxt_log_name type;

/* Turns @bytes of 0, 1, 2 ...; what is after them is compared, too. */
static void expect_turned(
    uint32_t id, const char *format, uint32_t bytes, const unsigned char (*want)[BYTES])
{
	unsigned char data[BYTES];

	for (unsigned i = 0; i < BYTES; i++)
		data[i] = (unsigned char)i;
	(void)strcpy(type.format, format);
	reader.names[TYPE] = &type;
	pxt_log_swap_data(&reader, id, data, bytes);
	for (unsigned i = 0; i < BYTES; i++)
		PXT_CHECK(data[i] == (*want)[i], "%s of %u bytes: byte %u is %u, not %u", format,
		    (unsigned)bytes, i, data[i], (*want)[i]);
}

static const unsigned char as_it_was[BYTES] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	15, 16, 17, 18, 19, 20, 21, 22, 23 };

PXT_TEST(words_of_the_system_are_turned_while_they_are_whole)
{
	static const unsigned char one[BYTES] = { 3, 2, 1, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
		15, 16, 17, 18, 19, 20, 21, 22, 23 };
	static const unsigned char two[BYTES] = { 3, 2, 1, 0, 7, 6, 5, 4, 8, 9, 10, 11, 12, 13, 14,
		15, 16, 17, 18, 19, 20, 21, 22, 23 };
	static const uint32_t ids[] = { POSIX_TRACE_START, POSIX_TRACE_STOP, POSIX_TRACE_FILTER,
		POSIX_TRACE_ERROR };

	for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		expect_turned(ids[i], "", 3, &as_it_was);
		expect_turned(ids[i], "", 4, &one);
		expect_turned(ids[i], "", 7, &one);
		expect_turned(ids[i], "", 8, &two);
	}
}

PXT_TEST(a_field_that_the_data_ends_in_stays_and_so_does_what_is_behind_the_data)
{
	static const unsigned char first[BYTES] = { 7, 6, 5, 4, 3, 2, 1, 0, 8, 9, 10, 11, 12, 13,
		14, 15, 16, 17, 18, 19, 20, 21, 22, 23 };
	static const unsigned char both[BYTES] = { 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10,
		9, 8, 16, 17, 18, 19, 20, 21, 22, 23 };

	expect_turned(TYPE, "u64 a, u64 b", 7, &as_it_was);
	expect_turned(TYPE, "u64 a, u64 b", 8, &first);
	expect_turned(TYPE, "u64 a, u64 b", 10, &first);
	expect_turned(TYPE, "u64 a, u64 b", 15, &first);
	expect_turned(TYPE, "u64 a, u64 b", 16, &both);
	expect_turned(TYPE, "u64 a, u64 b", 20, &both);
}

PXT_TEST(text_and_types_without_a_description_stay)
{
	static const unsigned char around[BYTES] = { 1, 0, 2, 3, 4, 5, 9, 8, 7, 6, 10, 11, 12, 13,
		14, 15, 16, 17, 18, 19, 20, 21, 22, 23 };

	expect_turned(TYPE, "u16 a, text[4] t, u32 b", 12, &around);
	expect_turned(TYPE, "u16 a, text[4] t, u32 b, text s", 20, &around);
	expect_turned(TYPE, "", 16, &as_it_was);
	expect_turned(TYPE + 1, "u64 a", 16, &as_it_was);
}
