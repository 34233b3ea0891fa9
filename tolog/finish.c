/* SPDX-License-Identifier: MIT */
/* finish.c - the log begins anew (clear), and the end of it (shutdown). */
#include "tolog/tolog.h"

#include "core/control/control.h"
#include "core/testpoints.h"

#define SLICE_NS 50000u

/* ---- Clear ---- */

/* *begun stays false where everything is as it was: the clear is still to be done. */
static int restart_file(struct pxt_tolog *log, const struct _pxt_attr *attr, bool *begun)
{
	int error = pxt_port_log_truncate(&log->out, 0);

	if (error)
		return error;
	*begun = true;
	PXT_TESTPOINT(PXT_TP_LOG_EMPTIED);
	pxt_tolog_turns_clear(log);
	log->header.generation++;
	pxt_tolog_begin_sums(log);
	log->policy->lay_out(log, attr);
	log->way.what = PXT_WAY_NOTHING;
	pxt_tolog_new_data(log);
	pxt_tolog_new_meta(log);
	pxt_tolog_forget_told(log);
	return pxt_tolog_put_head(log);
}

/* What must be out, whole, before a mark may follow: a torn block, and an earlier mark. */
static int make_way(struct pxt_tolog *log)
{
	const struct pxt_tolog_way *way = &log->way;
	bool mark = way->what == PXT_WAY_META && way->type == PXT_LOG_CLEAR;

	return way->sent || mark ? pxt_tolog_resume(log) : 0;
}

/* What is out cannot be taken back: a block says that it does not count.  *begun as above. */
static int mark_clear(struct pxt_tolog *log, uint64_t cleared, bool *begun)
{
	int error = make_way(log);

	if (error)
		return error;
	*begun = true;
	if (log->way.what == PXT_WAY_META) {
		pxt_tolog_new_meta(log);
		pxt_tolog_forget_told(log);
	}
	log->way.what = PXT_WAY_NOTHING;
	pxt_tolog_new_data(log);
	(void)pxt_logfmt_put_clear(&log->meta, pxt_port_ticks_ordered(), cleared);
	log->cleared_log = log->sums.records;
	return pxt_tolog_put_meta(log, PXT_LOG_CLEAR);
}

int pxt_tolog_begin_anew(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	struct pxt_block *block = stream->block;
	uint64_t cleared_now = block->cleared;
	uint64_t cleared =
	    log->sums.records - log->cleared_log + log->fresh + cleared_now - log->cleared_stream;
	struct _pxt_attr attr = block->attr;
	bool begun = false;
	int error;

	log->clear_due = false;
	log->stop_mark = false;
	log->owes_stop = false;
	log->unreported = 0;
	log->last_id = 0;
	atomic_store_explicit(&log->full, 0u, memory_order_release);
	atomic_store_explicit(&log->overrun, 0u, memory_order_release);
	pxt_tolog_let_go(stream, log);
	error = log->out.kind == PXT_LOG_SEQUENTIAL ? mark_clear(log, cleared, &begun)
	                                            : restart_file(log, &attr, &begun);
	/* As after create: a handler that ends this log cannot find it out. */
	if (!error && pxt_tolog_seals())
		error = pxt_tolog_tell(stream, PXT_WHEN_FLUSH);
	pxt_tolog_regain(stream, log);
	pxt_tolog_note_error(log, error);
	/* Once begun, the head, or the mark, is on its way: only the rest of it is missing. */
	if (begun)
		log->cleared_stream = cleared_now;
	else
		log->clear_due = true;
	return error;
}

/* What is out in a file is taken back; where the file does not let it, nothing is touched. */
int pxt_tolog_before_clear(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	int error = 0;

	if (log->out.kind == PXT_LOG_SEQUENTIAL)
		return 0;
	pxt_tolog_lock(stream);
	if (pxt_tolog_output(log) != PXT_OUTPUT_SEALED) {
		pxt_tolog_let_go(stream, log);
		error = pxt_port_log_may_truncate(&log->out);
		pxt_tolog_regain(stream, log);
	}
	pxt_tolog_unlock(stream);
	return error;
}

