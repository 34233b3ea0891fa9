/* SPDX-License-Identifier: MIT */
/* getnext.c - events of a stream without log, one by one, as structures. */
#include "base/eventinfo.h"
#include "core/read/take.h"
#include "online/online.h"

#include <errno.h>
#include <trace.h>

/* pthread_t may be a number or a pointer; the table keeps it as a number. */
union thread_value {
	uint64_t number;
	pthread_t thread;
};

static void fill(struct pxt_stream *stream, const struct pxt_item *item,
    const struct pxt_origin *origin, const struct pxt_getnext *request)
{
	struct posix_trace_event_info *event = request->event;
	union thread_value thread = { .number = 0 };
	uint32_t bytes = pxt_info_bytes(item->info);
	uint32_t cpu = pxt_info_cpu(item->info);

	thread.number = origin->thread;
	event->posix_event_id = pxt_info_id(item->info);
	event->posix_pid = origin->pid;
	event->posix_prog_address = (void *)origin->address;
	event->posix_thread_id = thread.thread;
	pxt_ticks_near(&stream->ticks, &stream->second, item->ticks, &event->posix_timestamp);
	event->posix_truncation_status =
	    pxt_info_cut(item->info) ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	if (request->num_bytes < bytes) {
		event->posix_truncation_status = POSIX_TRACE_TRUNCATED_READ;
		bytes = (uint32_t)request->num_bytes;
	}
	event->_pxt_cpu = cpu == PXT_CPU_UNKNOWN ? -1 : (int)cpu;
	event->_pxt_flags = origin->known ? PXT_EVENT_THREAD_EXACT : 0u;
	event->_pxt_reserved = 0;
	event->_pxt_ticks = item->stamp;
	event->_pxt_lost_before = item->lost_before;
	*request->data_len = bytes;
	*request->unavailable = 0;
}

static enum pxt_next take(struct pxt_stream *stream, const struct pxt_getnext *request)
{
	struct pxt_origin origin;
	struct pxt_item item;
	enum pxt_next found =
	    pxt_take_next(stream, &item, request->data, request->num_bytes, &origin);

	if (found == PXT_NEXT_READY)
		fill(stream, &item, &origin, request);
	return found;
}

/*
 * A thread that announced its sleep takes that back: no writer shall wake a thread in vain.  It also covers what a writer
 * said to another reader who has not slept on the word yet: that one looks again.  [proof: sleep]
 */
static void take_back(struct pxt_stream *stream)
{
	atomic_store_explicit(&stream->block->asleep, 0u, memory_order_relaxed);
	if (atomic_load_explicit(&stream->users, memory_order_relaxed))
		pxt_port_wake(&stream->block->asleep);
}

/*
 * Sleeps until a writer says that it stored something.  The flag is announced, then all writers
 * are made to pass a fence, then the stream is looked at once more: a thread that stored before is seen
 * now, a thread that stores later sees the flag (ruling 13).  Where the system has no such fence, and
 * when the stream's writers must not wake any thread, it sleeps in short slices.  [proof: sleep]
 */
static int sleep_on(
    struct pxt_stream *stream, const struct pxt_getnext *request, enum pxt_next *found)
{
	struct pxt_block *block = stream->block;
	uint64_t slice = 0;
	int error;

	if (!stream->polling) {
		atomic_store_explicit(&block->asleep, 1u, memory_order_seq_cst);
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
	if (stream->polling)
		error = pxt_port_wait(&block->asleep, 0u, request->abstime, slice);
	else
		error = pxt_port_wait(&block->asleep, 1u, request->abstime, slice);
	pxt_port_mutex_lock(&stream->mutex);
	/* A shutdown goes on when it sees that, and then waits for the lock. */
	atomic_fetch_sub_explicit(&stream->users, 1u, memory_order_acq_rel);
	return error;
}

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

/* With the stream's lock, which is given up while sleeping. */
static int wait_for_event(struct pxt_stream *stream, const struct pxt_getnext *request)
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

int pxt_online_getnext(void *object, const struct pxt_getnext *request)
{
	struct pxt_stream *stream = object;
	int error = 0;

	if (pxt_stream_enter_as(stream, request->trid))
		return EINVAL;
	if (take(stream, request) != PXT_NEXT_READY && request->wait != PXT_WAIT_NOT)
		error = wait_for_event(stream, request);
	return pxt_stream_leave(stream, error);
}
