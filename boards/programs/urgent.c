/* SPDX-License-Identifier: MIT */
/*
 * urgent.c - a task that is interrupted after each instruction of a trace point, or of a control call, while a
 * more urgent one makes control calls on the same stream.  Every call returns, whoever stands inside, and what
 * was recorded is what is read.
 */
#include "kernel.h"

#define TICKS 700u

static struct kernel_task urgent, slow;
static uint32_t stacks[2][2 * KERNEL_STACK_WORDS];
static struct kernel_queue orders;
static trace_id_t trid;
static trace_event_id_t measured, noticed;
static volatile uint32_t done;

enum deed {
	STATUS,
	CLEAR,
	STOP,
	ANEW,
	DEEDS
};

static void make(void)
{
	trace_attr_t attr;

	MUST(posix_trace_attr_init(&attr) == 0);
	MUST(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) == 0);
	MUST(posix_trace_create(0, &attr, &trid) == 0);
	MUST(posix_trace_start(trid) == 0);
}

static void order(void)
{
	MUST(kernel_queue_put(&orders, 1));
}

static void act(enum deed deed)
{
	struct posix_trace_status_info status;

	switch (deed) {
	case STATUS:
		MUST(posix_trace_get_status(trid, &status) == 0);
		break;
	case CLEAR:
		MUST(posix_trace_clear(trid) == 0);
		break;
	case STOP:
		MUST(posix_trace_stop(trid) == 0);
		MUST(posix_trace_start(trid) == 0);
		break;
	default:
		MUST(posix_trace_shutdown(trid) == 0);
		make();
		break;
	}
}

static void urgent_run(void)
{
	for (uint32_t number = 0;; number++) {
		(void)kernel_queue_take(&orders);
		posix_trace_event(noticed, &number, sizeof(number));
		act((enum deed)(number % DEEDS));
		done = number + 1u;
	}
}

/* Reads everything that is there, and checks the count equation. */
static void take_all(enum deed after)
{
	static uint64_t lost;
	struct posix_trace_event_info info;
	struct posix_trace_counts_np counts;
	unsigned char data[32];
	size_t bytes;
	int none;

	if (after == ANEW)
		lost = 0;
	do
		MUST(posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &bytes, &none) ==
		     0);
	while (!none);
	MUST(posix_trace_getcounts_np(trid, &counts, sizeof(counts)) == 0);
	/* A stop turns away the event that stands inside before it has a place: counted as lost. */
	MUST(counts.posix_held_np == 0 && counts.posix_lost_np - lost <= 1);
	MUST(counts.posix_lost_np == lost || after == STOP);
	MUST(counts.posix_written_np ==
	     counts.posix_retrieved_np + counts.posix_cleared_np + counts.posix_lost_np);
	lost = counts.posix_lost_np;
}

static void slow_run(void)
{
	struct posix_trace_status_info status;
	uint32_t number = 0;

	for (uint32_t ticks = 1; ticks <= TICKS; ticks++) {
		for (unsigned deed = 0; deed < DEEDS; deed++, number++) {
			board_raise_after(ticks);
			if (ticks % 2)
				posix_trace_event(measured, &number, sizeof(number));
			else if (deed != ANEW)
				MUST(posix_trace_get_status(trid, &status) == 0);
			while (done != number + 1u)
				;
			take_all((enum deed)deed);
		}
	}
	board_exit(0);
}

int main(void)
{
	board_interrupt[0] = order;
	MUST(posix_trace_eventid_open("measured", &measured) == 0);
	MUST(posix_trace_eventid_open("noticed", &noticed) == 0);
	make();
	kernel_task(&urgent, "urgent", 9, urgent_run, stacks[0], 2 * KERNEL_STACK_WORDS);
	kernel_task(&slow, "slow", 3, slow_run, stacks[1], 2 * KERNEL_STACK_WORDS);
	kernel_run();
	return 1;
}
