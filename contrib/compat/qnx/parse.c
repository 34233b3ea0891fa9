/* SPDX-License-Identifier: MIT */
/* parse.c - QNX: a parser with callbacks, of our logs and of slots. */
#include "qnx.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <trace_np.h>
#include <unistd.h>

/* One event, whole or not; they are in the order in which they began. */
struct event {
	struct event *next;
	uint64_t process; /* whose it is: stamps are unique within one */
	uint32_t header;
	uint32_t stamp;
	uint32_t time;
	bool whole;
	bool cut; /* of what comes after that nothing is taken: there would be a hole before it */
	size_t length;
	unsigned char *data;
};

struct handler {
	traceparser_callback *function;
	void *user;
};

struct traceparser_state {
	struct traceparser_info info;
	bool cut; /* the event that is handed out */
	struct event *first;
	struct event **last;
	struct handler handlers[QNX_CLASSES][QNX_EVENTS];
};

/* A slot of the paper, or a part of ours. */
struct part {
	uint64_t process;
	uint32_t header;
	uint32_t stamp; /* that its other parts have, too */
	uint32_t time;
	const void *data;
	size_t length;
	bool cut;
	bool lone; /* cut before its stamp: nothing tells which parts belong to it */
};

struct traceparser_state *traceparser_init(void)
{
	struct traceparser_state *state = calloc(1, sizeof(*state));

	if (state)
		state->last = &state->first;
	return state;
}

static void drop_first(struct traceparser_state *state)
{
	struct event *event = state->first;

	state->first = event->next;
	if (!state->first)
		state->last = &state->first;
	free(event->data);
	free(event);
}

void traceparser_destroy(struct traceparser_state *state)
{
	while (state && state->first)
		drop_first(state);
	free(state);
}

int traceparser_cs_range(struct traceparser_state *state, void *user,
    traceparser_callback *function, unsigned class_, unsigned first, unsigned last)
{
	if (!state || class_ >= QNX_CLASSES || last >= QNX_EVENTS || first > last)
		return EINVAL;
	for (unsigned event = first; event <= last; event++)
		state->handlers[class_][event] = (struct handler){ function, user };
	return 0;
}

int traceparser_cs(struct traceparser_state *state, void *user, traceparser_callback *function,
    unsigned class_, unsigned event)
{
	return traceparser_cs_range(state, user, function, class_, event, event);
}

void traceparser_get_info(const struct traceparser_state *state, struct traceparser_info *info)
{
	*info = state->info;
}

int traceparser_is_cut(const struct traceparser_state *state)
{
	return state->cut;
}

/* ---- Putting together ---- */

/* Hands out what is whole, up to the first event that is not; @all: passes that over. */
static int deliver(struct traceparser_state *state, bool all)
{
	int result = 0;

	while (state->first && (state->first->whole || all) && result == 0) {
		const struct event *event = state->first;
		const struct handler *handler =
		    &state->handlers[_NTO_TRACE_GETEVENT_C(event->header) >> 10]
		                    [_NTO_TRACE_GETEVENT(event->header)];

		state->info.events += event->whole;
		state->info.unfinished += !event->whole;
		state->info.cut += event->cut;
		state->cut = event->cut;
		if (event->whole && handler->function)
			result = handler->function(state, handler->user, event->header, event->time,
			    event->data, (unsigned)event->length);
		drop_first(state);
	}
	return result;
}

static int append(struct event *event, const struct part *part)
{
	unsigned char *data = realloc(event->data, event->length + part->length + 1);

	if (!data)
		return ENOMEM;
	event->data = data;
	if (!event->cut && part->length != 0) {
		memcpy(&data[event->length], part->data, part->length);
		event->length += part->length;
	}
	event->cut |= part->cut;
	return 0;
}

static int begin(struct traceparser_state *state, const struct part *part)
{
	struct event *event = calloc(1, sizeof(*event));

	if (!event || append(event, part) != 0) {
		free(event);
		return ENOMEM;
	}
	event->process = part->process;
	event->header = part->header;
	event->stamp = part->stamp;
	event->time = part->time;
	event->whole = _TRACE_GET_STRUCT(part->header) == _TRACE_STRUCT_S || part->lone;
	*state->last = event;
	state->last = &event->next;
	return 0;
}

