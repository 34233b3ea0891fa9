/* SPDX-License-Identifier: MIT */
/*
 * fuzz_plugin.c - whatever the log is, the babeltrace2 plugin hands out well-formed messages, or an
 * error where the log is damaged: libbabeltrace2 ends the process where a precondition of its own is
 * broken.  And the plugin's sink makes a sound log of them.
 *
 * Input as in fuzz_log.c: the first byte says whether checksums are made right, and the plugin's
 * parameters; the rest is the log.
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include <babeltrace2/babeltrace.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace_np.h>
#include <unistd.h>

#define SIGN       1u
#define INCOMPLETE 2u
#define KERNEL     4u
#define CORRECTED  8u
#define OFFSET     16u
#define PRETTY     32u
#define LOG        64u

#define MESSAGES_MAX 200000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- A sink that believes nothing ---- */

struct sink {
	bt_message_iterator *iterator;
	uint64_t messages;
	int64_t last;
	unsigned open; /* packets */
};

static void require(bool held)
{
	if (!held)
		abort();
}

/* Every value is asked for. */
static void read_field(const bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		const bt_field_class *class = bt_field_borrow_class_const(field);
		uint64_t members = bt_field_class_structure_get_member_count(class);

		for (uint64_t i = 0; i < members; i++)
			read_field(bt_field_structure_borrow_member_field_by_index_const(field, i));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY)) {
		for (uint64_t i = 0; i < bt_field_array_get_length(field); i++)
			read_field(bt_field_array_borrow_element_field_by_index_const(field, i));
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		require(
		    strlen(bt_field_string_get_value(field)) == bt_field_string_get_length(field));
	}
}

static void check_time(struct sink *sink, const bt_clock_snapshot *snapshot)
{
	int64_t ns;

	require(bt_clock_snapshot_get_ns_from_origin(snapshot, &ns) ==
	        BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK);
	require(sink->messages == 0 || ns >= sink->last);
	sink->last = ns;
}

static void check_event(struct sink *sink, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_field *payload = bt_event_borrow_payload_field_const(event);

	require(sink->open > 0);
	check_time(sink, bt_message_event_borrow_default_clock_snapshot_const(message));
	read_field(bt_event_borrow_common_context_field_const(event));
	if (payload)
		read_field(payload);
}

static void check(struct sink *sink, const bt_message *message)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		check_event(sink, message);
		break;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		sink->open++;
		check_time(
		    sink, bt_message_packet_beginning_borrow_default_clock_snapshot_const(message));
		break;
	case BT_MESSAGE_TYPE_PACKET_END:
		require(sink->open-- > 0);
		check_time(
		    sink, bt_message_packet_end_borrow_default_clock_snapshot_const(message));
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		require(sink->open == 0);
		check_time(
		    sink, bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
		              message));
		break;
	default:
		require(sink->open == 0 ||
		        bt_message_get_type(message) == BT_MESSAGE_TYPE_STREAM_BEGINNING);
		return;
	}
	sink->messages++;
}

