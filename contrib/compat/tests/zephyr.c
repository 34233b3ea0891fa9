/* SPDX-License-Identifier: MIT */
/* zephyr.c - Zephyr's event logger without run-time masks: buffer, reading, messages, bad input. */
#include "suite.h"

#include <k_event_logger.h>
#include <misc/kernel_event_hooks.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#define CUSTOM KERNEL_EVENT_LOGGER_CUSTOM_ID

struct got {
	int result;
	uint16_t id;
	uint8_t dropped;
	uint8_t words;
	uint32_t data[255];
};

static struct got get(uint8_t room)
{
	struct got got = { .words = room };

	got.result = sys_k_event_logger_get(&got.id, &got.dropped, got.data, &got.words);
	return got;
}

static void put_two(uint32_t first, uint32_t second)
{
	const uint32_t data[] = { first, second };

	sys_k_event_logger_put(CUSTOM, data, ARRAY_SIZE(data));
}

/* ZEP-03, ZEP-21, ZEP-22: 128 words, three for each event, the newest find no room. */
PXT_TEST_FRESH(the_buffer_keeps_the_oldest_events_and_counts_the_others)
{
	struct got got;

	CU_ASSERT_EQUAL(CONFIG_KERNEL_EVENT_LOGGER_BUFFER_SIZE, 128);
	for (uint32_t i = 0; i < 50; i++)
		put_two(i, ~i);
	for (uint32_t i = 0; i < 42; i++) {
		got = get(2);
		CU_ASSERT(got.result == 2 && got.id == CUSTOM && got.dropped == 0);
		CU_ASSERT(got.data[0] == i && got.data[1] == ~i);
	}
	CU_ASSERT_EQUAL(get(2).result, 0);
	put_two(100, 0);
	got = get(2);
	CU_ASSERT(got.result == 2 && got.data[0] == 100 && got.dropped == 8);
	put_two(101, 0);
	CU_ASSERT_EQUAL(get(2).dropped, 0);
	/* What was refused has given its words back. */
	for (uint32_t i = 0; i < 43; i++)
		put_two(i, 0);
	for (uint32_t i = 0; i < 42; i++)
		CU_ASSERT_EQUAL(get(2).data[0], i);
	CU_ASSERT_EQUAL(get(2).result, 0);
}

/* ZEP-22: an UNTIL_FULL stream stays closed until it was read empty; this one takes each that fits. */
PXT_TEST_FRESH(one_event_that_was_taken_makes_room_for_one)
{
	for (uint32_t i = 0; i < 43; i++)
		put_two(i, 0);
	CU_ASSERT_EQUAL(get(2).data[0], 0);
	put_two(43, 0);
	put_two(44, 0);
	for (uint32_t i = 1; i < 42; i++)
		CU_ASSERT_EQUAL(get(2).data[0], i);

	const struct got got = get(2);

	CU_ASSERT(got.data[0] == 43 && got.dropped == 1);
	CU_ASSERT_EQUAL(get(2).result, 0);
	put_two(45, 0);
	CU_ASSERT_EQUAL(get(2).dropped, 1);
}

/* ZEP-19: the event stays, and the size that it needs is written back. */
PXT_TEST_FRESH(a_small_buffer_is_refused_and_the_event_stays)
{
	struct got got;

	put_two(1, 2);
	put_two(3, 4);
	for (int i = 0; i < 3; i++) {
		got = get(1);
		CU_ASSERT(got.result == -EMSGSIZE && got.words == 2 && got.dropped == 0);
		CU_ASSERT_EQUAL(got.data[0], 0);
	}
	got = get(got.words);
	CU_ASSERT(got.result == 2 && got.data[0] == 1 && got.data[1] == 2);
	CU_ASSERT_EQUAL(get(2).data[0], 3);
}

