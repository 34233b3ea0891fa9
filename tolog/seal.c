/* SPDX-License-Identifier: MIT */
/*
 * seal.c - a log that is ended by the handler of a fatal signal.
 *
 * The thread that the handler runs in may have been anywhere: inside a trace point, holding a
 * lock, in the middle of a write.  So the handler waits for nothing without a bound:
 *
 *   the stream's mutex, the log's lock   tried for a second (pxt_lock_patience_ns), for all streams
 *                                        together; the mutex is then kept to the end
 *   writers that are inside              waited for as a stop does, the hold-back time at most
 *   the process lock                     not needed: wanted table and gate are words
 *   a device that takes nothing          port_log.h: given up after PXT_LOG_PATIENCE_MS
 *
 * The log's lock, held by the handler's own thread is taken over where that was writing by position: the same
 * bytes go to the same place again; when the thread ever goes on, its write goes nowhere, and it is
 * told so (output.c).  Whatever cannot be had leaves the log as it is, without a trailer.
 *
 * Beside memory of the library's own, and the functions of port/posix/crash.c, the handler uses:
 * write, pwrite, ftruncate, poll, send, clock_gettime, getpid, pthread_self (async-signal-safe, or
 * system calls and no more), pthread_mutex_trylock and _unlock (port/posix/mutex.c: a
 * compare-exchange, a futex call), pthread_setcancelstate (a bit of the thread's own), futex,
 * membarrier.  No memory is asked for, nothing is formatted, the C library's locks stay alone.
 */
#include "tolog/tolog.h"

#include "core/control/control.h"

#define SLICE_NS 50000u

/* ---- In the handler ---- */

/* The lock is the interrupted call's, which this thread never comes back to, or much later. */
static bool may_take_over(const struct pxt_tolog *log)
{
	return log->holder == pxt_port_thread() && pxt_tolog_output(log) == PXT_OUTPUT_WRITING &&
	       log->out.kind == PXT_LOG_FILE;
}

enum lock {
	LOCK_NONE, /* and no mutex */
	LOCK_TAKEN,
	LOCK_TAKEN_OVER,
};

/* With the stream's mutex.  A thread that holds the log's lock may end the log meanwhile. */
static enum lock get_lock(struct pxt_stream *stream, struct pxt_patience *patience)
{
	for (;;) {
		struct pxt_tolog *log = pxt_tolog_of(stream);

		/* Not published yet: its creator will never do it. */
		if (!log || (!stream->trid && !stream->closing))
			break;
		if (!atomic_load_explicit(&log->busy, memory_order_acquire)) {
			pxt_tolog_lock(stream);
			return LOCK_TAKEN;
		}
		if (may_take_over(log))
			return LOCK_TAKEN_OVER;
		if (log->holder == pxt_port_thread())
			break;
		pxt_stream_unlock(stream);
		if (!pxt_patience_pause(patience, SLICE_NS) ||
		    !pxt_process_mutex_within(&stream->mutex, patience))
			return LOCK_NONE;
	}
	pxt_stream_unlock(stream);
	return LOCK_NONE;
}

/* The trailer was on its way already: nothing may come after it. */
static void finish_trailer(struct pxt_tolog *log)
{
	if (!log->ended && pxt_tolog_resume(log) != 0)
		return;
	if (log->out.kind == PXT_LOG_FILE)
		(void)pxt_port_log_truncate(&log->out, log->end);
}

static void seal_log(struct pxt_stream *stream, const struct pxt_crash *crash)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	bool trailer = log->way.what == PXT_WAY_META && log->way.type == PXT_LOG_TRAILER;

	if (log->ended || (trailer && !pxt_tolog_turn_back(log))) {
		finish_trailer(log);
		return;
	}
	pxt_shutdown_seal(stream);
	(void)pxt_tolog_complete(stream, pxt_tolog_flush(stream, true), crash);
}

static void seal_stream(
    struct pxt_stream *stream, const struct pxt_crash *crash, struct pxt_patience *patience)
{
	struct pxt_tolog *log;
	enum lock lock;

	if (!pxt_process_mutex_within(&stream->mutex, patience))
		return;
	lock = get_lock(stream, patience);
	if (lock == LOCK_NONE)
		return;
	log = pxt_tolog_of(stream);
	if (pxt_tolog_output(log) != PXT_OUTPUT_SEALED) {
		pxt_tolog_switch_output(log, pxt_tolog_output(log), PXT_OUTPUT_SEALING);
		log->out.hurried = true;
		seal_log(stream, crash);
		stream->dead_log = 1;
		pxt_tolog_switch_output(log, PXT_OUTPUT_SEALING, PXT_OUTPUT_SEALED);
	}
	/* The call that was interrupted gives the lock back itself, if it ever goes on. */
	if (lock == LOCK_TAKEN)
		pxt_tolog_unlock(stream);
	else
		pxt_port_log_cut_off(&log->out);
	pxt_stream_unlock(stream);
}

/* A child has nothing of its parent's to seal; one of vfork() not even memory of its own. */
static void seal_all(const struct pxt_crash *crash)
{
	struct pxt_patience patience;

	pxt_patience_begin(&patience, pxt_lock_patience_ns);
	if (pxt_port_pid() != pxt_process_pid())
		return;
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		struct pxt_stream *stream = &pxt_streams[i];

		if (pxt_process_owns(atomic_load_explicit(&stream->epoch, memory_order_relaxed)))
			seal_stream(stream, crash, &patience);
	}
}

/* ---- Installing it ---- */

/* What a handler cannot ask the system for: process, modules, names of threads. */
static void tell_early(struct pxt_stream *stream)
{
	struct pxt_tolog *log;

	if (!pxt_stream_enter(stream))
		return;
	log = pxt_tolog_of(stream);
	if (log) {
		int error;

		pxt_tolog_lock(stream);
		log->looked_ticks = 0;
		pxt_stream_unlock(stream);
		error = pxt_tolog_tell(stream, PXT_WHEN_FLUSH);
		pxt_port_mutex_lock(&stream->mutex);
		pxt_tolog_note_error(log, error);
		pxt_tolog_unlock(stream);
	}
	pxt_stream_unlock(stream);
}

PXT_API int posix_trace_seal_on_signals_np(int which, const int *signals, size_t count)
{
	int error;

	if (which < POSIX_TRACE_SEAL_NONE_NP || which > POSIX_TRACE_SEAL_ENDS_NP ||
	    (count && !pxt_arg_given(signals)))
		return EINVAL;
	pxt_process_lock();
	error = pxt_port_crash_watch(which, signals, count, seal_all);
	if (!error)
		atomic_store_explicit(&pxt_tolog_watched,
		    which != POSIX_TRACE_SEAL_NONE_NP || count, memory_order_relaxed);
	pxt_process_unlock();
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS && pxt_tolog_seals(); i++)
		tell_early(&pxt_streams[i]);
	return error;
}
