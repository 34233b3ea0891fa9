/* SPDX-License-Identifier: MIT */
/*
 * names.h - functions with more than one name: of two ages, and C11's.
 *
 * glibc on x86-64 keeps some functions as they were years ago for programs that were linked then: their names
 * carry another version, and their objects may be others.  A program that asks for these must get at these
 * behind the wrapper, too.  So wrappers of both ages are exported, each under its version (preload.map),
 * and each finds the real one of that version.
 *
 * The locks and threads of C11 (<threads.h>) are POSIX's under other names.  The C library's mtx_lock() does
 * not come by pthread_mutex_lock(), so it has a wrapper of its own.  Where that tells something, it does what
 * the C library does: POSIX's function on the same object, and its error in C11's words.
 */
#ifndef PXT_WRAP_NAMES_H
#define PXT_WRAP_NAMES_H

#include "sysevents/wrap/wrap.h"

#include <pthread.h>
#include <threads.h>

/* ---- Of two ages ---- */

#if defined(__GLIBC__) && defined(__x86_64__) && defined(__LP64__) && !PXT_WRAP_BY_LINKER
#define PXT_AGES_TWO    1
#define PXT_AGES_FORMER "GLIBC_2.2.5"

#define PXT_AGES(name, version)                                                                    \
	extern __typeof__(name) pxt_now_##name;                                                    \
	extern __typeof__(name) pxt_former_##name;                                                 \
	__asm__(".symver pxt_now_" #name "," #name "@@@" version);                                 \
	__asm__(".symver pxt_former_" #name "," #name "@" PXT_AGES_FORMER);                        \
	PXT_WRAP_REAL_AS(former_##name, name, PXT_AGES_FORMER);                                    \
	PXT_WRAP_REAL_OF(name, version)
#define PXT_AGES_NAME(name)        pxt_now_##name
#define PXT_AGES_FORMER_NAME(name) pxt_former_##name
#define PXT_AGES_FORMER_CALL(name) find_former_##name()
#else
#define PXT_AGES_TWO            0
#define PXT_AGES(name, version) PXT_WRAP_REAL(name)
#define PXT_AGES_NAME(name)     PXT_WRAP_NAME(name)
#endif

/* ---- C11's ---- */

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "glibc and musl have one kind of mutex");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "and one kind of condition variable");

/* An error number of POSIX's. */
PXT_WRAP_INLINE int pxt_c11_result(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ENOMEM:
		return thrd_nomem;
	case ETIMEDOUT:
		return thrd_timedout;
	default:
		return thrd_error;
	}
}

PXT_WRAP_INLINE pthread_mutex_t *pxt_c11_mutex(mtx_t *mutex)
{
	return (pthread_mutex_t *)(void *)mutex;
}

PXT_WRAP_INLINE pthread_cond_t *pxt_c11_cond(cnd_t *cond)
{
	return (pthread_cond_t *)(void *)cond;
}

#endif
