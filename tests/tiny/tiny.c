/* SPDX-License-Identifier: MIT */
/*
 * tiny.c - the smallest Core (CONFIG_PTRACE_TINY) on a host that plays the board: the test says
 * when an interrupt comes, and looks that none can come where the ring is half done.
 * scripts/check-tiny.py builds and runs it with several limits.
 */
#include "suite.h"

#include "format/compiler.h"
#include "port/bare/board.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>
#include <trace_np.h>

#define STREAM 1024u
#define MODEL  256u

/* ---- The board ---- */

static unsigned depth; /* of pxt_board_irq_save() */
static void (*interrupt)(void);
static uint64_t ticks;
static unsigned idled;

uint64_t pxt_board_ticks(void)
{
	return ticks += 3;
}

uint64_t pxt_board_hz(void)
{
	return 1000;
}

void pxt_board_idle(void)
{
	idled++;
	if (interrupt)
		interrupt();
}

uint32_t pxt_board_irq_save(void)
{
	if (depth == 0 && interrupt)
		interrupt();
	return depth++;
}

void pxt_board_irq_restore(uint32_t state)
{
	CU_ASSERT(state + 1u == depth);
	depth = state;
	if (depth == 0 && interrupt)
		interrupt();
}

/* The line: it takes so many bytes a call, and nothing in every second one. */
static size_t line_takes;
static unsigned line_calls;
static size_t line_bytes;
static unsigned line_frames;

long pxt_board_output(int fd, const void *data, size_t bytes)
{
	size_t taken = line_calls++ % 2u ? 0 : line_takes;

	PXT_EQ(fd, 1);
	if (taken > bytes)
		taken = bytes;
	for (size_t i = 0; i < taken; i++)
		line_frames += ((const unsigned char *)data)[i] == 0;
	line_bytes += taken;
	return (long)taken;
}

/* ---- Short ways ---- */

static trace_event_id_t tick, tock;

static trace_id_t create(void)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	interrupt = NULL;
	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamsize(&attr, STREAM), 0);
	PXT_EQ_FATAL(posix_trace_attr_setmaxdatasize(&attr, 40), 0);
	PXT_EQ_FATAL(posix_trace_attr_setname(&attr, "boot"), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ_FATAL(posix_trace_eventid_open("tick", &tick), 0);
	PXT_EQ_FATAL(posix_trace_eventid_open("tock", &tock), 0);
	PXT_EQ_FATAL(posix_trace_start(trid), 0);
	return trid;
}

static void end(trace_id_t trid)
{
	interrupt = NULL;
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(depth, 0);
}

/* Its data's first byte, or -1 without an event. */
static int next(trace_id_t trid, struct posix_trace_event_info *info)
{
	unsigned char data[64] = { 0 };
	size_t bytes = 0;
	int nothing = 0;

	PXT_EQ(posix_trace_trygetnext_event(trid, info, data, sizeof(data), &bytes, &nothing), 0);
	return nothing ? -1 : data[0];
}

static void the_law_holds(trace_id_t trid, uint64_t written)
{
	struct posix_trace_counts_np counts;

	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_written_np, written);
	PXT_EQ(counts.posix_written_np, counts.posix_retrieved_np + counts.posix_lost_np +
	                                    counts.posix_cleared_np + counts.posix_held_np);
}

static void put(unsigned char value)
{
	posix_trace_event(tick, &value, 1);
}

/* ---- What a stream does ---- */

/* START-01, STOP-01: nothing before start and after stop. */
PXT_TEST(only_a_running_stream_records)
{
	struct posix_trace_event_info info;
	trace_id_t trid = create();

	PXT_EQ(posix_trace_stop(trid), 0);
	put(1);
	PXT_EQ(posix_trace_wanted_np(tick), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_wanted_np(tick), 1);
	put(2);
	PXT_EQ(next(trid, &info), 2);
	PXT_EQ(next(trid, &info), -1);
	the_law_holds(trid, 1);
	end(trid);
}

