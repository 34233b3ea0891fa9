/* SPDX-License-Identifier: MIT */
/*
 * aarch64.h - slots by aligned stp and ldp, which LSE2 promises to be whole, with the barriers they
 * lack; without LSE2 by an exclusive pair, chosen at run time by one predictable test.
 */
#ifndef PXT_ARCH_AARCH64_H
#define PXT_ARCH_AARCH64_H

#include "port/posix/arch/whole.h"

#include <stdint.h>

/* Release: the barrier is before the store, for which there is no instruction of that kind. */
PXT_INLINE void pxt_slot_store_plain(struct pxt_slot *slot, uint64_t low, uint64_t high)
{
	pxt_slot_tell_store(slot);
	__asm__ volatile("dmb	ish\n\t"
	                 "stp	%1, %2, [%0]"
	                 :
	                 : "r"(slot), "r"(low), "r"(high)
	                 : "memory");
}

PXT_INLINE void pxt_slot_store(struct pxt_slot *slot, uint64_t low, uint64_t high)
{
	if (PXT_UNLIKELY(pxt_port_slot_by_cas)) {
		pxt_slot_tell_store(slot);
		pxt_port_slot_store_cas(slot, low, high);
	} else {
		pxt_slot_store_plain(slot, low, high);
	}
}

/* Acquire: no later load is done before the barrier. */
PXT_INLINE struct pxt_slot pxt_slot_load(const struct pxt_slot *slot)
{
	uint64_t low;
	uint64_t high;

	if (PXT_UNLIKELY(pxt_port_slot_by_cas)) {
		struct pxt_slot loaded = pxt_port_slot_load_cas(slot);

		pxt_slot_tell_load(slot);
		return loaded;
	}
	__asm__ volatile("ldp	%0, %1, [%2]\n\t"
	                 "dmb	ishld"
	                 : "=&r"(low), "=&r"(high)
	                 : "r"(slot)
	                 : "memory");
	pxt_slot_tell_load(slot);
	return (struct pxt_slot){ .word = { (uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high,
		                      (uint32_t)(high >> 32) } };
}

#include "port/port_pieces.h"

/* ---- The stamp clock ---- */

/*
 * For callers that know that the counter is used, no test: the virtual count, which is at hand in
 * every mode and the same on all processors.
 */
PXT_INLINE uint64_t pxt_port_ticks_plain(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs	%0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

/*
 * Nothing after it starts before older instructions have finished: neither readings nor looks.  The
 * counter waits for no access to memory; the first barrier does, the second holds it back.
 */
PXT_INLINE void pxt_port_ticks_fence(void)
{
	__asm__ volatile("dsb	ish\n\tisb" : : : "memory");
}

/* The cursors first. */
#include "port/posix/cursor.h"

#include "port/port_own.h"

/* Words of a thread are found by their addresses. */
#define PXT_OWN_BY_DISTANCE 0

#endif
