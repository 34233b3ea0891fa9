/* SPDX-License-Identifier: MIT */
/*
 * window.c - what a snapshot holds of a stream, of every policy and in every state, and that it
 * changes nothing in the stream.
 */
#include "conformance/story.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKS "FLUSH_START FLUSH_STOP"

static void end(trace_id_t trid)
{
	CU_ASSERT(st_law(trid, NULL));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- What is in it ---- */

static const struct st_spec plain[] = {
	{ .policy = LOOP, .lanes = 1 },
	{ .policy = LOOP, .lanes = 2 },
	{ .policy = LOOP, .lanes = 4 },
	{ .policy = FULL, .lanes = 1 },
	{ .policy = FULL, .lanes = 4 },
	{ .policy = POSIX_TRACE_DISCARD_NP, .lanes = 1 },
	{ .policy = POSIX_TRACE_DISCARD_NP, .lanes = 4 },
};
#define PLAIN (sizeof(plain) / sizeof(plain[0]))

PXT_TEST(what_was_recorded_before_is_in_it_and_what_comes_later_is_not)
{
	for (size_t i = 0; i < PLAIN; i++) {
		trace_id_t trid = st_started(&plain[i]);
		struct sn_shot shot;

		st_say_many(1, 10);
		shot = sn_take(trid);
		st_say_many(11, 20);
		st_expect(shot.log, "START 1..10");
		st_expect(trid, "START 1..20");
		sn_close(&shot);
		end(trid);
	}
}

/* Readers of version 1 of the format take it, as they would take the stream's own log. */
PXT_TEST(the_snapshot_of_a_stream_whose_log_is_to_be_plain_is_plain)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_attr_t attr;
	trace_id_t trid = 0;
	uint16_t major = 0;

	st_attr(&spec, &attr);
	PXT_EQ(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_PLAIN_NP), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	st_say(1);
	struct sn_shot shot = sn_take(trid);
	PXT_EQ(pread(shot.fd, &major, sizeof(major), 16), sizeof(major));
	PXT_EQ(major, 1);
	sn_close(&shot);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(a_stream_that_was_read_in_part_gives_the_rest)
{
	for (size_t i = 0; i < PLAIN; i++) {
		trace_id_t trid = st_started(&plain[i]);

		st_say_many(1, 10);
		st_expect_most(trid, 5, "START 1..4");
		sn_expect(trid, "5..10");
		st_expect(trid, "5..10");
		end(trid);
	}
}

PXT_TEST(a_stream_that_holds_nothing_gives_a_log_without_events)
{
	for (size_t i = 0; i < PLAIN; i++) {
		trace_id_t trid = st_create(&plain[i]);

		sn_expect(trid, "");
		PXT_EQ(posix_trace_start(trid), 0);
		st_expect(trid, "START");
		sn_expect(trid, "");
		st_say_many(1, 2);
		PXT_EQ(posix_trace_clear(trid), 0);
		sn_expect(trid, "");
		end(trid);
	}
}

PXT_TEST(a_stopped_stream_gives_its_stop_and_a_running_one_none)
{
	for (size_t i = 0; i < PLAIN; i++) {
		trace_id_t trid = st_started(&plain[i]);

		st_say_many(1, 3);
		sn_expect(trid, "START 1..3");
		PXT_EQ(posix_trace_stop(trid), 0);
		sn_expect(trid, "START 1..3 STOP0");
		st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
		PXT_EQ(posix_trace_start(trid), 0);
		st_say_many(4, 5);
		sn_expect(trid, "START 1..3 STOP0 START 4..5");
		st_expect(trid, "START 1..3 STOP0 START 4..5");
		end(trid);
	}
}

PXT_TEST(one_behind_another_holds_the_same_and_what_came_since)
{
	for (size_t i = 0; i < PLAIN; i++) {
		trace_id_t trid = st_started(&plain[i]);
		struct sn_shot first;
		struct sn_shot second;

		st_say_many(1, 10);
		first = sn_take(trid);
		second = sn_take(trid);
		st_expect(first.log, "START 1..10");
		st_expect(second.log, "START 1..10");
		sn_close(&first);
		sn_close(&second);
		st_say_many(11, 11);
		sn_expect(trid, "START 1..11");
		end(trid);
	}
}

/* Everything of an event is as a reader gets it. */
static void compare_with_reader(trace_id_t trid, trace_id_t log)
{
	static struct st_event want;
	static struct st_event got;
	struct posix_trace_eventextra_np extra;
	struct posix_trace_eventextra_np other;

	while (st_take(log, &got)) {
		int64_t apart;

		if (!st_take(trid, &want)) {
			CU_FAIL("the reader has less");
			return;
		}
		PXT_EQ(posix_trace_eventinfo_getextra_np(&got.info, &extra, sizeof(extra)), 0);
		PXT_EQ(posix_trace_eventinfo_getextra_np(&want.info, &other, sizeof(other)), 0);
		PXT_EQ(got.info.posix_event_id, want.info.posix_event_id);
		PXT_EQ(got.info.posix_pid, want.info.posix_pid);
		CU_ASSERT(got.info.posix_prog_address == want.info.posix_prog_address);
		PXT_EQ(got.info.posix_truncation_status, want.info.posix_truncation_status);
		CU_ASSERT(pthread_equal(got.info.posix_thread_id, want.info.posix_thread_id));
		PXT_EQ(extra.posix_ticks_np, other.posix_ticks_np);
		PXT_EQ(extra.posix_lost_before_np, other.posix_lost_before_np);
		PXT_EQ(extra.posix_cpu_np, other.posix_cpu_np);
		PXT_EQ(got.len, want.len);
		CU_ASSERT(memcmp(got.data, want.data, want.len) == 0);
		/* A log's time is corrected by a second reading of the clocks. */
		apart = pxt_ns(&got.info.posix_timestamp) - pxt_ns(&want.info.posix_timestamp);
		PXT_CHECK(apart < 1000000 && apart > -1000000, "%lld ns apart", (long long)apart);
	}
}

PXT_TEST(every_event_is_as_a_reader_gets_it)
{
	for (size_t i = 0; i < PLAIN; i++) {
		struct st_spec spec = plain[i];
		trace_id_t trid;
		struct sn_shot shot;

		spec.max_data = 300;
		trid = st_started(&spec);
		for (int k = 1; k <= 40; k++)
			st_say_long(k, 4 + (size_t)k * 8);
		shot = sn_take(trid);
		compare_with_reader(trid, shot.log);
		CU_ASSERT(!st_take(trid, &(struct st_event){ .len = 0 }));
		sn_close(&shot);
		end(trid);
	}
}

/* STA-03, POL-05: a stream that overwrote what nobody read */
PXT_TEST(what_was_lost_is_told_in_it_and_still_to_the_reader)
{
	for (unsigned lanes = 1; lanes <= 4; lanes *= 2) {
		const struct st_spec spec = { .policy = LOOP, .lanes = lanes, .size = 4096 };
		trace_id_t trid = st_started(&spec);
		struct posix_trace_loginfo_np info;
		struct posix_trace_counts_np counts;
		struct posix_trace_status_info status;
		struct sn_shot shot;

		st_say_many(1, 2000);
		shot = sn_take(trid);
		CU_ASSERT(st_law(trid, &counts));
		CU_ASSERT(counts.posix_lost_np > 1000);
		PXT_EQ(posix_trace_get_status(shot.log, &status), 0);
		PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
		PXT_EQ(status.posix_stream_full_status, POSIX_TRACE_FULL);
		st_expect_status(trid, "RUNNING FULL OVERRUN");
		compare_with_reader(trid, shot.log);
		PXT_EQ(posix_trace_log_getinfo_np(shot.log, &info, sizeof(info)), 0);
		sn_close(&shot);
		CU_ASSERT(st_law(trid, &counts));
		PXT_EQ(counts.posix_held_np, 0);
		PXT_EQ(info.posix_counts_np.posix_lost_np, counts.posix_lost_np);
		PXT_EQ(info.posix_counts_np.posix_retrieved_np, counts.posix_retrieved_np);
		PXT_EQ(info.posix_counts_np.posix_written_np, 2001);
		/* Told once, to one reader: the next one begins after it. */
		st_say_many(2001, 2002);
		shot = sn_take(trid);
		PXT_EQ(posix_trace_log_getinfo_np(shot.log, &info, sizeof(info)), 0);
		PXT_EQ(info.posix_counts_np.posix_lost_np, 0);
		PXT_EQ(info.posix_counts_np.posix_written_np, 2);
		st_expect(shot.log, "2001..2002");
		sn_close(&shot);
		end(trid);
	}
}

static int64_t time_of_last(trace_id_t trid)
{
	struct st_event event;
	int64_t last = 0;

	while (st_take(trid, &event))
		last = pxt_ns(&event.info.posix_timestamp);
	return last;
}

/* POL-09: when there was no room for an event, and not when the last one came that had room. */
PXT_TEST(an_automatic_stop_has_the_moment_that_readers_of_the_stream_get)
{
	const struct st_spec spec = { .policy = FULL, .lanes = 1, .size = 2048 };
	struct st_full full;
	trace_id_t trid = st_full_stream(&spec, true, &full);
	struct sn_shot shot;
	int64_t apart;

	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = st_started(&spec);
	for (int i = 1; i <= full.recorded; i++)
		st_say_long(i, i <= full.small ? 4 : full.len);
	(void)nanosleep(&(const struct timespec){ .tv_nsec = 3000000 }, NULL);
	st_say_long(full.recorded + 1, full.len);
	shot = sn_take(trid);
	apart = time_of_last(shot.log);
	sn_close(&shot);
	/* With the restart that reading brings. */
	for (struct st_event event; st_take(trid, &event);) {
		if (event.info.posix_event_id == POSIX_TRACE_STOP)
			apart -= pxt_ns(&event.info.posix_timestamp);
	}
	CU_ASSERT(apart > -1000000 && apart < 1000000);
	end(trid);
}

/* POL-06, POL-09: told as to a reader; the restart is a reader's doing, not a snapshot's */
PXT_TEST(an_automatic_stop_is_told_and_nothing_restarts)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		const struct st_spec spec = { .policy = FULL, .lanes = lanes, .size = 2048 };
		struct posix_trace_counts_np counts;
		struct posix_trace_loginfo_np info;
		struct st_full full;
		trace_id_t trid;
		struct sn_shot shot;
		const char *story;

		st_pin(true);
		trid = st_full_stream(&spec, true, &full);
		story = st_text("START 1..%d STOP1", full.recorded);
		CU_ASSERT(st_law(trid, &counts));
		sn_expect(trid, story);
		st_expect_status(trid, "SUSPENDED FULL NO_OVERRUN");
		CU_ASSERT(sn_same_counts(trid, &counts));
		st_say(9999);
		CU_ASSERT(st_law(trid, &counts));
		shot = sn_take(trid);
		st_expect(shot.log, story);
		PXT_EQ(posix_trace_log_getinfo_np(shot.log, &info, sizeof(info)), 0);
		PXT_EQ(info.posix_counts_np.posix_lost_np, counts.posix_lost_np);
		sn_close(&shot);
		/* The reader gets the same, then the restart, then that. */
		st_expect(trid, st_text("START 1..%d STOP1 START", full.recorded));
		sn_expect(trid, "");
		st_expect_status(trid, "RUNNING NOT_FULL OVERRUN");
		st_say(10000);
		sn_expect(trid, "10000");
		end(trid);
		st_pin(false);
	}
}