/* The event that a continuation or end belongs to: same process, class, type and stamp. */
static struct event *begun(struct traceparser_state *state, const struct part *part)
{
	struct event *event = state->first;

	while (event &&
	       (event->whole || event->process != part->process || event->stamp != part->stamp ||
	           ((event->header ^ part->header) & 0x7fffu) != 0))
		event = event->next;
	return event;
}

static int take(struct traceparser_state *state, const struct part *part)
{
	const unsigned kind = _TRACE_GET_STRUCT(part->header);
	struct event *event;
	int error;

	state->info.parts++;
	if (_NTO_TRACE_GETEVENT_C(part->header) == 0)
		return 0; /* the empty class: a slot that was never written */
	if (kind == _TRACE_STRUCT_S || kind == _TRACE_STRUCT_CB) {
		error = begin(state, part);
		return error ? error : deliver(state, false);
	}
	if (part->lone)
		return 0; /* its begin was as short, and told */
	event = begun(state, part);
	if (!event) {
		state->info.orphans++;
		return 0;
	}
	error = append(event, part);
	event->whole = kind == _TRACE_STRUCT_CE;
	return error || !event->whole ? error : deliver(state, false);
}

int traceparser_slots(struct traceparser_state *state, const traceevent_t *slots, size_t count)
{
	int result = state && (slots || count == 0) ? 0 : EINVAL;

	for (size_t i = 0; result == 0 && i < count; i++) {
		const struct part part = { 0, slots[i].header, slots[i].data[0], slots[i].data[0],
			&slots[i].data[1], 8, false, false };

		result = take(state, &part);
	}
	return result ? result : deliver(state, true);
}

/* ---- Logs ---- */

#define VIEWS 64

static int take_view(
    struct traceparser_state *state, trace_id_t log, const struct posix_trace_eventview_np *view)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	const unsigned char *data = view->posix_data_np;
	struct part part = { .process = (uint64_t)view->posix_pid_np };
	unsigned head;

	state->info.lost += view->posix_lost_before_np;
	if (posix_trace_eventid_get_name(log, view->posix_event_id_np, name) != 0 ||
	    qnx_class_of(name) == 0)
		return 0;
	if (view->posix_bytes_np < QNX_LEAST) {
		state->info.cut++;
		return 0;
	}
	memcpy(&part.header, data, sizeof(part.header));
	part.time = (uint32_t)view->posix_ticks_np;
	part.cut = view->posix_cut_np;
	head = _TRACE_GET_STRUCT(part.header) == _TRACE_STRUCT_S ? QNX_LEAST : QNX_HEAD_BYTES;
	part.lone = view->posix_bytes_np < head;
	if (part.lone)
		head = view->posix_bytes_np;
	else if (head == QNX_HEAD_BYTES)
		memcpy(&part.stamp, &data[4], sizeof(part.stamp));
	if (view->posix_cpu_np >= 0 && _NTO_TRACE_GETCPU(part.header) == 0)
		part.header |= ((uint32_t)view->posix_cpu_np & 0x3fu) << 24;
	part.data = &data[head];
	part.length = view->posix_bytes_np - head;
	return take(state, &part);
}

int traceparser(struct traceparser_state *state, const char *log)
{
	struct posix_trace_eventview_np views[VIEWS];
	const int fd = state && log ? open(log, O_RDONLY | O_CLOEXEC) : -1;
	trace_id_t trid = 0;
	size_t count = 1;
	int result = fd < 0 ? (state && log ? errno : EINVAL) : posix_trace_open(fd, &trid);

	if (fd >= 0)
		(void)close(fd);
	if (result != 0)
		return result;
	while (result == 0 && count != 0) {
		result = posix_trace_getnext_events_np(trid, views, sizeof(*views), VIEWS, &count);
		for (size_t i = 0; result == 0 && i < count; i++)
			result = take_view(state, trid, &views[i]);
	}
	(void)posix_trace_close(trid);
	return result ? result : deliver(state, true);
}
