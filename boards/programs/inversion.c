/* SPDX-License-Identifier: MIT */
/*
 * inversion.c - a control task with a period of 10 ms.  Once a logger has the lock that it needs, and a
 * third task, less urgent than the control task and more than the logger, runs meanwhile: the control task is
 * late by 20 ms.  The log goes over the line; `pxtrace why` names the three.
 *
 * With BUS_INHERITS the logger is as urgent as the control task while that one waits: no inversion.
 */
#include "kernel.h"

#define PERIOD_MS 10u
#define JOBS      12u

static struct kernel_task control, cruncher, logger, sender;
static uint32_t stacks[4][KERNEL_STACK_WORDS];
#ifndef BUS_INHERITS
#define BUS_INHERITS false
#endif
static struct kernel_mutex bus = { .inherits = BUS_INHERITS };
static struct kernel_queue orders;
static trace_id_t trid;
static trace_event_id_t job_begin, job_end;
static volatile bool done;

static void work(uint32_t ms)
{
	uint32_t until = kernel_ms + ms;

	while ((int32_t)(until - kernel_ms) > 0)
		;
}

static void control_run(void)
{
	uint32_t at = kernel_ms + PERIOD_MS;

	for (uint32_t job = 0; job < JOBS; job++) {
		kernel_sleep_until(at);
		posix_trace_event(job_begin, &job, sizeof(job));
		kernel_lock(&bus, true);
		work(1);
		kernel_unlock(&bus);
		posix_trace_event(job_end, &job, sizeof(job));
		if (job == 7)
			kernel_queue_put(&orders, job);
		at += PERIOD_MS;
	}
	done = true;
	for (;;)
		kernel_sleep_until(kernel_ms + 1000);
}

/* Has the bus when the next job begins. */
static void logger_run(void)
{
	for (;;) {
		(void)kernel_queue_take(&orders);
		kernel_sleep_until(kernel_ms + 6);
		kernel_lock(&bus, true);
		work(4);
		kernel_unlock(&bus);
	}
}

static void cruncher_run(void)
{
	kernel_sleep_until(91);
	work(20);
	for (;;)
		kernel_sleep_until(kernel_ms + 1000);
}

/* Least urgent but for idling: the line is slow. */
static void sender_run(void)
{
	while (!done) {
		(void)posix_trace_flush(trid);
		kernel_sleep_until(kernel_ms + 5);
	}
	MUST(posix_trace_shutdown(trid) == 0);
	board_exit(0);
}

int main(void)
{
	trace_attr_t attr;

	MUST(posix_trace_attr_init(&attr) == 0);
	MUST(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_FRAMES_NP) == 0);
	MUST(posix_trace_create_withlog(0, &attr, 1, &trid) == 0);
	MUST(posix_trace_eventid_open("job_begin", &job_begin) == 0);
	MUST(posix_trace_eventid_open("job_end", &job_end) == 0);
	MUST(posix_trace_eventid_setformat_np(job_begin, "u32 job") == 0);
	MUST(posix_trace_eventid_setformat_np(job_end, "u32 job") == 0);
	MUST(posix_trace_start(trid) == 0);
	kernel_task(&control, "control", 9, control_run, stacks[0], KERNEL_STACK_WORDS);
	kernel_task(&cruncher, "cruncher", 5, cruncher_run, stacks[1], KERNEL_STACK_WORDS);
	kernel_task(&logger, "logger", 3, logger_run, stacks[2], KERNEL_STACK_WORDS);
	kernel_task(&sender, "sender", 1, sender_run, stacks[3], KERNEL_STACK_WORDS);
	kernel_run();
	return 1;
}
