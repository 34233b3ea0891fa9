/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - mutexes: lock and unlock, init and destroy.
 *
 * A mutex is tried first, so that a wait is recorded before it begins.  trylock does what lock does
 * unless it returns EBUSY: then the real lock is called, also if the thread has the mutex already.
 * Robust ones are inspected instead: in this C library, trylock of one that cannot be repaired takes
 * and keeps it, and reports that it did not.
 *
 * An unlock is recorded before it happens: the event of the thread that locks next must not be earlier.
 * If the unlock then fails, a second event says so.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/names.h"
#include "sysevents/wrap/process.h"
#include "sysevents/wrap/tally.h"

#include <sys/mman.h>

/* ---- The state of a mutex: its holder, and whether others wait ---- */

/* The kernel's number of the thread that has it; 0: none, or not known. */
PXT_WRAP_INLINE uint32_t holder_of(const pthread_mutex_t *mutex)
{
	return (uint32_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
}

/* Of the kind: the word is as the kernel wants it, with a bit for those who wait. */
#define KIND_ROBUST  0x10
#define KIND_KERNEL  0x30 /* robust, or with priority inheritance */
#define WORD_WAITERS 0x80000000u
#define WORD_DIED    0x40000000u
#define WORD_THREAD  0x3fffffffu
/* Of the word of all others: 2 where others may sleep, beside a ceiling. */
#define WORD_STATE   0x7ffffu

PXT_WRAP_INLINE bool is_awaited(const pthread_mutex_t *mutex)
{
	uint32_t word = (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);

	if (PXT_WRAP_LIKELY(word <= 1u))
		return false;
	if (__atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) & KIND_KERNEL)
		return (word & WORD_WAITERS) != 0;
	return (word & WORD_STATE) > 1u;
}

PXT_WRAP_INLINE bool is_robust(const pthread_mutex_t *mutex)
{
	return __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) & KIND_ROBUST;
}

/* Of a robust one: whether a thread has it that lives. */
PXT_WRAP_INLINE bool is_held(const pthread_mutex_t *mutex)
{
	uint32_t word = (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);

	return (word & WORD_THREAD) && !(word & WORD_DIED);
}

/* By several processes: each operation is told, so that they know of each other. */
#define KIND_SHARED 0x80

PXT_WRAP_INLINE bool is_shared(const pthread_mutex_t *mutex)
{
	return __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) & KIND_SHARED;
}

/* ---- Taking one ---- */

PXT_WRAP_REAL_FAST(pthread_mutex_lock, pthread_mutex_t *mutex, mutex);
PXT_WRAP_REAL_FAST(pthread_mutex_trylock, pthread_mutex_t *mutex, mutex);

struct locked {
	uint64_t lock;
	uint32_t waited_us;
	int32_t result;
	uint64_t callers[PXT_WAIT_CALLERS];
};

static void tell_wait(const pthread_mutex_t *mutex, const void *caller)
{
	struct {
		uint64_t lock;
		uint32_t holder;
	} data = { pxt_wrap_address(mutex), holder_of(mutex) };

	pxt_process_catch_up();
	if (data.holder)
		pxt_tally_tell_holders(mutex, PXT_LOCKTALLY_MUTEX, data.holder);
	posix_trace_system_event_np(POSIX_TRACE_MUTEX_WAIT_NP, &data, 12, caller);
}

PXT_WRAP_INLINE void tell_locked(const pthread_mutex_t *mutex, int result, const void *caller)
{
	struct {
		uint64_t lock;
		uint32_t waited_us;
		int32_t result;
	} data = { pxt_wrap_address(mutex), 0, result };

	posix_trace_system_event_np(POSIX_TRACE_MUTEX_LOCK_NP, &data, sizeof(data), caller);
}

PXT_WRAP_INLINE bool is_taken(int result)
{
	return result == 0 || result == EOWNERDEAD;
}

