/* SPDX-License-Identifier: MIT */
/*
 * wait.c - sleeping on a word, and waking its sleepers, by futex.
 *
 * The futex calls are made directly: these are not cancellation points, so no thread is cancelled
 * while holding Core's mutex, and the wake-up may run in a signal handler.
 */
#define _GNU_SOURCE
#include "port/posix/owncalls.h"

#include <limits.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's numbers; musl comes without the kernel's headers. */
#define OURS                (CONFIG_PTRACE_INHERIT ? 0 : 128) /* this process alone */
#define WAIT                (0 | OURS)
#define WAKE                (1 | OURS)
#define WAIT_UNTIL_REALTIME (9 | OURS | 256)
#define MATCH_ANY           0xffffffffu

#define NS_PER_S    1000000000
/* Further away than any thread waits: spares overflow checks. */
#define WAIT_MAX_NS ((int64_t)1 << 62)

/* 32-bit systems with 64-bit times have a call of their own for them. */
#if defined(SYS_futex_time64)
#define FUTEX_CALL (sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#else
#define FUTEX_CALL SYS_futex
#endif

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int64_t limit_ns(const struct timespec *time)
{
	int64_t seconds = time->tv_sec;

	if (seconds >= WAIT_MAX_NS / NS_PER_S)
		return WAIT_MAX_NS;
	if (seconds < 0)
		return 0;
	return seconds * NS_PER_S + time->tv_nsec;
}

static struct timespec time_of(int64_t ns)
{
	struct timespec time = { .tv_sec = (time_t)(ns / NS_PER_S),
		.tv_nsec = (long)(ns % NS_PER_S) };

	return time;
}

static int futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *time)
{
	long result = syscall(FUTEX_CALL, word, operation, value, time, NULL, MATCH_ANY);

	return result < 0 ? errno : 0;
}

/* One sleep; EAGAIN (the word had changed) and anything unexpected is a reason to look again. */
static int sleep_once(
    _Atomic uint32_t *word, int operation, uint32_t expected, const struct timespec *time)
{
	int error = futex(word, operation, expected, time);

	return error == ETIMEDOUT || error == EINTR ? error : 0;
}

/* The clock is looked at by the kernel, which follows its steps (TIMED-04). */
static int wait_until(_Atomic uint32_t *word, uint32_t expected, const struct timespec *until)
{
	struct timespec at = time_of(limit_ns(until));

	return sleep_once(word, WAIT_UNTIL_REALTIME, expected, &at);
}

static int64_t end_of(uint64_t ns)
{
	int64_t slice = ns < (uint64_t)WAIT_MAX_NS / 2 ? (int64_t)ns : WAIT_MAX_NS / 2;

	return now_ns(CLOCK_MONOTONIC) + slice;
}

/*
 * Up to the end of the slice; @until shortens it.  When the clock is stepped forward over @until
 * meanwhile, that is seen at the end of the slice at the latest; backward steps prolong the wait.
 */
static int wait_slice(
    _Atomic uint32_t *word, uint32_t expected, const struct timespec *until, uint64_t slice_ns)
{
	int64_t end = end_of(slice_ns);

	for (;;) {
		int64_t left = end - now_ns(CLOCK_MONOTONIC);
		struct timespec time;
		int result;

		if (until != NULL) {
			int64_t to_limit = limit_ns(until) - now_ns(CLOCK_REALTIME);

			left = to_limit < left ? to_limit : left;
		}
		if (left <= 0)
			return ETIMEDOUT;
		time = time_of(left);
		result = sleep_once(word, WAIT, expected, &time);
		if (result != ETIMEDOUT)
			return result;
	}
}

int pxt_port_wait(
    _Atomic uint32_t *word, uint32_t expected, const struct timespec *until, uint64_t slice_ns)
{
	PXT_KEEP_ERRNO();

	if (slice_ns != 0)
		return wait_slice(word, expected, until, slice_ns);
	return until != NULL ? wait_until(word, expected, until)
	                     : sleep_once(word, WAIT, expected, NULL);
}

void pxt_port_wake(_Atomic uint32_t *word)
{
	PXT_KEEP_ERRNO();

	(void)futex(word, WAKE, INT_MAX, NULL);
}

uint64_t pxt_port_now_ns(void)
{
	return (uint64_t)now_ns(CLOCK_MONOTONIC);
}

/*
 * Sleeps on a word that no other thread knows; unlike nanosleep() no place to be cancelled at.  Callers
 * count their pauses: under a fast timer's signals a second must not be over in a tenth.
 */
void pxt_port_pause_ns(uint64_t ns)
{
	PXT_KEEP_ERRNO();
	int64_t end = end_of(ns);
	_Atomic uint32_t nobody = 0;

	for (;;) {
		int64_t left = end - now_ns(CLOCK_MONOTONIC);
		struct timespec time = time_of(left);

		if (left <= 0)
			break;
		(void)sleep_once(&nobody, WAIT, 0, &time);
	}
}
