/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - read-write locks and spin locks (posix_trace_sync_...).
 *
 * They are tried first, as mutexes are.  If the try of a read-write lock fails, the event has the
 * thread that has the lock for writing, if any.
 *
 * WRAP makes a wrapper of a function that takes @lock and may wait: tried first by @try, unless
 * @can_try is false; @holder, of the lock, is recorded if the try fails.  WRAP_TRY makes one of a try.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"
#include "sysevents/wrap/tally.h"

_Static_assert(POSIX_TRACE_KIND_WRITE_NP - POSIX_TRACE_KIND_READ_NP ==
                       (int)PXT_LOCKTALLY_WRITE - (int)PXT_LOCKTALLY_READ &&
                   POSIX_TRACE_KIND_SPIN_NP - POSIX_TRACE_KIND_READ_NP ==
                       (int)PXT_LOCKTALLY_SPIN - (int)PXT_LOCKTALLY_READ,
    "kinds have the same order");
#define TALLY_OF(kind) ((enum pxt_locktally_kind)((kind) + PXT_LOCKTALLY_READ - 1))

struct waits {
	uint64_t lock;
	uint32_t holder;
	uint8_t kind;
} __attribute__((packed));

struct locked {
	uint64_t lock;
	uint32_t waited_us;
	int32_t result;
	uint8_t kind;
	uint64_t callers[PXT_WAIT_CALLERS];
} __attribute__((packed));

struct unlocked {
	uint64_t lock;
	int32_t result;
	uint8_t kind;
} __attribute__((packed));

/* Those that write, or if nobody does, those that read. */
static void tell_holders(const volatile void *lock, uint8_t kind, uint32_t holder)
{
	if (kind == POSIX_TRACE_KIND_SPIN_NP)
		pxt_tally_tell_holders(lock, PXT_LOCKTALLY_SPIN, 0);
	else
		pxt_tally_tell_holders(
		    lock, holder ? PXT_LOCKTALLY_WRITE : PXT_LOCKTALLY_READ, holder);
}

/* By several processes: each operation is told, so that they know of each other. */
PXT_WRAP_INLINE bool is_shared(const volatile void *lock, uint8_t kind)
{
	const volatile pthread_rwlock_t *rwlock = lock;

	return kind != POSIX_TRACE_KIND_SPIN_NP && rwlock->__data.__shared != 0;
}

/* A try failed; @holder 0: not known.  Returns when. */
static __attribute__((noinline)) uint64_t tell_wait(
    const volatile void *lock, uint8_t kind, uint32_t holder, const void *caller)
{
	const struct waits data = { pxt_wrap_address(lock), holder, kind };

	if (!pxt_wrap_wants_kind(kind))
		return pxt_wait_clock();
	tell_holders(lock, kind, holder);
	posix_trace_system_event_np(POSIX_TRACE_SYNC_WAIT_NP, &data, sizeof(data), caller);
	return pxt_wait_clock();
}

/* What a lock, or a wait that began @begin, came to; @begin 0: there was no wait. */
static __attribute__((noinline)) void tell_lock(
    const volatile void *lock, uint8_t kind, uint64_t begin, int result, const void *caller)
{
	struct locked data = { .lock = pxt_wrap_address(lock), .result = result, .kind = kind };
	uint64_t callers[PXT_WAIT_CALLERS];
	unsigned count = 0;

	if (!pxt_wrap_wants_kind(kind))
		return;
	if (begin) {
		uint64_t ns = pxt_wait_clock() - begin;

		data.waited_us = pxt_wait_us(ns);
		count = pxt_wait_callers(ns, caller, callers);
		if (pxt_tally_page.counts && result == 0 && !is_shared(lock, kind)) {
			pxt_tally_took(lock, TALLY_OF(kind), caller);
			pxt_tally_hold(lock);
		}
	}
	for (unsigned i = 0; i < count; i++)
		data.callers[i] = callers[i];
	posix_trace_system_event_np(POSIX_TRACE_SYNC_LOCK_NP, &data,
	    offsetof(struct locked, callers) + count * sizeof(*callers), caller);
}

