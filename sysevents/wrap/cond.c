/* SPDX-License-Identifier: MIT */
/*
 * cond.c - condition variables: waiting, waking one, waking all.
 *
 * On x86-64 glibc has condition variables of two ages, and a program keeps the age that it was linked
 * with (names.h).  A wake-up is recorded before it happens.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/names.h"
#include "sysevents/wrap/tally.h"

/* ---- Waiting ---- */

PXT_AGES(pthread_cond_wait, "GLIBC_2.3.2");
PXT_AGES(pthread_cond_timedwait, "GLIBC_2.3.2");
PXT_WRAP_REAL(cnd_wait);

/* One wait.  Each end of it is recorded: a thread that is cancelled has the mutex, too. */
struct waiting {
	const void *cond;
	const void *mutex;
	const void *caller;
	uint64_t begin;
	int result;
};

static struct waiting tell_wait(
    const void *cond, const void *mutex, int64_t asked, const void *caller)
{
	const struct {
		uint64_t cond;
		uint64_t lock;
		int64_t asked_ns; /* is there where the wait has a limit */
	} data = { pxt_wrap_address(cond), pxt_wrap_address(mutex), asked };

	(void)pxt_tally_release(mutex);
	posix_trace_system_event_np(POSIX_TRACE_COND_WAIT_NP, &data,
	    sizeof(data) - (asked == PXT_WAIT_NO_LIMIT ? sizeof(data.asked_ns) : 0), caller);
	return (struct waiting){ cond, mutex, caller, pxt_wait_clock(), ECANCELED };
}

static void tell_resume(const struct waiting *waiting)
{
	struct {
		uint64_t cond;
		uint64_t lock;
		uint32_t waited_us;
		int32_t result;
		uint64_t callers[PXT_WAIT_CALLERS];
	} data = { .cond = pxt_wrap_address(waiting->cond),
		.lock = pxt_wrap_address(waiting->mutex),
		.result = waiting->result };
	uint64_t ns = pxt_wait_clock() - waiting->begin;
	unsigned callers = pxt_wait_callers(ns, waiting->caller, data.callers);

	data.waited_us = pxt_wait_us(ns);
	if (pxt_tally_page.counts)
		pxt_tally_hold(waiting->mutex);
	posix_trace_system_event_np(POSIX_TRACE_COND_RESUME_NP, &data,
	    sizeof(data) - (PXT_WAIT_CALLERS - callers) * sizeof(*data.callers), waiting->caller);
}

/* By which pthread_cond_timedwait() waits: pthread_condattr_setclock() has set a bit. */
static clockid_t clock_of(const pthread_cond_t *cond)
{
	return __atomic_load_n(&cond->__data.__wrefs, __ATOMIC_RELAXED) & 2u ? CLOCK_MONOTONIC
	                                                                     : CLOCK_REALTIME;
}

/* As POSIX's function does it, by @call; what that gives is returned as @given has it. */
#define WAIT(exported, parameters, real, asked, given, call)                                       \
	PXT_WRAP_EXPORT int exported parameters                                                    \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
                                                                                                   \
		if (!pxt_wrap_wanted_lock(POSIX_TRACE_COND_WAIT_NP))                               \
			return real;                                                               \
		struct waiting waiting __attribute__((cleanup(tell_resume))) =                     \
		    tell_wait(cond, mutex, asked, caller);                                         \
                                                                                                   \
		return given(waiting.result = call);                                               \
	}                                                                                          \
	_Static_assert(1, "")
#define POSIX_WAIT(exported, parameters, asked, call)                                              \
	WAIT(exported, parameters, call, asked, , call)
#define PLAIN_WAIT(exported, real)                                                                 \
	POSIX_WAIT(exported, (pthread_cond_t * cond, pthread_mutex_t * mutex), PXT_WAIT_NO_LIMIT,  \
	    real(cond, mutex))
#define TIMED_WAIT(exported, real, clock, timespec)                                                \
	POSIX_WAIT(exported,                                                                       \
	    (pthread_cond_t * cond, pthread_mutex_t * mutex, const timespec *limit),               \
	    PXT_WAIT_UNTIL(clock, limit), real(cond, mutex, limit))
#define CLOCK_PARAMETERS(timespec)                                                                 \
	(pthread_cond_t * cond, pthread_mutex_t * mutex, clockid_t clock, const timespec *limit)
#define CLOCK_WAIT(name, timespec)                                                                 \
	PXT_WRAP_REAL_TYPED(int, name, CLOCK_PARAMETERS(timespec));                                \
	POSIX_WAIT(PXT_WRAP_NAME(name), CLOCK_PARAMETERS(timespec), PXT_WAIT_UNTIL(clock, limit),  \
	    PXT_WRAP_CALL(name)(cond, mutex, clock, limit))
