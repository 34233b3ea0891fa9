/* SPDX-License-Identifier: MIT */
/*
 * slotcas.c - whole slots on processors that promise nothing about plain 16-byte accesses: on
 * x86-64 without AVX only cmpxchg16b is one, on AArch64 without LSE2 the exclusive pair.
 */
#include "port_atomic.h"

/* A writer's tries: others stored into the slot meanwhile, or an interrupt came. */
#define STORE_TRIES 64u

#if defined(__x86_64__)

#include <cpuid.h>

bool pxt_port_slot_by_cas;

/*
 * AVX in the processor is what its makers tie their promise to; whether the system saves its
 * registers does not matter, the moves are the older 16-byte ones.
 */
static bool has_avx(void)
{
	unsigned a;
	unsigned b;
	unsigned c;
	unsigned d;

	return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_AVX) != 0;
}

#if defined(__has_include)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#pragma weak __x86_get_cpuid_feature_leaf
#define LOADER_HAS_ASKED 1
#endif
#endif

__attribute__((constructor(101))) static void choose_access(void)
{
#ifdef LOADER_HAS_ASKED
	/* It keeps the answers: the instruction may cost a virtual machine 20 us each time. */
	if (__x86_get_cpuid_feature_leaf) {
		pxt_port_slot_by_cas =
		    (__x86_get_cpuid_feature_leaf(CPUID_INDEX_1)->cpuid_array[2] & bit_AVX) == 0;
		return;
	}
#endif
	pxt_port_slot_by_cas = !has_avx();
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

/*
 * A failed exchange means that another writer stored into the slot meanwhile: one that is a lap
 * ahead, or was held up for a lap.  Should so many of them come between two instructions that the
 * rounds do not suffice, the slot stays as it is: the record is unfinished, and counted lost.
 */
void pxt_port_slot_store_cas(struct pxt_slot *slot, uint64_t low, uint64_t high)
{
	uint64_t seen[2] = { 0, 0 };

	/* The first try only looks. */
	for (unsigned i = 0; i < STORE_TRIES; i++) {
		if (swap(slot, seen, low, high))
			return;
	}
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

#if PXT_SMALL
struct pxt_halves pxt_slot_load_halves(const struct pxt_slot *slot)
{
	return pxt_slot_load_here(slot);
}
#endif

#elif defined(__aarch64__)

#include <sys/auxv.h>

#ifndef HWCAP_USCAT
#define HWCAP_USCAT (1ul << 25)
#endif

bool pxt_port_slot_by_cas;

/* USCAT is the system's word for LSE2, of which aligned pairs in one access are a part. */
__attribute__((constructor(101))) static void choose_access(void)
{
	pxt_port_slot_by_cas = (getauxval(AT_HWCAP) & HWCAP_USCAT) == 0;
}

/*
 * The store-exclusive fails when another processor touched the slot, or an interrupt came, in the
 * few instructions before it.  As above: what no try could store is an unfinished record.
 */
void pxt_port_slot_store_cas(struct pxt_slot *slot, uint64_t low, uint64_t high)
{
	for (unsigned i = 0; i < STORE_TRIES; i++) {
		uint64_t old_low;
		uint64_t old_high;
		uint32_t failed;

		__asm__ volatile("ldxp	%0, %1, [%3]\n\t"
		                 "stlxp	%w2, %4, %5, [%3]"
		                 : "=&r"(old_low), "=&r"(old_high), "=&r"(failed)
		                 : "r"(slot), "r"(low), "r"(high)
		                 : "memory");
		if (!failed)
			return;
	}
}

/*
 * The pair was read at one moment only if the store-exclusive that puts it back succeeds.  A
 * reader's: it may try for as long as writers of all processors keep touching this one slot.
 */
struct pxt_slot pxt_port_slot_load_cas(const struct pxt_slot *slot)
{
	uint64_t low;
	uint64_t high;
	uint32_t failed;

	__asm__ volatile("1:	ldaxp	%0, %1, [%3]\n"
	                 "	stxp	%w2, %0, %1, [%3]\n"
	                 "	cbnz	%w2, 1b"
	                 : "=&r"(low), "=&r"(high), "=&r"(failed)
	                 : "r"(slot)
	                 : "memory");
	return (struct pxt_slot){ .word = { (uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high,
		                      (uint32_t)(high >> 32) } };
}

#endif
