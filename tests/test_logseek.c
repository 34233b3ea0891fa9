/* SPDX-License-Identifier: MIT */
/*
 * test_logseek.c - other ways through a log than from event to event: to a time, and many events at once.
 */
#include "format/logfmt.h"
#include "logs.h"
#include "suite.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define EVENTS_MAX 64u

struct event {
	uint32_t id;
	int64_t ns;
	uint64_t number;
	uint64_t lost_before;
};

/* What is left to be read. */
static size_t read_events(trace_id_t trid, struct event *events)
{
	struct posix_trace_eventview_np view;
	size_t got = 1;
	size_t count = 0;

	while (got && count < EVENTS_MAX) {
		PXT_EQ_FATAL(posix_trace_getnext_events_np(trid, &view, sizeof(view), 1, &got), 0);
		if (got)
			events[count++] = (struct event){ view.posix_event_id_np, view.posix_ns_np,
				view.posix_number_np, view.posix_lost_before_np };
	}
	return count;
}

static bool same(const struct event *a, const struct event *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i].id != b[i].id || a[i].ns != b[i].ns || a[i].number != b[i].number ||
		    a[i].lost_before != b[i].lost_before)
			return false;
	return true;
}

/* Whether what is read after seeking @ns is the end of @all, and what was passed is its beginning. */
static bool lands(trace_id_t trid, const struct event *all, size_t count, int64_t ns)
{
	struct posix_trace_logpassed_np passed;
	struct event events[EVENTS_MAX];
	uint64_t lost = 0;
	size_t before = 0;

	while (before < count && all[before].ns < ns)
		lost += all[before++].lost_before;
	PXT_EQ(posix_trace_seek_np(trid, ns, &passed, sizeof(passed)), 0);
	return passed.posix_records_np == before && passed.posix_lost_np == lost &&
	       read_events(trid, events) == count - before &&
	       same(events, all + before, count - before);
}

/* Every event's time, and a nanosecond before and after it. */
static unsigned missed(trace_id_t trid, const struct event *all, size_t count)
{
	unsigned wrong = !lands(trid, all, count, INT64_MIN) + !lands(trid, all, count, INT64_MAX);

	for (size_t i = 0; i < count; i++)
		for (int64_t by = -1; by <= 1; by++)
			wrong += !lands(trid, all, count, all[i].ns + by);
	return wrong;
}

PXT_TEST(seek_lands_on_the_first_event_that_is_not_before_a_time)
{
	static const char *const names[] = { "le64", "be64", "le32", "be32", "cleared", "loop-le64",
		"loop-be32", "loop-short", "loop-empty", "sealed-le64", "newer-minor" };
	struct event all[EVENTS_MAX];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		trace_id_t trid = golden_open(names[i]);
		size_t count = read_events(trid, all);

		PXT_CHECK(missed(trid, all, count) == 0, "%s", names[i]);
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}

/* So many blocks' heads, from @block on, lie about their stamps, with right checksums: the place is the same. */
static void lie(unsigned block, unsigned blocks, size_t offset, uint64_t value)
{
	struct event all[EVENTS_MAX];
	struct golden golden;
	trace_id_t trid;
	size_t count;
	int fd;

	golden_read(&golden, "le64");
	for (unsigned i = 0; i < blocks; i++) {
		size_t at = golden_block(&golden, PXT_LOG_DATA, block + i);

		memcpy(golden.bytes + at + offset, &value, sizeof(value));
		golden_sign(&golden, at);
	}
	fd = golden_file(golden.bytes, golden.size);
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	count = read_events(trid, all);
	CU_ASSERT(count > 2);
	PXT_CHECK(missed(trid, all, count) == 0, "block %u, offset %u, %llu", block,
	    (unsigned)offset, (unsigned long long)value);
	CU_ASSERT(posix_trace_close(trid) == 0);
	CU_ASSERT(close(fd) == 0);
}

