/* SPDX-License-Identifier: MIT */
/*
 * several.c - one event into several streams at once: the same data and stamp in all of them, each
 * by its own policy, filter and size.
 */
#include "core/record/emit.h"
#include "core/stream/wanted.h"
#include "kit.h"
#include "port_atomic.h"

#include <string.h>
#include <trace_np.h>

static trace_id_t streams[3];

static void begin(unsigned which, int policy, unsigned lanes, size_t bytes, size_t data)
{
	const struct kit_spec spec = {
		.policy = policy, .lanes = lanes, .bytes = bytes, .data = data
	};

	streams[which] = kit_open(&spec);
	kit_start(streams[which]);
	(void)kit_read_all(streams[which]);
}

static void end(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct posix_trace_counts_np counts;

		kit_counts(streams[i], &counts);
		PXT_EQ(counts.posix_written_np, counts.posix_retrieved_np + counts.posix_lost_np +
		                                    counts.posix_cleared_np + counts.posix_held_np);
		PXT_EQ(posix_trace_shutdown(streams[i]), 0);
	}
}

struct got {
	struct posix_trace_event_info info;
	struct posix_trace_eventextra_np extra;
	unsigned char data[256];
	size_t len;
};

static bool take(unsigned which, struct got *got)
{
	int unavailable = 1;

	memset(got->data, 0xee, sizeof(got->data));
	PXT_EQ_FATAL(posix_trace_trygetnext_event(streams[which], &got->info, got->data,
	                 sizeof(got->data), &got->len, &unavailable),
	    0);
	if (!unavailable)
		PXT_EQ(
		    posix_trace_eventinfo_getextra_np(&got->info, &got->extra, sizeof(got->extra)),
		    0);
	return !unavailable;
}

static void say(const unsigned char *data, size_t len)
{
	posix_trace_event(kit_type(), data, len);
}

static void into_both(const unsigned char *data, size_t len)
{
	uint64_t entered = pxt_port_ticks_ordered();
	struct got got[2];
	uint64_t returned;

	say(data, len);
	returned = pxt_port_ticks_ordered();
	for (unsigned i = 0; i < 2; i++) {
		PXT_EQ_FATAL(take(i, &got[i]), true);
		PXT_EQ(got[i].len, len);
		PXT_EQ(memcmp(got[i].data, data, len), 0);
		PXT_EQ(got[i].data[len], 0xee);
		PXT_EQ(take(i, &got[i]), false);
		CU_ASSERT(got[i].extra.posix_ticks_np >= entered);
		CU_ASSERT(got[i].extra.posix_ticks_np <= returned);
	}
}

/* TIM-01; rulings 25 and 26: each has its own stamp, which lies inside the call */
PXT_TEST(an_event_is_the_same_in_all_streams)
{
	unsigned char data[128];

	begin(0, POSIX_TRACE_LOOP, 1, 4096, 120);
	begin(1, POSIX_TRACE_LOOP, 2, 8192, 120);
	for (unsigned round = 0; round < 3; round++)
		for (size_t len = 0; len <= 120; len++) {
			for (size_t i = 0; i < sizeof(data); i++)
				data[i] = (unsigned char)(len * 7u + i * 13u + round + 1u);
			kit_lane((unsigned)len & 1u);
			into_both(data + round, len);
		}
	kit_lane(0);
	end(2);
}

/* TRU-01, DEC-01 */
PXT_TEST(each_stream_cuts_an_event_by_its_own_size)
{
	static const size_t sizes[] = { 16, 120 };
	unsigned char data[64];
	struct got got;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 13u + 1u);
	for (unsigned i = 0; i < 2; i++)
		begin(i, POSIX_TRACE_LOOP, 1, 4096, sizes[i]);
	/* The first one of a lane goes the slow path. */
	into_both(data, 4);
	say(data, sizeof(data));
	for (unsigned i = 0; i < 2; i++) {
		PXT_EQ_FATAL(take(i, &got), true);
		PXT_EQ(got.len, i ? sizeof(data) : sizes[i]);
		PXT_EQ(memcmp(got.data, data, got.len), 0);
		PXT_EQ(got.info.posix_truncation_status,
		    i ? POSIX_TRACE_NOT_TRUNCATED : POSIX_TRACE_TRUNCATED_RECORD);
	}
	end(2);
}

