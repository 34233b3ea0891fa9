/* SPDX-License-Identifier: MIT */
/*
 * drawn.c - the order of the merged lanes, in thousands of drawn schedules.  Six writers and a reader
 * run one at a time (turns.c); at each test point another may go on.  The clock is a counter that each
 * reading increments, so that stamps of calls give their exact order.  The reading inside a trace point
 * may be too low by up to the resolution, as on a processor that reads its counter before older
 * instructions have finished.  tests/truth/threads.c tests the same with threads that really run at the
 * same time, and cannot force the windows that are drawn here.
 */
#include "../beside.h"
#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/process.h"
#include "core/process/threads.h"
#include "core/stream/stream.h"
#include "core/testpoints.h"
#include "fakes/fakes.h"
#include "port_atomic.h"
#include "suite.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WRITERS     6
#define READER      WRITERS
#define EVENTS_EACH 120
#define EVENTS      (WRITERS * EVENTS_EACH)
#define LARGE       65536u
#define SMALL       4096u
#define HZ          20000000u /* a tick is 50 ns, the resolution (1 us) 20 of them */
#define RESOLUTION  20u
#define NEVER_NS    (UINT64_C(1000) * 1000000000)
#define HOLDBACK_NS 2000u

void (*_Atomic pxt_testpoint_hook)(int point);

/* How a stream is made, and what may happen. */
struct ground {
	int policy;
	unsigned lanes;
	size_t size;
	bool ordered; /* by the stream's attribute: stamps are never too low */
	bool early;   /* stamps may be too low by up to the resolution */
	bool whole;   /* no writer is interrupted within an event */
	bool logged;  /* the reader flushes, and reads the log in the end */
	bool divided; /* the reader stops the stream now and then, and starts it again */
	bool brief;   /* the hold-back time is over soon, and a writer stays away for longer */
};

struct event {
	uint64_t began; /* clock before the call, and after it (0: it has not returned) */
	uint64_t ended;
	uint64_t stamp;  /* as it was told; what is reported never steps back */
	int64_t told_ns; /* what was reported */
	bool reported;
};

static const struct ground *ground;
static struct event events[WRITERS][EVENTS_EACH];
/* In the order of their reservation, where events are whole. */
static struct event *in_lane[CONFIG_PTRACE_LANES_MAX][EVENTS + 1];
static uint64_t lane_count[CONFIG_PTRACE_LANES_MAX];
static uint64_t lane_looked[CONFIG_PTRACE_LANES_MAX];
static struct event *reported[EVENTS];
static unsigned reported_count;
static unsigned writers_left;
static bool over;
static uint64_t lost_began; /* the latest beginning among events that are known to be lost */
static unsigned looks_in_vain;
static uint64_t
    silent_from; /* since then the reader could have been given something, and was not */
static int64_t last_stamp_ns;
static bool stopped; /* says what was read */
#define STOPS 16
static struct event stops[STOPS]; /* by call, while writers run */
static unsigned stop_count;
static unsigned stops_read;
static trace_event_id_t type;
static trace_id_t stream;
static int log_fd;
static struct pxt_block *block;
static struct pxt_ticks to_time; /* as the stream reports it */

static struct {
	uint64_t broken, far, back, disordered, untrue, older, silent, wrong, filled;
} found;

static _Thread_local bool is_writer;
static _Thread_local bool stamping;
static _Thread_local uint64_t last_told;
static _Thread_local volatile uint32_t lane;

/* ---- Clock and turns ---- */

static uint64_t tell(uint64_t ticks)
{
	uint32_t resolution = RESOLUTION;

	if (!stamping)
		return ticks;
	/* Most are right, or as wrong as they may be. */
	if (ground->early && turns_draw(2))
		ticks -= turns_draw(2) ? turns_draw(resolution) : resolution;
	/* A thread's own readings go on: between two events in different lanes it changed its CPU. */
	if (ticks <= last_told)
		ticks = last_told + 1u;
	last_told = ticks;
	return ticks;
}

