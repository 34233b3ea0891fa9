/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - posix_trace_snapshot_np(): what a stream holds now, as a complete log.
 *
 * Of the stream only its copy is used (core/copy/copy.h): how long the device takes is nobody's concern.
 */
#include "core/control/control.h"
#include "core/copy/copy.h"
#include "core/testpoints.h"
#include "tolog/policies.h"

int pxt_tolog_put_copy(struct pxt_stream *copy, struct pxt_tolog_flush *flush)
{
	enum pxt_tolog_when when = PXT_WHEN_FLUSH;
	enum pxt_fill filled;
	int error;

	/* Bound: what the copy holds. */
	do {
		filled = pxt_tolog_fill(copy, flush);
		error = pxt_tolog_tell(copy, when);
		if (!error)
			error = pxt_tolog_put_data(pxt_tolog_of(copy), filled == PXT_FILL_MORE);
		when = PXT_WHEN_BLOCK;
	} while (!error && filled == PXT_FILL_MORE);
	return error;
}

/* The window's own account: what others were given or told before does not belong to it. */
static void count(struct pxt_copy *copy, const struct pxt_tolog_flush *flush,
    struct posix_trace_counts_np *counts)
{
	pxt_status_counts(&copy->stream, counts);
	counts->posix_retrieved_np -= copy->retrieved + flush->younger;
	counts->posix_lost_np += copy->refused - copy->lost_told;
	counts->posix_cleared_np = 0;
	counts->posix_written_np =
	    counts->posix_retrieved_np + counts->posix_lost_np + counts->posix_held_np;
}

int pxt_tolog_begin_copy(struct pxt_stream *copy, const struct pxt_port_log *out, bool plain)
{
	struct _pxt_attr *attr = &copy->block->attr;

	attr->_pxt_log_policy = POSIX_TRACE_APPEND;
	attr->_pxt_flags &= ~PXT_ATTR_FRAMES;
	attr->_pxt_flags |= plain ? PXT_ATTR_PLAIN : 0u;
	return pxt_tolog_begin(copy, &pxt_tolog_append, out, NULL);
}

static int put_log(struct pxt_copy *copy, const struct pxt_port_log *out)
{
	struct pxt_stream *stream = &copy->stream;
	struct pxt_tolog_flush flush = { .bound = copy->moment, .final = true, .exact = true };
	struct pxt_log_trailer trailer = { 0 };
	int error = pxt_tolog_begin_copy(stream, out, false);

	if (error)
		return error;
	/* As it was, before it is emptied. */
	pxt_status_take(stream, &trailer.status);
	error = pxt_tolog_put_copy(stream, &flush);
	if (!error) {
		count(copy, &flush, &trailer.counts);
		pxt_tolog_tell_status(stream->block, &trailer);
		error = pxt_tolog_put_end(stream, &trailer, false);
	}
	pxt_tolog_drop(stream);
	return error;
}

PXT_API int posix_trace_snapshot_np(trace_id_t trid, int file_desc)
{
	struct pxt_port_log out;
	struct pxt_copy copy;
	int error = pxt_port_log_open(&out, file_desc);

	if (error)
		return error;
	error = pxt_tolog_append.check(&out, NULL);
	if (!error)
		error = pxt_copy_take(trid, &copy);
	PXT_TESTPOINT(PXT_TP_COPY_MADE);
	if (!error) {
		error = put_log(&copy, &out);
		pxt_copy_free(&copy);
	}
	pxt_port_log_close(&out);
	return error;
}
