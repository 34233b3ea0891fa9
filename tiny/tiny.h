/* SPDX-License-Identifier: MIT */
/*
 * tiny.h - Trace Core for one processor, one stream and no operating system (CONFIG_PTRACE_TINY).
 *
 * A record is written behind the head slot by slot, interrupts kept away for each, and with its last slot the
 * head moves.  Who finds that the head has moved meanwhile begins anew; so records are never unfinished,
 * never torn and never out of order.  The oldest one is dropped by the writer that needs its room, and a
 * reader takes what it copied only if that is still there.  So there are no tags, no lanes, no thread table.
 *
 *   concurrency     event   take   start, stop, clear   create, shutdown   names_open
 *   any two of these      -       -            -                    -               -
 *   (-: one after the other, by pxt_irq_save(); event may be in interrupt handlers.)
 *
 * A record is a begin slot and, from the next slot on, the data without gaps:
 *
 *   word 0   as word 1 of format/slot.h: identifier, bytes of data, whether it was cut
 *   word 1   program address, where that is recorded and has 32 bits
 *   word 2, 3   stamp
 */
#ifndef PXT_TINY_H
#define PXT_TINY_H

#include "format/ids.h"
#include "format/slot.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <trace.h>

#define PXT_TINY_SLOTS (CONFIG_PTRACE_STATIC_BYTES / PXT_SLOT_BYTES)

struct pxt_tiny {
	trace_id_t trid; /* 0: there is no stream */
	trace_id_t last; /* identifier given out */
	bool running;
	uint32_t mask;     /* slots - 1, a power of two less one */
	uint32_t max_data; /* so that the largest record takes at most half the slots */
	uint32_t head;     /* next free slot; head and tail run freely */
	uint32_t tail;     /* the oldest record */
	uint32_t held;     /* records from tail to head */
	uint64_t written;  /* = retrieved + lost + cleared + held */
	uint64_t retrieved;
	uint64_t lost;
	uint64_t cleared;
	uint64_t lost_read; /* of lost: what was before the event read last */
	uint64_t lost_told; /* of lost: what get_status() has reported */
	uint64_t anchor_ticks;
	struct timespec anchor; /* time of day at anchor_ticks: creation */
	trace_event_id_t type_at;
	struct _pxt_attr attr; /* as given to create; without magic: none were given */
};

extern struct pxt_tiny pxt_tiny;
extern struct pxt_slot pxt_tiny_slots[PXT_TINY_SLOTS];

#if CONFIG_PTRACE_RECORD_ADDRESS && UINTPTR_MAX == 0xffffffff
PXT_INLINE uint32_t pxt_tiny_address(const void *address)
{
	return (uint32_t)(uintptr_t)address;
}
#else
PXT_INLINE uint32_t pxt_tiny_address(const void *address)
{
	(void)address;
	return 0;
}
#endif

PXT_INLINE struct pxt_slot *pxt_tiny_slot(uint32_t at)
{
	return &pxt_tiny_slots[at & pxt_tiny.mask];
}

/* A word of the data of the record that begins at slot @at: its first byte is the lowest. */
PXT_INLINE uint32_t *pxt_tiny_word(uint32_t at, uint32_t word)
{
	return &pxt_tiny_slot(at + 1u + word / 4u)->word[word % 4u];
}

/* Slots of a record.  It has nothing beside its data. */
PXT_INLINE uint32_t pxt_tiny_slots_of(uint32_t info)
{
	return 1u + (pxt_info_bytes(info) + PXT_SLOT_BYTES - 1u) / PXT_SLOT_BYTES;
}

/* Interrupts are away, and there is a record. */
void pxt_tiny_drop(void);
PXT_INLINE bool pxt_tiny_is(trace_id_t trid)
{
	return trid != 0 && trid == pxt_tiny.trid;
}

#endif