/* GETNX-01, TIM-03: members, stamps on the line of the time of day, in order. */
PXT_TEST(an_event_comes_back_as_it_was)
{
	const unsigned char given[] = { 7, 8, 9 };
	struct posix_trace_event_info info;
	struct posix_trace_eventextra_np extra;
	unsigned char data[8] = { 0 };
	trace_id_t trid = create();
	size_t bytes = 0;
	int nothing = 1;
	uint64_t before = ticks;

	posix_trace_event(tock, given, sizeof(given));
	ticks += 2500;
	PXT_EQ(posix_trace_getnext_event(trid, &info, data, sizeof(data), &bytes, &nothing), 0);
	PXT_EQ(nothing, 0);
	PXT_EQ(bytes, sizeof(given));
	CU_ASSERT(memcmp(data, given, sizeof(given)) == 0);
	PXT_EQ(info.posix_event_id, tock);
	PXT_EQ(info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	PXT_EQ(posix_trace_eventinfo_getextra_np(&info, &extra, sizeof(extra)), 0);
	PXT_EQ(extra.posix_ticks_np, before + 3);
	PXT_EQ(extra.posix_thread_exact_np, 0);
	/* The board's time of day is its counter. */
	CU_ASSERT(llabs((long long)info.posix_timestamp.tv_sec * 1000 +
	                info.posix_timestamp.tv_nsec / 1000000 - (long long)before - 3) <= 3);
	end(trid);
}

/* TRU-01, TRU-05 */
PXT_TEST(long_data_is_cut_once_or_twice)
{
	unsigned char given[64];
	struct posix_trace_event_info info;
	unsigned char data[64] = { 0 };
	trace_id_t trid = create();
	size_t bytes = 0;
	int nothing = 1;

	memset(given, 5, sizeof(given));
	posix_trace_event(tick, given, sizeof(given));
	posix_trace_event(tick, given, 40);
	PXT_EQ(posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &bytes, &nothing), 0);
	PXT_EQ(bytes, 40);
	PXT_EQ(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	PXT_EQ(data[39], 5);
	PXT_EQ(data[40], 0);
	PXT_EQ(posix_trace_trygetnext_event(trid, &info, data, 4, &bytes, &nothing), 0);
	PXT_EQ(bytes, 4);
	PXT_EQ(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	end(trid);
}

/* POL-05 (LOOP), ruling 7: the oldest go, are counted, and the first one left says so. */
PXT_TEST(a_full_stream_drops_its_oldest)
{
	struct posix_trace_event_info info;
	struct posix_trace_status_info status;
	struct posix_trace_eventextra_np extra;
	trace_id_t trid = create();
	const unsigned fit = STREAM / 32;

	for (unsigned i = 0; i < fit - 1; i++)
		put((unsigned char)i);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	put((unsigned char)(fit - 1));
	put((unsigned char)fit);
	put((unsigned char)(fit + 1));
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_full_status, POSIX_TRACE_FULL);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	for (unsigned i = 2; i < fit + 2; i++) {
		PXT_EQ(next(trid, &info), (int)i);
		PXT_EQ(posix_trace_eventinfo_getextra_np(&info, &extra, sizeof(extra)), 0);
		PXT_EQ(extra.posix_lost_before_np, i == 2 ? 2 : 0);
	}
	PXT_EQ(next(trid, &info), -1);
	the_law_holds(trid, fit + 2);
	end(trid);
}

/* CLEAR-01 */
PXT_TEST(clear_empties_and_counts)
{
	struct posix_trace_counts_np counts;
	struct posix_trace_event_info info;
	trace_id_t trid = create();

	put(1);
	put(2);
	PXT_EQ(posix_trace_clear(trid), 0);
	PXT_EQ(next(trid, &info), -1);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_cleared_np, 2);
	put(3);
	PXT_EQ(next(trid, &info), 3);
	the_law_holds(trid, 3);
	end(trid);
}

/* ---- Beside interrupts ---- */

static unsigned from_interrupt;

/* At every second place: what the ring has room for beside one event. */
static void another_event(void)
{
	static unsigned places;
	void (*self)(void) = interrupt;

	if (++places % 2)
		return;
	interrupt = NULL;
	put(200);
	from_interrupt++;
	interrupt = self;
}

/* EVENT-09: whatever an interrupt records, before, after and between, is whole and in order. */
PXT_TEST(interrupts_record_beside_events_and_readers)
{
	struct posix_trace_event_info info;
	struct timespec last = { 0, 0 };
	trace_id_t trid = create();
	unsigned char longest[40] = { 0 }; /* more than goes in at once */
	unsigned own = 0;
	unsigned theirs = 0;

	from_interrupt = 0;
	for (unsigned i = 0; i < 4; i++) {
		longest[0] = (unsigned char)i;
		interrupt = another_event;
		posix_trace_event(tick, longest, sizeof(longest));
		interrupt = NULL;
		for (int got = next(trid, &info); got >= 0; got = next(trid, &info)) {
			CU_ASSERT(info.posix_timestamp.tv_sec > last.tv_sec ||
			          (info.posix_timestamp.tv_sec == last.tv_sec &&
			              info.posix_timestamp.tv_nsec >= last.tv_nsec));
			last = info.posix_timestamp;
			if (got == 200)
				theirs++;
			else
				PXT_EQ(got, (int)own++);
		}
	}
	PXT_EQ(own, 4);
	PXT_EQ(theirs, from_interrupt);
	CU_ASSERT(theirs >= 8);
	the_law_holds(trid, 4u + from_interrupt);
	end(trid);
}