/*
 * Core holds both locks.  Nobody writes with them held, and another thread may be in the middle
 * of a flush: so the wish is left for a thread that holds the log's lock, and the locks are given up until it
 * was fulfilled.
 */
int pxt_tolog_at_clear(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);

	/* A log that was sealed stays, and nothing follows it. */
	if (pxt_tolog_output(log) == PXT_OUTPUT_SEALED) {
		stream->dead_log = 1;
		return 0;
	}
	log->clear_due = true;
	atomic_store_explicit(&log->error, 0, memory_order_release);
	pxt_process_unlock();
	pxt_tolog_lock(stream);
	if (log->clear_due)
		(void)pxt_tolog_begin_anew(stream);
	pxt_tolog_unlock(stream);
	/* In their order again, for Core to give up. */
	pxt_stream_unlock(stream);
	pxt_process_lock();
	pxt_port_mutex_lock(&stream->mutex);
	return 0;
}

/* ---- Shutdown ---- */

static void read_status(struct pxt_stream *stream, struct pxt_log_trailer *trailer)
{
	const struct pxt_tolog *log = pxt_tolog_of(stream);
	struct posix_trace_status_info *status = &trailer->status;

	pxt_status_take(stream, status);
	status->posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING;
	status->posix_stream_flush_error = atomic_load_explicit(&log->error, memory_order_acquire);
	status->posix_log_overrun_status = atomic_load_explicit(&log->overrun, memory_order_acquire)
	                                       ? POSIX_TRACE_OVERRUN
	                                       : POSIX_TRACE_NO_OVERRUN;
	status->posix_log_full_status = atomic_load_explicit(&log->full, memory_order_acquire)
	                                    ? POSIX_TRACE_FULL
	                                    : POSIX_TRACE_NOT_FULL;
	pxt_status_counts(stream, &trailer->counts);
	pxt_tolog_turns_rest(log, &trailer->counts);
	trailer->attr = stream->block->attr;
}

/* LOOP: the newest block is in its frame already, and ends with the log. */
static void close_last_block(struct pxt_tolog *log)
{
	log->data = log->placed;
	if (log->header.frames && log->begun > log->sums.data_sequence)
		pxt_logfmt_written(&log->data, &log->sums, PXT_LOG_DATA);
}

int pxt_tolog_put_end(struct pxt_stream *stream, struct pxt_log_trailer *trailer, bool anyway)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	int error;
	int last;

	close_last_block(log);
	pxt_tolog_new_meta(log);
	error = pxt_tolog_tell(stream, PXT_WHEN_END);
	if (error && !(anyway && pxt_tolog_give_up(log)))
		return error;
	pxt_tolog_new_meta(log);
	PXT_TESTPOINT(PXT_TP_LOG_LAST);
	last = pxt_tolog_put_trailer(log, trailer);
	PXT_TESTPOINT(PXT_TP_LOG_ENDED);
	return error ? error : last;
}

/*
 * With what is in the log, after an error too: where a block did not fit, the short trailer may,
 * and the log can be read.  The mutex is held, and given up meanwhile.
 */
int pxt_tolog_complete(struct pxt_stream *stream, int failed, const struct pxt_crash *crash)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	struct pxt_log_trailer trailer = { .crash = { 0 } };
	bool whole = true;
	int error = 0;

	if (failed) {
		whole = !log->over && pxt_tolog_give_up(log);
		if (!pxt_lane_all_drained(stream->block))
			atomic_store_explicit(&log->overrun, 1u, memory_order_release);
	}
	if (crash)
		trailer.crash = *crash;
	read_status(stream, &trailer);
	pxt_tolog_let_go(stream, log);
	if (whole)
		error = pxt_tolog_put_end(stream, &trailer, true);
	/* Without its end nothing in it can say so. */
	if (log->completed && (!failed || !whole || error))
		log->completed(log->over ? log->over : whole ? error : failed);
	pxt_tolog_regain(stream, log);
	return failed ? failed : error;
}