static void begin_stamped(unsigned which, bool ordered)
{
	const struct kit_spec spec = {
		.policy = POSIX_TRACE_LOOP, .bytes = 4096, .data = 64, .ordered = ordered
	};

	streams[which] = kit_open(&spec);
	kit_start(streams[which]);
	(void)kit_read_all(streams[which]);
}

/* Of 1,000 events: how many have one stamp in both streams. */
static unsigned same_stamps(bool first_ordered, bool second_ordered)
{
	unsigned same = 0;

	begin_stamped(0, first_ordered);
	begin_stamped(1, second_ordered);
	for (unsigned i = 0; i < 1000; i++) {
		struct got got[2];

		say((const unsigned char *)&i, sizeof(i));
		PXT_EQ_FATAL(take(0, &got[0]), true);
		PXT_EQ_FATAL(take(1, &got[1]), true);
		same += got[0].extra.posix_ticks_np == got[1].extra.posix_ticks_np;
	}
	end(2);
	return same;
}

/*
 * TIM-03: plain stamps are one reading for all streams, which an ordered one is not.  The slow path
 * reads for each, so there is nothing to be seen where no other is built.
 */
PXT_TEST(an_ordered_stream_does_not_share_the_reading_of_a_plain_one)
{
	if (!PXT_SHORT_CONTEXT || !pxt_port_plain())
		return;
	PXT_CHECK(same_stamps(false, false) > 900, "the plain ones do not");
	PXT_EQ(same_stamps(true, false), 0);
	PXT_EQ(same_stamps(false, true), 0);
	PXT_EQ(same_stamps(true, true), 0);
}

/* The same: alone it would be the hot stream, whose stamps are read in the fast path. */
PXT_TEST(an_ordered_stream_is_never_the_hot_one)
{
	begin_stamped(0, false);
	CU_ASSERT(!pxt_port_plain() || atomic_load(&pxt_fork.hot) == kit_block(streams[0]));
	end(1);
	begin_stamped(0, true);
	CU_ASSERT(atomic_load(&pxt_fork.hot) == PXT_NO_HOT);
	end(1);
}

static void filter_second(void *argument)
{
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(kit_type(), &set), 0);
	PXT_EQ(posix_trace_set_filter(streams[1], &set, POSIX_TRACE_SET_EVENTSET), 0);
}

/* Ruling 11: the writer has seen in the table that both want it */
PXT_TEST(a_filter_set_between_table_and_gate_holds)
{
	struct got got;

	begin(0, POSIX_TRACE_LOOP, 1, 4096, 64);
	begin(1, POSIX_TRACE_LOOP, 1, 4096, 64);
	kit_interrupt(0, UINT64_C(1) << PXT_TP_GATE_SEEN, filter_second, NULL);
	say((const unsigned char *)"abcd", 4);
	PXT_EQ(kit_interrupted(), PXT_TP_GATE_SEEN);
	PXT_EQ(take(0, &got), true);
	PXT_EQ(got.info.posix_event_id, kit_type());
	while (take(1, &got))
		CU_ASSERT(got.info.posix_event_id != kit_type());
	end(2);
}

static void stop_second(void *argument)
{
	PXT_EQ(posix_trace_stop(streams[1]), 0);
}

/* Ruling 12 */
PXT_TEST(one_stopped_before_the_reservation_counts_the_event_lost)
{
	struct posix_trace_counts_np counts;
	struct got got;

	begin(0, POSIX_TRACE_LOOP, 1, 4096, 64);
	begin(1, POSIX_TRACE_LOOP, 1, 4096, 64);
	kit_interrupt(1, UINT64_C(1) << PXT_TP_GATE_SEEN, stop_second, NULL);
	say((const unsigned char *)"abcd", 4);
	PXT_EQ(kit_interrupted(), PXT_TP_GATE_SEEN);
	PXT_EQ(take(0, &got), true);
	PXT_EQ(got.info.posix_event_id, kit_type());
	while (take(1, &got))
		CU_ASSERT(got.info.posix_event_id != kit_type());
	kit_counts(streams[1], &counts);
	PXT_EQ(counts.posix_lost_np, 1);
	end(2);
}