static void at_point(int point)
{
	found.filled += point == PXT_TP_LAPPED || point == PXT_TP_AUTO_STOPPED;
	if (is_writer && ground->whole)
		return;
	/* With a record that is begun and not finished. */
	if (ground->brief && point == PXT_TP_RESERVED && turns_draw(40) == 0)
		(void)turns_sleep(20u * (uint32_t)pxt_process_holdback_ticks());
	else
		turns_pass();
}

/* A flush waits for unfinished records: their writers must run. */
void __real_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns)
{
	if (!turns_sleep(3))
		__real_pxt_port_pause_ns(ns);
}

/* ---- Writers ---- */

/* Another CPU: to change it takes longer than two of them can differ. */
static void change_lane(void)
{
	lane = turns_draw(ground->lanes);
	for (uint32_t i = 0; i < RESOLUTION && ground->early; i++)
		(void)pxt_port_ticks();
}

static void trace_one(uint32_t me, uint32_t number)
{
	uint32_t data[2] = { me, number };
	struct event *event = &events[me][number];
	uint32_t to;

	if (turns_draw(3) == 0)
		change_lane();
	to = lane & (ground->lanes - 1u);
	in_lane[to][lane_count[to]++] = event;
	event->began = pxt_port_ticks();
	stamping = true;
	posix_trace_event(type, data, sizeof(data));
	stamping = false;
	event->stamp = last_told;
	event->ended = pxt_port_ticks();
	/* Who took so long may have been given up. */
	if (!silent_from && !event->reported &&
	    event->ended - event->began < pxt_process_holdback_ticks())
		silent_from = event->ended;
}

static void *write_all(void *argument)
{
	uint32_t me = *(const uint32_t *)argument;

	PXT_EQ(posix_trace_thread_register_np(), 0);
	pxt_self.cpu = &lane;
	is_writer = true;
	for (turns_sit(me); !over; turns_sit(me)) {
		/* Nothing is left of the last schedule. */
		lane = me;
		last_told = 0;
		for (uint32_t i = 0; i < EVENTS_EACH; i++) {
			trace_one(me, i);
			turns_pass();
		}
		writers_left--;
		turns_leave();
	}
	turns_leave();
	return NULL;
}

/* ---- The reader ---- */

/* What the reader has left behind in a lane and was not given is lost. */
static void note_lost(void)
{
	for (uint32_t i = 0; i < ground->lanes; i++) {
		for (uint64_t seq = pxt_block_lane(block, i)->seq; lane_looked[i] < seq;
		     lane_looked[i]++) {
			const struct event *event = in_lane[i][lane_looked[i]];

			if (event && !event->reported && event->began > lost_began)
				lost_began = event->began;
		}
	}
}

/* Nothing is overwritten: START and STOP take turns, and what is recorded is between them. */
static void note_gate(trace_event_id_t id)
{
	found.wrong += (id == POSIX_TRACE_START) != stopped &&
	               (id == POSIX_TRACE_START || id == POSIX_TRACE_STOP || id == type);
	if (id == POSIX_TRACE_START || id == POSIX_TRACE_STOP)
		stopped = id == POSIX_TRACE_STOP;
	stops_read += stopped && ground->divided && id == POSIX_TRACE_STOP;
}

/* What had returned before a stop is before its STOP; what began after it does not. */
static void note_division(const struct event *event)
{
	unsigned before = stops_read;

	found.wrong += before > 0 && before <= stop_count && event->ended &&
	               event->ended < stops[before - 1].began;
	found.wrong += before < stop_count && event->began > stops[before].ended;
}

static void stop_and_start(void)
{
	struct event *stop = &stops[stop_count];

	if (stop_count == STOPS)
		return;
	stop->began = pxt_port_ticks();
	found.wrong += posix_trace_stop(stream) != 0;
	stop->ended = pxt_port_ticks();
	stop_count++;
	turns_pass();
	found.wrong += posix_trace_start(stream) != 0;
}

static void note_reported(const uint32_t data[2], int64_t told_ns)
{
	struct event *event = &events[data[0]][data[1]];

	CU_ASSERT_FATAL(data[0] < WRITERS && data[1] < EVENTS_EACH && !event->reported);
	event->reported = true;
	event->told_ns = told_ns;
	reported[reported_count++] = event;
	note_division(event);
	found.older += event->ended && event->ended < lost_began;
	silent_from = 0;
	looks_in_vain = 0;
}

