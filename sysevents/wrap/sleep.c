/* SPDX-License-Identifier: MIT */
/* sleep.c - sleeping, waiting for signals, timers that are set; when the descriptor of one can be read. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"
#include "sysevents/wrap/names.h"
#include "sysevents/wrap/process.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#if PXT_GROUP_SLEEP
PXT_CALL_WRAP_UNTIL_AS(unsigned, sleep, (unsigned seconds), (seconds), POSIX_TRACE_CALL_SLEEP_NP, 0,
    seconds *UINT64_C(1000), seconds *INT64_C(1000000000), (int64_t)result);
PXT_CALL_WRAP_UNTIL(int, usleep, (useconds_t us), (us), POSIX_TRACE_CALL_SLEEP_NP, 0, us / 1000u,
    us *INT64_C(1000));
PXT_CALL_WRAP_UNTIL(int, nanosleep, (const struct timespec *time, struct timespec *rest),
    (time, rest), POSIX_TRACE_CALL_SLEEP_NP, 0, PXT_CALL_MS(time), pxt_wait_ns(time));
PXT_CALL_WRAP_ERROR_UNTIL(clock_nanosleep,
    (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest),
    (clock, flags, time, rest), POSIX_TRACE_CALL_SLEEP_NP, 0,
    flags &TIMER_ABSTIME ? PXT_CALL_NO_SIZE : PXT_CALL_MS(time),
    flags &TIMER_ABSTIME ? pxt_wait_until(clock, time) : pxt_wait_ns(time));
PXT_CALL_WRAP_UNTIL_AS(int, thrd_sleep, (const struct timespec *time, struct timespec *rest),
    (time, rest), POSIX_TRACE_CALL_SLEEP_NP, 0, PXT_CALL_MS(time), pxt_wait_ns(time),
    result == -1 ? -EINTR
    : result     ? -EINVAL
                 : 0);
PXT_CALL_WRAP(int, pause, (void), (), POSIX_TRACE_CALL_PAUSE_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, sigsuspend, (const sigset_t *set), (set), POSIX_TRACE_CALL_SIGSUSPEND_NP, 0,
    PXT_CALL_NO_SIZE);
PXT_CALL_WRAP_ERROR(sigwait, (const sigset_t *set, int *signo), (set, signo),
    POSIX_TRACE_CALL_SIGWAIT_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info),
    POSIX_TRACE_CALL_SIGWAIT_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP_UNTIL(int, sigtimedwait,
    (const sigset_t *set, siginfo_t *info, const struct timespec *time), (set, info, time),
    POSIX_TRACE_CALL_SIGWAIT_NP, 0, PXT_CALL_MS(time), pxt_wait_ns(time));
#endif

#if PXT_GROUP_TIMER
/* ---- Timers that are set ---- */

PXT_AGES(timer_settime, "GLIBC_2.3.3");

static bool is_off(const struct itimerspec *value)
{
	return !value || (value->it_value.tv_sec == 0 && value->it_value.tv_nsec == 0);
}

/* A date is no length; by which clock it is, only who made the timer knows. */
static uint64_t length_ms(int flags, const struct itimerspec *value)
{
	return flags & TIMER_ABSTIME ? PXT_CALL_NO_SIZE
	                             : PXT_CALL_MS(value ? &value->it_value : NULL);
}

static int64_t length_ns(int flags, const struct itimerspec *value)
{
	return flags & TIMER_ABSTIME || is_off(value) ? PXT_WAIT_NO_LIMIT
	                                              : pxt_wait_ns(&value->it_value);
}

#define SET(function)                                                                              \
	do {                                                                                       \
		const void *caller = PXT_WRAP_CALLER();                                            \
                                                                                                   \
		if (!pxt_call_wanted(POSIX_TRACE_CALL_TIMER_NP, caller))                           \
			return function(timer, flags, value, former);                              \
		PXT_CALL_SCOPE call = pxt_call_enter_until(POSIX_TRACE_CALL_TIMER_NP,              \
		    (uintptr_t)timer, length_ms(flags, value), length_ns(flags, value), caller);   \
		int result = function(timer, flags, value, former);                                \
                                                                                                   \
		call.result = PXT_CALL_ERRNO(result);                                              \
		return result;                                                                     \
	} while (0)

PXT_WRAP_EXPORT int PXT_AGES_NAME(timer_settime)(
    timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *former)
{
	SET(PXT_WRAP_CALL(timer_settime));
}

#if PXT_AGES_TWO
/* Their timers are other numbers. */
PXT_WRAP_EXPORT int PXT_AGES_FORMER_NAME(timer_settime)(
    timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *former)
{
	SET(PXT_AGES_FORMER_CALL(timer_settime));
}
#endif

PXT_CALL_WRAP_UNTIL_AS(unsigned, alarm, (unsigned seconds), (seconds), POSIX_TRACE_CALL_TIMER_NP, 0,
    seconds *UINT64_C(1000), seconds ? seconds *INT64_C(1000000000) : PXT_WAIT_NO_LIMIT,
    (int64_t)result);