/* ZEP-19: the standard's rule is the other one. */
PXT_TEST_FRESH(a_native_reader_with_a_small_buffer_gets_a_cut_event)
{
	struct posix_trace_event_info info;
	trace_id_t stream;
	uint32_t word = 0;
	size_t bytes = 0;
	int none = 1;

	CU_ASSERT_EQUAL_FATAL(posix_trace_create(0, NULL, &stream), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_start(stream), 0);
	put_two(1, 2);
	CU_ASSERT_EQUAL_FATAL(posix_trace_stop(stream), 0);
	do {
		CU_ASSERT_EQUAL_FATAL(
		    posix_trace_getnext_event(stream, &info, &word, sizeof(word), &bytes, &none),
		    0);
	} while (info.posix_event_id == POSIX_TRACE_START);
	CU_ASSERT(bytes == 4 && word == 1);
	CU_ASSERT_EQUAL(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	CU_ASSERT_EQUAL(get(2).result, 2);
	CU_ASSERT_EQUAL(posix_trace_shutdown(stream), 0);
}

/* ZEP-15, ZEP-18, ZEP-20: nothing there is 0, at once or after the time is over. */
PXT_TEST_FRESH(an_empty_buffer_says_so)
{
	struct got got = { .words = 2 };
	struct timespec before;
	struct timespec after;

	CU_ASSERT_EQUAL(get(2).result, 0);
	(void)clock_gettime(CLOCK_MONOTONIC, &before);
	CU_ASSERT_EQUAL(
	    sys_k_event_logger_get_wait_timeout(&got.id, &got.dropped, got.data, &got.words, 3), 0);
	(void)clock_gettime(CLOCK_MONOTONIC, &after);
	CU_ASSERT(
	    (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >=
	    3 * CONFIG_KERNEL_EVENT_LOGGER_TICK_MS - 1);
}

static void *put_later(void *context)
{
	const struct timespec while_it_waits = { 0, 30 * 1000000 };

	(void)context;
	(void)nanosleep(&while_it_waits, NULL);
	put_two(7, 8);
	(void)nanosleep(&while_it_waits, NULL);
	put_two(9, 10);
	return NULL;
}

static void *collects(void *context)
{
	struct got *got = context;

	got->result = sys_k_event_logger_get_wait(&got->id, &got->dropped, got->data, &got->words);
	return NULL;
}

/* ZEP-16, ZEP-18: both wait for an event that comes. */
PXT_TEST_FRESH(a_collector_waits_for_the_next_event)
{
	struct got got = { .words = 2 };
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, put_later, NULL), 0);
	CU_ASSERT_EQUAL(
	    sys_k_event_logger_get_wait(&got.id, &got.dropped, got.data, &got.words), 2);
	CU_ASSERT_EQUAL(got.data[0], 7);
	CU_ASSERT_EQUAL(
	    sys_k_event_logger_get_wait_timeout(&got.id, &got.dropped, got.data, &got.words, 6000),
	    2);
	CU_ASSERT_EQUAL(got.data[0], 9);
	CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
}

/* ZEP-15: it does not wait, not even for somebody who does. */
PXT_TEST_FRESH(asking_beside_a_collector_that_waits_does_not_wait)
{
	const struct timespec while_it_begins = { 0, 50 * 1000000 };
	struct got got = { .words = 2 };
	pthread_t collector;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&collector, NULL, collects, &got), 0);
	(void)nanosleep(&while_it_begins, NULL);
	(void)alarm(5);
	CU_ASSERT_EQUAL(get(2).result, 0);
	(void)alarm(0);
	put_two(1, 2);
	CU_ASSERT_EQUAL(pthread_join(collector, NULL), 0);
	CU_ASSERT_EQUAL(got.result, 2);
}

/* ZEP-11: the time alone, of the same clock as that of messages. */
PXT_TEST_FRESH(an_event_of_the_time_alone_has_one_word)
{
	const uint32_t before = kernel_event_time();
	struct got got;

	sys_k_event_logger_put_timed(CUSTOM);
	const uint32_t after = kernel_event_time();

	got = get(1);
	CU_ASSERT(got.result == 1 && got.id == CUSTOM);
	CU_ASSERT(got.data[0] - before <= after - before);
	sys_k_event_logger_put(CUSTOM, NULL, 0);
	got = get(1);
	CU_ASSERT(got.result == 0 && got.id == CUSTOM);
}

