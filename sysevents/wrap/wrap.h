/* SPDX-License-Identifier: MIT */
/*
 * wrap.h - what all wrappers of C-library functions have in common, and whose call it
 * is: the program's or the library's own.
 *
 * One source is compiled for two doors.  The preload library defines the C library's names and finds
 * the real functions behind itself (real.c).  The archive for the linker defines __wrap_NAME and calls
 * __real_NAME; the linker's --wrap=NAME joins them.
 *
 *   concurrency: any thread, signal handlers, before the first constructor and after the last destructor.
 *
 * A wrapper does what the real function does: result, errno, cancellation.  It takes no lock, allocates
 * nothing, and keeps nothing across the real call but its own frame.  A thread that is cancelled in the
 * real call leaves nothing behind, but for the event that tells the end of that call, with ECANCELED:
 * that is a variable's clean-up, which compilers make part of unwinding.  What the library itself calls is
 * passed through (pxt_wrap_is_own()).
 */
#ifndef PXT_WRAP_H
#define PXT_WRAP_H

#include "format/programkind.h"

#include <errno.h>
#include <trace_hooks_np.h>

#define PXT_WRAP_INLINE    static inline __attribute__((always_inline, unused))
#define PXT_WRAP_EXPORT    __attribute__((visibility("default")))
/* Another file's of this library: reached without the table of the linker. */
#define PXT_WRAP_HIDDEN    __attribute__((visibility("hidden")))
#define PXT_WRAP_LIKELY(x) __builtin_expect(!!(x), 1)
/* Where the wrapped function was called: the place of the event. */
#define PXT_WRAP_CALLER()  __builtin_return_address(0)

/* Groups of wrappers (sysevents/CMakeLists.txt): one that is off leaves none. */
#define PXT_GROUP_THREAD      CONFIG_PTRACE_SYSEV_THREAD
#define PXT_GROUP_SYSTEM_CALL CONFIG_PTRACE_SYSEV_SYSTEM_CALL
#define PXT_GROUP_SLEEP       CONFIG_PTRACE_SYSEV_SLEEP
#define PXT_GROUP_FILE_IO     CONFIG_PTRACE_SYSEV_FILE_IO

/*
 * On a 32-bit machine a program chooses how long a time is, and the C library has a function for each length: so
 * does this one: the other names are not those that such a program writes, the C library's headers put them in their
 * place.  PXT_TIMES(WRAPPER, TYPE, NAME, NAME64) makes a wrapper of each, by WRAPPER(NAME, structure).
 */
#if PXT_TIMES_TWO
struct pxt_timespec64 {
	int64_t tv_sec;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	int32_t unused;
	int32_t tv_nsec;
#else
	int32_t tv_nsec;
	int32_t unused;
#endif
};

struct pxt_itimerspec64 {
	struct pxt_timespec64 it_interval;
	struct pxt_timespec64 it_value;
};

struct pxt_timeval64 {
	int64_t tv_sec;
	int64_t tv_usec;
};

struct pxt_itimerval64 {
	struct pxt_timeval64 it_interval;
	struct pxt_timeval64 it_value;
};

struct pxt_rusage64; /* is only handed on */

