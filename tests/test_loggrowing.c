/* SPDX-License-Identifier: MIT */
/* test_loggrowing.c - logs that are still being written, and those whose writer died (ruling 22). */
#include "suite.h"

#include "format/logfmt.h"
#include "logs.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct reader {
	struct golden golden;
	trace_id_t trid;
	int fd;
};

static void open_reader(struct reader *reader, const char *name, size_t size)
{
	struct posix_trace_logerror_np error = { 0, "" };

	golden_read(&reader->golden, name);
	reader->fd = golden_file(reader->golden.bytes, size ? size : reader->golden.size);
	PXT_CHECK(posix_trace_log_open_np(&reader->fd, 1, POSIX_TRACE_OPEN_GROWING_NP,
	              &reader->trid, &error, sizeof(error)) == 0,
	    "%s at %zu: %s", name, size, error.posix_reason_np);
}

static void close_reader(struct reader *reader)
{
	CU_ASSERT(posix_trace_close(reader->trid) == 0);
	CU_ASSERT(close(reader->fd) == 0);
}

/* The number of events that can be read now. */
static unsigned drain(trace_id_t trid)
{
	struct posix_trace_event_info event;
	unsigned events = 0;
	int unavailable = 0;
	size_t len;

	for (;;) {
		PXT_EQ_FATAL(
		    posix_trace_getnext_event(trid, &event, NULL, 0, &len, &unavailable), 0);
		if (unavailable)
			return events;
		events++;
	}
}

/* The number in the next event of a counting log, or -1. */
static int next_number(trace_id_t trid, uint64_t *lost)
{
	struct posix_trace_event_info event;
	struct posix_trace_eventextra_np extra;
	uint32_t number = 0;
	int unavailable;
	size_t len;

	PXT_EQ_FATAL(
	    posix_trace_getnext_event(trid, &event, &number, sizeof(number), &len, &unavailable),
	    0);
	if (unavailable)
		return -1;
	CU_ASSERT(posix_trace_eventinfo_getextra_np(&event, &extra, sizeof(extra)) == 0);
	*lost = extra.posix_lost_before_np;
	/* Of the stream's life: also where frames were overwritten before they were read. */
	PXT_EQ(extra.posix_number_np, number);
	return (int)number;
}

/* DEC-29 */
PXT_TEST(an_incomplete_log_is_read_as_far_as_it_goes)
{
	struct posix_trace_logerror_np error;
	struct posix_trace_status_info status;
	struct posix_trace_loginfo_np info;
	struct reader reader;

	open_reader(&reader, "no-trailer", 0);
	PXT_EQ(golden_try(reader.golden.bytes, reader.golden.size, &error), EINVAL);
	PXT_EQ(error.posix_offset_np, reader.golden.size);
	CU_ASSERT(strstr(error.posix_reason_np, "trailer") != NULL);
	CU_ASSERT(posix_trace_log_getinfo_np(reader.trid, &info, sizeof(info)) == 0);
	CU_ASSERT(info.posix_complete_np == 0);
	PXT_EQ(info.posix_lost_np, 6);
	PXT_EQ(info.posix_counts_np.posix_retrieved_np, 9);
	CU_ASSERT(info.posix_end_np.tv_sec == 0);
	CU_ASSERT(posix_trace_get_status(reader.trid, &status) == 0);
	CU_ASSERT(status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN);
	PXT_EQ(drain(reader.trid), 9);
	PXT_EQ(drain(reader.trid), 0);
	CU_ASSERT(posix_trace_rewind(reader.trid) == 0);
	PXT_EQ(drain(reader.trid), 9);
	close_reader(&reader);
}

PXT_TEST(every_cut_of_a_log_shows_the_events_of_its_whole_blocks)
{
	struct reader reader;
	size_t first;
	size_t second;
	size_t ends[2];
	unsigned wrong = 0;

	golden_read(&reader.golden, golden_native());
	first = golden_block(&reader.golden, PXT_LOG_DATA, 0);
	ends[0] = golden_block(&reader.golden, PXT_LOG_CLOCKS, 0);
	second = golden_block(&reader.golden, PXT_LOG_DATA, 1);
	ends[1] = golden_block(&reader.golden, PXT_LOG_TRAILER, 0);
	CU_ASSERT(first < ends[0] && ends[0] < second && second < ends[1]);
	for (size_t size = 512; size <= reader.golden.size; size += 7) {
		open_reader(&reader, golden_native(), size);
		wrong += drain(reader.trid) != (size < ends[0] ? 0 : size < ends[1] ? 5 : 9);
		close_reader(&reader);
	}
	PXT_EQ(wrong, 0);
}

