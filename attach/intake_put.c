/* SPDX-License-Identifier: MIT */
/*
 * intake_put.c - records of attached processes, and how often a guest has taken its locks, on their way into the
 * stream; see intake.h.
 *
 * Counts of locks are events of type posix_trace_process, one for each lock and thread; see format/locktally.h.  They
 * come when the process has ended, however that was, or when the stream stops.  Nothing in that memory is
 * believed but its size: a number that is a lie is a lie in the log.
 */
#include "attach/intake.h"

#include "core/process/context.h"
#include "core/process/replica.h"
#include "core/read/lane.h"
#include "core/record/slowpath.h"
#include "core/stream/gate.h"
#include "format/locktally.h"

/* Half of the table is this process' own, whatever the others say of their threads. */
#define PRODUCERS_THREADS (CONFIG_PTRACE_MAX_THREADS / 2u)

static struct pxt_ring producers_ring(struct pxt_block *block)
{
	return pxt_block_ring(block, block->lane_mask + 1u);
}

uint32_t pxt_intake_put_room(struct pxt_block *block)
{
	struct pxt_lane *lane = producers_ring(block).lane;
	uint32_t size = block->slot_mask + 1u;
	uint64_t held;

	/* A record without room is refused, as for the threads of this process. */
	if (block->full_policy != POSIX_TRACE_LOOP && block->full_policy != POSIX_TRACE_FLUSH)
		return size;
	/* It waits for its flush, and would refuse what it could take after that. */
	if (block->full_policy == POSIX_TRACE_FLUSH && pxt_block_state(block) == PXT_GATE_AUTO)
		return 0;
	held = pxt_lane_end(lane) - lane->pos + lane->partial;
	return held < size ? size - (uint32_t)held : 0u;
}

/* As a trace point does it (core/record/emit.c), but for the stamp, which is there already. */
bool pxt_intake_put_record(struct pxt_stream *stream, const struct pxt_ring_event *event)
{
	struct pxt_block *block = stream->block;
	struct pxt_place place = { .ring = producers_ring(block) };
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	uint32_t slots = pxt_info_slots(event->info, PXT_CTX_BYTES);

	if ((gate & PXT_GATE_STATE) == PXT_GATE_OFF ||
	    !pxt_admit(block, gate, pxt_info_id(event->info)))
		return false;
	if (PXT_AUTOSTOP_BUILT && (gate & PXT_GATE_KEEPS)) {
		if (!pxt_fullpolicy_reserve(block, gate, &place, slots, PXT_AUTOSTOP_SEEN))
			return false;
	} else if (pxt_ring_reserve(&place, slots, 0) != PXT_RESERVED) {
		return false;
	}
	pxt_ring_store(&place, event);
	/* Also when a reader pulls: other readers sleep until a record wakes them. */
	pxt_block_wake_at(block, place.used);
	return true;
}

/*
 * As pxt_ring_reserve(), but for the stamps, which are there already: no other writer is in this lane.  So one exchange
 * admits all, where a cursor is one word.
 */
static bool reserve_row(struct pxt_place *place, bool keeps, uint32_t slots, uint32_t records)
{
	struct pxt_lane *lane = place->ring.lane;
	const uint32_t size = place->ring.mask + 1u;
	uint64_t head = pxt_cursor_peek(&lane->head);

	place->pos = pxt_head_pos(head);
	place->seq = pxt_head_seq(head);
	place->used = place->pos + slots - atomic_load_explicit(&lane->limit, memory_order_acquire);
	if (sizeof(pxt_cell) != sizeof(struct pxt_slot) || head & PXT_HEAD_CLOSED ||
	    (place->pos & place->ring.mask) + slots > size || PXT_SEQ_MASK - place->seq < records)
		return false;
	if (keeps ? place->used >= size : !pxt_ring_is_fast(lane, place->pos, slots))
		return false;
	if (!pxt_cursor_swap(
	        &lane->head, &head, head + pxt_head_step(slots) + (records - 1u) * UINT64_C(2)))
		return false;
	pxt_ring_keep_epoch(lane, head);
	return true;
}

