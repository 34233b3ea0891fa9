/* SPDX-License-Identifier: MIT */
/* log_flush.c - streams with a log: flushes by call and by policy FLUSH. */
#include "story.h"

#include "../suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define MARKS "FLUSH_START FLUSH_STOP"

/* ---- Flush ---- */

/* FLUSH-01, FLUSH-05, SYS-09, DEC-13 */
PXT_TEST(flushes_of_a_running_stream_are_marked_and_duplicate_nothing)
{
	struct st_spec spec = { .policy = POSIX_TRACE_UNTIL_FULL };
	trace_id_t trid = lk_logging(&spec);
	trace_id_t log;

	st_say_many(1, 3);
	PXT_EQ(posix_trace_flush(trid), 0);
	st_say_many(4, 6);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	st_say(7);
	PXT_EQ(posix_trace_stop(trid), 0);
	log = lk_finish(trid, &spec);
	st_expect(log, "START 1..3 FLUSH_START FLUSH_STOP 4..6 FLUSH_START FLUSH_STOP FLUSH_START "
	               "FLUSH_STOP 7 STOP0");
	lk_close_log(log, spec.fd);
}

/* FLUSH-03, FLUSH-06, POL-08, POL-09, DEC-10, DEC-13 (order of ruling 14) */
PXT_TEST(a_flush_frees_the_stream_and_restarts_it)
{
	struct st_spec spec = { .policy = POSIX_TRACE_UNTIL_FULL, .size = 2048 };
	struct st_full full;
	trace_id_t log;

	spec.with_log = true;
	spec.fd = pxt_temp_file();
	st_pin(true);
	trace_id_t trid = st_full_stream(&spec, false, &full);
	st_expect_status(trid, "SUSPENDED FULL NO_OVERRUN");
	PXT_EQ(posix_trace_flush(trid), 0);
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	st_say(1000);
	log = lk_finish(trid, &spec);
	st_expect(log,
	    st_text("START 1..%d STOP1 FLUSH_START FLUSH_STOP START 1000 STOP0", full.recorded));
	lk_close_log(log, spec.fd);
	st_pin(false);
}

/* FLUSH-06, DEC-13 */
PXT_TEST(an_empty_and_a_stopped_stream_can_be_flushed)
{
	struct st_spec spec = {
		.policy = POSIX_TRACE_LOOP, .with_log = true, .fd = pxt_temp_file()
	};
	trace_id_t trid = st_create(&spec);
	trace_id_t log;

	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	st_say(1);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	log = lk_finish(trid, &spec);
	st_expect_without(log, MARKS, "START 1 STOP0");
	lk_close_log(log, spec.fd);
}

/* DEC-13: what the application stopped ends with its STOP */
PXT_TEST(flushing_a_stopped_stream_adds_no_marks)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = lk_logging(&spec);
	trace_id_t log;

	st_say(1);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	log = lk_finish(trid, &spec);
	st_expect(log, "START 1 STOP0");
	lk_close_log(log, spec.fd);
}

static atomic_int flush_result;

static void *flush_in_thread(void *argument)
{
	atomic_store(&flush_result, posix_trace_flush(*(const trace_id_t *)argument));
	return NULL;
}

static atomic_long swallowed;

static void *swallow(void *argument)
{
	int fd = *(const int *)argument;
	static char bytes[65536];
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0)
		atomic_fetch_add(&swallowed, got);
	return NULL;
}

static int flush_status_of(trace_id_t trid)
{
	struct posix_trace_status_info status = { 0 };

	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	return status.posix_stream_flush_status;
}

/* More than a pipe takes, also where a log takes few bytes for data that is like that before it. */
#define JUNK       1800
#define JUNK_BYTES 64

static void record_junk(void)
{
	unsigned char data[JUNK_BYTES];
	unsigned drawn = 1;

	for (int i = 0; i < JUNK; i++) {
		for (size_t j = 0; j < sizeof(data); j++) {
			drawn = drawn * 1664525u + 1013904223u;
			data[j] = (unsigned char)(drawn >> 24);
		}
		posix_trace_event(st_type(), data, sizeof(data));
	}
}

