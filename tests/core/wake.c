/* SPDX-License-Identifier: MIT */
/*
 * wake.c - who wakes a sleeping reader (ruling 13): the one writer that finds it asleep, at every
 * moment of its going to sleep; and nobody else, unless that one does not come to it.
 *
 * The port's wake, wait and fence are wrapped: the wrappers count, and write at their moment.
 */
#include "beside.h"
#include "kit.h"

#include "core/process/process.h"

#include <errno.h>
#include <time.h>

void __real_pxt_port_wake(_Atomic uint32_t *word);
void __wrap_pxt_port_wake(_Atomic uint32_t *word);
int __real_pxt_port_wait(
    _Atomic uint32_t *word, uint32_t expected, const struct timespec *until, uint64_t slice_ns);
int __wrap_pxt_port_wait(
    _Atomic uint32_t *word, uint32_t expected, const struct timespec *until, uint64_t slice_ns);
bool __real_pxt_port_fence_all(void);
bool __wrap_pxt_port_fence_all(void);

enum moment {
	NEVER,
	ANNOUNCED,
	BEFORE_FENCE,
	BEHIND_FENCE,
	BEFORE_SLEEP
};

static trace_id_t stream;
static unsigned wakes;
static unsigned waits;
static unsigned unbounded_waits; /* without a slice */
static uint64_t longest_slice_ns;
static unsigned fences;
static bool no_fence;
static enum moment moment;
static unsigned events;

static void (*deed)(void); /* is done at the moment; NULL: events are written */
static bool unseen;
static bool interrupted; /* a handler ran while it slept */

static unsigned deaths;       /* so many writers leave before they call the system */
static void (*at_call)(void); /* another thread is faster than the writer that has just called it */

static void (*another_reader)(void); /* comes and goes while this one is on its way to sleep */

/* @unseen: by writers whose look at the flag came before the announcement. */
static void write_now(enum moment now)
{
	_Atomic uint32_t *asleep;
	uint32_t flag;

	if (moment != now)
		return;
	asleep = &kit_block(stream)->asleep;
	flag = atomic_load(asleep);
	moment = NEVER;
	if (unseen)
		atomic_store(asleep, 0);
	if (deed)
		deed();
	for (unsigned i = 0; i < events; i++)
		kit_write(1, 4);
	if (unseen)
		atomic_store(asleep, flag);
}

static int sleep_and_read(long ms);

static void find_beside(void)
{
	unseen = true;
	moment = BEFORE_FENCE;
	PXT_EQ(sleep_and_read(3000), 0);
	unseen = false;
}

static void give_up_beside(void)
{
	PXT_EQ(sleep_and_read(1), ETIMEDOUT);
}

static void read_beside(void)
{
	void (*read)(void) = another_reader;

	another_reader = NULL;
	if (read)
		read();
}

void __wrap_pxt_port_wake(_Atomic uint32_t *word)
{
	void (*run)(void) = at_call;

	if (deaths) {
		deaths--;
		kit_die(NULL);
	}
	wakes++;
	__real_pxt_port_wake(word);
	at_call = NULL;
	if (run)
		run();
}

int __wrap_pxt_port_wait(
    _Atomic uint32_t *word, uint32_t expected, const struct timespec *until, uint64_t slice_ns)
{
	waits++;
	unbounded_waits += slice_ns == 0;
	if (slice_ns > longest_slice_ns)
		longest_slice_ns = slice_ns;
	write_now(BEFORE_SLEEP);
	read_beside();
	if (interrupted)
		return EINTR;
	return __real_pxt_port_wait(word, expected, until, slice_ns);
}

bool __wrap_pxt_port_fence_all(void)
{
	bool fenced;

	fences++;
	write_now(BEFORE_FENCE);
	fenced = !no_fence && __real_pxt_port_fence_all();
	write_now(BEHIND_FENCE);
	return fenced;
}

static void announced(void *argument)
{
	write_now(ANNOUNCED);
}

static void begin(int policy, unsigned lanes, bool polling)
{
	const struct kit_spec spec = {
		.policy = policy, .lanes = lanes, .bytes = 4096, .polling = polling
	};

	stream = kit_open(&spec);
	kit_start(stream);
	/* The first one goes the slow path. */
	kit_write(2, 4);
	(void)kit_read_all(stream);
	moment = NEVER;
	wakes = 0;
	waits = 0;
	unbounded_waits = 0;
	longest_slice_ns = 0;
	fences = 0;
}

/* Sleeps until there is something; the limit keeps a lost wake-up from hanging the test. */
static int sleep_and_read(long ms)
{
	struct timespec limit = pxt_in_ms(ms);
	struct posix_trace_event_info info;
	unsigned char data[64];
	size_t len = 0;
	int unavailable = 1;

	return posix_trace_timedgetnext_event(
	    stream, &info, data, sizeof(data), &len, &unavailable, &limit);
}

