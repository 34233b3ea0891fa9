/* SPDX-License-Identifier: MIT */
/*
 * ended.c - tasks come and go, many more than the library has places for, and each is deleted after another
 * instruction of a trace point.  Nobody waits for one that was deleted inside, and a record that was never
 * finished is not shown.  The last ones go into a log, each with its name.
 */
#include "kernel.h"

#include "port/bare/board.h"

#include <errno.h>
#include <string.h>

#define TASKS  300u
#define LOGGED 48u /* three times as many as there are places */

static struct kernel_task main_task, short_lived;
static uint32_t stacks[2][2 * KERNEL_STACK_WORDS];
static struct kernel_queue orders;
static trace_id_t trid;
static trace_event_id_t begins, stands;
static volatile uint32_t number;

static void order(void)
{
	MUST(kernel_queue_put(&orders, 1));
}

/* Its second event is interrupted by who deletes it. */
static void short_run(void)
{
	uint32_t own = number;

	posix_trace_event(begins, &own, sizeof(own));
	board_raise_after(1 + own * 7u % 2000u);
	for (;;)
		posix_trace_event(stands, &own, sizeof(own));
}

static void make(void)
{
	trace_attr_t attr;

	MUST(posix_trace_attr_init(&attr) == 0);
	MUST(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) == 0);
	MUST(posix_trace_create(0, &attr, &trid) == 0);
	MUST(posix_trace_start(trid) == 0);
}

/* All that is there is of the task that just ended, and says so. */
static unsigned take_all(void)
{
	struct posix_trace_event_info info;
	unsigned taken = 0;
	unsigned char data[32];
	uint32_t value;
	size_t bytes;
	int none;

	for (;; taken++) {
		MUST(posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &bytes, &none) ==
		     0);
		if (none)
			return taken;
		if (info.posix_event_id != begins && info.posix_event_id != stands) {
			taken--;
			continue;
		}
		memcpy(&value, data, sizeof(value));
		MUST(bytes == sizeof(value) && value == number);
		/* By its words, or in the smallest Core by its number. */
		MUST(info.posix_thread_id == (pthread_t)(uintptr_t)&short_lived.trace ||
		     info.posix_thread_id == short_lived.trace._pxt_number);
	}
}

static void one(const char *name)
{
	kernel_task(&short_lived, name, 3, short_run, stacks[1], 2 * KERNEL_STACK_WORDS);
	(void)kernel_queue_take(&orders);
	kernel_delete(&short_lived);
}

static void in_memory(void)
{
	struct posix_trace_counts_np counts;
	struct posix_trace_status_info status;
	uint32_t before;

	make();
	for (number = 1; number <= TASKS; number++) {
		one("short");
		before = kernel_ms;
		MUST(posix_trace_get_status(trid, &status) == 0);
		MUST(take_all() >= 1);
		MUST(posix_trace_getcounts_np(trid, &counts, sizeof(counts)) == 0 &&
		     counts.posix_held_np == 0);
		if (number % 7u == 0) {
			MUST(posix_trace_shutdown(trid) == 0);
			make();
		}
		/* Far less than the library waits for one that may come back. */
		MUST(kernel_ms - before < 20u);
	}
	MUST(posix_trace_shutdown(trid) == 0);
}

/* Nobody reads, so all places are taken soon, and tasks without one are deleted inside. */
static void without_places(void)
{
	uint32_t before;

	for (unsigned turn = 0; turn < 5; turn++) {
		make();
		for (number = 1 + turn * 60u; number <= (turn + 1u) * 60u; number++)
			one("short");
		before = kernel_ms;
		MUST(posix_trace_shutdown(trid) == 0);
		MUST(kernel_ms - before < 20u);
	}
}

static void in_a_log(void)
{
	static char name[LOGGED][4];
	trace_attr_t attr;

	MUST(posix_trace_attr_init(&attr) == 0);
	MUST(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_FRAMES_NP) == 0);
	MUST(posix_trace_create_withlog(0, &attr, 1, &trid) == 0);
	MUST(posix_trace_start(trid) == 0);
	for (number = 0; number < LOGGED; number++) {
		name[number][0] = 't';
		name[number][1] = (char)('0' + number / 10u);
		name[number][2] = (char)('0' + number % 10u);
		one(name[number]);
		while (posix_trace_flush(trid) == EAGAIN)
			pxt_board_idle();
	}
	MUST(posix_trace_shutdown(trid) == 0);
}

static void main_run(void)
{
	in_memory();
	in_a_log();
	without_places();
	board_exit(0);
}

int main(void)
{
	board_interrupt[0] = order;
	MUST(posix_trace_eventid_open("begins", &begins) == 0);
	MUST(posix_trace_eventid_open("stands", &stands) == 0);
	kernel_task(&main_task, "main", 9, main_run, stacks[0], 2 * KERNEL_STACK_WORDS);
	kernel_run();
	return 1;
}