/* STA-04, FLUSH-01, FLUSH-02: the log is a pipe that nobody reads for a while */
PXT_TEST(the_status_shows_a_flush_under_way_and_tracing_goes_on_meanwhile)
{
	int fds[2];
	int error = 0;
	int looks = 0;
	pthread_t flusher;
	pthread_t reader;
	trace_attr_t attr;
	trace_id_t trid = 0;
	struct posix_trace_counts_np before;
	struct posix_trace_counts_np after;

	PXT_EQ_FATAL(pipe(fds), 0);
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, 1 << 18), 0);
	error = posix_trace_create_withlog(0, &attr, fds[1], &trid);
	PXT_EQ_FATAL(error, 0);
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(flush_status_of(trid), POSIX_TRACE_NOT_FLUSHING);
	record_junk();
	atomic_store(&flush_result, -1);
	PXT_EQ_FATAL(pthread_create(&flusher, NULL, flush_in_thread, &trid), 0);
	while (flush_status_of(trid) != POSIX_TRACE_FLUSHING && ++looks < 2000)
		pxt_sleep_ms(1);
	CU_ASSERT(looks < 2000);
	pxt_sleep_ms(50);
	PXT_EQ(flush_status_of(trid), POSIX_TRACE_FLUSHING);
	PXT_EQ(atomic_load(&flush_result), -1);
	PXT_EQ(posix_trace_getcounts_np(trid, &before, sizeof(before)), 0);
	st_say_many(1, 100);
	PXT_EQ(posix_trace_getcounts_np(trid, &after, sizeof(after)), 0);
	PXT_EQ(after.posix_written_np - before.posix_written_np, 100);
	PXT_EQ(after.posix_lost_np, before.posix_lost_np);
	PXT_EQ_FATAL(pthread_create(&reader, NULL, swallow, &fds[0]), 0);
	(void)pthread_join(flusher, NULL);
	PXT_EQ(atomic_load(&flush_result), 0);
	PXT_EQ(flush_status_of(trid), POSIX_TRACE_NOT_FLUSHING);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fds[1]);
	(void)pthread_join(reader, NULL);
	CU_ASSERT(atomic_load(&swallowed) > JUNK * JUNK_BYTES);
	(void)close(fds[0]);
}

/* What the flusher makes has a stamp of its own, of all 64 bits. */
PXT_TEST(the_marks_of_a_flush_are_stamped_between_what_is_around_them)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 1 };
	trace_id_t trid = lk_logging(&spec);
	struct posix_trace_eventextra_np extra;
	struct posix_trace_event_info info;
	uint64_t last = 0;
	unsigned events = 0;
	int unavailable = 0;
	char data[256];
	trace_id_t log;
	size_t len;

	for (int i = 1; i <= 5; i++) {
		st_say(i);
		PXT_EQ(posix_trace_flush(trid), 0);
	}
	st_say(6);
	log = lk_finish(trid, &spec);
	for (;;) {
		PXT_EQ_FATAL(
		    posix_trace_getnext_event(log, &info, data, sizeof(data), &len, &unavailable),
		    0);
		if (unavailable)
			break;
		PXT_EQ(posix_trace_eventinfo_getextra_np(&info, &extra, sizeof(extra)), 0);
		PXT_CHECK(extra.posix_ticks_np >= last, "event %u, of type %u", events,
		    (unsigned)info.posix_event_id);
		/* A second of any counter is less than that. */
		if (events)
			CU_ASSERT(extra.posix_ticks_np - last < UINT64_C(600000000000));
		last = extra.posix_ticks_np;
		events++;
	}
	PXT_EQ(events, 1 + 6 + 2 * 5 + 1);
	lk_close_log(log, spec.fd);
}

/* ---- The FLUSH policy ---- */