PLAIN_WAIT(PXT_AGES_NAME(pthread_cond_wait), PXT_WRAP_CALL(pthread_cond_wait));
TIMED_WAIT(PXT_AGES_NAME(pthread_cond_timedwait), PXT_WRAP_CALL(pthread_cond_timedwait),
    clock_of(cond), struct timespec);
PXT_TIMES(CLOCK_WAIT, timespec, pthread_cond_clockwait, __pthread_cond_clockwait64);
#if PXT_TIMES_TWO
PXT_WRAP_REAL_TYPED(int, __pthread_cond_timedwait64,
    (pthread_cond_t * cond, pthread_mutex_t *mutex, const struct pxt_timespec64 *limit));
TIMED_WAIT(PXT_WRAP_NAME(__pthread_cond_timedwait64), PXT_WRAP_CALL(__pthread_cond_timedwait64),
    clock_of(cond), struct pxt_timespec64);
#endif
#if PXT_AGES_TWO
PLAIN_WAIT(PXT_AGES_FORMER_NAME(pthread_cond_wait), PXT_AGES_FORMER_CALL(pthread_cond_wait));
TIMED_WAIT(PXT_AGES_FORMER_NAME(pthread_cond_timedwait),
    PXT_AGES_FORMER_CALL(pthread_cond_timedwait), CLOCK_REALTIME, struct timespec);
#endif

/* The same under C11's names (names.h). */

WAIT(PXT_WRAP_NAME(cnd_wait), (cnd_t * cond, mtx_t *mutex), PXT_WRAP_CALL(cnd_wait)(cond, mutex),
    PXT_WAIT_NO_LIMIT, pxt_c11_result,
    PXT_WRAP_CALL(pthread_cond_wait)(pxt_c11_cond(cond), pxt_c11_mutex(mutex)));
#define C11_PARAMETERS(timespec) (cnd_t * cond, mtx_t * mutex, const timespec *limit)
#define C11_TIMED_WAIT(name, posix, timespec)                                                      \
	PXT_WRAP_REAL_TYPED(int, name, C11_PARAMETERS(timespec));                                  \
	WAIT(PXT_WRAP_NAME(name), C11_PARAMETERS(timespec),                                        \
	    PXT_WRAP_CALL(name)(cond, mutex, limit),                                               \
	    PXT_WAIT_UNTIL(clock_of(pxt_c11_cond(cond)), limit), pxt_c11_result,                   \
	    PXT_WRAP_CALL(posix)(pxt_c11_cond(cond), pxt_c11_mutex(mutex), limit))
C11_TIMED_WAIT(cnd_timedwait, pthread_cond_timedwait, struct timespec);
#if PXT_TIMES_TWO
C11_TIMED_WAIT(__cnd_timedwait64, __pthread_cond_timedwait64, struct pxt_timespec64);
#endif

/* ---- Waking one, waking all ---- */

PXT_WRAP_INLINE void tell_wake(trace_event_id_t id, const pthread_cond_t *cond, const void *caller)
{
	const uint64_t data = pxt_wrap_address(cond);

	if (pxt_wrap_wanted_lock(id))
		posix_trace_system_event_np(id, &data, sizeof(data), caller);
}

#define WAKE(exported, real, type, posix, id)                                                      \
	PXT_WRAP_EXPORT int exported(type *cond)                                                   \
	{                                                                                          \
		tell_wake(id, posix, PXT_WRAP_CALLER());                                           \
		return real(cond);                                                                 \
	}                                                                                          \
	_Static_assert(1, "")
#if PXT_AGES_TWO
#define WAKE_FORMER(name, id)                                                                      \
	WAKE(PXT_AGES_FORMER_NAME(name), PXT_AGES_FORMER_CALL(name), pthread_cond_t, cond, id)
#else
#define WAKE_FORMER(name, id) _Static_assert(1, "")
#endif
/* In both ages, and under C11's name. */
#define WAKES(name, c11, id)                                                                       \
	PXT_AGES(name, "GLIBC_2.3.2");                                                             \
	PXT_WRAP_REAL(c11);                                                                        \
	WAKE(PXT_AGES_NAME(name), PXT_WRAP_CALL(name), pthread_cond_t, cond, id);                  \
	WAKE_FORMER(name, id);                                                                     \
	WAKE(PXT_WRAP_NAME(c11), PXT_WRAP_CALL(c11), cnd_t, pxt_c11_cond(cond), id)

WAKES(pthread_cond_signal, cnd_signal, POSIX_TRACE_COND_SIGNAL_NP);
WAKES(pthread_cond_broadcast, cnd_broadcast, POSIX_TRACE_COND_BROADCAST_NP);