PXT_TEST(a_start_that_is_due_is_told_and_stays_due)
{
	const struct st_spec spec = { .policy = FULL, .lanes = 1, .size = 2048 };
	struct st_full full;
	trace_id_t trid = st_full_stream(&spec, true, &full);

	/* Up to and with the automatic STOP. */
	st_expect_most(trid, full.recorded + 2, st_text("START 1..%d STOP1", full.recorded));
	sn_expect(trid, "START");
	st_say(77);
	sn_expect(trid, "START 77");
	st_expect(trid, "START 77");
	end(trid);
}

PXT_TEST(records_that_stand_beside_the_lanes_are_in_it)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		const struct st_spec spec = { .policy = FULL, .lanes = lanes, .size = 2048 };
		struct st_full full;
		trace_id_t trid;

		st_pin(true);
		trid = st_full_stream(&spec, true, &full);
		PXT_EQ(posix_trace_stop(trid), 0);
		sn_expect(trid, st_text("START 1..%d STOP1", full.recorded));
		st_expect_most(trid, 20, "START 1..19");
		PXT_EQ(posix_trace_start(trid), 0);
		st_say(500);
		sn_expect(trid, st_text("20..%d STOP1 START 500", full.recorded));
		st_expect(trid, st_text("20..%d STOP1 START 500", full.recorded));
		end(trid);
		st_pin(false);
	}
}

