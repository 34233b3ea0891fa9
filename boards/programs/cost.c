/* SPDX-License-Identifier: MIT */
/*
 * cost.c - what an event and a flush cost on the board: instructions, those for which interrupts are away, bytes
 * of the stack, bytes of the line.
 * An instruction is 128 ns of the emulator's time (run it with --shift 7), which the counter shows.
 *
 * The line has the rows as text; boards/costs.txt has their limits.
 */
#include "kernel.h"

#include "port/bare/board.h"

#include <string.h>

#define ROUNDS      1000u
#define INSTRUCTION 128u /* ns */
#define PAINT       0xa5a5a5a5u
#define SPAN        4000u /* ticks that an event and its reading take at most */

#if defined(__riscv)
#define SP_INTO "mv %0, sp"
#else
#define SP_INTO "mov %0, sp"
#endif

static struct kernel_task measurer;
static uint32_t stacks[1][4 * KERNEL_STACK_WORDS];
static trace_id_t trid;
static trace_event_id_t point;
static unsigned char data[32];

static void nothing(void)
{
}

static void four_bytes(void)
{
	posix_trace_event(point, data, 4);
}

static void sixteen_bytes(void)
{
	posix_trace_event(point, data, 16);
}

static void thirty_two_bytes(void)
{
	posix_trace_event(point, data, 32);
}

static void a_switch(void)
{
	posix_trace_hook_context_switch_np(0, 1, 2, 0, 3, 9);
	posix_trace_task_switch_np(&measurer.trace);
}

static void a_task_state(void)
{
	posix_trace_hook_task_state_np(2, POSIX_TRACE_TASK_READY_NP, 3, 0x1234);
}

static void clock_reading(void)
{
	(void)pxt_board_ticks();
}

static uint64_t ticks_of(void (*does)(void), uint32_t rounds)
{
	uint64_t begin;

	does();
	begin = pxt_board_ticks();
	for (uint32_t i = 0; i < rounds; i++)
		does();
	return pxt_board_ticks() - begin;
}

static void number(uint32_t value)
{
	char text[12] = { 0 };
	unsigned at = 11;

	do
		text[--at] = (char)('0' + value % 10u);
	while ((value /= 10u) != 0);
	board_text(text + at);
}

static void row(const char *what, uint32_t value)
{
	board_text(what);
	board_text(": ");
	number(value);
	board_text("\n");
}

static uint32_t instructions(void (*does)(void))
{
	uint64_t ticks = ticks_of(does, ROUNDS) - ticks_of(nothing, ROUNDS);

	return (uint32_t)(ticks * (1000000000u / INSTRUCTION) / pxt_board_hz() / ROUNDS);
}

static void no_bytes(void)
{
	posix_trace_event(point, NULL, 0);
}

/*
 * The dearest of many events in a row of short ones, whose room it takes: a stream's end and the first event after
 * it are among them.
 */
static uint32_t dearest(void)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t begin;

		for (uint32_t k = 0; k < i % 5u; k++)
			no_bytes();
		begin = pxt_board_ticks();
		thirty_two_bytes();
		begin = pxt_board_ticks() - begin;
		most = begin > most ? begin : most;
	}
	return (uint32_t)(most * (1000000000u / INSTRUCTION) / pxt_board_hz());
}

/* ---- For how long interrupts are away ---- */

static volatile uint64_t came;

static void note(void)
{
	came = pxt_board_ticks();
}

/* Ticks from when an interrupt is due until it runs, @after ticks from now. */
static uint32_t lateness(void (*does)(void), uint32_t after)
{
	uint64_t since;

	came = 0;
	since = pxt_board_ticks();
	board_raise_after(after);
	does();
	while (!came)
		;
	return (uint32_t)(came - since) - after;
}

/* Instructions, of the longest time: an interrupt is due after each tick of @does. */
static uint32_t away(void (*does)(void))
{
	uint32_t least = UINT32_MAX;
	uint32_t most = 0;

	for (uint32_t after = 1; after < SPAN; after++) {
		uint32_t late = lateness(does, after);

		least = late < least ? late : least;
		most = late > most ? late : most;
	}
	return (uint32_t)((uint64_t)(most - least) * (1000000000u / INSTRUCTION) / pxt_board_hz());
}