static void wake_up(void)
{
	if (idled < 3)
		return;
	interrupt = NULL;
	put(77);
}

/* GETNX-02, TIMED-02 */
PXT_TEST(a_reader_waits_while_the_board_idles)
{
	struct posix_trace_event_info info;
	struct timespec until = { (time_t)(ticks / 1000 + 2), 0 };
	unsigned char data = 0;
	trace_id_t trid = create();
	size_t bytes;
	int nothing;

	idled = 0;
	interrupt = wake_up;
	PXT_EQ(posix_trace_getnext_event(trid, &info, &data, 1, &bytes, &nothing), 0);
	PXT_EQ(data, 77);
	interrupt = NULL;
	PXT_EQ(posix_trace_timedgetnext_event(trid, &info, &data, 1, &bytes, &nothing, &until),
	    ETIMEDOUT);
	PXT_EQ(nothing, 1);
	until.tv_nsec = -1;
	PXT_EQ(posix_trace_timedgetnext_event(trid, &info, &data, 1, &bytes, &nothing, &until),
	    EINVAL);
	end(trid);
}

/* ---- Names, identifiers, attributes ---- */

/* OPEN-01, CON-19; one that finds no room in the pool is the unnamed type, too. */
PXT_TEST(names_are_kept_up_to_the_limit)
{
	char name[TRACE_EVENT_NAME_MAX + 2];
	char back[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id = 0;
	trace_event_id_t again = 0;
	trace_id_t trid = create();
	unsigned types = 0;
	int nothing = 0;

	PXT_EQ(posix_trace_eventid_open("tick", &again), 0);
	PXT_EQ(again, tick);
	PXT_EQ(posix_trace_eventid_get_name(trid, tick, back), 0);
	CU_ASSERT_STRING_EQUAL(back, "tick");
	PXT_EQ(posix_trace_eventid_open("posix_trace_unnamed_userevent", &id), 0);
	PXT_EQ(id, POSIX_TRACE_UNNAMED_USEREVENT);
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	PXT_EQ(posix_trace_eventid_open(name, &id), ENAMETOOLONG);
	id = tick;
	for (unsigned i = 0; i < 1000 && id != POSIX_TRACE_UNNAMED_USEREVENT; i++) {
		name[4] = '\0';
		for (unsigned digit = 0, left = i; digit < 3; digit++, left /= 10)
			name[1 + digit] = (char)('0' + left % 10);
		PXT_EQ(posix_trace_eventid_open(name, &id), 0);
	}
	PXT_EQ(posix_trace_eventtypelist_rewind(trid), 0);
	while (posix_trace_eventtypelist_getnext_id(trid, &id, &nothing) == 0 && !nothing)
		types++;
	/* Of 5 bytes each, beside the unnamed one, which has no place there. */
	PXT_EQ(types, CONFIG_PTRACE_NAME_POOL_BYTES / 5 < TRACE_USER_EVENT_MAX
	                  ? 1 + CONFIG_PTRACE_NAME_POOL_BYTES / 5
	                  : TRACE_USER_EVENT_MAX);
	PXT_EQ(posix_trace_eventid_setformat_np(tick, "u8 n"),
	    CONFIG_PTRACE_FORMAT_POOL_BYTES ? 0 : ENOMEM);
	PXT_EQ(posix_trace_eventid_setformat_np(tick, "nonsense"), EINVAL);
	PXT_EQ(posix_trace_eventid_getformat_np(trid, tick, back, sizeof(back)), 0);
	end(trid);
}

/* CREATE-E1, SHUT-02 */
PXT_TEST(one_stream_at_a_time_and_stale_identifiers_miss)
{
	trace_id_t trid = create();
	trace_id_t second = 0;

	PXT_EQ(posix_trace_create(0, NULL, &second), EAGAIN);
	PXT_EQ(posix_trace_create(4711, NULL, &second), ESRCH);
	end(trid);
	PXT_EQ(posix_trace_start(trid), EINVAL);
	PXT_EQ(posix_trace_start(0), EINVAL);
	PXT_EQ(posix_trace_create(0, NULL, &second), 0);
	CU_ASSERT(second != trid);
	PXT_EQ(posix_trace_stop(trid), EINVAL);
	end(second);
}

/* GATTR-01: what is in force can be asked for. */
PXT_TEST(attributes_tell_what_is_in_force)
{
	char name[TRACE_NAME_MAX + 1];
	trace_id_t trid = create();
	struct timespec step;
	trace_attr_t attr;
	size_t size = 0;
	int policy = 0;

	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getclockres(&attr, &step), 0);
	CU_ASSERT(step.tv_sec == 0 && step.tv_nsec == 1000000);
	PXT_EQ(posix_trace_attr_getstreamsize(&attr, &size), 0);
	PXT_EQ(size, STREAM);
	PXT_EQ(posix_trace_attr_getname(&attr, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "boot");
	PXT_EQ(posix_trace_attr_getstreamfullpolicy(&attr, &policy), 0);
	PXT_EQ(policy, POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_attr_getmaxusereventsize(&attr, 16, &size), 0);
	PXT_EQ(size, 32);
	end(trid);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, 1u << 30), 0);
	PXT_EQ(posix_trace_create(0, &attr, &trid), ENOMEM);
}

