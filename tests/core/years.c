/* SPDX-License-Identifier: MIT */
/*
 * years.c - ten years by a clock that the test moves: idle gaps of many wraps of 32 bits, counters
 * that step or repeat, processors that differ.  What is reported never decreases and is exact, read
 * on-line or through a log.
 *
 * Each case runs in a process of its own, because a process has one clock.  Its events carry who
 * made them and which one it is; the "processors" are lanes, the "threads" are places in the thread
 * table, taken by one real thread in turn.
 */
#include "beside.h"
#include "kit.h"

#include "core/process/process.h"
#include "fakes/fakes.h"
#include "port_atomic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define YEAR_S   UINT64_C(31556952)
#define YEARS    10u
#define EVENTS   32768u
#define REPORTED (16u * EVENTS)
#define THREADS  2u
#define NS_PER_S 1000000000

struct said {
	uint32_t who;
	uint32_t number;
};

/* What one case is about. */
struct plan {
	const char *name;
	uint64_t hz;
	uint64_t start; /* of the counter */
	bool log;
};

static const struct plan *plan;
static uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
static trace_id_t stream;
static FILE *file;
static uint64_t now; /* the counter */
static struct pxt_who threads[THREADS];

/* What was generated, by thread and number, and how often it was reported. */
static uint64_t stamps[THREADS][EVENTS];
static uint8_t times[THREADS][EVENTS];
static uint32_t sent[THREADS];
static uint32_t last[THREADS];
static uint64_t skipped; /* records that were never there to be read */

/* What was reported so far. */
static uint64_t latest; /* largest counter reading */
static struct timespec before;

static uint64_t random_below(uint64_t limit)
{
	return pxt_drawn(&seed) % limit;
}

static void set_clock(uint64_t ticks)
{
	now = ticks;
	pxt_fake_clock_set(ticks);
}

/* ---- A stream, with a log or without ---- */

static int begin(unsigned lanes)
{
	trace_attr_t attr;

	pxt_fake_clock_start(plan->hz);
	set_clock(plan->start);
	PXT_CHILD_CHECK(posix_trace_attr_init(&attr) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setstreamsize(&attr, 65536) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setmaxdatasize(&attr, 64) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setlanes_np(&attr, lanes) == 0);
	file = tmpfile();
	PXT_CHILD_CHECK(file != NULL);
	if (plan->log) {
		PXT_CHILD_CHECK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND) == 0);
		PXT_CHILD_CHECK(posix_trace_create_withlog(0, &attr, fileno(file), &stream) == 0);
	} else {
		PXT_CHILD_CHECK(posix_trace_create(0, &attr, &stream) == 0);
	}
	PXT_CHILD_CHECK(posix_trace_attr_destroy(&attr) == 0);
	(void)kit_type();
	for (unsigned i = 0; i < THREADS; i++) {
		PXT_CHILD_CHECK(pxt_threads_register());
		threads[i] = pxt_self;
	}
	PXT_CHILD_CHECK(posix_trace_start(stream) == 0);
	return 0;
}

/* The next event of thread @who, on processor @lane, now. */
static void say(unsigned who, unsigned lane)
{
	const struct said said = { who, sent[who] };
	static volatile uint32_t cpu;

	pxt_self = threads[who];
	pxt_self.cpu = &cpu;
	cpu = lane;
	stamps[who][sent[who]++] = now;
	posix_trace_event(kit_type(), &said, sizeof(said));
}

/* ---- What is reported ---- */

/* Nanoseconds by which @time is later than the counter at @ticks says; below 1 ns is cut off. */
static int64_t late_ns(const struct timespec *time, uint64_t ticks)
{
	uint64_t seconds = ticks / plan->hz;
	uint64_t ns = ticks % plan->hz * NS_PER_S / plan->hz;

	return (int64_t)((uint64_t)time->tv_sec - PXT_FAKE_EPOCH - seconds) * NS_PER_S +
	       time->tv_nsec - (int64_t)ns;
}

/*
 * 0, or the line of what is wrong with it.  A log interpolates between readings that were cut to
 * nanoseconds themselves: three such cuts; a stream is cut at its anchor and at the end.
 */