PXT_TEST(events_names_and_the_end_appear_as_they_are_written)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_loginfo_np info;
	struct reader reader;
	unsigned events = 0;

	open_reader(&reader, "be32", 512);
	PXT_EQ(posix_trace_eventid_get_name(reader.trid, 34, name), EINVAL);
	for (size_t size = 512; size <= reader.golden.size; size += 16) {
		CU_ASSERT(pwrite(reader.fd, reader.golden.bytes, size, 0) == (ssize_t)size);
		events += drain(reader.trid);
	}
	PXT_EQ(events, 9);
	PXT_EQ(posix_trace_eventid_get_name(reader.trid, 34, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "mix");
	CU_ASSERT(posix_trace_log_getinfo_np(reader.trid, &info, sizeof(info)) == 0);
	CU_ASSERT(info.posix_complete_np == 1);
	PXT_EQ(info.posix_counts_np.posix_written_np, 20);
	PXT_EQ(info.posix_threads_np, 3);
	close_reader(&reader);
}

/* The next @count events' moments. */
/* The last type of the list from here on; 0: there is none. */
static trace_event_id_t last_type(trace_id_t trid)
{
	trace_event_id_t last = 0;
	trace_event_id_t id = 0;
	int unavailable = 0;

	while (posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) == 0 && !unavailable)
		last = id;
	return last;
}

PXT_TEST(the_list_of_types_goes_on_where_later_blocks_have_more)
{
	struct reader reader;

	open_reader(&reader, "be32", 512);
	CU_ASSERT(last_type(reader.trid) < 34);
	PXT_EQ(last_type(reader.trid), 0);
	CU_ASSERT(pwrite(reader.fd, reader.golden.bytes, reader.golden.size, 0) ==
	          (ssize_t)reader.golden.size);
	(void)drain(reader.trid);
	CU_ASSERT(last_type(reader.trid) >= 34);
	close_reader(&reader);
}

static void read_times(trace_id_t trid, struct timespec *times, unsigned count)
{
	struct posix_trace_event_info event;
	int unavailable;
	size_t len;

	for (unsigned i = 0; i < count; i++) {
		PXT_EQ_FATAL(
		    posix_trace_getnext_event(trid, &event, NULL, 0, &len, &unavailable), 0);
		PXT_EQ_FATAL(unavailable, 0);
		times[i] = event.posix_timestamp;
	}
}

/* TIM-06: a reading that came after events were read counts for those that follow it. */
PXT_TEST(an_event_behind_a_new_reading_of_the_clock_has_the_moment_it_has_in_the_whole_log)
{
	const char *name = golden_native();
	trace_id_t whole = golden_open(name);
	struct timespec expected[9];
	struct timespec times[9];
	struct reader reader;

	read_times(whole, expected, 9);
	CU_ASSERT(posix_trace_close(whole) == 0);
	golden_read(&reader.golden, name);
	open_reader(&reader, name, golden_block(&reader.golden, PXT_LOG_CLOCKS, 0));
	read_times(reader.trid, times, 5);
	CU_ASSERT(pwrite(reader.fd, reader.golden.bytes, reader.golden.size, 0) > 0);
	read_times(reader.trid, times + 5, 4);
	for (unsigned i = 5; i < 9; i++) {
		PXT_EQ(times[i].tv_sec, expected[i].tv_sec);
		PXT_EQ(times[i].tv_nsec, expected[i].tv_nsec);
	}
	close_reader(&reader);
}

/* A block of another log, with its number among those of its kind; returns its bytes. */
static size_t put_block(
    struct golden *log, size_t at, const struct golden *from, size_t block, uint64_t sequence)
{
	const size_t bytes = *(const uint32_t *)(const void *)(from->bytes + block + 8);

	memcpy(log->bytes + at, from->bytes + block, bytes);
	golden_put(log, at + 16, 8, sequence);
	return bytes;
}