static uint32_t ticking = UINT32_MAX - 1;

static uint32_t tick(void)
{
	return ticking++;
}

/* ZEP-26, ZEP-28: the program's clock; 32 bits that run over, while the stream's own stamps do not. */
PXT_TEST_FRESH(the_programs_clock_runs_over_and_the_stamps_do_not)
{
	struct posix_trace_event_info info;
	struct timespec last = { 0, 0 };
	trace_id_t stream;
	uint32_t data[4];
	size_t bytes;
	int none = 0;
	int events = 0;

	CU_ASSERT_EQUAL_FATAL(posix_trace_create(0, NULL, &stream), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_start(stream), 0);
	sys_k_event_logger_set_timer(tick);
	for (int i = 0; i < 3; i++)
		sys_k_event_logger_put_timed(CUSTOM);
	kernel_event_interrupt(5);
	sys_k_event_logger_set_timer(NULL);
	sys_k_event_logger_put_timed(CUSTOM);
	CU_ASSERT_EQUAL(get(1).data[0], UINT32_MAX - 1);
	CU_ASSERT_EQUAL(get(1).data[0], UINT32_MAX);
	CU_ASSERT_EQUAL(get(1).data[0], 0);
	CU_ASSERT_EQUAL(get(2).data[0], 1);
	CU_ASSERT_EQUAL(get(1).result, 1);
	CU_ASSERT_EQUAL(ticking, 2);
	CU_ASSERT_EQUAL_FATAL(posix_trace_stop(stream), 0);
	while (
	    posix_trace_trygetnext_event(stream, &info, data, sizeof(data), &bytes, &none) == 0 &&
	    !none) {
		CU_ASSERT(info.posix_timestamp.tv_sec > last.tv_sec ||
		          (info.posix_timestamp.tv_sec == last.tv_sec &&
		              info.posix_timestamp.tv_nsec >= last.tv_nsec));
		last = info.posix_timestamp;
		events++;
	}
	CU_ASSERT(events >= 5);
	CU_ASSERT_EQUAL(posix_trace_shutdown(stream), 0);
}

/* ZEP-26: what a message's time is counted in. */
PXT_TEST_FRESH(the_clock_of_messages_has_its_rate)
{
	struct timespec before;
	struct timespec after;
	const uint32_t begun = kernel_event_time();

	(void)clock_gettime(CLOCK_MONOTONIC, &before);
	do
		(void)clock_gettime(CLOCK_MONOTONIC, &after);
	while ((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec <
	       10000000);
	/* Ten milliseconds at least. */
	CU_ASSERT(kernel_event_time() - begun >= SYS_CLOCK_HW_CYCLES_PER_SEC / 101);
	CU_ASSERT(SYS_CLOCK_HW_CYCLES_PER_SEC >= 1000000);
}

/* ZEP-30, ZEP-31, ZEP-32, ZEP-33, ZEP-34, ZEP-35, ZEP-36: number and words of each, ZEP-04 to ZEP-06 and ZEP-09: all are on. */
PXT_TEST_FRESH(the_six_messages_have_their_numbers_and_words)
{
	static const struct {
		uint16_t id;
		int words;
		uint32_t second;
		uint32_t third;
	} wanted[] = {
		{ 1, 2, 0x100, 0 },
		{ 2, 2, 14, 0 },
		{ 3, 3, 0, 15 },
		{ 4, 3, 0x200, 3 },
		{ 5, 3, 0x200, 0x4000 },
		{ 6, 2, 9, 0 },
	};
	const uint32_t before = kernel_event_time();

	kernel_event_context_switch(0x100);
	kernel_event_interrupt(14);
	kernel_event_sleep(before, 15);
	kernel_event_task_state(0x200, 3);
	kernel_event_command_packet(0x200, 0x4000);
	kernel_event_kevent(9);
	const uint32_t after = kernel_event_time();

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct got got = get(3);

		CU_ASSERT(got.id == wanted[i].id && got.result == wanted[i].words);
		CU_ASSERT(got.data[0] - before <= after - before);
		CU_ASSERT_EQUAL(got.data[2], wanted[i].third);
		CU_ASSERT(got.id == 3 ? got.data[1] - before <= after - before
		                      : got.data[1] == wanted[i].second);
	}
}

