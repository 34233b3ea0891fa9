/* SPDX-License-Identifier: MIT */
/* retrieval.c - getnext, timedgetnext, trygetnext on streams without log. */
#include "story.h"

#include "../suite.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const struct st_spec plain;

/* One reader that waits in a thread of its own; what it got is looked at after it was joined. */
struct reader {
	trace_id_t trid;
	const struct timespec *abstime; /* NULL: getnext */
	struct posix_trace_event_info info;
	unsigned char data[64];
	size_t len;
	int unavailable;
	int error;
	atomic_int returned;
	pthread_t thread;
};

static void *read_one(void *argument)
{
	struct reader *reader = (struct reader *)argument;

	reader->unavailable = 77;
	if (reader->abstime != NULL)
		reader->error =
		    posix_trace_timedgetnext_event(reader->trid, &reader->info, reader->data,
		        sizeof(reader->data), &reader->len, &reader->unavailable, reader->abstime);
	else
		reader->error = posix_trace_getnext_event(reader->trid, &reader->info, reader->data,
		    sizeof(reader->data), &reader->len, &reader->unavailable);
	atomic_store(&reader->returned, 1);
	return NULL;
}

static void start_reader(struct reader *reader, trace_id_t trid, const struct timespec *abstime)
{
	memset(reader, 0, sizeof(*reader));
	reader->trid = trid;
	reader->abstime = abstime;
	PXT_EQ_FATAL(pthread_create(&reader->thread, NULL, read_one, reader), 0);
	pxt_sleep_ms(30);
}

/* Waits up to 30 seconds for the reader to return; false: it still waits. */
static bool has_returned(struct reader *reader)
{
	for (int i = 0; i < 30000 && !atomic_load(&reader->returned); i++)
		pxt_sleep_ms(1);
	return atomic_load(&reader->returned) != 0;
}

static void join_reader(struct reader *reader)
{
	bool returned = has_returned(reader);

	PXT_CHECK(returned, "the reader was not released");
	if (returned)
		(void)pthread_join(reader->thread, NULL);
}

/* ---- What a reader gets ---- */

