/* SPDX-License-Identifier: MIT */
/* sleep.c - sleeping, waiting for signals, timers that are set; when the descriptor of one can be read. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"
#include "sysevents/wrap/names.h"
#include "sysevents/wrap/process.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

PXT_CALL_WRAP_UNTIL_AS(unsigned, sleep, (unsigned seconds), (seconds), POSIX_TRACE_CALL_SLEEP_NP, 0,
    seconds *UINT64_C(1000), seconds *INT64_C(1000000000), (int64_t)result);
PXT_CALL_WRAP_UNTIL(int, usleep, (useconds_t us), (us), POSIX_TRACE_CALL_SLEEP_NP, 0, us / 1000u,
    us *INT64_C(1000));
#define NANOSLEEP(name, timespec)                                                                  \
	PXT_CALL_WRAP_UNTIL(int, name, (const timespec *time, timespec *rest), (time, rest),       \
	    POSIX_TRACE_CALL_SLEEP_NP, 0, PXT_CALL_MS(time), PXT_WAIT_NS(time))
#define CLOCK_NANOSLEEP(name, timespec)                                                            \
	PXT_CALL_WRAP_ERROR_UNTIL(name,                                                            \
	    (clockid_t clock, int flags, const timespec *time, timespec *rest),                    \
	    (clock, flags, time, rest), POSIX_TRACE_CALL_SLEEP_NP, 0,                              \
	    flags &TIMER_ABSTIME ? PXT_CALL_NO_SIZE : PXT_CALL_MS(time),                           \
	    flags &TIMER_ABSTIME ? PXT_WAIT_UNTIL(clock, time) : PXT_WAIT_NS(time))
#define THREAD_SLEEP(name, timespec)                                                               \
	PXT_CALL_WRAP_UNTIL_AS(int, name, (const timespec *time, timespec *rest), (time, rest),    \
	    POSIX_TRACE_CALL_SLEEP_NP, 0, PXT_CALL_MS(time), PXT_WAIT_NS(time),                    \
	    result == -1 ? -EINTR                                                                  \
	    : result     ? -EINVAL                                                                 \
	                 : 0)
PXT_TIMES(NANOSLEEP, timespec, nanosleep, __nanosleep64);
PXT_TIMES(CLOCK_NANOSLEEP, timespec, clock_nanosleep, __clock_nanosleep_time64);
PXT_TIMES(THREAD_SLEEP, timespec, thrd_sleep, __thrd_sleep64);
PXT_CALL_WRAP(int, pause, (void), (), POSIX_TRACE_CALL_PAUSE_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, sigsuspend, (const sigset_t *set), (set), POSIX_TRACE_CALL_SIGSUSPEND_NP, 0,
    PXT_CALL_NO_SIZE);
PXT_CALL_WRAP_ERROR(sigwait, (const sigset_t *set, int *signo), (set, signo),
    POSIX_TRACE_CALL_SIGWAIT_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info),
    POSIX_TRACE_CALL_SIGWAIT_NP, 0, PXT_CALL_NO_SIZE);
#define TIMED_SIGWAIT(name, timespec)                                                              \
	PXT_CALL_WRAP_UNTIL(int, name,                                                             \
	    (const sigset_t *set, siginfo_t *info, const timespec *time), (set, info, time),       \
	    POSIX_TRACE_CALL_SIGWAIT_NP, 0, PXT_CALL_MS(time), PXT_WAIT_NS(time))
PXT_TIMES(TIMED_SIGWAIT, timespec, sigtimedwait, __sigtimedwait64);

/* ---- Timers that are set ---- */

PXT_AGES(timer_settime, "GLIBC_2.3.3");

/* What a timer is set to; 0: it is off. */
struct setting {
	int64_t value_ns;
	int64_t every_ns;
	uint64_t ms;
};

#define SETTING(value)                                                                             \
	((value) ? (struct setting){ pxt_wait_ns(                                                  \
	                                 (value)->it_value.tv_sec, (value)->it_value.tv_nsec),     \
	               pxt_wait_ns((value)->it_interval.tv_sec, (value)->it_interval.tv_nsec),     \
	               (uint64_t)(value)->it_value.tv_sec * 1000u +                                \
	                   (uint64_t)(value)->it_value.tv_nsec / 1000000u }                        \
	         : (struct setting){ .ms = PXT_CALL_NO_SIZE })