/* ZEP-27: who collects is not seen to do so; its other events are. */
PXT_TEST_FRESH(the_collectors_own_switches_are_not_recorded)
{
	kernel_event_context_switch(1);
	sys_k_event_logger_register_as_collector();
	kernel_event_context_switch(2);
	kernel_event_interrupt(3);
	CU_ASSERT_EQUAL(get(2).data[1], 1);
	CU_ASSERT_EQUAL(get(2).data[1], 3);
	CU_ASSERT_EQUAL(get(2).result, 0);
}

/* ZEP-10, ZEP-12, ZEP-40: 16 bits of identifier, up to 255 words; what is refused is counted. */
PXT_TEST_FRESH(identifiers_and_lengths_have_their_bounds)
{
	static const uint16_t ids[] = { 1, 7, 31, 32, 33, 34, 255, 1023, 65535 };
	uint32_t data[255];
	struct got got;

	for (uint32_t i = 0; i < ARRAY_SIZE(data); i++)
		data[i] = i * 3;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		sys_k_event_logger_put(ids[i], data, (uint8_t)i);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		got = get(10);
		CU_ASSERT(got.id == ids[i] && got.result == (int)i);
		CU_ASSERT_EQUAL(memcmp(got.data, data, i * sizeof(data[0])), 0);
	}
	sys_k_event_logger_put_timed(40000);
	got = get(1);
	CU_ASSERT(got.id == 40000 && got.result == 1);
	/* As much as there is room for, and one word more. */
	sys_k_event_logger_put(CUSTOM, data, 127);
	got = get(255);
	CU_ASSERT(got.result == 127 && got.data[126] == 126 * 3);
	sys_k_event_logger_put(CUSTOM, data, 128);
	sys_k_event_logger_put(CUSTOM, data, 255);
	sys_k_event_logger_put(0, data, 1);
	sys_k_event_logger_put_timed(0);
	sys_k_event_logger_put(CUSTOM, NULL, 1);
	CU_ASSERT_EQUAL(get(255).result, 0);
	put_two(1, 1);
	CU_ASSERT_EQUAL(get(2).dropped, 5);
}

PXT_TEST_FRESH(calls_without_somewhere_to_put_the_event_are_refused)
{
	struct got got = { .words = 2 };

	put_two(1, 2);
	CU_ASSERT_EQUAL(sys_k_event_logger_get(NULL, &got.dropped, got.data, &got.words), -EINVAL);
	CU_ASSERT_EQUAL(sys_k_event_logger_get(&got.id, NULL, got.data, &got.words), -EINVAL);
	CU_ASSERT_EQUAL(
	    sys_k_event_logger_get_wait(&got.id, &got.dropped, NULL, &got.words), -EINVAL);
	CU_ASSERT_EQUAL(
	    sys_k_event_logger_get_wait_timeout(&got.id, &got.dropped, got.data, NULL, 1), -EINVAL);
	CU_ASSERT_EQUAL(get(2).result, 2);
}

/* ZEP-17: eight bits tell 255 or more; other streams have what the logger's own refused. */
PXT_TEST_FRESH(more_than_255_refused_events_read_as_255)
{
	struct posix_trace_event_info info;
	trace_id_t stream;
	uint32_t data[4];
	size_t bytes;
	int none = 0;
	uint32_t seen = 0;

	CU_ASSERT_EQUAL_FATAL(posix_trace_create(0, NULL, &stream), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_start(stream), 0);
	for (uint32_t i = 0; i < 42 + 300; i++)
		put_two(i, 0);
	while (get(2).result != 0) {
	}
	put_two(0, 0);
	CU_ASSERT_EQUAL(get(2).dropped, 255);
	CU_ASSERT_EQUAL_FATAL(posix_trace_stop(stream), 0);
	while (
	    posix_trace_trygetnext_event(stream, &info, data, sizeof(data), &bytes, &none) == 0 &&
	    !none)
		seen += info.posix_event_id > POSIX_TRACE_UNNAMED_USEREVENT;
	CU_ASSERT_EQUAL(seen, 42 + 300 + 1);
	CU_ASSERT_EQUAL(posix_trace_shutdown(stream), 0);
}

