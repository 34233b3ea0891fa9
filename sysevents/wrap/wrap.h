/* SPDX-License-Identifier: MIT */
/*
 * wrap.h - what all wrappers of C-library functions have in common.
 *
 * One source is compiled for two doors.  The preload library defines the C library's names and finds
 * the real functions behind itself (real.c).  The archive for the linker defines __wrap_NAME and calls
 * __real_NAME; the linker's --wrap=NAME joins them.
 *
 *   concurrency: any thread, signal handlers, before the first constructor and after the last destructor.
 *
 * A wrapper does what the real function does: result, errno, cancellation.  It takes no lock, allocates
 * nothing, and keeps nothing across the real call but its own frame, so a cancelled thread leaves
 * nothing behind.  What the library itself calls is passed through (pxt_wrap_is_own()).
 */
#ifndef PXT_WRAP_H
#define PXT_WRAP_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_hooks_np.h>

#define PXT_WRAP_INLINE    static inline __attribute__((always_inline, unused))
#define PXT_WRAP_EXPORT    __attribute__((visibility("default")))
#define PXT_WRAP_LIKELY(x) __builtin_expect(!!(x), 1)
/* Where the wrapped function was called, and who waits longer than was asked carries more (stack.h). */
#define PXT_WRAP_CALLER()  __builtin_return_address(0)

#if PXT_WRAP_BY_LINKER
#define PXT_WRAP_REAL(name)     extern __typeof__(name) __real_##name
#define PXT_WRAP_NAME(name)     __wrap_##name
#define PXT_WRAP_CALL(name)     __real_##name
#define PXT_WRAP_OPTIONAL(name) extern __typeof__(name) __real_##name __attribute__((weak))
#else
/* The real function of that name, of the age that is given ("": the present one); ends the process if there is none. */
typedef void (*pxt_real)(void);
pxt_real pxt_real_find(const char *name, const char *version);

#define PXT_WRAP_REAL_OF(name, version)                                                            \
	static __typeof__(&name) real_##name;                                                      \
	PXT_WRAP_INLINE __typeof__(&name) find_##name(void)                                        \
	{                                                                                          \
		__typeof__(&name) found = __atomic_load_n(&real_##name, __ATOMIC_RELAXED);         \
                                                                                                   \
		if (!PXT_WRAP_LIKELY(found)) {                                                     \
			found = (__typeof__(&name))pxt_real_find(#name, version);                  \
			__atomic_store_n(&real_##name, found, __ATOMIC_RELAXED);                   \
		}                                                                                  \
		return found;                                                                      \
	}                                                                                          \
	_Static_assert(1, "")
#define PXT_WRAP_REAL(name) PXT_WRAP_REAL_OF(name, "")
#define PXT_WRAP_NAME(name) name
#define PXT_WRAP_CALL(name) find_##name()
#endif

/* ---- What is asked for (start.c) ---- */

struct pxt_wrap_wishes {
	uintptr_t own_low;  /* code of libptrace: what it calls is not the program's */
	uintptr_t own_size; /* 0: not known */
	bool contended;     /* a lock that is free is none of our business */
	uint64_t calls;     /* that are told of, bit by bit; from 0x8000 on all or none */
	uint64_t kinds;     /* of read-write and spin locks, the same */
	uint64_t
	    stack_ns; /* waits this long carry the functions that called; UINT64_MAX: none does */
};
/* Written before main(), by the only thread. */
extern struct pxt_wrap_wishes pxt_wrap_wishes __attribute__((visibility("hidden")));

PXT_WRAP_INLINE bool pxt_wrap_is_own(const void *caller)
{
	return (uintptr_t)caller - pxt_wrap_wishes.own_low < pxt_wrap_wishes.own_size;
}

/* Whether calls of that number are told of: POSIX_TRACE_CALL_..._NP. */
PXT_WRAP_INLINE bool pxt_wrap_wants_call(uint16_t number)
{
	return pxt_wrap_wishes.calls >> (number < 63u ? number : 63u) & 1u;
}

/* Whether locks of that kind are: POSIX_TRACE_KIND_..._NP. */
PXT_WRAP_INLINE bool pxt_wrap_wants_kind(uint8_t kind)
{
	return pxt_wrap_wishes.kinds >> kind & 1u;
}

/* Whether a stream wants @id, and the program called, not the library. */
PXT_WRAP_INLINE bool pxt_wrap_wanted(trace_event_id_t id, const void *caller)
{
	return posix_trace_wanted_np(id) && !pxt_wrap_is_own(caller);
}

PXT_WRAP_INLINE uint64_t pxt_wrap_address(const volatile void *object)
{
	return (uint64_t)(uintptr_t)object;
}

/* ---- Waits (wait.c) ---- */

/* CLOCK_MONOTONIC. */
uint64_t pxt_wait_clock(void) __attribute__((visibility("hidden")));
/* Microseconds since, as events have them. */
PXT_WRAP_INLINE uint32_t pxt_wait_us(uint64_t ns)
{
	return ns / 1000u > UINT32_MAX ? UINT32_MAX : (uint32_t)(ns / 1000u);
}

#define PXT_WAIT_CALLERS 8u
/* The functions that called, innermost first, where @ns is as long as was asked for; returns how many. */
unsigned pxt_wait_callers(uint64_t ns, uint64_t callers[PXT_WAIT_CALLERS])
    __attribute__((visibility("hidden")));

#endif
