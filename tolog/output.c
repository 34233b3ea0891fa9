/* SPDX-License-Identifier: MIT */
/*
 * output.c - writes the log's bytes: short writes, a full disk (ENOSPC), a device that takes nothing; the log's lock.
 * One thing at a time is on its way; what a write left over goes out before anything else does.  An error goes back to
 * flush.c, which reports it.  So on a full disk nothing is lost here, and the next flush goes on where this one ended.
 * A device that says "not now" is asked again for a second; how long one write may take is in port/posix/logout.c.
 *
 * After two errors nothing is tried again.  EBADF: the program has closed the log's descriptor.  EPIPE, where the log
 * is no line: a reader that comes later would begin in the middle.
 */
#include "tolog/tolog.h"

#include "core/testpoints.h"

/* How long a device that says "not now" is asked again, while it takes nothing. */
#define PATIENCE_NS 1000000000u
#define SLICE_NS    1000000u

static const uint32_t burst_bytes = CONFIG_PTRACE_FLUSH_BURST_BYTES;
static const uint64_t burst_pause_ns = (uint64_t)CONFIG_PTRACE_FLUSH_BURST_DELAY_MS * 1000000u;

static uint32_t piece(const struct pxt_tolog *log)
{
	uint32_t left = log->way.length - log->way.sent;

	/* A head that was written in part would be none. */
	if (burst_bytes && log->way.head != PXT_HEAD_UNDER_WAY && left > burst_bytes - log->burst)
		left = burst_bytes - log->burst;
	return left;
}

/* A build may bound how much is written in a row (FLUSH_BURST_BYTES). */
static void pause_between_bursts(struct pxt_tolog *log)
{
	if (!burst_bytes || log->burst < burst_bytes)
		return;
	log->burst = 0;
	pxt_port_pause_ns(burst_pause_ns);
}

static void note_end(struct pxt_tolog *log, int error)
{
	if (error == EBADF || (error == EPIPE && !pxt_tolog_is_line(log)))
		log->over = error;
}

static int send_piece(struct pxt_tolog *log, size_t *done)
{
	struct pxt_tolog_way *way = &log->way;
	const unsigned char *from = way->bytes + way->sent;
	int error;

	*done = 0;
	if (pxt_tolog_output(log) == PXT_OUTPUT_SEALED)
		return ECANCELED;
	pxt_tolog_switch_output(log, PXT_OUTPUT_IDLE, PXT_OUTPUT_WRITING);
	PXT_TESTPOINT(PXT_TP_LOG_SENDING);
	if (log->out.kind == PXT_LOG_FILE)
		error = pxt_port_log_write_at(
		    &log->out, way->offset + way->sent, from, piece(log), done);
	else
		error = pxt_port_log_write(&log->out, from, piece(log), done);
	PXT_TESTPOINT(PXT_TP_LOG_SENT);
	/* A handler of this thread may have written it, too, and all that was after it. */
	if (pxt_tolog_output(log) == PXT_OUTPUT_SEALED) {
		*done = 0;
		return ECANCELED;
	}
	pxt_tolog_switch_output(log, PXT_OUTPUT_WRITING, PXT_OUTPUT_IDLE);
	atomic_fetch_add_explicit(&log->pieces, 1u, memory_order_relaxed);
	if (error && pxt_tolog_line_is_lossy(log, error)) {
		*done = piece(log);
		error = 0;
	}
	note_end(log, error);
	way->sent += (uint32_t)*done;
	log->burst += (uint32_t)*done;
	pause_between_bursts(log);
	return error;
}

/* A block counts once it is in the log as a whole. */
static void arrived(struct pxt_tolog *log)
{
	struct pxt_tolog_way way = log->way;

	log->way.what = PXT_WAY_NOTHING;
	if (way.what == PXT_WAY_DATA) {
		log->dirty = false;
		pxt_tolog_no_fresh(log);
		log->policy->placed(log, way.full);
	} else if (way.what == PXT_WAY_META) {
		pxt_logfmt_written(&log->meta, &log->sums, way.type);
		log->end += way.length;
		log->ended = way.type == PXT_LOG_TRAILER;
		pxt_tolog_new_meta(log);
	}
	PXT_TESTPOINT(PXT_TP_LOG_ARRIVED);
}

