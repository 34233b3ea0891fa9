/* SPDX-License-Identifier: MIT */
/* test_logseek.c - posix_trace_seek_np() goes to the event that a reader from the beginning would find. */
#include "suite.h"

#include "format/logfmt.h"
#include "golden/golden.h"

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
	uint64_t offset;
	uint32_t bytes;

	memcpy(&offset, golden->bytes + 128, sizeof(offset));
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