/* The others run with the CPU. */
static int64_t interval_ns(__itimer_which_t which, const struct itimerval *value)
{
	const struct timespec time = { value ? value->it_value.tv_sec : 0,
		value ? value->it_value.tv_usec * 1000 : 0 };

	return which != ITIMER_REAL || (time.tv_sec == 0 && time.tv_nsec == 0) ? PXT_WAIT_NO_LIMIT
	                                                                       : pxt_wait_ns(&time);
}

PXT_CALL_WRAP_UNTIL(int, setitimer,
    (__itimer_which_t which, const struct itimerval *value, struct itimerval *former),
    (which, value, former), POSIX_TRACE_CALL_TIMER_NP, 0,
    value ? (uint64_t)value->it_value.tv_sec * 1000u + (uint64_t)value->it_value.tv_usec / 1000u
          : PXT_CALL_NO_SIZE,
    interval_ns(which, value));

/* ---- Timers with a descriptor ---- */

/*
 * Their settings by their numbers, so that a read's event has the time until it can return.  If a
 * thread reads while another one sets the timer, it may be of either setting.
 */
#define TIMERS 1024u
static struct timer {
	_Atomic int known;      /* 0, or its clock and 1 */
	_Atomic int64_t due_ns; /* the first date that nobody has read, by its clock; 0: none */
	_Atomic int64_t every_ns;
} timers[TIMERS];

#define GET(member)        atomic_load_explicit(&timer->member, memory_order_relaxed)
#define PUT(member, value) atomic_store_explicit(&timer->member, value, memory_order_relaxed)

/* NULL: it is none that is known. */
PXT_WRAP_INLINE struct timer *timer_of(int fd)
{
	return (unsigned)fd < TIMERS &&
	               atomic_load_explicit(&timers[fd].known, memory_order_relaxed)
	           ? &timers[fd]
	           : NULL;
}

/* From its clock's beginning to @ns of it. */
static int64_t until(const struct timer *timer, int64_t ns)
{
	const struct timespec date = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	return pxt_wait_until(GET(known) - 1, &date);
}

int64_t pxt_timer_asked(int fd)
{
	const struct timer *timer = timer_of(fd);
	int64_t due = timer ? GET(due_ns) : 0;

	return due ? until(timer, due) : PXT_WAIT_NO_LIMIT;
}

int64_t pxt_timer_was_read(int fd, const void *what, int64_t result)
{
	struct timer *timer = timer_of(fd);
	uint64_t times;

	if (timer && result == (int64_t)sizeof(times) && GET(due_ns)) {
		memcpy(&times, what, sizeof(times));
		PUT(due_ns, GET(every_ns) ? GET(due_ns) + (int64_t)times * GET(every_ns) : 0);
	}
	return result;
}

void pxt_timer_was_missed(int fd)
{
	struct timer *timer = timer_of(fd);

	if (timer)
		PUT(due_ns, 0);
}

void pxt_timer_forget(unsigned first, unsigned last)
{
	for (unsigned fd = first; fd < TIMERS && fd <= last; fd++)
		if (timer_of((int)fd))
			atomic_store_explicit(&timers[fd].known, 0, memory_order_relaxed);
}

PXT_WRAP_REAL(timerfd_create);
PXT_WRAP_REAL(timerfd_settime);

PXT_WRAP_EXPORT int PXT_WRAP_NAME(timerfd_create)(__clockid_t clock, int flags)
{
	const void *caller = PXT_WRAP_CALLER();
	int fd = PXT_WRAP_CALL(timerfd_create)(clock, flags);

	if (fd >= 0 && pxt_call_wanted(POSIX_TRACE_CALL_TIMER_NP, caller))
		pxt_process_tell_descriptor(fd, "a timer", caller);
	if (fd >= 0 && (unsigned)fd < TIMERS) {
		struct timer *timer = &timers[fd];

		PUT(due_ns, 0);
		PUT(known, clock + 1);
	}
	return fd;
}

/* Notes what is asked for: before the call, as another thread may read at once.  Returns how long it is. */
static int64_t note(int fd, int flags, const struct itimerspec *value)
{
	struct timer *timer = timer_of(fd);
	int64_t asked = length_ns(flags, value);
	int64_t now;

	if (!timer)
		return asked;
	PUT(due_ns, 0);
	if (is_off(value))
		return asked;
	now = -until(timer, 0);
	if (flags & TFD_TIMER_ABSTIME)
		asked = pxt_wait_ns(&value->it_value) - now;
	PUT(every_ns, pxt_wait_ns(&value->it_interval));
	PUT(due_ns, now + asked);
	return asked;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(timerfd_settime)(
    int fd, int flags, const struct itimerspec *value, struct itimerspec *former)
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_call_wanted(POSIX_TRACE_CALL_TIMER_NP, caller)) {
		pxt_timer_was_missed(fd);
		return PXT_WRAP_CALL(timerfd_settime)(fd, flags, value, former);
	}
	PXT_CALL_SCOPE call = pxt_call_enter_until(POSIX_TRACE_CALL_TIMER_NP, (uint64_t)fd,
	    length_ms(flags, value), note(fd, flags, value), caller);
	int result = PXT_WRAP_CALL(timerfd_settime)(fd, flags, value, former);

	if (result != 0)
		pxt_timer_was_missed(fd);
	call.result = PXT_CALL_ERRNO(result);
	return result;
}
#endif
