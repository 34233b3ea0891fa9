/* SPDX-License-Identifier: MIT */
/* sink.c - sink.ptrace.log: the events and losses that babeltrace2 hands over, in the order of time, as a log. */
#include "tools/babeltrace/sink.h"

#include "tools/output/say.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

struct sink {
	bt_self_component *self;
	bt_message_iterator *iterator;
	struct pxt_sink_types *types;
	struct pxt_sink_threads *threads;
	struct pxt_logwrite *log; /* NULL before the first event, and after the end */
	char *path;
	char host[sizeof((struct posix_trace_loginfo_np *)NULL)->posix_host_np];
	uint64_t events;
	uint64_t lost;       /* in all, ... */
	uint64_t lost_first; /* ... and before the log began */
	uint64_t strangers;  /* events of which nobody says whose they are */
	bool lost_unknown;   /* more was lost: a number of packets, or nobody knows how much */
	unsigned char data[PXT_SINK_DATA_BYTES];
};

static bool fail(struct sink *sink, const char *why)
{
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
	    sink->self, "sink.ptrace.log: %s: %s", sink->path, why);
	return false;
}

/* ---- The log's beginning and end ---- */

static bool begin(struct sink *sink, int64_t ns)
{
	struct pxt_loghead head = { .name = "imported",
		.clock_source = POSIX_TRACE_CLOCK_PORT_NP,
		.hz = (uint64_t)NS_PER_S,
		.created = { .ticks = (uint64_t)ns,
		    .realtime = {
		        .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) } } };
	struct posix_trace_loginfo_np *process = calloc(1, sizeof *process);

	sink->log = process ? pxt_logwrite_begin(sink->path, PXT_LOG_WHOLE, &head) : NULL;
	if (sink->log) {
		(void)snprintf(
		    process->posix_host_np, sizeof process->posix_host_np, "%s", sink->host);
		pxt_logwrite_process(sink->log, process);
		pxt_logwrite_loss(sink->log, sink->lost_first);
	}
	free(process);
	return sink->log || fail(sink, strerror(ENOMEM));
}

static void say_end(const struct sink *sink)
{
	unsigned refused = pxt_sink_types_refused(sink->types);

	if (sink->lost)
		pxt_complain("%s: %" PRIu64 " EVENTS LOST by the tracer", sink->path, sink->lost);
	if (sink->lost_unknown)
		pxt_complain(
		    "%s: the tracer lost packets of events: their number is not known", sink->path);
	if (refused)
		pxt_complain("%s: %u types of events found no number: theirs are unnamed",
		    sink->path, refused);
	if (sink->strangers)
		pxt_complain("%s: of %" PRIu64
		             " events nothing says which thread recorded them (lttng "
		             "add-context -t vpid -t vtid -t procname)",
		    sink->path, sink->strangers);
}

static bool end(struct sink *sink)
{
	struct pxt_logend counts = { .unknown = sink->lost_unknown,
		.counts = { .posix_written_np = sink->events + sink->lost,
		    .posix_retrieved_np = sink->events,
		    .posix_lost_np = sink->lost,
		    .posix_stable_np = 1 } };
	int error;

	if (!sink->log && !begin(sink, 0))
		return false;
	error = pxt_logwrite_end(sink->log, &counts);
	sink->log = NULL;
	if (error)
		return fail(sink, strerror(error));
	say_end(sink);
	return true;
}

/* ---- Messages ---- */

/* Of one machine: two machines' numbers of threads and CPUs mean different things. */
static bool check_host(struct sink *sink, const bt_stream *stream)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(
	    bt_stream_borrow_trace_const(stream), "hostname");
	const char *host = value && bt_value_is_string(value) ? bt_value_string_get(value) : "";

	if (*sink->host == '\0')
		(void)snprintf(sink->host, sizeof sink->host, "%s", host);
	if (*host == '\0' || strncmp(host, sink->host, sizeof sink->host - 1) == 0)
		return true;
	return fail(
	    sink, "these traces are of several machines: import each, then `pxtrace merge`");
}

/* Where the trace point was; 0: not recorded. */
static uint64_t address_of(const bt_event *event)
{
	int64_t address = 0;

	if (!pxt_sink_number(pxt_sink_part(event, PXT_SINK_COMMON), "ip", &address))
		(void)pxt_sink_number(pxt_sink_part(event, PXT_SINK_SPECIFIC), "ip", &address);
	return (uint64_t)address;
}