static void end(void)
{
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* DEC-38, GETNX-03; ruling 13 */
PXT_TEST(a_write_at_any_moment_of_going_to_sleep_is_not_slept_over)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (enum moment at = ANNOUNCED; at <= BEFORE_SLEEP; at++)
			for (events = 1; events <= 3; events++) {
				struct timespec start;
				struct timespec stop;

				begin(POSIX_TRACE_LOOP, lanes, false);
				moment = at;
				if (at == ANNOUNCED)
					kit_interrupt(
					    0, UINT64_C(1) << PXT_TP_SLEEPS, announced, NULL);
				(void)clock_gettime(CLOCK_MONOTONIC, &start);
				PXT_EQ(sleep_and_read(3000), 0);
				(void)clock_gettime(CLOCK_MONOTONIC, &stop);
				(void)kit_interrupted();
				PXT_EQ(moment, NEVER);
				CU_ASSERT(stop.tv_sec - start.tv_sec < 2);
				/* One writer woke, the others saw nobody asleep. */
				PXT_CHECK(wakes == 1, "%u events, moment %d: %u wakes", events,
				    (int)at, wakes);
				end();
			}
}

/* DEC-38; ruling 13 */
PXT_TEST(where_the_system_has_no_fence_a_reader_sleeps_in_slices)
{
	begin(POSIX_TRACE_LOOP, 1, false);
	no_fence = true;
	PXT_EQ(sleep_and_read(20), ETIMEDOUT);
	no_fence = false;
	CU_ASSERT(waits > 0);
	PXT_EQ(unbounded_waits, 0);
	/* How many fit into the time is the machine's affair. */
	CU_ASSERT(longest_slice_ns <= 5000000);
	end();
}

/*
 * DEC-38, POL-12; ruling 20: a record that is not finished has no writer that will wake the reader, which looks
 * again by itself, and gets what was recorded after it.
 */
PXT_TEST(behind_a_record_that_no_thread_finishes_a_reader_sleeps_in_slices)
{
	struct timespec start;
	struct timespec stop;

	begin(POSIX_TRACE_LOOP, 1, false);
	kit_interrupt(0, UINT64_C(1) << PXT_TP_RESERVED, kit_die, NULL);
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(1, 40);
	PXT_EQ(kit_interrupted(), PXT_TP_RESERVED);
	kit_heal();
	kit_write(2, 4);
	/* It may be slow, for all that the reader knows. */
	pxt_holdback_ns = 20000000;
	somebody_inside(true);
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	PXT_EQ(sleep_and_read(3000), 0);
	(void)clock_gettime(CLOCK_MONOTONIC, &stop);
	CU_ASSERT(stop.tv_sec - start.tv_sec < 2);
	CU_ASSERT(waits > 0);
	PXT_EQ(unbounded_waits, 0);
	somebody_inside(false);
	pxt_holdback_ns = KIT_HOLDBACK_NS;
	end();
}

/* DEC-38; ruling 13: nobody sleeps any more, so nobody is to be woken */
PXT_TEST(a_reader_that_left_is_not_woken)
{
	for (unsigned way = 0; way < 3; way++) {
		begin(POSIX_TRACE_LOOP, 1, false);
		switch (way) {
		case 0:
			PXT_EQ(sleep_and_read(5), ETIMEDOUT);
			break;
		case 1:
			events = 1;
			moment = BEFORE_SLEEP;
			PXT_EQ(sleep_and_read(3000), 0);
			break;
		default:
			unseen = true;
			events = 1;
			moment = BEFORE_FENCE;
			PXT_EQ(sleep_and_read(3000), 0);
			unseen = false;
			break;
		}
		wakes = 0;
		kit_write(2, 4);
		kit_write(2, 4);
		PXT_CHECK(wakes == 0, "way %u: %u wakes", way, wakes);
		end();
	}
}

/* DEC-38, GETNX-03; ruling 13: what it leaves behind is not slept over */
PXT_TEST(a_reader_that_found_something_leaves_the_rest_to_those_on_their_way_to_sleep)
{
	struct timespec start;
	struct timespec stop;

	begin(POSIX_TRACE_LOOP, 1, false);
	events = 2;
	another_reader = find_beside;
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	PXT_EQ(sleep_and_read(3000), 0);
	(void)clock_gettime(CLOCK_MONOTONIC, &stop);
	CU_ASSERT(!another_reader && stop.tv_sec - start.tv_sec < 2);
	end();
}

static unsigned wakes_beside;

static void count_beside(void (*read)(void))
{
	wakes = 0;
	read();
	wakes_beside = wakes;
	/* This one sleeps once more, until there is something. */
	moment = BEFORE_SLEEP;
}

static void find_and_count(void)
{
	count_beside(find_beside);
}

static void give_up_and_count(void)
{
	count_beside(give_up_beside);
}

/* DEC-38, GETNX-03; ruling 13: no writer sees any more that somebody sleeps */
PXT_TEST(a_reader_that_leaves_wakes_those_that_sleep_on)
{
	begin(POSIX_TRACE_LOOP, 1, false);
	events = 1;
	another_reader = find_and_count;
	PXT_EQ(sleep_and_read(3000), 0);
	PXT_EQ(wakes_beside, 1);
	another_reader = give_up_and_count;
	PXT_EQ(sleep_and_read(3000), 0);
	PXT_EQ(wakes_beside, 1);
	end();
}

