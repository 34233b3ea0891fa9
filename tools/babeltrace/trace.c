/* SPDX-License-Identifier: MIT */
/* trace.c - what a log is in babeltrace2's terms: clock, trace, stream classes, environment. */
#include "tools/babeltrace/ptrace.h"

#include "tools/output/out.h"

#include <stdio.h>

#define NS_PER_S    UINT64_C(1000000000)
/* What 63 bits of nanoseconds hold, either side of 1970, with room for what is added. */
#define SECONDS_MAX (INT64_MAX / (int64_t)NS_PER_S / 2)

void pxt_bt_text(const char *from, size_t bytes, char *to, size_t room)
{
	size_t used = 0;

	/* A NUL ends it, as it ends a text of CTF. */
	while (bytes > 0 && *from && used + 16 < room) {
		size_t taken = 1;

		/* A backslash is a character like others here: nobody reads the escapes back. */
		if (*from == '\\')
			to[used++] = '\\';
		else
			used += pxt_escape_one(from, bytes, to + used, &taken);
		from += taken;
		bytes -= taken;
	}
	to[used] = '\0';
}

/* ---- Clock ---- */

/* @count * @hz / 10^9 for @count below 10^9 and @hz up to 2^40. */
static uint64_t cycles_of(uint64_t count, uint64_t hz)
{
	return count * (hz / NS_PER_S) + count * (hz % NS_PER_S) / NS_PER_S;
}

/* Seconds and cycles from 1970 to the clock's 0. */
static void place_clock(const struct pxt_bt_log *log, const struct posix_trace_clock_np *clock,
    int64_t *seconds, uint64_t *cycles)
{
	uint64_t hz = log->params.corrected ? NS_PER_S : clock->posix_hz_np;
	int64_t offset_s = log->params.offset_s + log->params.offset_ns / (int64_t)NS_PER_S;
	int64_t offset_ns = log->params.offset_ns % (int64_t)NS_PER_S;

	if (offset_ns < 0) {
		offset_ns += (int64_t)NS_PER_S;
		offset_s--;
	}
	*seconds = offset_s;
	*cycles = cycles_of((uint64_t)offset_ns, hz);
	if (log->params.corrected)
		return;
	*seconds +=
	    clock->posix_anchor_np.tv_sec - (int64_t)(clock->posix_anchor_ticks_np / hz) - 1;
	*cycles += cycles_of((uint64_t)clock->posix_anchor_np.tv_nsec, hz) + hz -
	           clock->posix_anchor_ticks_np % hz;
	*seconds += (int64_t)(*cycles / hz);
	*cycles %= hz;
}

static const char *clock_name(const struct pxt_bt_log *log, int source)
{
	if (log->params.corrected)
		return "realtime";
	if (source == POSIX_TRACE_CLOCK_TSC_NP)
		return "tsc";
	return source == POSIX_TRACE_CLOCK_MONOTONIC_NP ? "monotonic" : "port";
}

static bool create_clock(bt_self_component *self, struct pxt_bt_log *log,
    const struct posix_trace_clock_np *clock, char *why, size_t room)
{
	uint64_t hz = log->params.corrected ? NS_PER_S : clock->posix_hz_np;
	int64_t anchor = clock->posix_anchor_np.tv_sec;
	int64_t seconds;
	uint64_t cycles;
	uint64_t span;

	/* In this order, so that nothing runs over on the way. */
	if (anchor > SECONDS_MAX || anchor < -SECONDS_MAX ||
	    clock->posix_anchor_ticks_np / hz > (uint64_t)SECONDS_MAX) {
		(void)snprintf(why, room,
		    "the log's clock says a time beyond what 64 bits of"
		    " nanoseconds hold");
		return false;
	}
	place_clock(log, clock, &seconds, &cycles);
	if (seconds > SECONDS_MAX || seconds < -SECONDS_MAX) {
		(void)snprintf(why, room,
		    "with this clock-class-offset the log's time is beyond what 64"
		    " bits of nanoseconds hold");
		return false;
	}
	log->clock = bt_clock_class_create(self);
	if (!log->clock)
		return false;
	bt_clock_class_set_frequency(log->clock, hz);
	bt_clock_class_set_offset(log->clock, seconds, cycles);
	bt_clock_class_set_origin_is_unix_epoch(log->clock, BT_TRUE);
	(void)bt_clock_class_set_name(log->clock, clock_name(log, clock->posix_source_np));
	/* Stamps beyond this are shown as this: only a hostile log has them. */
	span = (uint64_t)(SECONDS_MAX - (seconds > 0 ? seconds : 0));
	log->last_value = span > UINT64_MAX / hz - 1 ? UINT64_MAX - 1 : span * hz;
	return true;
}

