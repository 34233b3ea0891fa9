/* SPDX-License-Identifier: MIT */
/* plugin.c - what babeltrace2 finds in the shared object, and how it knows a log when it meets one. */
#include "tools/babeltrace/ptrace.h"
#include "tools/babeltrace/sink.h"

#include <fcntl.h>
#include <unistd.h>

static bool is_log(const char *path)
{
	static const unsigned char magic[8] = { 0x89, 'P', 'T', 'L', '\r', '\n', 0x1a, '\n' };
	unsigned char head[sizeof magic];
	/* Not blocking: the name may be a FIFO's that nobody writes to. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool same = fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head &&
	            memcmp(head, magic, sizeof magic) == 0;

	if (fd >= 0)
		(void)close(fd);
	return same;
}

static const char *string_of(const bt_value *params, const char *name)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(params, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : "";
}

/* babeltrace.support-info: how sure we are that the input is ours. */
static bt_component_class_query_method_status query(bt_self_component_class_source *self,
    bt_private_query_executor *executor, const char *object, const bt_value *params, void *data,
    const bt_value **result)
{
	double weight = 0.0;
	bt_value *map;

	(void)self, (void)executor, (void)data;
	if (strcmp(object, "babeltrace.support-info") != 0)
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	if (bt_value_is_map(params) && strcmp(string_of(params, "type"), "file") == 0 &&
	    is_log(string_of(params, "input")))
		weight = 0.95;
	map = bt_value_map_create();
	if (!map || bt_value_map_insert_real_entry(map, "weight", weight) !=
	                BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK) {
		bt_value_put_ref(map);
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
	}
	*result = map;
	return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK;
}

BT_PLUGIN_MODULE();
BT_PLUGIN(ptrace);
BT_PLUGIN_DESCRIPTION("Logs of POSIX tracing (libptrace)");
BT_PLUGIN_AUTHOR("The libptrace authors");
BT_PLUGIN_LICENSE("MIT");

BT_PLUGIN_SOURCE_COMPONENT_CLASS(log, pxt_bt_iterator_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(log, "Reads libptrace logs, complete or growing.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(
    log, "See babeltrace2-source.ptrace.log(7) for the parameters.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(log, pxt_bt_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(log, pxt_bt_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(log, query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(
    log, pxt_bt_iterator_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(
    log, pxt_bt_iterator_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(
    log, pxt_bt_iterator_seek, pxt_bt_iterator_can_seek);

BT_PLUGIN_SINK_COMPONENT_CLASS(log, pxt_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(log, "Writes a libptrace log.");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(log, "Its parameter is `path`, the new log's name.");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(log, pxt_sink_initialize);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(log, pxt_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(log, pxt_sink_configured);