static void reading(void)
{
	struct posix_trace_event_info info;
	unsigned char bytes[32];
	size_t length;
	int none;

	four_bytes();
	MUST(posix_trace_trygetnext_event(trid, &info, bytes, sizeof(bytes), &length, &none) == 0);
}

/* Bytes of the stack below the caller's frame that @does has touched. */
static uint32_t touched_by(void (*does)(void))
{
	uint32_t how = kernel_port_away();
	volatile uint32_t *here;
	volatile uint32_t *low;

	__asm__ volatile(SP_INTO : "=r"(here));
	low = here - KERNEL_STACK_WORDS;
	for (volatile uint32_t *at = low; at < here; at++)
		*at = PAINT;
	does();
	/* Before an interrupt that waits uses the stack. */
	while (*low == PAINT)
		low++;
	kernel_port_back(how);
	return (uint32_t)((uintptr_t)here - (uintptr_t)low);
}

/* Of two in a row at most one is the last of a lap, which takes the slow path. */
static uint32_t stack_of(void (*does)(void))
{
	uint32_t first = touched_by(does);
	uint32_t second = touched_by(does);

	return first < second ? first : second;
}

/* Events go over the line, so many a flush. */
static void flush(void)
{
	MUST(posix_trace_flush(trid) == 0);
}

static void begin(trace_attr_t *attr)
{
	MUST(posix_trace_attr_setlogform_np(attr, POSIX_TRACE_LOG_FRAMES_NP) == 0);
	MUST(posix_trace_create_withlog(0, attr, 1, &trid) == 0);
	MUST(posix_trace_start(trid) == 0);
	four_bytes();
}

static uint32_t bytes_of(void (*does)(void), uint32_t times)
{
	uint32_t before = board_sent;

	for (uint32_t i = 0; i < times; i++)
		does();
	flush();
	return board_sent - before;
}

static void measure(void)
{
	trace_attr_t attr;
	uint32_t fifty;
	uint32_t switches;
	uint32_t one;
	uint32_t first;
	uint32_t stack;

	row("reading the clock", instructions(clock_reading));
	row("4 bytes", instructions(four_bytes));
	row("16 bytes", instructions(sixteen_bytes));
	row("32 bytes", instructions(thirty_two_bytes));
	row("context switch", instructions(a_switch));
	row("task state", instructions(a_task_state));
	row("stack of 4 bytes", stack_of(four_bytes));
	row("stack of 32 bytes", stack_of(thirty_two_bytes));
	MUST(posix_trace_shutdown(trid) == 0);
	MUST(posix_trace_attr_init(&attr) == 0);
	begin(&attr);
	/* It tells types, process and tasks, too. */
	first = touched_by(flush);
	one = bytes_of(four_bytes, 1);
	fifty = bytes_of(four_bytes, 50) / 50u;
	switches = bytes_of(a_switch, 50) / 50u;
	four_bytes();
	stack = touched_by(flush);
	MUST(posix_trace_shutdown(trid) == 0);
	board_text("\n");
	row("stack of the first flush", first);
	row("stack of a flush", stack);
	row("bytes of the line, one event a flush", one);
	row("bytes of the line an event, fifty a flush", fifty);
	row("bytes of the line a switch, fifty a flush", switches);
	board_exit(0);
}

int main(void)
{
	trace_attr_t attr;

	memset(data, 0x5a, sizeof data); /* what a line takes most bytes for */
	MUST(posix_trace_attr_init(&attr) == 0);
	MUST(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) == 0);
	MUST(posix_trace_create(0, &attr, &trid) == 0);
	MUST(posix_trace_eventid_open("point", &point) == 0);
	MUST(posix_trace_start(trid) == 0);
	/* Before the kernel's tick, which comes between otherwise. */
	board_interrupt[0] = note;
	row("interrupts away, 4 bytes", away(four_bytes));
	row("interrupts away, 32 bytes", away(thirty_two_bytes));
	row("interrupts away, reading", away(reading));
	row("32 bytes at most", dearest());
	kernel_task(&measurer, "measurer", 9, measure, stacks[0], 4 * KERNEL_STACK_WORDS);
	kernel_run();
	return 1;
}
