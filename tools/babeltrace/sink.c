/* SPDX-License-Identifier: MIT */
/*
 * sink.c - sink.ptrace.log: what babeltrace2 reads (CTF: LTTng's traces and others'), as a log: its events and losses,
 * in the order of time, and which thread recorded each.
 */
#include "tools/babeltrace/sink.h"

#include "tools/output/out.h"

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

/*
 * Which thread recorded an event: the one that a context names, else the one that runs on
 * the event's CPU, as far as the kernel's sched_switch told.
 */

#define SLOTS    16384u
#define CPUS_MAX 4096

struct thread {
	struct thread *next; /* of the same slot */
	int64_t key;         /* its number; of a CPU's idle thread, below 0 */
	uint32_t index;
	struct posix_trace_logthread_np entry;
};

struct pxt_sink_threads {
	uint32_t count;
	struct thread *slots[SLOTS];
	const struct thread *running[CPUS_MAX]; /* NULL: not known */
};

/* What is known of a thread at one event. */
struct known {
	int64_t key;
	int64_t tid;
	int64_t pid; /* 0: unknown */
	const char *name;
};

static bool is_same(const struct thread *thread, const struct known *known)
{
	const struct posix_trace_logthread_np *entry = &thread->entry;

	/* A number that is used again, or a program that was executed: another name, another entry. */
	return thread->key == known->key &&
	       (known->pid == 0 || entry->posix_pid_np == 0 || entry->posix_pid_np == known->pid) &&
	       (!known->name || *entry->posix_name_np == '\0' ||
	           strncmp(entry->posix_name_np, known->name, sizeof entry->posix_name_np - 1) ==
	               0);
}

static const struct thread *find(
    struct pxt_sink_threads *threads, struct pxt_logwrite *log, const struct known *known)
{
	struct thread **slot = &threads->slots[(uint64_t)known->key % SLOTS];
	struct thread *thread;

	for (thread = *slot; thread; thread = thread->next)
		if (is_same(thread, known))
			return thread;
	thread = calloc(1, sizeof *thread);
	if (!thread)
		return NULL;
	thread->key = known->key;
	thread->entry.posix_thread_np = PXT_LOGWRITE_KERNEL_THREAD + (uint64_t)known->key;
	thread->entry.posix_pid_np = (pid_t)known->pid;
	thread->entry.posix_tid_np = (pid_t)known->tid;
	(void)snprintf(thread->entry.posix_name_np, sizeof thread->entry.posix_name_np, "%s",
	    known->name ? known->name : "");
	thread->index = PXT_LOGWRITE_NO_INDEX;
	if (threads->count < PXT_LOGWRITE_THREADS) {
		thread->index = ++threads->count;
		pxt_logwrite_thread(log, thread->index, &thread->entry);
	}
	thread->next = *slot;
	return *slot = thread;
}

/* Thread 0 is another one on each CPU. */
static struct known known_of(int64_t tid, int64_t pid, const char *name, int64_t cpu)
{
	bool idle = tid <= 0;

	return (struct known){ .key = idle ? -1 - (cpu >= 0 ? cpu : 0) : tid & INT32_MAX,
		.tid = idle ? 0 : tid & INT32_MAX,
		.pid = pid > 0 && pid <= INT32_MAX ? pid : 0,
		.name = name };
}

static const bt_field *packet_context(const bt_event *event)
{
	const bt_stream_class *class =
	    bt_event_class_borrow_stream_class_const(bt_event_borrow_class_const(event));
	const bt_packet *packet =
	    bt_stream_class_supports_packets(class) ? bt_event_borrow_packet_const(event) : NULL;

	return packet ? bt_packet_borrow_context_field_const(packet) : NULL;
}

static int64_t cpu_of(const bt_event *event)
{
	int64_t cpu;

	if (pxt_sink_number(packet_context(event), "cpu_id", &cpu) ||
	    pxt_sink_number(pxt_sink_part(event, PXT_SINK_COMMON), "cpu_id", &cpu))
		return cpu >= 0 && cpu < CPUS_MAX ? cpu : -1;
	return -1;
}

/* One of two names, in one of two contexts. */
static bool number_of(const bt_event *event, const char *name, const char *other, int64_t *value)
{
	const bt_field *common = pxt_sink_part(event, PXT_SINK_COMMON);
	const bt_field *specific = pxt_sink_part(event, PXT_SINK_SPECIFIC);

	return pxt_sink_number(common, name, value) || pxt_sink_number(common, other, value) ||
	       pxt_sink_number(specific, name, value) || pxt_sink_number(specific, other, value);
}

static const char *text_of(const bt_event *event, const char *name)
{
	const char *text = pxt_sink_text(pxt_sink_part(event, PXT_SINK_COMMON), name);

	return text ? text : pxt_sink_text(pxt_sink_part(event, PXT_SINK_SPECIFIC), name);
}

/* False: nothing says whose event it is. */
static bool told(
    const bt_event *event, const struct pxt_sink_type *type, int64_t cpu, struct known *known)
{
	const bt_field *payload = pxt_sink_part(event, PXT_SINK_PAYLOAD);
	int64_t tid;
	int64_t pid = 0;

	(void)number_of(event, "vpid", "pid", &pid);
	if (number_of(event, "vtid", "tid", &tid)) {
		*known = known_of(tid, pid, text_of(event, "procname"), cpu);
		return true;
	}
	if (!type->switches || !pxt_sink_number(payload, "prev_tid", &tid))
		return false;
	*known = known_of(tid, 0, pxt_sink_text(payload, "prev_comm"), cpu);
	return true;
}

bool pxt_sink_threads_of(struct pxt_sink_threads *threads, struct pxt_logwrite *log,
    const bt_event *event, const struct pxt_sink_type *type, struct pxt_logevent *made)
{
	const bt_field *payload = pxt_sink_part(event, PXT_SINK_PAYLOAD);
	const int64_t cpu = cpu_of(event);
	const struct thread *thread = cpu >= 0 ? threads->running[cpu] : NULL;
	struct known known;
	int64_t tid;

	made->cpu = (int)cpu;
	if (told(event, type, cpu, &known)) {
		thread = find(threads, log, &known);
		if (!thread)
			return false;
	}
	if (thread) {
		made->thread_index = thread->index;
		made->thread = thread->entry.posix_thread_np;
		made->pid = thread->entry.posix_pid_np;
	}
	if (!type->switches || cpu < 0 || !pxt_sink_number(payload, "next_tid", &tid))
		return true;
	known = known_of(tid, 0, pxt_sink_text(payload, "next_comm"), cpu);
	threads->running[cpu] = find(threads, log, &known);
	return threads->running[cpu] != NULL;
}

void pxt_sink_threads_forget(struct pxt_sink_threads *threads)
{
	memset(threads->running, 0, sizeof threads->running);
}

struct pxt_sink_threads *pxt_sink_threads_new(void)
{
	return calloc(1, sizeof(struct pxt_sink_threads));
}

void pxt_sink_threads_free(struct pxt_sink_threads *threads)
{
	for (unsigned i = 0; threads && i < SLOTS; i++)
		for (struct thread *next; threads->slots[i]; threads->slots[i] = next) {
			next = threads->slots[i]->next;
			free(threads->slots[i]);
		}
	free(threads);
}
