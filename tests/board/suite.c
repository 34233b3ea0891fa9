/* SPDX-License-Identifier: MIT */
/*
 * suite.c - runs tests (tests/suite.h) on a board: one after the other in the same process.  What fails
 * is told on the line, and ends the program with 1.  Tests that want a process of their own are left out, and those
 * that ask for a thread, a file or a process are ended there.
 */
#include "suite.h"
#include "core/stream/stream.h"
#include "kernel.h"
#include "port/bare/board.h"
#include "port/port.h"

#include <setjmp.h>

static jmp_buf next_case;
static struct pxt_case *test; /* that runs; longjmp() leaves it alone */
static bool failed, skipped;

const char *pxt_suite_program = "board";
int (*pxt_suite_role)(int argc, char **argv);
void (*pxt_suite_before)(void);

static void number(int value)
{
	char text[12] = { 0 };
	unsigned at = 11;

	do
		text[--at] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	board_text(text + at);
}

void pxt_verdict(bool ok, int line, const char *text, const char *file, bool fatal)
{
	if (ok)
		return;
	failed = true;
	board_text(file);
	board_text(":");
	number(line);
	board_text(": ");
	board_text(test->name);
	board_text(": not so: ");
	board_text(text);
	board_text("\n");
	if (fatal)
		longjmp(next_case, 1);
}

void pxt_equal(
    long long got, long long want, bool fatal, int line, const char *text, const char *file)
{
	pxt_verdict(got == want, line, text, file, fatal);
}

void pxt_check(bool ok, int line, const char *file, const char *format, ...)
{
	pxt_verdict(ok, line, format, file, false);
}

void pxt_skip(const char *why)
{
	(void)why;
	skipped = true;
}

bool pxt_emulated(void)
{
	return true;
}

bool pxt_in_full(void)
{
	return false;
}

/* What a test asks for in vain. */
static long lacks(void)
{
	skipped = true;
	longjmp(next_case, 1);
}

int pxt_in_child(int (*body)(void *), void *argument)
{
	(void)body;
	(void)argument;
	return (int)lacks();
}

#define LACKS(name)                                                                                \
	long lacks_##name(void) __asm__(#name);                                                    \
	long lacks_##name(void)                                                                    \
	{                                                                                          \
		return lacks();                                                                    \
	}
LACKS(_close)
LACKS(_execve)
LACKS(_exit)
LACKS(_fork)
LACKS(_fstat)
LACKS(_getpid)
LACKS(_isatty)
LACKS(_kill)
LACKS(_lseek)
LACKS(_open)
LACKS(_read)
LACKS(_sbrk)
LACKS(_stat)
LACKS(_unlink)
LACKS(_write)
LACKS(close)
LACKS(dup)
LACKS(fork)
LACKS(getpid)
LACKS(kill)
LACKS(open)
LACKS(printf)
LACKS(pthread_barrier_destroy)
LACKS(pthread_barrier_init)
LACKS(pthread_barrier_wait)
LACKS(pthread_cancel)
LACKS(pthread_create)
LACKS(pthread_join)
LACKS(pthread_kill)
LACKS(pthread_setcancelstate)
LACKS(sched_yield)
LACKS(setitimer)
LACKS(sigaction)
LACKS(sysconf)
LACKS(unlink)
LACKS(write)

/* ---- What a board can do ---- */

static volatile bool awake;

static void wake(void)
{
	awake = true;
}

int board_sleep(const struct timespec *time, struct timespec *rest) __asm__("nanosleep");
int board_sleep(const struct timespec *time, struct timespec *rest)
{
	uint64_t us = (uint64_t)time->tv_sec * 1000000u + (uint64_t)time->tv_nsec / 1000u;

	(void)rest;
	board_interrupt[0] = wake;
	awake = false;
	board_raise_after((uint32_t)(us * (pxt_board_hz() / 1000000u)));
	while (!awake)
		kernel_port_idle();
	return 0;
}

/* Half a century after the counter's beginning, so that a test can name a moment that is past. */
void pxt_board_realtime(struct timespec *now)
{
	pxt_port_since(pxt_board_ticks(), now);
	now->tv_sec += 1600000000;
}

int board_time(int clock, struct timespec *now) __asm__("clock_gettime");
int board_time(int clock, struct timespec *now)
{
	if (clock == CLOCK_REALTIME)
		pxt_board_realtime(now);
	else
		pxt_port_since(pxt_board_ticks(), now);
	return 0;
}

/* What a test that ended early has left. */
static void clean(void)
{
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		if (atomic_load(&pxt_blocks[i]))
			(void)posix_trace_shutdown(pxt_streams[i].trid);
	}
}

static struct pxt_case *cases;

/* As they stand in the source. */
void pxt_suite_enter(struct pxt_case *entry)
{
	struct pxt_case **at = &cases;

	while (*at && (*at)->line < entry->line)
		at = &(*at)->next;
	entry->next = *at;
	*at = entry;
}

/* By link.ld: functions that enter the tests. */
extern void (*board_inits[])(void);
extern void (*board_inits_end[])(void);

int main(void)
{
	static unsigned run;

	for (void (**init)(void) = board_inits; init < board_inits_end; init++)
		(*init)();
	if (pxt_suite_before)
		pxt_suite_before();
	for (test = cases; test; test = test->next) {
		skipped = false;
		if (test->fresh)
			continue;
		if (setjmp(next_case) == 0)
			test->run();
		clean();
		run += !skipped;
	}
	number((int)run);
	board_text(" tests\n");
	return failed || !run;
}
