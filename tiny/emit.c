/* SPDX-License-Identifier: MIT */
/* emit.c - from a trace point into the ring; see tiny.h. */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/record/emit.h"

#include "core/stream/wanted.h"
#include "port_atomic.h"
#include "tiny/tiny.h"

struct pxt_tiny pxt_tiny;
struct pxt_slot pxt_tiny_slots[PXT_TINY_SLOTS];
PXT_API pxt_wanted_mask _pxt_wanted[PXT_ID_COUNT];

void pxt_tiny_drop(void)
{
	pxt_tiny.tail += pxt_info_slots(pxt_tiny_slot(pxt_tiny.tail)->word[0], 0);
	pxt_tiny.held--;
}

/* By words, so that interrupts come soon; a word that begins anywhere is one load where the processor has that. */
static void put_data(uint32_t at, const unsigned char *data, uint32_t bytes)
{
	uint32_t last = 0;
	uint32_t word = 0;

	/* Bound: the words of this record. */
	PXT_BOUND(words, bytes / 4u);
	for (; bytes >= 4u; bytes -= 4u) {
		PXT_ROUND(words);
		*pxt_tiny_word(at, word++) = data[0] | (uint32_t)data[1] << 8 |
		                             (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
		data += 4;
	}
	if (!bytes)
		return;
	/* Bound: the bytes behind the last whole word. */
	PXT_BOUND(rest, 3);
	while (bytes > 0) {
		PXT_ROUND(rest);
		last = last << 8 | data[--bytes];
	}
	*pxt_tiny_word(at, word) = last;
}

/* Interrupts are away. */
static void put(uint32_t info, const unsigned char *data, const void *address)
{
	struct pxt_tiny *tiny = &pxt_tiny;
	uint32_t slots = pxt_info_slots(info, 0);
	uint64_t ticks = pxt_port_ticks();
	struct pxt_slot *begin;

	/* Bound: the slots of this record, each perhaps a record that goes. */
	PXT_BOUND(dropped, slots);
	while (tiny->head + slots - tiny->tail > tiny->mask + 1u) {
		PXT_ROUND(dropped);
		pxt_tiny_drop();
		tiny->lost++;
	}
	begin = pxt_tiny_slot(tiny->head);
	begin->word[0] = info;
	begin->word[1] = pxt_tiny_address(address);
	begin->word[2] = (uint32_t)ticks;
	begin->word[3] = (uint32_t)(ticks >> 32);
	put_data(tiny->head, data, pxt_info_bytes(info));
	tiny->head += slots;
	tiny->held++;
	tiny->written++;
}

void pxt_emit(uint32_t id, const void *data, size_t bytes, const void *address)
{
	uint32_t irq = pxt_irq_save();
	bool cut = bytes > pxt_tiny.max_data;

	/* The wanted table may be after by an interrupt. */
	if (pxt_tiny.running)
		put(pxt_slot_info(
		        id, cut ? pxt_tiny.max_data : (uint32_t)bytes, cut, false, PXT_CPU_UNKNOWN),
		    data, address);
	pxt_irq_restore(irq);
}

void pxt_emit_system(trace_event_id_t id, const void *data, size_t bytes)
{
	if (PXT_UNLIKELY(pxt_wanted_by(id)))
		pxt_emit(id, data, bytes, __builtin_return_address(0));
}