PXT_TEST(a_head_that_lies_about_its_stamps_leads_nowhere_else)
{
	const uint16_t one = 1;
	unsigned char first;
	struct golden golden;

	memcpy(&first, &one, 1);
	if (first != 1)
		return;
	golden_read(&golden, "le64");
	for (unsigned block = 0; block < 2; block++) {
		size_t at = golden_block(&golden, PXT_LOG_DATA, block);
		uint64_t begin;
		uint64_t end;

		memcpy(&begin, golden.bytes + at + 40, sizeof(begin));
		memcpy(&end, golden.bytes + at + 48, sizeof(end));
		lie(block, 1, 40, 0);
		lie(block, 1, 40, end);
		lie(block, 1, 40, UINT64_MAX);
		lie(block, 1, 48, 0);
		lie(block, 1, 48, begin);
		lie(block, 1, 48, (begin + end) / 2);
		lie(block, 1, 48, UINT64_MAX);
		if (block == 0)
			lie(block, 2, 48, begin);
	}
}

/* The first block: of frames, the older one of the first two. */
static size_t first_block(const struct golden *golden)
{
	uint64_t sequences[2];
	size_t offset;
	uint64_t told;
	uint32_t bytes;

	memcpy(&told, golden->bytes + 128, sizeof(told));
	offset = (size_t)told;
	memcpy(&bytes, golden->bytes + 136, sizeof(bytes));
	if (offset == 0)
		return golden_block(golden, PXT_LOG_DATA, 0);
	for (unsigned i = 0; i < 2; i++)
		memcpy(
		    &sequences[i], golden->bytes + offset + i * bytes + 16, sizeof(sequences[i]));
	return offset + (sequences[1] < sequences[0] ? bytes : 0);
}

/*
 * What seeking the end says of a log whose first block has these stamps in its head, and cannot be read: EIO if it
 * was, 0 if the head was enough.
 */
static int seek_past(const char *name, uint64_t begin, uint64_t end)
{
	struct golden golden;
	trace_id_t trid;
	size_t at;
	int error;
	int fd;

	golden_read(&golden, name);
	at = first_block(&golden);
	memcpy(golden.bytes + at + 40, &begin, sizeof(begin));
	memcpy(golden.bytes + at + 48, &end, sizeof(end));
	golden_sign(&golden, at);
	golden.bytes[at + 120] ^= 0xff;
	fd = golden_file(golden.bytes, golden.size);
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	error = posix_trace_seek_np(trid, INT64_MAX, NULL, 0);
	CU_ASSERT(posix_trace_close(trid) == 0);
	CU_ASSERT(close(fd) == 0);
	return error;
}

/* Stamps from before creation, and from behind the block's last, are those of a counter that wrapped. */
PXT_TEST(a_block_is_passed_over_unread_where_its_stamps_lie_between_creation_and_its_last)
{
	static const char *const names[] = { "le64", "loop-le64" };
	struct golden golden;
	uint64_t created;
	uint64_t end;
	size_t at;

	if (((const unsigned char *)&(const uint16_t){ 1 })[0] != 1)
		return;
	for (unsigned i = 0; i < 2; i++) {
		golden_read(&golden, names[i]);
		at = first_block(&golden);
		memcpy(&created, golden.bytes + 64, sizeof(created));
		memcpy(&end, golden.bytes + at + 48, sizeof(end));
		PXT_EQ(seek_past(names[i], created, end), 0);
		PXT_EQ(seek_past(names[i], end, end), 0);
		PXT_EQ(seek_past(names[i], created - 1, end), EIO);
		PXT_EQ(seek_past(names[i], end + 1, end), EIO);
	}
}

PXT_TEST(seek_goes_back_and_forth_and_wants_a_log)
{
	trace_id_t trid = golden_open("le64");
	struct event all[EVENTS_MAX];
	size_t count = read_events(trid, all);

	PXT_EQ(posix_trace_seek_np(trid, all[count - 1].ns, NULL, 0), 0);
	PXT_EQ(posix_trace_seek_np(trid, all[0].ns, NULL, 0), 0);
	PXT_EQ(read_events(trid, all), count);
	CU_ASSERT(posix_trace_close(trid) == 0);
	PXT_EQ(posix_trace_seek_np(trid, 0, NULL, 0), EINVAL);
	PXT_EQ(posix_trace_seek_np(0, 0, NULL, 0), EINVAL);
}

