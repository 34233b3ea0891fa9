/* SPDX-License-Identifier: MIT */
/*
 * ticket.c - is what happened before also reported before?  Threads that migrate between CPUs draw
 * a ticket from one counter before and after every event.  A pair is broken when X is reported
 * before Y although Y's call had returned before X's began.  With one lane or ordered stamps no
 * pair may be; with plain lanes none whose calls lay further apart than the resolution that is
 * promised (1 microsecond).  Built with test points, writers also yield in the middle of an event.
 */
#include "events.h"

#include "conformance/story.h"
#include "core/process/threads.h"
#include "suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS       6
#define RESOLUTION_NS 1000

/* Called by a library that was built with test points; others know nothing of it. */
void (*_Atomic pxt_testpoint_hook)(int point);
static const bool yields_are_built = CONFIG_PTRACE_TESTPOINTS;
static atomic_ulong yields;

/* What an event says of itself. */
struct ticket {
	uint32_t thread;
	uint32_t number;
	uint64_t drawn;   /* ticket before the call */
	int64_t began_ns; /* clock before the call */
};

/* What is known only after the call. */
struct end {
	uint64_t drawn;
	int64_t ended_ns;
};

static atomic_ulong tickets;
static atomic_int writers_left;
static uint32_t per_thread;
static struct end *ends;
static struct ticket *reported;
static uint64_t reported_count;
static trace_event_id_t type;
static trace_id_t stream;
static _Thread_local bool is_writer;
static _Thread_local volatile uint32_t lane;

static void yield_now_and_then(int point)
{
	if (is_writer && ev_random() % 97 == 0) {
		atomic_fetch_add(&yields, 1);
		(void)sched_yield();
	}
}

static void *draw_and_trace(void *argument)
{
	uint32_t me = *(const uint32_t *)argument;

	is_writer = true;
	PXT_EQ(posix_trace_thread_register_np(), 0);
	pxt_self.cpu = &lane;
	for (uint32_t i = 0; i < per_thread; i++) {
		struct ticket ticket = { me, i, 0, 0 };
		struct end *end = &ends[(size_t)me * per_thread + i];

		if (i % 1000 == 0)
			st_pin_to(me + i / 1000);
		/* More lanes than this machine may have processors. */
		lane = me + i / 100;
		ticket.began_ns = ev_now_ns();
		ticket.drawn = atomic_fetch_add(&tickets, 1);
		posix_trace_event(type, &ticket, sizeof(ticket));
		end->drawn = atomic_fetch_add(&tickets, 1);
		end->ended_ns = ev_now_ns();
		if (i % 64 == 0)
			(void)sched_yield();
	}
	atomic_fetch_sub(&writers_left, 1);
	return NULL;
}

static bool read_one(void)
{
	struct posix_trace_event_info info;
	struct ticket ticket;
	size_t len = 0;
	int unavailable = 1;

	if (posix_trace_trygetnext_event(
	        stream, &info, &ticket, sizeof(ticket), &len, &unavailable) != 0 ||
	    unavailable != 0)
		return false;
	if (info.posix_event_id == type && len == sizeof(ticket) &&
	    reported_count < (uint64_t)per_thread * THREADS)
		reported[reported_count++] = ticket;
	return true;
}

static void *read_all(void *argument)
{
	for (;;) {
		bool last = atomic_load(&writers_left) == 0;

		while (read_one())
			;
		if (last)
			return NULL;
		/* Yielding would keep the processor from the writers beside other programs. */
		ev_sleep_us(50);
	}
}

struct verdict {
	uint64_t broken; /* by the tickets */
	uint64_t far;    /* of these, further apart than the resolution by our own clock */
	int64_t farthest_ns;
	uint64_t disordered; /* within a thread */
};

static void judge(struct verdict *verdict)
{
	uint64_t first_end = UINT64_MAX;
	int64_t first_end_ns = INT64_MAX;
	uint32_t last[THREADS];

	memset(verdict, 0, sizeof(*verdict));
	/* From the back: the earliest end among all that is reported later. */
	for (uint64_t k = reported_count; k-- > 0;) {
		const struct ticket *ticket = &reported[k];
		const struct end *end = &ends[(size_t)ticket->thread * per_thread + ticket->number];
		int64_t apart = ticket->began_ns - first_end_ns;

		verdict->broken += first_end < ticket->drawn;
		verdict->far += first_end_ns != INT64_MAX && apart > RESOLUTION_NS;
		if (first_end_ns != INT64_MAX && apart > verdict->farthest_ns)
			verdict->farthest_ns = apart;
		if (end->drawn < first_end)
			first_end = end->drawn;
		if (end->ended_ns < first_end_ns)
			first_end_ns = end->ended_ns;
	}
	memset(last, 0xff, sizeof(last));
	for (uint64_t k = 0; k < reported_count; k++) {
		const struct ticket *ticket = &reported[k];

		verdict->disordered +=
		    last[ticket->thread] != UINT32_MAX && ticket->number <= last[ticket->thread];
		last[ticket->thread] = ticket->number;
	}
}

struct run {
	int policy;
	unsigned lanes;
	bool ordered;
	bool exact; /* no pair may be broken, however close */
};

