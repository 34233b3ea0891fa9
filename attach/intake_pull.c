/* SPDX-License-Identifier: MIT */
/*
 * intake_pull.c - records out of producers' memory in the order of their stamps, to its end, or as far as the
 * stream has room; see intake.h.
 *
 * Usual records are put together into a row, and go into the stream with one exchange.  The rest go one by one:
 * those of threads without a place, of types that are not learnt yet, those behind a loss.
 */
#include "attach/intake.h"

#include "core/process/context.h"
#include "core/stream/gate.h"

/* Looks again at unfinished records at the end of a pull: most are finished a moment later. */
#define ROUNDS 16u

/* ---- One record ---- */

static uint64_t number(const unsigned char *bytes, unsigned count)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < count; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

/* Of a copied record into pull->payload.  Returns the context. */
static uint64_t read_payload(const struct pxt_producer_pull *pull, const struct pxt_slot *slots)
{
	uint32_t count = pxt_info_slots(slots[0].word[1], PXT_CTX_BYTES);

	for (uint32_t i = 1; i < count; i++)
		memcpy(pull->payload + (size_t)(i - 1u) * PXT_SLOT_PAYLOAD, &slots[i].word[1],
		    PXT_SLOT_PAYLOAD);
	return number(pull->payload, PXT_CTX_BYTES);
}

/* A copy of the front as this process' record; the data is in pull->payload.  False: no trace point makes such a one. */
static bool translate(const struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    const struct pxt_slot *slots, struct pxt_ring_event *event)
{
	uint32_t info = slots[0].word[1];
	uint32_t max_data = pull->stream->block->max_data;
	uint32_t bytes = pxt_info_bytes(info);
	bool cut = pxt_info_cut(info) || bytes > max_data;
	bool extra = pxt_info_extra(info);
	uint32_t index;
	uint64_t ctx;

	ctx = read_payload(pull, slots);
	index = pxt_context_thread(ctx);
	event->data = pull->payload + PXT_CTX_BYTES;
	event->ticks = pxt_slot_ticks(slots);
	if (extra) {
		event->thread = number(event->data, 8);
		event->data += PXT_THREAD_EXTRA_BYTES;
		extra = !pxt_intake_thread_former(producer, &index, event->thread);
	} else if (index == PXT_THREAD_NONE || index >= CONFIG_PTRACE_MAX_THREADS) {
		return false;
	} else {
		extra = !pxt_intake_thread(producer, event->ticks, &index, &event->thread);
	}
	event->pid = (uint32_t)producer->pid;
	event->bytes = bytes < max_data ? bytes : max_data;
	event->ctx = (ctx & ~UINT64_C(0xffff)) | index;
	event->info = pxt_slot_info(
	    atomic_load_explicit(&producer->type[pxt_info_id(info)], memory_order_relaxed),
	    event->bytes, cut, extra, pxt_info_cpu(info));
	return true;
}

/* The records are nobody's while the stream does not run. */
static void tell_lost(struct pxt_producer_pull *pull)
{
	/* Where in the order they were missing nobody knows; 0 says that. */
	if (pull->lost && pxt_block_state(pull->stream->block) != PXT_GATE_OFF)
		pxt_intake_put_lost(pull->stream, pull->lost, 0);
	pull->lost = 0;
}

static bool is_known(const struct pxt_producer_memory *producer, const struct pxt_intake_lane *lane)
{
	return atomic_load_explicit(&producer->type[pxt_info_id(pxt_intake_lane_info(lane))],
	           memory_order_acquire) != 0;
}

/*
 * A type that is not learnt yet: the helper is asked for it.  A process that records a type has named it
 * before, so when the helper has looked again and found nothing, there is no such type.  True: that is so, or the owner
 * itself could not define it for a second: then later ones are waited for all the same.
 */
