/* SPDX-License-Identifier: MIT */
/*
 * alloc.c - memory: malloc(), free() and their kin.
 *
 * Whoever looks for the real malloc() may want memory itself: while a thread does, it has it from a piece
 * of this library's, which is never given back.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/alloc.h"
#include "sysevents/wrap/call.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

PXT_WRAP_REAL(malloc);
PXT_WRAP_REAL(calloc);
PXT_WRAP_REAL(realloc);
PXT_WRAP_REAL(reallocarray);
PXT_WRAP_REAL(free);
PXT_WRAP_REAL(memalign);
PXT_WRAP_REAL(aligned_alloc);
PXT_WRAP_REAL(posix_memalign);

/* Allocates by @expression, and tells it. */
#define TELL(number, object, bytes, expression)                                                    \
	do {                                                                                       \
		const void *caller = PXT_WRAP_CALLER();                                            \
                                                                                                   \
		if (!pxt_call_wanted(number, caller))                                              \
			return expression;                                                         \
		PXT_CALL_SCOPE call = pxt_call_enter_anywhere(                                     \
		    number, pxt_wrap_address(object), (uint64_t)(bytes), caller);                  \
		void *got = expression;                                                            \
                                                                                                   \
		call.result = got ? (int64_t)(uintptr_t)got : -(int64_t)errno;                     \
		return got;                                                                        \
	} while (0)

PXT_WRAP_EXPORT void *PXT_WRAP_NAME(malloc)(size_t bytes)
{
	if (pxt_alloc_is_early())
		return pxt_alloc_early(bytes);
	TELL(POSIX_TRACE_CALL_MALLOC_NP, NULL, bytes, PXT_WRAP_CALL(malloc)(bytes));
}

PXT_WRAP_EXPORT void *PXT_WRAP_NAME(calloc)(size_t count, size_t bytes)
{
	if (pxt_alloc_is_early())
		return pxt_alloc_early(count * bytes);
	TELL(POSIX_TRACE_CALL_MALLOC_NP, NULL, count * bytes, PXT_WRAP_CALL(calloc)(count, bytes));
}

PXT_WRAP_EXPORT void *PXT_WRAP_NAME(memalign)(size_t alignment, size_t bytes)
{
	TELL(POSIX_TRACE_CALL_MALLOC_NP, NULL, bytes, PXT_WRAP_CALL(memalign)(alignment, bytes));
}

PXT_WRAP_EXPORT void *PXT_WRAP_NAME(aligned_alloc)(size_t alignment, size_t bytes)
{
	TELL(POSIX_TRACE_CALL_MALLOC_NP, NULL, bytes,
	    PXT_WRAP_CALL(aligned_alloc)(alignment, bytes));
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(posix_memalign)(void **got, size_t alignment, size_t bytes)
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_call_wanted(POSIX_TRACE_CALL_MALLOC_NP, caller))
		return PXT_WRAP_CALL(posix_memalign)(got, alignment, bytes);
	PXT_CALL_SCOPE call = pxt_call_enter_anywhere(POSIX_TRACE_CALL_MALLOC_NP, 0, bytes, caller);
	int result = PXT_WRAP_CALL(posix_memalign)(got, alignment, bytes);

	call.result = result ? -(int64_t)result : (int64_t)(uintptr_t)*got;
	return result;
}

PXT_WRAP_EXPORT void *PXT_WRAP_NAME(realloc)(void *old, size_t bytes)
{
	if (pxt_alloc_is_early() || pxt_alloc_has(old))
		return pxt_alloc_move(old, bytes);
	TELL(POSIX_TRACE_CALL_REALLOC_NP, old, bytes, PXT_WRAP_CALL(realloc)(old, bytes));
}

PXT_WRAP_EXPORT void *PXT_WRAP_NAME(reallocarray)(void *old, size_t count, size_t bytes)
{
	TELL(POSIX_TRACE_CALL_REALLOC_NP, old, count * bytes,
	    PXT_WRAP_CALL(reallocarray)(old, count, bytes));
}

/* Told before: another thread may have the memory at once. */
PXT_WRAP_EXPORT void PXT_WRAP_NAME(free)(void *old)
{
	const void *caller = PXT_WRAP_CALLER();

	if (pxt_alloc_has(old))
		return;
	if (old && pxt_call_wanted(POSIX_TRACE_CALL_FREE_NP, caller))
		pxt_call_tell(POSIX_TRACE_CALL_FREE_NP, pxt_wrap_address(old), 0, caller);
	PXT_WRAP_CALL(free)(old);
}