/* POL-11, POL-08, CRLOG-03, SYS-09, DEC-13 */
PXT_TEST(under_flush_the_stream_empties_itself_into_the_log)
{
	struct st_spec spec = {
		.policy = POSIX_TRACE_FLUSH, .size = 1 << 14, .log_policy = POSIX_TRACE_APPEND
	};
	trace_id_t trid = lk_logging(&spec);
	struct posix_trace_counts_np counts;
	struct st_event event;
	trace_id_t log;
	int seen = 0;
	int flushes = 0;

	for (int i = 1; i <= 20000; i++) {
		st_say(i);
		if (i % 100 == 0)
			pxt_sleep_ms(2);
	}
	CU_ASSERT(st_law(trid, &counts));
	log = lk_finish(trid, &spec);
	while (st_take(log, &event)) {
		flushes += event.info.posix_event_id == POSIX_TRACE_FLUSH_START;
		if (event.info.posix_event_id != st_type())
			continue;
		CU_ASSERT(st_number(&event) > seen);
		seen = st_number(&event);
	}
	PXT_EQ(seen, 20000);
	CU_ASSERT(flushes > 10);
	CU_ASSERT(counts.posix_retrieved_np > 10000);
	lk_close_log(log, spec.fd);
}

struct tale {
	bool running;
	bool flushing;
	int overflows;
	int last;
	int events;
	int rounds; /* automatic stops */
	int mistakes;
};

/* STOP only while running, START only while not, FLUSH_STOP only after FLUSH_START, ... */
static void follow(struct tale *tale, const struct st_event *event)
{
	trace_event_id_t id = event->info.posix_event_id;

	if (id == POSIX_TRACE_START || id == POSIX_TRACE_STOP) {
		tale->mistakes += tale->running == (id == POSIX_TRACE_START);
		tale->running = id == POSIX_TRACE_START;
		tale->rounds += id == POSIX_TRACE_STOP;
	} else if (id == POSIX_TRACE_FLUSH_START || id == POSIX_TRACE_FLUSH_STOP) {
		tale->mistakes += tale->flushing == (id == POSIX_TRACE_FLUSH_START);
		tale->flushing = id == POSIX_TRACE_FLUSH_START;
	} else if (id == POSIX_TRACE_OVERFLOW) {
		tale->overflows++;
	} else if (id == POSIX_TRACE_RESUME) {
		tale->mistakes += --tale->overflows != 0;
	} else if (id == st_type()) {
		tale->mistakes += tale->overflows != 0;
		tale->mistakes += st_number(event) <= tale->last;
		tale->last = st_number(event);
		tale->events++;
	}
}

/* The stream was full: until the flusher has made room, however busy the machine is. */
static void wait_for_room(trace_id_t trid)
{
	struct posix_trace_status_info status = { .posix_stream_status = 0 };
	int tries = 5000;

	do {
		pxt_sleep_ms(1);
		PXT_EQ_FATAL(posix_trace_get_status(trid, &status), 0);
	} while (status.posix_stream_status != POSIX_TRACE_RUNNING && --tries);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_RUNNING);
}

/* POL-11, POL-12, SYS-08, SYS-09, DEC-11, DEC-12, DEC-13: faster than the log can take it */
PXT_TEST(under_flush_pauses_and_losses_are_told_and_counted)
{
	struct st_spec spec = {
		.policy = POSIX_TRACE_FLUSH, .size = 2048, .log_policy = POSIX_TRACE_APPEND
	};
	const int written = 200000;
	trace_id_t trid = lk_logging(&spec);
	struct posix_trace_counts_np counts;
	struct tale tale = { 0 };
	struct st_event event;
	trace_id_t log;

	for (int i = 0; i < written; i += written / 20) {
		st_say_many(i + 1, i + written / 20);
		wait_for_room(trid);
	}
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(counts.posix_held_np, 0);
	CU_ASSERT(counts.posix_written_np >= (uint64_t)written + 1);
	CU_ASSERT(counts.posix_written_np <= (uint64_t)written + 2);
	log = lk_finish(trid, &spec);
	while (st_take(log, &event))
		follow(&tale, &event);
	PXT_EQ(tale.mistakes, 0);
	CU_ASSERT(tale.rounds > 1);
	CU_ASSERT_FALSE(tale.running);
	/* START, perhaps STOP, and every event that was not lost. */
	CU_ASSERT((uint64_t)tale.events + counts.posix_lost_np >= (uint64_t)written);
	PXT_CHECK((uint64_t)tale.events + 2 >= counts.posix_retrieved_np &&
	              (uint64_t)tale.events <= counts.posix_retrieved_np,
	    "%d in the log, %llu retrieved", tale.events,
	    (unsigned long long)counts.posix_retrieved_np);
	lk_close_log(log, spec.fd);
}