/* ---- posix_trace_getnext_events_np() reports what posix_trace_getnext_event() does ---- */

#define VIEWS_EVENTS_MAX 64
#define BYTES_MAX        512

static const char *const complete[] = { "be32", "be64", "cleared", "le32", "le64", "loop-be32",
	"loop-empty", "loop-le64", "loop-short", "newer-minor", "loop-coded-be32" };
#define COMPLETE (sizeof(complete) / sizeof(complete[0]))

struct read_event {
	struct posix_trace_event_info info;
	struct posix_trace_eventextra_np extra;
	unsigned char data[BYTES_MAX];
	size_t len;
};

static struct read_event story[VIEWS_EVENTS_MAX];

static unsigned read_one_by_one(trace_id_t trid)
{
	unsigned count = 0;
	int unavailable = 0;

	for (;; count++) {
		struct read_event *event = &story[count];

		CU_ASSERT_FATAL(count < VIEWS_EVENTS_MAX);
		PXT_EQ_FATAL(posix_trace_getnext_event(trid, &event->info, event->data, BYTES_MAX,
		                 &event->len, &unavailable),
		    0);
		if (unavailable)
			return count;
		CU_ASSERT(posix_trace_eventinfo_getextra_np(
		              &event->info, &event->extra, sizeof(event->extra)) == 0);
	}
}

static void check_view(
    const char *log, unsigned number, const struct posix_trace_eventview_np *view)
{
	const struct read_event *event = &story[number];
	const struct posix_trace_event_info *info = &event->info;
	int64_t ns =
	    info->posix_timestamp.tv_sec * INT64_C(1000000000) + info->posix_timestamp.tv_nsec;

	PXT_CHECK(view->posix_event_id_np == info->posix_event_id, "%s %u: type", log, number);
	PXT_CHECK(view->posix_pid_np == info->posix_pid, "%s %u: pid", log, number);
	PXT_CHECK(
	    view->posix_prog_address_np == info->posix_prog_address, "%s %u: address", log, number);
	PXT_CHECK(memcmp(&view->posix_thread_id_np, &info->posix_thread_id, sizeof(pthread_t)) == 0,
	    "%s %u: thread", log, number);
	PXT_CHECK(view->posix_ns_np == ns, "%s %u: time", log, number);
	PXT_CHECK(
	    view->posix_cut_np == (info->posix_truncation_status == POSIX_TRACE_TRUNCATED_RECORD),
	    "%s %u: cut", log, number);
	PXT_CHECK(view->posix_cpu_np == event->extra.posix_cpu_np, "%s %u: cpu", log, number);
	PXT_CHECK(view->posix_ticks_np == event->extra.posix_ticks_np, "%s %u: ticks", log, number);
	PXT_CHECK(view->posix_lost_before_np == event->extra.posix_lost_before_np, "%s %u: lost",
	    log, number);
	PXT_CHECK(view->posix_number_np == event->extra.posix_number_np, "%s %u: number of record",
	    log, number);
	PXT_CHECK(view->posix_thread_exact_np == event->extra.posix_thread_exact_np,
	    "%s %u: thread known", log, number);
	PXT_CHECK(view->posix_bytes_np == event->len &&
	              memcmp(view->posix_data_np, event->data, event->len) == 0,
	    "%s %u: data", log, number);
}

/* Reads on from event @number, @room at a time, up to the end; returns the number after it. */
static unsigned check_views(const char *log, trace_id_t trid, unsigned number, size_t room)
{
	struct posix_trace_eventview_np views[VIEWS_EVENTS_MAX];
	size_t count;

	for (;;) {
		PXT_EQ_FATAL(
		    posix_trace_getnext_events_np(trid, views, sizeof(*views), room, &count), 0);
		if (count == 0)
			return number;
		CU_ASSERT_FATAL(count <= room);
		for (size_t i = 0; i < count; i++)
			check_view(log, number++, &views[i]);
	}
}

