/* SPDX-License-Identifier: MIT */
/*
 * lengths.c - every length and alignment of the data, the largest records there can be, and threads
 * that have no place in the table: what comes out is what went in, to the byte.
 */
#include "kit.h"

#include "core/control/control.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static trace_id_t stream;

static void begin(int policy, unsigned lanes, size_t bytes, size_t data)
{
	const struct kit_spec spec = {
		.policy = policy, .lanes = lanes, .bytes = bytes, .data = data
	};

	stream = kit_open(&spec);
	kit_start(stream);
	(void)kit_read_all(stream);
}

struct got {
	struct posix_trace_event_info info;
	struct posix_trace_eventextra_np extra;
	unsigned char data[4200];
	size_t len;
};

static bool take(struct got *got)
{
	int unavailable = 1;

	memset(got->data, 0xee, sizeof(got->data));
	PXT_EQ_FATAL(posix_trace_trygetnext_event(
	                 stream, &got->info, got->data, sizeof(got->data), &got->len, &unavailable),
	    0);
	if (unavailable)
		return false;
	PXT_EQ(posix_trace_eventinfo_getextra_np(&got->info, &got->extra, sizeof(got->extra)), 0);
	return true;
}

static unsigned char byte_at(size_t len, size_t at)
{
	return (unsigned char)(len * 13u + at * 29u + (at >> 8) + 1u);
}

/* The event names the calling thread, its process, and says that it is surely this one. */
static void expect_mine(const struct got *got)
{
	CU_ASSERT(pthread_equal(got->info.posix_thread_id, pthread_self()));
	PXT_EQ(got->info.posix_pid, getpid());
	PXT_EQ(got->extra.posix_thread_exact_np, 1);
}

/* The data lies directly before a page's worth of other bytes, which must not come along. */
static void through(size_t len, size_t shift, size_t max)
{
	static struct got got;
	static unsigned char bytes[4096 + 64];
	size_t expected = len < max ? len : max;
	bool same = true;

	memset(bytes, 0xaa, sizeof(bytes));
	for (size_t i = 0; i < len; i++)
		bytes[16 + shift + i] = byte_at(len, i);
	posix_trace_event(kit_type(), bytes + 16 + shift, len);
	PXT_EQ_FATAL(take(&got), true);
	PXT_EQ(got.len, expected);
	for (size_t i = 0; i < expected; i++)
		same = same && got.data[i] == byte_at(len, i);
	PXT_CHECK(same, "length %zu, shift %zu", len, shift);
	PXT_EQ(got.data[expected], 0xee);
	PXT_EQ(got.info.posix_truncation_status,
	    len > max ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED);
	expect_mine(&got);
}