/* ---- Everything against a model ---- */

struct expected {
	unsigned bytes;
	unsigned char first;
};

PXT_TEST(random_lengths_match_a_queue)
{
	static struct expected queue[MODEL];
	unsigned char data[64];
	unsigned head = 0;
	unsigned tail = 0;
	unsigned used = 0;
	trace_id_t trid = create();

	srand(1);
	for (unsigned round = 0; round < 20000; round++) {
		struct posix_trace_event_info info;
		unsigned bytes = (unsigned)rand() % 41;
		size_t length = 0;
		int nothing = 0;

		if (rand() % 3) {
			for (unsigned i = 0; i < bytes; i++)
				data[i] = (unsigned char)(round + i);
			posix_trace_event(tick, data, bytes);
			used += 1 + (bytes + 15) / 16;
			for (; used > STREAM / 16; tail++)
				used -= 1 + (queue[tail % MODEL].bytes + 15) / 16;
			queue[head++ % MODEL] = (struct expected){ bytes, (unsigned char)round };
			continue;
		}
		PXT_EQ(posix_trace_trygetnext_event(
		           trid, &info, data, sizeof(data), &length, &nothing),
		    0);
		PXT_EQ(nothing, head == tail);
		if (nothing)
			continue;
		PXT_EQ(length, queue[tail % MODEL].bytes);
		for (unsigned i = 0; i < length; i++)
			PXT_CHECK(data[i] == (unsigned char)(queue[tail % MODEL].first + i),
			    "round %u, byte %u", round, i);
		used -= 1 + ((unsigned)length + 15) / 16;
		tail++;
	}
	the_law_holds(trid, head);
	end(trid);
}

/* ---- A context switch ---- */

#if CONFIG_PTRACE_SYSEV_SHORT_SWITCH
/* It takes one slot, and all that the hook was given comes back; cut, it is data like any other. */
PXT_TEST(a_context_switch_takes_one_slot_and_comes_back)
{
	const int8_t priorities[] = { -128, -1, 0, 127 };
	struct posix_trace_event_info info;
	struct posix_trace_status_info status;
	trace_id_t trid = create();
	unsigned char data[8];
	size_t bytes;
	int nothing;

	for (unsigned i = 0; i < STREAM / 16u; i++)
		posix_trace_hook_context_switch_np(
		    0, 0xff00u + i, 0xabcdu, 200u + i % 4u, 1, priorities[i % 4u]);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	for (unsigned i = 0; i < STREAM / 16u; i++) {
		PXT_EQ_FATAL(
		    posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &bytes, &nothing),
		    0);
		PXT_EQ(nothing, 0);
		PXT_EQ(info.posix_event_id, POSIX_TRACE_CONTEXT_SWITCH_NP);
		PXT_EQ(info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
		PXT_EQ(bytes, 6);
		PXT_EQ(data[0] | data[1] << 8, (int)(0xff00u + i));
		PXT_EQ(data[2] | data[3] << 8, 0xabcd);
		PXT_EQ(data[4], 200u + i % 4u);
		PXT_EQ((int8_t)data[5], priorities[i % 4u]);
	}
	posix_trace_hook_context_switch_np(0, 1, 2, 3, 4, 5);
	PXT_EQ(posix_trace_trygetnext_event(trid, &info, data, 3, &bytes, &nothing), 0);
	PXT_EQ(bytes, 3);
	PXT_EQ(data[2], 2);
	PXT_EQ(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	end(trid);
}
#endif

/* ---- A log ---- */

#if CONFIG_PTRACE_TOLOG
static trace_id_t create_with_log(void)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	interrupt = NULL;
	line_frames = 0;
	line_bytes = 0;
	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamsize(&attr, STREAM), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, 1, &trid), 0);
	PXT_EQ_FATAL(posix_trace_eventid_open("tick", &tick), 0);
	PXT_EQ_FATAL(posix_trace_start(trid), 0);
	return trid;
}