/* QNX-48: either byte order, either word size, sequential, frames, cleared, after a loss. */
PXT_TEST(many_at_once_are_the_same_events_as_one_by_one)
{
	static const size_t rooms[] = { 1, 2, 3, VIEWS_EVENTS_MAX };

	for (unsigned i = 0; i < COMPLETE; i++) {
		trace_id_t trid = golden_open(complete[i]);
		unsigned count = read_one_by_one(trid);

		for (unsigned k = 0; k < 4; k++) {
			CU_ASSERT(posix_trace_rewind(trid) == 0);
			PXT_CHECK(check_views(complete[i], trid, 0, rooms[k]) == count,
			    "%s: number of events", complete[i]);
		}
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}

/* Reads all events in views of @bytes each, as a program has them that was compiled with another release's headers. */
static unsigned check_strange_views(const char *log, trace_id_t trid, size_t bytes, size_t room)
{
	static _Alignas(16) unsigned char memory[4 * sizeof(struct posix_trace_eventview_np)];
	unsigned number = 0;
	size_t count;

	memset(memory, 0x5a, sizeof(memory));
	for (;;) {
		PXT_EQ_FATAL(
		    posix_trace_getnext_events_np(trid, (void *)memory, bytes, room, &count), 0);
		if (count == 0)
			return number;
		CU_ASSERT_FATAL(count <= room);
		for (size_t i = 0; i < count; i++) {
			struct posix_trace_eventview_np view = { 0 };

			memcpy(
			    &view, memory + i * bytes, bytes < sizeof(view) ? bytes : sizeof(view));
			check_view(log, number++, &view);
			for (size_t at = sizeof(view); at < bytes; at++)
				CU_ASSERT(memory[i * bytes + at] == 0);
		}
		CU_ASSERT(memory[room * bytes] == 0x5a);
	}
}

PXT_TEST(views_of_another_size_hold_the_same_events_and_no_more_is_stored)
{
	const size_t own = sizeof(struct posix_trace_eventview_np);
	const size_t sizes[] = { offsetof(struct posix_trace_eventview_np, posix_thread_entry_np),
		own, own + 16 };

	for (unsigned i = 0; i < COMPLETE; i++) {
		trace_id_t trid = golden_open(complete[i]);
		unsigned count = read_one_by_one(trid);

		for (unsigned k = 0; k < 9; k++) {
			CU_ASSERT(posix_trace_rewind(trid) == 0);
			PXT_CHECK(check_strange_views(complete[i], trid, sizes[k / 3], k % 3 + 1) ==
			              count,
			    "%s: number of events", complete[i]);
		}
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}

PXT_TEST(one_and_many_may_take_turns)
{
	for (unsigned i = 0; i < COMPLETE; i++) {
		trace_id_t trid = golden_open(complete[i]);
		unsigned count = read_one_by_one(trid);

		for (unsigned first = 0; first < count; first++) {
			struct posix_trace_eventview_np view;
			struct posix_trace_event_info event;
			unsigned char data[BYTES_MAX];
			int unavailable;
			size_t len, got;

			CU_ASSERT(posix_trace_rewind(trid) == 0);
			for (unsigned k = 0; k < first; k++) {
				PXT_EQ_FATAL(posix_trace_getnext_events_np(
				                 trid, &view, sizeof(view), 1, &got),
				    0);
				CU_ASSERT_FATAL(got == 1);
			}
			PXT_EQ(posix_trace_getnext_event(
			           trid, &event, data, BYTES_MAX, &len, &unavailable),
			    0);
			CU_ASSERT(unavailable == 0 && len == story[first].len &&
			          memcmp(data, story[first].data, len) == 0);
			PXT_CHECK(check_views(complete[i], trid, first + 1, 5) == count,
			    "%s from %u", complete[i], first + 1);
		}
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}

/* What @one can report now, from story[*number] on, and that @many reports the same. */
static void check_growth(const char *log, trace_id_t one, trace_id_t many, unsigned *number)
{
	unsigned first = *number;
	unsigned count;

	/* Into the front of the story: views are compared by the same numbers. */
	count = read_one_by_one(one);
	PXT_CHECK(check_views(log, many, 0, 2) == count, "%s: events behind %u", log, first);
	*number += count;
}

/* Ruling 22: the newest frame is looked at again, and its checksum with it, when it has grown. */
PXT_TEST(a_log_that_grows_goes_on_where_the_last_views_ended)
{
	static const char *const growing[] = { "no-trailer", "le64", "be32", "loop-growing" };

	for (unsigned i = 0; i < 4; i++) {
		size_t size = i == 3 ? 0 : 512;
		trace_id_t one, many;
		struct golden golden;
		unsigned number = 0;
		int fd;

		golden_read(&golden, growing[i]);
		fd = golden_file(golden.bytes, size ? size : golden.size);
		CU_ASSERT_FATAL(posix_trace_log_open_np(
		                    &fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &one, NULL, 0) == 0);
		CU_ASSERT_FATAL(posix_trace_log_open_np(
		                    &fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &many, NULL, 0) == 0);
		for (; size && size < golden.size; size += 48) {
			golden_rewrite(fd, golden.bytes, size);
			check_growth(growing[i], one, many, &number);
		}
		golden_rewrite(fd, golden.bytes, golden.size);
		check_growth(growing[i], one, many, &number);
		PXT_CHECK(number > 4, "%s: only %u", growing[i], number);
		CU_ASSERT(posix_trace_close(one) == 0);
		CU_ASSERT(posix_trace_close(many) == 0);
		CU_ASSERT(close(fd) == 0);
	}
}

/* A record that was spoilt behind the reader's back: of its block nothing is handed out, and it stays the next one. */
PXT_TEST(of_a_block_that_is_damaged_nothing_is_handed_out)
{
	struct posix_trace_eventview_np views[VIEWS_EVENTS_MAX];
	struct posix_trace_logfinding_np finding;
	struct golden golden;
	size_t block;
	size_t count;
	trace_id_t trid;
	int fd;

	golden_read(&golden, "le64");
	block = golden_block(&golden, 1, 0);
	fd = golden_file(golden.bytes, golden.size);
	CU_ASSERT_FATAL(posix_trace_open(fd, &trid) == 0);
	/* The second record's begin slot: the first one (START) has 1 + (8 + 128) / 12 slots. */
	PXT_EQ(posix_trace_getnext_events_np(trid, views, sizeof(*views), VIEWS_EVENTS_MAX, &count),
	    0);
	CU_ASSERT(count > 1 && posix_trace_rewind(trid) == 0);
	golden.bytes[block + 96 + 13 * 16 + 3] = 0x70;
	golden_rewrite(fd, golden.bytes, golden.size);
	PXT_EQ(posix_trace_getnext_events_np(trid, views, sizeof(*views), VIEWS_EVENTS_MAX, &count),
	    EIO);
	PXT_EQ(count, 0);
	PXT_EQ(posix_trace_getnext_events_np(trid, views, sizeof(*views), VIEWS_EVENTS_MAX, &count),
	    EIO);
	PXT_EQ(posix_trace_log_skipdamage_np(trid, &finding, sizeof(finding)), 0);
	PXT_EQ(finding.posix_offset_np, block);
	PXT_EQ(posix_trace_getnext_events_np(trid, views, sizeof(*views), VIEWS_EVENTS_MAX, &count),
	    0);
	CU_ASSERT(count > 0 && views[0].posix_lost_before_np > 0);
	CU_ASSERT(posix_trace_close(trid) == 0);
	CU_ASSERT(close(fd) == 0);
}