/* ---- Streams with a log ---- */

PXT_TEST(a_recorder_with_a_log_is_saved_beside_it)
{
	int fd = pxt_temp_file();
	const struct st_spec spec = { .policy = LOOP,
		.lanes = 1,
		.with_log = true,
		.fd = fd,
		.log_policy = POSIX_TRACE_APPEND };
	trace_id_t trid = st_started(&spec);
	struct sn_shot own;

	st_say_many(1, 5);
	sn_expect(trid, "START 1..5");
	PXT_EQ(posix_trace_flush(trid), 0);
	/* What was flushed is not held any more. */
	sn_expect(trid, "");
	st_say_many(6, 9);
	sn_expect(trid, "6..9");
	end(trid);
	own = sn_open(fd);
	st_expect_without(own.log, MARKS, "START 1..9 STOP0");
	sn_close(&own);
}

/* A stream that was full runs again as soon as its flusher has emptied it. */
static bool runs_again(trace_id_t trid)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct posix_trace_status_info status;

	for (int i = 0; i < 10000; i++) {
		PXT_EQ_FATAL(posix_trace_get_status(trid, &status), 0);
		if (status.posix_stream_status == POSIX_TRACE_RUNNING)
			return true;
		(void)nanosleep(&moment, NULL);
	}
	return false;
}