static bool hopeless(struct pxt_producer_memory *producer)
{
	uint32_t learnt = atomic_load_explicit(&producer->learnt, memory_order_acquire);
	bool refused = atomic_load_explicit(&producer->refused, memory_order_relaxed);
	uint64_t now = pxt_port_ticks();
	bool late;

	atomic_store_explicit(&producer->wanted, 1u, memory_order_relaxed);
	if (!producer->asked_at) {
		producer->asked_at = now ? now : 1u;
		producer->asked_learnt = learnt;
	}
	/* One may have looked already when it was asked; the helper may be busy, but not for ever. */
	late = (int64_t)(now - producer->asked_at) > (int64_t)pxt_clock.hz;
	if (!refused && (late || learnt - producer->asked_learnt >= 2u))
		producer->liar = true;
	return producer->liar || late;
}

/* What a log that is written over needs of a process whose beginning it has no more. */
static bool is_told_again(const struct pxt_ring_event *event)
{
	return pxt_info_id(event->info) == POSIX_TRACE_PROCESS_NP && event->bytes &&
	       (event->data[0] == POSIX_TRACE_PROCESS_IMAGE_NP ||
	           event->data[0] == POSIX_TRACE_PROCESS_IMAGE_BUILD_NP ||
	           event->data[0] == POSIX_TRACE_PROCESS_THREAD_NAME_NP);
}

/*
 * A guest has gone, and all its records were taken.  Its last lane still has its images and names,
 * unless they were overwritten.  Stamps rise in the stream, so they are recorded as of the last pull's
 * end.
 */
static void tell_again(struct pxt_stream *stream, struct pxt_producer_memory *producer)
{
	struct pxt_intake_lane *last = &producer->lane[producer->lanes - 1u];
	const struct _pxt_attr *attr = &stream->block->attr;
	/* The log is written over, or its oldest files are removed. */
	bool forgets =
	    attr->_pxt_log_policy == POSIX_TRACE_LOOP || attr->_pxt_flags & PXT_ATTR_AGES;

	if (producer->again || producer->directory_bytes || !forgets ||
	    last->head - (last->mask + UINT64_C(1)) > last->mask)
		return;
	producer->again = true;
	last->pos = last->mask + UINT64_C(1);
	last->seq = 0;
	last->front = PXT_PRODUCER_EMPTY;
}

/* ---- Records in a row ---- */

/* What cannot be put with the others. */
static void put_one(struct pxt_producer_pull *pull, const struct pxt_slot *slots)
{
	const struct pxt_ring_event event = { .data = pull->payload + PXT_CTX_BYTES,
		.ctx = read_payload(pull, slots),
		.bytes = pxt_info_bytes(slots[0].word[1]),
		.info = slots[0].word[1],
		.ticks = pxt_slot_ticks(slots) };

	(void)pxt_intake_put_record(pull->stream, &event);
}

/* Before anything that comes after it. */
static void end_row(struct pxt_producer_pull *pull)
{
	const struct pxt_slot *slots = pull->row;
	const struct pxt_slot *end = slots + pull->slots;

	if (pull->slots && !pxt_intake_put_row(pull->stream, slots, pull->slots, pull->records)) {
		/* Bound: the slots of the row. */
		for (; slots != end; slots += pxt_info_slots(slots[0].word[1], PXT_CTX_BYTES))
			put_one(pull, slots);
	}
	pull->slots = 0;
	pull->records = 0;
}

/* Who has more than @slots slots free afterwards: a number that runs over takes another one. */
static bool begin_row(struct pxt_producer_pull *pull, uint32_t slots)
{
	struct pxt_block *block = pull->stream->block;

	if (pull->slots + slots > PXT_PRODUCER_ROW)
		end_row(pull);
	if (!pull->slots) {
		pull->room = pull->all ? UINT32_MAX : pxt_intake_put_room(block);
		pull->gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	}
	return pull->room - pull->slots >= slots + 2u;
}

