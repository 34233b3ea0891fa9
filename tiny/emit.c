/* SPDX-License-Identifier: MIT */
/* emit.c - from a trace point into the ring, and out of it; see tiny.h. */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/record/emit.h"

#include "core/stream/wanted.h"
#include "tiny/tiny.h"

struct pxt_tiny pxt_tiny;
struct pxt_slot pxt_tiny_slots[PXT_TINY_SLOTS];
PXT_API pxt_wanted_mask _pxt_wanted[PXT_ID_COUNT];

/* So often an event is drafted anew, or a record copied, because others come first; then interrupts stay away. */
#define DRAFTS 4u

static PXT_NOINLINE void insist(void)
{
	const uint32_t irq = pxt_irq_save();

	pxt_tiny.insisted = irq;
}

PXT_INLINE uint32_t slots_at(uint32_t tail)
{
	uint32_t slots = pxt_tiny_slots_of(pxt_tiny_slot(tail)->word[0]);

	/* Not while interrupts are away. */
	PXT_NOW(slots);
	return slots;
}

/*
 * Drops the oldest record, of which there is one.  False: another one did.  What @head says may have moved on
 * since; then the room is needed all the more.
 */
PXT_INLINE bool drop(uint32_t tail)
{
	struct pxt_tiny *tiny = &pxt_tiny;
	return pxt_word_move_counted(
	    &tiny->tail, tail, tail + slots_at(tail), &tiny->counts.gone, &tiny->trid);
}

