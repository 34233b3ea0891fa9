/* SPDX-License-Identifier: MIT */
/*
 * sync.h - the events of read-write locks and spin locks (posix_trace_sync_...).
 *
 * PXT_SYNC_WRAP makes a wrapper of a function that takes @lock and may wait: tried first by @try, unless
 * @can_try is false; @holder, of the lock, is told where the try fails.  PXT_SYNC_WRAP_TRY makes one of a
 * try.
 */
#ifndef PXT_WRAP_SYNC_H
#define PXT_WRAP_SYNC_H

#include "sysevents/wrap/wrap.h"

/* A try failed; @holder 0: not known.  Returns when. */
uint64_t pxt_sync_tell_wait(const volatile void *lock, uint8_t kind, uint32_t holder,
    const void *caller) __attribute__((visibility("hidden")));
/* What a lock, or a wait that began @begin, came to; @begin 0: there was no wait. */
void pxt_sync_tell_lock(const volatile void *lock, uint8_t kind, uint64_t begin, int result,
    const void *caller) __attribute__((visibility("hidden")));
void pxt_sync_tell_unlock(const volatile void *lock, uint8_t kind, const void *caller)
    __attribute__((visibility("hidden")));

/* Whether a try that returned @result is all there is to tell of. */
PXT_WRAP_INLINE bool pxt_sync_is_had(
    const volatile void *lock, uint8_t kind, int result, const void *caller)
{
	if (result == EBUSY || result == EAGAIN)
		return false;
	if (!pxt_wrap_wishes.contended)
		pxt_sync_tell_lock(lock, kind, 0, result, caller);
	return true;
}

#define PXT_SYNC_WRAP(name, parameters, arguments, try, kind, holder, can_try)                     \
	PXT_WRAP_REAL(name);                                                                       \
	PXT_WRAP_EXPORT int PXT_WRAP_NAME(name) parameters                                         \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
		uint64_t begin;                                                                    \
		int result;                                                                        \
                                                                                                   \
		if (!pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP) || !(can_try))                 \
			return PXT_WRAP_CALL(name) arguments;                                      \
		result = PXT_WRAP_CALL(try)(lock);                                                 \
		if (pxt_sync_is_had(lock, kind, result, caller))                                   \
			return result;                                                             \
		begin = pxt_sync_tell_wait(lock, kind, holder, caller);                            \
		result = PXT_WRAP_CALL(name) arguments;                                            \
		pxt_sync_tell_lock(lock, kind, begin, result, caller);                             \
		return result;                                                                     \
	}                                                                                          \
	_Static_assert(1, "")

#define PXT_SYNC_WRAP_TRY(name, type, kind)                                                        \
	PXT_WRAP_REAL(name);                                                                       \
	PXT_WRAP_EXPORT int PXT_WRAP_NAME(name)(type * lock)                                       \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
		int result = PXT_WRAP_CALL(name)(lock);                                            \
                                                                                                   \
		if (pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP) && !pxt_wrap_wishes.contended)  \
			pxt_sync_tell_lock(lock, kind, 0, result, caller);                         \
		return result;                                                                     \
	}                                                                                          \
	_Static_assert(1, "")

#endif
