/* SPDX-License-Identifier: MIT */
/*
 * types.c - blocks that every log has beside its records: names of types, clock readings (one a second at
 * most), copies of its head, without which nothing else can be read, and its end.
 */
#include "tolog/tolog.h"

#include "core/process/names.h"

static int tell_type(struct pxt_tolog *log, uint32_t id)
{
	const char *name = pxt_names_of(id);
	const char *format = pxt_names_format(id);
	uint8_t told;
	int error;

	if (!name || !pxt_names_tells(id))
		return 0;
	if (!format)
		format = "";
	told = format[0] ? 2 : 1;
	if (log->told_types[id] >= told)
		return 0;
	error =
	    PXT_TOLOG_ENTRY(log, PXT_LOG_TYPES, pxt_logfmt_put_type(&log->meta, id, name, format));
	if (!error)
		log->told_types[id] = told;
	return error;
}

static int tell_types(struct pxt_tolog *log)
{
	uint32_t end = PXT_ID_USER_FIRST + pxt_names_count();
	int error = 0;

	for (uint32_t id = PXT_ID_SYSTEM_FIRST; id < end && !error; id++)
		error = tell_type(log, id);
	if (!error && log->meta.count)
		error = pxt_tolog_put_meta(log, PXT_LOG_TYPES);
	return error;
}

static int tell_clocks(struct pxt_tolog *log)
{
	struct pxt_log_clock reading = { .moment = PXT_LOG_AT_FLUSH };

	pxt_port_clock_read(&reading.clock);
	(void)pxt_logfmt_put_clock(&log->meta, &reading);
	return pxt_tolog_put_meta(log, PXT_LOG_CLOCKS);
}

/* After the first names, and before the end: damage to the file head spares both. */
static int tell_head(struct pxt_tolog *log)
{
	int error;

	(void)pxt_logfmt_put_head(&log->meta, &log->header);
	error = pxt_tolog_put_meta(log, PXT_LOG_HEAD);
	log->told_head = log->told_head || !error;
	return error;
}

/* At most once a second, so that a stream that is flushed often costs no more. */
static bool time_to_look(struct pxt_tolog *log, const struct pxt_stream *stream)
{
	uint64_t now = pxt_port_ticks();

	if (log->looked_ticks && now - log->looked_ticks < stream->ticks.hz)
		return false;
	log->looked_ticks = now;
	return true;
}

/* On a line: again for a receiver that comes late, or has lost frames. */
static int repeat(struct pxt_tolog *log, uint64_t hz, bool last)
{
	bool describe = false;

	if (!pxt_tolog_line_due(log, hz, last, &describe))
		return 0;
	if (!last)
		memset(log->told_types, 0, sizeof(log->told_types));
	if (describe) {
		pxt_tolog_describe_forget(log);
		log->told_notes = 0;
	}
	return pxt_tolog_put_head(log);
}

int pxt_tolog_tell(struct pxt_stream *stream, enum pxt_tolog_when when)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	bool first = log->looked_ticks == 0;
	bool slow = when == PXT_WHEN_FLUSH && time_to_look(log, stream);
	int error = pxt_tolog_resume(log);

	if (!error)
		error = repeat(log, stream->ticks.hz, when == PXT_WHEN_END);
	if (!error)
		error = tell_types(log);
	if (!error)
		error = pxt_tolog_describe(log, slow || when == PXT_WHEN_END);
	if (!error)
		error = pxt_tolog_notes_tell(log);
	/* On a line, the head comes again by itself, and tells the clocks. */
	if (!error && slow && !first && !pxt_tolog_is_line(log))
		error = tell_clocks(log);
	if (!error && (!log->told_head || when == PXT_WHEN_END) && !pxt_tolog_is_line(log))
		error = tell_head(log);
	return error;
}

/* ---- The end ---- */

void pxt_tolog_tell_status(const struct pxt_block *block, struct pxt_log_trailer *trailer)
{
	struct posix_trace_status_info *status = &trailer->status;

	status->posix_stream_status = POSIX_TRACE_SUSPENDED;
	status->posix_stream_overrun_status =
	    trailer->counts.posix_lost_np ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	status->posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING;
	status->posix_log_overrun_status = POSIX_TRACE_NO_OVERRUN;
	status->posix_log_full_status = POSIX_TRACE_NOT_FULL;
	trailer->attr = block->attr;
}

int pxt_tolog_put_trailer(struct pxt_tolog *log, struct pxt_log_trailer *trailer)
{
	int error;

	trailer->log_lost = log->lost;
	trailer->data_blocks = log->sums.data_sequence;
	trailer->meta_blocks = log->sums.meta_sequence;
	pxt_port_clock_read(&trailer->end);
	(void)pxt_logfmt_put_trailer(&log->meta, trailer);
	error = pxt_tolog_put_meta(log, PXT_LOG_TRAILER);
	/* What a failed write may have left behind the last block. */
	if (!error && log->out.kind == PXT_LOG_FILE)
		error = pxt_port_log_truncate(&log->out, log->end);
	return error;
}
