/* SPDX-License-Identifier: MIT */
/*
 * copy.c - the private copy of a stream; see copy.h.
 *
 * Writers go on meanwhile and notice nothing.  The clock is read first, then lane after lane its head
 * and its slots: records that were finished before the clock was read are in, later ones are known by
 * their stamps.  Slots are loaded one by one, each as a whole and with its tag, so that nothing torn is
 * taken for a record, whatever was stored in between.
 */
#include "core/copy/copy.h"

#include "core/read/lane.h"
#include "core/stream/gate.h"
#include "core/stream/share.h"

#define SLICE_NS 50000u

/* Positions of a lane. */
struct span {
	uint64_t open; /* the first slot that its writer has not stored yet; head: there is none */
	uint64_t head;
};

/* ---- Words ---- */

static void copy_gate(struct pxt_block *to, struct pxt_block *from)
{
	atomic_store_explicit(&to->gate, atomic_load_explicit(&from->gate, memory_order_acquire),
	    memory_order_relaxed);
	pxt_wide_set(&to->auto_stop_ticks, pxt_wide_load(&from->auto_stop_ticks));
}

/* The header stays away: a core file has the stream once. */
static void copy_block(struct pxt_block *to, struct pxt_block *from)
{
	const size_t consumers = offsetof(struct pxt_block, retrieved);

	to->lane_mask = from->lane_mask;
	to->slot_mask = from->slot_mask;
	to->max_data = from->max_data;
	to->pid = from->pid;
	to->index = PXT_INDEX_COPY;
	memcpy((unsigned char *)to + consumers, (const unsigned char *)from + consumers,
	    sizeof(*to) - consumers);
	pxt_block_lay_out(to);
	copy_gate(to, from);
}

static void copy_head(struct pxt_lane *to, struct pxt_lane *from, struct span *span)
{
	uint64_t seq;

	pxt_lane_head(from, &span->head, &seq);
	PXT_TESTPOINT(PXT_TP_COPIED_HEAD);
	pxt_cursor_set(&to->head, span->head << 32 | (seq & PXT_SEQ_MASK) << 1 | PXT_HEAD_CLOSED);
	pxt_twins_set(
	    &to->epoch, pxt_epoch_make((uint32_t)(span->head >> 30), (uint32_t)(seq >> 29)));
	pxt_wide_set(&to->first_lost, pxt_wide_load(&from->first_lost));
	atomic_store_explicit(&to->limit, atomic_load_explicit(&from->limit, memory_order_relaxed),
	    memory_order_relaxed);
}

static void copy_place(struct pxt_lane *to, const struct pxt_lane *from)
{
	const size_t consumers = offsetof(struct pxt_lane, pos);

	memcpy(to->oob_pos, from->oob_pos, sizeof(to->oob_pos));
	to->barrier_pos = from->barrier_pos;
	memcpy((unsigned char *)to + consumers, (const unsigned char *)from + consumers,
	    sizeof(*to) - consumers);
}

/* ---- Slots ---- */

/*
 * What was overwritten before it could be copied: everything before it goes as well, so that there
 * is one gap, before all that is left.
 */
static void take_away(const struct pxt_ring *to, uint64_t from, uint64_t end)
{
	for (uint64_t pos = from; pos < end; pos++) {
		uint32_t next_lap = (uint32_t)pos + to->mask + 1u;

		pxt_slot_store(
		    &to->slots[(uint32_t)pos & to->mask], pxt_tag(to->mask, next_lap, 0), 0);
	}
}

/*
 * From the oldest on, which writers overwrite first.  False: they overwrote more than half of what
 * there was.
 */
static bool copy_slots(const struct pxt_ring *to, const struct pxt_ring *from, struct span *span)
{
	uint64_t lap = span->head - to->mask - 1u;
	uint64_t oldest = to->lane->pos > lap ? to->lane->pos : lap;
	uint64_t kept = oldest;

	span->open = span->head;
	for (uint64_t pos = oldest; pos < span->head; pos++) {
		uint32_t at = (uint32_t)pos & to->mask;
		struct pxt_halves slot = pxt_slot_load_halves(&from->slots[at]);
		int32_t ahead = pxt_tag_lap_ahead(to->mask, (uint32_t)slot.low, (uint32_t)pos);

		pxt_slot_store(&to->slots[at], slot.low, slot.high);
		PXT_TESTPOINT(PXT_TP_COPIED_SLOT);
		if (ahead > 0)
			kept = pos + 1u;
		else if (ahead < 0 && span->open == span->head)
			span->open = pos;
	}
	take_away(to, oldest, kept);
	return kept - oldest <= (span->head - oldest) / 2u;
}

/*
 * Slots that are stored by now.  Those that were read and overwritten since stay as they are: never
 * finished, as far as the copy knows.
 */