/* One stream of the process has both, in the order in which they were recorded. */
PXT_TEST_FRESH(native_events_stand_in_order_between_the_loggers)
{
	struct posix_trace_event_info info;
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t native;
	trace_id_t stream;
	uint32_t data[4];
	size_t bytes;
	int none = 0;
	uint32_t next = 0;

	CU_ASSERT_EQUAL_FATAL(posix_trace_eventid_open("native", &native), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_create(0, NULL, &stream), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_start(stream), 0);
	for (uint32_t i = 0; i < 40; i += 2) {
		const uint32_t odd = i + 1;

		put_two(i, 0);
		posix_trace_event(native, &odd, sizeof(odd));
	}
	CU_ASSERT_EQUAL_FATAL(posix_trace_stop(stream), 0);
	while (
	    posix_trace_trygetnext_event(stream, &info, data, sizeof(data), &bytes, &none) == 0 &&
	    !none) {
		if (info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		CU_ASSERT_EQUAL(posix_trace_eventid_get_name(stream, info.posix_event_id, name), 0);
		CU_ASSERT_STRING_EQUAL(name, next % 2 ? "native" : "zephyr_event_8");
		CU_ASSERT_EQUAL(data[0], next);
		next++;
	}
	CU_ASSERT_EQUAL(next, 40);
	/* And the collector is given the logger's alone. */
	for (uint32_t i = 0; i < 40; i += 2) {
		const struct got got = get(2);

		CU_ASSERT(got.data[0] == i && got.dropped == 0);
	}
	CU_ASSERT_EQUAL(get(2).result, 0);
	CU_ASSERT_EQUAL(posix_trace_shutdown(stream), 0);
}

#define WRITERS 4
#define EACH    20000

static void *writes(void *context)
{
	for (uint32_t i = 0; i < EACH; i++)
		put_two(*(const uint32_t *)context, i);
	return NULL;
}

/* Whatever four threads put is taken or counted, and each thread's events come in their order. */
PXT_TEST_FRESH(nothing_is_lost_without_a_count_beside_other_threads)
{
	const uint32_t names[WRITERS] = { 0, 1, 2, 3 };
	uint32_t last[WRITERS] = { 0 };
	pthread_t threads[WRITERS];
	struct got got;
	uint64_t taken = 0;
	uint64_t dropped = 0;
	bool saturated = false;
	const uint64_t all = WRITERS * EACH;

	for (uint32_t i = 0; i < WRITERS; i++)
		CU_ASSERT_EQUAL_FATAL(
		    pthread_create(&threads[i], NULL, writes, (void *)(uintptr_t)&names[i]), 0);
	for (int idle = 0; idle < 20 && taken + dropped < all;) {
		got = (struct got){ .words = 2 };
		got.result = sys_k_event_logger_get_wait_timeout(
		    &got.id, &got.dropped, got.data, &got.words, 1);
		if (got.result == 0) {
			idle++;
			continue;
		}
		taken++;
		dropped += got.dropped;
		saturated |= got.dropped == UINT8_MAX;
		CU_ASSERT(got.data[0] < WRITERS && got.data[1] + 1 > last[got.data[0]]);
		last[got.data[0] % WRITERS] = got.data[1] + 1;
	}
	for (uint32_t i = 0; i < WRITERS; i++)
		CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
	while (get(2).result != 0)
		taken++;
	put_two(0, 0);
	got = get(2);
	dropped += got.dropped;
	saturated |= got.dropped == UINT8_MAX;
	CU_ASSERT(saturated ? taken + dropped <= all : taken + dropped == all);
	/* All the room is there again. */
	for (uint32_t i = 0; i < 43; i++)
		put_two(i, 0);
	for (uint32_t i = 0; i < 42; i++)
		CU_ASSERT_EQUAL(get(2).data[0], i);
	CU_ASSERT_EQUAL(get(2).result, 0);
}