bool pxt_intake_put_row(
    struct pxt_stream *stream, const struct pxt_slot *slots, uint32_t count, uint32_t records)
{
	struct pxt_block *block = stream->block;
	struct pxt_place place = { .ring = producers_ring(block) };
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	bool keeps = PXT_AUTOSTOP_BUILT && (gate & PXT_GATE_KEEPS);
	uint32_t seq;

	if ((gate & (PXT_GATE_STATE | PXT_GATE_DISCARDS)) != PXT_GATE_RUNNING ||
	    !reserve_row(&place, keeps, count, records))
		return false;
	seq = place.seq - 1u;
	/* Bound: the slots of the row. */
	for (uint32_t i = 0; i < count; i++) {
		struct pxt_halves slot = pxt_slot_halves(&slots[i]);
		uint32_t pos = place.pos + i;

		seq += slots[i].word[0] == PXT_SLOT_BEGIN;
		slot.low |= pxt_tag(place.ring.mask, pos, seq);
		pxt_slot_store(&place.ring.slots[pos & place.ring.mask], slot.low, slot.high);
	}
	pxt_block_wake_at(block, keeps ? place.used : 0u);
	return true;
}

void pxt_intake_put_lost(struct pxt_stream *stream, uint64_t records, uint64_t ticks)
{
	struct pxt_block *block = stream->block;

	/* They were written, though not into a lane. */
	block->oob_records += records;
	pxt_lane_gap_lost(block, records);
	pxt_lane_gap_begin(block, ticks);
	pxt_block_end_turn(block);
}

uint32_t pxt_intake_put_thread(int32_t pid, int32_t tid, uint64_t thread, const char *name)
{
	char text[PXT_THREAD_NAME] = "";
	static _Atomic uint32_t taken;
	struct pxt_thread_table *table = pxt_threads;
	struct pxt_thread *entry;
	uint32_t index;

	if (atomic_load_explicit(&table->count, memory_order_relaxed) >=
	        CONFIG_PTRACE_MAX_THREADS - 1u ||
	    atomic_fetch_add_explicit(&taken, 1u, memory_order_relaxed) >= PRODUCERS_THREADS)
		return PXT_THREAD_EXTRA;
	index = 1u + atomic_fetch_add_explicit(&table->count, 1u, memory_order_relaxed);
	if (index >= CONFIG_PTRACE_MAX_THREADS)
		return PXT_THREAD_EXTRA;
	entry = &table->entry[index];
	atomic_store_explicit(&entry->pid, pid, memory_order_relaxed);
	atomic_store_explicit(&entry->tid, tid, memory_order_relaxed);
	(void)strncpy(text, name, sizeof(text) - 1u);
	pxt_thread_set_name(entry, text);
	/* Last, for those who walk through the table: 0 is not there yet. */
	pxt_wide_set(&entry->thread, thread);
	pxt_replica_thread(table, index);
	return index;
}

/* ---- Counts of a guest's locks ---- */

/* As FORMAT.md 5.1 has it. */
struct counted {
	uint8_t what;
	uint32_t number;
	uint64_t address;
	uint64_t size;
	char name[12];
} __attribute__((packed));

struct pxt_intake_tally {
	uint32_t next;                         /* slot, and after the last one, kinds of others */
	uint64_t told[PXT_LOCKTALLY_SLOTS];    /* here, while it lives */
	uint64_t told_of[PXT_LOCKTALLY_KINDS]; /* of others */
};

void pxt_intake_tally_end(struct pxt_producer_memory *producer)
{
	if (producer->tally)
		pxt_port_free(producer->tally, sizeof(*producer->tally));
	producer->tally = NULL;
	producer->counts = NULL;
}

void pxt_intake_tally_note(
    struct pxt_producer_memory *producer, uint32_t index, bool extra, uint64_t thread)
{
	producer->teller.thread = thread;
	producer->teller.index = index;
	producer->teller.extra = extra;
	producer->teller.known = true;
}

static uintptr_t word_of(const _Atomic uintptr_t *word)
{
	return atomic_load_explicit((_Atomic uintptr_t *)(uintptr_t)word, memory_order_relaxed);
}

static uint64_t value_of(const struct pxt_locktally_count *count)
{
	uint64_t low = word_of(&count->low);

	return sizeof(uintptr_t) == sizeof(low) ? low : low | (uint64_t)word_of(&count->high) << 32;
}