static bt_graph_simple_sink_component_initialize_func_status begin(
    bt_message_iterator *iterator, void *data)
{
	struct sink *sink = data;

	sink->iterator = iterator;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status consume(
    bt_message_iterator *iterator, void *data)
{
	struct sink *sink = data;
	bt_message_array_const messages;
	uint64_t count = 0;
	bt_message_iterator_next_status status =
	    bt_message_iterator_next(iterator, &messages, &count);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END || sink->messages > MESSAGES_MAX)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	for (uint64_t i = 0; i < count; i++) {
		check(sink, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* ---- The graph ---- */

static const bt_plugin *find_plugin(void)
{
	static const bt_plugin_set *plugins; /* kept: no leak */

	require(plugins || bt_plugin_find_all_from_static(BT_TRUE, &plugins) ==
	                       BT_PLUGIN_FIND_ALL_FROM_STATIC_STATUS_OK);
	return bt_plugin_set_borrow_plugin_by_index_const(plugins, 0);
}

static const bt_component_class_source *find_class(void)
{
	const bt_component_class_source *class =
	    bt_plugin_borrow_source_component_class_by_name_const(find_plugin(), "log");

	require(class != NULL);
	return class;
}

static bt_value *make_params(const char *path, unsigned mode)
{
	bt_value *params = bt_value_map_create();
	bt_value *inputs;

	require(bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) == 0);
	require(bt_value_array_append_string_element(inputs, path) == 0);
	(void)bt_value_map_insert_bool_entry(params, "incomplete", (mode & INCOMPLETE) != 0);
	if (mode & KERNEL)
		(void)bt_value_map_insert_string_entry(params, "layout", "kernel");
	if (mode & CORRECTED)
		(void)bt_value_map_insert_string_entry(params, "clock", "corrected");
	if (mode & OFFSET)
		(void)bt_value_map_insert_signed_integer_entry(
		    params, "clock-class-offset-ns", -INT64_C(4000000000000000000));
	return params;
}

static const char *made(void)
{
	static char path[64];

	(void)snprintf(path, sizeof path, "plugin-%ld.ptl", (long)getpid());
	return path;
}

/* The plugin's own, which writes a log. */
static bool add_log(bt_graph *graph, const bt_component_sink **component)
{
	bt_value *params = bt_value_map_create();
	bool added;

	(void)bt_value_map_insert_string_entry(params, "path", made());
	added = bt_graph_add_sink_component(graph,
	            bt_plugin_borrow_sink_component_class_by_name_const(find_plugin(), "log"),
	            "sink", params, BT_LOGGING_LEVEL_NONE, component) == 0;
	bt_value_put_ref(params);
	return added;
}

static bool add_sink(
    bt_graph *graph, unsigned mode, struct sink *sink, const bt_component_sink **component)
{
	const bt_plugin *text;
	bt_value *params;
	bool added;

	if (mode & LOG)
		return add_log(graph, component);
	if (!(mode & PRETTY) || bt_plugin_find("text", BT_FALSE, BT_FALSE, BT_TRUE, BT_FALSE,
	                            BT_FALSE, &text) != BT_PLUGIN_FIND_STATUS_OK)
		return bt_graph_add_simple_sink_component(
		           graph, "sink", begin, consume, NULL, sink, component) == 0;
	params = bt_value_map_create();
	(void)bt_value_map_insert_string_entry(params, "path", "/dev/null");
	added = bt_graph_add_sink_component(graph,
	            bt_plugin_borrow_sink_component_class_by_name_const(text, "pretty"), "sink",
	            params, BT_LOGGING_LEVEL_NONE, component) == 0;
	bt_value_put_ref(params);
	bt_plugin_put_ref(text);
	return added;
}

/* A damaged block is met only when it is read: what was before it has been handed out then. */
static bool is_damaged(const char *path)
{
	struct posix_trace_logcheck_np sum = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	require(
	    fd >= 0 && posix_trace_log_check_np(fd, &sum, sizeof sum, NULL, 0, 0, NULL, NULL) == 0);
	(void)close(fd);
	return sum.posix_findings_np > 0;
}

static void run(const char *path, unsigned mode)
{
	const bt_component_source *source;
	const bt_component_sink *component;
	bt_value *params = make_params(path, mode);
	bt_graph *graph = bt_graph_create(0);
	struct sink sink = { 0 };

	if (bt_graph_add_source_component(
	        graph, find_class(), "log", params, BT_LOGGING_LEVEL_NONE, &source) == 0 &&
	    add_sink(graph, mode, &sink, &component)) {
		bt_graph_run_status status = BT_GRAPH_RUN_STATUS_ERROR;

		if (bt_graph_connect_ports(graph,
		        bt_component_source_borrow_output_port_by_index_const(source, 0),
		        bt_component_sink_borrow_input_port_by_index_const(component, 0),
		        NULL) == 0)
			status = bt_graph_run(graph);
		require(status == BT_GRAPH_RUN_STATUS_OK || (mode & PRETTY) || is_damaged(path));
		if (status == BT_GRAPH_RUN_STATUS_OK && (mode & LOG))
			check_log(made());
		(void)unlink(made());
	}
	bt_current_thread_clear_error();
	bt_graph_put_ref(graph);
	bt_value_put_ref(params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *log;
	char path[64];
	int fd;

	if (size < 2)
		return 0;
	log = malloc(size - 1);
	fd = memfd_create("log", 0);
	require(log && fd >= 0);
	memcpy(log, data + 1, size - 1);
	if (data[0] & SIGN)
		sign(log, size - 1);
	require(write(fd, log, size - 1) == (ssize_t)(size - 1));
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	run(path, data[0]);
	(void)close(fd);
	free(log);
	return 0;
}