/* The same records again, of which the log has said meanwhile that another thread has the number. */
PXT_TEST(an_event_is_of_the_thread_that_a_growing_log_has_told_of_before_it)
{
	struct posix_trace_eventview_np before[9] = { { 0 } };
	struct posix_trace_eventview_np after[9] = { { 0 } };
	const struct golden *whole;
	struct reader reader;
	size_t first = 0;
	size_t second = 0;

	open_reader(&reader, golden_native(), 0);
	whole = &reader.golden;
	const size_t data = golden_block(whole, PXT_LOG_DATA, 0);
	const size_t threads = golden_block(whole, PXT_LOG_THREADS, 0);
	const uint32_t count = *(const uint32_t *)(const void *)(whole->bytes + data + 12);
	static struct golden log;

	log = *whole;
	/* Times are sums between two readings of the clocks only. */
	log.size = golden_block(whole, PXT_LOG_DATA, 1);
	const size_t last = golden_block(whole, PXT_LOG_THREADS, 1);
	const uint64_t meta = *(const uint64_t *)(const void *)(whole->bytes + last + 16) + 1u;
	close_reader(&reader);
	reader.fd = golden_file(log.bytes, log.size);
	PXT_EQ_FATAL(posix_trace_log_open_np(
	                 &reader.fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &reader.trid, NULL, 0),
	    0);
	PXT_EQ(posix_trace_getnext_events_np(reader.trid, before, sizeof(before[0]), 9, &first), 0);
	PXT_EQ(first, count);
	const size_t told = log.size;
	log.size += put_block(&log, told, whole, threads, meta);
	for (size_t at = told + PXT_LOG_BLOCK_BYTES; at < log.size; at += PXT_LOG_THREAD_BYTES)
		golden_put(&log, at + 16, 8, 0x7777);
	golden_sign(&log, told);
	const size_t again = log.size;
	log.size += put_block(&log, again, whole, data, 1);
	golden_put(&log, again + 72, 8, UINT64_C(2) * count);
	golden_sign(&log, again);
	golden_rewrite(reader.fd, log.bytes, log.size);
	PXT_EQ(posix_trace_getnext_events_np(reader.trid, after, sizeof(after[0]), 9, &second), 0);
	PXT_EQ(second, count);
	for (size_t i = 0; i < second; i++) {
		PXT_EQ(after[i].posix_event_id_np, before[i].posix_event_id_np);
		/* A record that tells its thread itself needs no number. */
		if (before[i].posix_thread_entry_np != UINT32_MAX)
			CU_ASSERT(after[i].posix_thread_id_np == (pthread_t)0x7777);
	}
	close_reader(&reader);
}

PXT_TEST(a_half_written_block_is_not_there_yet)
{
	struct reader reader;
	size_t at;
	size_t size;

	golden_read(&reader.golden, golden_native());
	at = golden_block(&reader.golden, PXT_LOG_DATA, 1);
	size = golden_block(&reader.golden, PXT_LOG_TRAILER, 0);
	open_reader(&reader, golden_native(), size);
	memset(reader.golden.bytes + at + 200, 0, 64);
	golden_rewrite(reader.fd, reader.golden.bytes, size);
	close_reader(&reader);
	reader.fd = golden_file(reader.golden.bytes, size);
	PXT_EQ(posix_trace_log_open_np(
	           &reader.fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &reader.trid, NULL, 0),
	    0);
	PXT_EQ(drain(reader.trid), 5);
	golden_read(&reader.golden, golden_native());
	CU_ASSERT(pwrite(reader.fd, reader.golden.bytes, reader.golden.size, 0) > 0);
	PXT_EQ(drain(reader.trid), 4);
	close_reader(&reader);
}

/* Its head says that it was begun anew. */
static void next_generation(struct golden *golden)
{
	golden->bytes[golden_little_endian() ? 144 : 147] = 1;
	golden_sign(golden, 0);
}

/* DEC-25 */
PXT_TEST(a_log_that_was_begun_anew_is_read_from_its_new_beginning)
{
	struct posix_trace_loginfo_np info;
	struct reader reader;

	open_reader(&reader, golden_native(), 0);
	PXT_EQ(posix_trace_close(reader.trid), 0);
	/* Without its trailer, so that more may come. */
	reader.golden.size = golden_block(&reader.golden, PXT_LOG_TRAILER, 0);
	golden_rewrite(reader.fd, reader.golden.bytes, reader.golden.size);
	PXT_EQ(posix_trace_log_open_np(
	           &reader.fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &reader.trid, NULL, 0),
	    0);
	PXT_EQ(drain(reader.trid), 9);
	golden_rewrite(reader.fd, reader.golden.bytes, 512);
	PXT_EQ(drain(reader.trid), 0);
	next_generation(&reader.golden);
	golden_rewrite(reader.fd, reader.golden.bytes, reader.golden.size);
	PXT_EQ(drain(reader.trid), 9);
	PXT_EQ(drain(reader.trid), 0);
	CU_ASSERT(posix_trace_log_getinfo_np(reader.trid, &info, sizeof(info)) == 0);
	/* Told twice, known once. */
	PXT_EQ(info.posix_threads_np, 3);
	PXT_EQ(info.posix_modules_np, 2);
	close_reader(&reader);
}

static void flip(struct reader *reader, size_t at)
{
	reader->golden.bytes[at] ^= 0xff;
	golden_rewrite(reader->fd, reader->golden.bytes, reader->golden.size);
}

