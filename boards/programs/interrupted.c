/* SPDX-License-Identifier: MIT */
/*
 * interrupted.c - an interrupt after each instruction of a trace point, and of a flush, and a second one inside the
 * first: all three record.  Nothing is lost or torn, and each event says who recorded it.
 */
#include "kernel.h"

#include "port/bare/board.h"

#include <string.h>

#define TICKS 2000u
#define FLUSH 5000u /* instructions, each 128 ns (--shift 7) */
#define LONG  40u   /* bytes of the task's event: several slots */

static trace_id_t trid;
static trace_event_id_t by_task, by_first, by_second;
static volatile uint32_t first_calls, second_calls;

static void second(void)
{
	uint32_t number = ++second_calls;

	posix_trace_event(by_second, &number, sizeof(number));
}

static void first(void)
{
	uint32_t number = ++first_calls;

	posix_trace_event(by_first, &number, sizeof(number));
	board_raise(1);
	while (second_calls != number)
		;
	posix_trace_event(by_first, &number, sizeof(number));
}

/* Takes one event; which it is. */
static trace_event_id_t next(uint32_t number, struct posix_trace_event_info *info)
{
	unsigned char data[LONG];
	uint32_t value;
	size_t bytes;
	int none;

	MUST(posix_trace_trygetnext_event(trid, info, data, sizeof(data), &bytes, &none) == 0);
	MUST(!none && info->posix_truncation_status == POSIX_TRACE_NOT_TRUNCATED);
	memcpy(&value, data, sizeof(value));
	MUST(value == number);
	for (size_t i = sizeof(value); i < bytes; i++)
		MUST(data[i] == (unsigned char)(number + i));
	return info->posix_event_id;
}

static void one(uint32_t ticks, uint32_t number)
{
	struct posix_trace_event_info info;
	unsigned char data[LONG];
	pthread_t who[3] = { 0 };
	unsigned seen[3] = { 0 };

	memcpy(data, &number, sizeof(number));
	for (size_t i = sizeof(number); i < LONG; i++)
		data[i] = (unsigned char)(number + i);
	board_raise_after(ticks);
	posix_trace_event(by_task, data, number % 2 ? LONG : sizeof(number));
	while (first_calls != number)
		;
	for (unsigned i = 0; i < 4; i++) {
		trace_event_id_t id = next(number, &info);
		unsigned which = id == by_task ? 0 : id == by_first ? 1 : 2;

		MUST(id == by_task || id == by_first || id == by_second);
		seen[which]++;
		MUST(!who[which] || who[which] == info.posix_thread_id);
		who[which] = info.posix_thread_id;
	}
	MUST(seen[0] == 1 && seen[1] == 2 && seen[2] == 1);
	MUST(who[0] != who[1] && who[1] != who[2] && who[0] != who[2]);
}

/* What comes while a flush runs goes out with it or with the next one. */
static void in_a_flush(uint32_t number)
{
	struct posix_trace_counts_np counts;
	trace_attr_t attr;

	MUST(posix_trace_attr_init(&attr) == 0);
	MUST(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_FRAMES_NP) == 0);
	MUST(posix_trace_create_withlog(0, &attr, 1, &trid) == 0);
	MUST(posix_trace_start(trid) == 0);
	for (uint32_t instruction = 0; instruction < FLUSH; instruction++) {
		number++;
		posix_trace_event(by_task, &number, sizeof(number));
		board_raise_after(
		    1u + (uint32_t)(pxt_board_hz() * 128u / 1000u * instruction / 1000000u));
		MUST(posix_trace_flush(trid) == 0);
		while (first_calls != number)
			;
	}
	MUST(posix_trace_stop(trid) == 0);
	MUST(posix_trace_flush(trid) == 0);
	MUST(posix_trace_getcounts_np(trid, &counts, sizeof(counts)) == 0);
	MUST(counts.posix_lost_np == 0 && counts.posix_held_np == 0);
	MUST(counts.posix_written_np == counts.posix_retrieved_np &&
	     counts.posix_written_np >= 4u * FLUSH);
	MUST(posix_trace_shutdown(trid) == 0);
}

int main(void)
{
	struct posix_trace_counts_np counts;
	trace_attr_t attr;
	uint32_t number = 0;

	board_interrupt[0] = first;
	board_interrupt[1] = second;
	MUST(posix_trace_attr_init(&attr) == 0);
	MUST(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) == 0);
	MUST(posix_trace_attr_setmaxdatasize(&attr, LONG) == 0);
	MUST(posix_trace_create(0, &attr, &trid) == 0);
	MUST(posix_trace_eventid_open("task", &by_task) == 0);
	MUST(posix_trace_eventid_open("first", &by_first) == 0);
	MUST(posix_trace_eventid_open("second", &by_second) == 0);
	MUST(posix_trace_start(trid) == 0);
	for (;;) {
		struct posix_trace_event_info info;
		size_t bytes;
		int none;

		/* What the start recorded. */
		MUST(posix_trace_trygetnext_event(trid, &info, NULL, 0, &bytes, &none) == 0);
		if (none)
			break;
	}
	for (uint32_t ticks = 1; ticks <= TICKS; ticks++) {
		one(ticks, ++number);
		one(ticks, ++number);
	}
	MUST(posix_trace_getcounts_np(trid, &counts, sizeof(counts)) == 0);
	MUST(counts.posix_written_np == counts.posix_retrieved_np && counts.posix_held_np == 0);
	MUST(posix_trace_shutdown(trid) == 0);
	in_a_flush(number);
	return 0;
}
