/* SPDX-License-Identifier: MIT */
/*
 * iterator.c - blocks and events to messages.
 *
 * Messages never go back in time.  Stamps may, a little, between threads: such an event carries the
 * stamp of the one before it, as everywhere (TIM-06).  A block's losses are told before its
 * packet, from the end of the packet before to the end of this one, which is where CTF has them.
 */
#include "tools/babeltrace/ptrace.h"

#include <stdlib.h>
#include <time.h>

enum phase {
	PHASE_BEGIN,  /* nothing was said yet */
	PHASE_FETCH,  /* between blocks */
	PHASE_LOSSES, /* before a packet */
	PHASE_OPEN,
	PHASE_EVENTS,
	PHASE_CLOSE, /* open packets end */
	PHASE_END,   /* begun streams end */
	PHASE_DONE
};

/* What a step came to. */
enum outcome {
	OUTCOME_MESSAGE,
	OUTCOME_ON, /* no message, but another phase */
	OUTCOME_WAIT,
	OUTCOME_DONE,
	OUTCOME_FAILED
};

struct iterator {
	bt_self_message_iterator *self;
	struct pxt_bt_log *log;
	struct pxt_bt_file file;
	enum phase phase;
	bool final;           /* the packet at hand only tells what the log's end says was lost */
	bool had_packet;      /* stream 0 had one, which ended at ... */
	uint64_t ended;       /* ... this value of the clock */
	uint64_t value;       /* of the last message */
	uint64_t begin;       /* of the block at hand, ... */
	uint64_t end;         /* ... in values of the clock */
	uint64_t left;        /* records to be read from it */
	uint64_t lost;        /* told by it */
	uint64_t told;        /* told by all so far */
	uint64_t alive_value; /* the clock at the last sign of life, ... */
	int64_t alive_ns;     /* ... which was at this CLOCK_MONOTONIC of ours */
	uint32_t sweep;       /* the stream that CLOSE or END look at next */
	uint32_t stream;      /* of the record held */
	bool held;
	bool begun[PXT_BT_STREAMS];
	bt_packet *packets[PXT_BT_STREAMS];
	struct pxt_bt_record record;
};

/* ---- Values of the clock ---- */

