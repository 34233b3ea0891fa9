/* SPDX-License-Identifier: MIT */
/*
 * online.c - streams without log: their creation; their events, one by one, as structures; a reader's sleep, its deadline (looked at
 * only where there is no event), and how a writer learns of it.
 */
#include "online/online.h"

#include "core/control/control.h"
#include "core/read/take.h"
#include "core/stream/share.h"
#include "core/testpoints.h"

/* With the stream's mutex: the next event, if there is one, into the buffers of @request. */
static enum pxt_next take(struct pxt_stream *stream, const struct pxt_getnext *request)
{
	struct pxt_origin origin;
	struct pxt_item item;
	enum pxt_next found =
	    pxt_take_next(stream, &item, request->data, request->num_bytes, &origin);

	if (found == PXT_NEXT_READY)
		pxt_fill(stream, &item, &origin, request);
	return found;
}

/* ---- A reader sleeps ---- */

/*
 * A thread that announced its sleep takes that back: no writer shall wake a thread in vain.  It also
 * covers what a writer said to another reader that has not slept on the word yet: that one looks
 * again.  [proof: sleep]
 */
static void take_back(struct pxt_stream *stream)
{
	if (atomic_load_explicit(&stream->users, memory_order_relaxed))
		pxt_block_wake(stream->block);
	else
		atomic_store_explicit(&stream->block->asleep, 0u, memory_order_relaxed);
}

/*
 * Sleeps until a writer says that it stored something.  The flag is announced, then all writers are
 * made to pass a fence, then the stream is looked at once more: a thread that stored before is seen
 * now, a thread that stores later sees the flag (ruling 13).  Where the system has no such fence, and
 * when the stream's writers must not wake any thread, it sleeps in short slices.  [proof: sleep]
 */
static int sleep_on(
    struct pxt_stream *stream, const struct pxt_getnext *request, enum pxt_next *found)
{
	struct pxt_block *block = stream->block;
	uint32_t number = 0;
	uint64_t slice = 0;
	int error;

	if (!stream->polling) {
		number = pxt_block_announce_sleep(block);
		PXT_TESTPOINT(PXT_TP_SLEEPS);
		if (!pxt_port_fence_all())
			slice = 1000000;
	} else {
		slice = 200000;
	}
	pxt_block_end_turn(block);
	*found = take(stream, request);
	if (*found == PXT_NEXT_READY)
		return 0;
	if (*found == PXT_NEXT_HELD && !slice)
		slice = 1000000;
	atomic_fetch_add_explicit(&stream->users, 1u, memory_order_acq_rel);
	pxt_stream_unlock(stream);
	error = pxt_port_wait(&block->asleep, number, request->abstime, slice);
	pxt_port_mutex_lock(&stream->mutex);
	/* A shutdown goes on when it sees that, and then waits for the lock. */
	atomic_fetch_sub_explicit(&stream->users, 1u, memory_order_acq_rel);
	return error;
}

/* A deadline with nanoseconds out of range is refused, if there is no event to return. */
static bool valid(const struct timespec *time)
{
	return time && time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

static bool passed(const struct timespec *time)
{
	struct pxt_clock_set now;

	pxt_port_clock_read(&now);
	return now.realtime.tv_sec > time->tv_sec ||
	       (now.realtime.tv_sec == time->tv_sec && now.realtime.tv_nsec >= time->tv_nsec);
}

/* Until there is one, or the stream is another's. */
static int sleep_and_look(struct pxt_stream *stream, const struct pxt_getnext *request)
{
	enum pxt_next found = PXT_NEXT_NONE;

	for (;;) {
		int error;

		if (request->wait == PXT_WAIT_TIMED && passed(request->abstime))
			return ETIMEDOUT;
		error = sleep_on(stream, request, &found);
		if (found == PXT_NEXT_READY)
			return 0;
		if (stream->closing || stream->trid != request->trid)
			return EINVAL;
		found = take(stream, request);
		if (found == PXT_NEXT_READY)
			return 0;
		if (error == EINTR)
			return EINTR;
	}
}

/*
 * Sleeps until there is an event for @request.  The stream's mutex is given up meanwhile; writers look at `asleep`
 * at any time, and the one that finds it set wakes the readers.  ETIMEDOUT; EINTR: a signal's handler ran; EINVAL:
 * the time is invalid, or the stream was shut down.
 */
static int sleep_for_event(struct pxt_stream *stream, const struct pxt_getnext *request)
{
	int error;

	if (request->wait == PXT_WAIT_TIMED && !valid(request->abstime))
		return EINVAL;
	error = sleep_and_look(stream, request);
	/* Of a stream that ends everybody is woken. */
	if (!stream->closing && stream->trid == request->trid)
		take_back(stream);
	return error;
}

/* ---- The functions ---- */

int pxt_online_getnext(void *object, const struct pxt_getnext *request)
{
	struct pxt_stream *stream = object;
	int error = 0;

	if (pxt_stream_enter_as(stream, request->trid))
		return EINVAL;
	if (take(stream, request) != PXT_NEXT_READY && request->wait != PXT_WAIT_NOT)
		error = sleep_for_event(stream, request);
	return pxt_stream_leave(stream, error);
}

/* posix_trace_getnext_event() is in base/getnext.c. */

PXT_API int posix_trace_timedgetnext_event(trace_id_t trid,
    struct posix_trace_event_info *restrict event, void *restrict data, size_t num_bytes,
    size_t *restrict data_len, int *restrict unavailable, const struct timespec *restrict abstime)
{
	struct pxt_getnext request = pxt_getnext_request(
	    trid, event, data, num_bytes, data_len, unavailable, PXT_WAIT_TIMED);

	request.abstime = abstime;
	return pxt_getnext(trid, &request);
}

PXT_API int posix_trace_trygetnext_event(trace_id_t trid,
    struct posix_trace_event_info *restrict event, void *restrict data, size_t num_bytes,
    size_t *restrict data_len, int *restrict unavailable)
{
	const struct pxt_getnext request =
	    pxt_getnext_request(trid, event, data, num_bytes, data_len, unavailable, PXT_WAIT_NOT);

	return pxt_getnext(trid, &request);
}

/* ---- Streams without log ---- */

const struct pxt_ops pxt_online_ops = {
	.getnext = pxt_online_getnext,
	.get_status = pxt_status_get,
	.getnext_whole = PXT_ONLINE_WHOLE,
	.views = PXT_ONLINE_VIEWS,
	PXT_STATUS_OPS,
};

PXT_API int posix_trace_create(
    pid_t pid, const trace_attr_t *restrict attr, trace_id_t *restrict trid)
{
	const struct pxt_create request = {
		.pid = pid, .attr = attr, .with_log = false, .ops = &pxt_online_ops
	};
	struct pxt_stream *stream;
	struct _pxt_attr used;
	int error;

	if (!trid)
		return EINVAL;
	error = pxt_create_attr(&request, &used);
	if (!error)
		error = pxt_create_stream(&request, &used, &stream);
	if (error)
		return error;
	error = pxt_create_publish(stream, pxt_share_asked(attr), trid);
	if (error)
		pxt_shutdown_abandon(stream);
	return error;
}
