/* SPDX-License-Identifier: MIT */
/*
 * fill.c - from the stream into a block: records as they are, and the marks that a flush adds.
 *
 * Runs with the stream's mutex.  A flush covers what was in the stream when it began: it ends at
 * the first record with a later stamp, so that writers cannot keep it going.  What a stopped
 * stream holds is finite, and all of it is covered.
 */
#include "tolog/tolog.h"

#include "core/process/names.h"
#include "core/read/take.h"
#include "core/stream/share.h"

/* ---- Putting a record ---- */

/* The room for a STOP is a STOP's. */
static bool log_admits(const struct pxt_tolog *log, uint32_t id, uint32_t bytes)
{
	uint32_t kept = id == PXT_ID_STOP ? 0u : PXT_TOLOG_STOP_BYTES;

	return !log->policy->left || bytes + kept <= log->policy->left(log);
}

/*
 * Room for a record, and for the loss slot before it?  Records that are coded leave room: so the log is
 * full when no more fits behind those that are in it.
 */
static enum pxt_fill may_put(
    const struct pxt_tolog *log, uint32_t id, uint32_t bytes, uint64_t lost)
{
	if (!log_admits(log, id, bytes))
		return pxt_tolog_codes(log) && log->dirty ? PXT_FILL_MORE : PXT_FILL_LOG_FULL;
	if (log->data.room - log->data.used < bytes + (lost ? PXT_SLOT_BYTES : 0u))
		return PXT_FILL_MORE;
	return PXT_FILL_ON;
}

/* @slots are where the record goes, after the place of the loss slot if there is to be one. */
static void put(struct pxt_tolog *log, const struct pxt_slot *slots, uint32_t n, uint64_t lost)
{
	if (lost)
		(void)pxt_logfmt_put_loss(&log->data, lost);
	(void)pxt_logfmt_put_record(&log->data, slots, n);
	log->unreported = 0;
	log->open += n * PXT_SLOT_BYTES;
	if (log->last_ticks < pxt_slot_ticks(slots))
		log->last_ticks = pxt_slot_ticks(slots);
	log->last_id = pxt_info_id(slots->word[1]);
	log->dirty = true;
	log->fresh++;
}

/* Where in `data` the next record goes. */
static struct pxt_slot *place_in_data(const struct pxt_tolog *log, uint64_t lost)
{
	return (struct pxt_slot *)(void *)(log->data.bytes + log->data.used) + (lost ? 1 : 0);
}

/* Counted as taken from the stream, but the log has no place for it. */
static void drop(struct pxt_stream *stream, const struct pxt_item *item)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	uint32_t records = item->kind == PXT_ITEM_MADE ? 0u : 1u;

	log->unreported += item->lost_before + records;
	pxt_tolog_lost(log, records);
	pxt_consumer_done(stream, item);
}

static enum pxt_fill put_item(struct pxt_stream *stream, const struct pxt_item *item)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	uint64_t lost = log->unreported + item->lost_before;
	uint32_t bytes = item->slots * PXT_SLOT_BYTES;
	enum pxt_fill may = may_put(log, pxt_info_id(item->info), bytes, lost);
	struct pxt_slot *slots = place_in_data(log, lost);
	const uint64_t before = stream->block->retrieved;

	/* Frames of a small log may be smaller than the largest record. */
	if (may == PXT_FILL_MORE && bytes + PXT_SLOT_BYTES > log->data.room - PXT_LOG_BLOCK_BYTES) {
		drop(stream, item);
		return PXT_FILL_ON;
	}
	if (may != PXT_FILL_ON)
		return may;
	if (!pxt_take_slots(stream, item, slots))
		return PXT_FILL_ON;
	put(log, slots, item->slots, lost);
	pxt_consumer_done(stream, item);
	log->unwritten += (uint32_t)(stream->block->retrieved - before);
	return PXT_FILL_ON;
}

/* ---- Records that the unit makes ---- */

static enum pxt_fill put_made(
    struct pxt_stream *stream, uint32_t id, uint64_t ticks, const int *value)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	struct pxt_block *block = stream->block;
	struct pxt_slot *slots = place_in_data(log, 0);
	struct pxt_item item;
	enum pxt_fill may;
	uint64_t kept;

	if (ticks < log->last_ticks)
		ticks = log->last_ticks;
	pxt_consumer_make(&item, id, ticks, value, value ? (uint32_t)sizeof(*value) : 0u);
	may = may_put(log, id, item.slots * PXT_SLOT_BYTES, 0);
	if (may != PXT_FILL_ON)
		return may;
	(void)pxt_take_slots(stream, &item, slots);
	kept = log->unreported;
	put(log, slots, item.slots, 0);
	/* Told before the next record of the stream. */
	log->unreported = kept;
	/* What the stream hands out from now on is not reported earlier. */
	if (block->last_ticks < ticks)
		block->last_ticks = ticks;
	return PXT_FILL_ON;
}

