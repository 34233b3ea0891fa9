/* SPDX-License-Identifier: MIT */
/*
 * flush.c - posix_trace_flush(), and the steps of every flush; a flush that fails is reported by an ERROR
 * event.
 */
#include "tolog/tolog.h"

#include "core/control/control.h"
#include "core/stream/share.h"
#include "core/testpoints.h"

#define HELD_SLICE_NS 50000u

/* ---- Steps ---- */

/*
 * The log cannot take the next record: nothing more is recorded until clear.  Two locks in their
 * order, so the mutex is given up; a thread that cleared meanwhile made room.  A handler has stopped
 * the stream before, and waits for no lock.
 */
static void stop_stream(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	bool sealing = pxt_tolog_output(log) == PXT_OUTPUT_SEALING;

	if (!sealing) {
		pxt_stream_unlock(stream);
		pxt_process_lock();
		pxt_port_mutex_lock(&stream->mutex);
	}
	if (!log->clear_due) {
		if (!sealing)
			pxt_control_stop_now(stream);
		stream->dead_log = 1;
		log->owes_stop = true;
		atomic_store_explicit(&log->full, 1u, memory_order_release);
	}
	if (!sealing)
		pxt_process_unlock();
}

/*
 * What is new of types and threads goes out before the block whose records need it.  Calls may start,
 * stop or clear the stream meanwhile.  [proof: flush]
 */
static int write_out(struct pxt_stream *stream, enum pxt_fill filled, enum pxt_tolog_when when)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	int error;

	pxt_tolog_let_go(stream, log);
	error = pxt_tolog_turn(stream);
	if (!error)
		error = pxt_tolog_tell(stream, when);
	if (!error)
		error = pxt_tolog_put_data(log, filled == PXT_FILL_MORE);
	pxt_tolog_regain(stream, log);
	return error;
}

/* A clear that came while the log was written is done before the next block. */
static int begin_anew_if_due(struct pxt_stream *stream, struct pxt_tolog_flush *flush)
{
	int error = 0;

	while (pxt_tolog_of(stream)->clear_due && !error) {
		error = pxt_tolog_begin_anew(stream);
		/* What began before the clear leaves no traces after it. */
		flush->marks = false;
		flush->start_told = false;
	}
	return error;
}

/* From the stream into the log until both agree; a full log stops the stream. */
static int run(struct pxt_stream *stream, struct pxt_tolog_flush *flush)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	enum pxt_tolog_when when = PXT_WHEN_FLUSH;
	int error = 0;

	for (;;) {
		enum pxt_fill filled;

		if (log->over)
			return log->over;
		if (log->way.what != PXT_WAY_NOTHING && !log->clear_due) {
			pxt_tolog_let_go(stream, log);
			error = pxt_tolog_resume(log);
			pxt_tolog_regain(stream, log);
		}
		if (!error)
			error = begin_anew_if_due(stream, flush);
		if (error)
			return error;
		/* What was written left room; other processes' memory would run over meanwhile. */
		pxt_share_pull_now(stream->block, false);
		filled = pxt_tolog_fill(stream, flush);
		if (filled == PXT_FILL_LOG_FULL) {
			stop_stream(stream);
		} else if (filled == PXT_FILL_HELD) {
			pxt_tolog_let_go(stream, log);
			pxt_port_pause_ns(HELD_SLICE_NS);
			pxt_tolog_regain(stream, log);
		} else {
			error = write_out(stream, filled, when);
			when = PXT_WHEN_BLOCK;
			if (error || (filled == PXT_FILL_DONE && !log->clear_due))
				return error;
		}
	}
}

/* One event for a row of flushes that fail alike. */
static void report_error(struct pxt_stream *stream, struct pxt_tolog *log, int error)
{
	if (error && error != log->error_told)
		pxt_sysevent_error(stream->block, POSIX_TRACE_ERROR_LOG_NP, error);
	log->error_told = error;
}

/*
 * The end of a flush is recorded by the next one; a stream that stopped by itself and is empty now runs
 * again, after it (ruling 14).
 */
int pxt_tolog_flush(struct pxt_stream *stream, bool final)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	struct pxt_tolog_flush flush = { .bound = pxt_port_ticks_ordered(),
		.marks = !final && pxt_block_state(stream->block) != PXT_GATE_OFF,
		.final = final };
	int error;

	if (pxt_tolog_output(log) == PXT_OUTPUT_SEALED)
		return EINVAL;
	log->flushing = true;
	PXT_TESTPOINT(PXT_TP_FLUSH_BEGUN);
	pxt_threads_pin();
	error = run(stream, &flush);
	pxt_threads_unpin();
	log->flushing = false;
	if (log->over)
		pxt_tolog_lose_rest(stream);
	PXT_TESTPOINT(PXT_TP_FLUSH_ENDED);
	pxt_tolog_note_error(log, error);
	if (!final)
		report_error(stream, log, error ? error : pxt_tolog_turn_error(log));
	if (flush.start_told && pxt_admit_system(stream->block, PXT_ID_FLUSH_STOP)) {
		log->stop_mark = true;
		log->stop_ticks = pxt_port_ticks_ordered();
	}
	if (!error && !final)
		pxt_consumer_settle(stream);
	return error;
}

PXT_API int posix_trace_flush(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_tolog_enter(trid);

	return stream ? pxt_tolog_leave(stream, pxt_tolog_flush(stream, false)) : EINVAL;
}
