/* SPDX-License-Identifier: MIT */
/* compiler.h - configuration, attributes of functions and data, test points. */
#ifndef PXT_COMPILER_H
#define PXT_COMPILER_H

#include "pxt_config.h" /* CONFIG_PTRACE_*, generated from Kconfig; never installed */

#if CONFIG_PTRACE_LANES_MAX & (CONFIG_PTRACE_LANES_MAX - 1) ||                                     \
    CONFIG_PTRACE_LOG_BLOCK_SIZE & (CONFIG_PTRACE_LOG_BLOCK_SIZE - 1)
#error "CONFIG_PTRACE_LANES_MAX and CONFIG_PTRACE_LOG_BLOCK_SIZE are powers of two"
#endif

#define PXT_LIKELY(x)   __builtin_expect(!!(x), 1)
#define PXT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PXT_NOINLINE    __attribute__((noinline))
#define PXT_COLD        __attribute__((cold, noinline))
#define PXT_UNUSED      __attribute__((unused))

/*
 * Whether the compiler is to save bytes (-Os).  Never on the trace path: files that define
 * PXT_TRACE_PATH before all.
 */
#if defined(__OPTIMIZE_SIZE__) && !defined(PXT_TRACE_PATH)
#define PXT_SMALL 1
#else
#define PXT_SMALL 0
#endif

/*
 * In the caller always, wherever speed is asked for.  Else the compiler chooses; and what many
 * files ask for and is no shorter than a call, headers declare as one function for all.
 */
#if PXT_SMALL
#define PXT_INLINE static inline
#else
#define PXT_INLINE static inline __attribute__((always_inline))
#endif

/* Functions of what is not built, or not needed here: one does nothing, one returns @value, of its parameters. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type and a name cannot stand in parentheses. */
#define PXT_OFF(name, ...) PXT_OFF_RETURNS(, void, name, __VA_ARGS__)
#define PXT_OFF_RETURNS(value, type, name, ...)                                                    \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"")    \
	    PXT_INLINE type                                                                        \
	    name(__VA_ARGS__)                                                                      \
	{                                                                                          \
		return value;                                                                      \
	}                                                                                          \
	_Pragma("GCC diagnostic pop") _Static_assert(1, "")
/* NOLINTEND(bugprone-macro-parentheses) */

/* Calls a function of a table that a unit sets, where it is there. */
#define PXT_IF_THERE(table, call)                                                                  \
	do {                                                                                       \
		__typeof__(table) pxt_there = (table);                                             \
                                                                                                   \
		if (pxt_there)                                                                     \
			pxt_there->call;                                                           \
	} while (0)

/* Public functions; everything else is hidden in the shared libraries. */
#define PXT_API __attribute__((visibility("default")))

/* A function whose name has a size in it, by its plain name: @name is trace.h's _PXT_..._NAME. */
#define PXT_PLAIN_NAME(function, name)                                                             \
	PXT_API extern __typeof__(function) pxt_plain_##function __asm__(#function)                \
	    __attribute__((alias(name(function))))

#if CONFIG_PTRACE_PORT_POSIX
#define PXT_CACHE_LINE 64
#define PXT_PAGE_SHARE 1024
/* A __thread variable reached without a call, so that a signal handler may touch it first. */
#define PXT_TLS        __thread __attribute__((tls_model("initial-exec"), visibility("hidden")))
#else
#define PXT_CACHE_LINE 16
#define PXT_PAGE_SHARE 16
#define PXT_TLS
#endif

#define PXT_ALIGNED(n) __attribute__((aligned(n)))

/*
 * A table, zero at first, that most processes do not touch or touch at one end.  A shared library has them behind all
 * others (cmake/seldom.ld): so what each start writes lies on two pages, and not between them on seven.
 */
#if CONFIG_PTRACE_PORT_POSIX
#define PXT_SELDOM __attribute__((section(".bss.pxt_seldom")))
#define PXT_WIPED  __attribute__((section(".bss.pxt_wiped")))
#else
#define PXT_SELDOM
#define PXT_WIPED
#endif

/*
 * A function of the trace path begins with a line of its own: no more lines than it needs.  The
 * linker puts such functions beside one another: no more pages.
 */
#define PXT_OWN_LINE PXT_ALIGNED(PXT_CACHE_LINE) __attribute__((hot))
/* The longest of them: it and the one that the linker puts after it are on one page. */
#define PXT_OWN_PAGE PXT_ALIGNED(PXT_PAGE_SHARE) __attribute__((hot))

/* What @value is made of is not needed after this: the compiler works it out now. */
#define PXT_NOW(value) __asm__("" : "+r"(value))

/*
 * A test point marks a place after which other threads can see something new.  Off, it is
 * nothing; on, it calls a hook that plays the interrupt, the reader or the killer.
 */
#if CONFIG_PTRACE_TESTPOINTS
#include <stdatomic.h>
/* Tests set it while threads of the library run. */
extern void (*_Atomic pxt_testpoint_hook)(int point);
static inline void pxt_testpoint(int point)
{
	void (*hook)(int) = atomic_load_explicit(&pxt_testpoint_hook, memory_order_acquire);

	if (hook)
		hook(point);
}
#define PXT_TESTPOINT(point) pxt_testpoint(point)
#else
#define PXT_TESTPOINT(point) ((void)0)
#endif

/* Our own mistakes only, never a caller's. */
#if CONFIG_PTRACE_TESTPOINTS
#define PXT_ASSERT(x)                                                                              \
	do {                                                                                       \
		if (!(x))                                                                          \
			__builtin_trap();                                                          \
	} while (0)
#else
#define PXT_ASSERT(x) ((void)0)
#endif

/*
 * A loop on the trace path has a bound: PXT_BOUND() before the loop says how many rounds there can
 * be, PXT_ROUND() opens its body, and with assertions one round too many ends the program.
 * scripts/check-loops.py looks for all three: these two, and the bound in a comment.
 */
#if CONFIG_PTRACE_TESTPOINTS
#define PXT_BOUND(name, rounds) unsigned long long pxt_rounds_##name = (rounds)
#define PXT_ROUND(name)         PXT_ASSERT(pxt_rounds_##name-- != 0)
#else
#define PXT_BOUND(name, rounds) _Static_assert(1, "nothing is counted")
#define PXT_ROUND(name)         ((void)0)
#endif

#endif
