/* SPDX-License-Identifier: MIT */
/*
 * slot.h - what a record is made of, in ring and log: 16-byte slots with type, length, cut, CPU and stamp,
 * its context, and 12 bytes more of a thread that has no place in the table.
 *
 * A record is a begin slot and the continuation slots after it:
 *
 *            begin slot                                continuation slot
 *   word 0   [31] 1  [30:0] tag                        [31] 0  [30:0] tag
 *   word 1   [9:0] id [21:10] bytes of data            payload bytes 0..3
 *            [22] data was cut  [23] extra thread
 *            bytes  [31:24] CPU
 *   word 2   stamp, low half                           payload bytes 4..7
 *   word 3   stamp, high half                          payload bytes 8..11
 *
 * The payload is the context (PXT_CTX_BYTES, see below), then the data, exact to the byte, then
 * zeros up to the end of the slot.  The begin slot alone says how many slots belong to it.
 *
 * Context, little-endian bits of one number of PXT_CTX_BYTES bytes:
 *   thread and address   8 bytes: [15:0] thread index, [63:16] address (sign-extended from 48)
 *                        (6 bytes and [47:16] where pointers have 32 bits)
 *   thread only          2 bytes; address only: 6 bytes (4 with 32-bit pointers); neither: 0
 * Bit 23 of word 1: the thread has no place in the table, and 12 more bytes, one slot's worth, follow
 * the context: pthread_t (8), pid (4), both little-endian.  Its number in the system (tid) is there, too:
 * tid % 65535 in place of the index, tid / 65535 in bits [63:57] of the pthread_t, where no address has
 * any.  Index PXT_THREAD_EXTRA: that number is not known.
 *
 * In the ring, tag = lap and event number (core/ring/ring.h); in a log it is 0.
 */
#ifndef PXT_SLOT_H
#define PXT_SLOT_H

#include "format/compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct pxt_slot {
	uint32_t word[4];
} PXT_ALIGNED(16);

_Static_assert(sizeof(struct pxt_slot) == 16, "a slot has 16 bytes");

/* The same as two numbers, for registers: words 0 and 1, words 2 and 3 (the stamp). */
struct pxt_halves {
	uint64_t low;
	uint64_t high;
};

#define PXT_SLOT_BYTES         16u
#define PXT_SLOT_BEGIN         0x80000000u
#define PXT_DATA_MAX           4095u
#define PXT_CPU_UNKNOWN        255u /* not recorded, or a number above 254 */
#define PXT_THREAD_NONE        0u /* no thread recorded: index 0 of the table is never given out */
#define PXT_THREAD_EXTRA       0xffffu
#define PXT_THREAD_EXTRA_BYTES 12u
#define PXT_THREAD_TID_SHIFT   57u

#if UINTPTR_MAX > 0xffffffffu
#define PXT_ADDRESS_BYTES 6u
#else
#define PXT_ADDRESS_BYTES 4u
#endif

/* A tiny Core's slots have no tags, and its begin slots hold the context (tiny/tiny.h). */
#if CONFIG_PTRACE_TINY
#define PXT_SLOT_PAYLOAD 16u
#else
#define PXT_SLOT_PAYLOAD 12u
#endif

/* Of a record in a log. */
#if CONFIG_PTRACE_RECORD_THREAD
#define PXT_LOG_THREAD_CTX 2u
#else
#define PXT_LOG_THREAD_CTX 0u
#endif
#if CONFIG_PTRACE_RECORD_ADDRESS
#define PXT_LOG_CTX_BYTES (PXT_LOG_THREAD_CTX + PXT_ADDRESS_BYTES)
#else
#define PXT_LOG_CTX_BYTES PXT_LOG_THREAD_CTX
#endif
/* And in a ring. */
#if CONFIG_PTRACE_TINY
#define PXT_CTX_BYTES 0u
#else
#define PXT_CTX_BYTES PXT_LOG_CTX_BYTES
#endif

/* Slots of a record with @payload bytes of context and data together. */
PXT_INLINE uint32_t pxt_slots_for(uint32_t payload)
{
	return 1u + (payload + PXT_SLOT_PAYLOAD - 1u) / PXT_SLOT_PAYLOAD;
}

PXT_INLINE uint32_t pxt_slot_info(uint32_t id, uint32_t bytes, bool cut, bool extra, uint32_t cpu)
{
	return id | bytes << 10 | (uint32_t)cut << 22 | (uint32_t)extra << 23 | cpu << 24;
}

PXT_INLINE uint32_t pxt_info_id(uint32_t info)
{
	return info & 0x3ffu;
}

PXT_INLINE uint32_t pxt_info_bytes(uint32_t info)
{
	return info >> 10 & 0xfffu;
}

PXT_INLINE bool pxt_info_cut(uint32_t info)
{
	return (info >> 22 & 1u) != 0;
}

PXT_INLINE bool pxt_info_extra(uint32_t info)
{
	return (info >> 23 & 1u) != 0;
}

/* Puts @tid into *thread and the index, which is returned; PXT_THREAD_EXTRA: it is not known, or has no room. */
PXT_INLINE uint32_t pxt_extra_pack(uint64_t *thread, int32_t tid)
{
	const uint64_t high = (uint32_t)tid / PXT_THREAD_EXTRA;

	if (tid <= 0 || *thread >> PXT_THREAD_TID_SHIFT || high >> (64u - PXT_THREAD_TID_SHIFT))
		return PXT_THREAD_EXTRA;
	*thread |= high << PXT_THREAD_TID_SHIFT;
	return (uint32_t)tid % PXT_THREAD_EXTRA;
}

/* The other way round: *thread is a pthread_t then.  Returns the tid; 0: not known. */
PXT_INLINE int32_t pxt_extra_unpack(uint64_t *thread, uint32_t index)
{
	const uint64_t high = *thread >> PXT_THREAD_TID_SHIFT;

	if (index == PXT_THREAD_EXTRA)
		return 0;
	*thread &= (UINT64_C(1) << PXT_THREAD_TID_SHIFT) - 1u;
	return (int32_t)((uint32_t)high * PXT_THREAD_EXTRA + index);
}

PXT_INLINE uint32_t pxt_info_cpu(uint32_t info)
{
	return info >> 24;
}

/* Slots of the record that begins with @info, in a stream whose context has @ctx bytes. */
PXT_INLINE uint32_t pxt_info_slots_here(uint32_t info, uint32_t ctx)
{
	return pxt_slots_for(
	    ctx + (pxt_info_extra(info) ? PXT_THREAD_EXTRA_BYTES : 0u) + pxt_info_bytes(info));
}

#if PXT_SMALL
uint32_t pxt_info_slots(uint32_t info, uint32_t ctx);
#else
PXT_INLINE uint32_t pxt_info_slots(uint32_t info, uint32_t ctx)
{
	return pxt_info_slots_here(info, ctx);
}
#endif

PXT_INLINE struct pxt_halves pxt_slot_halves(const struct pxt_slot *slot)
{
	return (struct pxt_halves){ (uint64_t)slot->word[1] << 32 | slot->word[0],
		(uint64_t)slot->word[3] << 32 | slot->word[2] };
}

PXT_INLINE struct pxt_slot pxt_slot_of(struct pxt_halves halves)
{
	return (struct pxt_slot){ .word = { (uint32_t)halves.low, (uint32_t)(halves.low >> 32),
		                      (uint32_t)halves.high, (uint32_t)(halves.high >> 32) } };
}

PXT_INLINE uint64_t pxt_slot_ticks(const struct pxt_slot *slot)
{
	return (uint64_t)slot->word[3] << 32 | slot->word[2];
}

#endif