PXT_TEST(a_stream_of_policy_flush_is_saved_and_its_log_lacks_nothing)
{
	int fd = pxt_temp_file();
	const struct st_spec spec = { .policy = FLUSH,
		.lanes = 1,
		.with_log = true,
		.fd = fd,
		.size = 65536,
		.log_policy = POSIX_TRACE_APPEND };
	trace_id_t trid = st_started(&spec);
	struct posix_trace_loginfo_np info;
	struct st_event event;
	struct sn_shot own;
	int events = 0;
	int last = 0;

	for (int i = 0; i < 40; i++) {
		struct sn_shot shot;

		st_say_many(i * 500 + 1, i * 500 + 500);
		shot = sn_take(trid);
		sn_close(&shot);
	}
	CU_ASSERT(runs_again(trid));
	st_say_many(20001, 20001);
	end(trid);
	own = sn_open(fd);
	for (; st_take_user(own.log, &event); events++) {
		CU_ASSERT(st_number(&event) > last);
		last = st_number(&event);
	}
	PXT_EQ(last, 20001);
	/* But for what the stream refused while its helper was not fast enough. */
	PXT_EQ(posix_trace_log_getinfo_np(own.log, &info, sizeof(info)), 0);
	PXT_EQ(info.posix_lost_np, 20001 - events);
	sn_close(&own);
}

PXT_TEST(a_log_that_is_full_is_no_matter)
{
	int fd = pxt_temp_file();
	const struct st_spec spec = { .policy = FULL,
		.lanes = 1,
		.with_log = true,
		.fd = fd,
		.size = 65536,
		.log_policy = FULL,
		.log_size = 8192 };
	trace_id_t trid = st_started(&spec);
	struct posix_trace_counts_np counts;

	st_say_many(1, 1500);
	CU_ASSERT(st_law(trid, &counts));
	sn_expect(trid, "START 1..1500");
	CU_ASSERT(sn_same_counts(trid, &counts));
	PXT_EQ(posix_trace_flush(trid), 0);
	sn_expect(trid, "");
	end(trid);
	(void)close(fd);
}

/* ---- Any state: what a snapshot tells is what the reader gets next ---- */

