/* SPDX-License-Identifier: MIT */
/*
 * events.c - many events of a stream without log at once, and one as a whole.
 *
 * As long as it is plain what comes next (core/read/consumer.h), records are read out of the ring into the
 * caller's views; their data is closed up in memory that the stream keeps for this.  What else may
 * come (START and STOP, OVERFLOW, what was made) comes one by one, as for getnext.
 */
#include "core/read/take.h"
#include "online/online.h"

#include <errno.h>

/* The largest record fits several times. */
#define ROOM_BYTES 32768u
/* Where each event's data begins. */
#define ROOM_STEP  8u

/* Where bytes are saved, plain records come one by one, too, by the function that getnext calls. */
#if PXT_SMALL
#define IN_TURNS  false
#define TAKE_ITEM pxt_take_next
#else
#define IN_TURNS  true
#define TAKE_ITEM pxt_take_any
#endif

struct pxt_online_room {
	PXT_ALIGNED(16) unsigned char data[ROOM_BYTES];
};

static int free_room(struct pxt_stream *stream)
{
	pxt_port_free(stream->views, sizeof(struct pxt_online_room));
	stream->views = NULL;
	return 0;
}

static unsigned char *room_of(struct pxt_stream *stream)
{
	if (!stream->views) {
		stream->views = pxt_port_alloc(sizeof(struct pxt_online_room));
		stream->at_shutdown = free_room;
	}
	return stream->views ? ((struct pxt_online_room *)stream->views)->data : NULL;
}

/* ---- Views ---- */

struct sink {
	struct pxt_stream *stream;
	struct posix_trace_eventview_np *views;
	size_t room;
	size_t count;
	unsigned char *data; /* of the next event ... */
	size_t bytes;        /* ... so much of it has room */
};

PXT_INLINE int64_t time_of(struct sink *sink, uint64_t ticks)
{
	struct timespec time;

	pxt_ticks_near(&sink->stream->ticks, &sink->stream->second, ticks, &time);
	return pxt_ticks_as_ns(&time);
}

/* What of an event is known before its origin and its times. */
struct found {
	uint32_t info;
	uint64_t stamp; /* as the trace point read it */
	uint64_t ticks; /* as reported: never less than the event's before */
	uint64_t lost;
};

/* One event, whose data was put where the sink said. */
PXT_INLINE void add(struct sink *sink, const struct found *event, const struct pxt_origin *origin)
{
	struct posix_trace_eventview_np *view = &sink->views[sink->count++];
	uint32_t bytes = pxt_info_bytes(event->info);
	uint32_t taken = (bytes + ROOM_STEP - 1u) & ~(ROOM_STEP - 1u);
	uint32_t cpu = pxt_info_cpu(event->info);
	uintptr_t thread = (uintptr_t)origin->thread;

	view->posix_event_id_np = pxt_info_id(event->info);
	view->posix_bytes_np = bytes;
	view->posix_data_np = sink->data;
	view->posix_ns_np = time_of(sink, event->ticks);
	view->posix_ticks_np = event->stamp;
	view->posix_lost_before_np = event->lost;
	view->posix_number_np = 0;
	memcpy(&view->posix_thread_id_np, &thread, sizeof(thread));
	view->posix_prog_address_np = (void *)origin->address;
	view->posix_pid_np = origin->pid;
	view->posix_cpu_np = (int16_t)(cpu == PXT_CPU_UNKNOWN ? -1 : (int)cpu);
	view->posix_cut_np = pxt_info_cut(event->info);
	view->posix_thread_exact_np = origin->known;
	view->posix_thread_entry_np = UINT32_MAX;
	sink->data += taken;
	sink->bytes -= taken;
}

/* There is room for any event. */
static bool has_room(const struct sink *sink)
{
	return sink->count < sink->room && sink->bytes >= PXT_DATA_MAX + ROOM_STEP;
}

/* Plain records of the lane whose turn it is; false: none came, or the next item is not plain. */
static bool take_turn(struct sink *to)
{
	struct sink sink = *to;
	struct pxt_walk walk = pxt_consumer_walk_begin(sink.stream->block);
	struct found event = { .ticks = sink.stream->block->last_ticks };
	struct pxt_halves front;
	bool plain = true;

	/* Bound: each round moves the position forward, and fills the room. */
	while (has_room(&sink) && pxt_consumer_walk_front(sink.stream->block, &walk, &front)) {
		struct pxt_origin origin;
		uint64_t ctx;

		event.info = (uint32_t)(front.low >> 32);
		event.stamp = front.high;
		plain = pxt_take_is_plain(event.info) &&
		        pxt_take_plain(&walk.ring, (uint32_t)walk.pos, (uint32_t)walk.seq,
		            event.info, sink.data, PXT_DATA_MAX, &ctx);
		if (!plain)
			break;
		pxt_take_origin(sink.stream, ctx, front.high, &origin);
		event.ticks = front.high > event.ticks ? front.high : event.ticks;
		add(&sink, &event, &origin);
		pxt_consumer_walk_on(&walk, pxt_info_slots(event.info, PXT_CTX_BYTES));
	}
	if (walk.records)
		pxt_consumer_walk_end(sink.stream, &walk, event.ticks);
	*to = sink;
	return plain && walk.records;
}

/* The next one, whatever it is.  False: there is none now, or no room for it. */
static bool take_item(struct sink *sink)
{
	struct pxt_origin origin;
	struct pxt_item item;

	if (!has_room(sink) ||
	    TAKE_ITEM(sink->stream, &item, sink->data, PXT_DATA_MAX, &origin) != PXT_NEXT_READY)
		return false;
	add(sink, &(struct found){ item.info, item.stamp, item.ticks, item.lost_before }, &origin);
	return true;
}

static void take_all(struct sink *sink)
{
	struct pxt_block *block = sink->stream->block;

	/* Bound: each round takes an event, and fills the room. */
	do {
		while (IN_TURNS && !block->lost_before && take_turn(sink) && has_room(sink) &&
		       pxt_merge_next_turn(block))
			;
	} while (take_item(sink));
}

int pxt_online_views(
    void *object, struct posix_trace_eventview_np *views, size_t room, size_t *count)
{
	struct sink sink = { .stream = object, .views = views, .room = room, .bytes = ROOM_BYTES };

	sink.data = room_of(sink.stream);
	if (sink.data)
		take_all(&sink);
	*count = sink.count;
	return sink.data ? 0 : ENOMEM;
}

/* ---- One as a whole; one that has no room stays ---- */

int pxt_online_whole(void *object, const struct pxt_getnext *request)
{
	struct pxt_stream *stream = object;
	struct pxt_origin origin;
	struct pxt_item item;

	/* Bound: each round more means that writers have overwritten what was next. */
	do {
		if (pxt_consumer_next(stream, &item) != PXT_NEXT_READY)
			return 0;
		if (pxt_info_bytes(item.info) > request->num_bytes) {
			*request->data_len = pxt_info_bytes(item.info);
			*request->unavailable = 0;
			return EMSGSIZE;
		}
	} while (!pxt_take_data(stream, &item, request->data, request->num_bytes, &origin));
	pxt_consumer_done(stream, &item);
	pxt_fill(stream, &item, &origin, request);
	return 0;
}