/* One that says no lie about where: returns the offset, or 0 where there is no damage. */
static uint64_t skip_damage(trace_id_t trid)
{
	struct posix_trace_logfinding_np finding = { 0 };
	int error = posix_trace_log_skipdamage_np(trid, &finding, sizeof(finding));

	if (error) {
		PXT_EQ(error, ENOENT);
		return 0;
	}
	PXT_EQ(finding.posix_kind_np, POSIX_TRACE_FINDING_DAMAGE_NP);
	CU_ASSERT(finding.posix_reason_np[0] != '\0');
	return finding.posix_offset_np;
}

/* DEC-25: with what was passed over in it. */
PXT_TEST(damage_before_a_log_was_begun_anew_costs_the_new_one_nothing)
{
	struct posix_trace_loginfo_np info;
	struct reader reader;
	size_t damaged;

	open_reader(&reader, golden_native(), 512);
	reader.golden.size = golden_block(&reader.golden, PXT_LOG_TRAILER, 0);
	damaged = golden_block(&reader.golden, PXT_LOG_DATA, 0) + 120;
	flip(&reader, damaged);
	PXT_EQ(drain(reader.trid), 0);
	CU_ASSERT(skip_damage(reader.trid) > 0);
	PXT_EQ(drain(reader.trid), 4);
	CU_ASSERT(posix_trace_log_getinfo_np(reader.trid, &info, sizeof(info)) == 0);
	PXT_EQ(info.posix_lost_np, 6 + 5);
	golden_rewrite(reader.fd, reader.golden.bytes, 512);
	PXT_EQ(drain(reader.trid), 0);
	next_generation(&reader.golden);
	flip(&reader, damaged);
	PXT_EQ(drain(reader.trid), 9);
	CU_ASSERT(posix_trace_log_getinfo_np(reader.trid, &info, sizeof(info)) == 0);
	PXT_EQ(info.posix_lost_np, 6);
	close_reader(&reader);
}

/* DEC-25 */
PXT_TEST(a_log_that_was_begun_anew_before_its_first_block_is_read_once)
{
	struct reader reader;

	open_reader(&reader, golden_native(), 512);
	next_generation(&reader.golden);
	reader.golden.size = golden_block(&reader.golden, PXT_LOG_TRAILER, 0);
	golden_rewrite(reader.fd, reader.golden.bytes, reader.golden.size);
	PXT_EQ(drain(reader.trid), 9);
	PXT_EQ(drain(reader.trid), 0);
	close_reader(&reader);
}

/* DEC-25: its blocks lie where those of the old one did, and were to come. */
PXT_TEST(no_block_of_a_log_that_was_begun_anew_is_read_as_one_of_the_old_log)
{
	struct posix_trace_event_info event;
	struct reader reader;
	int unavailable;
	size_t len;

	golden_read(&reader.golden, golden_native());
	open_reader(&reader, golden_native(), golden_block(&reader.golden, PXT_LOG_DATA, 1));
	PXT_EQ(drain(reader.trid), 5);
	next_generation(&reader.golden);
	reader.golden.size = golden_block(&reader.golden, PXT_LOG_TRAILER, 0);
	golden_rewrite(reader.fd, reader.golden.bytes, reader.golden.size);
	PXT_EQ(drain(reader.trid), 9);
	PXT_EQ(drain(reader.trid), 0);
	/* Once more, when what the old one had was known but not read. */
	PXT_EQ(posix_trace_rewind(reader.trid), 0);
	PXT_EQ(posix_trace_getnext_event(reader.trid, &event, NULL, 0, &len, &unavailable), 0);
	reader.golden.bytes[golden_little_endian() ? 144 : 147] = 2;
	golden_sign(&reader.golden, 0);
	golden_rewrite(reader.fd, reader.golden.bytes, reader.golden.size);
	PXT_EQ(drain(reader.trid), 4 + 9);
	PXT_EQ(drain(reader.trid), 0);
	close_reader(&reader);
}

/* DEC-25: what was read already was read; the losses told after it are cleared with the rest. */
PXT_TEST(a_clear_takes_the_losses_in_front_of_it_along)
{
	struct posix_trace_event_info event;
	struct posix_trace_eventextra_np extra;
	struct reader reader;
	int unavailable;
	size_t len;

	if (!golden_little_endian()) {
		pxt_skip("the golden log has the other byte order");
		return;
	}
	golden_read(&reader.golden, "cleared");
	open_reader(&reader, "cleared", golden_block(&reader.golden, PXT_LOG_CLEAR, 0));
	PXT_EQ(drain(reader.trid), 1);
	CU_ASSERT(pwrite(reader.fd, reader.golden.bytes, reader.golden.size, 0) > 0);
	PXT_EQ(posix_trace_getnext_event(reader.trid, &event, NULL, 0, &len, &unavailable), 0);
	PXT_EQ(unavailable, 0);
	PXT_EQ(len, 0);
	CU_ASSERT(posix_trace_eventinfo_getextra_np(&event, &extra, sizeof(extra)) == 0);
	PXT_EQ(extra.posix_lost_before_np, 0);
	PXT_EQ(drain(reader.trid), 0);
	close_reader(&reader);
}