/* DEC-38; ruling 13 */
PXT_TEST(with_the_polling_attribute_no_writer_ever_wakes)
{
	for (unsigned policy = 1; policy <= 2; policy++)
		for (enum moment at = NEVER; at <= BEFORE_SLEEP; at++) {
			begin(policy == 1 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL, 1, true);
			moment = BEFORE_SLEEP;
			events = 2;
			PXT_EQ(sleep_and_read(3000), 0);
			for (int i = 0; i < 300; i++)
				kit_write(2, 4);
			PXT_EQ(wakes, 0);
			PXT_EQ(fences, 0);
			end();
		}
}

/* GETNX-E2: EINTR is for those who have got nothing. */
PXT_TEST(what_a_handler_recorded_while_its_thread_slept_is_read)
{
	for (unsigned polling = 0; polling <= 1; polling++) {
		begin(POSIX_TRACE_LOOP, 1, polling != 0);
		interrupted = true;
		events = 1;
		moment = BEFORE_SLEEP;
		PXT_EQ(sleep_and_read(3000), 0);
		PXT_EQ(sleep_and_read(3000), EINTR);
		interrupted = false;
		PXT_EQ(waits, 2);
		end();
	}
}

static void filter_starts(void)
{
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_STOP, &set), 0);
	PXT_EQ(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET), 0);
}

static void start_it(void)
{
	PXT_EQ(posix_trace_start(stream), 0);
}

/* Sleeps, and is woken by what control calls record, though no thread records anything. */
static void wakes_by(void (*call)(void))
{
	struct timespec start;
	struct timespec stop;

	deed = call;
	events = 0;
	moment = BEFORE_SLEEP;
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	PXT_EQ(sleep_and_read(3000), 0);
	(void)clock_gettime(CLOCK_MONOTONIC, &stop);
	CU_ASSERT(stop.tv_sec - start.tv_sec < 2);
	deed = NULL;
	end();
}

/* DEC-38, SFILT-03, START-03 */
PXT_TEST(a_filter_and_a_start_wake_the_reader)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(POSIX_TRACE_LOOP, lanes, false);
		wakes_by(filter_starts);
		begin(POSIX_TRACE_LOOP, lanes, false);
		PXT_EQ(posix_trace_stop(stream), 0);
		(void)kit_read_all(stream);
		wakes_by(start_it);
	}
}

/* DEC-38: a stop that the reader waits for wakes it as well */
PXT_TEST(an_automatic_stop_wakes_the_reader_once)
{
	begin(POSIX_TRACE_UNTIL_FULL, 1, false);
	events = 400;
	moment = BEFORE_SLEEP;
	PXT_EQ(sleep_and_read(3000), 0);
	PXT_EQ(wakes, 1);
	end();
}

/* A writer that is to wake a sleeper, and jumps out before it does. */
static void write_and_die(unsigned writer)
{
	deaths = 1;
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(writer, 4);
	kit_heal();
}

static int policy;

static void die_then_write(void)
{
	write_and_die(1);
	PXT_EQ(deaths, 0);
	PXT_EQ(wakes, 0);
	kit_write(2, 4);
	PXT_EQ(wakes, 1);
	/* That was all. */
	kit_write(2, 4);
	PXT_EQ(wakes, 1);
}

/* DEC-38, GETNX-03; ruling 27 */
PXT_TEST(who_does_not_come_to_wake_a_reader_leaves_that_to_the_next_writer)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (policy = POSIX_TRACE_LOOP; policy <= POSIX_TRACE_UNTIL_FULL; policy++) {
			begin(policy, lanes, false);
			wakes_by(die_then_write);
		}
}

/* As many as there is room for, none of which wakes. */
static void die_until_full(void)
{
	struct posix_trace_counts_np counts;

	do {
		write_and_die(1);
		kit_counts(stream, &counts);
	} while (!counts.posix_lost_np);
	PXT_EQ(wakes, 0);
	kit_write(2, 4);
	PXT_EQ(wakes, 1);
}

/* DEC-38, POL-12; ruling 27 */
PXT_TEST(a_writer_that_is_refused_wakes_too)
{
	begin(POSIX_TRACE_UNTIL_FULL, 1, false);
	wakes_by(die_until_full);
#if CONFIG_PTRACE_POLICY_DISCARD
	begin(POSIX_TRACE_DISCARD_NP, 1, false);
	wakes_by(die_until_full);
#endif
}

/* Somebody sleeps again, and the writer that is to wake it dies. */
static void sleep_again_and_die(void)
{
	(void)pxt_block_announce_sleep(kit_block(stream));
	write_and_die(1);
}

static void write_late(void)
{
	at_call = sleep_again_and_die;
	kit_write(2, 4);
	PXT_EQ(wakes, 1);
	kit_write(2, 4);
	PXT_EQ(wakes, 2);
}

/* DEC-38, GETNX-03; ruling 27 */
PXT_TEST(a_late_writer_takes_no_duty_away_that_is_of_a_later_sleep)
{
	begin(POSIX_TRACE_LOOP, 1, false);
	wakes_by(write_late);
}