static enum pxt_fill put_stop_mark(struct pxt_stream *stream, uint64_t at_most)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	uint64_t ticks = log->stop_ticks < at_most ? log->stop_ticks : at_most;
	enum pxt_fill result = put_made(stream, PXT_ID_FLUSH_STOP, ticks, NULL);

	if (result == PXT_FILL_ON)
		log->stop_mark = false;
	return result;
}

/* ---- The flush ---- */

static bool covered(struct pxt_stream *stream, const struct pxt_tolog_flush *flush, uint64_t ticks)
{
	return flush->final || ticks <= flush->bound ||
	       pxt_block_state(stream->block) != PXT_GATE_RUNNING;
}

/*
 * A record that is there has no stamp after the clock, unless the counter stepped back since.  Then it
 * is older than the flush, and so is what comes with its time because it was handed out before, and has
 * an older stamp.
 */
static bool is_of_the_past(const struct pxt_tolog_flush *flush, const struct pxt_item *item)
{
	uint64_t now = pxt_port_ticks_ordered();

	return item->ticks > now && (item->stamp > now || item->stamp <= flush->bound);
}

/* Up to which stamp records are taken without a look at each. */
static uint64_t plainly_covered(struct pxt_stream *stream, const struct pxt_tolog_flush *flush)
{
	const struct pxt_tolog *log = pxt_tolog_of(stream);
	uint64_t until =
	    !flush->exact && covered(stream, flush, UINT64_MAX) ? UINT64_MAX : flush->bound;

	/* A STOP by call is never amid others: it comes after a mark. */
	if (log->stop_mark && log->stop_ticks <= until)
		until = log->stop_ticks - 1u;
	return until;
}

/*
 * Younger than what is asked for, but older records may be after it.  Neither it nor its stamp
 * is to show; what was lost before it is.
 */
static void leave_out(
    struct pxt_stream *stream, struct pxt_tolog_flush *flush, const struct pxt_item *item)
{
	uint64_t last_ticks = stream->block->last_ticks;

	flush->younger += item->kind != PXT_ITEM_MADE;
	pxt_tolog_of(stream)->unreported += item->lost_before;
	pxt_consumer_done(stream, item);
	stream->block->last_ticks = last_ticks;
}

/*
 * FLUSH_STOP comes before what was recorded after it; and before a STOP by call in any case, which
 * ends what it stops.
 */
static bool stop_mark_first(const struct pxt_tolog *log, const struct pxt_item *item)
{
	return log->stop_mark &&
	       (item->ticks >= log->stop_ticks ||
	           (item->kind != PXT_ITEM_MADE && pxt_info_id(item->info) == PXT_ID_STOP));
}

/* Slots that block and log have room for. */
static uint32_t room_for_run(const struct pxt_tolog *log)
{
	const uint32_t stop = PXT_TOLOG_STOP_BYTES;
	uint32_t room = log->data.room - log->data.used;
	uint64_t left;

	if (log->policy->left) {
		left = log->policy->left(log);
		left -= left < stop ? left : stop;
		room = left < room ? (uint32_t)left : room;
	}
	return room / PXT_SLOT_BYTES;
}

/*
 * What may go from the stream into the block without a look at each record: nothing is before
 * it in the log.
 */
static void put_run(struct pxt_stream *stream, const struct pxt_tolog_flush *flush)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	struct pxt_run run = { .to = place_in_data(log, 0), .room = room_for_run(log) };

	if (log->unreported)
		return;
	pxt_take_run(stream, &run, plainly_covered(stream, flush));
	if (!run.records)
		return;
	pxt_logfmt_put_copied(&log->data, run.slots, run.records, run.least, run.most);
	log->open += run.slots * PXT_SLOT_BYTES;
	if (log->last_ticks < run.most)
		log->last_ticks = run.most;
	log->last_id = run.last_id;
	log->dirty = true;
	log->fresh += run.records;
	log->unwritten += run.records;
}

static enum pxt_fill fill_items(struct pxt_stream *stream, struct pxt_tolog_flush *flush)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	enum pxt_fill result = PXT_FILL_ON;
	struct pxt_item item;

	while (result == PXT_FILL_ON) {
		enum pxt_next found;

		put_run(stream, flush);
		found = pxt_consumer_next(stream, &item);
		if (found == PXT_NEXT_HELD)
			return PXT_FILL_HELD;
		if (found == PXT_NEXT_NONE ||
		    (!covered(stream, flush, item.ticks) && !is_of_the_past(flush, &item)))
			return PXT_FILL_DONE;
		if (flush->exact && item.stamp > flush->bound && !is_of_the_past(flush, &item))
			leave_out(stream, flush, &item);
		else if (stop_mark_first(log, &item))
			result = put_stop_mark(stream, item.ticks);
		else
			result = put_item(stream, &item);
	}
	return result;
}

/* The log is full: what the stream still has is discarded (DEC-14). */
static enum pxt_fill discard(struct pxt_stream *stream)
{
	struct pxt_item item;
	enum pxt_next found;

	while ((found = pxt_consumer_next(stream, &item)) == PXT_NEXT_READY)
		drop(stream, &item);
	return found == PXT_NEXT_HELD ? PXT_FILL_HELD : PXT_FILL_DONE;
}