#define PXT_TIMES(wrapper, type, name, name64)                                                     \
	wrapper(name, struct type);                                                                \
	wrapper(name64, struct pxt_##type##64)
#else
#define PXT_TIMES(wrapper, type, name, name64) wrapper(name, struct type)
#endif

#if PXT_WRAP_BY_LINKER
#define PXT_WRAP_REAL(name)                                                                        \
	extern __typeof__(name) __real_##name;                                                     \
	extern __typeof__(name) __wrap_##name
#define PXT_WRAP_REAL_OF(name, version)               PXT_WRAP_REAL(name)
#define PXT_WRAP_REAL_FAST(name, parameter, argument) PXT_WRAP_REAL(name)
#define PXT_WRAP_NAME(name)                           __wrap_##name
#define PXT_WRAP_SYMBOL(name)                         "__wrap_" name
#define PXT_WRAP_CALL(name)                           __real_##name
#else
typedef void (*pxt_real_function)(void);

/* The calling thread looks for one. */
extern PXT_TLS bool pxt_real_looks;
/* Finds the function behind a wrapper, of the age that is given ("": the present one), and keeps it in *known. */
pxt_real_function pxt_real_find(pxt_real_function *known, const char *name,
    const char *version) PXT_WRAP_HIDDEN __attribute__((cold));

/* NULL: not found yet.  The names lie in the code: a table of them would be relocated in each process. */
#define PXT_WRAP_REAL_AS(symbol, name, version)                                                    \
	static pxt_real_function real_##symbol;                                                    \
	PXT_WRAP_INLINE __typeof__(&name) find_##symbol(void)                                      \
	{                                                                                          \
		pxt_real_function found = __atomic_load_n(&real_##symbol, __ATOMIC_RELAXED);       \
                                                                                                   \
		if (!PXT_WRAP_LIKELY(found))                                                       \
			found = pxt_real_find(&real_##symbol, #name, version);                     \
		return (__typeof__(&name))(uintptr_t)found;                                        \
	}                                                                                          \
	_Static_assert(1, "")
/* Of one argument, returning a number, and called often: what looks for it stands in its place until then. */
#define PXT_WRAP_REAL_FAST(name, parameter, argument)                                              \
	static int first_##name(parameter);                                                        \
	static pxt_real_function real_##name = (pxt_real_function)first_##name;                    \
	PXT_WRAP_INLINE __typeof__(&name) find_##name(void)                                        \
	{                                                                                          \
		return (__typeof__(&name))__atomic_load_n(&real_##name, __ATOMIC_RELAXED);         \
	}                                                                                          \
	static __attribute__((cold, noinline)) int first_##name(parameter)                         \
	{                                                                                          \
		(void)pxt_real_find(&real_##name, #name, "");                                      \
		return find_##name()(argument);                                                    \
	}                                                                                          \
	_Static_assert(1, "")
#define PXT_WRAP_REAL_OF(name, version) PXT_WRAP_REAL_AS(name, name, version)
#define PXT_WRAP_REAL(name)             PXT_WRAP_REAL_OF(name, "")
#define PXT_WRAP_NAME(name)             name
#define PXT_WRAP_SYMBOL(name)           name
#define PXT_WRAP_CALL(name)             find_##name()
#endif

/* Of a function that the C library's headers may declare or not: with the type that it has here. */
#pragma GCC diagnostic ignored "-Wredundant-decls"
#define PXT_WRAP_REAL_TYPED(type, name, parameters)                                                \
	extern type name parameters;                                                               \
	PXT_WRAP_REAL(name)
/* Its wrapper; the block follows. */
#define PXT_WRAPPER(type, name, parameters)                                                        \
	PXT_WRAP_REAL_TYPED(type, name, parameters);                                               \
	PXT_WRAP_EXPORT type PXT_WRAP_NAME(name) parameters

/* The C library's clock_gettime(), also where another library's stands before it (real.c). */
extern int (*pxt_real_gettime)(clockid_t clock, struct timespec *time) PXT_WRAP_HIDDEN;
/* Where a library's parts lie that are mapped with all @flags, as it was linked; none: the low end is above. */
struct pxt_real_extent {
	uintptr_t low;
	uintptr_t high;
};
struct dl_phdr_info;
struct pxt_real_extent pxt_real_extent(
    const struct dl_phdr_info *info, uint32_t flags) PXT_WRAP_HIDDEN;

/* ---- What is asked for (real.c) ---- */

/* Code, as a piece of memory; 0 bytes: not known. */
struct pxt_wrap_code {
	uintptr_t low;
	uintptr_t bytes;
};

struct pxt_wrap_wishes {
	/* Of libptrace and of this library: what it calls is not the program's. */
	struct pxt_wrap_code own[2];
	struct pxt_programkind kind; /* of what this library can be loaded into */
	int pid;        /* whose memory this is: a child of vfork() has another number */
	unsigned user;  /* whose recorder it is: effective, at the begin */
	uint64_t calls; /* that are recorded, bit by bit; from 0x8000 on all or none */
	uint64_t kinds; /* of read-write and spin locks, the same */
	/* Waits this long carry the functions that called, or a few of them; UINT64_MAX: none does. */
	uint64_t stack_ns;
	bool stack_few;
	bool
	    stack_quiet; /* no system call is made for them: the program may have none but its own */
};
/* Written before main(), by the only thread, but for what a filter changes. */
extern struct pxt_wrap_wishes pxt_wrap_wishes PXT_WRAP_HIDDEN;

#if PXT_WRAP_BY_LINKER
/*
 * Nobody knows where the code of the library is that was linked into the same program: it says so itself
 * (sysevents/exclude.h).  A shared one has not got its calls wrapped.
 */
extern bool pxt_exclude_now(void) __attribute__((weak));

PXT_WRAP_INLINE bool pxt_wrap_is_own(const void *caller)
{
	(void)caller;
	return pxt_exclude_now && pxt_exclude_now();
}
#else
PXT_WRAP_INLINE bool pxt_wrap_is_own(const void *caller)
{
	const struct pxt_wrap_code *own = pxt_wrap_wishes.own;

	return (uintptr_t)caller - own[0].low < own[0].bytes ||
	       (uintptr_t)caller - own[1].low < own[1].bytes;
}
#endif

/* Whether calls of that number are recorded: POSIX_TRACE_CALL_..._NP. */
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

/* The same of locks, which the library does not use. */
PXT_WRAP_INLINE bool pxt_wrap_wanted_lock(trace_event_id_t id)
{
	return posix_trace_wanted_np(id) != 0;
}

/* A limit by another clock is refused, also where the lock is free: such a lock is not tried first. */
PXT_WRAP_INLINE bool pxt_wrap_takes_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

PXT_WRAP_INLINE uint64_t pxt_wrap_address(const volatile void *object)
{
	return (uint64_t)(uintptr_t)object;
}

/* ---- Waits (wait.c) ---- */

/* CLOCK_MONOTONIC, the kernel's: a library that gives the program another time is not asked. */
uint64_t pxt_wait_clock(void) PXT_WRAP_HIDDEN;
/* Microseconds since, as events have them: at least 1, since 0 says that there was no wait. */
PXT_WRAP_INLINE uint32_t pxt_wait_us(uint64_t ns)
{
	uint64_t us = ns / 1000u;

	return us > UINT32_MAX ? UINT32_MAX : us ? (uint32_t)us : 1u;
}

/*
 * How long a wait will last at most, in nanoseconds from now on, as events have it: of a time and of a date.
 * Less than 0: the date has passed.  What does not fit is the largest number.  A date by a clock that runs with
 * the CPU has no such number, as there is none without a system call.  Both leave errno alone.  The macros take
 * structures of any length, or NULL.
 */
#define PXT_WAIT_NO_LIMIT INT64_MIN
int64_t pxt_wait_ns(int64_t seconds, int64_t ns) PXT_WRAP_HIDDEN;
int64_t pxt_wait_until(clockid_t clock, int64_t seconds, int64_t ns) PXT_WRAP_HIDDEN;
#define PXT_WAIT_NS(time)                                                                          \
	((time) ? pxt_wait_ns((time)->tv_sec, (time)->tv_nsec) : PXT_WAIT_NO_LIMIT)
#define PXT_WAIT_UNTIL(clock, date)                                                                \
	((date) ? pxt_wait_until(clock, (date)->tv_sec, (date)->tv_nsec) : PXT_WAIT_NO_LIMIT)

#define PXT_WAIT_CALLERS 8u
/* Without being asked for, waits of a millisecond carry a few: beside it finding them is next to nothing. */
#define PXT_WAIT_FEW     3u
#define PXT_WAIT_FEW_NS  UINT64_C(1000000)
/*
 * Where @ns is as long as was asked for: the functions that called what called at @caller, innermost
 * first.  Returns how many.  Leaves errno alone.
 */
unsigned pxt_wait_callers(
    uint64_t ns, const void *caller, uint64_t callers[PXT_WAIT_CALLERS]) PXT_WRAP_HIDDEN;

#endif