static __attribute__((noinline)) void tell_unlock(
    const volatile void *lock, uint8_t kind, const void *caller)
{
	const struct unlocked data = { pxt_wrap_address(lock), 0, kind };

	if (pxt_wrap_wants_kind(kind))
		posix_trace_system_event_np(
		    POSIX_TRACE_SYNC_UNLOCK_NP, &data, sizeof(data), caller);
}

/* It did not wait. */
PXT_WRAP_INLINE void tell_free(
    const volatile void *lock, uint8_t kind, int result, const void *caller)
{
	if (!pxt_tally_page.counts || is_shared(lock, kind))
		tell_lock(lock, kind, 0, result, caller);
	else if (result == 0 && pxt_wrap_wants_kind(kind))
		pxt_tally_took(lock, TALLY_OF(kind), caller);
}

/* It is given back: whether that is an event. */
PXT_WRAP_INLINE bool tells_unlock(const volatile void *lock, uint8_t kind, bool is_awaited)
{
	if (!pxt_tally_page.counts || is_shared(lock, kind))
		return true;
	if (pxt_wrap_wants_kind(kind))
		pxt_tally_gave(lock, TALLY_OF(kind));
	return pxt_tally_release(lock) || is_awaited;
}

/* Whether a try that returned @result is all there is to tell of. */
PXT_WRAP_INLINE bool is_had(const volatile void *lock, uint8_t kind, int result, const void *caller)
{
	if (result == EBUSY || result == EAGAIN)
		return false;
	tell_free(lock, kind, result, caller);
	return true;
}

#define WRAP(name, parameters, arguments, try, kind, holder, can_try)                              \
	PXT_WRAPPER(int, name, parameters)                                                         \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
		uint64_t begin;                                                                    \
		int result;                                                                        \
                                                                                                   \
		if (!pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP) || !(can_try))                 \
			return PXT_WRAP_CALL(name) arguments;                                      \
		result = PXT_WRAP_CALL(try)(lock);                                                 \
		if (is_had(lock, kind, result, caller))                                            \
			return result;                                                             \
		begin = tell_wait(lock, kind, holder, caller);                                     \
		result = PXT_WRAP_CALL(name) arguments;                                            \
		tell_lock(lock, kind, begin, result, caller);                                      \
		return result;                                                                     \
	}                                                                                          \
	_Static_assert(1, "")

#define WRAP_TRY(name, type, kind)                                                                 \
	PXT_WRAPPER(int, name, (type * lock))                                                      \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
		int result = PXT_WRAP_CALL(name)(lock);                                            \
                                                                                                   \
		if (pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP))                                \
			tell_free(lock, kind, result, caller);                                     \
		return result;                                                                     \
	}                                                                                          \
	_Static_assert(1, "")

/* ---- Read-write locks ---- */

static uint32_t writer(const pthread_rwlock_t *lock)
{
	return (uint32_t)__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
}

#define TIMED(name, timespec, try, kind)                                                           \
	WRAP(name, (pthread_rwlock_t * lock, const timespec *limit), (lock, limit), try, kind,     \
	    writer(lock), true)
#define BY_CLOCK(name, timespec, try, kind)                                                        \
	WRAP(name, (pthread_rwlock_t * lock, clockid_t clock, const timespec *limit),              \
	    (lock, clock, limit), try, kind, writer(lock), pxt_wrap_takes_clock(clock))

WRAP_TRY(pthread_rwlock_tryrdlock, pthread_rwlock_t, POSIX_TRACE_KIND_READ_NP);
WRAP(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), pthread_rwlock_tryrdlock,
    POSIX_TRACE_KIND_READ_NP, writer(lock), true);
#define TIMED_READ(name, timespec)                                                                 \
	TIMED(name, timespec, pthread_rwlock_tryrdlock, POSIX_TRACE_KIND_READ_NP)