#define FRAME(b) (1024u + (b) % 3u * 512u)

/* Block @b, as the golden log at hand has it. */
static void write_frame(struct reader *reader, unsigned b)
{
	CU_ASSERT(pwrite(reader->fd, reader->golden.bytes + FRAME(b), 512, (off_t)FRAME(b)) == 512);
}

PXT_TEST(a_growing_loop_log_is_followed_and_tells_what_was_overwritten)
{
	struct reader reader;
	uint64_t lost = 0;

	/* Blocks 0 and 1. */
	open_reader(&reader, "loop-short", 1024 + 3 * 512);
	PXT_EQ(next_number(reader.trid, &lost), 0);
	PXT_EQ(next_number(reader.trid, &lost), 1);
	PXT_EQ(next_number(reader.trid, &lost), 2);
	PXT_EQ(lost, 10);
	PXT_EQ(next_number(reader.trid, &lost), 3);
	PXT_EQ(next_number(reader.trid, &lost), -1);
	/* Block 2 comes. */
	golden_read(&reader.golden, "loop-le64");
	write_frame(&reader, 2);
	PXT_EQ(next_number(reader.trid, &lost), 4);
	PXT_EQ(lost, 0);
	PXT_EQ(next_number(reader.trid, &lost), 5);
	PXT_EQ(next_number(reader.trid, &lost), -1);
	/* Block 4 is there before block 3 is seen whole: two events went by. */
	write_frame(&reader, 4);
	memset(reader.golden.bytes + FRAME(3) + 120, 0xff, 8);
	write_frame(&reader, 3);
	PXT_EQ(next_number(reader.trid, &lost), -1);
	golden_read(&reader.golden, "loop-le64");
	write_frame(&reader, 3);
	PXT_EQ(next_number(reader.trid, &lost), 6);
	PXT_EQ(next_number(reader.trid, &lost), 7);
	PXT_EQ(next_number(reader.trid, &lost), 8);
	PXT_EQ(next_number(reader.trid, &lost), 9);
	PXT_EQ(next_number(reader.trid, &lost), -1);
	/* Rewound, the oldest that is left is block 2; blocks 0 and 1 and their loss are gone. */
	CU_ASSERT(posix_trace_rewind(reader.trid) == 0);
	PXT_EQ(next_number(reader.trid, &lost), 4);
	PXT_EQ(lost, 14);
	close_reader(&reader);
}

/* The block that it had read to its end is gone; of the oldest that is left nothing was read. */
PXT_TEST(a_reader_that_was_overtaken_goes_on_with_the_first_event_that_is_left)
{
	struct reader reader;
	uint64_t lost = 0;

	open_reader(&reader, "loop-short", 1024 + 3 * 512);
	for (int number = 0; number < 4; number++)
		PXT_EQ(next_number(reader.trid, &lost), number);
	PXT_EQ(next_number(reader.trid, &lost), -1);
	golden_read(&reader.golden, "loop-le64");
	for (unsigned block = 2; block <= 4; block++)
		write_frame(&reader, block);
	for (int number = 4; number < 10; number++) {
		PXT_EQ(next_number(reader.trid, &lost), number);
		PXT_EQ(lost, 0);
	}
	PXT_EQ(next_number(reader.trid, &lost), -1);
	close_reader(&reader);
}

static int log_full_status(trace_id_t trid)
{
	struct posix_trace_status_info status;
	uint64_t lost;

	while (next_number(trid, &lost) >= 0)
		;
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_log_overrun_status == POSIX_TRACE_OVERRUN,
	    status.posix_log_full_status == POSIX_TRACE_FULL);
	return status.posix_log_full_status;
}

PXT_TEST(a_growing_loop_log_is_full_when_its_first_block_is_overwritten)
{
	struct reader reader;

	open_reader(&reader, "loop-short", 1024 + 3 * 512);
	golden_read(&reader.golden, "loop-le64");
	write_frame(&reader, 2);
	PXT_EQ(log_full_status(reader.trid), POSIX_TRACE_NOT_FULL);
	write_frame(&reader, 3);
	PXT_EQ(log_full_status(reader.trid), POSIX_TRACE_FULL);
	close_reader(&reader);
}

