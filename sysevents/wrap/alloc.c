/* SPDX-License-Identifier: MIT */
/*
 * alloc.c - memory: malloc(), free() and similar functions.
 *
 * The look-up of the real malloc() may need memory itself: during it a thread gets memory from a static
 * piece of this library, which is never freed.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- Memory for a thread that looks for the real malloc() ---- */

#if PXT_WRAP_BY_LINKER
/* The linker has found it. */
PXT_OFF_RETURNS(false, bool, is_early, void);
PXT_OFF_RETURNS(false, bool, is_from_early, const void *at);
PXT_OFF_RETURNS(NULL, void *, early_alloc, size_t bytes);
PXT_OFF_RETURNS(NULL, void *, early_move, void *old, size_t bytes);
#else
#define EARLY_BYTES ((size_t)16384)
#define ALIGNMENT   16u

static _Alignas(ALIGNMENT) unsigned char early[EARLY_BYTES];
static _Atomic size_t used;

/* The calling thread looks for a real function now (real.c). */
PXT_WRAP_INLINE bool is_early(void)
{
	return !PXT_WRAP_LIKELY(!pxt_real_looks);
}

/* Whether it is from here. */
PXT_WRAP_INLINE bool is_from_early(const void *at)
{
	return (uintptr_t)at - (uintptr_t)early < EARLY_BYTES;
}

/* Zeros; NULL: there is no more. */
static void *early_alloc(size_t bytes)
{
	size_t whole = (bytes + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
	size_t at;

	if (bytes > EARLY_BYTES)
		return NULL;
	at = atomic_fetch_add_explicit(&used, whole, memory_order_relaxed);
	return at + whole <= EARLY_BYTES ? early + at : NULL;
}

/*
 * A piece from here, or what a thread that looks has, as one of @bytes.  How long the old one is nobody
 * knows: no longer than what is left behind it.
 */
static void *early_move(void *old, size_t bytes)
{
	void *moved = malloc(bytes);
	size_t most;

	if (!moved || !old)
		return moved;
	most = is_from_early(old) ? (size_t)(early + EARLY_BYTES - (const unsigned char *)old) : 0;
	memcpy(moved, old, bytes < most ? bytes : most);
	return moved;
}
#endif

/* ---- The functions ---- */

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

PXT_WRAPPER(void *, malloc, (size_t bytes))
{
	if (is_early())
		return early_alloc(bytes);
	TELL(POSIX_TRACE_CALL_MALLOC_NP, NULL, bytes, PXT_WRAP_CALL(malloc)(bytes));
}

PXT_WRAPPER(void *, calloc, (size_t count, size_t bytes))
{
	if (is_early())
		return early_alloc(count * bytes);
	TELL(POSIX_TRACE_CALL_MALLOC_NP, NULL, count * bytes, PXT_WRAP_CALL(calloc)(count, bytes));
}

#define ALLOCATES(name, number, parameters, arguments, object, bytes)                              \
	PXT_WRAPPER(void *, name, parameters)                                                      \
	{                                                                                          \
		TELL(number, object, bytes, PXT_WRAP_CALL(name) arguments);                        \
	}                                                                                          \
	_Static_assert(1, "")
ALLOCATES(memalign, POSIX_TRACE_CALL_MALLOC_NP, (size_t alignment, size_t bytes),
    (alignment, bytes), NULL, bytes);
ALLOCATES(aligned_alloc, POSIX_TRACE_CALL_MALLOC_NP, (size_t alignment, size_t bytes),
    (alignment, bytes), NULL, bytes);
ALLOCATES(reallocarray, POSIX_TRACE_CALL_REALLOC_NP, (void *old, size_t count, size_t bytes),
    (old, count, bytes), old, count *bytes);

PXT_WRAPPER(int, posix_memalign, (void **got, size_t alignment, size_t bytes))
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_call_wanted(POSIX_TRACE_CALL_MALLOC_NP, caller))
		return PXT_WRAP_CALL(posix_memalign)(got, alignment, bytes);
	PXT_CALL_SCOPE call = pxt_call_enter_anywhere(POSIX_TRACE_CALL_MALLOC_NP, 0, bytes, caller);
	int result = PXT_WRAP_CALL(posix_memalign)(got, alignment, bytes);

	call.result = result ? -(int64_t)result : (int64_t)(uintptr_t)*got;
	return result;
}

PXT_WRAPPER(void *, realloc, (void *old, size_t bytes))
{
	if (is_early() || is_from_early(old))
		return early_move(old, bytes);
	TELL(POSIX_TRACE_CALL_REALLOC_NP, old, bytes, PXT_WRAP_CALL(realloc)(old, bytes));
}

/* Told before: another thread may have the memory at once. */
PXT_WRAPPER(void, free, (void *old))
{
	const void *caller = PXT_WRAP_CALLER();

	if (is_from_early(old))
		return;
	if (old && pxt_call_wanted(POSIX_TRACE_CALL_FREE_NP, caller))
		pxt_call_tell(POSIX_TRACE_CALL_FREE_NP, pxt_wrap_address(old), 0, caller);
	PXT_WRAP_CALL(free)(old);
}
