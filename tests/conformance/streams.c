/* SPDX-License-Identifier: MIT */
/* streams.c - making, starting, stopping, clearing and removing streams; what a trace point does. */
#include "story.h"

#include "../suite.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct st_spec plain = { .max_data = 128 };
static const struct st_spec small_until_full = {
	.policy = POSIX_TRACE_UNTIL_FULL,
	.size = 1024,
};

#define NEVER ((trace_id_t)0x5a5a5a5a)

/* ---- Create ---- */

/* CREATE-01, PROC-01 */
PXT_TEST(create_makes_a_stream_for_pid_0_and_for_the_own_pid)
{
	const pid_t pids[] = { 0, getpid() };

	for (size_t i = 0; i < 2; i++) {
		trace_id_t trid = 0;

		PXT_EQ_FATAL(posix_trace_create(pids[i], NULL, &trid), 0);
		PXT_EQ(posix_trace_start(trid), 0);
		st_say(1);
		PXT_EQ(posix_trace_stop(trid), 0);
		st_expect(trid, "START 1 STOP0");
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/* CREATE-02, DEC-06, AGSFP-03 */
PXT_TEST(without_attributes_create_uses_the_defaults)
{
	trace_attr_t defaults;
	trace_attr_t got;
	trace_id_t trid = 0;
	size_t expected = 0;
	size_t bytes = 0;
	int policy = 0;
	char name[TRACE_NAME_MAX + 1] = "x";

	PXT_EQ(posix_trace_attr_init(&defaults), 0);
	PXT_EQ_FATAL(posix_trace_create(0, NULL, &trid), 0);
	PXT_EQ(posix_trace_get_attr(trid, &got), 0);
	PXT_EQ(posix_trace_attr_getstreamfullpolicy(&got, &policy), 0);
	PXT_EQ(policy, POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_attr_getmaxdatasize(&defaults, &expected), 0);
	PXT_EQ(posix_trace_attr_getmaxdatasize(&got, &bytes), 0);
	PXT_EQ(bytes, expected);
	PXT_EQ(posix_trace_attr_getstreamsize(&defaults, &expected), 0);
	PXT_EQ(posix_trace_attr_getstreamsize(&got, &bytes), 0);
	CU_ASSERT(bytes >= expected);
	PXT_EQ(posix_trace_attr_getname(&got, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* CREATE-03, POL-01, POL-13 */
PXT_TEST(a_new_stream_is_suspended_not_full_and_without_overrun)
{
	for (int policy = POSIX_TRACE_LOOP; policy <= POSIX_TRACE_UNTIL_FULL; policy++) {
		const struct st_spec spec = { .policy = policy };
		trace_id_t trid = st_create(&spec);

		st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/* CREATE-04, TIM-02, GATTR-01, AGCRT-01 */
PXT_TEST(the_creation_time_is_the_wall_clock_at_create)
{
	int64_t before = pxt_now_ns();
	trace_id_t trid = st_create(&plain);
	int64_t after = pxt_now_ns();
	trace_attr_t attr;
	struct timespec created = { 0, -1 };

	pxt_sleep_ms(2);
	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getcreatetime(&attr, &created), 0);
	PXT_CHECK(before <= pxt_ns(&created) && pxt_ns(&created) <= after, "%lld not in %lld..%lld",
	    (long long)pxt_ns(&created), (long long)before, (long long)after);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* CREATE-05, CREATE-07 */
PXT_TEST(identifiers_of_living_streams_differ)
{
	trace_id_t trids[TRACE_SYS_MAX];

	for (size_t i = 0; i < TRACE_SYS_MAX; i++) {
		trids[i] = st_create(&plain);
		for (size_t j = 0; j < i; j++)
			CU_ASSERT(trids[j] != trids[i]);
	}
	for (size_t i = 0; i < TRACE_SYS_MAX; i++)
		PXT_EQ(posix_trace_shutdown(trids[i]), 0);
}

/* CREATE-07, CREATE-E1, CREATE-10, SHUT-08, DEC-33, DEC-36 */
PXT_TEST(one_stream_too_many_is_eagain_until_another_is_shut_down)
{
	trace_id_t trids[TRACE_SYS_MAX];

	for (int round = 0; round < 3; round++) {
		trace_id_t extra = NEVER;

		for (size_t i = 0; i < TRACE_SYS_MAX; i++)
			trids[i] = st_create(&plain);
		PXT_EQ(posix_trace_create(0, NULL, &extra), EAGAIN);
		PXT_EQ(posix_trace_create(0, NULL, &extra), EAGAIN);
		CU_ASSERT(extra == NEVER);
		PXT_EQ(posix_trace_shutdown(trids[3 % TRACE_SYS_MAX]), 0);
		PXT_EQ(posix_trace_create(0, NULL, &trids[3 % TRACE_SYS_MAX]), 0);
		for (size_t i = 0; i < TRACE_SYS_MAX; i++)
			PXT_EQ(posix_trace_shutdown(trids[i]), 0);
	}
}

/* CREATE-08 */
PXT_TEST(create_records_nothing)
{
	trace_id_t other = st_started(&plain);
	trace_id_t trid = st_create(&plain);
	struct posix_trace_counts_np counts;

	st_expect(trid, "");
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_written_np, 0);
	PXT_EQ(posix_trace_stop(other), 0);
	st_expect(other, "START STOP0");
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(posix_trace_shutdown(other), 0);
}

/* CREATE-E3, POL-11, ASSFP-02, DEC-33 */
PXT_TEST(create_without_log_refuses_the_flush_policy_and_spoilt_attributes)
{
	trace_id_t trid = NEVER;
	trace_attr_t attr;

#if _PXT_UNIT_TOLOG
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	if (posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH) == 0)
		PXT_EQ(posix_trace_create(0, &attr, &trid), EINVAL);
#endif
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_create(0, &attr, &trid), EINVAL);
	CU_ASSERT(trid == NEVER);
}

/* ---- Several streams ---- */

/* CON-04 */
PXT_TEST(streams_keep_their_own_size_policy_status_and_position)
{
	const struct st_spec roomy = { .policy = POSIX_TRACE_UNTIL_FULL, .size = 1 << 13 };
	trace_id_t one, two, off;
	struct st_event event;

	if (TRACE_SYS_MAX < 3) {
		pxt_skip("no three streams here");
		return;
	}
	one = st_started(&roomy);
	two = st_started(&roomy);
	off = st_create(&small_until_full);
	st_say_many(1, 5);
	st_expect_most(one, 3, "START 1..2");
	PXT_EQ(posix_trace_stop(one), 0);
	st_expect_status(one, "SUSPENDED NOT_FULL NO_OVERRUN");
	st_expect_status(two, "RUNNING NOT_FULL NO_OVERRUN");
	st_say(6);
	PXT_EQ(posix_trace_clear(one), 0);
	PXT_EQ(posix_trace_start(off), 0);
	st_say(7);
	PXT_EQ(posix_trace_shutdown(one), 0);
	st_say(8);
	PXT_EQ(posix_trace_stop(two), 0);
	PXT_EQ(posix_trace_stop(off), 0);
	st_expect(two, "START 1..8 STOP0");
	st_expect(off, "START 7..8 STOP0");
	CU_ASSERT_FALSE(st_take(off, &event));
	PXT_EQ(posix_trace_shutdown(two), 0);
	PXT_EQ(posix_trace_shutdown(off), 0);
}

/* CON-24, EVENT-01 */
PXT_TEST(an_event_is_recorded_in_every_running_stream)
{
	trace_id_t trids[TRACE_SYS_MAX];

	for (size_t i = 0; i < TRACE_SYS_MAX; i++)
		trids[i] = st_started(&plain);
	for (int i = 1; i <= 10; i++)
		st_say_long(i, 100);
	for (size_t i = 0; i < TRACE_SYS_MAX; i++) {
		struct st_event event;

		PXT_EQ(posix_trace_stop(trids[i]), 0);
		for (int number = 1; number <= 10; number++) {
			CU_ASSERT(st_take_user(trids[i], &event));
			PXT_EQ(st_number(&event), number);
			PXT_EQ(event.len, 100);
			CU_ASSERT(st_data_intact(&event));
		}
		PXT_EQ(posix_trace_shutdown(trids[i]), 0);
	}
}

/* CON-25, POL-12 */
PXT_TEST(an_event_lost_in_a_full_stream_is_still_recorded_in_others)
{
	const struct st_spec roomy = { .size = 1 << 13 };
	struct st_full full;
	trace_id_t small = st_full_stream(&small_until_full, false, &full);
	trace_id_t big = st_started(&roomy);

	st_expect_status(small, "SUSPENDED FULL NO_OVERRUN");
	st_say_many(1, 100);
	st_expect_status(small, "SUSPENDED FULL OVERRUN");
	st_expect_status(big, "RUNNING NOT_FULL NO_OVERRUN");
	PXT_EQ(posix_trace_stop(big), 0);
	st_expect(big, "START 1..100 STOP0");
	PXT_EQ(posix_trace_shutdown(small), 0);
	PXT_EQ(posix_trace_shutdown(big), 0);
}

static volatile sig_atomic_t any_signal;

static void note_signal(int signal)
{
	any_signal = signal;
}

/* CON-27, EVENT-04, DEC-32 */
PXT_TEST(the_traced_code_sees_no_signal_and_no_errno)
{
	struct st_full full;
	trace_id_t trid = st_full_stream(&small_until_full, true, &full);
	trace_id_t loop = st_started(&plain);

	for (int signal = 1; signal < SIGRTMIN; signal++) {
		if (signal != SIGKILL && signal != SIGSTOP && signal != SIGCHLD)
			st_on_signal(signal, note_signal);
	}
	any_signal = 0;
	errno = 4711;
	for (int i = 0; i < 10000; i++) {
		st_say(i);
		posix_trace_event(0, NULL, 0);
		posix_trace_event(~(trace_event_id_t)0, &i, sizeof(i));
		posix_trace_event(POSIX_TRACE_STOP, &i, sizeof(i));
		if (errno != 4711)
			break;
	}
	PXT_EQ(errno, 4711);
	PXT_EQ(any_signal, 0);
	for (int signal = 1; signal < SIGRTMIN; signal++) {
		if (signal != SIGKILL && signal != SIGSTOP && signal != SIGCHLD)
			(void)sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(posix_trace_shutdown(loop), 0);
}

/* CON-08, CON-18 */
PXT_TEST(names_and_attributes_survive_overrun_and_clear)
{
	const struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .size = 1024, .max_data = 24 };
	trace_id_t trid = st_started(&spec);
	trace_attr_t before;
	trace_attr_t after;
	trace_event_id_t id = 0;
	char name[TRACE_EVENT_NAME_MAX + 1];
	size_t bytes = 0;
	struct timespec created[2];

	PXT_EQ(posix_trace_eventid_open("survivor", &id), 0);
	PXT_EQ(posix_trace_get_attr(trid, &before), 0);
	for (int i = 0; i < 1000; i++)
		st_say(i);
	st_expect_status(trid, "RUNNING FULL OVERRUN");
	for (int round = 0; round < 2; round++) {
		PXT_EQ(posix_trace_eventid_get_name(trid, id, name), 0);
		CU_ASSERT_STRING_EQUAL(name, "survivor");
		PXT_EQ(posix_trace_get_attr(trid, &after), 0);
		PXT_EQ(posix_trace_attr_getmaxdatasize(&after, &bytes), 0);
		PXT_EQ(bytes, 24);
		PXT_EQ(posix_trace_attr_getcreatetime(&before, &created[0]), 0);
		PXT_EQ(posix_trace_attr_getcreatetime(&after, &created[1]), 0);
		PXT_EQ(pxt_ns(&created[0]), pxt_ns(&created[1]));
		PXT_EQ(posix_trace_clear(trid), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Shutdown ---- */

/* SHUT-03, SHUT-01 */
PXT_TEST(shutdown_discards_unread_events_of_a_running_stream)
{
	trace_id_t trid = st_started(&plain);

	for (int i = 0; i < 100; i++)
		st_say(i);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = st_create(&plain);
	st_expect(trid, "");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Start and stop ---- */

/* START-01, START-02, START-04, STOP-01, STOP-02, STOP-05, SYS-02, SYS-04, POL-14, EVENT-03 */
PXT_TEST(start_and_stop_bound_what_is_recorded)
{
	trace_id_t trid = st_create(&plain);

	st_say(1);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	st_say(2);
	PXT_EQ(posix_trace_start(trid), 0);
	st_say(3);
	PXT_EQ(posix_trace_stop(trid), 0);
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	st_say(4);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	st_say(5);
	PXT_EQ(posix_trace_stop(trid), 0);
	st_expect(trid, "START 2..3 STOP0 START 5 STOP0");
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Clear ---- */

/* CLEAR-01, CLEAR-02, CLEAR-08 */
PXT_TEST(clear_of_a_running_stream_keeps_it_running_and_records_nothing)
{
	trace_id_t trid = st_started(&plain);

	for (int i = 0; i < 50; i++)
		st_say(i);
	PXT_EQ(posix_trace_clear(trid), 0);
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	st_expect(trid, "");
	st_say(51);
	st_expect(trid, "51");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* CLEAR-01, CLEAR-02 */
PXT_TEST(clear_of_a_stopped_stream_leaves_it_stopped_and_empty)
{
	trace_id_t trid = st_started(&plain);

	st_say(1);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_clear(trid), 0);
	st_say(2);
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	st_expect(trid, "");
	PXT_EQ(posix_trace_start(trid), 0);
	st_say(3);
	st_expect(trid, "START 3");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* CLEAR-03 */
PXT_TEST(clear_resets_full_and_overrun)
{
	const struct st_spec loop = { .policy = POSIX_TRACE_LOOP, .size = 1024 };
	trace_id_t trid = st_started(&loop);
	struct st_full full;

	for (int i = 0; i < 1000; i++)
		st_say(i);
	PXT_EQ(posix_trace_clear(trid), 0);
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	PXT_EQ(posix_trace_shutdown(trid), 0);

	trid = st_full_stream(&small_until_full, true, &full);
	st_say(1);
	PXT_EQ(posix_trace_clear(trid), 0);
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* CLEAR-01, CLEAR-03: the whole size is there again, whatever the ring's position */
PXT_TEST(after_clear_the_whole_stream_can_be_filled_again)
{
	trace_id_t trid;
	struct st_full first;

	st_pin(true);
	trid = st_started(&small_until_full);
	st_fill(trid, 1, 4, &first);
	for (int round = 0; round < 20; round++) {
		struct st_full again;

		PXT_EQ(posix_trace_clear(trid), 0);
		PXT_EQ(posix_trace_start(trid), 0);
		for (int i = 0; i < round; i++)
			st_say(i);
		PXT_EQ(posix_trace_clear(trid), 0);
		st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
		st_fill(trid, 1, 4, &again);
		CU_ASSERT(again.recorded >= first.recorded);
		st_expect(trid, st_text("1..%d STOP1 START", again.recorded));
		PXT_EQ(posix_trace_stop(trid), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	st_pin(false);
}

#if _PXT_UNIT_FILTER
/* CLEAR-04, DEC-25 */
PXT_TEST(clear_empties_the_filter)
{
	trace_id_t trid = st_create(&plain);
	trace_event_set_t set;
	int member = 77;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(st_type(), &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	st_say(1);
	PXT_EQ(posix_trace_clear(trid), 0);
	PXT_EQ(posix_trace_get_filter(trid, &set), 0);
	PXT_EQ(posix_trace_eventset_ismember(st_type(), &set, &member), 0);
	PXT_EQ(member, 0);
	st_say(2);
	st_expect(trid, "2");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#else
/* SYS-03 */
PXT_TEST(start_has_no_data_without_the_event_filter)
{
	trace_id_t trid = st_started(&plain);
	struct st_event event;

	CU_ASSERT(st_take(trid, &event));
	PXT_EQ(event.info.posix_event_id, POSIX_TRACE_START);
	PXT_EQ(event.len, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* ---- Trace points ---- */

/* EVENT-02, TRU-01, TRU-02 */
PXT_TEST(truncation_is_decided_for_each_stream)
{
	const struct st_spec narrow = { .max_data = 10 };
	const struct st_spec wide = { .max_data = 11 };
	trace_id_t ten = st_started(&narrow);
	trace_id_t eleven = st_started(&wide);
	struct st_event event;

	st_say_long(5, 11);
	CU_ASSERT(st_take_user(ten, &event));
	PXT_EQ(event.len, 10);
	PXT_EQ(event.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	CU_ASSERT(st_data_intact(&event));
	CU_ASSERT(st_take_user(eleven, &event));
	PXT_EQ(event.len, 11);
	PXT_EQ(event.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	CU_ASSERT(st_data_intact(&event));
	PXT_EQ(posix_trace_shutdown(ten), 0);
	PXT_EQ(posix_trace_shutdown(eleven), 0);
}

/* EVENT-05, EVENT-08 */
PXT_TEST(an_event_may_have_no_data_and_be_unnamed)
{
	trace_id_t trid = st_started(&plain);
	struct st_event event;

	st_expect(trid, "START");
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "abc", 3);
	CU_ASSERT(st_take(trid, &event));
	PXT_EQ(event.info.posix_event_id, POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(event.len, 0);
	PXT_EQ(event.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	CU_ASSERT(st_take(trid, &event));
	PXT_EQ(event.info.posix_event_id, POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(event.len, 3);
	CU_ASSERT(memcmp(event.data, "abc", 3) == 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* EVENT-06 */
PXT_TEST(data_is_copied_during_the_call_from_any_address)
{
	trace_id_t trid = st_started(&plain);
	unsigned char buffer[128];
	struct st_event event;

	st_expect(trid, "START");
	for (size_t offset = 0; offset < 17; offset++) {
		for (size_t len = 0; len < 64; len++) {
			for (size_t i = 0; i < sizeof(buffer); i++)
				buffer[i] = (unsigned char)(i + len);
			posix_trace_event(st_type(), buffer + offset, len);
			memset(buffer, 0xee, sizeof(buffer));
			CU_ASSERT_FATAL(st_take(trid, &event));
			PXT_EQ(event.len, len);
			bool same = true;
			for (size_t i = 0; i < len; i++)
				same = same && event.data[i] == (unsigned char)(i + offset + len);
			PXT_CHECK(same, "offset %zu, length %zu", offset, len);
		}
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* EVENT-09, DEC-31 */
PXT_TEST(unknown_and_system_identifiers_have_no_effect)
{
	trace_id_t trid = st_started(&plain);
	const trace_event_id_t never = ~(trace_event_id_t)0;
	struct posix_trace_counts_np before;
	struct posix_trace_counts_np after;

	st_expect(trid, "START");
	PXT_EQ(posix_trace_getcounts_np(trid, &before, sizeof(before)), 0);
	posix_trace_event(0, "abc", 3);
	posix_trace_event(never, "abc", 3);
	posix_trace_event(never - 1023, "abc", 3);
	posix_trace_event(32 + TRACE_USER_EVENT_MAX, "abc", 3);
	for (trace_event_id_t id = 1; id < POSIX_TRACE_UNNAMED_USEREVENT; id++)
		posix_trace_event(id, "abc", 3);
	st_expect(trid, "");
	PXT_EQ(posix_trace_getcounts_np(trid, &after, sizeof(after)), 0);
	PXT_EQ(after.posix_written_np, before.posix_written_np);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Attributes and status of a stream ---- */

/* mistake 9, GSTAT-01, STA-01, STA-02, STA-06, POL-13 */
PXT_TEST(the_status_shows_all_members_and_resets_the_overrun_flag)
{
	struct st_full full;
	trace_id_t trid = st_full_stream(&small_until_full, false, &full);
	struct posix_trace_status_info status;

	st_say(1);
	for (int i = 0; i < 2; i++) {
		memset(&status, 0x5a, sizeof(status));
		PXT_EQ(posix_trace_get_status(trid, &status), 0);
		PXT_EQ(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
		PXT_EQ(status.posix_stream_full_status, POSIX_TRACE_FULL);
		PXT_EQ(status.posix_stream_overrun_status,
		    i == 0 ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN);
		PXT_EQ(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
		PXT_EQ(status.posix_stream_flush_error, 0);
		PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
		PXT_EQ(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	}
	PXT_EQ(POSIX_TRACE_NO_OVERRUN, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-17: the law of the counts, in every state (ruling 7) */
PXT_TEST(counts_follow_events_reads_losses_and_clear)
{
	struct st_full full;
	trace_id_t trid = st_full_stream(&small_until_full, false, &full);
	struct posix_trace_counts_np counts;
	struct st_event event;

	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(counts.posix_written_np, full.last + 1);
	PXT_EQ(counts.posix_held_np, full.last + 1);
	st_say(1);
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(counts.posix_written_np, full.last + 2);
	PXT_EQ(counts.posix_lost_np, 1);
	for (int i = 1; i <= 5; i++) {
		CU_ASSERT(st_take(trid, &event));
		CU_ASSERT(st_law(trid, &counts));
		PXT_EQ(counts.posix_retrieved_np, i);
	}
	PXT_EQ(posix_trace_clear(trid), 0);
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(counts.posix_held_np, 0);
	PXT_EQ(counts.posix_cleared_np, full.last + 1 - 5);
	st_say(2);
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(counts.posix_written_np, full.last + 2);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if _PXT_UNIT_EXTENSIONS
static size_t listed(trace_id_t *trids, size_t room)
{
	size_t count = 99;

	PXT_EQ(posix_trace_streams_np(trids, room, &count), 0);
	return count;
}

/* SHARK-17 */
PXT_TEST_FRESH(the_streams_of_the_process_can_be_listed)
{
	const struct st_spec spec = { .lanes = 1 };
	trace_id_t made[3];
	trace_id_t trids[4] = { 77, 77, 77, 77 };

	PXT_EQ(listed(NULL, 0), 0);
	for (int i = 0; i < 3; i++)
		made[i] = st_create(&spec);
	PXT_EQ(listed(trids, 4), 3);
	for (int i = 0; i < 3; i++)
		CU_ASSERT(trids[i] == made[i]);
	CU_ASSERT(trids[3] == 77);
	/* More than there is room for are counted. */
	trids[1] = 77;
	PXT_EQ(listed(trids, 1), 3);
	CU_ASSERT(trids[1] == 77);
	PXT_EQ(posix_trace_shutdown(made[1]), 0);
	PXT_EQ(listed(trids, 4), 2);
	CU_ASSERT(trids[0] == made[0] && trids[1] == made[2]);
	PXT_EQ(posix_trace_shutdown(made[0]), 0);
	PXT_EQ(posix_trace_shutdown(made[2]), 0);
	PXT_EQ(listed(trids, 4), 0);
}

PXT_TEST(the_library_tells_its_version_and_limits_at_run_time)
{
	PXT_EQ(posix_trace_query_np(POSIX_TRACE_QUERY_VERSION_NP), POSIX_TRACE_VERSION_NP);
	PXT_EQ(posix_trace_query_np(POSIX_TRACE_QUERY_SYS_MAX_NP), TRACE_SYS_MAX);
	PXT_EQ(posix_trace_query_np(POSIX_TRACE_QUERY_USER_EVENT_MAX_NP), TRACE_USER_EVENT_MAX);
	PXT_EQ(posix_trace_query_np(POSIX_TRACE_QUERY_NAME_MAX_NP), TRACE_NAME_MAX);
	PXT_EQ(posix_trace_query_np(POSIX_TRACE_QUERY_TRACE_NP), POSIX_TRACE_HAVE_ONLINE_NP);
	PXT_EQ(posix_trace_query_np(POSIX_TRACE_QUERY_INHERIT_NP), POSIX_TRACE_HAVE_INHERIT_NP);
	PXT_EQ(posix_trace_query_np(POSIX_TRACE_QUERY_INHERIT_NP + 1), -1);
	PXT_EQ(posix_trace_query_np(-1), -1);
}

PXT_TEST(other_languages_ask_a_function_whether_a_type_is_wanted)
{
	const struct st_spec spec = { .lanes = 1 };
	trace_id_t trid = st_create(&spec);
	trace_event_id_t id;

	PXT_EQ(posix_trace_eventid_open("asked", &id), 0);
	PXT_EQ((posix_trace_wanted_np)(id), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	CU_ASSERT((posix_trace_wanted_np)(id) != 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ((posix_trace_wanted_np)(id), 0);
}
#endif
