/* SPDX-License-Identifier: MIT */
/*
 * trap.h - x86-64's trap flag: SIGTRAP after every instruction of the calling thread from here on.
 */
#ifndef CORE_TRAP_H
#define CORE_TRAP_H

#include <stdbool.h>

/* The words below the stack pointer may be the compiler's. */
static inline void trap(bool on)
{
	if (on)
		__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\t"
		                 "popfq\n\tlea 128(%%rsp), %%rsp" ::
		                     : "memory", "cc");
	else
		__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\t"
		                 "popfq\n\tlea 128(%%rsp), %%rsp" ::
		                     : "memory", "cc");
}

#endif
