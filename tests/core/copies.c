/* SPDX-License-Identifier: MIT */
/* copies.c - copies of streams whose positions and numbers have run over their words. */
#include "core/copy/copy.h"
#include "core/read/consumer.h"
#include "core/read/lane.h"
#include "fakes/fakes.h"
#include "kit.h"

#include <unistd.h>

static const uint64_t positions[] = { UINT64_C(1) << 30, UINT64_C(1) << 31, UINT64_C(3) << 30,
	UINT64_C(1) << 32, UINT64_C(5) << 30, UINT64_C(1) << 34 };
static const uint64_t numbers[] = { 1000, UINT64_C(1) << 29, UINT64_C(1) << 31, UINT64_C(5) << 29,
	UINT64_C(1) << 36 };
#define POSITIONS (sizeof(positions) / sizeof(positions[0]))
#define NUMBERS   (sizeof(numbers) / sizeof(numbers[0]))
#define EVENTS    24u

/* Of the kit's type; what was lost is told before one of them, or at the end. */
static unsigned events_in(int fd, uint64_t *lost)
{
	struct posix_trace_loginfo_np info;
	struct posix_trace_event_info event;
	unsigned count = 0;
	int unavailable = 0;
	trace_id_t log = 0;
	size_t len;

	PXT_EQ_FATAL(posix_trace_open(fd, &log), 0);
	while (posix_trace_getnext_event(log, &event, NULL, 0, &len, &unavailable) == 0 &&
	       !unavailable)
		count += event.posix_event_id == kit_type();
	PXT_EQ(posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
	*lost = info.posix_lost_np;
	PXT_EQ(posix_trace_close(log), 0);
	return count;
}

static void copy_around(unsigned lanes, uint64_t pos, uint64_t seq)
{
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = lanes, .bytes = 1024 };
	trace_id_t stream = kit_open(&spec);
	int fd = pxt_temp_file();
	uint64_t lost = 0;

	for (unsigned lane = 0; lane < lanes; lane++)
		kit_move(stream, lane, pos, seq);
	kit_start(stream);
	for (unsigned i = 0; i < EVENTS; i++) {
		kit_lane(i % lanes);
		kit_write(1, 4);
	}
	PXT_EQ(posix_trace_snapshot_np(stream, fd), 0);
	PXT_CHECK(events_in(fd, &lost) == EVENTS && lost == 0, "%u lanes at %#llx, number %#llx",
	    lanes, (unsigned long long)pos, (unsigned long long)seq);
	PXT_EQ(close(fd), 0);
	CU_ASSERT(kit_settle(stream));
	CU_ASSERT(kit_clean());
	PXT_EQ(kit_missing(1, 1, EVENTS), 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* POL-05; rulings 7, 14 */
PXT_TEST(a_snapshot_of_positions_and_numbers_that_ran_over_is_whole)
{
	for (size_t p = 0; p < POSITIONS; p++) {
		for (size_t n = 0; n < NUMBERS; n++) {
			for (uint64_t before = 0; before <= 60; before += 20) {
				copy_around(1, positions[p] - before, numbers[n] - before / 2u);
				copy_around(2, positions[p] - before, numbers[n] - before / 2u);
			}
		}
	}
}

static unsigned heads; /* that were copied */
static bool laps;

/* Between the copy of a lane's head and that of its slots a whole lap is written. */
static void overtake(int point)
{
	if (point != PXT_TP_COPIED_HEAD)
		return;
	heads++;
	if (!laps || heads > 100)
		return;
	laps = false;
	for (unsigned i = 0; i < 200; i++)
		kit_write(2, 4);
	laps = true;
}

/*
 * Of a lane that is overtaken in each try nothing is in the copy, and of what is older nothing either: a log
 * without events, whose counts say how many there were.
 */
PXT_TEST(a_snapshot_that_lost_a_whole_lane_counts_what_is_not_in_it)
{
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 2, .bytes = 1024 };
	trace_id_t stream = kit_open(&spec);
	int fd = pxt_temp_file();
	uint64_t lost = 0;
	unsigned events;

	kit_start(stream);
	kit_lane(0);
	for (unsigned i = 0; i < 5; i++)
		kit_write(1, 4);
	kit_lane(1);
	for (unsigned i = 0; i < 7; i++)
		kit_write(2, 4);
	heads = 0;
	laps = true;
	pxt_testpoint_hook_set(overtake);
	PXT_EQ(posix_trace_snapshot_np(stream, fd), 0);
	pxt_testpoint_hook_set(NULL);
	laps = false;
	events = events_in(fd, &lost);
	PXT_EQ(heads, 2 * PXT_COPY_TRIES);
	/* All that was written before the last lane's head was read, at least; START is in it, too. */
	CU_ASSERT(events + lost >= 5 + 7 + (heads - 1) * 200);
	PXT_EQ(close(fd), 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* With the stream's lock held, writers that overtake each try must not keep it going. */
PXT_TEST(a_copy_is_tried_so_often_and_one_that_succeeds_once)
{
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 1, .bytes = 1024 };
	trace_id_t stream = kit_open(&spec);
	struct pxt_copy copy;

	kit_start(stream);
	PXT_EQ_FATAL(pxt_copy_take(stream, &copy), 0);
	for (int i = 0; i < 2; i++) {
		laps = i > 0;
		heads = 0;
		pxt_testpoint_hook_set(overtake);
		PXT_EQ(pxt_copy_again(kit_stream(stream), &copy), 0);
		pxt_testpoint_hook_set(NULL);
		/* It has taken each lock that it gave back. */
		PXT_EQ(pxt_locks_held, 0);
		PXT_EQ(heads, laps ? PXT_COPY_TRIES : 1);
	}
	pxt_copy_free(&copy);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* Takes what @stream has; returns what was lost before any of it. */
static uint64_t lost_in(struct pxt_stream *stream)
{
	struct pxt_item item;
	uint64_t lost = 0;

	while (pxt_consumer_next(stream, &item) == PXT_NEXT_READY) {
		lost += item.lost_before;
		pxt_consumer_done(stream, &item);
	}
	return lost;
}

/* ZEP-17: a mark that came into the copy since it was made says what was counted meanwhile. */
PXT_TEST(a_copy_that_is_made_again_tells_once_what_was_discarded)
{
	const struct kit_spec spec = {
		.policy = POSIX_TRACE_DISCARD_NP, .lanes = 1, .bytes = 1024
	};
	trace_id_t stream = kit_open(&spec);
	struct posix_trace_counts_np counts = { 0 };
	uint64_t told = 0;
	struct pxt_copy copy;

	kit_start(stream);
	PXT_EQ_FATAL(pxt_copy_take(stream, &copy), 0);
	for (unsigned round = 0; round < 3; round++) {
		for (uint64_t lost = counts.posix_lost_np; counts.posix_lost_np < lost + 3;) {
			kit_write(1, 4);
			PXT_EQ_FATAL(posix_trace_getcounts_np(stream, &counts, sizeof(counts)), 0);
		}
		told += lost_in(&copy.stream);
		(void)lost_in(kit_stream(stream));
		/* After a mark. */
		kit_write(1, 4);
		PXT_EQ(pxt_copy_again(kit_stream(stream), &copy), 0);
		told += lost_in(&copy.stream);
		PXT_EQ(told, counts.posix_lost_np);
	}
	pxt_copy_free(&copy);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* LPT-25: nobody was told of it yet when the copy was made, as it is with the next event. */
PXT_TEST(what_was_refused_before_a_copy_is_told_when_it_is_made_again)
{
	static const int policies[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_DISCARD_NP };

	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		const struct kit_spec spec = { .policy = policies[i], .lanes = 1, .bytes = 1024 };
		trace_id_t stream = kit_open(&spec);
		struct posix_trace_counts_np counts = { 0 };
		struct pxt_copy copy;

		kit_start(stream);
		while (counts.posix_lost_np < 3) {
			kit_write(1, 4);
			PXT_EQ_FATAL(posix_trace_getcounts_np(stream, &counts, sizeof(counts)), 0);
		}
		PXT_EQ_FATAL(pxt_copy_take(stream, &copy), 0);
		PXT_EQ(lost_in(&copy.stream), 0);
		(void)lost_in(kit_stream(stream));
		kit_write(1, 4);
		PXT_EQ(pxt_copy_again(kit_stream(stream), &copy), 0);
		PXT_EQ(lost_in(&copy.stream), 3);
		pxt_copy_free(&copy);
		PXT_EQ(posix_trace_shutdown(stream), 0);
	}
}

/* What comes next has a later stamp, however coarse the counter is. */
static void wait_for_tick(void)
{
	uint64_t now = pxt_port_ticks_ordered();

	while (pxt_port_ticks_ordered() == now)
		continue;
}

/* The other lane is not copied yet. */
static void write_beside(int point)
{
	if (point != PXT_TP_COPIED_HEAD)
		return;
	pxt_testpoint_hook_set(NULL);
	wait_for_tick();
	kit_lane(1);
	kit_write(1, 4);
}

/*
 * Ruling 26: what is younger than the copy's moment is left for the next one.  By then there may be older
 * events in the other lane than those behind it.
 */
PXT_TEST(a_copy_that_is_made_again_is_in_the_order_of_time_behind_what_was_left)
{
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 2, .bytes = 1024 };
	trace_id_t stream = kit_open(&spec);
	uint64_t last = 0;
	unsigned events = 0;
	struct pxt_copy copy;
	struct pxt_item item;

	kit_start(stream);
	pxt_testpoint_hook_set(write_beside);
	PXT_EQ_FATAL(pxt_copy_take(stream, &copy), 0);
	kit_lane(0);
	kit_write(1, 4);
	kit_lane(1);
	kit_write(1, 4);
	while (
	    pxt_consumer_next(&copy.stream, &item) == PXT_NEXT_READY && item.ticks <= copy.moment)
		pxt_consumer_done(&copy.stream, &item);
	CU_ASSERT(item.ticks > copy.moment);
	PXT_EQ(pxt_copy_again(kit_stream(stream), &copy), 0);
	while (pxt_consumer_next(&copy.stream, &item) == PXT_NEXT_READY) {
		CU_ASSERT(item.stamp >= last);
		last = item.stamp;
		events++;
		pxt_consumer_done(&copy.stream, &item);
	}
	PXT_EQ(events, 3);
	pxt_copy_free(&copy);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* What comes next in @stream: S start, T stop, e an event, in a row of the same one letter. */
static void story(struct pxt_stream *stream, char *text, size_t room)
{
	struct pxt_item item;
	size_t used = 0;

	while (pxt_consumer_next(stream, &item) == PXT_NEXT_READY) {
		uint32_t id = pxt_info_id(item.info);
		char letter = id == PXT_ID_START ? 'S' : id == PXT_ID_STOP ? 'T' : 'e';

		pxt_consumer_done(stream, &item);
		if ((used == 0 || text[used - 1] != letter) && used + 1 < room)
			text[used++] = letter;
	}
	text[used] = '\0';
}

/* STOP and START found no room, and records are before them and after them. */
PXT_TEST(a_copy_that_is_made_again_has_stop_and_start_where_they_are)
{
	const struct kit_spec spec = {
		.policy = POSIX_TRACE_DISCARD_NP, .lanes = 1, .bytes = 1024
	};
	trace_id_t stream = kit_open(&spec);
	struct posix_trace_counts_np counts = { 0 };
	struct pxt_copy copy;
	struct pxt_item item;
	char text[16];

	kit_start(stream);
	PXT_EQ_FATAL(pxt_copy_take(stream, &copy), 0);
	story(&copy.stream, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "S");
	while (counts.posix_lost_np == 0) {
		kit_write(1, 4);
		PXT_EQ_FATAL(posix_trace_getcounts_np(stream, &counts, sizeof(counts)), 0);
	}
	PXT_EQ(posix_trace_stop(stream), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	/* Room for records after them: START goes, and three events. */
	for (int i = 0; i < 4; i++) {
		PXT_EQ(pxt_consumer_next(kit_stream(stream), &item), PXT_NEXT_READY);
		pxt_consumer_done(kit_stream(stream), &item);
	}
	kit_write(1, 4);
	PXT_EQ(pxt_copy_again(kit_stream(stream), &copy), 0);
	story(&copy.stream, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "eTSe");
	story(kit_stream(stream), text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "eTSe");
	pxt_copy_free(&copy);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* The copy's consumer finds each lane overtaken, and the STOP's mark at the end of what is left. */
PXT_TEST(a_copy_of_overtaken_lanes_has_the_stop_after_them)
{
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 2, .bytes = 1024 };
	trace_id_t stream = kit_open(&spec);
	struct pxt_copy copy;

	kit_start(stream);
	(void)kit_read_all(stream);
	for (unsigned i = 0; i < 400; i++) {
		kit_lane(i % 2);
		kit_write(1, 4);
	}
	PXT_EQ(posix_trace_stop(stream), 0);
	PXT_EQ_FATAL(pxt_copy_take(stream, &copy), 0);
	pxt_lane_notice_laps(copy.stream.block);
	for (unsigned lane = 0; lane < 2; lane++)
		PXT_EQ(pxt_block_lane(copy.stream.block, lane)->barrier + 1,
		    copy.stream.block->barriers);
	pxt_copy_free(&copy);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}