/* It was free, or robust, which says nothing of a wait. */
static void tell_free(const pthread_mutex_t *mutex, int result, const void *caller)
{
	if (!pxt_tally_page.counts || is_shared(mutex))
		tell_locked(mutex, result, caller);
	else if (is_taken(result))
		pxt_tally_took(mutex, PXT_LOCKTALLY_MUTEX, caller);
}

static void tell_got(const pthread_mutex_t *mutex, uint64_t begin, int result, const void *caller)
{
	struct locked data = { .lock = pxt_wrap_address(mutex), .result = result };
	uint64_t ns = pxt_wait_clock() - begin;
	unsigned callers = pxt_wait_callers(ns, caller, data.callers);

	data.waited_us = pxt_wait_us(ns);
	if (pxt_tally_page.counts && is_taken(result) && !is_shared(mutex)) {
		pxt_tally_took(mutex, PXT_LOCKTALLY_MUTEX, caller);
		pxt_tally_hold(mutex);
	}
	posix_trace_system_event_np(POSIX_TRACE_MUTEX_LOCK_NP, &data,
	    offsetof(struct locked, callers) + callers * sizeof(*data.callers), caller);
}

/* It was not tried, and may be free. */
#define UNTRIED (-1)

/* 0, EBUSY, UNTRIED, or another error that a lock would return, too. */
PXT_WRAP_INLINE int try_first(pthread_mutex_t *mutex)
{
	if (PXT_WRAP_LIKELY(!is_robust(mutex)))
		return PXT_WRAP_CALL(pthread_mutex_trylock)(mutex);
	return is_held(mutex) ? EBUSY : UNTRIED;
}

/* Whether that is all there is to tell of. */
static bool is_had(const pthread_mutex_t *mutex, int tried, const void *caller)
{
	if (tried == EBUSY || tried == UNTRIED)
		return false;
	tell_free(mutex, tried, caller);
	return true;
}

/* Before the real function, and when it is. */
static uint64_t begin(const pthread_mutex_t *mutex, int tried, const void *caller)
{
	uint64_t now = pxt_wait_clock();

	if (tried == EBUSY)
		tell_wait(mutex, caller);
	return now;
}

static int end(
    const pthread_mutex_t *mutex, int tried, uint64_t since, int result, const void *caller)
{
	if (tried == EBUSY)
		tell_got(mutex, since, result, caller);
	else
		tell_free(mutex, result, caller);
	return result;
}

static __attribute__((noinline)) int lock(pthread_mutex_t *mutex, int tried, const void *caller)
{
	uint64_t since;

	if (is_had(mutex, tried, caller))
		return tried;
	since = begin(mutex, tried, caller);
	return end(mutex, tried, since, PXT_WRAP_CALL(pthread_mutex_lock)(mutex), caller);
}

/* Without recording this needs no register that has to be saved. */
PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_mutex_lock)(pthread_mutex_t *mutex)
{
	int tried;

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_LOCK_NP))
		return PXT_WRAP_CALL(pthread_mutex_lock)(mutex);
	tried = try_first(mutex);
	if (PXT_WRAP_LIKELY(!tried) && pxt_tally_page.counts &&
	    PXT_WRAP_LIKELY(!is_shared(mutex))) {
		pxt_tally_took(mutex, PXT_LOCKTALLY_MUTEX, PXT_WRAP_CALLER());
		return 0;
	}
	return lock(mutex, tried, PXT_WRAP_CALLER());
}

/*
 * What the calling thread tried and did not get is told, and so is when it gets it: once in a millisecond,
 * as it may try without an end.
 */
#define TRIES_NS UINT64_C(1000000)
static __thread struct {
	const pthread_mutex_t *mutex;
	uint64_t ns;
} refused __attribute__((tls_model("initial-exec")));