/*
 * A full run has 20 million events, in rounds that memory has room for; 5 million where writers
 * yield between instrumented steps, which take their time, and as many under a sanitizer if it is to
 * be whole.  Both together take 3 to 7 minutes for one million, as it happens.
 */
#define ROUND_EVENTS 5000000u

static uint32_t rounds_of(uint32_t *events)
{
	if (st_sanitized() && yields_are_built && pxt_in_full()) {
		*events = pxt_in_whole() ? 1000000u : ev_total() / 8;
		return 1;
	}
	if (!pxt_in_full() || (st_sanitized() && !pxt_in_whole())) {
		*events = ev_total() / 2;
		return 1;
	}
	*events = ROUND_EVENTS;
	return yields_are_built ? 1 : st_sanitized() ? 2 : 4;
}

static void begin_round(uint32_t events)
{
	per_thread = events / THREADS;
	ends = (struct end *)calloc((size_t)THREADS * per_thread, sizeof(*ends));
	reported = (struct ticket *)calloc((size_t)THREADS * per_thread, sizeof(*reported));
	CU_ASSERT_FATAL(ends != NULL && reported != NULL);
	reported_count = 0;
	atomic_store(&writers_left, THREADS);
}

static void trace_and_read(void)
{
	static uint32_t numbers[THREADS];
	pthread_t threads[THREADS + 1];

	PXT_EQ_FATAL(pthread_create(&threads[THREADS], NULL, read_all, NULL), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		numbers[i] = i;
		PXT_EQ_FATAL(pthread_create(&threads[i], NULL, draw_and_trace, &numbers[i]), 0);
	}
	for (int i = 0; i <= THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	while (read_one())
		;
}

static void one_round(const struct run *what, uint32_t events, struct verdict *sum)
{
	struct verdict verdict;

	begin_round(events);
	trace_and_read();
	judge(&verdict);
	PXT_EQ(verdict.disordered, 0);
	PXT_EQ(verdict.far, 0);
	if (what->exact)
		PXT_EQ(verdict.broken, 0);
	/* Enough to say something of; a sanitizer slows the reader more than the writers. */
	CU_ASSERT(reported_count > (st_sanitized() ? per_thread / 10u : per_thread));
	sum->broken += verdict.broken;
	sum->far += verdict.far;
	if (verdict.farthest_ns > sum->farthest_ns)
		sum->farthest_ns = verdict.farthest_ns;
	free(ends);
	free(reported);
}

static void open_stream(const struct run *what)
{
	const struct st_spec spec = {
		.policy = what->policy, .size = 4u << 20, .lanes = what->lanes
	};
	trace_attr_t attr;

	PXT_EQ(posix_trace_eventid_open("ticket", &type), 0);
	st_attr(&spec, &attr);
	PXT_EQ(posix_trace_attr_setorderedstamps_np(&attr, what->ordered), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	ev_give_nobody_up();
}

static void run(const struct run *what)
{
	struct posix_trace_counts_np counts;
	struct verdict sum = { 0 };
	uint32_t events;
	uint32_t rounds;
	uint64_t read = 0;

	pxt_testpoint_hook_set(yields_are_built ? yield_now_and_then : NULL);
	rounds = rounds_of(&events);
	open_stream(what);
	atomic_store(&tickets, 0);
	for (uint32_t i = 0; i < rounds; i++) {
		one_round(what, events, &sum);
		read += reported_count;
	}
	pxt_testpoint_hook_set(NULL);
	PXT_EQ(posix_trace_stop(stream), 0);
	while (read_one())
		;
	PXT_EQ(posix_trace_getcounts_np(stream, &counts, sizeof(counts)), 0);
	CU_ASSERT(ev_lawful(&counts));
	PXT_EQ(counts.posix_held_np, 0);
	printf(
	    "\n    policy %d, lanes %u%s, %llu yields: %llu read, %llu lost, broken %llu, beyond "
	    "%d ns %llu (farthest %lld ns)",
	    what->policy, what->lanes, what->ordered ? ", ordered" : "",
	    (unsigned long long)atomic_exchange(&yields, 0), (unsigned long long)read,
	    (unsigned long long)counts.posix_lost_np, (unsigned long long)sum.broken, RESOLUTION_NS,
	    (unsigned long long)sum.far, (long long)sum.farthest_ns);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

#define LOOP POSIX_TRACE_LOOP
#define FULL POSIX_TRACE_UNTIL_FULL

/* TIM-03, TIM-04, DEC-19 */
PXT_TEST(one_lane_reports_what_happened_before_before)
{
	run(&(const struct run){ LOOP, 1, false, true });
	run(&(const struct run){ FULL, 1, false, true });
	run(&(const struct run){ POSIX_TRACE_DISCARD_NP, 1, false, true });
}

/* TIM-03, TIM-04, DEC-19 */
PXT_TEST(ordered_stamps_report_what_happened_before_before)
{
	run(&(const struct run){ LOOP, 2, true, true });
	run(&(const struct run){ LOOP, 4, true, true });
	run(&(const struct run){ FULL, 8, true, true });
}

/* TIM-03, TIM-04, TIM-05, DEC-19 */
PXT_TEST(plain_lanes_swap_nothing_that_lies_a_microsecond_apart)
{
	run(&(const struct run){ LOOP, 2, false, false });
	run(&(const struct run){ FULL, 4, false, false });
	run(&(const struct run){ LOOP, 8, false, false });
}