/* A date is no length; by which clock it is, only who made the timer knows. */
static uint64_t length_ms(int flags, const struct setting *setting)
{
	return flags & TIMER_ABSTIME ? PXT_CALL_NO_SIZE : setting->ms;
}

static int64_t length_ns(int flags, const struct setting *setting)
{
	return flags & TIMER_ABSTIME || !setting->value_ns ? PXT_WAIT_NO_LIMIT : setting->value_ns;
}

#define SET(function)                                                                              \
	do {                                                                                       \
		const void *caller = PXT_WRAP_CALLER();                                            \
                                                                                                   \
		if (!pxt_call_wanted(POSIX_TRACE_CALL_TIMER_NP, caller))                           \
			return function(timer, flags, value, former);                              \
		struct setting setting = SETTING(value);                                           \
		PXT_CALL_SCOPE call =                                                              \
		    pxt_call_enter_until(POSIX_TRACE_CALL_TIMER_NP, (uintptr_t)timer,              \
		        length_ms(flags, &setting), length_ns(flags, &setting), caller);           \
		int result = function(timer, flags, value, former);                                \
                                                                                                   \
		call.result = PXT_CALL_ERRNO(result);                                              \
		return result;                                                                     \
	} while (0)

#define SETS(exported, real, itimerspec)                                                           \
	PXT_WRAP_EXPORT int exported(                                                              \
	    timer_t timer, int flags, const itimerspec *value, itimerspec *former)                 \
	{                                                                                          \
		SET(real);                                                                         \
	}                                                                                          \
	_Static_assert(1, "")
SETS(PXT_AGES_NAME(timer_settime), PXT_WRAP_CALL(timer_settime), struct itimerspec);
#if PXT_TIMES_TWO
PXT_WRAP_REAL_TYPED(int, __timer_settime64,
    (timer_t timer, int flags, const struct pxt_itimerspec64 *value,
        struct pxt_itimerspec64 *former));
SETS(PXT_WRAP_NAME(__timer_settime64), PXT_WRAP_CALL(__timer_settime64), struct pxt_itimerspec64);
#endif
#if PXT_AGES_TWO
/* Their timers are other numbers. */
SETS(PXT_AGES_FORMER_NAME(timer_settime), PXT_AGES_FORMER_CALL(timer_settime), struct itimerspec);
#endif

PXT_CALL_WRAP_UNTIL_AS(unsigned, alarm, (unsigned seconds), (seconds), POSIX_TRACE_CALL_TIMER_NP, 0,
    seconds *UINT64_C(1000), seconds ? seconds *INT64_C(1000000000) : PXT_WAIT_NO_LIMIT,
    (int64_t)result);

/* The others run with the CPU. */
static int64_t interval_ns(__itimer_which_t which, int64_t seconds, int64_t us)
{
	return which != ITIMER_REAL || (seconds == 0 && us == 0) ? PXT_WAIT_NO_LIMIT
	                                                         : pxt_wait_ns(seconds, us * 1000);
}

#define SET_INTERVAL(name, itimerval)                                                              \
	PXT_CALL_WRAP_UNTIL(int, name,                                                             \
	    (__itimer_which_t which, const itimerval *value, itimerval *former),                   \
	    (which, value, former), POSIX_TRACE_CALL_TIMER_NP, 0,                                  \
	    value ? (uint64_t)value->it_value.tv_sec * 1000u +                                     \
	                (uint64_t)value->it_value.tv_usec / 1000u                                  \
	          : PXT_CALL_NO_SIZE,                                                              \
	    value ? interval_ns(which, value->it_value.tv_sec, value->it_value.tv_usec)            \
	          : PXT_WAIT_NO_LIMIT)
PXT_TIMES(SET_INTERVAL, itimerval, setitimer, __setitimer64);

/* ---- Timers with a descriptor ---- */

/* Processors without an instruction for 64 bits store halves: then a reader may meet one of each setting. */
#if ATOMIC_LLONG_LOCK_FREE == 2
struct date {
	_Atomic int64_t ns;
};

static int64_t date_of(const struct date *date)
{
	return atomic_load_explicit(&date->ns, memory_order_relaxed);
}

static void set_date(struct date *date, int64_t ns)
{
	atomic_store_explicit(&date->ns, ns, memory_order_relaxed);
}
#else
struct date {
	_Atomic uint32_t low;
	_Atomic uint32_t high;
};