/* Ruling 13 */
PXT_TEST(a_sleeper_of_any_stream_is_woken)
{
	for (unsigned i = 0; i < 3; i++)
		begin(i, POSIX_TRACE_LOOP, 1, 4096, 64);
	for (unsigned i = 0; i < 3; i++) {
		atomic_store(&kit_block(streams[i])->asleep, PXT_WOKEN | PXT_ASLEEP);
		say((const unsigned char *)"abcd", 4);
		PXT_EQ(atomic_load(&kit_block(streams[i])->asleep), 0);
	}
	for (unsigned i = 0; i < 3; i++)
		(void)kit_read_all(streams[i]);
	end(3);
}

static bool is_inside(void)
{
	uint32_t passes = atomic_load(&pxt_self.entry->passes);

	return passes % 2u != 0;
}

/* Ruling 13: else a stop would wait for it, and so would each that follows. */
PXT_TEST(who_wakes_a_sleeper_has_left_the_trace_point)
{
	begin(0, POSIX_TRACE_LOOP, 1, 4096, 64);
	say((const unsigned char *)"abcd", 4);
	CU_ASSERT(!is_inside());
	atomic_store(&kit_block(streams[0])->asleep, PXT_WOKEN | PXT_ASLEEP);
	say((const unsigned char *)"abcd", 4);
	PXT_EQ(atomic_load(&kit_block(streams[0])->asleep), 0);
	CU_ASSERT(!is_inside());
	(void)kit_read_all(streams[0]);
	end(1);
}

/*
 * posix_trace_getnext_events_np() of a stream hands out what as many calls of
 * posix_trace_trygetnext_event() would: two streams that record the same are read in both ways.
 */

#define MOST 64u

static trace_id_t one_by_one;
static trace_id_t at_once;

static void views_begin(int policy, unsigned lanes, size_t bytes)
{
	const struct kit_spec spec = { .policy = policy, .lanes = lanes, .bytes = bytes };

	one_by_one = kit_open(&spec);
	at_once = kit_open(&spec);
	kit_start(one_by_one);
	kit_start(at_once);
}

static void views_end(void)
{
	struct posix_trace_counts_np left;
	struct posix_trace_counts_np right;

	kit_counts(one_by_one, &left);
	kit_counts(at_once, &right);
	PXT_EQ(left.posix_retrieved_np, right.posix_retrieved_np);
	PXT_EQ(left.posix_lost_np, right.posix_lost_np);
	PXT_EQ(right.posix_held_np, 0);
	PXT_EQ(right.posix_written_np, right.posix_retrieved_np + right.posix_lost_np +
	                                   right.posix_cleared_np + right.posix_held_np);
	PXT_EQ(posix_trace_shutdown(one_by_one), 0);
	PXT_EQ(posix_trace_shutdown(at_once), 0);
}

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_nsec;
}

/* The next event of the one stream is this one of the other, but for its stamp. */
static void compare(const struct posix_trace_eventview_np *view, int64_t *last)
{
	struct posix_trace_event_info info;
	struct posix_trace_eventextra_np extra;
	unsigned char data[256];
	int unavailable = 1;
	size_t len = 0;

	PXT_EQ_FATAL(
	    posix_trace_trygetnext_event(one_by_one, &info, data, sizeof(data), &len, &unavailable),
	    0);
	PXT_EQ_FATAL(unavailable, 0);
	PXT_EQ(posix_trace_eventinfo_getextra_np(&info, &extra, sizeof(extra)), 0);
	PXT_EQ(view->posix_event_id_np, info.posix_event_id);
	PXT_EQ_FATAL(view->posix_bytes_np, len);
	PXT_EQ(memcmp(view->posix_data_np, data, len), 0);
	PXT_EQ(view->posix_lost_before_np, extra.posix_lost_before_np);
	PXT_EQ(view->posix_pid_np, info.posix_pid);
	CU_ASSERT(pthread_equal(view->posix_thread_id_np, info.posix_thread_id));
	PXT_EQ(view->posix_cpu_np, extra.posix_cpu_np);
	PXT_EQ(view->posix_cut_np, info.posix_truncation_status == POSIX_TRACE_TRUNCATED_RECORD);
	/* Each stream has its own stamp; both readings are of the same moment, nearly. */
	CU_ASSERT(view->posix_ns_np >= *last);
	CU_ASSERT(ns_of(&info.posix_timestamp) - view->posix_ns_np < 1000000000);
	CU_ASSERT(view->posix_ns_np - ns_of(&info.posix_timestamp) < 1000000000);
	*last = view->posix_ns_np;
}