static int judge(const struct posix_trace_event_info *info, const void *data, size_t len)
{
	const int64_t cut = plan->log ? 3 : 1;
	struct posix_trace_eventextra_np extra;
	struct said said;

	PXT_CHILD_CHECK(posix_trace_eventinfo_getextra_np(info, &extra, sizeof(extra)) == 0);
	if (extra.posix_ticks_np > latest)
		latest = extra.posix_ticks_np;
	PXT_CHILD_CHECK(late_ns(&info->posix_timestamp, latest) >= -cut);
	PXT_CHILD_CHECK(late_ns(&info->posix_timestamp, latest) <= (plan->log ? 1 : 0));
	PXT_CHILD_CHECK(info->posix_timestamp.tv_sec > before.tv_sec ||
	                (info->posix_timestamp.tv_sec == before.tv_sec &&
	                    info->posix_timestamp.tv_nsec >= before.tv_nsec));
	before = info->posix_timestamp;
	if (info->posix_event_id != kit_type())
		return 0;
	PXT_CHILD_CHECK(len == sizeof(said));
	memcpy(&said, data, sizeof(said));
	PXT_CHILD_CHECK(said.who < THREADS && said.number < sent[said.who]);
	PXT_CHILD_CHECK(extra.posix_ticks_np == stamps[said.who][said.number]);
	/* TIM-04 */
	PXT_CHILD_CHECK(said.number == 0 || said.number > last[said.who]);
	last[said.who] = said.number;
	times[said.who][said.number]++;
	return 0;
}

static int read_from(trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[512];
	int unavailable = 0;
	int line = 0;
	size_t len;

	for (uint32_t i = 0; i < REPORTED && !line; i++) {
		int error = plan->log ? posix_trace_getnext_event(
		                            trid, &info, data, sizeof(data), &len, &unavailable)
		                      : posix_trace_trygetnext_event(
		                            trid, &info, data, sizeof(data), &len, &unavailable);

		PXT_CHILD_CHECK(error == 0);
		if (unavailable)
			return 0;
		line = judge(&info, data, len);
	}
	return line;
}

/* Takes out what is in the stream. */
static int empty(void)
{
	if (!plan->log)
		return read_from(stream);
	PXT_CHILD_CHECK(posix_trace_flush(stream) == 0);
	return 0;
}

static int end(void)
{
	struct posix_trace_counts_np counts;
	trace_id_t log;
	int line = empty();

	if (line)
		return line;
	PXT_CHILD_CHECK(posix_trace_getcounts_np(stream, &counts, sizeof(counts)) == 0);
	PXT_CHILD_CHECK(counts.posix_lost_np == skipped);
	PXT_CHILD_CHECK(counts.posix_held_np == 0);
	PXT_CHILD_CHECK(counts.posix_written_np == counts.posix_retrieved_np + skipped);
	PXT_CHILD_CHECK(posix_trace_shutdown(stream) == 0);
	if (plan->log) {
		PXT_CHILD_CHECK(posix_trace_open(fileno(file), &log) == 0);
		line = read_from(log);
		PXT_CHILD_CHECK(posix_trace_close(log) == 0);
	}
	for (unsigned who = 0; who < THREADS; who++)
		for (uint32_t i = 0; i < sent[who]; i++)
			PXT_CHILD_CHECK(line || times[who][i] == 1);
	(void)fclose(file);
	return line;
}

/* Where seconds have 32 bits, time ends in 2038. */
static bool has_no_time(void)
{
	return sizeof(time_t) < 8 && plan->start / plan->hz > UINT64_C(20000000);
}

/* Runs @body by each plan; a failure names the plan and the line. */
static void by_each(const struct plan *plans, size_t count, int (*body)(void *))
{
	for (size_t i = 0; i < count; i++) {
		int line;

		plan = &plans[i];
		if (has_no_time())
			continue;
		line = pxt_in_child(body, NULL);
		PXT_CHECK(line == 0, "%s, %llu Hz, %s: line %d", plan->name,
		    (unsigned long long)plan->hz, plan->log ? "log" : "on-line", line);
	}
}

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define BOTH(name, hz, start)                                                                      \
	{ name, hz, start, false },                                                                \
	{                                                                                          \
		name, hz, start, true                                                              \
	}

/* ---- Ten years ---- */

