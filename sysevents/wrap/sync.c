/* SPDX-License-Identifier: MIT */
/* sync.c - see sync.h. */
#define _GNU_SOURCE
#include "sysevents/wrap/sync.h"

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

uint64_t pxt_sync_tell_wait(
    const volatile void *lock, uint8_t kind, uint32_t holder, const void *caller)
{
	const struct waits data = { pxt_wrap_address(lock), holder, kind };

	if (pxt_wrap_wants_kind(kind))
		posix_trace_system_event_np(POSIX_TRACE_SYNC_WAIT_NP, &data, sizeof(data), caller);
	return pxt_wait_clock();
}

void pxt_sync_tell_lock(
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
	}
	for (unsigned i = 0; i < count; i++)
		data.callers[i] = callers[i];
	posix_trace_system_event_np(POSIX_TRACE_SYNC_LOCK_NP, &data,
	    offsetof(struct locked, callers) + count * sizeof(*callers), caller);
}

void pxt_sync_tell_unlock(const volatile void *lock, uint8_t kind, const void *caller)
{
	const struct unlocked data = { pxt_wrap_address(lock), 0, kind };

	if (pxt_wrap_wants_kind(kind))
		posix_trace_system_event_np(
		    POSIX_TRACE_SYNC_UNLOCK_NP, &data, sizeof(data), caller);
}
