/* SPDX-License-Identifier: MIT */
/* emit.c - from a trace point into the ring, and out of it; see tiny.h. */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/record/emit.h"

#include "core/stream/wanted.h"
#include "port_atomic.h"
#include "tiny/tiny.h"

struct pxt_tiny pxt_tiny;
struct pxt_slot pxt_tiny_slots[PXT_TINY_SLOTS];
PXT_API pxt_wanted_mask _pxt_wanted[PXT_ID_COUNT];

/* Interrupts are away, and there is a record. */
PXT_INLINE void drop(void)
{
	pxt_tiny.tail += pxt_tiny_slots_of(pxt_tiny_slot(pxt_tiny.tail)->word[0]);
	pxt_tiny.counts.gone++;
}

/* So often an event is drafted anew because others come first; then interrupts stay away. */
#define DRAFTS 4u

/* A word that begins anywhere is one load where the processor has that. */
PXT_INLINE uint32_t whole(const unsigned char *data)
{
	return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

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

/* Drops the oldest record.  False: another event came first. */
PXT_INLINE bool make_room(uint32_t head)
{
	struct pxt_tiny *tiny = &pxt_tiny;
	uint32_t irq = pxt_irq_save();
	bool ours = tiny->head == head;

	/* A stream has room for the longest record: without room there is another one. */
	if (ours)
		drop();
	pxt_irq_restore(irq);
	return ours;
}

/* Two slots at a time: interrupts are away for 40 instructions at most (boards/programs/cost.c). */
#define AT_ONCE 2u
#define WORDS   4u /* of a slot */

/* With the last slot the record is there.  False: another one came first, or the stream stopped. */
PXT_INLINE bool put_slots(uint32_t head, uint32_t at, uint32_t slots, const uint32_t *word)
{
	struct pxt_tiny *tiny = &pxt_tiny;
	struct pxt_slot *first = pxt_tiny_slot(head + at);
	struct pxt_slot *second = pxt_tiny_slot(head + at + 1u);
	uint32_t irq = pxt_irq_save();
	bool ours = tiny->head == head && tiny->running;

	if (ours) {
		pxt_slot_copy(first, word);
		if (at + 1u < slots)
			pxt_slot_copy(second, word + WORDS);
		if (at + AT_ONCE >= slots) {
			tiny->head = head + slots;
			tiny->counts.put++;
		}
	}
	pxt_irq_restore(irq);
	return ours;
}

/* Room for a record at @head.  False: another one came first. */
PXT_INLINE bool find_room(uint32_t head, uint32_t slots)
{
	const struct pxt_tiny *tiny = &pxt_tiny;

	/* Tail moves forward alone, and head is looked at again.  Bound: the slots, each perhaps a record that goes. */
	PXT_BOUND(dropped, slots);
	for (uint32_t i = 0; head + slots - tiny->tail > tiny->mask + 1u; i++) {
		PXT_ROUND(dropped);
		if (i == slots || !make_room(head))
			return false;
	}
	return true;
}

PXT_INLINE void begin(uint32_t *word, uint32_t info, uint32_t where)
{
	const uint64_t ticks = pxt_port_ticks();

	word[0] = info;
	word[1] = where;
	word[2] = (uint32_t)ticks;
	word[3] = pxt_tiny_high((uint32_t)(ticks >> 32));
}

/* False: once more. */
PXT_INLINE bool draft(uint32_t info, const unsigned char *data, const void *address)
{
	uint32_t bytes = pxt_info_bytes(info);
	uint32_t slots = pxt_tiny_slots_for(bytes);
	uint32_t head = pxt_tiny.head;
	uint32_t word[AT_ONCE * WORDS]; /* what is behind the data does not matter */
	uint32_t *to = word + WORDS;

	if (!find_room(head, slots))
		return false;
	begin(word, info, pxt_tiny_address(address));
	/* Bound: the slots of this record. */
	PXT_BOUND(put, slots);
	for (uint32_t at = 0;; at += AT_ONCE) {
		PXT_ROUND(put);
		/* Bound: the words. */
		PXT_BOUND(words, AT_ONCE * WORDS);
		for (; bytes >= 4u && to < word + AT_ONCE * WORDS; bytes -= 4u, data += 4) {
			PXT_ROUND(words);
			*to++ = whole(data);
		}
		if (bytes && to < word + AT_ONCE * WORDS) {
			*to = few(data, bytes);
			bytes = 0;
		}
		if (!put_slots(head, at, slots, word))
			return false;
		if (at + AT_ONCE >= slots)
			return true;
		to = word;
	}
}

PXT_INLINE bool draft_switch(const unsigned char *data)
{
	uint32_t head = pxt_tiny.head;
	uint32_t word[WORDS];

	if (!find_room(head, 1))
		return false;
	begin(word, pxt_tiny_pack(data), whole(data));
	return put_slots(head, 0, 1, word);
}

/* Drafts until no interrupt comes first; after some rounds interrupts stay away. */
#define INSIST(drafted)                                                                            \
	do {                                                                                       \
		uint32_t irq = 0;                                                                  \
		bool there = false;                                                                \
                                                                                                   \
		/* Bound: a constant. */                                                           \
		PXT_BOUND(drafts, DRAFTS + 1u);                                                    \
		for (uint32_t left = DRAFTS + 1u; left && !there; left--) {                        \
			PXT_ROUND(drafts);                                                         \
			if (PXT_UNLIKELY(left == 1u))                                              \
				irq = pxt_irq_save();                                              \
			there = (drafted);                                                         \
			if (PXT_UNLIKELY(left == 1u))                                              \
				pxt_irq_restore(irq);                                              \
		}                                                                                  \
	} while (0)

static PXT_NOINLINE void emit_switch(const unsigned char *data)
{
	INSIST(draft_switch(data));
}

static PXT_NOINLINE void emit(uint32_t info, const unsigned char *data, const void *address)
{
	INSIST(draft(info, data, address));
}

/* The wanted table may lag by an interrupt. */
void pxt_emit(uint32_t id, const void *data, size_t bytes, const void *address)
{
	const uint32_t most = pxt_tiny.max_data;

	if (PXT_UNLIKELY(bytes > most))
		emit(pxt_slot_info(id, most, true, false, PXT_TINY_CPU), data, address);
	else if (pxt_tiny_packs(id, bytes))
		emit_switch(data);
	else
		emit(pxt_slot_info(id, (uint32_t)bytes, false, false, PXT_TINY_CPU), data, address);
}

void pxt_emit_system(trace_event_id_t id, const void *data, size_t bytes)
{
	if (PXT_UNLIKELY(pxt_wanted_by(id)))
		pxt_emit(id, data, bytes, __builtin_return_address(0));
}

/* ---- And out of it ---- */

/* So often a record is copied anew; then interrupts stay away. */
#define LOOKS 4u

static void take_data(uint32_t at, unsigned char *data, uint32_t bytes)
{
	/* Bound: the bytes of the record. */
	PXT_BOUND(bytes, bytes);
	for (uint32_t i = 0; i < bytes; i++) {
		PXT_ROUND(bytes);
		data[i] = (unsigned char)(*pxt_tiny_word(at, i / 4u) >> 8u * (i % 4u));
	}
}

/* A context switch as it was given. */
static void unpack(struct pxt_tiny_taken *taken, unsigned char *data, size_t room)
{
	if (room > PXT_TINY_PACKED)
		room = PXT_TINY_PACKED;
	/* Bound: its bytes. */
	PXT_BOUND(bytes, room);
	for (size_t i = 0; i < room; i++) {
		PXT_ROUND(bytes);
		data[i] = (unsigned char)(i < 4u    ? taken->address >> 8u * i
		                          : i == 4u ? pxt_info_bytes(taken->info)
		                                    : pxt_info_cpu(taken->info));
	}
	taken->info =
	    pxt_slot_info(pxt_info_id(taken->info), PXT_TINY_PACKED, false, false, PXT_TINY_CPU);
	taken->address = 0;
}

/* False: a writer that needed its room has dropped it meanwhile. */
static bool try_take(struct pxt_tiny_taken *taken, unsigned char *data, size_t room, bool *got)
{
	struct pxt_tiny *tiny = &pxt_tiny;
	struct pxt_tiny_counts *counts = &tiny->counts;
	uint32_t tail = tiny->tail;
	const struct pxt_slot *begin = pxt_tiny_slot(tail);
	uint32_t irq;
	bool same;

	*got = pxt_tiny_held() != 0;
	if (!*got)
		return true;
	taken->info = begin->word[0];
	taken->address = begin->word[1];
	taken->ticks = pxt_tiny_ticks(begin);
	taken->thread = pxt_tiny_thread_of(begin);
	if (pxt_tiny_is_packed(taken->info))
		unpack(taken, data, room);
	else
		take_data(tail, data,
		    pxt_info_bytes(taken->info) < room ? pxt_info_bytes(taken->info)
		                                       : (uint32_t)room);
	irq = pxt_irq_save();
	same = tiny->tail == tail && pxt_tiny_held();
	if (same) {
		taken->lost_before = counts->gone - counts->seen;
		drop();
		counts->seen = counts->gone;
		counts->retrieved++;
	}
	pxt_irq_restore(irq);
	return same;
}

bool pxt_tiny_take(struct pxt_tiny_taken *taken, unsigned char *data, size_t room)
{
	uint32_t irq;
	bool got;

	/* Bound: a constant. */
	PXT_BOUND(looks, LOOKS);
	for (unsigned i = 0; i < LOOKS; i++) {
		PXT_ROUND(looks);
		if (try_take(taken, data, room, &got))
			return got;
	}
	irq = pxt_irq_save();
	(void)try_take(taken, data, room, &got);
	pxt_irq_restore(irq);
	return got;
}
