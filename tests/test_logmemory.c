/* SPDX-License-Identifier: MIT */
/*
 * test_logmemory.c - what a reader asks of the system.  A growing log whose reader has no memory for what came: the
 * call that looks says so, and a later one goes on as if nothing had been.  How much of a file is read.
 */
#include "suite.h"

#include "fakes/fakes.h"
#include "format/logfmt.h"
#include "logs.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* What a reader came to know, to its end. */
struct known {
	unsigned events;
	unsigned refused; /* calls that had no memory */
	struct posix_trace_loginfo_np info;
};

static const char *const logs[] = { "le64", "be64", "le32", "be32", "loop-le64", "loop-be32",
	"cleared", "sealed-le64", "boot-le64", "machine-le64", "notes-le64", "coded-be32",
	"loop-coded-le64" };
#define LOGS (sizeof(logs) / sizeof(logs[0]))

static trace_id_t open_growing(int fd)
{
	trace_id_t trid = 0;

	PXT_EQ_FATAL(
	    posix_trace_log_open_np(&fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, NULL, 0), 0);
	return trid;
}

static void expect_no_damage(trace_id_t trid)
{
	struct posix_trace_logfinding_np finding;

	PXT_EQ(posix_trace_log_skipdamage_np(trid, &finding, sizeof(finding)), ENOENT);
}

/* Reads on to the present end.  The first call that is refused is the last one without memory. */
static void read_on(trace_id_t trid, struct known *known)
{
	struct posix_trace_event_info event;
	int unavailable = 0;
	size_t len;

	while (!unavailable) {
		int error = posix_trace_getnext_event(trid, &event, NULL, 0, &len, &unavailable);

		CU_ASSERT(error == 0 || error == ENOMEM);
		known->refused += error == ENOMEM;
		known->events += error == 0 && !unavailable;
		if (error) {
			expect_no_damage(trid);
			pxt_fault_arm(&pxt_fault_heap, 0, 0);
			unavailable = 0;
		}
	}
}

static bool same(const struct known *a, const struct known *b)
{
	return a->events == b->events && memcmp(&a->info, &b->info, sizeof(a->info)) == 0;
}

/* The log comes to a reader that has seen its head alone; there is memory for @n - 1 allocations. */
static struct known follow(const struct golden *golden, unsigned n)
{
	struct known known = { 0 };
	int fd = golden_file(golden->bytes, 512);
	trace_id_t trid = open_growing(fd);

	golden_rewrite(fd, golden->bytes, golden->size);
	pxt_fault_arm_from(&pxt_fault_heap, n, ENOMEM);
	read_on(trid, &known);
	pxt_fault_arm(&pxt_fault_heap, 0, 0);
	PXT_EQ(posix_trace_log_getinfo_np(trid, &known.info, sizeof(known.info)), 0);
	PXT_EQ(posix_trace_close(trid), 0);
	close(fd);
	return known;
}

static void expect_the_same_without_memory(const char *name, const struct golden *golden)
{
	struct known whole = follow(golden, 1000);

	PXT_EQ(whole.refused, 0);
	for (unsigned n = 1, refused = 1; refused; n++) {
		struct known known = follow(golden, n);

		refused = known.refused;
		CU_ASSERT(refused || n > 5);
		PXT_CHECK(same(&known, &whole), "%s, %u: %u events, complete %d, %u modules", name,
		    n, known.events, known.info.posix_complete_np, known.info.posix_modules_np);
	}
}

/* DEC-29 */
PXT_TEST(whichever_allocation_fails_a_later_call_reads_the_whole_log)
{
	struct golden golden;

	for (size_t i = 0; i < LOGS; i++) {
		golden_read(&golden, logs[i]);
		expect_the_same_without_memory(logs[i], &golden);
	}
}

/* ---- Within a block ---- */

/* More modules than the table holds at first, in one block at the end of a log without trailer. */
#define MODULES 20u

static void put_modules(struct golden *golden)
{
	size_t from;
	size_t to;
	uint16_t bytes;
	uint32_t length = PXT_LOG_BLOCK_BYTES;
	uint32_t count = MODULES;

	golden_read(golden, golden_native());
	from = golden_block(golden, PXT_LOG_MODULES, 0);
	to = golden_block(golden, PXT_LOG_TRAILER, 0);
	/* The head of the trailer stays, but for what it holds. */
	memcpy(golden->bytes + to + 4, golden->bytes + from + 4, 2);
	/* Each entry begins with its length. */
	memcpy(&bytes, golden->bytes + from + PXT_LOG_BLOCK_BYTES, sizeof(bytes));
	for (uint32_t i = 0; i < MODULES; i++, length += (uint32_t)bytes)
		memcpy(
		    golden->bytes + to + length, golden->bytes + from + PXT_LOG_BLOCK_BYTES, bytes);
	length += 15u & -length;
	CU_ASSERT_FATAL(to + length <= sizeof(golden->bytes));
	memcpy(golden->bytes + to + 8, &length, sizeof(length));
	memcpy(golden->bytes + to + 12, &count, sizeof(count));
	golden->size = to + length;
	golden_sign(golden, to);
}

PXT_TEST(entries_of_a_block_that_had_room_are_not_taken_twice)
{
	struct golden golden;

	put_modules(&golden);
	PXT_EQ(follow(&golden, 1000).info.posix_modules_np, 2 + MODULES);
	expect_the_same_without_memory("modules", &golden);
}

/* ---- Begun anew ---- */