/* The automatic STOP that ends a full log, unless its last record is one anyway. */
static enum pxt_fill put_last_stop(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	const int automatic = 1;
	enum pxt_fill result = PXT_FILL_ON;

	if (log->last_id != PXT_ID_STOP && pxt_admit_system(stream->block, PXT_ID_STOP))
		result = put_made(stream, PXT_ID_STOP, pxt_port_ticks_ordered(), &automatic);
	if (result == PXT_FILL_ON)
		log->owes_stop = false;
	return result;
}

/*
 * Whether waiting for an unfinished record is over.  What was unfinished at the first look is passed
 * over by a look that begins a hold-back time later (@looked); so this one was reserved since.
 */
static bool waited_enough(struct pxt_stream *stream, struct pxt_tolog_flush *flush, uint64_t looked)
{
	if (!flush->held) {
		flush->held = true;
		flush->held_since = pxt_port_ticks();
		return false;
	}
	return !flush->final && pxt_block_state(stream->block) == PXT_GATE_RUNNING &&
	       (int64_t)(looked - flush->held_since) >
	           (int64_t)pxt_share_patience_ticks(stream->block);
}

/* The type whose events tell a thread's name, as all readers know it; 0: there is none so far. */
static uint32_t find_rename(struct pxt_tolog *log)
{
	const uint32_t end = PXT_ID_USER_FIRST + pxt_names_count();

	if (log->looked_types < PXT_ID_USER_FIRST)
		log->looked_types = PXT_ID_USER_FIRST;
	for (; log->looked_types < end; log->looked_types++)
		if (strcmp(pxt_names_of(log->looked_types), "task_rename") == 0)
			log->rename_type = log->looked_types;
	return log->rename_type;
}

/*
 * Whether a record that was put tells a thread's name.  A look at each is for programs that tell names: others have no
 * such type.
 */
static void note_names(struct pxt_tolog *log)
{
	struct pxt_log_block *data = &log->data;
	const uint32_t rename = PXT_SMALL ? 0 : find_rename(log);
	uint32_t at = PXT_LOG_BLOCK_BYTES + pxt_logfmt_whole_slots(data->coded);

	if (PXT_SMALL)
		return;
	if (!data->coded)
		data->nameless = true;
	if (!rename && !pxt_names_tells(POSIX_TRACE_PROCESS_NP))
		return;
	/* Bound: the slots of a block.  What was coded was looked at before. */
	while (data->nameless && at < data->used) {
		const struct pxt_slot *slot =
		    (const struct pxt_slot *)(const void *)(data->bytes + at);
		const uint32_t id = pxt_info_id(slot->word[1]);
		const bool loss = id == PXT_LOG_ID_LOSS;

		data->nameless = loss || (id != POSIX_TRACE_PROCESS_NP && id != rename);
		at += (loss ? 1u : pxt_info_slots(slot->word[1], PXT_CTX_BYTES)) * PXT_SLOT_BYTES;
	}
}

static enum pxt_fill fill(struct pxt_stream *stream, struct pxt_tolog_flush *flush)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	uint64_t looked = pxt_port_ticks();
	uint64_t begun = flush->bound;
	enum pxt_fill result;

	/* It was coded, and is to go out before anything else. */
	if (log->data.coded && !log->data.grows)
		return PXT_FILL_MORE;
	if (log->owes_stop) {
		result = put_last_stop(stream);
		if (result != PXT_FILL_ON)
			return result;
	}
	if (log->policy->left && atomic_load_explicit(&log->full, memory_order_relaxed))
		return discard(stream);
	if (flush->start_told)
		return PXT_FILL_DONE;
	result = fill_items(stream, flush);
	if (result == PXT_FILL_HELD && waited_enough(stream, flush, looked)) {
		result = PXT_FILL_DONE;
		/* What is held was recorded before: it must not be reported after the flush. */
		begun = 0;
	}
	if (result == PXT_FILL_DONE && log->stop_mark && (flush->marks || flush->final)) {
		result = put_stop_mark(stream, begun ? UINT64_MAX : 0);
		result = result == PXT_FILL_ON ? PXT_FILL_DONE : result;
	}
	if (result == PXT_FILL_DONE && flush->marks) {
		result = PXT_FILL_ON;
		/* While a process waits to be attached, older records may come after this flush. */
		if (pxt_block_merges(stream->block) && begun > stream->block->snapshot)
			begun = stream->block->snapshot;
		if (pxt_admit_system(stream->block, PXT_ID_FLUSH_START))
			result = put_made(stream, PXT_ID_FLUSH_START, begun, NULL);
		flush->start_told = result == PXT_FILL_ON;
		result = result == PXT_FILL_ON ? PXT_FILL_DONE : result;
	}
	return result;
}

enum pxt_fill pxt_tolog_fill(struct pxt_stream *stream, struct pxt_tolog_flush *flush)
{
	const enum pxt_fill result = fill(stream, flush);

	note_names(pxt_tolog_of(stream));
	return result;
}
