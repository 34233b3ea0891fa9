/* SPDX-License-Identifier: MIT */
/* rotate_now.c - posix_trace_rotate_np(): rotation by a call: the log goes on in a new file now. */
#include "tolog/tolog.h"

static int rotate(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	int error = log->turns ? pxt_tolog_flush(stream, false) : EINVAL;

	if (error)
		return error;
	pxt_tolog_let_go(stream, log);
	error = pxt_tolog_turn_now(stream);
	pxt_tolog_regain(stream, log);
	pxt_tolog_note_error(log, error);
	return error;
}

PXT_API int posix_trace_rotate_np(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_tolog_enter(trid);

	return stream ? pxt_tolog_leave(stream, rotate(stream)) : EINVAL;
}
