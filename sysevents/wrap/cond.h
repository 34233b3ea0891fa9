/* SPDX-License-Identifier: MIT */
/*
 * cond.h - condition variables of two ages.
 *
 * glibc on x86-64 has functions for those of before 2003, whose names carry another version.  A
 * program that asks for these must get at these behind the wrapper, too.  So wrappers of both ages
 * are exported, each under its version, and each finds the real one of that version.
 */
#ifndef PXT_WRAP_COND_H
#define PXT_WRAP_COND_H

#include "sysevents/wrap/wrap.h"

#include <pthread.h>

#if defined(__GLIBC__) && defined(__x86_64__) && defined(__LP64__) && !PXT_WRAP_BY_LINKER
#define PXT_COND_AGES   1
#define PXT_COND_NOW    "GLIBC_2.3.2"
#define PXT_COND_FORMER "GLIBC_2.2.5"

#define PXT_COND_REAL(name)                                                                        \
	extern __typeof__(name) pxt_now_##name;                                                    \
	extern __typeof__(name) pxt_former_##name;                                                 \
	__asm__(".symver pxt_now_" #name "," #name "@@@" PXT_COND_NOW);                            \
	__asm__(".symver pxt_former_" #name "," #name "@" PXT_COND_FORMER);                        \
	static __typeof__(&name) former_##name;                                                    \
	PXT_WRAP_INLINE __typeof__(&name) find_former_##name(void)                                 \
	{                                                                                          \
		__typeof__(&name) found = __atomic_load_n(&former_##name, __ATOMIC_RELAXED);       \
                                                                                                   \
		if (!PXT_WRAP_LIKELY(found)) {                                                     \
			found = (__typeof__(&name))pxt_real_find(#name, PXT_COND_FORMER);          \
			__atomic_store_n(&former_##name, found, __ATOMIC_RELAXED);                 \
		}                                                                                  \
		return found;                                                                      \
	}                                                                                          \
	PXT_WRAP_REAL_OF(name, PXT_COND_NOW)
#define PXT_COND_NAME(name)        pxt_now_##name
#define PXT_COND_CALL(name)        find_##name()
#define PXT_COND_FORMER_NAME(name) pxt_former_##name
#define PXT_COND_FORMER_CALL(name) find_former_##name()
#else
#define PXT_COND_AGES       0
#define PXT_COND_REAL(name) PXT_WRAP_REAL(name)
#define PXT_COND_NAME(name) PXT_WRAP_NAME(name)
#define PXT_COND_CALL(name) PXT_WRAP_CALL(name)
#endif

#endif