static int64_t date_of(const struct date *date)
{
	uint64_t high = atomic_load_explicit(&date->high, memory_order_relaxed);

	return (int64_t)(high << 32 | atomic_load_explicit(&date->low, memory_order_relaxed));
}

static void set_date(struct date *date, int64_t ns)
{
	atomic_store_explicit(&date->low, (uint32_t)ns, memory_order_relaxed);
	atomic_store_explicit(&date->high, (uint32_t)((uint64_t)ns >> 32), memory_order_relaxed);
}
#endif

/*
 * Their settings by their numbers, so that a read's event has the time until it can return.  If a
 * thread reads while another one sets the timer, it may be of either setting.
 */
#define TIMERS 1024u
static struct timer {
	_Atomic int known;  /* 0, or its clock and 1 */
	struct date due_ns; /* the first date that nobody has read, by its clock; 0: none */
	struct date every_ns;
} timers[TIMERS] PXT_SELDOM;
static _Atomic bool any; /* one of them is known, or was */

#define GET(member)        date_of(&timer->member)
#define PUT(member, value) set_date(&timer->member, value)

/* NULL: it is none that is known. */
PXT_WRAP_INLINE struct timer *timer_of(int fd)
{
	return (unsigned)fd < TIMERS && atomic_load_explicit(&any, memory_order_relaxed) &&
	               atomic_load_explicit(&timers[fd].known, memory_order_relaxed)
	           ? &timers[fd]
	           : NULL;
}

/* From its clock's beginning to @ns of it. */
static int64_t until(const struct timer *timer, int64_t ns)
{
	clockid_t clock = atomic_load_explicit(&timer->known, memory_order_relaxed) - 1;

	return pxt_wait_until(clock, ns / 1000000000, ns % 1000000000);
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

PXT_WRAPPER(int, timerfd_create, (__clockid_t clock, int flags))
{
	const void *caller = PXT_WRAP_CALLER();
	int fd = PXT_WRAP_CALL(timerfd_create)(clock, flags);

	if (fd >= 0 && pxt_call_wanted(POSIX_TRACE_CALL_TIMER_NP, caller))
		pxt_process_tell_descriptor(fd, "a timer", caller);
	if (fd >= 0 && (unsigned)fd < TIMERS) {
		struct timer *timer = &timers[fd];

		PUT(due_ns, 0);
		atomic_store_explicit(&timer->known, clock + 1, memory_order_relaxed);
		atomic_store_explicit(&any, true, memory_order_relaxed);
	}
	return fd;
}

/* Notes what is asked for: before the call, as another thread may read at once.  Returns how long it is. */
static int64_t note(int fd, int flags, const struct setting *setting)
{
	struct timer *timer = timer_of(fd);
	int64_t asked = length_ns(flags, setting);
	int64_t now;

	if (!timer)
		return asked;
	PUT(due_ns, 0);
	if (!setting->value_ns)
		return asked;
	now = -until(timer, 0);
	if (flags & TFD_TIMER_ABSTIME)
		asked = setting->value_ns - now;
	PUT(every_ns, setting->every_ns);
	PUT(due_ns, now + asked);
	return asked;
}

#define DESCRIPTOR_PARAMETERS(itimerspec)                                                          \
	(int fd, int flags, const itimerspec *value, itimerspec *former)
#define SET_DESCRIPTOR(name, itimerspec)                                                           \
	PXT_WRAPPER(int, name, DESCRIPTOR_PARAMETERS(itimerspec))                                  \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
                                                                                                   \
		if (!pxt_call_wanted(POSIX_TRACE_CALL_TIMER_NP, caller)) {                         \
			pxt_timer_was_missed(fd);                                                  \
			return PXT_WRAP_CALL(name)(fd, flags, value, former);                      \
		}                                                                                  \
		struct setting setting = SETTING(value);                                           \
		PXT_CALL_SCOPE call = pxt_call_enter_until(POSIX_TRACE_CALL_TIMER_NP,              \
		    (uint64_t)fd, length_ms(flags, &setting), note(fd, flags, &setting), caller);  \
		int result = PXT_WRAP_CALL(name)(fd, flags, value, former);                        \
                                                                                                   \
		if (result != 0)                                                                   \
			pxt_timer_was_missed(fd);                                                  \
		call.result = PXT_CALL_ERRNO(result);                                              \
		return result;                                                                     \
	}                                                                                          \
	_Static_assert(1, "")
PXT_TIMES(SET_DESCRIPTOR, itimerspec, timerfd_settime, __timerfd_settime64);