/* GETNX-01, GETNX-02, TRYNX-01, TIMED-01 */
PXT_TEST(the_three_functions_report_the_oldest_event_with_its_data)
{
	trace_id_t trid = st_started(&plain);
	struct posix_trace_event_info info;
	char data[16];
	size_t len = 99;
	int unavailable = 77;
	const struct timespec past = { 0, 0 };

	st_expect(trid, "START");
	posix_trace_event(st_type(), "first", 5);
	posix_trace_event(st_type(), "second", 6);
	posix_trace_event(st_type(), "third", 5);
	PXT_EQ(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, &unavailable), 0);
	PXT_EQ(unavailable, 0);
	PXT_EQ(len, 5);
	CU_ASSERT(memcmp(data, "first", 5) == 0);
	PXT_EQ(info.posix_event_id, st_type());
	unavailable = 77;
	PXT_EQ(posix_trace_timedgetnext_event(
	           trid, &info, data, sizeof(data), &len, &unavailable, &past),
	    0);
	PXT_EQ(unavailable, 0);
	PXT_EQ(len, 6);
	CU_ASSERT(memcmp(data, "second", 6) == 0);
	unavailable = 77;
	PXT_EQ(
	    posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len, &unavailable), 0);
	PXT_EQ(unavailable, 0);
	PXT_EQ(len, 5);
	CU_ASSERT(memcmp(data, "third", 5) == 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* mistake 4, TRYNX-02, GETNX-05 */
PXT_TEST(trygetnext_without_an_event_is_no_error)
{
	trace_id_t trid = st_create(&plain);
	struct posix_trace_event_info info;
	size_t len = 99;
	int unavailable;

	for (int i = 0; i < 3; i++) {
		unavailable = 0;
		PXT_EQ(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable), 0);
		CU_ASSERT(unavailable != 0);
		if (i == 0)
			PXT_EQ(posix_trace_start(trid), 0);
		if (i < 2)
			(void)st_story_of(trid, 10);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* POL-14, GETNX-08 */
PXT_TEST(events_are_read_while_running_and_while_suspended)
{
	trace_id_t trid = st_started(&plain);

	st_say(1);
	st_expect_most(trid, 2, "START 1");
	st_say(2);
	PXT_EQ(posix_trace_stop(trid), 0);
	st_expect(trid, "2 STOP0");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-33, TRYNX-02 */
PXT_TEST(without_an_event_the_outputs_are_left_alone)
{
	trace_id_t trid = st_create(&plain);
	struct posix_trace_event_info info;
	struct posix_trace_event_info untouched;
	char data[4] = "abc";
	size_t len = 99;
	int unavailable = 0;
	const struct timespec past = { 0, 0 };

	memset(&info, 0x5a, sizeof(info));
	untouched = info;
	PXT_EQ(posix_trace_trygetnext_event(trid, &info, data, 4, &len, &unavailable), 0);
	PXT_EQ(posix_trace_timedgetnext_event(trid, &info, data, 4, &len, &unavailable, &past),
	    ETIMEDOUT);
	PXT_EQ(len, 99);
	CU_ASSERT_STRING_EQUAL(data, "abc");
	CU_ASSERT(memcmp(&info, &untouched, sizeof(info)) == 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Waiting ---- */

/* GETNX-03, DEC-38 */
PXT_TEST(getnext_waits_until_an_event_comes)
{
	trace_id_t trid = st_started(&plain);
	struct reader reader;

	st_expect(trid, "START");
	start_reader(&reader, trid, NULL);
	PXT_EQ(atomic_load(&reader.returned), 0);
	posix_trace_event(st_type(), "here", 4);
	join_reader(&reader);
	PXT_EQ(reader.error, 0);
	PXT_EQ(reader.unavailable, 0);
	PXT_EQ(reader.len, 4);
	CU_ASSERT(memcmp(reader.data, "here", 4) == 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* GETNX-03, POL-14, DEC-38: also in a suspended stream, and the START event releases it */
PXT_TEST(getnext_waits_in_a_suspended_stream_and_start_releases_it)
{
	trace_id_t trid = st_create(&plain);
	struct reader reader;

	start_reader(&reader, trid, NULL);
	st_say(1);
	PXT_EQ(posix_trace_stop(trid), 0);
	pxt_sleep_ms(20);
	PXT_EQ(atomic_load(&reader.returned), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	join_reader(&reader);
	PXT_EQ(reader.error, 0);
	PXT_EQ(reader.info.posix_event_id, POSIX_TRACE_START);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* GETNX-03, DEC-38 */
PXT_TEST(stop_releases_a_waiting_reader_with_the_stop_event)
{
	trace_id_t trid = st_started(&plain);
	struct reader reader;

	st_expect(trid, "START");
	start_reader(&reader, trid, NULL);
	PXT_EQ(posix_trace_stop(trid), 0);
	join_reader(&reader);
	PXT_EQ(reader.error, 0);
	PXT_EQ(reader.info.posix_event_id, POSIX_TRACE_STOP);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if _PXT_UNIT_FILTER
/* GETNX-03, DEC-38 */
PXT_TEST(a_filter_change_releases_a_waiting_reader_with_the_filter_event)
{
	trace_id_t trid = st_started(&plain);
	trace_event_set_t set;
	struct reader reader;

	st_expect(trid, "START");
	start_reader(&reader, trid, NULL);
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	join_reader(&reader);
	PXT_EQ(reader.error, 0);
	PXT_EQ(reader.info.posix_event_id, POSIX_TRACE_FILTER);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

static void say_in_handler(int signal)
{
	st_say(42);
}

/* DEC-38, EVENT-07 */
PXT_TEST(an_event_from_a_signal_handler_releases_a_waiting_reader)
{
	trace_id_t trid = st_started(&plain);
	struct reader reader;
	int number = 0;

	st_on_signal(SIGUSR1, say_in_handler);
	st_expect(trid, "START");
	start_reader(&reader, trid, NULL);
	(void)raise(SIGUSR1);
	join_reader(&reader);
	PXT_EQ(reader.error, 0);
	PXT_EQ(reader.len, sizeof(number));
	memcpy(&number, reader.data, sizeof(number));
	PXT_EQ(number, 42);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* GETNX-03: with readers that poll */
PXT_TEST(a_polling_reader_is_given_events_too)
{
	trace_attr_t attr;
	trace_id_t trid = 0;
	struct reader reader;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setpolling_np(&attr, 1), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	st_expect(trid, "START");
	start_reader(&reader, trid, NULL);
	PXT_EQ(atomic_load(&reader.returned), 0);
	st_say(1);
	join_reader(&reader);
	PXT_EQ(reader.error, 0);
	start_reader(&reader, trid, NULL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	join_reader(&reader);
	PXT_EQ(reader.error, EINVAL);
}

/* SAFE-07, SHUT-04, GETNX-05, DEC-33 */
PXT_TEST(shutdown_releases_all_waiting_readers_with_einval)
{
	trace_id_t trid = st_started(&plain);
	const struct timespec late = pxt_in_ms(60000);
	static struct reader readers[4];

	st_expect(trid, "START");
	for (int i = 0; i < 4; i++)
		start_reader(&readers[i], trid, i & 1 ? &late : NULL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (int i = 0; i < 4; i++) {
		join_reader(&readers[i]);
		PXT_EQ(readers[i].error, EINVAL);
		CU_ASSERT(readers[i].unavailable != 0 && readers[i].unavailable != 77);
	}
}

/* GETNX-E2, TIMED-E3, GETNX-05, DEC-35 */
PXT_TEST(a_signal_handler_interrupts_a_waiting_reader_and_no_event_is_consumed)
{
	const struct timespec late = pxt_in_ms(60000);

	st_on_signal(SIGUSR2, NULL);
	for (int timed = 0; timed < 2; timed++) {
		trace_id_t trid = st_started(&plain);
		struct reader reader;

		st_expect(trid, "START");
		start_reader(&reader, trid, timed ? &late : NULL);
		for (int i = 0; i < 6000 && !atomic_load(&reader.returned); i++) {
			(void)pthread_kill(reader.thread, SIGUSR2);
			pxt_sleep_ms(5);
		}
		join_reader(&reader);
		PXT_EQ(reader.error, EINTR);
		CU_ASSERT(reader.unavailable != 0 && reader.unavailable != 77);
		st_say(1);
		st_expect(trid, "1");
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/* GETNX-02, GETNX-E2: with an event at hand a pending signal does not matter */
PXT_TEST(an_available_event_is_reported_in_spite_of_signals)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } };
	const struct itimerval off = { { 0, 0 }, { 0, 0 } };
	const struct st_spec spec = { .size = 1 << 20 };
	struct posix_trace_event_info info;
	trace_id_t trid;
	size_t len;
	int unavailable;

	st_on_signal(SIGALRM, NULL);
	trid = st_started(&spec);
	for (int i = 0; i < 5000; i++)
		st_say(i);
	(void)setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 5001; i++)
		PXT_EQ(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable), 0);
	(void)setitimer(ITIMER_REAL, &off, NULL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Time limits ---- */

/* TIMED-02, TIMED-E4 */
PXT_TEST(a_limit_in_the_past_is_etimedout_at_once)
{
	trace_id_t trid = st_create(&plain);
	const struct timespec pasts[] = { { 0, 0 }, { 1, 999999999 }, { -5, 0 }, pxt_in_ms(-1) };
	struct posix_trace_event_info info;
	size_t len;

	for (size_t i = 0; i < sizeof(pasts) / sizeof(pasts[0]); i++) {
		int64_t before = pxt_now_ns();
		int unavailable = 0;

		PXT_EQ(posix_trace_timedgetnext_event(
		           trid, &info, NULL, 0, &len, &unavailable, &pasts[i]),
		    ETIMEDOUT);
		CU_ASSERT(unavailable != 0);
		CU_ASSERT(pxt_now_ns() - before < 1000000000);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TIMED-01, TIMED-04, TIMED-E4 */
PXT_TEST(timedgetnext_waits_until_its_limit_and_not_less)
{
	trace_id_t trid = st_started(&plain);
	struct posix_trace_event_info info;
	struct timespec limit = pxt_in_ms(60);
	size_t len;
	int unavailable = 0;

	st_expect(trid, "START");
	PXT_EQ(posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len, &unavailable, &limit),
	    ETIMEDOUT);
	CU_ASSERT(unavailable != 0);
	CU_ASSERT(pxt_now_ns() >= pxt_ns(&limit));
	CU_ASSERT(pxt_now_ns() - pxt_ns(&limit) < 2000000000);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TIMED-01, DEC-38 */
PXT_TEST(timedgetnext_returns_an_event_that_comes_before_its_limit)
{
	trace_id_t trid = st_started(&plain);
	const struct timespec limit = pxt_in_ms(60000);
	struct reader reader;

	st_expect(trid, "START");
	start_reader(&reader, trid, &limit);
	PXT_EQ(atomic_load(&reader.returned), 0);
	st_say(7);
	join_reader(&reader);
	PXT_EQ(reader.error, 0);
	PXT_EQ(reader.unavailable, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TIMED-03, TIMED-E2, DEC-33 */
PXT_TEST(an_invalid_limit_matters_only_when_it_would_have_to_wait)
{
	trace_id_t trid = st_started(&plain);
	const struct timespec bad[] = { { 0, -1 }, { 0, 1000000000 }, { 2000000000, 1000000000 } };
	struct posix_trace_event_info info;
	size_t len;

	st_expect(trid, "START");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int unavailable = 0;

		PXT_EQ(posix_trace_timedgetnext_event(
		           trid, &info, NULL, 0, &len, &unavailable, &bad[i]),
		    EINVAL);
		CU_ASSERT(unavailable != 0);
		st_say(1);
		PXT_EQ(posix_trace_timedgetnext_event(
		           trid, &info, NULL, 0, &len, &unavailable, &bad[i]),
		    0);
		PXT_EQ(unavailable, 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if TRACE_SYS_MAX >= _POSIX_TRACE_SYS_MAX /* and has memory for so many events */
/* ---- Several readers ---- */

#define READERS 4
#define EVENTS  40000

static atomic_int times_seen[EVENTS];
static atomic_int strange;

static void *read_shared(void *argument)
{
	const trace_id_t *trid = (const trace_id_t *)argument;
	int before = -1;

	for (;;) {
		struct posix_trace_event_info info;
		int number = -1;
		size_t len = 0;
		int unavailable;

		if (posix_trace_getnext_event(
		        *trid, &info, &number, sizeof(number), &len, &unavailable) != 0)
			return NULL;
		if (info.posix_event_id != st_type())
			continue;
		if (number < 0 || number >= EVENTS || len != sizeof(number) || number <= before)
			atomic_fetch_add(&strange, 1);
		else
			atomic_fetch_add(&times_seen[number], 1);
		before = number;
	}
}

/* GETNX-06, DEC-38 */
PXT_TEST(several_readers_share_the_events_each_of_which_is_reported_once)
{
	const struct st_spec spec = { .size = 4u << 20 };
	trace_id_t trid = st_started(&spec);
	pthread_t threads[READERS];
	struct posix_trace_counts_np counts;
	int wrong = 0;

	for (int i = 0; i < READERS; i++)
		PXT_EQ_FATAL(pthread_create(&threads[i], NULL, read_shared, &trid), 0);
	for (int i = 0; i < EVENTS; i++)
		st_say(i);
	do {
		pxt_sleep_ms(1);
		PXT_EQ_FATAL(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	} while (counts.posix_held_np != 0);
	pxt_sleep_ms(20);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (int i = 0; i < READERS; i++)
		(void)pthread_join(threads[i], NULL);
	for (int i = 0; i < EVENTS; i++)
		wrong += atomic_load(&times_seen[i]) != 1;
	PXT_EQ(counts.posix_lost_np, 0);
	PXT_EQ(wrong, 0);
	PXT_EQ(atomic_load(&strange), 0);
}
#endif