/* DEC-25 */
PXT_TEST(a_log_that_was_begun_anew_is_read_when_memory_is_back)
{
	struct golden golden;

	golden_read(&golden, golden_native());
	golden.size = golden_block(&golden, PXT_LOG_TRAILER, 0);
	for (unsigned n = 1, refused = 1; refused; n++) {
		struct known known = { 0 };
		int fd = golden_file(golden.bytes, 512);
		trace_id_t trid = open_growing(fd);
		unsigned char *generation = &golden.bytes[golden_little_endian() ? 144 : 147];

		*generation = (unsigned char)n;
		golden_sign(&golden, 0);
		golden_rewrite(fd, golden.bytes, golden.size);
		pxt_fault_arm_from(&pxt_fault_heap, n, ENOMEM);
		read_on(trid, &known);
		pxt_fault_arm(&pxt_fault_heap, 0, 0);
		PXT_EQ(posix_trace_close(trid), 0);
		close(fd);
		refused = known.refused;
		CU_ASSERT(refused || n > 5);
		PXT_EQ(known.events, 9);
	}
}

/* ---- Bytes of the file ---- */

#define FLUSHES      1100u
#define EVENTS       40u /* in each: blocks of some 8 KB */
#define EVENT_BYTES  200u
#define EVENT_COUNT  (FLUSHES * EVENTS)
#define READ_MAX     (2u * EVENT_COUNT)
#define WINDOW_BYTES 262144u

static size_t make_log(int fd)
{
	unsigned char data[EVENT_BYTES];
	uint32_t number = 1;
	trace_attr_t attr;
	trace_event_id_t type;
	trace_id_t trid;

	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), 0);
	PXT_EQ_FATAL(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ_FATAL(posix_trace_attr_setmaxdatasize(&attr, EVENT_BYTES), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamsize(&attr, 1u << 20), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
	PXT_EQ_FATAL(posix_trace_eventid_open("filler", &type), 0);
	PXT_EQ_FATAL(posix_trace_start(trid), 0);
	for (unsigned i = 0; i < FLUSHES * EVENTS; i++) {
		for (size_t at = 0; at < sizeof(data);
		     at++, number = number * 1664525u + 1013904223u)
			data[at] = (unsigned char)(number >> 24);
		posix_trace_event(type, data, sizeof(data));
		if (i % EVENTS == EVENTS - 1)
			PXT_EQ_FATAL(posix_trace_flush(trid), 0);
	}
	PXT_EQ_FATAL(posix_trace_shutdown(trid), 0);
	PXT_EQ_FATAL(posix_trace_attr_destroy(&attr), 0);
	return (size_t)lseek(fd, 0, SEEK_END);
}

/* Bytes read since the last time. */
static size_t bytes_read(void)
{
	return atomic_exchange(&pxt_bytes_read, 0);
}

/* Of all events, in order; a growing number. */
static int64_t times[READ_MAX];

static size_t read_all(trace_id_t trid)
{
	struct posix_trace_eventview_np views[256];
	size_t events = 0;
	size_t got = 1;

	while (got) {
		PXT_EQ_FATAL(
		    posix_trace_getnext_events_np(trid, views, sizeof(*views), 256, &got), 0);
		CU_ASSERT_FATAL(events + got <= READ_MAX);
		for (size_t i = 0; i < got; i++)
			times[events++] = views[i].posix_ns_np;
	}
	return events;
}

PXT_TEST(opening_reads_heads_and_reading_reads_each_byte_once)
{
	int fd = golden_file(NULL, 0);
	size_t size = make_log(fd);
	trace_id_t trid;
	size_t bytes;

	CU_ASSERT(size > 16u * WINDOW_BYTES);
	(void)bytes_read();
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	bytes = bytes_read();
	PXT_CHECK(bytes < size / 8, "%zu bytes of %zu to open", bytes, size);
	CU_ASSERT(read_all(trid) > EVENT_COUNT);
	bytes = bytes_read();
	PXT_CHECK(bytes <= size, "%zu bytes of %zu in one reading", bytes, size);
	PXT_EQ(posix_trace_close(trid), 0);
	close(fd);
}

/* Whether the first event that is not before @ns follows, and has its number. */
static bool leads_to(trace_id_t trid, size_t events, int64_t ns)
{
	struct posix_trace_logpassed_np passed;
	struct posix_trace_eventview_np view;
	size_t at = 0;
	size_t got;

	while (at < events && times[at] < ns)
		at++;
	PXT_EQ(posix_trace_seek_np(trid, ns, &passed, sizeof(passed)), 0);
	PXT_EQ(posix_trace_getnext_events_np(trid, &view, sizeof(view), 1, &got), 0);
	return passed.posix_records_np == at &&
	       (got ? view.posix_ns_np == times[at] && view.posix_number_np == at : at == events);
}

PXT_TEST(to_a_place_in_a_log_of_many_blocks_a_few_of_them_are_read)
{
	int fd = golden_file(NULL, 0);
	size_t size = make_log(fd);
	trace_id_t trid;
	size_t events;

	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	events = read_all(trid);
	for (size_t i = 0; i < events; i += events / 50) {
		size_t bytes;

		(void)bytes_read();
		PXT_CHECK(leads_to(trid, events, times[i]), "to event %zu", i);
		bytes = bytes_read();
		PXT_CHECK(bytes < size / 16, "%zu bytes of %zu to event %zu", bytes, size, i);
		PXT_CHECK(leads_to(trid, events, times[i] + 1), "behind event %zu", i);
	}
	CU_ASSERT(leads_to(trid, events, INT64_MAX));
	CU_ASSERT(leads_to(trid, events, INT64_MIN));
	PXT_EQ(posix_trace_close(trid), 0);
	close(fd);
}