static void every_length(int policy, unsigned lanes)
{
	begin(policy, lanes, 16384, 4095);
	for (size_t len = 0; len <= 300; len++)
		for (size_t shift = 0; shift < 16; shift++) {
			kit_lane((unsigned)shift);
			through(len, shift, 4095);
		}
	for (size_t len = 4070; len <= 4096; len++)
		through(len, len % 16, 4095);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* EVENT-05, EVENT-10, SIZ-01 */
PXT_TEST(every_length_and_alignment_comes_out_as_it_went_in)
{
	every_length(LOOP, 1);
	every_length(FULL, 2);
}

/* The same through the way that two streams take. */
PXT_TEST(so_it_does_with_several_streams)
{
	const struct kit_spec spec = { .policy = LOOP, .lanes = 2 };
	trace_id_t other = kit_open(&spec);

	PXT_EQ(posix_trace_start(other), 0);
	every_length(LOOP, 2);
	PXT_EQ(posix_trace_shutdown(other), 0);
}

/* Data that ends where the memory ends: nothing after it is read. */
PXT_TEST(nothing_behind_the_data_is_read)
{
	begin(LOOP, 1, 16384, 4095);
	for (size_t len = 0; len <= 300; len++) {
		unsigned char *exact = malloc(len ? len : 1);
		struct got *got = malloc(sizeof(*got));

		CU_ASSERT_FATAL(exact && got);
		for (size_t i = 0; i < len; i++)
			exact[i] = byte_at(len, i);
		posix_trace_event(kit_type(), exact, len);
		PXT_EQ(take(got), true);
		PXT_EQ(got->len, len);
		PXT_CHECK(memcmp(got->data, exact, len) == 0, "length %zu", len);
		free(exact);
		free(got);
	}
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* A record of half a ring, at every position of the ring. */
static void half_a_ring(int policy, unsigned lanes)
{
	const size_t len = 64 / 2 * 12 - 12 - PXT_CTX_BYTES - PXT_THREAD_EXTRA_BYTES;

	begin(policy, lanes, 1024, len);
	PXT_EQ(kit_slots(stream), 64);
	for (uint32_t i = 0; i < 200; i++) {
		kit_write(1, len);
		if (i % 3 == 0)
			kit_write(1, 4);
		if (i % 7 == 0)
			kit_write(1, 16);
		CU_ASSERT(kit_read_all(stream) > 0);
	}
	PXT_EQ(kit_missing(1, 1, kit_seen.sent[1]), 0);
	/* And two of them with nobody reading. */
	kit_write(2, len);
	kit_write(2, len);
	CU_ASSERT(kit_settle(stream));
	PXT_EQ(kit_missing(2, 1, 2), 0);
	CU_ASSERT(kit_law(stream));
	CU_ASSERT(kit_clean());
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* SIZ-01, SIZ-04; ruling 15 */
PXT_TEST(records_of_half_a_ring_fit_anywhere)
{
	half_a_ring(LOOP, 1);
	half_a_ring(LOOP, 2);
	half_a_ring(FULL, 1);
	half_a_ring(FULL, 2);
}

/* Ruling 15, at every length: also with what a thread without a place adds. */
PXT_TEST(the_smallest_ring_has_room_for_two_of_the_longest_records)
{
	for (uint32_t data = 0; data <= PXT_DATA_MAX; data++) {
		const uint32_t longest =
		    pxt_slots_for(PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + data);
		trace_attr_t attr;
		struct _pxt_attr used;
		struct pxt_create request = { .attr = &attr };
		size_t slots;

		PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
		PXT_EQ_FATAL(posix_trace_attr_setmaxdatasize(&attr, data), 0);
		PXT_EQ_FATAL(posix_trace_attr_setstreamsize(&attr, 1), 0);
		PXT_EQ_FATAL(pxt_create_attr(&request, &used), 0);
		slots = (size_t)(used._pxt_stream_size / PXT_SLOT_BYTES);
		PXT_CHECK(slots >= (size_t)2 * longest, "%u bytes: %zu slots, %u each",
		    (unsigned)data, slots, (unsigned)longest);
		/* A power of two, and no larger than it must be for the longest of any kind. */
		PXT_CHECK((slots & (slots - 1)) == 0, "%zu slots", slots);
		if (longest >= 128u)
			CU_ASSERT(slots < (size_t)4 * longest);
		PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	}
}

/* Two slots are half a line. */
PXT_TEST(short_records_behind_the_first_start_lie_in_one_line)
{
	for (unsigned lanes = 1; lanes <= 4; lanes *= 2) {
		begin(LOOP, lanes, 16384, 256);
		for (unsigned i = 0; i < lanes; i++) {
			struct pxt_lane *lane = pxt_block_lane(kit_block(stream), i);

			PXT_EQ(pxt_head_pos(pxt_cursor_load(&lane->head)) % 2u, 0u);
		}
		PXT_EQ(posix_trace_shutdown(stream), 0);
	}
}

/* ---- Threads beyond the table ---- */

static void *trace_lengths(void *argument)
{
	uint32_t entries = atomic_load(&pxt_threads->count);

	for (size_t len = 0; len <= 60; len++)
		through(len, len % 16, 256);
	for (size_t len = 250; len <= 260; len++)
		through(len, len % 16, 256);
	PXT_EQ(atomic_load(&pxt_threads->count), entries);
	PXT_EQ(pxt_self.index, PXT_THREAD_EXTRA);
	return NULL;
}

static void without_a_place(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	atomic_store(&pxt_threads->count, CONFIG_PTRACE_MAX_THREADS - 1u);
	PXT_EQ_FATAL(pthread_create(&thread, NULL, run, argument), 0);
	(void)pthread_join(thread, NULL);
}

/* DEC-39; ruling 15 */
PXT_TEST_FRESH(a_thread_without_a_place_in_the_table_is_still_known_exactly)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(lanes == 1 ? LOOP : FULL, lanes, 16384, 256);
		without_a_place(trace_lengths, NULL);
		PXT_EQ(posix_trace_shutdown(stream), 0);
	}
}

/* Reads all; *made: how many of the events that no thread has traced name this one. */
static void *read_made(void *made)
{
	static struct got got;

	while (take(&got)) {
		trace_event_id_t id = got.info.posix_event_id;

		*(unsigned *)made += id != kit_type() && got.extra.posix_thread_exact_np == 1 &&
		                     pthread_equal(got.info.posix_thread_id, pthread_self());
	}
	return NULL;
}

/* DEC-39: OVERFLOW and RESUME; an automatic STOP and START */
PXT_TEST_FRESH(the_events_that_a_reader_without_a_place_adds_are_known_as_its_own)
{
	static const int policies[] = { LOOP, FULL };

	for (unsigned i = 0; i < 2; i++) {
		unsigned made = 0;

		begin(policies[i], 1, 1024, 64);
		for (uint32_t k = 0; k < kit_slots(stream); k++)
			kit_write(1, 4);
		without_a_place(read_made, &made);
		PXT_EQ(made, 2);
		PXT_EQ(posix_trace_shutdown(stream), 0);
	}
}

static void *filter_and_stop(void *argument)
{
	static struct got got;
	trace_event_set_t none;

	PXT_EQ(posix_trace_eventset_empty(&none), 0);
	PXT_EQ(posix_trace_set_filter(stream, &none, POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(posix_trace_stop(stream), 0);
	PXT_EQ(pxt_self.index, PXT_THREAD_EXTRA);
	for (unsigned i = 0; i < 2; i++) {
		PXT_EQ_FATAL(take(&got), true);
		PXT_EQ(got.info.posix_event_id, i ? POSIX_TRACE_STOP : POSIX_TRACE_FILTER);
		expect_mine(&got);
	}
	return argument;
}

/* DEC-39, INF-02, INF-04: FILTER and STOP */
PXT_TEST_FRESH(the_events_of_its_control_calls_are_known_as_its_own_too)
{
	begin(LOOP, 1, 16384, 256);
	without_a_place(filter_and_stop, NULL);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* The next event is of that type, and names that CPU. */
static void expect_on(trace_event_id_t id, unsigned cpu)
{
	static struct got got;

	PXT_EQ_FATAL(take(&got), true);
	PXT_EQ(got.info.posix_event_id, id);
	PXT_EQ(got.extra.posix_cpu_np, CONFIG_PTRACE_RECORD_CPU ? (int)cpu : -1);
}

/* LPT-21: a trace point, FILTER, STOP, START */
PXT_TEST(each_event_names_the_cpu_of_its_call)
{
	trace_event_set_t none;

	PXT_EQ(posix_trace_eventset_empty(&none), 0);
	begin(LOOP, 1, 16384, 256);
	kit_lane(3);
	kit_write(1, 4);
	kit_lane(5);
	PXT_EQ(posix_trace_set_filter(stream, &none, POSIX_TRACE_SET_EVENTSET), 0);
	kit_lane(0);
	PXT_EQ(posix_trace_stop(stream), 0);
	kit_lane(7);
	PXT_EQ(posix_trace_start(stream), 0);
	kit_lane(0);
	expect_on(kit_type(), 3);
	expect_on(POSIX_TRACE_FILTER, 5);
	expect_on(POSIX_TRACE_STOP, 0);
	expect_on(POSIX_TRACE_START, 7);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

#if _PXT_UNIT_INSPECT
static void *trace_short(void *argument)
{
	static struct got got;

	posix_trace_event(kit_type(), "abcdefghijkl", 12);
	PXT_EQ(pxt_self.index, PXT_THREAD_EXTRA);
	PXT_EQ_FATAL(take(&got), true);
	PXT_EQ(got.len, 4);
	CU_ASSERT(memcmp(got.data, "abcd", 4) == 0);
	expect_mine(&got);
	return NULL;
}

/* DEC-39, QNX-36 */
PXT_TEST_FRESH(so_it_is_where_its_event_is_of_a_short_type)
{
	trace_event_set_t set;

	begin(LOOP, 1, 16384, 256);
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(kit_type(), &set), 0);
	PXT_EQ(posix_trace_set_short_np(stream, &set), 0);
	without_a_place(trace_short, NULL);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}
#endif
