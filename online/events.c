/* SPDX-License-Identifier: MIT */
/*
 * events.c - many events of a stream without log at once.
 *
 * Records are copied out of the ring in a row, as a log takes them (core/run.c), into memory that the
 * stream keeps for this; their data is closed up there.  What no run can take (the first event of a
 * turn, START and STOP, OVERFLOW, what was made) comes one by one, as for posix_trace_getnext_event().
 */
#include "base/attr.h"
#include "base/close_up.h"
#include "core/consumer.h"
#include "core/control.h"
#include "online/online.h"

#include <errno.h>
#include <string.h>
#include <trace_np.h>

/* The largest record fits several times. */
#define ROOM_SLOTS 2048u

struct pxt_online_room {
	struct pxt_slot slots[ROOM_SLOTS];
};

static int free_room(struct pxt_stream *stream)
{
	pxt_port_free(stream->views, sizeof(struct pxt_online_room));
	stream->views = NULL;
	return 0;
}

static struct pxt_slot *room_of(struct pxt_stream *stream)
{
	if (!stream->views) {
		stream->views = pxt_port_alloc(sizeof(struct pxt_online_room));
		stream->at_shutdown = free_room;
	}
	return stream->views ? ((struct pxt_online_room *)stream->views)->slots : NULL;
}

/* ---- Views ---- */

struct sink {
	struct pxt_stream *stream;
	struct posix_trace_eventview_np *views;
	size_t room;
	size_t count;
	uint64_t last; /* reported times never decrease */
	/* The second since the anchor that times are in: its first tick, and when that was. */
	uint64_t second_ticks;
	int64_t second_ns; /* 0: not known */
	/* Who recorded the event before, by its context. */
	uint64_t ctx;
	struct pxt_origin origin;
};

/* Beyond 2262 it is INT64_MAX. */
static PXT_NOINLINE int64_t other_second(struct sink *sink, uint64_t ticks)
{
	const struct pxt_ticks *clock = &sink->stream->ticks;
	uint64_t since = ticks - clock->anchor_ticks;
	struct timespec time;
	int64_t seconds; /* time_t may have 32 bits */
	int64_t ns;

	pxt_ticks_time(clock, ticks, &time);
	sink->second_ns = 0;
	seconds = time.tv_sec;
	if (seconds >= INT64_MAX / (int64_t)PXT_NS_PER_S)
		return INT64_MAX;
	ns = seconds * (int64_t)PXT_NS_PER_S + (int64_t)time.tv_nsec;
	if ((int64_t)since >= 0) {
		sink->second_ticks = ticks - since % clock->hz;
		sink->second_ns = ns - pxt_ticks_rest_ns(clock, since % clock->hz);
	}
	return ns;
}

PXT_INLINE int64_t time_of(struct sink *sink, uint64_t ticks)
{
	const struct pxt_ticks *clock = &sink->stream->ticks;

	if (PXT_UNLIKELY(!sink->second_ns || ticks - sink->second_ticks >= clock->hz))
		return other_second(sink, ticks);
	return sink->second_ns + (int64_t)pxt_ticks_rest_ns(clock, ticks - sink->second_ticks);
}

/* One event, whose record stands at @slots. */
static void add(struct sink *sink, struct pxt_slot *slots, uint64_t lost)
{
	struct posix_trace_eventview_np *view = &sink->views[sink->count++];
	uint32_t info = slots[0].word[1];
	uint32_t bytes = pxt_info_bytes(info);
	uint32_t from = PXT_CTX_BYTES + (pxt_info_extra(info) ? PXT_THREAD_EXTRA_BYTES : 0u);
	uint32_t cpu = pxt_info_cpu(info);
	uint64_t ticks = pxt_slot_ticks(slots);
	uintptr_t thread;

	pxt_consumer_origin(sink->stream, slots, &sink->ctx, &sink->origin);
	thread = (uintptr_t)sink->origin.thread;
	sink->last = ticks > sink->last ? ticks : sink->last;
	view->posix_event_id_np = pxt_info_id(info);
	view->posix_bytes_np = bytes;
	view->posix_data_np = bytes ? pxt_close_up((unsigned char *)slots, from, bytes)
	                            : (const unsigned char *)slots;
	view->posix_ns_np = time_of(sink, sink->last);
	view->posix_ticks_np = ticks;
	view->posix_lost_before_np = lost;
	view->posix_number_np = 0;
	memcpy(&view->posix_thread_id_np, &thread, sizeof(thread));
	view->posix_prog_address_np = (void *)sink->origin.address;
	view->posix_pid_np = sink->origin.pid;
	view->posix_cpu_np = (int16_t)(cpu == PXT_CPU_UNKNOWN ? -1 : (int)cpu);
	view->posix_cut_np = pxt_info_cut(info);
	view->posix_thread_exact_np = sink->origin.known;
	view->posix_thread_entry_np = UINT32_MAX;
}

/* As many as come in a row.  Returns the slots behind them. */
static struct pxt_slot *take_run(struct sink *sink, struct pxt_slot *to, const struct pxt_slot *end)
{
	struct pxt_block *block = sink->stream->block;
	size_t left = sink->room - sink->count;
	struct pxt_run run = { .to = to,
		.room = (uint32_t)(end - to),
		.limit = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX };

	sink->last = block->last_ticks;
	pxt_consumer_run(sink->stream, &run, UINT64_MAX);
	for (uint32_t i = 0; i < run.records; i++) {
		struct pxt_slot *slots = to;

		to += pxt_info_slots(slots->word[1], PXT_CTX_BYTES);
		add(sink, slots, 0);
	}
	return to;
}

/* The next one, whatever it is.  NULL: there is none now, or no room for it. */
static struct pxt_slot *take_item(
    struct sink *sink, struct pxt_slot *to, const struct pxt_slot *end)
{
	struct pxt_item item;

	do {
		if (sink->count == sink->room ||
		    pxt_consumer_next(sink->stream, &item) != PXT_NEXT_READY ||
		    item.slots > (size_t)(end - to))
			return NULL;
	} while (!pxt_consumer_slots(sink->stream, &item, to));
	sink->last = item.ticks;
	add(sink, to, item.lost_before);
	pxt_consumer_done(sink->stream, &item);
	return to + item.slots;
}

static void take_all(struct sink *sink, struct pxt_slot *to)
{
	const struct pxt_slot *end = to + ROOM_SLOTS;

	/* Bound: each round takes an event, and fills the room. */
	while ((to = take_item(sink, to, end)) != NULL)
		to = take_run(sink, to, end);
}

int pxt_online_views(void *object, trace_id_t trid, struct posix_trace_eventview_np *views,
    size_t room, size_t *count)
{
	struct sink sink = { .stream = object, .views = views, .room = room, .ctx = PXT_CTX_NONE };
	struct pxt_slot *slots;

	if (!pxt_stream_enter_as(sink.stream, trid))
		return EINVAL;
	slots = room_of(sink.stream);
	if (slots)
		take_all(&sink, slots);
	pxt_stream_unlock(sink.stream);
	*count = sink.count;
	return slots ? 0 : ENOMEM;
}