static __attribute__((noinline)) void tell_try(
    const pthread_mutex_t *mutex, int result, const void *caller)
{
	uint64_t now = pxt_wait_clock();
	uint32_t holder = holder_of(mutex);

	if (result == EBUSY && refused.mutex == mutex && now - refused.ns < TRIES_NS)
		return;
	refused.mutex = result == EBUSY ? mutex : NULL;
	refused.ns = now;
	if (result == EBUSY && holder) {
		pxt_process_catch_up();
		pxt_tally_tell_holders(mutex, PXT_LOCKTALLY_MUTEX, holder);
	}
	if (is_taken(result)) {
		pxt_tally_took(mutex, PXT_LOCKTALLY_MUTEX, caller);
		pxt_tally_hold(mutex);
	}
	tell_locked(mutex, result, caller);
}

PXT_WRAP_INLINE int try(pthread_mutex_t *mutex, const void *caller)
{
	int result = PXT_WRAP_CALL(pthread_mutex_trylock)(mutex);

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_LOCK_NP))
		return result;
	if (pxt_tally_page.counts && !is_shared(mutex) &&
	    (result == EBUSY || refused.mutex == mutex))
		tell_try(mutex, result, caller);
	else
		tell_free(mutex, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_mutex_trylock)(pthread_mutex_t *mutex)
{
	return try(mutex, PXT_WRAP_CALLER());
}

/* As POSIX's function does it with @object, by @call; what that gives is returned as @given has it. */
#define LOCKS(name, parameters, real, can_try, object, given, call)                                \
	PXT_WRAPPER(int, name, parameters)                                                         \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
		uint64_t since;                                                                    \
		int tried;                                                                         \
                                                                                                   \
		if (!pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_LOCK_NP) || !(can_try))                \
			return real;                                                               \
		tried = try_first(object);                                                         \
		if (is_had(object, tried, caller))                                                 \
			return given(tried);                                                       \
		since = begin(object, tried, caller);                                              \
		return given(end(object, tried, since, call, caller));                             \
	}                                                                                          \
	_Static_assert(1, "")
#define TIMED_LOCK(name, timespec)                                                                 \
	LOCKS(name, (pthread_mutex_t * mutex, const timespec *limit),                              \
	    PXT_WRAP_CALL(name)(mutex, limit), true, mutex, , PXT_WRAP_CALL(name)(mutex, limit))
#define CLOCK_LOCK(name, timespec)                                                                 \
	LOCKS(name, (pthread_mutex_t * mutex, clockid_t clock, const timespec *limit),             \
	    PXT_WRAP_CALL(name)(mutex, clock, limit), pxt_wrap_takes_clock(clock), mutex, ,        \
	    PXT_WRAP_CALL(name)(mutex, clock, limit))
PXT_TIMES(TIMED_LOCK, timespec, pthread_mutex_timedlock, __pthread_mutex_timedlock64);
PXT_TIMES(CLOCK_LOCK, timespec, pthread_mutex_clocklock, __pthread_mutex_clocklock64);

/* The same under C11's names (names.h). */

PXT_WRAPPER(int, mtx_lock, (mtx_t * mutex))
{
	int tried;

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_LOCK_NP))
		return PXT_WRAP_CALL(mtx_lock)(mutex);
	tried = try_first(pxt_c11_mutex(mutex));
	if (PXT_WRAP_LIKELY(!tried) && pxt_tally_page.counts) {
		pxt_tally_took(mutex, PXT_LOCKTALLY_MUTEX, PXT_WRAP_CALLER());
		return thrd_success;
	}
	return pxt_c11_result(lock(pxt_c11_mutex(mutex), tried, PXT_WRAP_CALLER()));
}

PXT_WRAPPER(int, mtx_trylock, (mtx_t * mutex))
{
	if (!pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_LOCK_NP))
		return PXT_WRAP_CALL(mtx_trylock)(mutex);
	return pxt_c11_result(try(pxt_c11_mutex(mutex), PXT_WRAP_CALLER()));
}