/*
 * All writers may be away one after the other, and a wait begins and ends when the reader looks, who is
 * away itself now and then.
 */
static bool is_long_silent(void)
{
	return ++looks_in_vain > 5u * WRITERS &&
	       pxt_port_ticks() - silent_from > 2u * WRITERS * pxt_process_holdback_ticks();
}

static int read_from(trace_id_t trid, struct posix_trace_event_info *info, uint32_t data[2],
    size_t *len, int *unavailable)
{
	const size_t room = 2 * sizeof(data[0]);

	if (trid != stream)
		return posix_trace_getnext_event(trid, info, data, room, len, unavailable);
	return posix_trace_trygetnext_event(trid, info, data, room, len, unavailable);
}

static bool read_one(trace_id_t trid)
{
	struct posix_trace_event_info info;
	uint32_t data[2];
	size_t len = 0;
	int unavailable = 1;
	int64_t stamp_ns;

	if (read_from(trid, &info, data, &len, &unavailable) != 0 || unavailable)
		return false;
	stamp_ns = pxt_ns(&info.posix_timestamp);
	found.back += stamp_ns < last_stamp_ns;
	last_stamp_ns = stamp_ns;
	if (ground->policy == FULL || ground->divided)
		note_gate(info.posix_event_id);
	if (info.posix_event_id == type && len == sizeof(data))
		note_reported(data, stamp_ns);
	else if (ground->whole && info.posix_event_id == POSIX_TRACE_RESUME)
		note_lost();
	return true;
}

static void *read_all(void *argument)
{
	for (turns_sit(READER); !over; turns_sit(READER)) {
		while (writers_left) {
			if (ground->divided && turns_draw(20) == 0)
				stop_and_start();
			if (ground->logged)
				found.wrong += posix_trace_flush(stream) != 0;
			else if (!read_one(stream) && silent_from)
				found.silent += is_long_silent();
			turns_pass();
		}
		turns_leave();
	}
	turns_leave();
	return NULL;
}

/* ---- Verdict ---- */

/* Of two events of which the one reported second had ended before the first one began. */
static void judge_pair(const struct event *first, const struct event *second)
{
	found.far += first->began - second->ended > RESOLUTION;
	found.broken += !ground->early;
	for (uint32_t i = 0; i < WRITERS; i++) {
		const struct event *own = events[i];

		found.disordered += first >= own && first < own + EVENTS_EACH && second >= own &&
		                    second < own + EVENTS_EACH;
	}
}

static int64_t ns_of(uint64_t ticks)
{
	struct timespec time;

	pxt_ticks_time(&to_time, ticks, &time);
	return pxt_ns(&time);
}

/* Ruling 26; a log's own clock may be off by a part of a tick. */
static void judge_truth(const struct event *event)
{
	int64_t early = ground->early ? 1000 : 0;

	found.untrue += event->told_ns < ns_of(event->began) - early - 50;
	found.untrue += event->ended && event->told_ns > ns_of(event->ended) + 50;
}

static void judge(void)
{
	for (unsigned i = 0; i < reported_count; i++)
		judge_truth(reported[i]);
	for (unsigned i = 0; i < reported_count; i++) {
		for (unsigned j = i + 1; j < reported_count; j++) {
			if (reported[j]->ended < reported[i]->began)
				judge_pair(reported[i], reported[j]);
		}
	}
}

/* ---- One schedule ---- */

static void open_stream(void)
{
	const struct st_spec spec = {
		.policy = ground->policy, .size = ground->size, .lanes = ground->lanes
	};
	struct pxt_stream *at;
	trace_attr_t attr;

	PXT_EQ(posix_trace_eventid_open("drawn", &type), 0);
	st_attr(&spec, &attr);
	PXT_EQ(posix_trace_attr_setorderedstamps_np(&attr, ground->ordered), 0);
	if (ground->logged) {
		log_fd = pxt_temp_file();
		PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
		PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, log_fd, &stream), 0);
	} else {
		PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	}
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	at = pxt_handle_find_kind(stream, &pxt_stream_kind);
	CU_ASSERT_FATAL(at != NULL);
	block = at->block;
	to_time = at->ticks;
	UNREPORTED();
	pxt_holdback_ns = ground->brief ? HOLDBACK_NS : NEVER_NS;
}