/* The index of the thread that a copy names, in this process' table.  0: it is to be asked, or has none. */
static uint32_t index_of(const struct pxt_producer_memory *producer, const struct pxt_slot *slots)
{
	const unsigned char *bytes = (const unsigned char *)&slots[1].word[1];
	uint32_t at = bytes[0] | (uint32_t)bytes[1] << 8;
	uint64_t since;

	if (at == PXT_THREAD_NONE || at >= CONFIG_PTRACE_MAX_THREADS)
		return 0;
	since = pxt_thread_since(&producer->directory->threads.entry[at]);
	if (!pxt_intake_thread_known(producer, at, since) || since > pxt_slot_ticks(slots) ||
	    producer->thread[at] == PXT_THREAD_EXTRA)
		return 0;
	return producer->thread[at];
}

/* The front joins the row.  False: it is no usual one. */
static bool join_row(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    const struct pxt_intake_lane *lane)
{
	uint32_t info = pxt_intake_lane_info(lane);
	uint32_t id =
	    atomic_load_explicit(&producer->type[pxt_info_id(info)], memory_order_acquire);
	uint32_t slots = pxt_info_slots(info, PXT_CTX_BYTES);
	struct pxt_slot *to;
	uint32_t index;

	if (!id || pxt_info_extra(info) || pull->lost || producer->again ||
	    pxt_info_bytes(info) > pull->stream->block->max_data || !begin_row(pull, slots))
		return false;
	to = pull->row + pull->slots;
	if (!pxt_intake_lane_copy(lane, to))
		return false;
	index = index_of(producer, to);
	if (!index)
		return false;
	((unsigned char *)&to[1].word[1])[0] = (unsigned char)index;
	((unsigned char *)&to[1].word[1])[1] = (unsigned char)(index >> 8);
	to[0].word[1] = (info & ~UINT32_C(0x3ff)) | id;
	pxt_intake_tally_note(producer, index, false, 0);
	if (!pxt_admit(pull->stream->block, pull->gate, id))
		return true;
	pull->slots += slots;
	pull->records++;
	return true;
}

/* ---- Taking ---- */

/* As one of its own, or a loss. */
static void take_alone(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    struct pxt_intake_lane *lane)
{
	struct pxt_ring_event event;

	if (!is_known(producer, lane) || !pxt_intake_lane_copy(lane, pull->row) ||
	    !translate(pull, producer, pull->row, &event)) {
		pull->lost++;
		return;
	}
	producer->asked_at = 0;
	lane->slack = 0;
	tell_lost(pull);
	if (producer->again)
		event.ticks = producer->bound;
	pull->latest = event.ticks > pull->latest ? event.ticks : pull->latest;
	pxt_intake_tally_note(
	    producer, pxt_context_thread(event.ctx), pxt_info_extra(event.info), event.thread);
	if (!producer->again || is_told_again(&event))
		(void)pxt_intake_put_record(pull->stream, &event);
}

/* False: it has to wait, and all later ones of any producer: there is no room, or its type is not learnt yet. */
static bool take(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    struct pxt_intake_lane *lane)
{
	if (lane->ticks < producer->run_from) {
		pxt_intake_lane_advance(lane);
		return true;
	}
	if (join_row(pull, producer, lane)) {
		pull->latest = lane->ticks > pull->latest ? lane->ticks : pull->latest;
		producer->asked_at = 0;
		lane->slack = 0;
	} else {
		end_row(pull);
		if (!is_known(producer, lane) && !hopeless(producer))
			return false;
		/* A thread without a place makes it a slot longer, a number that runs over another one. */
		if (!pull->all &&
		    pxt_intake_put_room(pull->stream->block) <
		        pxt_info_slots(pxt_intake_lane_info(lane), PXT_CTX_BYTES) + 2u)
			return false;
		take_alone(pull, producer, lane);
	}
	pxt_intake_lane_advance(lane);
	return true;
}

/* ---- Pull ---- */

