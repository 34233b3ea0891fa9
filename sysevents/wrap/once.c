/* SPDX-License-Identifier: MIT */
/* once.c - pthread_once() and call_once(), where they run the function or wait for it. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <pthread.h>
#include <threads.h>

PXT_WRAP_REAL(pthread_once);
PXT_WRAP_REAL(call_once);

/* In glibc and musl; elsewhere every call is told. */
#define DONE 2

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_once)(pthread_once_t *control, void (*function)(void))
{
	const void *caller = PXT_WRAP_CALLER();

	if (__atomic_load_n(control, __ATOMIC_RELAXED) == DONE ||
	    !pxt_call_wanted(POSIX_TRACE_CALL_ONCE_NP, caller))
		return PXT_WRAP_CALL(pthread_once)(control, function);
	PXT_CALL_SCOPE call = pxt_call_enter(
	    POSIX_TRACE_CALL_ONCE_NP, pxt_wrap_address(control), PXT_CALL_NO_SIZE, caller);
	int result = PXT_WRAP_CALL(pthread_once)(control, function);

	call.result = -(int64_t)result;
	return result;
}

_Static_assert(sizeof(once_flag) == sizeof(int), "glibc and musl have a number there");

PXT_WRAP_EXPORT void PXT_WRAP_NAME(call_once)(once_flag *flag, void (*function)(void))
{
	const void *caller = PXT_WRAP_CALLER();
	const int *control = (const int *)(const void *)flag;

	if (__atomic_load_n(control, __ATOMIC_RELAXED) == DONE ||
	    !pxt_call_wanted(POSIX_TRACE_CALL_ONCE_NP, caller)) {
		PXT_WRAP_CALL(call_once)(flag, function);
		return;
	}
	PXT_CALL_SCOPE call = pxt_call_enter(
	    POSIX_TRACE_CALL_ONCE_NP, pxt_wrap_address(flag), PXT_CALL_NO_SIZE, caller);
	PXT_WRAP_CALL(call_once)(flag, function);
	call.result = 0;
}
