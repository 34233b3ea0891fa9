/* SPDX-License-Identifier: MIT */
/* cpuword.h - the number of the CPU on which the calling thread runs, as the kernel keeps it. */
#ifndef PXT_CPUWORD_H
#define PXT_CPUWORD_H

#include "format/compiler.h"

#include <stddef.h>
#include <stdint.h>

#if defined(__GLIBC__) && defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define PXT_HAVE_RSEQ 1
#endif
#endif
#ifndef PXT_HAVE_RSEQ
#define PXT_HAVE_RSEQ 0
#endif

#if PXT_HAVE_RSEQ
/* Where the kernel keeps the number of the CPU the calling thread runs on; NULL: nowhere. */
PXT_INLINE const volatile uint32_t *pxt_port_cpu_word(void)
{
	const struct rseq *area =
	    (const void *)((const char *)__builtin_thread_pointer() + __rseq_offset);

	return __rseq_size ? (const volatile uint32_t *)&area->cpu_id : NULL;
}
#else
PXT_INLINE const volatile uint32_t *pxt_port_cpu_word(void)
{
	return NULL;
}
#endif

#endif