#define C11_TIMED_LOCK(name, posix, timespec)                                                      \
	LOCKS(name, (mtx_t * mutex, const timespec *limit), PXT_WRAP_CALL(name)(mutex, limit),     \
	    true, pxt_c11_mutex(mutex), pxt_c11_result,                                            \
	    PXT_WRAP_CALL(posix)(pxt_c11_mutex(mutex), limit))
C11_TIMED_LOCK(mtx_timedlock, pthread_mutex_timedlock, struct timespec);
#if PXT_TIMES_TWO
C11_TIMED_LOCK(__mtx_timedlock64, __pthread_mutex_timedlock64, struct pxt_timespec64);
#endif
/* ---- Its begin and its end ---- */

/* NOLINTBEGIN(cert-fio38-c,misc-non-copyable-objects): their parameters' types are taken for uses */
PXT_PROCESS_WRAP_LIFE(pthread_mutex_init,
    (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes), (mutex, attributes), mutex,
    POSIX_TRACE_MUTEX_LOCK_NP);
PXT_PROCESS_WRAP_LIFE(
    pthread_mutex_destroy, (pthread_mutex_t * mutex), (mutex), mutex, POSIX_TRACE_MUTEX_LOCK_NP);
/* NOLINTEND(cert-fio38-c,misc-non-copyable-objects) */
PXT_PROCESS_WRAP_LIFE(
    mtx_init, (mtx_t * mutex, int kind), (mutex, kind), mutex, POSIX_TRACE_MUTEX_LOCK_NP);

PXT_WRAPPER(void, mtx_destroy, (mtx_t * mutex))
{
	const void *caller = PXT_WRAP_CALLER();

	PXT_WRAP_CALL(mtx_destroy)(mutex);
	if (pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_LOCK_NP))
		(void)pxt_process_tell_memory(0, mutex, sizeof(*mutex), caller);
}

/* With all locks that lie in it. */

PXT_WRAPPER(int, munmap, (void *from, size_t bytes))
{
	const void *caller = PXT_WRAP_CALLER();

	/* Told before: another thread may have the memory at once. */
	if (pxt_wrap_wanted(POSIX_TRACE_MUTEX_LOCK_NP, caller))
		(void)pxt_process_tell_memory(0, from, bytes, caller);
	return PXT_WRAP_CALL(munmap)(from, bytes);
}

/* ---- Giving one back ---- */

PXT_WRAP_REAL_FAST(pthread_mutex_unlock, pthread_mutex_t *mutex, mutex);

static void tell_unlock(const pthread_mutex_t *mutex, int result, const void *caller)
{
	struct {
		uint64_t lock;
		int32_t result;
	} data = { pxt_wrap_address(mutex), result };

	posix_trace_system_event_np(POSIX_TRACE_MUTEX_UNLOCK_NP, &data, 12, caller);
}

static __attribute__((noinline)) int unlock(pthread_mutex_t *mutex, const void *caller)
{
	int result;

	tell_unlock(mutex, 0, caller);
	result = PXT_WRAP_CALL(pthread_mutex_unlock)(mutex);
	if (result)
		tell_unlock(mutex, result, caller);
	return result;
}

PXT_WRAP_INLINE bool tells_unlock(const pthread_mutex_t *mutex)
{
	if (!pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_UNLOCK_NP))
		return false;
	return !pxt_tally_page.counts || pxt_tally_release(mutex) || is_awaited(mutex) ||
	       is_shared(mutex);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_mutex_unlock)(pthread_mutex_t *mutex)
{
	if (!tells_unlock(mutex))
		return PXT_WRAP_CALL(pthread_mutex_unlock)(mutex);
	return unlock(mutex, PXT_WRAP_CALLER());
}

PXT_WRAPPER(int, mtx_unlock, (mtx_t * mutex))
{
	if (!tells_unlock(pxt_c11_mutex(mutex)))
		return PXT_WRAP_CALL(mtx_unlock)(mutex);
	return pxt_c11_result(unlock(pxt_c11_mutex(mutex), PXT_WRAP_CALLER()));
}