#define CLOCK_READ(name, timespec)                                                                 \
	BY_CLOCK(name, timespec, pthread_rwlock_tryrdlock, POSIX_TRACE_KIND_READ_NP)
PXT_TIMES(TIMED_READ, timespec, pthread_rwlock_timedrdlock, __pthread_rwlock_timedrdlock64);
PXT_TIMES(CLOCK_READ, timespec, pthread_rwlock_clockrdlock, __pthread_rwlock_clockrdlock64);

WRAP_TRY(pthread_rwlock_trywrlock, pthread_rwlock_t, POSIX_TRACE_KIND_WRITE_NP);
WRAP(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), pthread_rwlock_trywrlock,
    POSIX_TRACE_KIND_WRITE_NP, writer(lock), true);
#define TIMED_WRITE(name, timespec)                                                                \
	TIMED(name, timespec, pthread_rwlock_trywrlock, POSIX_TRACE_KIND_WRITE_NP)
#define CLOCK_WRITE(name, timespec)                                                                \
	BY_CLOCK(name, timespec, pthread_rwlock_trywrlock, POSIX_TRACE_KIND_WRITE_NP)
PXT_TIMES(TIMED_WRITE, timespec, pthread_rwlock_timedwrlock, __pthread_rwlock_timedwrlock64);
PXT_TIMES(CLOCK_WRITE, timespec, pthread_rwlock_clockwrlock, __pthread_rwlock_clockwrlock64);

/* Whether threads sleep for one of its two words; a bit of them says so. */
static bool is_awaited(const pthread_rwlock_t *lock)
{
	return ((__atomic_load_n(&lock->__data.__wrphase_futex, __ATOMIC_RELAXED) |
	            __atomic_load_n(&lock->__data.__writers_futex, __ATOMIC_RELAXED)) &
	           2u) != 0;
}

/* For writing, if the lock says that the caller has it so. */
PXT_WRAPPER(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock))
{
	const void *caller = PXT_WRAP_CALLER();
	uint8_t kind = writer(lock) ? POSIX_TRACE_KIND_WRITE_NP : POSIX_TRACE_KIND_READ_NP;

	if (pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_UNLOCK_NP) &&
	    tells_unlock(lock, kind, is_awaited(lock)))
		tell_unlock(lock, kind, caller);
	return PXT_WRAP_CALL(pthread_rwlock_unlock)(lock);
}

PXT_PROCESS_WRAP_LIFE(pthread_rwlock_init,
    (pthread_rwlock_t * lock, const pthread_rwlockattr_t *attributes), (lock, attributes), lock,
    POSIX_TRACE_SYNC_LOCK_NP);
PXT_PROCESS_WRAP_LIFE(
    pthread_rwlock_destroy, (pthread_rwlock_t * lock), (lock), lock, POSIX_TRACE_SYNC_LOCK_NP);

/* ---- Spin locks ---- */

WRAP_TRY(pthread_spin_trylock, pthread_spinlock_t, POSIX_TRACE_KIND_SPIN_NP);
WRAP(pthread_spin_lock, (pthread_spinlock_t * lock), (lock), pthread_spin_trylock,
    POSIX_TRACE_KIND_SPIN_NP, 0, true);

PXT_WRAPPER(int, pthread_spin_unlock, (pthread_spinlock_t * lock))
{
	const void *caller = PXT_WRAP_CALLER();

	if (pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_UNLOCK_NP) &&
	    tells_unlock(lock, POSIX_TRACE_KIND_SPIN_NP, false))
		tell_unlock(lock, POSIX_TRACE_KIND_SPIN_NP, caller);
	return PXT_WRAP_CALL(pthread_spin_unlock)(lock);
}

PXT_PROCESS_WRAP_LIFE(pthread_spin_init, (pthread_spinlock_t * lock, int shared), (lock, shared),
    lock, POSIX_TRACE_SYNC_LOCK_NP);
PXT_PROCESS_WRAP_LIFE(
    pthread_spin_destroy, (pthread_spinlock_t * lock), (lock), lock, POSIX_TRACE_SYNC_LOCK_NP);