PXT_TEST(the_frames_of_a_dead_writer_are_read)
{
	static const char *const names[] = { "loop-growing", "loop-coded-growing" };

	for (unsigned which = 0; which < 2; which++) {
		struct reader reader;
		uint64_t lost = 0;

		open_reader(&reader, names[which], 0);
		for (int i = 4; i < 10; i++)
			PXT_EQ(next_number(reader.trid, &lost), i);
		PXT_EQ(next_number(reader.trid, &lost), -1);
		close_reader(&reader);
	}
}

PXT_TEST(what_has_no_head_is_no_growing_log_either)
{
	struct posix_trace_logerror_np error;
	struct golden golden;
	trace_id_t trid;
	int fd;

	golden_read(&golden, "le64");
	fd = golden_file(golden.bytes, 511);
	PXT_EQ(posix_trace_log_open_np(
	           &fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, &error, sizeof(error)),
	    EINVAL);
	CU_ASSERT(strstr(error.posix_reason_np, "short") != NULL);
	golden.bytes[40] ^= 1;
	golden_rewrite(fd, golden.bytes, golden.size);
	PXT_EQ(posix_trace_log_open_np(
	           &fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, &error, sizeof(error)),
	    EINVAL);
	CU_ASSERT(strstr(error.posix_reason_np, "checksum") != NULL);
	CU_ASSERT(close(fd) == 0);
}

/* ---- Damage ---- */

/* The events that are left, and what they say was lost before the first of them. */
static unsigned drain_behind(trace_id_t trid, uint64_t *lost)
{
	struct posix_trace_eventview_np views[16];
	unsigned events = 0;
	size_t count;

	*lost = 0;
	do {
		PXT_EQ_FATAL(
		    posix_trace_getnext_events_np(trid, views, sizeof(*views), 16, &count), 0);
		if (events == 0 && count > 0)
			*lost = views[0].posix_lost_before_np;
		events += (unsigned)count;
	} while (count > 0);
	return events;
}

/* Five records and five losses are in the first block, four and one in the second. */
PXT_TEST(damage_in_front_of_a_sound_block_is_told_and_passed_over)
{
	struct posix_trace_loginfo_np info;
	struct reader reader;
	uint64_t lost;
	size_t first;

	open_reader(&reader, golden_native(), 512);
	first = golden_block(&reader.golden, PXT_LOG_DATA, 0);
	flip(&reader, first + 120);
	PXT_EQ(drain(reader.trid), 0);
	PXT_EQ(skip_damage(reader.trid), first);
	PXT_EQ(drain_behind(reader.trid, &lost), 4);
	/* Its own loss, and what the sums say was in the damaged one. */
	PXT_EQ(lost, 1 + 5 + 5);
	PXT_EQ(skip_damage(reader.trid), 0);
	CU_ASSERT(posix_trace_log_getinfo_np(reader.trid, &info, sizeof(info)) == 0);
	CU_ASSERT(info.posix_complete_np == 1);
	PXT_EQ(info.posix_lost_np, 6 + 5);
	/* The same once more, without being told. */
	CU_ASSERT(posix_trace_rewind(reader.trid) == 0);
	PXT_EQ(drain_behind(reader.trid, &lost), 4);
	PXT_EQ(lost, 1 + 5 + 5);
	close_reader(&reader);
}

static uint64_t number_at(const struct golden *golden, size_t at)
{
	uint64_t number;

	memcpy(&number, golden->bytes + at, sizeof(number));
	return number;
}

static void add_at(struct golden *golden, size_t at, uint64_t more)
{
	uint64_t number = number_at(golden, at) + more;

	memcpy(golden->bytes + at, &number, sizeof(number));
}

/* The DATA block at @at once more, as the next one behind all others. */
static void add_copy(struct golden *golden, size_t at)
{
	size_t to = golden->size;
	uint32_t sizes[2]; /* bytes, records */

	memcpy(sizes, golden->bytes + at + 8, sizeof(sizes));
	CU_ASSERT_FATAL(to + sizes[0] <= sizeof(golden->bytes));
	memcpy(golden->bytes + to, golden->bytes + at, sizes[0]);
	add_at(golden, to + 16, 1);
	add_at(golden, to + 64, number_at(golden, to + 56));
	add_at(golden, to + 72, sizes[1]);
	golden_sign(golden, to);
	golden->size += sizes[0];
}

static void cut_out(struct golden *golden, size_t from, size_t to)
{
	memmove(golden->bytes + from, golden->bytes + to, golden->size - to);
	golden->size -= to - from;
}