/* A word that begins anywhere is one load where the processor has that. */
PXT_INLINE uint32_t whole(const unsigned char *data)
{
	return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

/* Fewer bytes than a word has. */
static PXT_NOINLINE uint32_t few(const unsigned char *data, uint32_t bytes)
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

#define WORDS 4u /* of a slot */

/* Room in front of @end.  Tail moves forward alone, perhaps beyond @end: then head has moved, too. */
PXT_INLINE void make_room(uint32_t end)
{
	const struct pxt_tiny *tiny = &pxt_tiny;
	const uint32_t least = end - tiny->mask - 1u;
	uint32_t tail;

	/* Bound: the slots of the record, each perhaps a record that goes. */
	PXT_BOUND(dropped, PXT_TINY_SLOTS);
	while (tail = tiny->tail, (int32_t)(tail - least) < 0) {
		PXT_ROUND(dropped);
		(void)drop(tail);
	}
}

/* The next slot's words of the data; how many bytes are left.  What is behind the last one does not matter. */
PXT_INLINE uint32_t gather(uint32_t *word, const unsigned char *data, uint32_t bytes)
{
	size_t i = 0;

	/* What most events have. */
	if (PXT_LIKELY(bytes == 4u)) {
		word[0] = whole(data);
		return 0;
	}
	/* Bound: the words. */
	PXT_BOUND(words, WORDS);
	for (; i != WORDS; i++) {
		PXT_ROUND(words);
		if (bytes < 4u) {
			if (PXT_UNLIKELY(bytes))
				word[i] = few(data + 4u * i, bytes);
			return 0;
		}
		word[i] = whole(data + 4u * i);
		bytes -= 4u;
	}
	return bytes;
}

/* Slot by slot; with the last one the record is there.  False: another event came first, or the stream stopped. */
PXT_INLINE bool draft(
    uint32_t head, uint32_t info, uint32_t where, const unsigned char *data, uint32_t bytes)
{
	struct pxt_tiny *tiny = &pxt_tiny;
	uint32_t word[WORDS];
	uint32_t at = head;
	uint64_t ticks;

	make_room(head + pxt_tiny_slots_for(bytes));
	ticks = pxt_port_ticks();
	word[0] = info;
	word[1] = where;
	word[2] = (uint32_t)ticks;
	word[3] = pxt_tiny_high((uint32_t)(ticks >> 32));
	/* Bound: the slots of this record. */
	PXT_BOUND(put, pxt_tiny_slots_for(bytes));
	for (; bytes; data += PXT_SLOT_BYTES) {
		PXT_ROUND(put);
		if (!pxt_slot_store_if(pxt_tiny_slot(at++), word, &tiny->head, head))
			return false;
		bytes = gather(word, data, bytes);
	}
	return pxt_slot_store_last(pxt_tiny_slot(at), word, &tiny->head, head, at + 1u,
	    &tiny->counts.put, &tiny->trid, &tiny->running);
}

/* The wanted table may lag by an interrupt. */
void pxt_emit(uint32_t id, const void *data, size_t size, const void *address)
{
	const struct pxt_tiny *tiny = &pxt_tiny;
	const uint32_t most = tiny->max_data;
	uint32_t bytes = (uint32_t)size;
	uint32_t info = pxt_slot_info(id, bytes, false, false, PXT_TINY_CPU);
	uint32_t where = pxt_tiny_address(address);
	uint32_t left = DRAFTS;
	uint32_t head;

	if (PXT_UNLIKELY(size > most)) {
		info = pxt_slot_info(id, most, true, false, PXT_TINY_CPU);
		bytes = most;
	} else if (pxt_tiny_packs(id, bytes)) {
		info = pxt_tiny_pack(data);
		where = whole(data);
		bytes = 0;
	}
	/* Bound: a constant; by exclusives one more for each event that comes first. */
	PXT_BOUND(drafts, CONFIG_PTRACE_EXCLUSIVES ? UINT32_MAX : DRAFTS + 1u);
	for (;;) {
		PXT_ROUND(drafts);
		head = tiny->head;
		/* Worked out in each round, not kept for a second one. */
		PXT_NOW(bytes);
		if (draft(head, info, where, data, bytes) || !tiny->running)
			break;
		if (!CONFIG_PTRACE_EXCLUSIVES && --left == 0)
			insist();
	}
	if (PXT_UNLIKELY(left == 0))
		pxt_irq_restore(pxt_tiny.insisted);
}

void pxt_emit_system(trace_event_id_t id, const void *data, size_t bytes)
{
	if (PXT_UNLIKELY(pxt_wanted_by(id)))
		pxt_emit(id, data, bytes, __builtin_return_address(0));
}

/* ---- And out of it ---- */

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

/* False: there is none. */
static bool copy(struct pxt_tiny_taken *taken, uint32_t tail, unsigned char *data, size_t room)
{
	const struct pxt_slot *begin = pxt_tiny_slot(tail);

	if (tail == pxt_tiny.head)
		return false;
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
	return true;
}

/* False: a writer that needed its room, or another reader, has dropped it. */
PXT_INLINE bool took(uint32_t tail, struct pxt_count *count, uint32_t *lost)
{
	struct pxt_tiny_counts *counts = &pxt_tiny.counts;

	return pxt_word_move_taken(&pxt_tiny.tail, tail, tail + slots_at(tail), &counts->gone,
	    count, &counts->told, &pxt_tiny.trid, lost);
}

bool pxt_tiny_take(struct pxt_tiny_taken *taken, unsigned char *data, size_t room)
{
	uint32_t left = DRAFTS;
	uint32_t tail;
	bool got;

	/* Bound: a constant; by exclusives one more for each record that goes meanwhile. */
	PXT_BOUND(looks, CONFIG_PTRACE_EXCLUSIVES ? UINT32_MAX : DRAFTS + 1u);
	for (;;) {
		PXT_ROUND(looks);
		tail = pxt_tiny.tail;
		got = copy(taken, tail, data, room);
		if (!got || took(tail, &pxt_tiny.counts.retrieved, &taken->lost_before))
			break;
		if (!CONFIG_PTRACE_EXCLUSIVES && --left == 0)
			insist();
	}
	if (left == 0)
		pxt_irq_restore(pxt_tiny.insisted);
	return got;
}

void pxt_tiny_clear_before(uint32_t end)
{
	uint32_t lost; /* and not told any more */
	uint32_t tail;

	/* Bound: the slots, each perhaps a record. */
	PXT_BOUND(cleared, PXT_TINY_SLOTS);
	while (tail = pxt_tiny.tail, (int32_t)(tail - end) < 0) {
		PXT_ROUND(cleared);
		(void)took(tail, &pxt_tiny.counts.cleared, &lost);
	}
}
