/* SPDX-License-Identifier: MIT */
/*
 * intake_tally.c - how often a guest has taken its locks, from its memory into the stream: events of type
 * posix_trace_process, one for each lock and thread; see format/locktally.h.
 *
 * They come when the process has ended, however that was, or when the stream stops.  Nothing in that memory is
 * believed but its size: a number that is a lie is a lie in the log.
 */
#include "attach/intake.h"

#include "core/control/control.h"
#include "core/process/context.h"
#include "format/locktally.h"

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