static void read_both(size_t room)
{
	static struct posix_trace_eventview_np views[MOST];
	struct posix_trace_event_info info;
	unsigned char data[256];
	int unavailable = 0;
	int64_t last = 0;
	size_t count;
	size_t len;

	do {
		PXT_EQ_FATAL(
		    posix_trace_getnext_events_np(at_once, views, sizeof(*views), room, &count), 0);
		CU_ASSERT_FATAL(count <= room);
		for (size_t i = 0; i < count; i++)
			compare(&views[i], &last);
	} while (count);
	PXT_EQ(
	    posix_trace_trygetnext_event(one_by_one, &info, data, sizeof(data), &len, &unavailable),
	    0);
	PXT_CHECK(unavailable != 0, "event %u is left, of %zu bytes", info.posix_event_id, len);
}

static void write_some(unsigned events, unsigned lanes)
{
	for (unsigned i = 0; i < events; i++) {
		kit_lane(i % lanes);
		kit_write(1, i % 7 ? (i % 3 ? 4 : 30) : 100);
	}
	kit_lane(0);
}

/* GETNX-01, TIM-03; ruling 7 */
PXT_TEST(many_at_once_are_what_one_by_one_would_be)
{
	const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

	for (unsigned lanes = 1; lanes <= 4; lanes *= 2) {
		for (unsigned i = 0; i < 2; i++) {
			views_begin(policies[i], lanes, 65536);
			for (size_t room = 1; room <= MOST; room *= 4) {
				write_some(200, lanes);
				read_both(room);
			}
			views_end();
		}
	}
}

/* SYS-06, POL-05: losses are where they are */
PXT_TEST(so_are_those_of_a_stream_that_was_overwritten)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		views_begin(POSIX_TRACE_LOOP, lanes, 4096);
		for (unsigned round = 0; round < 4; round++) {
			write_some(round & 1u ? 20 : 900, 1);
			read_both(MOST);
		}
		views_end();
	}
}

/* POL-09, DEC-10: the automatic STOP, and the START after it */
PXT_TEST(so_are_those_of_a_stream_that_stops_and_starts_itself)
{
	views_begin(POSIX_TRACE_UNTIL_FULL, 1, 4096);
	for (unsigned round = 0; round < 4; round++) {
		write_some(400, 1);
		read_both(16);
	}
	views_end();
}

/* Seconds begin anew, and are not worked out for each event. */
PXT_TEST(times_go_on_over_a_second)
{
	views_begin(POSIX_TRACE_LOOP, 1, 4096);
	for (unsigned i = 0; i < 12; i++) {
		write_some(1, 1);
		pxt_port_pause_ns(100000000);
	}
	read_both(MOST);
	views_end();
}

/* Their data lies in one room of 32 KiB: the longest event that may come has place in what is left. */
PXT_TEST(a_call_ends_before_the_longest_event_would_leave_its_room)
{
	static struct posix_trace_eventview_np views[MOST];
	const struct kit_spec spec = {
		.policy = POSIX_TRACE_LOOP, .lanes = 1, .bytes = 262144, .data = 4095
	};

	for (size_t last = 1; last <= 48; last++) {
		size_t count = 0;
		size_t seen = 0;

		at_once = kit_open(&spec);
		kit_start(at_once);
		PXT_EQ_FATAL(
		    posix_trace_getnext_events_np(at_once, views, sizeof(*views), MOST, &count), 0);
		for (unsigned i = 0; i < 7; i++)
			kit_write(1, 4095);
		kit_write(1, last);
		for (unsigned i = 0; i < 3; i++)
			kit_write(1, 4095);
		do {
			const unsigned char *first;

			PXT_EQ_FATAL(posix_trace_getnext_events_np(
			                 at_once, views, sizeof(*views), MOST, &count),
			    0);
			first = views[0].posix_data_np;
			for (size_t i = 0; i < count; i++) {
				const unsigned char *data = views[i].posix_data_np;

				CU_ASSERT(data + views[i].posix_bytes_np <= first + 32768);
			}
			seen += count;
		} while (count);
		PXT_EQ(seen, 11);
		PXT_EQ(posix_trace_shutdown(at_once), 0);
	}
}
