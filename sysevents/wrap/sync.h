/* SPDX-License-Identifier: MIT */
/* sync.h - the events of read-write locks and spin locks (posix_trace_sync_...). */
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

#endif
