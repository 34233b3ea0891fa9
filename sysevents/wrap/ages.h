/* SPDX-License-Identifier: MIT */
/*
 * ages.h - functions that the C library has in two ages.
 *
 * glibc on x86-64 keeps some functions as they were years ago for programs that were linked then: their names
 * carry another version, and their objects may be others.  A program that asks for these must get at these
 * behind the wrapper, too.  So wrappers of both ages are exported, each under its version (preload.map),
 * and each finds the real one of that version.
 */
#ifndef PXT_WRAP_AGES_H
#define PXT_WRAP_AGES_H

#include "sysevents/wrap/wrap.h"

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

#endif