static uint64_t ns_of(const struct timespec *time)
{
	if (time->tv_sec < 0)
		return 0;
	if ((uint64_t)time->tv_sec > UINT64_C(1) << 33)
		return UINT64_MAX;
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static uint64_t not_before(const struct iterator *it, uint64_t value)
{
	if (value > it->log->last_value)
		value = it->log->last_value;
	return value > it->value ? value : it->value;
}

static uint64_t value_of_ticks(const struct iterator *it, uint64_t ticks)
{
	struct timespec time = { 0, 0 };

	if (!it->log->params.corrected)
		return ticks;
	(void)posix_trace_log_gettime_np(it->file.trid, ticks, &time);
	return ns_of(&time);
}

static uint64_t value_of_record(const struct iterator *it)
{
	uint64_t value = it->log->params.corrected ? ns_of(&it->record.info.posix_timestamp)
	                                           : it->record.extra.posix_ticks_np;

	/* After its own block's end it would be after the packet's. */
	return not_before(it, value < it->end ? value : it->end);
}

static int64_t monotonic_ns(void)
{
	struct timespec now = { 0, 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void note_life(struct iterator *it, uint64_t value)
{
	it->alive_value = value;
	it->alive_ns = monotonic_ns();
}

/* ---- Messages ---- */

static enum outcome made(const bt_message *message)
{
	return message ? OUTCOME_MESSAGE : OUTCOME_FAILED;
}

static enum outcome begin_stream(struct iterator *it, uint32_t index, bt_message const **message)
{
	bt_stream *stream = pxt_bt_stream(it->log, index);

	if (!stream)
		return OUTCOME_FAILED;
	it->begun[index] = true;
	*message = bt_message_stream_beginning_create(it->self, stream);
	return made(*message);
}

static enum outcome begin_packet(
    struct iterator *it, uint32_t index, uint64_t value, bt_message const **message)
{
	bt_packet *packet = bt_packet_create(pxt_bt_stream(it->log, index));

	if (!packet)
		return OUTCOME_FAILED;
	it->packets[index] = packet;
	if (index > 0)
		bt_field_integer_unsigned_set_value(bt_field_structure_borrow_member_field_by_index(
		                                        bt_packet_borrow_context_field(packet), 0),
		    index - 1);
	it->value = value;
	*message =
	    bt_message_packet_beginning_create_with_default_clock_snapshot(it->self, packet, value);
	return made(*message);
}

static enum outcome end_packet(
    struct iterator *it, uint32_t index, uint64_t value, bt_message const **message)
{
	it->value = value;
	*message = bt_message_packet_end_create_with_default_clock_snapshot(
	    it->self, it->packets[index], value);
	BT_PACKET_PUT_REF_AND_RESET(it->packets[index]);
	if (index == 0) {
		it->had_packet = true;
		it->ended = value;
	}
	return made(*message);
}

/* CTF counts up from packet to packet: a loss before the first one wants an empty one before it. */
static enum outcome tell_losses(struct iterator *it, bt_message const **message)
{
	bt_message *made_message;

	if (!it->had_packet && !it->packets[0])
		return begin_packet(it, 0, it->begin, message);
	if (!it->had_packet)
		return end_packet(it, 0, it->begin, message);
	it->phase = PHASE_OPEN;
	it->told += it->lost;
	made_message = bt_message_discarded_events_create_with_default_clock_snapshots(
	    it->self, pxt_bt_stream(it->log, 0), it->ended, it->end);
	if (made_message)
		bt_message_discarded_events_set_count(made_message, it->lost);
	*message = made_message;
	return made(*message);
}

static enum outcome tell_event(struct iterator *it, bt_message const **message)
{
	const struct posix_trace_event_info *info = &it->record.info;
	const struct pxt_bt_class *class =
	    pxt_bt_class_find(it->log, &it->file, info->posix_event_id, it->record.bytes,
	        info->posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED);
	bt_message *event = NULL;

	it->held = false;
	it->value = value_of_record(it);
	if (class)
		event = bt_message_event_create_with_packet_and_default_clock_snapshot(
		    it->self, class->classes[it->stream != 0], it->packets[it->stream], it->value);
	*message = event;
	if (event && !pxt_bt_event_fill(it->log, &it->file, bt_message_event_borrow_event(event),
	                 class, &it->record)) {
		bt_message_put_ref(event);
		*message = NULL;
	}
	return made(*message);
}

/* ---- Phases ---- */

/* Nothing new.  After a while, says that nothing older will come, so that others need not wait. */
static enum outcome wait_for_more(struct iterator *it, bt_message const **message)
{
	int64_t idle = monotonic_ns() - it->alive_ns - it->log->params.quiet_ns;
	uint64_t hz =
	    it->log->params.corrected ? 1000000000u : it->file.info.posix_clock_np.posix_hz_np;
	uint64_t value;

	if (it->log->params.quiet_ns == 0 || idle <= 0)
		return OUTCOME_WAIT;
	value = not_before(it, it->alive_value + (uint64_t)((double)idle * 1e-9 * (double)hz));
	if (value <= it->value)
		return OUTCOME_WAIT;
	it->value = value;
	*message = bt_message_message_iterator_inactivity_create(it->self, it->log->clock, value);
	return made(*message);
}

/* After the last block: what only the log's end knows to be lost gets a packet of its own. */
static enum outcome conclude(struct iterator *it)
{
	uint64_t all = it->file.info.posix_lost_np;

	if (it->final || all <= it->told) {
		it->sweep = 0;
		it->phase = PHASE_END;
		return OUTCOME_ON;
	}
	it->final = true;
	it->begin = it->end = it->value;
	it->lost = all - it->told;
	it->left = 0;
	it->phase = PHASE_LOSSES;
	return OUTCOME_ON;
}

static enum outcome fetch(struct iterator *it, bt_message const **message)
{
	struct posix_trace_logblock_np block;
	int unavailable;

	if (posix_trace_log_nextblock_np(it->file.trid, &block, sizeof block, &unavailable) != 0) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
		    it->self, "%s", "the log was changed while it was read");
		return OUTCOME_FAILED;
	}
	if (unavailable) {
		(void)posix_trace_log_getinfo_np(
		    it->file.trid, &it->file.info, sizeof it->file.info);
		if (it->log->params.follow && !it->file.info.posix_complete_np)
			return wait_for_more(it, message);
		return conclude(it);
	}
	/* A thread or a type may have come with the block. */
	if (!it->file.info.posix_complete_np)
		(void)posix_trace_log_getinfo_np(
		    it->file.trid, &it->file.info, sizeof it->file.info);
	it->begin = not_before(it, value_of_ticks(it, block.posix_begin_ticks_np));
	it->end = not_before(it, value_of_ticks(it, block.posix_end_ticks_np));
	if (it->end < it->begin)
		it->end = it->begin;
	it->left = block.posix_records_np;
	it->lost = block.posix_lost_np;
	note_life(it, it->end);
	it->phase = PHASE_LOSSES;
	return OUTCOME_ON;
}

static enum outcome read_record(struct iterator *it)
{
	struct pxt_bt_record *record = &it->record;
	int unavailable = 1;
	int error;

	error = posix_trace_getnext_event(it->file.trid, &record->info, record->data,
	    sizeof record->data, &record->bytes, &unavailable);
	if (error) {
		struct posix_trace_logfinding_np damage = { .posix_reason_np = "it was changed" };

		(void)posix_trace_log_skipdamage_np(it->file.trid, &damage, sizeof damage);
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(it->self,
		    "the log is damaged at byte %llu: %s",
		    (unsigned long long)damage.posix_offset_np, damage.posix_reason_np);
		return OUTCOME_FAILED;
	}
	it->left--;
	if (unavailable) {
		it->left = 0;
		return OUTCOME_ON;
	}
	if (posix_trace_eventinfo_getextra_np(
	        &record->info, &record->extra, sizeof record->extra) != 0)
		record->extra = (struct posix_trace_eventextra_np){ .posix_cpu_np = -1 };
	it->stream = it->log->params.kernel && record->extra.posix_cpu_np >= 0 &&
	                     record->extra.posix_cpu_np < (int)PXT_BT_STREAMS - 1
	                 ? (uint32_t)record->extra.posix_cpu_np + 1
	                 : 0;
	it->held = true;
	return OUTCOME_ON;
}

static enum outcome do_events(struct iterator *it, bt_message const **message)
{
	if (!it->held && it->left > 0)
		return read_record(it);
	if (!it->held) {
		it->sweep = 0;
		it->phase = PHASE_CLOSE;
		return OUTCOME_ON;
	}
	if (!it->begun[it->stream])
		return begin_stream(it, it->stream, message);
	if (!it->packets[it->stream])
		return begin_packet(it, it->stream, value_of_record(it), message);
	return tell_event(it, message);
}

static enum outcome do_close(struct iterator *it, bt_message const **message)
{
	while (it->sweep < PXT_BT_STREAMS && !it->packets[it->sweep])
		it->sweep++;
	if (it->sweep < PXT_BT_STREAMS)
		return end_packet(it, it->sweep, it->end, message);
	it->phase = PHASE_FETCH;
	return it->final ? conclude(it) : OUTCOME_ON;
}

static enum outcome do_end(struct iterator *it, bt_message const **message)
{
	while (it->sweep < PXT_BT_STREAMS && !it->begun[it->sweep])
		it->sweep++;
	if (it->sweep == PXT_BT_STREAMS) {
		it->phase = PHASE_DONE;
		return OUTCOME_ON;
	}
	*message = bt_message_stream_end_create(it->self, pxt_bt_stream(it->log, it->sweep++));
	return made(*message);
}

static enum outcome step(struct iterator *it, bt_message const **message)
{
	switch (it->phase) {
	case PHASE_BEGIN:
		it->phase = PHASE_FETCH;
		return begin_stream(it, 0, message);
	case PHASE_FETCH:
		return fetch(it, message);
	case PHASE_LOSSES:
		if (it->lost)
			return tell_losses(it, message);
		it->phase = PHASE_OPEN;
		return OUTCOME_ON;
	case PHASE_OPEN:
		it->phase = PHASE_EVENTS;
		return begin_packet(it, 0, it->begin, message);
	case PHASE_EVENTS:
		return do_events(it, message);
	case PHASE_CLOSE:
		return do_close(it, message);
	case PHASE_END:
		return do_end(it, message);
	case PHASE_DONE:
	default:
		return OUTCOME_DONE;
	}
}

/* ---- What babeltrace2 calls ---- */

bt_message_iterator_class_next_method_status pxt_bt_iterator_next(bt_self_message_iterator *self,
    bt_message_array_const messages, uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	enum outcome outcome = OUTCOME_ON;
	uint64_t made_count = 0;

	while (made_count < capacity && (outcome == OUTCOME_ON || outcome == OUTCOME_MESSAGE)) {
		outcome = step(it, &messages[made_count]);
		if (outcome == OUTCOME_MESSAGE)
			made_count++;
	}
	if (outcome == OUTCOME_FAILED) {
		while (made_count > 0)
			bt_message_put_ref(messages[--made_count]);
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
	}
	*count = made_count;
	if (made_count > 0)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	return outcome == OUTCOME_WAIT ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN
	                               : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

static void put_packets(struct iterator *it)
{
	for (uint32_t i = 0; i < PXT_BT_STREAMS; i++)
		BT_PACKET_PUT_REF_AND_RESET(it->packets[i]);
}

bt_message_iterator_class_initialize_method_status pxt_bt_iterator_initialize(
    bt_self_message_iterator *self, bt_self_message_iterator_configuration *configuration,
    bt_self_component_port_output *port)
{
	struct iterator *it = calloc(1, sizeof *it);
	char why[512];

	if (!it)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	/* All our messages have stamps: babeltrace2 may go forward by itself, as `--begin` wants. */
	bt_self_message_iterator_configuration_set_can_seek_forward(configuration, BT_TRUE);
	it->self = self;
	it->log = bt_self_component_port_get_data(
	    bt_self_component_port_output_as_self_component_port(port));
	if (!pxt_bt_open(it->log, &it->file, why, sizeof why)) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self, "%s", why);
		free(it);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	note_life(it, value_of_ticks(it, it->file.info.posix_clock_np.posix_anchor_ticks_np));
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void pxt_bt_iterator_finalize(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	put_packets(it);
	pxt_bt_close(&it->file);
	free(it);
}

bt_message_iterator_class_can_seek_beginning_method_status pxt_bt_iterator_can_seek(
    bt_self_message_iterator *self, bt_bool *can_seek)
{
	(void)self;
	*can_seek = BT_TRUE;
	return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_BEGINNING_METHOD_STATUS_OK;
}

bt_message_iterator_class_seek_beginning_method_status pxt_bt_iterator_seek(
    bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	if (posix_trace_rewind(it->file.trid) != 0)
		return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_ERROR;
	put_packets(it);
	memset(it->begun, 0, sizeof it->begun);
	it->phase = PHASE_BEGIN;
	it->final = it->had_packet = it->held = false;
	it->ended = it->value = it->begin = it->end = it->left = it->lost = it->told = 0;
	return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
}