static void forget(void)
{
	memset(events, 0, sizeof(events));
	memset(lane_count, 0, sizeof(lane_count));
	memset(lane_looked, 0, sizeof(lane_looked));
	/* START. */
	in_lane[0][lane_count[0]++] = NULL;
	reported_count = 0;
	writers_left = WRITERS;
	lost_began = 0;
	silent_from = 0;
	looks_in_vain = 0;
	last_stamp_ns = 0;
	stopped = true;
	stop_count = 0;
	stops_read = 0;
}

static void read_log(void)
{
	trace_id_t log;

	stream = 0;
	PXT_EQ(lseek(log_fd, 0, SEEK_SET), 0);
	PXT_EQ_FATAL(posix_trace_open(log_fd, &log), 0);
	while (read_one(log))
		;
	PXT_EQ(posix_trace_close(log), 0);
	PXT_EQ(close(log_fd), 0);
}

static void take_rest(void)
{
	if (ground->logged)
		PXT_EQ(posix_trace_flush(stream), 0);
	else
		while (read_one(stream))
			;
}

static void end_stream(void)
{
	struct posix_trace_counts_np counts;

	take_rest();
	PXT_EQ(posix_trace_stop(stream), 0);
	take_rest();
	found.wrong += !st_law(stream, &counts) || counts.posix_held_np != 0;
	PXT_EQ(posix_trace_shutdown(stream), 0);
	if (ground->logged)
		read_log();
	/* Nothing is lost without a reason. */
	found.wrong +=
	    reported_count != EVENTS && ground->size == LARGE && !ground->brief && !ground->divided;
}

static void one_schedule(uint64_t seed)
{
	forget();
	open_stream();
	pxt_testpoint_hook_set(at_point);
	turns_round(seed, WRITERS + 1);
	end_stream();
	pxt_testpoint_hook_set(NULL);
	judge();
}

static bool all_is_well(uint64_t seed)
{
	bool ordered = !found.broken && !found.far && !found.disordered && !found.older;
	bool fine = (ground->brief || ordered) && !found.untrue && !found.back && !found.silent &&
	            !found.wrong;

	PXT_CHECK(fine,
	    "lanes %u, policy %d, seed %llu: untrue %llu; pairs broken %llu, far apart %llu, of "
	    "one "
	    "thread %llu; "
	    "stamps back %llu; older than what was lost %llu; held back too long %llu; counts "
	    "wrong %llu",
	    ground->lanes, ground->policy, (unsigned long long)seed,
	    (unsigned long long)found.untrue, (unsigned long long)found.broken,
	    (unsigned long long)found.far, (unsigned long long)found.disordered,
	    (unsigned long long)found.back, (unsigned long long)found.older,
	    (unsigned long long)found.silent, (unsigned long long)found.wrong);
	return fine;
}

static pthread_t threads[WRITERS + 1];

static void begin_threads(void)
{
	static uint32_t numbers[WRITERS];

	/* Handing over to another CPU takes longer. */
	st_pin(true);
	over = false;
	turns_prepare();
	PXT_EQ_FATAL(pthread_create(&threads[READER], NULL, read_all, NULL), 0);
	for (uint32_t i = 0; i < WRITERS; i++) {
		numbers[i] = i;
		PXT_EQ_FATAL(pthread_create(&threads[i], NULL, write_all, &numbers[i]), 0);
	}
}

static void end_threads(void)
{
	over = true;
	turns_round(0, WRITERS + 1);
	for (unsigned i = 0; i <= WRITERS; i++)
		(void)pthread_join(threads[i], NULL);
}

/* Until one schedule goes wrong: it can be looked at.  Returns how often the stream was full. */
static uint64_t try(const struct ground *where)
{
	bool slow = st_sanitized() || pxt_emulated();
	unsigned schedules = pxt_in_whole() ? 5000 : slow ? 10 : pxt_in_full() ? 150 : 25;
	uint64_t filled = 0;
	uint64_t seed = 1;

	ground = where;
	begin_threads();
	do {
		memset(&found, 0, sizeof(found));
		one_schedule(seed);
		filled += found.filled;
	} while (all_is_well(seed) && seed++ < schedules);
	end_threads();
	return filled;
}

