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
	pxt_tiny.tail += pxt_tiny_slots_of(pxt_tiny_slot(pxt_tiny.tail)->word[0]);
	pxt_tiny.held--;
}

/* So often an event is drafted anew because others come first; then interrupts stay away. */
#define DRAFTS 4u

/* Fewer bytes than a word has. */
static uint32_t few(const unsigned char *data, uint32_t bytes)
{
	uint32_t word = 0;

	/* Bound: the bytes behind the last whole word. */
	PXT_BOUND(rest, 3);
	while (bytes > 0) {
		PXT_ROUND(rest);
		word = word << 8 | data[--bytes];
	}
	return word;
}

enum place {
	NOT_RUNNING,
	NO_ROOM,
	ROOM
};

/* Where the next record goes.  Without room the oldest one goes, of which there may be more. */
static enum place find(uint32_t slots, uint32_t *head)
{
	struct pxt_tiny *tiny = &pxt_tiny;
	uint32_t irq = pxt_irq_save();
	enum place place = tiny->running ? ROOM : NOT_RUNNING;

	*head = tiny->head;
	if (place == ROOM && tiny->head + slots - tiny->tail > tiny->mask + 1u) {
		/* Nothing to drop: it is too long for a stream that was created meanwhile. */
		place = tiny->held ? NO_ROOM : NOT_RUNNING;
		if (place == NO_ROOM) {
			pxt_tiny_drop();
			tiny->lost++;
		}
	}
	pxt_irq_restore(irq);
	return place;
}

/* With the last slot the record is there.  False: another one came first, or the stream stopped. */
static bool put_slot(uint32_t head, uint32_t at, uint32_t slots, const uint32_t *word)
{
	struct pxt_tiny *tiny = &pxt_tiny;
	uint32_t irq = pxt_irq_save();
	bool ours = tiny->head == head && tiny->running;

	if (ours) {
		struct pxt_slot *slot = pxt_tiny_slot(head + at);

		slot->word[0] = word[0];
		slot->word[1] = word[1];
		slot->word[2] = word[2];
		slot->word[3] = word[3];
		if (at + 1u == slots) {
			tiny->head = head + slots;
			tiny->held++;
			tiny->written++;
		}
	}
	pxt_irq_restore(irq);
	return ours;
}

/* False: once more. */
static bool draft(uint32_t info, const unsigned char *data, const void *address)
{
	uint32_t slots = pxt_tiny_slots_of(info);
	uint32_t bytes = pxt_info_bytes(info);
	enum place place = NO_ROOM;
	uint32_t word[4];
	uint32_t head;
	uint64_t ticks;

	/* Bound: the slots of this record, each perhaps a record that goes, and one look more. */
	PXT_BOUND(dropped, slots + 1u);
	for (uint32_t i = 0; i <= slots && place == NO_ROOM; i++) {
		PXT_ROUND(dropped);
		place = find(slots, &head);
	}
	if (place != ROOM)
		return place == NOT_RUNNING;
	ticks = pxt_port_ticks();
	word[0] = info;
	word[1] = pxt_tiny_address(address);
	word[2] = (uint32_t)ticks;
	word[3] = (uint32_t)(ticks >> 32);
	/* Bound: the slots of this record. */
	PXT_BOUND(put, slots);
	for (uint32_t at = 0; put_slot(head, at, slots, word); at++) {
		PXT_ROUND(put);
		if (at + 1u == slots)
			return true;
		/* By words: a word that begins anywhere is one load where the processor has that. */
		for (uint32_t i = 0; i < 4u; i++) {
			if (bytes < 4u) {
				word[i] = few(data, bytes);
				break;
			}
			word[i] = data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
			          (uint32_t)data[3] << 24;
			data += 4;
			bytes -= 4u;
		}
	}
	return false;
}

/* Interrupts come so often that the record was never the next one. */
static PXT_NOINLINE void insist(uint32_t info, const unsigned char *data, const void *address)
{
	uint32_t irq = pxt_irq_save();

	(void)draft(info, data, address);
	pxt_irq_restore(irq);
}

/* The wanted table may lag by an interrupt. */
void pxt_emit(uint32_t id, const void *data, size_t bytes, const void *address)
{
	bool cut = bytes > pxt_tiny.max_data;
	uint32_t info = pxt_slot_info(
	    id, cut ? pxt_tiny.max_data : (uint32_t)bytes, cut, false, PXT_CPU_UNKNOWN);
	bool there = false;

	/* Bound: a constant. */
	PXT_BOUND(drafts, DRAFTS);
	for (uint32_t i = 0; i < DRAFTS && !there; i++) {
		PXT_ROUND(drafts);
		there = draft(info, data, address);
	}
	if (!there)
		insist(info, data, address);
}

void pxt_emit_system(trace_event_id_t id, const void *data, size_t bytes)
{
	if (PXT_UNLIKELY(pxt_wanted_by(id)))
		pxt_emit(id, data, bytes, __builtin_return_address(0));
}