/* FLUSH-01: head, types, records; what interrupts record while it goes out is the next flush's. */
PXT_TEST(a_flush_sends_what_the_stream_held)
{
	trace_id_t trid = create_with_log();
	struct posix_trace_counts_np counts;

	line_takes = 7;
	for (unsigned char i = 0; i < 10; i++)
		put(i);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_retrieved_np, 10);
	PXT_EQ(counts.posix_held_np, 0);
	CU_ASSERT(line_frames >= 4);
	put(11);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(depth, 0);
}

/* FLUSH-E1: what a line does not take stays, and goes out when it does. */
PXT_TEST(a_line_that_takes_nothing_ends_the_flush_alone)
{
	trace_id_t trid = create_with_log();
	size_t before;

	put(1);
	line_takes = 0;
	PXT_EQ(posix_trace_flush(trid), EAGAIN);
	PXT_EQ(posix_trace_flush(trid), EAGAIN);
	PXT_EQ(line_bytes, 0);
	line_takes = 100;
	PXT_EQ(posix_trace_flush(trid), 0);
	the_law_holds(trid, 1);
	before = line_bytes;
	CU_ASSERT(before > 0);
	PXT_EQ(posix_trace_clear(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(line_bytes > before + 384);
}

PXT_TEST(a_stream_with_a_log_has_no_other_reader)
{
	trace_id_t trid = create_with_log();
	struct posix_trace_event_info info;
	unsigned char data[8];
	size_t bytes;
	int nothing;

	line_takes = 100;
	PXT_EQ(posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &bytes, &nothing),
	    EINVAL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = create();
	PXT_EQ(posix_trace_flush(trid), EINVAL);
	end(trid);
}
#endif

/* ---- Its memory, as a debugger takes it ---- */

#if CONFIG_PTRACE_RECORD_THREAD && !CONFIG_PTRACE_TOLOG
/* From the first initialized variable to the last one: no constants, as in a board's RAM. */
extern char __data_start[];
extern char _end[];

static int dump(const char *path)
{
	FILE *file = fopen(path, "wb");
	size_t bytes = (size_t)(_end - __data_start);

	return !file || fwrite(__data_start, 1, bytes, file) != bytes || fclose(file) != 0;
}

/* Overwritten, read, cleared, and what else a stream can hold.  Arguments: "leave", its file, "all" or "nothing". */
PXT_ROLE(argc, argv)
{
	static char control_name[] = "control";
	static struct posix_trace_task_np control, logger;
	struct posix_trace_event_info info;
	unsigned char large[64];
	trace_id_t trid;
	void *interrupted;

	if (argc != 3)
		return 2;
	memset(large, 7, sizeof(large));
	if (strcmp(argv[2], "nothing") == 0)
		return dump(argv[1]);
	posix_trace_task_begin_np(&control, 3, control_name);
	posix_trace_task_begin_np(&logger, 4, "logger");
	trid = create();
	if (posix_trace_eventid_setformat_np(tock, "u32 n") != 0)
		return 3;
	put(1);
	(void)next(trid, &info);
	put(2);
	put(3);
	(void)posix_trace_clear(trid);
	posix_trace_task_switch_np(&control);
	for (uint32_t i = 0; i < 40; i++)
		posix_trace_event(tock, &i, sizeof(i));
	posix_trace_event(tick, large, sizeof(large));
	posix_trace_hook_context_switch_np(0, 3, 4, 1, 2, 9);
	posix_trace_task_switch_np(&logger);
	put(5);
	interrupted = posix_trace_interrupt_begin_np(5);
	put(6);
	posix_trace_interrupt_end_np(interrupted);
	return dump(argv[1]);
}
#endif