static void try_lanes(struct ground where)
{
	uint64_t filled = 0;

	for (where.lanes = 2; where.lanes <= 8; where.lanes *= 2)
		filled += try(&where);
	/* The ground was what it says. */
	PXT_CHECK(
	    (filled > 0) == (where.size == SMALL), "full %llu times", (unsigned long long)filled);
}

/* ---- The cases ---- */

/* TIM-03, TIM-04, DEC-19; ruling 26 */
PXT_TEST(with_exact_stamps_what_happened_before_is_reported_before)
{
	try_lanes((struct ground){ .policy = LOOP, .size = LARGE });
	try_lanes((struct ground){ .policy = FULL, .size = LARGE, .ordered = true });
}

/* TIM-03, TIM-04, TIM-05, DEC-19; ruling 26 */
PXT_TEST(with_early_stamps_nothing_beyond_the_resolution_is_swapped)
{
	try_lanes((struct ground){ .policy = LOOP, .size = LARGE, .early = true });
}

/* TIM-03, DEC-19, POL-05; rule 3 */
PXT_TEST(nothing_older_than_what_was_overwritten_is_reported_behind_it)
{
	try_lanes((struct ground){ .policy = LOOP, .size = SMALL, .whole = true });
}

/* TIM-03, TIM-04, DEC-19 */
PXT_TEST(writers_that_overtake_the_reader_leave_the_rest_in_order)
{
	try_lanes((struct ground){ .policy = LOOP, .size = SMALL });
}

/* TIM-03, TIM-04, POL-07, POL-09, DEC-19 */
PXT_TEST(a_stream_that_stops_and_starts_itself_keeps_the_order)
{
	try_lanes((struct ground){ .policy = FULL, .size = SMALL });
	try_lanes((struct ground){ .policy = FULL, .size = SMALL, .early = true });
}

/* TIM-03, TIM-04, POL-14, DEC-19 */
PXT_TEST(stops_and_starts_by_call_divide_all_lanes)
{
	try_lanes((struct ground){ .policy = LOOP, .size = LARGE, .divided = true });
	try_lanes((struct ground){ .policy = LOOP, .size = LARGE, .early = true, .divided = true });
}

/* DEC-19; ruling 26 */
PXT_TEST(a_writer_that_stays_away_holds_nobody_back_for_long)
{
	try_lanes((struct ground){ .policy = LOOP, .size = LARGE, .brief = true });
}

/* TIM-03, TIM-04, DEC-19 */
PXT_TEST(a_log_has_them_in_the_same_order)
{
	try_lanes((struct ground){ .policy = LOOP, .size = LARGE, .logged = true });
	try_lanes((struct ground){ .policy = LOOP, .size = LARGE, .early = true, .logged = true });
	try_lanes((struct ground){ .policy = LOOP, .size = SMALL, .logged = true });
}

static void *register_only(void *argument)
{
	PXT_EQ(posix_trace_thread_register_np(), 0);
	return NULL;
}

/* The table's places are never given again. */
static void fill_thread_table(void)
{
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_THREADS; i++) {
		pthread_t thread;

		PXT_EQ_FATAL(pthread_create(&thread, NULL, register_only, NULL), 0);
		(void)pthread_join(thread, NULL);
	}
}

/* TIM-03, TIM-04, DEC-19 */
PXT_TEST_FRESH(threads_without_a_place_are_in_order_too)
{
	fill_thread_table();
	try_lanes((struct ground){ .policy = LOOP, .size = LARGE, .ordered = true });
	try_lanes((struct ground){ .policy = LOOP, .size = LARGE, .early = true });
}

PXT_BEFORE
{
	pxt_fake_clock_told = tell;
	pxt_fake_clock_start(HZ);
	/* Early readings are none before the counter began. */
	pxt_fake_clock_set(HZ);
	pxt_fake_clock_step(1);
}
