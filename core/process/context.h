/* SPDX-License-Identifier: MIT */
/* context.h - an event's context: thread, CPU and address, as far as the configuration records them (format/slot.h). */
#ifndef PXT_CONTEXT_H
#define PXT_CONTEXT_H

#include "core/process/threads.h"

#if CONFIG_PTRACE_RECORD_THREAD && CONFIG_PTRACE_RECORD_ADDRESS
PXT_INLINE uint64_t pxt_context(uint32_t index, const void *address)
{
	return (uint64_t)index | (uint64_t)(uintptr_t)address << 16;
}
#elif CONFIG_PTRACE_RECORD_THREAD
PXT_OFF_RETURNS(index, uint64_t, pxt_context, uint32_t index, const void *address);
#elif CONFIG_PTRACE_RECORD_ADDRESS
PXT_OFF_RETURNS(
    (uint64_t)(uintptr_t)address, uint64_t, pxt_context, uint32_t index, const void *address);
#else
PXT_OFF_RETURNS(0, uint64_t, pxt_context, uint32_t index, const void *address);
#endif

#if CONFIG_PTRACE_RECORD_THREAD
/* The thread has no place in the table: its record carries it in full. */
PXT_INLINE bool pxt_context_extra(uint32_t index)
{
	return index == PXT_THREAD_EXTRA;
}

PXT_INLINE uint32_t pxt_context_thread(uint64_t ctx)
{
	return (uint32_t)ctx & 0xffffu;
}

/* The calling thread's pthread_t, and the index; without a place both say its number in the system, too. */
PXT_INLINE uint32_t pxt_context_own(uint32_t index, uint64_t *thread)
{
	*thread = pxt_port_thread();
	return pxt_context_extra(index) ? pxt_extra_pack(thread, pxt_port_tid()) : index;
}
#else
PXT_OFF_RETURNS(false, bool, pxt_context_extra, uint32_t index);
PXT_OFF_RETURNS(PXT_THREAD_NONE, uint32_t, pxt_context_thread, uint64_t ctx);

PXT_INLINE uint32_t pxt_context_own(uint32_t index, uint64_t *thread)
{
	*thread = pxt_port_thread();
	return index;
}
#endif

#if CONFIG_PTRACE_RECORD_ADDRESS && CONFIG_PTRACE_RECORD_THREAD
/* Sign-extended from the bits that are kept: canonical addresses come back whole. */
PXT_INLINE uintptr_t pxt_context_address(uint64_t ctx)
{
	return (uintptr_t)((int64_t)(ctx << (48u - 8u * PXT_ADDRESS_BYTES)) >>
	                   (16u + 48u - 8u * PXT_ADDRESS_BYTES));
}
#elif CONFIG_PTRACE_RECORD_ADDRESS
PXT_INLINE uintptr_t pxt_context_address(uint64_t ctx)
{
	return (uintptr_t)((int64_t)(ctx << (64u - 8u * PXT_ADDRESS_BYTES)) >>
	                   (64u - 8u * PXT_ADDRESS_BYTES));
}
#else
PXT_OFF_RETURNS(0, uintptr_t, pxt_context_address, uint64_t ctx);
#endif

#if CONFIG_PTRACE_RECORD_CPU
PXT_INLINE uint32_t pxt_context_cpu(uint32_t cpu)
{
	return cpu < PXT_CPU_UNKNOWN ? cpu : PXT_CPU_UNKNOWN;
}
#else
PXT_OFF_RETURNS(PXT_CPU_UNKNOWN, uint32_t, pxt_context_cpu, uint32_t cpu);
#endif

#endif