/* ---- Classes ---- */

bool pxt_bt_add_member(bt_field_class *structure, const char *name, bt_field_class *member)
{
	bool added = member && bt_field_class_structure_append_member(structure, name, member) ==
	                           BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK;

	bt_field_class_put_ref(member);
	return added;
}

static bt_field_class *signed_32(bt_trace_class *family)
{
	bt_field_class *number = bt_field_class_integer_signed_create(family);

	if (number)
		bt_field_class_integer_set_field_value_range(number, 32);
	return number;
}

/* Names as LTTng has them, which is where viewers look for them. */
static bool set_context(struct pxt_bt_log *log, bt_stream_class *stream_class)
{
	bt_field_class *context = bt_field_class_structure_create(log->family);
	bt_field_class *ip = bt_field_class_integer_unsigned_create(log->family);
	bool made = context && ip;

	if (made) {
		bt_field_class_integer_set_preferred_display_base(
		    ip, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
		made = pxt_bt_add_member(context, "cpu_id", signed_32(log->family)) &&
		       pxt_bt_add_member(context, "vpid", signed_32(log->family)) &&
		       pxt_bt_add_member(context, "vtid", signed_32(log->family)) &&
		       pxt_bt_add_member(
		           context, "procname", bt_field_class_string_create(log->family)) &&
		       pxt_bt_add_member(context, "ip", ip) &&
		       bt_stream_class_set_event_common_context_field_class(
		           stream_class, context) == BT_STREAM_CLASS_SET_FIELD_CLASS_STATUS_OK;
		ip = NULL;
	}
	bt_field_class_put_ref(ip);
	bt_field_class_put_ref(context);
	return made;
}

/* Packets that belong to one CPU say to which. */
static bool set_packet_context(struct pxt_bt_log *log, bt_stream_class *stream_class)
{
	bt_field_class *context = bt_field_class_structure_create(log->family);
	bt_field_class *cpu = bt_field_class_integer_unsigned_create(log->family);
	bool made = context && cpu;

	if (made) {
		bt_field_class_integer_set_field_value_range(cpu, 32);
		made = pxt_bt_add_member(context, "cpu_id", cpu) &&
		       bt_stream_class_set_packet_context_field_class(stream_class, context) ==
		           BT_STREAM_CLASS_SET_FIELD_CLASS_STATUS_OK;
		cpu = NULL;
	}
	bt_field_class_put_ref(cpu);
	bt_field_class_put_ref(context);
	return made;
}

static bool create_stream_class(struct pxt_bt_log *log, unsigned kind)
{
	bt_stream_class *stream_class = bt_stream_class_create(log->family);

	if (!stream_class)
		return false;
	log->stream_class[kind] = stream_class;
	bt_stream_class_set_assigns_automatic_event_class_id(stream_class, BT_FALSE);
	bt_stream_class_set_assigns_automatic_stream_id(stream_class, BT_FALSE);
	if (bt_stream_class_set_default_clock_class(stream_class, log->clock) !=
	    BT_STREAM_CLASS_SET_DEFAULT_CLOCK_CLASS_STATUS_OK)
		return false;
	bt_stream_class_set_supports_packets(stream_class, BT_TRUE, BT_TRUE, BT_TRUE);
	/* Which CPU's events were lost, nobody knows: the stream without CPU tells it. */
	if (kind == 0)
		bt_stream_class_set_supports_discarded_events(stream_class, BT_TRUE, BT_TRUE);
	else if (!set_packet_context(log, stream_class))
		return false;
	return set_context(log, stream_class);
}

/* ---- Trace ---- */

static bool set_word(bt_trace *trace, const char *name, const char *from, size_t bytes)
{
	char text[4 * 256 + 1];

	pxt_bt_text(from, bytes, text, sizeof text);
	return bt_trace_set_environment_entry_string(trace, name, text) ==
	       BT_TRACE_SET_ENVIRONMENT_ENTRY_STATUS_OK;
}

static bool set_number(bt_trace *trace, const char *name, int64_t value)
{
	return bt_trace_set_environment_entry_integer(trace, name, value) ==
	       BT_TRACE_SET_ENVIRONMENT_ENTRY_STATUS_OK;
}

static bool set_environment(struct pxt_bt_log *log, const struct pxt_bt_file *file)
{
	const struct posix_trace_loginfo_np *info = &file->info;
	const char *executable = info->posix_executable_np;
	const char *procname = pxt_path_name(executable);
	const char *domain = log->params.kernel ? "kernel" : "ust";
	char name[TRACE_NAME_MAX + 1] = "";
	trace_attr_t attr;

	if (posix_trace_get_attr(file->trid, &attr) == 0)
		(void)posix_trace_attr_getname(&attr, name);
	return set_word(log->trace, "domain", domain, strlen(domain)) &&
	       set_word(log->trace, "tracer_name", "libptrace", 9) &&
	       set_number(log->trace, "tracer_major", info->posix_format_major_np) &&
	       set_number(log->trace, "tracer_minor", info->posix_format_minor_np) &&
	       set_number(
	           log->trace, "architecture_bit_width", 8 * (int64_t)info->posix_word_bytes_np) &&
	       set_word(log->trace, "hostname", info->posix_host_np, strlen(info->posix_host_np)) &&
	       set_word(
	           log->trace, "system", info->posix_system_np, strlen(info->posix_system_np)) &&
	       set_number(log->trace, "cpus", info->posix_cpus_np) &&
	       set_word(log->trace, "trace_name", name, strlen(name)) &&
	       set_word(log->trace, "procname", procname, strlen(procname)) &&
	       set_number(log->trace, "vpid", info->posix_pid_np);
}

/* The file's name, which is also what the folder of a converted trace is called. */
static bool set_name(struct pxt_bt_log *log)
{
	const char *base = pxt_path_name(log->path);
	size_t bytes = strlen(base);
	char name[4 * 256 + 1];

	if (bytes > 4 && *base != '.' && strcmp(base + bytes - 4, ".ptl") == 0)
		bytes -= 4;
	pxt_bt_text(base, bytes, name, sizeof name);
	return bt_trace_set_name(log->trace, name) == BT_TRACE_SET_NAME_STATUS_OK;
}

bt_stream *pxt_bt_stream(struct pxt_bt_log *log, uint32_t index)
{
	if (!log->streams[index])
		log->streams[index] =
		    bt_stream_create_with_id(log->stream_class[index != 0], log->trace, index);
	return log->streams[index];
}

bool pxt_bt_trace_create(bt_self_component *self, struct pxt_bt_log *log,
    const struct pxt_bt_file *file, char *why, size_t room)
{
	bool made = false;

	if (!create_clock(self, log, &file->info.posix_clock_np, why, room))
		return false;
	(void)snprintf(why, room, "not enough memory");
	log->family = bt_trace_class_create(self);
	if (log->family) {
		bt_trace_class_set_assigns_automatic_stream_class_id(log->family, BT_TRUE);
		made = create_stream_class(log, 0) &&
		       (!log->params.kernel || create_stream_class(log, 1));
	}
	log->trace = made ? bt_trace_create(log->family) : NULL;
	if (!log->trace)
		return false;
	bt_trace_set_uuid(log->trace, file->info.posix_uuid_np);
	return set_name(log) && set_environment(log, file);
}