/* A block of clocks, which is sound, is between the two. */
PXT_TEST(what_was_lost_in_front_of_one_damage_is_not_told_of_the_next)
{
	struct reader reader;
	size_t first;
	size_t second;
	uint64_t lost;

	open_reader(&reader, golden_native(), 512);
	first = golden_block(&reader.golden, PXT_LOG_DATA, 0);
	second = golden_block(&reader.golden, PXT_LOG_DATA, 1);
	reader.golden.size = golden_block(&reader.golden, PXT_LOG_TRAILER, 0);
	add_copy(&reader.golden, second);
	reader.golden.bytes[first + 120] ^= 0xff;
	flip(&reader, second + 120);
	PXT_EQ(drain(reader.trid), 0);
	PXT_EQ(skip_damage(reader.trid), first);
	PXT_EQ(drain(reader.trid), 0);
	PXT_EQ(skip_damage(reader.trid), second);
	PXT_EQ(drain_behind(reader.trid, &lost), 4);
	PXT_EQ(lost, 5 + 5 + 4 + 1 + 1);
	close_reader(&reader);
}

/* Three of its losses were told with its events; two come behind the last of them. */
PXT_TEST(what_was_lost_in_a_block_that_was_read_is_not_told_of_damage_behind_it)
{
	struct reader reader;
	size_t second;
	uint64_t lost;

	open_reader(&reader, golden_native(), 512);
	second = golden_block(&reader.golden, PXT_LOG_DATA, 1);
	reader.golden.size = golden_block(&reader.golden, PXT_LOG_TRAILER, 0);
	add_copy(&reader.golden, second);
	flip(&reader, second + 120);
	PXT_EQ(drain(reader.trid), 5);
	PXT_EQ(skip_damage(reader.trid), second);
	PXT_EQ(drain_behind(reader.trid, &lost), 4);
	PXT_EQ(lost, 2 + 4 + 1 + 1);
	close_reader(&reader);
}

/* What is skipped may be any number of blocks; what is missing later is damage of its own. */
PXT_TEST(a_block_that_is_gone_behind_a_damaged_one_is_noticed_as_well)
{
	struct reader reader;
	size_t first;
	size_t gone;
	size_t last;

	open_reader(&reader, golden_native(), 512);
	first = golden_block(&reader.golden, PXT_LOG_DATA, 0);
	reader.golden.size = golden_block(&reader.golden, PXT_LOG_TRAILER, 0);
	gone = reader.golden.size;
	add_copy(&reader.golden, golden_block(&reader.golden, PXT_LOG_DATA, 1));
	last = reader.golden.size;
	add_copy(&reader.golden, gone);
	cut_out(&reader.golden, gone, last);
	flip(&reader, first + 120);
	PXT_EQ(drain(reader.trid), 0);
	PXT_EQ(skip_damage(reader.trid), first);
	PXT_EQ(drain(reader.trid), 4);
	PXT_EQ(skip_damage(reader.trid), gone);
	PXT_EQ(drain(reader.trid), 4);
	close_reader(&reader);
}

PXT_TEST(damage_with_nothing_sound_behind_it_may_still_become_a_block)
{
	struct reader reader;
	size_t second;
	size_t end;

	open_reader(&reader, golden_native(), 512);
	second = golden_block(&reader.golden, PXT_LOG_DATA, 1);
	end = golden_block(&reader.golden, PXT_LOG_TRAILER, 0);
	reader.golden.bytes[second + 120] ^= 0xff;
	golden_rewrite(reader.fd, reader.golden.bytes, end);
	PXT_EQ(drain(reader.trid), 5);
	PXT_EQ(skip_damage(reader.trid), 0);
	PXT_EQ(drain(reader.trid), 0);
	reader.golden.bytes[second + 120] ^= 0xff;
	golden_rewrite(reader.fd, reader.golden.bytes, end);
	PXT_EQ(skip_damage(reader.trid), 0);
	PXT_EQ(drain(reader.trid), 4);
	close_reader(&reader);
}

/* A piece that was cut out leaves sound blocks that contradict each other. */
PXT_TEST(a_block_that_is_gone_is_told_and_passed_over)
{
	struct reader reader;
	uint64_t lost;
	size_t first;
	size_t behind;

	open_reader(&reader, golden_native(), 512);
	first = golden_block(&reader.golden, PXT_LOG_DATA, 0);
	behind = golden_block(&reader.golden, PXT_LOG_CLOCKS, 0);
	cut_out(&reader.golden, first, behind);
	golden_rewrite(reader.fd, reader.golden.bytes, reader.golden.size);
	PXT_EQ(drain(reader.trid), 0);
	PXT_EQ(skip_damage(reader.trid), golden_block(&reader.golden, PXT_LOG_DATA, 0));
	PXT_EQ(drain_behind(reader.trid, &lost), 4);
	PXT_EQ(lost, 1 + 5 + 5);
	close_reader(&reader);
}

