/* SPDX-License-Identifier: MIT */
/*
 * slotcas.c - whole slots on x86-64 processors without AVX, which promise nothing about 16-byte
 * vector moves: cmpxchg16b is their only access of that size.
 */
#include "port_atomic.h"

#if defined(__x86_64__) && !PXT_TSAN

#include <cpuid.h>

bool pxt_port_slot_by_cas;

/*
 * AVX in the processor is what its makers tie their promise to; whether the system saves its
 * registers does not matter, the moves are the older 16-byte ones.
 */
__attribute__((constructor)) static void choose_access(void)
{
	unsigned a;
	unsigned b;
	unsigned c;
	unsigned d;

	pxt_port_slot_by_cas = __get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_AVX) == 0;
}

/* Stores @low and @high if *slot holds *seen; else *seen is what it holds. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the instruction writes it */
static bool swap(struct pxt_slot *slot, uint64_t seen[2], uint64_t low, uint64_t high)
{
	bool done;

	__asm__ volatile("lock cmpxchg16b %1\n\tsete %0"
	                 : "=q"(done), "+m"(*slot), "+a"(seen[0]), "+d"(seen[1])
	                 : "b"(low), "c"(high)
	                 : "memory", "cc");
	return done;
}

void pxt_port_slot_store_cas(struct pxt_slot *slot, uint64_t low, uint64_t high)
{
	uint64_t seen[2] = { 0, 0 };

	while (!swap(slot, seen, low, high))
		;
}

/* Writes back what it finds, so @slot must be writable although nothing changes. */
struct pxt_slot pxt_port_slot_load_cas(const struct pxt_slot *slot)
{
	union {
		const struct pxt_slot *read;
		struct pxt_slot *write;
	} access = { .read = slot };
	uint64_t seen[2] = { 0, 0 };

	(void)swap(access.write, seen, 0, 0);
	return (struct pxt_slot){ .word = { (uint32_t)seen[0], (uint32_t)(seen[0] >> 32),
		                      (uint32_t)seen[1], (uint32_t)(seen[1] >> 32) } };
}

#endif
