/* SPDX-License-Identifier: MIT */
/* call.c - the events of a call that may block; see call.h. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include "sysevents/wrap/process.h"

struct entered {
	uint16_t call;
	uint64_t object;
	uint64_t size;
	int64_t asked_ns; /* is there where the wait has a limit */
} __attribute__((packed));

struct left {
	uint16_t call;
	uint64_t object;
	int64_t result;
	uint32_t took_us;
	uint64_t callers[PXT_WAIT_CALLERS];
} __attribute__((packed));

static struct pxt_call enter(
    uint16_t number, uint64_t object, uint64_t size, int64_t asked, const void *caller)
{
	struct pxt_call call = {
		.object = object, .result = -ECANCELED, .caller = caller, .number = number
	};
	const struct entered data = { number, object, size, asked };

	if (!pxt_wrap_wants_call(number))
		return (struct pxt_call){ 0 };
	pxt_process_use(object);
	posix_trace_system_event_np(POSIX_TRACE_CALL_ENTER_NP, &data,
	    asked == PXT_WAIT_NO_LIMIT ? offsetof(struct entered, asked_ns) : sizeof(data), caller);
	call.begin = pxt_wait_clock();
	return call;
}

struct pxt_call pxt_call_enter_anywhere(
    uint16_t number, uint64_t object, uint64_t size, const void *caller)
{
	return enter(number, object, size, PXT_WAIT_NO_LIMIT, caller);
}

struct pxt_call pxt_call_enter_until(
    uint16_t number, uint64_t object, uint64_t size, int64_t asked, const void *caller)
{
	pxt_process_catch_up();
	return enter(number, object, size, asked, caller);
}

void pxt_call_exit(const struct pxt_call *call)
{
	struct left data = { .call = call->number, .object = call->object, .result = call->result };
	uint64_t callers[PXT_WAIT_CALLERS];
	unsigned count;
	uint64_t ns;

	if (!call->number)
		return;
	ns = pxt_wait_clock() - call->begin;
	count = pxt_wait_callers(ns, call->caller, callers);
	for (unsigned i = 0; i < count; i++)
		data.callers[i] = callers[i];
	data.took_us = pxt_wait_us(ns);
	posix_trace_system_event_np(POSIX_TRACE_CALL_EXIT_NP, &data,
	    offsetof(struct left, callers) + count * sizeof(*callers), call->caller);
}

void pxt_call_tell(uint16_t number, uint64_t object, int64_t result, const void *caller)
{
	const struct left data = { .call = number, .object = object, .result = result };

	if (number == POSIX_TRACE_CALL_CLOSE_NP && result == 0)
		pxt_process_forget_inherited(object);
	if (pxt_wrap_wants_call(number))
		posix_trace_system_event_np(
		    POSIX_TRACE_CALL_EXIT_NP, &data, offsetof(struct left, callers), caller);
}