static void act(trace_id_t trid, unsigned choice, int *number)
{
	switch (choice) {
	case 0:
		PXT_EQ(posix_trace_start(trid), 0);
		break;
	case 1:
		PXT_EQ(posix_trace_stop(trid), 0);
		break;
	case 2:
		(void)st_story_of(trid, 7);
		break;
	case 3:
		(void)st_story_of(trid, 1);
		break;
	case 4:
		st_say_long(++*number, 200);
		break;
	case 5:
		for (int i = 0; i < 60; i++)
			st_say(++*number);
		break;
	default:
		st_pin_to(choice);
		for (int i = 0; i < 6; i++)
			st_say(++*number);
	}
}

/* The reader's story goes on after an automatic STOP: the restart. */
static bool begins_with(const char *all, const char *part)
{
	size_t len = strlen(part);

	return strncmp(all, part, len) == 0 &&
	       (all[len] == '\0' || strncmp(all + len, " START", 6) == 0);
}

static void try_states(const struct st_spec *spec, unsigned seed)
{
	trace_id_t trid = st_create(spec);
	int number = 0;

	srand(seed);
	for (int step = 0; step < 60; step++) {
		act(trid, (unsigned)rand() % 9u, &number);
		if (step % 6 == 5) {
			static char told[8192];
			struct posix_trace_counts_np counts;
			struct sn_shot shot;
			const char *read;

			CU_ASSERT(st_law(trid, &counts));
			shot = sn_take(trid);
			CU_ASSERT(sn_same_counts(trid, &counts));
			(void)snprintf(told, sizeof(told), "%s", st_story_of(shot.log, 1 << 30));
			sn_close(&shot);
			if (step % 12 != 11)
				continue;
			read = st_story_of(trid, 1 << 30);
			PXT_CHECK(begins_with(read, told), "seed %u, step %d: told %s; read %s",
			    seed, step, told, read);
		}
	}
	end(trid);
}

PXT_TEST(in_any_state_it_tells_what_the_reader_gets_next)
{
	for (unsigned seed = 1; seed <= 25; seed++) {
		for (size_t i = 0; i < PLAIN; i++) {
			struct st_spec spec = plain[i];

			spec.size = 2048;
			try_states(&spec, seed);
		}
	}
	st_pin(false);
}

/* ---- What the log says of itself ---- */

/* DEC-28 */
PXT_TEST(the_form_of_the_streams_own_log_is_not_its)
{
	static const int forms[] = { POSIX_TRACE_LOG_PLAIN_NP, POSIX_TRACE_LOG_FRAMES_NP };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		trace_id_t trid = 0;
		trace_attr_t attr;
		struct sn_shot shot;
		int form = -1;
		int line[2];

		PXT_EQ_FATAL(pipe(line), 0);
		PXT_EQ(posix_trace_attr_init(&attr), 0);
		PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
		PXT_EQ(posix_trace_attr_setlogform_np(&attr, forms[i]), 0);
		PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, line[1], &trid), 0);
		PXT_EQ(posix_trace_attr_destroy(&attr), 0);
		PXT_EQ(posix_trace_start(trid), 0);
		st_say(1);
		shot = sn_take(trid);
		st_expect(shot.log, "START 1");
		PXT_EQ(posix_trace_get_attr(shot.log, &attr), 0);
		PXT_EQ(posix_trace_attr_getlogform_np(&attr, &form), 0);
		PXT_EQ(form, POSIX_TRACE_LOG_AUTO_NP);
		sn_close(&shot);
		end(trid);
		PXT_EQ(close(line[0]), 0);
		PXT_EQ(close(line[1]), 0);
	}
}