/* What all producers have in common in one pull. */
struct crowd {
	struct pxt_producer_memory *const *producers;
	unsigned count;
	uint64_t limit; /* smaller stamps than this may be taken */
	bool stuck;     /* somebody has an unfinished record */
	bool full;
};

/* An empty lane brings what was reserved after the clock's reading; another lane nothing older than its front. */
static void fill_lane(struct pxt_producer_pull *pull, struct crowd *crowd,
    struct pxt_producer_memory *producer, struct pxt_intake_lane *lane)
{
	pxt_intake_lane_fill(pull, producer, lane);
	if (lane->front != PXT_PRODUCER_STUCK)
		return;
	crowd->stuck = true;
	if (lane->floor < crowd->limit)
		crowd->limit = lane->floor;
}

static void fill_all(struct pxt_producer_pull *pull, struct crowd *crowd)
{
	crowd->limit = pull->clock;
	crowd->stuck = false;
	for (unsigned i = 0; i < crowd->count; i++) {
		struct pxt_producer_memory *producer = crowd->producers[i];

		for (uint32_t lane = 0; producer && lane < producer->lanes; lane++)
			fill_lane(pull, crowd, producer, &producer->lane[lane]);
	}
}

/* A lane, and the stamp of what it has first. */
struct front {
	struct pxt_producer_memory *producer;
	struct pxt_intake_lane *lane;
	uint64_t ticks; /* UINT64_MAX: it has none */
};

/* The smallest stamps of all: until the third nobody else is asked. */
struct choice {
	struct front first;
	struct front second;
	uint64_t third;
};

static void add_front(struct choice *choice, const struct front *front)
{
	if (front->ticks < choice->first.ticks) {
		choice->third = choice->second.ticks;
		choice->second = choice->first;
		choice->first = *front;
	} else if (front->ticks < choice->second.ticks) {
		choice->third = choice->second.ticks;
		choice->second = *front;
	} else if (front->ticks < choice->third) {
		choice->third = front->ticks;
	}
}

/* The oldest event of all lanes of all attached processes is next. */
static void choose(const struct crowd *crowd, struct choice *choice)
{
	choice->first.ticks = UINT64_MAX;
	choice->second.ticks = UINT64_MAX;
	choice->third = UINT64_MAX;
	for (unsigned i = 0; i < crowd->count; i++) {
		struct pxt_producer_memory *producer = crowd->producers[i];

		for (uint32_t at = 0; producer && at < producer->lanes; at++) {
			struct front front = { producer, &producer->lane[at], 0 };

			front.ticks = front.lane->ticks;
			if (pxt_intake_lane_ready(front.lane))
				add_front(choice, &front);
		}
	}
}

/* The first front was taken: what is behind it, or the second one, is first now. */
static void go_on(struct pxt_producer_pull *pull, struct crowd *crowd, struct choice *choice)
{
	struct front front = choice->first;

	fill_lane(pull, crowd, front.producer, front.lane);
	front.ticks = pxt_intake_lane_ready(front.lane) ? front.lane->ticks : UINT64_MAX;
	choice->first = front;
	if (front.ticks > choice->second.ticks) {
		choice->first = choice->second;
		choice->second = front;
	}
}

/* Takes what has smaller stamps than the limit, which sinks when somebody gets stuck. */
static void take_all(struct pxt_producer_pull *pull, struct crowd *crowd)
{
	struct choice choice;

	/* Bound: each round takes a record from among those before the heads, or is the last. */
	for (choose(crowd, &choice); choice.first.ticks < crowd->limit; choose(crowd, &choice)) {
		do {
			if (!take(pull, choice.first.producer, choice.first.lane)) {
				crowd->limit = choice.first.ticks;
				crowd->full = true;
				return;
			}
			go_on(pull, crowd, &choice);
		} while (choice.first.ticks < crowd->limit && choice.first.ticks <= choice.third);
	}
}