/*
 * Nobody finds the stream any more; those who wait for the lock are let through first.  At exit one
 * of them may be the thread that was interrupted by the handler that called exit(), and never come
 * back: false.
 */
static bool wait_for_users(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	struct pxt_patience patience;
	bool again = true;

	pxt_patience_begin(&patience, pxt_holdback_ns);
	while (again && log->users) {
		bool hurried = log->out.hurried && !log->busy;

		pxt_stream_unlock(stream);
		if (hurried) {
			again = pxt_patience_pause(&patience, SLICE_NS);
		} else {
			pxt_port_pause_ns(SLICE_NS);
			pxt_patience_begin(&patience, pxt_holdback_ns);
		}
		pxt_port_mutex_lock(&stream->mutex);
	}
	return !log->users;
}

int pxt_tolog_at_shutdown(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	int error = 0;
	bool alone;

	pxt_tolog_flusher_end(stream);
	pxt_port_mutex_lock(&stream->mutex);
	alone = wait_for_users(stream);
	pxt_tolog_lock(stream);
	if (pxt_tolog_output(log) != PXT_OUTPUT_SEALED)
		error = pxt_tolog_complete(stream, pxt_tolog_flush(stream, true), NULL);
	if (!alone) {
		/* A thread that waits for the lock does not get it any more; the log's memory goes with the process. */
		pxt_stream_unlock(stream);
		return error;
	}
	pxt_tolog_unlock(stream);
	stream->log = NULL;
	pxt_stream_unlock(stream);
	pxt_port_log_close(&log->out);
	pxt_port_free(log, log->bytes);
	return error;
}

/* ---- Exit ---- */

/* So long may a device take nothing of a write that another thread has begun. */
#define EXIT_PATIENCE_NS 3000000000u
#define EXIT_SLICE_NS    1000000u

/*
 * From here on no write waits for ever (port_log.h); one that began before is waited for as long
 * as bytes go out.  Who holds the log's lock may also be the thread that was interrupted by the handler
 * that calls exit(): then it never ends, and the log stays incomplete.  Turns that begin later are
 * hurried, and waited for by the shutdown itself.
 */
bool pxt_tolog_at_exit(struct pxt_stream *stream)
{
	struct pxt_tolog *log;
	struct pxt_patience patience;
	uint32_t seen;
	uint32_t unlocks;
	bool free;

	if (!pxt_stream_enter(stream))
		return false;
	log = pxt_tolog_of(stream);
	log->out.hurried = true;
	pxt_patience_begin(&patience, EXIT_PATIENCE_NS);
	seen = atomic_load_explicit(&log->pieces, memory_order_relaxed);
	unlocks = atomic_load_explicit(&log->unlocks, memory_order_relaxed);
	/* Nobody ends the log before this one is gone. */
	log->users++;
	if (atomic_load_explicit(&log->busy, memory_order_acquire) &&
	    log->holder == pxt_port_thread())
		pxt_patience_begin(&patience, 0);
	pxt_stream_unlock(stream);
	for (;;) {
		uint32_t now;

		free = !atomic_load_explicit(&log->busy, memory_order_acquire) ||
		       atomic_load_explicit(&log->unlocks, memory_order_relaxed) != unlocks;
		if (free || !pxt_patience_pause(&patience, EXIT_SLICE_NS))
			break;
		now = atomic_load_explicit(&log->pieces, memory_order_relaxed);
		if (now != seen)
			pxt_patience_begin(&patience, EXIT_PATIENCE_NS);
		seen = now;
	}
	pxt_port_mutex_lock(&stream->mutex);
	log->users--;
	pxt_stream_unlock(stream);
	if (!free && log->completed)
		log->completed(ETIMEDOUT);
	return free;
}