static uint32_t number_of(const _Atomic uint32_t *word)
{
	return atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)word, memory_order_acquire);
}

static void put(struct pxt_producer_pull *pull, const struct pxt_producer_memory *producer,
    struct counted *data, uint32_t kind, uintptr_t place, uint64_t ticks)
{
	static const char names[][10] = PXT_LOCKTALLY_NAMES;
	uint32_t bytes = (uint32_t)(offsetof(struct counted, name) + strlen(names[kind]));
	struct pxt_ring_event event = { .data = pull->payload,
		.thread = producer->teller.thread,
		.pid = (uint32_t)producer->pid,
		.bytes = bytes,
		.ctx = pxt_context(producer->teller.index, (const void *)place),
		.ticks = ticks };

	data->what = POSIX_TRACE_PROCESS_TAKEN_NP;
	memcpy(data->name, names[kind], strlen(names[kind]));
	memcpy(pull->payload, data, bytes);
	event.info = pxt_slot_info(POSIX_TRACE_PROCESS_NP, bytes, false, producer->teller.extra, 0);
	(void)pxt_intake_put_record(pull->stream, &event);
}

/* The slot @i, if there is something new. */
static void tell_slot(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    uint32_t i, uint64_t ticks)
{
	struct pxt_intake_tally *tally = producer->tally;
	const struct pxt_locktally_slot *slot = &producer->counts->slots[i];
	uint32_t kind = number_of(&slot->kind);
	uint32_t who = number_of(&slot->who);
	uint64_t taken = value_of(&slot->taken);
	uint64_t new = taken - tally->told[i];
	struct counted data;

	/* What the process itself told is no more than that. */
	if (!tally->told[i])
		new = taken - (taken - word_of(&slot->told) <= taken ? word_of(&slot->told) : 0);
	if (!new || !kind || kind >= PXT_LOCKTALLY_KINDS)
		return;
	data =
	    (struct counted){ .number = who == PXT_LOCKTALLY_BUSY ? 0 : who & PXT_LOCKTALLY_THREAD,
		    .address = word_of(&slot->lock),
		    .size = new };
	put(pull, producer, &data, kind, word_of(&slot->place), ticks);
	tally->told[i] = taken;
}

/* Of locks beyond the slots. */
static void tell_others(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    uint32_t kind, uint64_t ticks)
{
	struct pxt_intake_tally *tally = producer->tally;
	uint64_t taken = value_of(&producer->counts->others[kind]);
	struct counted data = { .size = taken - tally->told_of[kind] };

	if (data.size)
		put(pull, producer, &data, kind, 0, ticks);
	tally->told_of[kind] = taken;
}

/* Most processes take no lock that is counted: for them there are no notes. */
static bool has_counted(const struct pxt_locktally *counts)
{
	bool any = number_of(&counts->used) != 0;

	for (uint32_t kind = 0; kind < PXT_LOCKTALLY_KINDS; kind++)
		any |= value_of(&counts->others[kind]) != 0;
	return any;
}

bool pxt_intake_tally_tell(
    struct pxt_producer_pull *pull, struct pxt_producer_memory *producer, uint64_t ticks)
{
	struct pxt_intake_tally *tally = producer->tally;
	uint32_t most =
	    pxt_slots_for(sizeof(struct counted) + PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES) + 2u;
	uint32_t used;

	if (!producer->counts || !producer->teller.known || !has_counted(producer->counts))
		return true;
	if (!tally)
		tally = producer->tally = pxt_port_alloc(sizeof(*tally));
	/* Later there may be memory; of one that has gone nothing is waited for. */
	if (!tally)
		return true;
	used = number_of(&producer->counts->used);
	if (used > PXT_LOCKTALLY_SLOTS)
		used = PXT_LOCKTALLY_SLOTS;
	for (; tally->next < used + PXT_LOCKTALLY_KINDS; tally->next++) {
		if (!pull->all && pxt_intake_put_room(pull->stream->block) < most)
			return false;
		if (tally->next < used)
			tell_slot(pull, producer, tally->next, ticks);
		else
			tell_others(pull, producer, tally->next - used, ticks);
	}
	tally->next = 0;
	return true;
}