/*
 * A frame that is written again with more records: new ones go after its old ones, and then the head
 * that counts them.  The old head does not cover them, so a process that is killed in between loses
 * nothing that an earlier flush had written.
 */
static void begin_behind(struct pxt_tolog *log)
{
	const uint32_t before = pxt_logfmt_length(&log->placed);

	if (!log->header.frames || before <= PXT_LOG_BLOCK_BYTES)
		return;
	log->way.head = PXT_HEAD_TO_COME;
	log->way.sent = before;
}

/* True: the head is what is left to do. */
static bool turn_to_head(struct pxt_tolog *log)
{
	if (log->way.head != PXT_HEAD_TO_COME)
		return false;
	log->way.head = PXT_HEAD_UNDER_WAY;
	log->way.sent = 0;
	log->way.length = PXT_LOG_BLOCK_BYTES;
	return true;
}

/* All that is left of the piece, or the frame, that is on its way. */
static int send_rest(struct pxt_tolog *log)
{
	struct pxt_patience patience;

	pxt_patience_begin(&patience, PATIENCE_NS);
	while (log->way.sent < log->way.length || turn_to_head(log)) {
		size_t done;
		int error = send_piece(log, &done);

		if (done)
			pxt_patience_begin(&patience, PATIENCE_NS);
		if (error && (error != EAGAIN || !pxt_patience_pause(&patience, SLICE_NS)))
			return error;
	}
	return 0;
}

int pxt_tolog_resume(struct pxt_tolog *log)
{
	if (log->over)
		return log->over;
	if (log->way.what == PXT_WAY_NOTHING)
		return 0;
	do {
		int error = send_rest(log);

		if (error)
			return error;
	} while (pxt_tolog_line_more(log));
	arrived(log);
	return 0;
}

static int send_off(struct pxt_tolog *log, enum pxt_tolog_what what, const unsigned char *bytes,
    uint32_t length, uint64_t offset)
{
	log->way.what = what;
	log->way.bytes = bytes;
	log->way.length = length;
	log->way.sent = 0;
	log->way.offset = offset;
	log->way.head = PXT_HEAD_FIRST;
	if (what == PXT_WAY_DATA)
		begin_behind(log);
	pxt_tolog_line_pack(log);
	return pxt_tolog_resume(log);
}

/* Frames need neither a block's head nor its checksum. */
static uint32_t finish(struct pxt_tolog *log, struct pxt_log_block *block, enum pxt_log_type type)
{
	return pxt_tolog_is_line(log) ? block->used : pxt_logfmt_finish(block, &log->sums, type);
}

int pxt_tolog_put_head(struct pxt_tolog *log)
{
	pxt_logfmt_put_header(log->meta_bytes, &log->header);
	return send_off(log, PXT_WAY_HEAD, log->meta_bytes, PXT_LOG_HEADER_BYTES, 0);
}

int pxt_tolog_put_data(struct pxt_tolog *log, bool full)
{
	int error = pxt_tolog_resume(log);
	const uint32_t before = log->data.slots;
	uint32_t length;

	if (error)
		return error;
	if (!log->dirty) {
		if (full)
			log->policy->placed(log, true);
		return 0;
	}
	PXT_TESTPOINT(PXT_TP_LOG_TAKEN);
	pxt_tolog_code(log);
	/* What was coded left room: the block is not full, and it is written later. */
	if (full && log->data.slots != before && pxt_tolog_goes_on(log))
		return 0;
	length = finish(log, &log->data, PXT_LOG_DATA);
	log->way.full = full || !pxt_tolog_takes_slots(log);
	return send_off(log, PXT_WAY_DATA, log->data_bytes, length, log->policy->place(log));
}

int pxt_tolog_put_meta(struct pxt_tolog *log, enum pxt_log_type type)
{
	int error = pxt_tolog_resume(log);
	uint32_t length;

	if (error)
		return error;
	length = finish(log, &log->meta, type);
	log->way.type = type;
	return send_off(log, PXT_WAY_META, log->meta_bytes, length, log->end);
}