/* Of a producer that is gone: stamps that never come. */
static void drop_lies(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer)
{
	for (uint32_t i = 0; producer->gone_at && i < producer->lanes; i++) {
		struct pxt_intake_lane *lane = &producer->lane[i];

		/* Bound: each round moves the position forward, at most to head. */
		while (pxt_intake_lane_ready(lane) && lane->ticks > producer->gone_at) {
			pull->lost++;
			pxt_intake_lane_advance(lane);
			pxt_intake_lane_fill(pull, producer, lane);
		}
	}
}

/*
 * LOOP: whether more room is due than there is.  What stays with this producer would soon be overwritten there,
 * newer than what it spares here; or the producer has gone, and its memory is to go, too.  A stream that
 * is flushed overwrites nothing, so there a record is safest where it is.
 */
static bool is_pressed(struct pxt_producer_memory *producer)
{
	for (uint32_t i = 0; i < producer->lanes; i++) {
		const struct pxt_intake_lane *lane = &producer->lane[i];

		if (lane->head - lane->pos > (producer->gone_at ? 0u : lane->mask / 2u))
			return true;
	}
	return false;
}

/*
 * Of those that have gone, after all that they recorded, and at the last look of all.  With the stamp of what was taken
 * last.
 */
static void tell_counts(struct pxt_producer_pull *pull, const struct crowd *crowd, bool stops)
{
	uint64_t ticks = pull->latest;

	for (unsigned i = 0; i < crowd->count; i++)
		if (crowd->producers[i] && crowd->producers[i]->bound > ticks)
			ticks = crowd->producers[i]->bound;
	for (unsigned i = 0; i < crowd->count; i++) {
		struct pxt_producer_memory *producer = crowd->producers[i];

		if (!producer || !(stops || (producer->gone_at && pxt_intake_is_drained(producer))))
			continue;
		if (pxt_intake_tally_tell(pull, producer, ticks) && producer->gone_at)
			pxt_intake_tally_end(producer);
	}
}

uint64_t pxt_intake_pull(struct pxt_stream *stream, struct pxt_producer_memory *const *producers,
    unsigned count, struct pxt_producer_payload *payload, uint64_t clock, bool all)
{
	struct pxt_producer_pull pull = { .stream = stream,
		.payload = payload->bytes,
		.row = payload->row,
		.clock = clock,
		.all = all };
	struct crowd crowd = { .producers = producers, .limit = clock };
	/* The last look: what lives will be told no more. */
	bool stops = all && stream->block->full_policy == POSIX_TRACE_FLUSH;

	/* The first free place is taken: what is empty is behind. */
	while (count && !producers[count - 1u])
		count--;
	crowd.count = count;
	for (unsigned i = 0; i < count; i++) {
		for (uint32_t at = 0; producers[i] && at < producers[i]->lanes; at++)
			pxt_intake_lane_look(&pull, &producers[i]->lane[at]);
		pull.all |= stream->block->full_policy == POSIX_TRACE_LOOP && producers[i] &&
		            is_pressed(producers[i]);
	}
	/* Bound: rounds, beside what take_all() takes. */
	for (unsigned round = 0; round < ROUNDS; round++) {
		pull.last = round == ROUNDS - 1u;
		fill_all(&pull, &crowd);
		take_all(&pull, &crowd);
		end_row(&pull);
		if (!crowd.stuck || crowd.full)
			break;
	}
	for (unsigned i = 0; i < count; i++) {
		if (producers[i])
			drop_lies(&pull, producers[i]);
	}
	tell_lost(&pull);
	tell_counts(&pull, &crowd, stops);
	for (unsigned i = 0; i < count; i++) {
		if (!producers[i])
			continue;
		if (pxt_intake_empty(producers[i]))
			tell_again(stream, producers[i]);
		producers[i]->bound = crowd.limit;
	}
	return crowd.limit;
}
