/* SPDX-License-Identifier: MIT */
/* component.c - parameters and inputs; each input becomes a log with an output port. */
#include "tools/babeltrace/ptrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WHY_BYTES 512u

/* ---- Parameters ---- */

struct reading {
	struct pxt_bt_params *params;
	char why[WHY_BYTES]; /* "": all well */
};

static bool boolean(struct reading *reading, const char *name, const bt_value *value)
{
	if (bt_value_is_bool(value))
		return bt_value_bool_get(value);
	(void)snprintf(reading->why, sizeof reading->why, "`%s` is yes or no", name);
	return false;
}

/* One of two words; true for the second. */
static bool choice(struct reading *reading, const char *name, const bt_value *value,
    const char *first, const char *second)
{
	const char *word = bt_value_is_string(value) ? bt_value_string_get(value) : "";

	if (strcmp(word, second) == 0)
		return true;
	if (strcmp(word, first) != 0)
		(void)snprintf(
		    reading->why, sizeof reading->why, "`%s` is %s or %s", name, first, second);
	return false;
}

static int64_t integer(
    struct reading *reading, const char *name, const bt_value *value, int64_t low, int64_t high)
{
	int64_t number = low - 1;

	if (bt_value_is_signed_integer(value))
		number = bt_value_integer_signed_get(value);
	else if (bt_value_is_unsigned_integer(value) &&
	         bt_value_integer_unsigned_get(value) <= (uint64_t)high)
		number = (int64_t)bt_value_integer_unsigned_get(value);
	if (number >= low && number <= high)
		return number;
	(void)snprintf(reading->why, sizeof reading->why, "`%s` is a number from %lld to %lld",
	    name, (long long)low, (long long)high);
	return 0;
}

static bt_value_map_foreach_entry_const_func_status take(
    const char *name, const bt_value *value, void *data)
{
	const int64_t second = 1000000000;
	struct reading *reading = data;
	struct pxt_bt_params *params = reading->params;

	if (strcmp(name, "follow") == 0)
		params->follow = boolean(reading, name, value);
	else if (strcmp(name, "incomplete") == 0)
		params->incomplete = boolean(reading, name, value);
	else if (strcmp(name, "layout") == 0)
		params->kernel = choice(reading, name, value, "ust", "kernel");
	else if (strcmp(name, "clock") == 0)
		params->corrected = choice(reading, name, value, "ticks", "corrected");
	else if (strcmp(name, "clock-class-offset-ns") == 0)
		params->offset_ns = integer(reading, name, value, -INT64_MAX / 2, INT64_MAX / 2);
	else if (strcmp(name, "clock-class-offset-s") == 0)
		params->offset_s =
		    integer(reading, name, value, -INT64_MAX / 2 / second, INT64_MAX / 2 / second);
	else if (strcmp(name, "quiet-ms") == 0)
		params->quiet_ns = integer(reading, name, value, 0, 3600000) * 1000000;
	else if (strcmp(name, "inputs") != 0)
		(void)snprintf(reading->why, sizeof reading->why,
		    "`%s` is no parameter; there are inputs, follow, incomplete, layout, clock,"
		    " clock-class-offset-s, clock-class-offset-ns, quiet-ms",
		    name);
	return *reading->why ? BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_INTERRUPT
	                     : BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
}

/* ---- Files ---- */

static void refuse_open(int fd, const struct posix_trace_logerror_np *error, char *why, size_t room)
{
	const char *advice = "";
	trace_id_t trid;

	if (posix_trace_log_open_np(&fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, NULL, 0) == 0) {
		(void)posix_trace_close(trid);
		advice = "; `follow=yes` waits for the rest, `incomplete=yes` reads what is there";
	}
	(void)snprintf(why, room, "byte %llu: %s%s", (unsigned long long)error->posix_offset_np,
	    *error->posix_reason_np ? error->posix_reason_np : "not a trace log", advice);
}

bool pxt_bt_open(const struct pxt_bt_log *log, struct pxt_bt_file *file, char *why, size_t room)
{
	struct posix_trace_logerror_np error = { 0, "" };
	int failed;

	file->fd = open(log->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file->fd < 0) {
		(void)snprintf(why, room, "%s", strerror(errno));
		return false;
	}
	failed = posix_trace_log_open_np(&file->fd, 1, 0, &file->trid, &error, sizeof error);
	if (failed && (log->params.follow || log->params.incomplete))
		failed = posix_trace_log_open_np(
		    &file->fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &file->trid, &error, sizeof error);
	if (!failed && posix_trace_log_getinfo_np(file->trid, &file->info, sizeof file->info) == 0)
		return true;
	if (failed == EINVAL)
		refuse_open(file->fd, &error, why, room);
	else
		(void)snprintf(why, room, "%s", strerror(failed));
	(void)close(file->fd);
	file->fd = -1;
	return false;
}

