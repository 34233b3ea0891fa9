/* SPDX-License-Identifier: MIT */
/*
 * faulted.c - the processor faults in the middle of a trace point.  The handler of the fault records where and why,
 * and sends the program's memory over the line, as it is: `pxtrace recover` reads it.
 */
#include "kernel.h"

#include "port/bare/board.h"

#define STEPS 1000u /* before that, more than the stream takes */

static struct kernel_task worker;
static uint32_t stack[KERNEL_STACK_WORDS];
static trace_event_id_t step, fault;
static uint32_t steps;

/* The board's counter, which each trace point reads in its middle; by the linker's --wrap. */
uint64_t __real_pxt_board_ticks(void);
uint64_t __wrap_pxt_board_ticks(void);
uint64_t __wrap_pxt_board_ticks(void)
{
	if (steps == STEPS) {
		steps++;
		__builtin_trap();
	}
	return __real_pxt_board_ticks();
}

static void tell(uint32_t pc, uint32_t cause)
{
	const uint32_t data[2] = { pc, cause };
	const char *at = (const char *)&board_data;

	posix_trace_event(fault, data, sizeof data);
	while (at < (const char *)&board_bss_end)
		at += pxt_board_output(0, at, (size_t)((const char *)&board_bss_end - at));
	board_exit(0);
}

static void worker_run(void)
{
	for (;; steps++)
		posix_trace_event(step, &steps, sizeof steps);
}

int main(void)
{
	trace_attr_t attr;
	trace_id_t trid;

	board_fault = tell;
	MUST(posix_trace_attr_init(&attr) == 0);
	MUST(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) == 0);
	MUST(posix_trace_create(0, &attr, &trid) == 0);
	MUST(posix_trace_eventid_open("step", &step) == 0);
	MUST(posix_trace_eventid_open("fault", &fault) == 0);
	MUST(posix_trace_eventid_setformat_np(step, "u32 number") == 0);
	MUST(posix_trace_eventid_setformat_np(fault, "x32 pc, u32 cause") == 0);
	MUST(posix_trace_start(trid) == 0);
	kernel_task(&worker, "worker", 5, worker_run, stack, KERNEL_STACK_WORDS);
	kernel_run();
	return 1;
}