/* A reader that skips whatever it is told of: one damage, at @at or behind it, and all events. */
static void expect_one_damage(struct reader *reader, size_t at)
{
	unsigned events = 0;
	unsigned skipped = 0;

	for (unsigned turn = 0; turn < 20; turn++) {
		uint64_t where;

		events += drain(reader->trid);
		where = skip_damage(reader->trid);
		skipped += where != 0;
		CU_ASSERT(where == 0 || (where >= at && where < reader->golden.size));
	}
	PXT_EQ(skipped, 1);
	PXT_EQ(events, 9);
}

/*
 * Its checksum is right, so nothing but its number in sequence says that it was passed over: who skips
 * must not come to it again and again.
 */
PXT_TEST(a_block_of_types_that_make_no_sense_is_passed_over_once)
{
	struct reader reader;
	size_t at;

	open_reader(&reader, golden_native(), 512);
	at = golden_block(&reader.golden, PXT_LOG_TYPES, 0);
	/* No event has the type 0. */
	memset(reader.golden.bytes + at + PXT_LOG_BLOCK_BYTES + 2, 0, 2);
	golden_sign(&reader.golden, at);
	golden_rewrite(reader.fd, reader.golden.bytes, reader.golden.size);
	expect_one_damage(&reader, at);
	close_reader(&reader);
}

/* Blocks behind it have later numbers than the one that is due. */
PXT_TEST(behind_a_damaged_block_of_types_the_other_blocks_are_read)
{
	struct reader reader;
	size_t at;

	open_reader(&reader, golden_native(), 512);
	at = golden_block(&reader.golden, PXT_LOG_TYPES, 0);
	flip(&reader, at + PXT_LOG_BLOCK_BYTES + 2);
	expect_one_damage(&reader, at);
	close_reader(&reader);
}

PXT_TEST(a_complete_log_and_a_wrong_argument_have_no_damage_to_tell)
{
	struct posix_trace_logfinding_np finding;
	trace_id_t trid = golden_open("le64");

	PXT_EQ(posix_trace_log_skipdamage_np(trid, &finding, sizeof(finding)), ENOENT);
	PXT_EQ(posix_trace_log_skipdamage_np(trid, NULL, 0), EINVAL);
	PXT_EQ(posix_trace_log_skipdamage_np(0, &finding, sizeof(finding)), EINVAL);
	CU_ASSERT(posix_trace_close(trid) == 0);
}

/* LOOP: the frame after the newest one is damaged, and a newer one is after it. */
PXT_TEST(a_damaged_frame_does_not_hold_a_loop_log_up)
{
	struct reader reader;
	uint64_t lost;
	size_t frame;

	if (!golden_little_endian())
		return;
	/* Blocks 3, 4 and 2 are in the frames; first only 2 is there. */
	open_reader(&reader, "loop-growing", 512);
	frame = 1024;
	memset(reader.golden.bytes + frame, 0, 1024);
	golden_rewrite(reader.fd, reader.golden.bytes, reader.golden.size);
	CU_ASSERT(posix_trace_close(reader.trid) == 0);
	PXT_EQ(posix_trace_log_open_np(
	           &reader.fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &reader.trid, NULL, 0),
	    0);
	PXT_EQ(drain(reader.trid), 2);
	golden_read(&reader.golden, "loop-growing");
	flip(&reader, frame + 120);
	PXT_EQ(drain(reader.trid), 0);
	PXT_EQ(skip_damage(reader.trid), frame);
	PXT_EQ(drain_behind(reader.trid, &lost), 2);
	PXT_EQ(lost, 2);
	close_reader(&reader);
}

/* Nothing was sound when it was opened: then the first frame is missing. */
PXT_TEST(the_first_frame_is_named_where_no_frame_was_ever_sound)
{
	struct reader reader;
	uint64_t lost;

	if (!golden_little_endian())
		return;
	/* Blocks 3, 4 and 2 are in the frames: 4 stays. */
	open_reader(&reader, "loop-growing", 512);
	memset(reader.golden.bytes + 1024, 0, 512);
	memset(reader.golden.bytes + 1536, 0, 512);
	golden_rewrite(reader.fd, reader.golden.bytes, reader.golden.size);
	PXT_EQ(drain(reader.trid), 0);
	PXT_EQ(skip_damage(reader.trid), 1024);
	PXT_EQ(drain_behind(reader.trid, &lost), 2);
	close_reader(&reader);
}