/* Ticks until the next event: none, few, a second or so, days, and around wraps of 32 bits. */
static uint64_t gap(void)
{
	uint64_t wraps = 2 * 86400 * plan->hz >> 32;

	switch (random_below(8)) {
	case 0:
		return 0;
	case 1:
	case 2:
	case 3:
		return random_below(1000);
	case 4:
	case 5:
		return random_below(2 * plan->hz);
	case 6:
		if (wraps)
			return ((1 + random_below(wraps)) << 32) - 1 + random_below(3);
		return random_below(4 * 86400 * plan->hz);
	default:
		return random_below(4 * 86400 * plan->hz);
	}
}

/* The lane went round while nobody looked, up to positions that ten busy years reach. */
static void skip(void)
{
	uint64_t records = UINT64_C(1) << random_below(46);

	kit_skip(stream, 0, records * 2, records);
	skipped += records;
	/* 2^31 slots, after which tags repeat, take longer than half a second. */
	set_clock(now + plan->hz + (records >> 29) * plan->hz);
}

static int ten_years(void *unused)
{
	uint64_t stop = plan->start + YEARS * YEAR_S * plan->hz;
	int line = begin(1);

	while (!line && now < stop) {
		PXT_CHILD_CHECK(sent[0] < EVENTS);
		set_clock(now + gap());
		say(0, 0);
		if (random_below(100) == 0)
			line = empty();
		if (!line && random_below(500) == 0) {
			line = empty();
			skip();
		}
	}
	PXT_CHILD_CHECK(line || sent[0] > 1000);
	return line ? line : end();
}

/* Two years before bit 63 turns. */
#define NEAR_SIGN(hz) ((UINT64_C(1) << 63) - 2 * YEAR_S * (hz))

static const struct plan decade[] = {
	BOTH("a clock of seconds", 1, 0),
	BOTH("a slow tick", 100, 77),
	BOTH("a watch", 32768, UINT64_C(0xfffffff0)),
	BOTH("microseconds", 1000000, 5),
	BOTH("a small board", 16000000, UINT64_C(0xffffffff)),
	BOTH("a prime below 1 GHz", 999999937, 123456789),
	BOTH("nanoseconds", 1000000000, UINT64_C(1) << 53),
	BOTH("the fastest around bit 63", UINT64_C(5000000000), NEAR_SIGN(UINT64_C(5000000000))),
	BOTH("a processor", UINT64_C(2596992000), UINT64_C(0xfffffffe)),
	BOTH("an odd one", UINT64_C(2596991999), UINT64_C(1) << 40),
	BOTH("the fastest", UINT64_C(5000000000), UINT64_C(1) << 62),
};

/* TIM-06, TIM-01, DEC-18, POL-05, LPT-34; rulings 6, 7 */
PXT_TEST(stamps_of_ten_years_are_exact_and_never_decrease)
{
	by_each(decade, COUNT(decade), ten_years);
}

/* ---- A log with more readings of the clock than a reader keeps ---- */

static int flushed_every_hour(void *unused)
{
	int line = begin(1);

	/* 65,536 readings are kept; of more, every second one is. */
	for (uint32_t hour = 0; !line && hour < 66500; hour++) {
		set_clock(now + 3600 * plan->hz - random_below(plan->hz));
		if (hour % 4 == 0)
			say(0, 0);
		line = empty();
	}
	return line ? line : end();
}

/* TIM-06, DEC-18; FORMAT.md section 7 */
PXT_TEST(a_log_that_was_flushed_every_hour_does_not_drift)
{
	static const struct plan plans[] = { { "hours", UINT64_C(2596991999), 1234567, true } };

	by_each(plans, COUNT(plans), flushed_every_hour);
}

/* ---- Waiting by a slow clock ---- */

static bool is_held(void)
{
	struct posix_trace_counts_np counts;

	for (int i = 0; i < 5; i++)
		(void)kit_read_all(stream);
	kit_counts(stream, &counts);
	return counts.posix_held_np != 0;
}