PXT_TEST(it_has_the_streams_names_and_attributes)
{
	static const char format[] = "i32 number";
	char name[TRACE_EVENT_NAME_MAX + 1];
	char text[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_status_info status;
	trace_event_id_t type;
	trace_id_t trid = 0;
	trace_attr_t attr;
	struct sn_shot shot;
	size_t bytes;
	int policy;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setname(&attr, "recorder"), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, LOOP), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, 8192), 0);
	PXT_EQ(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_eventid_open("described", &type), 0);
	PXT_EQ(posix_trace_eventid_setformat_np(type, format), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	shot = sn_take(trid);

	PXT_EQ(posix_trace_get_attr(shot.log, &attr), 0);
	PXT_EQ(posix_trace_attr_getname(&attr, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "recorder");
	PXT_EQ(posix_trace_attr_getstreamfullpolicy(&attr, &policy), 0);
	PXT_EQ(policy, LOOP);
	PXT_EQ(posix_trace_attr_getlogfullpolicy(&attr, &policy), 0);
	PXT_EQ(policy, POSIX_TRACE_APPEND);
	PXT_EQ(posix_trace_attr_getstreamsize(&attr, &bytes), 0);
	PXT_EQ(bytes, 8192);
	PXT_EQ(posix_trace_get_status(shot.log, &status), 0);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	PXT_EQ(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	PXT_EQ(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	PXT_EQ(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	PXT_EQ(posix_trace_eventid_get_name(shot.log, type, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "described");
	PXT_EQ(posix_trace_eventid_getformat_np(shot.log, type, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, format);
	sn_close(&shot);
	end(trid);
}

/* ---- Where it goes ---- */

/* DEC-22 */
PXT_TEST(the_file_is_written_from_its_beginning_and_stays_open)
{
	static const char rubbish[100000];
	const struct st_spec spec = { .policy = LOOP, .lanes = 1 };
	trace_id_t trid = st_started(&spec);
	int fd = pxt_temp_file();
	struct sn_shot shot;
	off_t at;

	PXT_EQ(write(fd, rubbish, sizeof(rubbish)), (ssize_t)sizeof(rubbish));
	at = lseek(fd, 4321, SEEK_SET);
	PXT_EQ(at, 4321);
	st_say_many(1, 3);
	PXT_EQ(posix_trace_snapshot_np(trid, fd), 0);
	PXT_EQ(lseek(fd, 0, SEEK_CUR), 4321);
	CU_ASSERT(st_file_bytes(fd) < 50000);
	st_say_many(4, 5);
	/* Again, over the first. */
	PXT_EQ(posix_trace_snapshot_np(trid, fd), 0);
	shot = sn_open(fd);
	st_expect(shot.log, "START 1..5");
	sn_close(&shot);
	end(trid);
}

/* DEC-21 */
PXT_TEST(a_pipe_gets_the_same_bytes_in_order)
{
	const struct st_spec spec = { .policy = LOOP, .lanes = 1 };
	trace_id_t trid = st_started(&spec);
	int ends[2];
	int fd = pxt_temp_file();
	char bytes[65536];
	ssize_t got;
	struct sn_shot shot;

	PXT_EQ_FATAL(pipe(ends), 0);
	st_say_many(1, 20);
	PXT_EQ(posix_trace_snapshot_np(trid, ends[1]), 0);
	PXT_EQ(close(ends[1]), 0);
	while ((got = read(ends[0], bytes, sizeof(bytes))) > 0)
		PXT_EQ(write(fd, bytes, (size_t)got), got);
	PXT_EQ(close(ends[0]), 0);
	shot = sn_open(fd);
	st_expect(shot.log, "START 1..20");
	sn_close(&shot);
	end(trid);
}

#if _PXT_UNIT_INHERIT
static int say_as_a_child(void *argument)
{
	st_say_many(11, 15);
	return 0;
}

PXT_TEST(what_children_traced_into_it_is_in_it_with_their_pid)
{
	trace_id_t trid = 0;
	struct st_event event;
	struct sn_shot shot;
	trace_attr_t attr;
	int own = 0;
	int others = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, LOOP), 0);
	PXT_EQ(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	(void)st_type();
	st_say_many(1, 10);
	PXT_EQ(pxt_in_child(say_as_a_child, NULL), 0);
	shot = sn_take(trid);
	while (st_take_user(shot.log, &event)) {
		bool child = st_number(&event) > 10;

		CU_ASSERT((event.info.posix_pid != getpid()) == child);
		*(child ? &others : &own) += 1;
	}
	PXT_EQ(own, 10);
	PXT_EQ(others, 5);
	sn_close(&shot);
	end(trid);
}
#endif