static void copy_late(const struct pxt_ring *to, const struct pxt_ring *from, struct span *span)
{
	uint64_t open = span->head;

	for (uint64_t pos = span->open; pos < span->head; pos++) {
		uint32_t at = (uint32_t)pos & to->mask;
		struct pxt_halves slot = pxt_slot_load_halves(&to->slots[at]);
		int32_t ahead = pxt_tag_lap_ahead(to->mask, (uint32_t)slot.low, (uint32_t)pos);

		if (ahead < 0) {
			slot = pxt_slot_load_halves(&from->slots[at]);
			ahead = pxt_tag_lap_ahead(to->mask, (uint32_t)slot.low, (uint32_t)pos);
			if (ahead == 0)
				pxt_slot_store(&to->slots[at], slot.low, slot.high);
			else if (ahead < 0 && open == span->head)
				open = pos;
		}
	}
	span->open = open;
}

/* ---- The copy ---- */

/* A copy never changes again: missing slots stay missing, and it is never restarted. */
static void detach(struct pxt_copy *copy)
{
	struct pxt_block *block = copy->stream.block;

	block->quiet = 1;
	block->with_log = 1;
	block->snapshot = 0;
	pxt_block_end_turn(block);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		lane->front_state = PXT_FRONT_UNKNOWN;
		lane->look_ticks = copy->moment;
		lane->stuck_since = 0;
	}
}

static bool any_open(const struct pxt_copy *copy, const struct span *spans)
{
	for (uint32_t i = 0; i <= pxt_block_last(copy->stream.block); i++) {
		if (spans[i].open < spans[i].head)
			return true;
	}
	return false;
}

static void begin_copy(struct pxt_copy *copy, struct pxt_stream *stream)
{
	copy->moment = pxt_port_ticks_ordered();
	(void)pxt_share_pull(stream->block, copy->moment, pxt_share_takes_all(stream->block));
	copy->stream.ticks = stream->ticks;
	copy->refused = 0;
}

static bool copy_lanes(struct pxt_copy *copy, struct pxt_block *from, struct span *spans)
{
	struct pxt_block *to = copy->stream.block;
	bool good = true;

	for (uint32_t i = 0; i <= pxt_block_last(to); i++) {
		struct pxt_ring ring = pxt_block_ring(to, i);
		struct pxt_ring live = pxt_block_ring(from, i);

		/* Directly before its slots: writers do not wait until the other lanes are copied. */
		copy_head(ring.lane, live.lane, &spans[i]);
		copy->refused += pxt_counter_load(&live.lane->refused);
		good &= copy_slots(&ring, &live, &spans[i]);
	}
	return good;
}

static bool copy_all(struct pxt_copy *copy, struct pxt_stream *stream, struct span *spans)
{
	struct pxt_block *to = copy->stream.block;
	bool good;

	begin_copy(copy, stream);
	copy_block(to, stream->block);
	for (uint32_t i = 0; i <= pxt_block_last(to); i++) {
		struct pxt_ring ring = pxt_block_ring(to, i);

		copy_place(ring.lane, pxt_block_lane(stream->block, i));
		pxt_cells_init(ring.slots, ring.mask + 1u);
	}
	good = copy_lanes(copy, stream->block, spans);
	copy->retrieved = to->retrieved;
	copy->lost_told = to->lost + to->refused_told - to->lost_before;
	return good;
}

/* The STOP went to others, and the START after it is not there yet: late records alone. */
static void forget_told_stop(struct pxt_block *block)
{
	if (pxt_gate_stop_told(block)) {
		uint32_t gate = atomic_load_explicit(&block->gate, memory_order_relaxed);

		pxt_gate_step(block, PXT_STEP_STOP);
		atomic_store_explicit(&block->gate, gate & ~PXT_GATE_STATE, memory_order_relaxed);
	}
}

/* Without the mutex but for a look; a stream that is gone meanwhile has told what it can tell. */
static void wait_for_writers(trace_id_t trid, struct pxt_copy *copy, struct span *spans)
{
	struct pxt_patience patience;
	struct pxt_stream *stream;

	pxt_patience_begin(&patience, pxt_holdback_ns);
	/* Bound: the hold-back time. */
	while (any_open(copy, spans) && pxt_patience_pause(&patience, SLICE_NS)) {
		stream = pxt_stream_lock(trid);
		if (!stream)
			break;
		for (uint32_t i = 0; i <= pxt_block_last(stream->block); i++) {
			struct pxt_ring to = pxt_block_ring(copy->stream.block, i);
			struct pxt_ring from = pxt_block_ring(stream->block, i);

			copy_late(&to, &from, &spans[i]);
		}
		pxt_stream_unlock(stream);
	}
}

static void complete_copy(trace_id_t trid, struct pxt_copy *copy, struct span *spans, bool quiet)
{
	if (!quiet)
		wait_for_writers(trid, copy, spans);
	detach(copy);
}