/* A writer that is only slow is waited for, whatever the clock's pace; one that died, a tick. */
static int waits(void *unused)
{
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 1, .bytes = 1024 };
	struct posix_trace_counts_np counts;

	pxt_fake_clock_start(plan->hz);
	set_clock(plan->start);
	stream = kit_open(&spec);
	kit_start(stream);
	kit_interrupt(0, UINT64_C(1) << PXT_TP_RESERVED, kit_die, NULL);
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(1, 4);
	PXT_CHILD_CHECK(kit_interrupted() == PXT_TP_RESERVED);
	kit_heal();
	kit_write(2, 4);
	/* For all that anybody knows it is only slow. */
	somebody_inside(true);
	PXT_CHILD_CHECK(is_held());
	/* The first look at it began the wait; this long is enough. */
	set_clock(now + pxt_process_holdback_ticks() + 1);
	PXT_CHILD_CHECK(!is_held());
	kit_counts(stream, &counts);
	PXT_CHILD_CHECK(counts.posix_lost_np == 1);
	PXT_CHILD_CHECK(kit_seen.user == 1);
	return 0;
}

static const struct plan slow[] = {
	{ "seconds", 1, 1, false },
	{ "a slow tick", 100, 0, false },
	{ "milliseconds", 1000, 1, false },
	{ "a watch", 32768, 1, false },
	{ "a processor", UINT64_C(2596992000), 1, false },
};

/* SAFE-03, DEC-10; ruling 12 */
PXT_TEST(an_unfinished_record_is_waited_for_by_clocks_of_any_pace)
{
	by_each(slow, COUNT(slow), waits);
}

#if CONFIG_PTRACE_EXTENSIONS
/* ---- The end of 64 bits of nanoseconds ---- */

/* 2262-04-11 23:47:16 has 854,775,807 ns; the second begins at this reading of a clock of tenths. */
#define LAST_SECOND ((UINT64_C(9223372036) - PXT_FAKE_EPOCH) * 10)

static int at_the_end(void *unused)
{
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 1, .bytes = 4096 };
	static const int64_t second = INT64_C(1000000000);
	struct posix_trace_eventview_np views[8];
	size_t count;

	pxt_fake_clock_start(10);
	set_clock(LAST_SECOND - 10);
	stream = kit_open(&spec);
	kit_start(stream);
	(void)kit_read_all(stream);
	kit_write(1, 4);
	set_clock(LAST_SECOND - 1);
	kit_write(1, 4);
	for (uint64_t tenth = 0; tenth < 10; tenth += 3) {
		set_clock(LAST_SECOND + tenth);
		kit_write(1, 4);
	}
	set_clock(LAST_SECOND + 100);
	PXT_CHILD_CHECK(
	    posix_trace_getnext_events_np(stream, views, sizeof(*views), 8, &count) == 0);
	PXT_CHILD_CHECK(count == 6);
	PXT_CHILD_CHECK(views[0].posix_ns_np == INT64_C(9223372035) * second);
	PXT_CHILD_CHECK(views[1].posix_ns_np == INT64_C(9223372035) * second + 9 * (second / 10));
	for (unsigned i = 2; i < 6; i++)
		PXT_CHILD_CHECK(views[i].posix_ns_np == INT64_MAX);
	return 0;
}

/* TIM-01; DEC-18 */
PXT_TEST(nanoseconds_after_2262_are_the_largest_there_is)
{
	if (sizeof(time_t) >= 8)
		PXT_EQ(pxt_in_child(at_the_end, NULL), 0);
}

/* A counter of tenths that stepped back by 1,000 years, before the stream was started. */
static int before_the_begin(void *unused)
{
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 1, .bytes = 4096 };
	struct posix_trace_eventview_np views[8];
	size_t count;

	(void)unused;
	pxt_fake_clock_start(10);
	set_clock(100);
	stream = kit_open(&spec);
	set_clock(100 - 1000 * YEAR_S * 10);
	kit_start(stream);
	kit_write(1, 4);
	PXT_CHILD_CHECK(
	    posix_trace_getnext_events_np(stream, views, sizeof(*views), 8, &count) == 0);
	PXT_CHILD_CHECK(count == 2);
	for (size_t i = 0; i < count; i++)
		PXT_CHILD_CHECK(views[i].posix_ns_np == INT64_MIN);
	return 0;
}

/* TIM-01; DEC-18 */
PXT_TEST(nanoseconds_before_1678_are_the_smallest_there_is)
{
	if (sizeof(time_t) >= 8)
		PXT_EQ(pxt_in_child(before_the_begin, NULL), 0);
}
#endif
