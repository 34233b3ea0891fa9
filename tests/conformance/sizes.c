/* SPDX-License-Identifier: MIT */
/* sizes.c - what stream-min-size promises: any events whose sizes sum to it are recorded. */
#include "../suite.h"

#include <pthread.h>
#include <string.h>
#include <trace.h>
#include <trace_np.h>

#if PXT_CAN_WATCH

#define STREAM_BYTES 8192
#define DATA_BYTES   96
#define THREADS      4

static const size_t lengths[] = { 0, 1, 3, 4, 5, 11, 12, 13, 24, 25, 32, 64, 95, 96, 200 };
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static const unsigned lane_counts[] = { 0, 1, 2, 4 };
#define LANE_COUNTS (sizeof(lane_counts) / sizeof(lane_counts[0]))

static unsigned char pattern[256];
static trace_event_id_t sized_event;

struct plan {
	trace_attr_t attr;
	size_t length;  /* of each event's data */
	size_t kept;    /* of it on recording */
	size_t promise; /* so many events fit beside START */
};

/* Attributes with @lanes, and how many events of @length the size promises room for. */
static bool make_plan(struct plan *plan, int policy, unsigned lanes, size_t length)
{
	size_t user = 0;
	size_t system = 0;

	pxt_attr(&plan->attr, STREAM_BYTES, DATA_BYTES, policy);
	if (lanes > _PXT_LANES_MAX || posix_trace_attr_setlanes_np(&plan->attr, lanes) != 0)
		return false;
	PXT_EQ(posix_trace_attr_getmaxusereventsize(&plan->attr, length, &user), 0);
	PXT_EQ(posix_trace_attr_getmaxsystemeventsize(&plan->attr, &system), 0);
	CU_ASSERT_FATAL(user > 0 && system < STREAM_BYTES);
	plan->length = length;
	plan->kept = length < DATA_BYTES ? length : DATA_BYTES;
	plan->promise = (STREAM_BYTES - system) / user;
	return true;
}

/* Reads all there is; returns how many events of ours came whole and in sequence from @first. */
static size_t count_whole(trace_id_t trid, const struct plan *plan, unsigned char first)
{
	struct pxt_got event;
	size_t count = 0;

	while (pxt_next(trid, &event)) {
		if (event.info.posix_event_id != sized_event)
			continue;
		if (event.len != plan->kept)
			continue;
		if (plan->kept != 0 &&
		    memcmp(event.data, &pattern[(unsigned char)(first + count) % 16], plan->kept) !=
		        0)
			continue;
		count++;
	}
	return count;
}

static void emit(const struct plan *plan, size_t count, unsigned char first)
{
	for (size_t i = 0; i < count; i++)
		posix_trace_event(sized_event, &pattern[(unsigned char)(first + i) % 16],
		    plan->length < sizeof(pattern) - 16 ? plan->length : sizeof(pattern) - 16);
}

static void prepare(void)
{
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (unsigned char)(i * 7 + 3);
	sized_event = pxt_open_event("sizes_event");
}