static bool take_event(struct sink *sink, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_event_class *class = bt_event_borrow_class_const(event);
	struct pxt_logevent made = { .cpu = -1 };
	const struct pxt_sink_type *type;
	int64_t ns;

	if (!bt_stream_class_borrow_default_clock_class_const(
	        bt_event_class_borrow_stream_class_const(class)))
		return fail(sink, "an event has no time");
	if (bt_clock_snapshot_get_ns_from_origin(
	        bt_message_event_borrow_default_clock_snapshot_const(message), &ns) !=
	        BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK ||
	    ns < 0)
		return fail(sink, "an event's time is before 1970 or after 2262");
	if (!sink->log && !begin(sink, ns))
		return false;
	type = pxt_sink_types_of(sink->types, sink->log, class);
	if (!type || !pxt_sink_threads_of(sink->threads, sink->log, event, type, &made))
		return fail(sink, strerror(ENOMEM));
	made.id = type->id ? type->id : POSIX_TRACE_UNNAMED_USEREVENT;
	made.ticks = (uint64_t)ns;
	made.address = address_of(event);
	made.data = sink->data;
	made.bytes = pxt_sink_types_data(type, event, sink->data, &made.cut);
	pxt_logwrite_event(sink->log, &made);
	sink->events++;
	sink->strangers += made.thread_index == 0;
	return true;
}

/* After it nobody knows who runs: a switch may be among the lost. */
static void take_loss(struct sink *sink, bool known, uint64_t count)
{
	pxt_sink_threads_forget(sink->threads);
	if (!known || count > INT64_MAX) {
		sink->lost_unknown = true;
		return;
	}
	sink->lost += count;
	if (sink->log)
		pxt_logwrite_loss(sink->log, count);
	else
		sink->lost_first += count;
}

static bool take(struct sink *sink, const bt_message *message)
{
	const bt_message_type type = bt_message_get_type(message);
	uint64_t count = 0;

	if (type == BT_MESSAGE_TYPE_EVENT)
		return take_event(sink, message);
	if (type == BT_MESSAGE_TYPE_STREAM_BEGINNING)
		return check_host(sink, bt_message_stream_beginning_borrow_stream_const(message));
	if (type == BT_MESSAGE_TYPE_DISCARDED_EVENTS) {
		bool known = bt_message_discarded_events_get_count(message, &count) ==
		             BT_PROPERTY_AVAILABILITY_AVAILABLE;

		take_loss(sink, known, count);
	} else if (type == BT_MESSAGE_TYPE_DISCARDED_PACKETS) {
		take_loss(sink, false, 0);
	}
	return true;
}

static bool take_all(struct sink *sink, bt_message_array_const messages, uint64_t count)
{
	bool good = true;

	for (uint64_t i = 0; i < count; i++) {
		good = good && take(sink, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	if (good && sink->log && pxt_logwrite_error(sink->log))
		return fail(sink, strerror(pxt_logwrite_error(sink->log)));
	return good;
}

/* ---- The component ---- */

bt_component_class_sink_consume_method_status pxt_sink_consume(bt_self_component_sink *self)
{
	struct sink *sink =
	    bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
	bt_message_array_const messages;
	uint64_t count;
	bool good;

	switch (bt_message_iterator_next(sink->iterator, &messages, &count)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		good = take_all(sink, messages, count);
		return good ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK
		            : BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		good = end(sink);
		return good ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END
		            : BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR:
	default:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	}
}

bt_component_class_sink_graph_is_configured_method_status pxt_sink_configured(
    bt_self_component_sink *self)
{
	struct sink *sink =
	    bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	if (bt_message_iterator_create_from_sink_component(self,
	        bt_self_component_sink_borrow_input_port_by_index(self, 0),
	        &sink->iterator) != BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
		return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static void free_sink(struct sink *sink)
{
	/* The source failed, or somebody ended it: half a log is none. */
	if (sink->log)
		pxt_logwrite_abandon(sink->log);
	bt_message_iterator_put_ref(sink->iterator);
	pxt_sink_types_free(sink->types);
	pxt_sink_threads_free(sink->threads);
	free(sink->path);
	free(sink);
}

static const char *path_of(const bt_value *params)
{
	const bt_value *path = bt_value_map_borrow_entry_value_const(params, "path");

	return path && bt_value_is_string(path) && bt_value_map_get_size(params) == 1
	           ? bt_value_string_get(path)
	           : NULL;
}

bt_component_class_initialize_method_status pxt_sink_initialize(bt_self_component_sink *self,
    bt_self_component_sink_configuration *configuration, const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_sink_as_self_component(self);
	const char *path = path_of(params);
	struct sink *sink;

	(void)configuration, (void)data;
	if (!path || *path == '\0') {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
		    component, "sink.ptrace.log: its one parameter is `path`, the new log's name");
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	sink = calloc(1, sizeof *sink);
	if (!sink)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	sink->self = component;
	sink->path = strdup(path);
	sink->types = pxt_sink_types_new();
	sink->threads = pxt_sink_threads_new();
	if (!sink->path || !sink->types || !sink->threads ||
	    bt_self_component_sink_add_input_port(self, "in", NULL, NULL) !=
	        BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		free_sink(sink);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	bt_self_component_set_data(component, sink);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void pxt_sink_finalize(bt_self_component_sink *self)
{
	free_sink(bt_self_component_get_data(bt_self_component_sink_as_self_component(self)));
}