void pxt_bt_close(struct pxt_bt_file *file)
{
	if (file->fd < 0)
		return;
	(void)posix_trace_close(file->trid);
	(void)close(file->fd);
	file->fd = -1;
}

/* ---- Logs ---- */

static void free_log(struct pxt_bt_log *log)
{
	if (!log)
		return;
	pxt_bt_types_free(log);
	for (uint32_t i = 0; i < PXT_BT_STREAMS; i++)
		bt_stream_put_ref(log->streams[i]);
	bt_trace_put_ref(log->trace);
	bt_stream_class_put_ref(log->stream_class[0]);
	bt_stream_class_put_ref(log->stream_class[1]);
	bt_clock_class_put_ref(log->clock);
	bt_trace_class_put_ref(log->family);
	free(log->threads);
	free(log->path);
	free(log);
}

static struct pxt_bt_log *new_log(
    bt_self_component *self, const struct pxt_bt_params *params, const char *path)
{
	struct pxt_bt_file file = { .fd = -1 };
	char why[WHY_BYTES] = "not enough memory";
	struct pxt_bt_log *log = calloc(1, sizeof *log);
	char shown[WHY_BYTES];
	bool good = false;

	if (log) {
		log->params = *params;
		log->path = strdup(path);
		good = log->path && pxt_bt_open(log, &file, why, sizeof why) &&
		       pxt_bt_trace_create(self, log, &file, why, sizeof why);
		pxt_bt_close(&file);
	}
	if (good)
		return log;
	pxt_bt_text(path, strlen(path), shown, sizeof shown);
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self, "%s: %s", shown, why);
	free_log(log);
	return NULL;
}

static bool add_log(bt_self_component_source *self, struct pxt_bt_component *component,
    const struct pxt_bt_params *params, const char *path)
{
	struct pxt_bt_log *log =
	    new_log(bt_self_component_source_as_self_component(self), params, path);
	char name[32];

	if (!log)
		return false;
	(void)snprintf(name, sizeof name, "log%llu", (unsigned long long)component->count);
	component->logs[component->count++] = log;
	return bt_self_component_source_add_output_port(self, name, log, NULL) ==
	       BT_SELF_COMPONENT_ADD_PORT_STATUS_OK;
}

static bool add_logs(bt_self_component_source *self, struct pxt_bt_component *component,
    const struct pxt_bt_params *params, const bt_value *inputs)
{
	uint64_t count = bt_value_array_get_length(inputs);

	component->logs = calloc(count, sizeof(struct pxt_bt_log *));
	if (!component->logs)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		const bt_value *path = bt_value_array_borrow_element_by_index_const(inputs, i);

		if (!add_log(self, component, params, bt_value_string_get(path)))
			return false;
	}
	return true;
}

/* The parameter `inputs`, or NULL with the reason. */
static const bt_value *get_inputs(const bt_value *params, struct reading *reading)
{
	const bt_value *inputs = bt_value_map_borrow_entry_value_const(params, "inputs");
	bool good = inputs && bt_value_is_array(inputs) && bt_value_array_get_length(inputs) > 0;

	for (uint64_t i = 0; good && i < bt_value_array_get_length(inputs); i++)
		good = bt_value_is_string(bt_value_array_borrow_element_by_index_const(inputs, i));
	if (good)
		return inputs;
	(void)snprintf(reading->why, sizeof reading->why,
	    "`inputs` is an array of at least one path of a log");
	return NULL;
}

static void free_component(struct pxt_bt_component *component)
{
	for (uint64_t i = 0; i < component->count; i++)
		free_log(component->logs[i]);
	free(component->logs);
	free(component);
}

bt_component_class_initialize_method_status pxt_bt_initialize(bt_self_component_source *self,
    bt_self_component_source_configuration *configuration, const bt_value *params, void *data)
{
	struct pxt_bt_params wanted = { 0 };
	struct reading reading = { .params = &wanted };
	struct pxt_bt_component *component;
	const bt_value *inputs = get_inputs(params, &reading);

	(void)configuration, (void)data;
	if (inputs)
		(void)bt_value_map_foreach_entry_const(params, take, &reading);
	if (*reading.why) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
		    bt_self_component_source_as_self_component(self), "source.ptrace.log: %s",
		    reading.why);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	component = calloc(1, sizeof *component);
	if (!component)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	if (!add_logs(self, component, &wanted, inputs)) {
		free_component(component);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(bt_self_component_source_as_self_component(self), component);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void pxt_bt_finalize(bt_self_component_source *self)
{
	free_component(
	    bt_self_component_get_data(bt_self_component_source_as_self_component(self)));
}