/* SIZ-01, SIZ-02 */
PXT_TEST(events_that_sum_to_the_stream_size_are_all_recorded)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
	struct plan plan;

	prepare();
	for (size_t i = 0; i < 2 * LANE_COUNTS * LENGTHS; i++) {
		int policy = policies[i % 2];
		unsigned lanes = lane_counts[i / 2 % LANE_COUNTS];
		size_t length = lengths[i / 2 / LANE_COUNTS];
		if (!pxt_stream_policy_exists(policy) || !make_plan(&plan, policy, lanes, length))
			continue;
		trace_id_t trid = pxt_any_stream(&plan.attr);
		PXT_EQ(posix_trace_start(trid), 0);
		emit(&plan, plan.promise, 0);
		size_t got = count_whole(trid, &plan, 0);
		PXT_CHECK(got == plan.promise,
		    "%zu of %zu events of %zu bytes, policy %d, %u lanes", got, plan.promise,
		    length, policy, lanes);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/* SIZ-04 */
PXT_TEST(the_promise_holds_at_every_position_of_the_ring)
{
	struct plan plan;

	prepare();
	for (size_t i = 0; i < LENGTHS; i++) {
		if (!make_plan(&plan, 0, lane_counts[i % LANE_COUNTS], lengths[i]))
			continue;
		trace_id_t trid = pxt_any_stream(&plan.attr);
		PXT_EQ(posix_trace_start(trid), 0);
		pxt_drain(trid, POSIX_TRACE_START);
		for (size_t round = 0; round < 40; round++) {
			emit(&plan, round, 0);
			pxt_drain(trid, sized_event);
			emit(&plan, plan.promise, 5);
			size_t got = count_whole(trid, &plan, 5);
			PXT_CHECK(got == plan.promise, "round %zu: %zu of %zu events of %zu bytes",
			    round, got, plan.promise, lengths[i]);
		}
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

struct share {
	const struct plan *plan;
	size_t count;
};

static void *emit_share(void *argument)
{
	const struct share *share = argument;

	emit(share->plan, share->count, 0);
	return NULL;
}

/* SIZ-04 */
PXT_TEST(the_promise_holds_however_threads_share_it)
{
	struct plan plan;
	pthread_t threads[THREADS];
	struct share shares[THREADS];

	prepare();
	for (size_t i = 0; i < LANE_COUNTS * 3; i++) {
		size_t started = 0;
		if (!make_plan(&plan, 0, lane_counts[i % LANE_COUNTS], 24))
			continue;
		trace_id_t trid = pxt_any_stream(&plan.attr);
		PXT_EQ(posix_trace_start(trid), 0);
		for (size_t t = 0; t < THREADS; t++) {
			/* Even shares, one thread with nearly all, and one thread with all. */
			size_t part = i / LANE_COUNTS == 0   ? plan.promise / THREADS
			              : i / LANE_COUNTS == 1 ? (t == 0 ? plan.promise - 3 : 1)
			                                     : (t == 2 ? plan.promise : 0);
			shares[t] = (struct share){ &plan, part };
			started += part;
			PXT_EQ_FATAL(pthread_create(&threads[t], NULL, emit_share, &shares[t]), 0);
		}
		for (size_t t = 0; t < THREADS; t++)
			pthread_join(threads[t], NULL);
		size_t got = pxt_drain(trid, sized_event);
		PXT_CHECK(got == started, "%zu of %zu events on %u lanes", got, started,
		    lane_counts[i % LANE_COUNTS]);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/* SIZ-01, SIZ-05 */
PXT_TEST(the_size_in_force_keeps_its_promise_as_well)
{
	trace_attr_t attr;
	size_t stream = 0;
	size_t user = 0;
	size_t system = 0;
	static const size_t requests[] = { 100, 1000, 5000, 10000 };

	prepare();
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		pxt_attr(&attr, requests[i], 16, 0);
		trace_id_t trid = pxt_any_stream(&attr);
		PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
		PXT_EQ(posix_trace_attr_getstreamsize(&attr, &stream), 0);
		PXT_EQ(posix_trace_attr_getmaxusereventsize(&attr, 16, &user), 0);
		PXT_EQ(posix_trace_attr_getmaxsystemeventsize(&attr, &system), 0);
		CU_ASSERT_FATAL(stream >= system + user);
		PXT_EQ(posix_trace_start(trid), 0);
		size_t promise = (stream - system) / user;
		for (size_t n = 0; n < promise; n++)
			posix_trace_event(sized_event, pattern, 16);
		size_t got = pxt_drain(trid, sized_event);
		PXT_CHECK(got == promise, "%zu of %zu events in %zu bytes", got, promise, stream);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/* SIZ-06, POL-07, POL-09 */
PXT_TEST(automatic_stop_and_start_never_lack_room)
{
	struct posix_trace_status_info status;
	struct plan plan;
	struct pxt_got event;

	prepare();
	if (!pxt_stream_policy_exists(POSIX_TRACE_UNTIL_FULL) || !CONFIG_PTRACE_SYSEV_START_STOP) {
		pxt_skip("no UNTIL_FULL policy, or no START and STOP");
		return;
	}
	for (size_t i = 0; i < LANE_COUNTS * LENGTHS; i++) {
		trace_event_id_t last = 0;
		if (!make_plan(&plan, POSIX_TRACE_UNTIL_FULL, lane_counts[i % LANE_COUNTS],
		        lengths[i / LANE_COUNTS]))
			continue;
		trace_id_t trid = pxt_any_stream(&plan.attr);
		PXT_EQ(posix_trace_start(trid), 0);
		size_t emitted = 0;
		do {
			emit(&plan, 1, 0);
			PXT_EQ(posix_trace_get_status(trid, &status), 0);
		} while (status.posix_stream_status == POSIX_TRACE_RUNNING && ++emitted < 100000);
		PXT_EQ(status.posix_stream_full_status, POSIX_TRACE_FULL);
		CU_ASSERT(emitted >= plan.promise);
		while (pxt_next(trid, &event) && event.info.posix_event_id != POSIX_TRACE_STOP)
			last = event.info.posix_event_id;
		PXT_EQ(last, sized_event);
		PXT_EQ(event.info.posix_event_id, POSIX_TRACE_STOP);
		CU_ASSERT_FATAL(pxt_next(trid, &event));
		PXT_EQ(event.info.posix_event_id, POSIX_TRACE_START);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

#endif