/*
 * LOOP: the newest frame as it was before, or an empty block where there was none of this number.  What was
 * told of coded records that are gone now is forgotten with the block.
 */
static bool restore_frame(struct pxt_tolog *log)
{
	uint32_t length;

	log->data = log->placed;
	log->way.full = log->data.coded != 0;
	length = pxt_logfmt_finish(&log->data, &log->sums, PXT_LOG_DATA);
	return send_off(log, PXT_WAY_DATA, log->data_bytes, length, log->way.offset) == 0;
}

bool pxt_tolog_give_up(struct pxt_tolog *log)
{
	enum pxt_tolog_what what = log->way.what;
	bool line = pxt_tolog_is_line(log);
	bool gone = log->way.sent && log->out.kind != PXT_LOG_FILE && !line;

	/* Frames that went out are not lost; a receiver misses the one that was torn. */
	pxt_tolog_lost(log, log->fresh - pxt_tolog_line_given_up(log));
	pxt_tolog_no_fresh(log);
	log->dirty = false;
	if ((what == PXT_WAY_HEAD && !line) || (what != PXT_WAY_NOTHING && gone))
		return false;
	/* What was cleared must not come back. */
	if (what == PXT_WAY_META && log->way.type == PXT_LOG_CLEAR)
		return pxt_tolog_resume(log) == 0;
	log->way.full = false;
	if (what == PXT_WAY_DATA && log->header.frames)
		return restore_frame(log);
	log->way.what = PXT_WAY_NOTHING;
	if (what == PXT_WAY_META)
		pxt_tolog_forget_told(log);
	return true;
}

void pxt_tolog_lose_rest(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	uint32_t sent = log->unwritten ? pxt_tolog_line_given_up(log) : 0;
	uint32_t rest = log->unwritten > sent ? log->unwritten - sent : 0;

	if (!rest)
		return;
	stream->block->retrieved -= rest;
	stream->block->lost += rest;
	atomic_store_explicit(&log->overrun, 1u, memory_order_release);
	pxt_tolog_no_fresh(log);
	log->dirty = false;
}

void pxt_tolog_new_data(struct pxt_tolog *log)
{
	pxt_logfmt_start(&log->data, log->data_bytes, log->data_room);
	log->data.grows = pxt_tolog_codes(log) && log->header.frames;
	log->placed = log->data;
	log->open = 0;
	log->dirty = false;
	pxt_tolog_no_fresh(log);
}

void pxt_tolog_new_meta(struct pxt_tolog *log)
{
	pxt_logfmt_start(&log->meta, log->meta_bytes, PXT_TOLOG_META_BYTES);
}

/* ---- A log that begins anew has nothing yet of what was told beside its records ---- */

void pxt_tolog_forget_told(struct pxt_tolog *log)
{
	memset(log->told_types, 0, sizeof(log->told_types));
	log->looked_ticks = 0;
	log->told_notes = 0;
	log->told_head = false;
	pxt_tolog_describe_forget(log);
}

/* ---- The log's lock ---- */

void pxt_tolog_lock(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);

	log->users++;
	while (atomic_load_explicit(&log->busy, memory_order_acquire)) {
		pxt_stream_unlock(stream);
		(void)pxt_port_wait(&log->busy, 1u, NULL, 0);
		pxt_port_mutex_lock(&stream->mutex);
	}
	log->holder = pxt_port_thread();
	atomic_store_explicit(&log->busy, 1u, memory_order_release);
}

void pxt_tolog_unlock(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);

	log->users--;
	atomic_fetch_add_explicit(&log->unlocks, 1u, memory_order_relaxed);
	atomic_store_explicit(&log->busy, 0u, memory_order_release);
	pxt_port_wake(&log->busy);
}

struct pxt_stream *pxt_tolog_enter(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);

	if (!stream)
		return NULL;
	if (pxt_tolog_of(stream)) {
		pxt_tolog_lock(stream);
		if (!stream->closing)
			return stream;
		pxt_tolog_unlock(stream);
	}
	pxt_stream_unlock(stream);
	return NULL;
}

int pxt_tolog_leave(struct pxt_stream *stream, int error)
{
	pxt_tolog_unlock(stream);
	return pxt_stream_leave(stream, error);
}
