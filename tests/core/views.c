/* SPDX-License-Identifier: MIT */
/*
 * views.c - posix_trace_getnext_events_np() of a stream hands out what as many calls of
 * posix_trace_trygetnext_event() would: two streams that record the same are read in both ways.
 */
#include "kit.h"

#include <errno.h>
#include <string.h>
#include <trace_np.h>

#define MOST 64u

static trace_id_t one_by_one;
static trace_id_t at_once;

static void begin(int policy, unsigned lanes, size_t bytes)
{
	const struct kit_spec spec = { .policy = policy, .lanes = lanes, .bytes = bytes };

	one_by_one = kit_open(&spec);
	at_once = kit_open(&spec);
	kit_start(one_by_one);
	kit_start(at_once);
}

static void end(void)
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
			begin(policies[i], lanes, 65536);
			for (size_t room = 1; room <= MOST; room *= 4) {
				write_some(200, lanes);
				read_both(room);
			}
			end();
		}
	}
}

/* SYS-06, POL-05: losses are where they are */
PXT_TEST(so_are_those_of_a_stream_that_was_overwritten)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(POSIX_TRACE_LOOP, lanes, 4096);
		for (unsigned round = 0; round < 4; round++) {
			write_some(round & 1u ? 20 : 900, 1);
			read_both(MOST);
		}
		end();
	}
}

/* POL-09, DEC-10: the automatic STOP, and the START after it */
PXT_TEST(so_are_those_of_a_stream_that_stops_and_starts_itself)
{
	begin(POSIX_TRACE_UNTIL_FULL, 1, 4096);
	for (unsigned round = 0; round < 4; round++) {
		write_some(400, 1);
		read_both(16);
	}
	end();
}

/* Seconds begin anew, and are not worked out for each event. */
PXT_TEST(times_go_on_over_a_second)
{
	begin(POSIX_TRACE_LOOP, 1, 4096);
	for (unsigned i = 0; i < 12; i++) {
		write_some(1, 1);
		pxt_port_pause_ns(100000000);
	}
	read_both(MOST);
	end();
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
