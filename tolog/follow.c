/* SPDX-License-Identifier: MIT */
/*
 * follow.c - a log that grows while its stream goes on, for somebody who looks on (core/copy/copy.h).
 *
 *   concurrency: one caller at a time for one follower; beside everybody else.
 *
 * One copy of the stream is made again and again (core/copy/copy.h) and consumed like a stream of its own, up to the
 * moment at which it was made; what is younger is taken from the next one.  The log is begun once.
 */
#include "core/copy/copy.h"

#include "tolog/policies.h"

#include "port/port_local.h"

struct pxt_follow {
	struct pxt_stream *live; /* looked at by pxt_copy_again() alone */
	struct pxt_copy copy;
	struct pxt_port_log out;
};

/* After what is on its way since a write that failed. */
static int put_new(struct pxt_follow *follow)
{
	struct pxt_stream *stream = &follow->copy.stream;
	struct pxt_tolog_flush flush = { .bound = follow->copy.moment };
	int error = pxt_tolog_resume(pxt_tolog_of(stream));

	return error ? error : pxt_tolog_put_copy(stream, &flush);
}

/* With @follow->out open. */
static int begin(struct pxt_follow *follow, trace_id_t trid)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	int error = pxt_tolog_append.check(&follow->out, NULL);

	if (!stream)
		return EINVAL;
	follow->live = stream;
	pxt_stream_unlock(stream);
	if (!error)
		error = pxt_copy_take(trid, &follow->copy);
	if (error)
		return error;
	/* The process that follows makes a log of its own of it: coding would be undone at once. */
	error = pxt_tolog_begin_copy(&follow->copy.stream, &follow->out, true);
	if (!error) {
		error = put_new(follow);
		if (error)
			pxt_tolog_drop(&follow->copy.stream);
	}
	if (error)
		pxt_copy_free(&follow->copy);
	return error;
}

int pxt_follow_begin(trace_id_t trid, int fd, struct pxt_follow **made)
{
	struct pxt_follow *follow = pxt_port_alloc(sizeof(*follow));
	int error = follow ? pxt_port_log_open(&follow->out, fd) : ENOMEM;

	if (!error) {
		error = begin(follow, trid);
		if (error)
			pxt_port_log_close(&follow->out);
	}
	if (error && follow)
		pxt_port_free(follow, sizeof(*follow));
	*made = error ? NULL : follow;
	return error;
}

static int go_on(struct pxt_follow *follow)
{
	int error = pxt_copy_again(follow->live, &follow->copy);

	return error ? error : put_new(follow);
}

/*
 * A reader that is slower than the stream, or stuck, must not fill the machine's memory: it gets
 * nothing until it has given some back, and what is overwritten meanwhile is lost to it.
 */
int pxt_follow_step(struct pxt_follow *follow)
{
	bool waits = pxt_port_log_kept(&follow->out) &&
	             pxt_port_local_unread(follow->out.fd) > PXT_FOLLOW_UNREAD;

	return waits ? 0 : go_on(follow);
}

/* What was recorded, read and lost before the first copy is not this log's. */
static void finish(struct pxt_follow *follow, struct pxt_log_trailer *trailer)
{
	struct pxt_block *block = follow->copy.stream.block;
	struct posix_trace_counts_np *counts = &trailer->counts;

	counts->posix_retrieved_np = block->retrieved - follow->copy.retrieved;
	counts->posix_lost_np = block->lost - (follow->copy.lost_told - block->refused_told);
	counts->posix_written_np = counts->posix_retrieved_np + counts->posix_lost_np;
	trailer->status.posix_stream_full_status = POSIX_TRACE_NOT_FULL;
	pxt_tolog_tell_status(block, trailer);
}

static void put_end(struct pxt_follow *follow)
{
	struct pxt_stream *stream = &follow->copy.stream;
	struct pxt_log_trailer trailer = { 0 };
	int error = go_on(follow);

	/* Without its end where it cannot be written: readers of a log that grows know that. */
	if (!error || pxt_tolog_give_up(pxt_tolog_of(stream))) {
		finish(follow, &trailer);
		(void)pxt_tolog_put_end(stream, &trailer, true);
	}
}

void pxt_follow_end(struct pxt_follow *follow, bool write)
{
	if (write)
		put_end(follow);
	pxt_tolog_drop(&follow->copy.stream);
	pxt_copy_free(&follow->copy);
	pxt_port_log_close(&follow->out);
	pxt_port_free(follow, sizeof(*follow));
}