int pxt_copy_take(trace_id_t trid, struct pxt_copy *copy)
{
	struct span spans[CONFIG_PTRACE_LANES_MAX] = { { 0 } };
	struct pxt_stream *stream;
	bool quiet;

	pxt_share_settle(trid);
	stream = pxt_stream_lock(trid);
	if (!stream)
		return EINVAL;
	memset(copy, 0, sizeof(*copy));
	copy->stream.block_bytes = stream->block_bytes;
	/* Memory takes its time: the moment comes after it. */
	pxt_stream_unlock(stream);
	copy->stream.block = pxt_port_alloc(copy->stream.block_bytes);
	if (!copy->stream.block)
		return ENOMEM;
	/* Until it is freed: it names threads by their places. */
	pxt_threads_pin();
	stream = pxt_stream_lock(trid);
	if (!stream) {
		pxt_copy_free(copy);
		return EINVAL;
	}
	/* A thread that is kept from the processor in between begins anew: the moment is a later one then. */
	for (unsigned left = PXT_COPY_TRIES; left && !copy_all(copy, stream, spans); left--)
		continue;
	quiet = stream->block->quiet;
	pxt_stream_unlock(stream);
	complete_copy(trid, copy, spans, quiet);
	forget_told_stop(copy->stream.block);
	return 0;
}

void pxt_copy_free(struct pxt_copy *copy)
{
	pxt_port_free(copy->stream.block, copy->stream.block_bytes);
	copy->stream.block = NULL;
	pxt_threads_unpin();
}

/* ---- Once more, for a consumer that goes on ---- */

/*
 * A copy that is made once more: what its consumer did stays, what control calls have done since
 * comes.  An automatic stop whose STOP was handed out ends with the START of the restart, however
 * long ago the stream's own consumer took that.  One that began and ended since the last time is not seen; what was
 * refused in it is counted.
 */
static void renew_block(struct pxt_block *to, struct pxt_block *from)
{
	bool restarted = to->start_ticks != from->start_ticks;

	copy_gate(to, from);
	pxt_admit_copy(to, from);
	to->barriers = from->barriers;
	if (pxt_gate_stop_told(to) && (restarted || pxt_block_state(from) != PXT_GATE_AUTO))
		pxt_gate_step(to, restarted && pxt_admit_system(from, PXT_ID_START)
		                      ? PXT_STEP_RESTART
		                      : PXT_STEP_RESTART_MUTE);
	to->start_ticks = from->start_ticks;
}

/* START and STOP that are beside the lanes since @since. */
static void renew_oobs(struct pxt_block *to, struct pxt_block *from, uint64_t since)
{
	unsigned at = 0;

	for (unsigned i = 0; i < PXT_OOBS; i++) {
		while (at < PXT_OOBS && to->oob[at].info)
			at++;
		if (at == PXT_OOBS || !from->oob[i].info || from->oob[i].ticks <= since)
			continue;
		to->oob[at] = from->oob[i];
		for (uint32_t lane = 0; lane <= pxt_block_last(from); lane++)
			pxt_block_lane(to, lane)->oob_pos[at] =
			    pxt_block_lane(from, lane)->oob_pos[i];
	}
}

/* What was refused is counted for all lanes at once, and by no mark in addition. */
static void count_refused(struct pxt_copy *copy, struct pxt_block *from, uint64_t since)
{
	struct pxt_block *to = copy->stream.block;

	pxt_lane_gap_lost(to, copy->refused - since);
	for (uint32_t lane = 0; lane <= pxt_block_last(from); lane++)
		pxt_lane_discarded_forget(to, pxt_block_lane(to, lane), pxt_block_lane(from, lane));
}

static bool renew_all(struct pxt_copy *copy, struct pxt_stream *stream, struct span *spans)
{
	begin_copy(copy, stream);
	renew_block(copy->stream.block, stream->block);
	return copy_lanes(copy, stream->block, spans);
}

int pxt_copy_again(struct pxt_stream *stream, struct pxt_copy *copy)
{
	struct span spans[CONFIG_PTRACE_LANES_MAX] = { { 0 } };
	struct pxt_block *block = copy->stream.block;
	uint64_t since = copy->moment;
	uint64_t refused = copy->again ? copy->refused : block->refused_told;
	trace_id_t trid;
	bool quiet;

	pxt_port_mutex_lock(&stream->mutex);
	if (!stream->block || stream->block_bytes != copy->stream.block_bytes) {
		pxt_stream_unlock(stream);
		return EINVAL;
	}
	copy->again = true;
	for (unsigned left = PXT_COPY_TRIES; left && !renew_all(copy, stream, spans); left--)
		continue;
	renew_oobs(block, stream->block, since);
	count_refused(copy, stream->block, refused);
	trid = stream->trid;
	quiet = stream->block->quiet;
	pxt_stream_unlock(stream);
	complete_copy(trid, copy, spans, quiet);
	return 0;
}
