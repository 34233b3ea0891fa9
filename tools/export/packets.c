/* SPDX-License-Identifier: MIT */
/* packets.c - the packets of a Perfetto trace; see packets.h. */
#include "tools/export/packets.h"

#include "tools/event/event.h"
#include "tools/output/out.h"

#include <string.h>

/* Most bytes of a packet but for the event's data: names, and what is around them. */
#define PACKET_BYTES 8192u

/* ---- Packets ---- */

static uint64_t stamp(const struct pxt_perfetto *p, int64_t ns)
{
	int64_t value;

	if (__builtin_add_overflow(ns, p->offset, &value))
		value = p->offset < 0 ? 0 : INT64_MAX;
	return value < 0 ? 0 : (uint64_t)value;
}

static Pxt__TracePacket packet_at(const struct pxt_perfetto *p, int64_t ns)
{
	Pxt__TracePacket packet = PXT__TRACE_PACKET__INIT;

	packet.has_timestamp = 1;
	packet.timestamp = stamp(p, ns);
	return packet;
}

/* @data_bytes: of the event, whose texts may grow to four times as much. */
static void put(struct pxt_perfetto *p, Pxt__TracePacket *packet, size_t data_bytes)
{
	Pxt__TracePacketDefaults defaults = PXT__TRACE_PACKET_DEFAULTS__INIT;
	Pxt__Trace trace = PXT__TRACE__INIT;
	size_t room = PACKET_BYTES + 5 * data_bytes;

	packet->has_trusted_packet_sequence_id = 1;
	packet->trusted_packet_sequence_id = 1;
	packet->has_sequence_flags = 1;
	packet->sequence_flags = p->cleared ? 1 | 2 : 2;
	if (p->cleared) {
		defaults.has_timestamp_clock_id = 1;
		defaults.timestamp_clock_id = p->clock;
		packet->packet_defaults = &defaults;
		packet->has_previous_packet_dropped = p->dropped;
		packet->previous_packet_dropped = 1;
		p->cleared = p->dropped = false;
	}
	trace.n_packet = 1;
	trace.packet = &packet;
	p->out->used += pxt__trace__pack(&trace, (uint8_t *)pxt_out_room(p->out, room));
}

static uint64_t nanoseconds(const struct timespec *time)
{
	int64_t ns = pxt_when_ns(time);

	return ns < 0 ? 0 : (uint64_t)ns;
}

static void put_clocks(struct pxt_perfetto *p, const struct timespec *realtime,
    const struct timespec *monotonic, const struct timespec *boottime)
{
	static const uint32_t ids[] = { PXT_CLOCK_REALTIME, PXT_CLOCK_MONOTONIC,
		PXT_CLOCK_BOOTTIME };
	const uint64_t readings[] = { nanoseconds(realtime), nanoseconds(monotonic),
		nanoseconds(boottime) };
	Pxt__ClockSnapshot snapshot = PXT__CLOCK_SNAPSHOT__INIT;
	Pxt__ClockSnapshot__Clock clocks[3];
	Pxt__ClockSnapshot__Clock *list[3];
	Pxt__TracePacket packet = PXT__TRACE_PACKET__INIT;

	for (unsigned i = 0; i < 3; i++) {
		if (readings[i] == 0)
			continue;
		Pxt__ClockSnapshot__Clock *clock = &clocks[snapshot.n_clocks];

		pxt__clock_snapshot__clock__init(clock);
		clock->has_clock_id = clock->has_timestamp = 1;
		clock->clock_id = ids[i];
		clock->timestamp = readings[i];
		list[snapshot.n_clocks++] = clock;
	}
	if (snapshot.n_clocks == 0)
		return;
	snapshot.clocks = list;
	snapshot.has_primary_trace_clock = 1;
	snapshot.primary_trace_clock = readings[2] ? PXT_CLOCK_BOOTTIME : p->clock;
	packet.clock_snapshot = &snapshot;
	put(p, &packet, 0);
}

void pxt_perfetto_begin(struct pxt_perfetto *p, struct pxt_out *out,
    const struct pxt_source *source, const char *machine)
{
	const struct posix_trace_loginfo_np *info = &source->info;
	Pxt__SystemInfo system = PXT__SYSTEM_INFO__INIT;
	Pxt__TracePacket packet = PXT__TRACE_PACKET__INIT;
	char name[1024];

	memset(p, 0, sizeof *p);
	p->out = out;
	p->source = source;
	p->epoch = 1;
	p->cleared = true;
	p->next_iid = 1;
	/* The tracks' numbers hold for all traces that are looked at together: begin with the UUID. */
	for (unsigned i = 0; i < 16; i++)
		p->next_track = (p->next_track ^ info->posix_uuid_np[i]) * UINT64_C(0x100000001b3);
	p->next_track = (p->next_track >> 32) << 24 | 1;
	p->clock = PXT_CLOCK_REALTIME;
	if (nanoseconds(&info->posix_start_monotonic_np) != 0) {
		p->clock = PXT_CLOCK_MONOTONIC;
		p->offset = pxt_when_ns(&info->posix_start_monotonic_np) - source->start_ns;
	}
	put_clocks(p, &info->posix_start_np, &info->posix_start_monotonic_np,
	    &info->posix_start_boottime_np);
	(void)pxt_escape(machine, strnlen(machine, 255), name, sizeof name, NULL);
	system.machine_name = name;
	packet.system_info = &system;
	put(p, &packet, 0);
}

void pxt_perfetto_end(struct pxt_perfetto *p)
{
	const struct posix_trace_loginfo_np *info = &p->source->info;

	if (nanoseconds(&info->posix_end_np) != 0)
		put_clocks(p, &info->posix_end_np, &info->posix_end_monotonic_np,
		    &info->posix_end_boottime_np);
}

void pxt_perfetto_dropped(struct pxt_perfetto *p)
{
	p->cleared = p->dropped = true;
	p->epoch++;
}

/* ---- Tracks ---- */

static uint64_t put_track(struct pxt_perfetto *p, Pxt__TrackDescriptor *track, uint64_t parent)
{
	Pxt__TracePacket packet = PXT__TRACE_PACKET__INIT;

	track->has_uuid = 1;
	track->uuid = p->next_track++;
	track->has_parent_uuid = parent != 0;
	track->parent_uuid = parent;
	packet.track_descriptor = track;
	put(p, &packet, 0);
	return track->uuid;
}

uint64_t pxt_perfetto_process(struct pxt_perfetto *p, pid_t pid, const char *name)
{
	Pxt__TrackDescriptor track = PXT__TRACK_DESCRIPTOR__INIT;
	Pxt__ProcessDescriptor process = PXT__PROCESS_DESCRIPTOR__INIT;
	char label[1024];

	process.has_pid = 1;
	process.pid = (int32_t)pid;
	if (*name) {
		(void)pxt_escape(name, strlen(name), label, sizeof label, NULL);
		process.process_name = label;
	}
	track.process = &process;
	return put_track(p, &track, 0);
}

uint64_t pxt_perfetto_thread(
    struct pxt_perfetto *p, uint64_t parent, pid_t pid, const struct pxt_thread *thread)
{
	Pxt__TrackDescriptor track = PXT__TRACK_DESCRIPTOR__INIT;
	Pxt__ThreadDescriptor descriptor = PXT__THREAD_DESCRIPTOR__INIT;
	char name[4 * sizeof thread->name + 1];

	descriptor.has_pid = descriptor.has_tid = 1;
	descriptor.pid = (int32_t)pid;
	/* Perfetto tells threads apart by a number: one that no system gives. */
	descriptor.tid =
	    thread->tid > 0 ? (int32_t)thread->tid : (int32_t)(0x40000000u + thread->index);
	(void)pxt_escape(thread->name, strlen(thread->name), name, sizeof name, NULL);
	descriptor.thread_name = *name ? name : (char *)(uintptr_t)thread->label;
	track.thread = &descriptor;
	return put_track(p, &track, parent);
}

uint64_t pxt_perfetto_lane(
    struct pxt_perfetto *p, uint64_t parent, const char *name, bool is_counter)
{
	Pxt__TrackDescriptor track = PXT__TRACK_DESCRIPTOR__INIT;
	Pxt__CounterDescriptor counter = PXT__COUNTER_DESCRIPTOR__INIT;

	track.name = (char *)(uintptr_t)name;
	track.counter = is_counter ? &counter : NULL;
	return put_track(p, &track, parent);
}

/* ---- Stacks ---- */

void pxt_perfetto_stack(struct pxt_perfetto *p, struct pxt_frames *frames, uint32_t top)
{
	p->frames = frames;
	p->stack = top;
}

/* What was not written of a stack in this epoch yet.  A frame's number is that of its name and its file, too. */
struct stack {
	Pxt__InternedString functions[PXT_STACK_MAX];
	Pxt__InternedString files[PXT_STACK_MAX];
	Pxt__Frame frames[PXT_STACK_MAX];
	Pxt__InternedString *function_list[PXT_STACK_MAX];
	Pxt__InternedString *file_list[PXT_STACK_MAX];
	Pxt__Frame *frame_list[PXT_STACK_MAX];
	Pxt__Callstack whole;
	Pxt__Callstack *list[1];
	uint64_t numbers[PXT_STACK_MAX];
	size_t bytes; /* of its texts */
};

static void intern_text(Pxt__InternedString *string, uint64_t iid, const char *text, size_t bytes)
{
	pxt__interned_string__init(string);
	string->has_iid = string->has_str = 1;
	string->iid = iid;
	string->str.data = (uint8_t *)(uintptr_t)text;
	string->str.len = bytes;
}

static void write_frame(
    struct stack *stack, Pxt__InternedData *data, uint32_t number, const char *name)
{
	const struct pxt_place place = pxt_bars_place(name);
	Pxt__Frame *frame = &stack->frames[data->n_frames];

	pxt__frame__init(frame);
	frame->has_iid = frame->has_function_name_id = 1;
	frame->iid = frame->function_name_id = number;
	frame->has_source_path_iid = place.file_bytes > 0;
	frame->source_path_iid = number;
	frame->has_line_number = place.line > 0;
	frame->line_number = place.line;
	stack->frame_list[data->n_frames++] = frame;
	intern_text(&stack->functions[data->n_function_names], number, name, place.function);
	stack->function_list[data->n_function_names] = &stack->functions[data->n_function_names];
	data->n_function_names++;
	stack->bytes += place.function;
	if (place.file_bytes == 0)
		return;
	intern_text(&stack->files[data->n_source_paths], number, place.file, place.file_bytes);
	stack->file_list[data->n_source_paths] = &stack->files[data->n_source_paths];
	data->n_source_paths++;
	stack->bytes += place.file_bytes;
}

static void write_stack(struct pxt_perfetto *p, Pxt__InternedData *data, struct stack *stack)
{
	uint32_t path[PXT_STACK_MAX];
	uint32_t deep = pxt_bars_path(p->frames, p->stack, path, PXT_STACK_MAX);

	for (uint32_t i = 0; i < deep; i++) {
		struct pxt_frame *frame = &p->frames->list[path[i]];

		stack->numbers[i] = path[i];
		if (frame->frame_epoch != p->epoch)
			write_frame(stack, data, path[i], frame->name);
		frame->frame_epoch = p->epoch;
	}
	data->function_names = stack->function_list;
	data->source_paths = stack->file_list;
	data->frames = stack->frame_list;
	pxt__callstack__init(&stack->whole);
	stack->whole.has_iid = 1;
	stack->whole.iid = p->stack;
	stack->whole.n_frame_ids = deep;
	stack->whole.frame_ids = stack->numbers;
	stack->list[0] = &stack->whole;
	data->n_callstacks = 1;
	data->callstacks = stack->list;
	p->frames->list[p->stack].stack_epoch = p->epoch;
}

/* ---- Events ---- */

static struct pxt_perfetto_type *type_of(struct pxt_perfetto *p, const struct pxt_type *type)
{
	return type->index == PXT_INDEX_NONE ? NULL : &p->types[type->index];
}

void pxt_perfetto_flow(struct pxt_perfetto *p, uint64_t number)
{
	if (p->flows < POSIX_TRACE_FIELDS_MAX_NP)
		p->flow[p->flows++] = number;
}

/* Fills in what the notes are, and what they need no longer. */
static void put_event(struct pxt_perfetto *p, Pxt__TracePacket *packet, Pxt__TrackEvent *event,
    Pxt__TrackEvent__Type kind, uint64_t track, size_t stack_bytes)
{
	event->has_type = event->has_track_uuid = 1;
	event->type = kind;
	event->track_uuid = track;
	event->n_debug_annotations = p->notes;
	event->debug_annotations = p->note_list;
	event->n_flow_ids = p->flows;
	event->flow_ids = p->flow;
	packet->track_event = event;
	put(p, packet,
	    p->text_used / 4 + (size_t)16 * p->notes + (size_t)2 * p->flows + stack_bytes / 5);
	p->notes = 0;
	p->flows = 0;
	p->text_used = 0;
}

struct names {
	Pxt__InternedName name[1 + POSIX_TRACE_FIELDS_MAX_NP];
	Pxt__InternedName *list[1 + POSIX_TRACE_FIELDS_MAX_NP];
	char label[1024];
};

static void intern(struct names *names, unsigned i, uint64_t iid, const char *name)
{
	pxt__interned_name__init(&names->name[i]);
	names->name[i].has_iid = 1;
	names->name[i].iid = iid;
	names->name[i].name = (char *)(uintptr_t)name;
	names->list[i] = &names->name[i];
}

/* The type's name and those of its fields, which were not written in this epoch yet. */
static void write_names(struct pxt_perfetto *p, struct pxt_perfetto_type *known,
    const struct pxt_type *type, const char *base, size_t bytes, struct names *names,
    Pxt__InternedData *data)
{
	const char *label = type->label;

	if (known->is_base) {
		(void)pxt_escape(base, bytes, names->label, sizeof names->label, NULL);
		label = names->label;
	}
	intern(names, 0, type->index + 1u, label);
	data->n_event_names = 1;
	data->event_names = names->list;
	for (unsigned i = 0; i < known->fields; i++)
		intern(names, 1 + i, known->first_iid + i, type->fields[i].name);
	data->n_debug_annotation_names = known->fields;
	data->debug_annotation_names = names->list + 1;
	known->epoch = p->epoch;
}

void pxt_perfetto_event(struct pxt_perfetto *p, const struct pxt_event *event,
    Pxt__TrackEvent__Type kind, uint64_t track, const char *base, size_t bytes)
{
	struct pxt_perfetto_type *known = type_of(p, event->type);
	Pxt__TracePacket packet = packet_at(p, event->ns);
	Pxt__TrackEvent track_event = PXT__TRACK_EVENT__INIT;
	Pxt__InternedData data = PXT__INTERNED_DATA__INIT;
	struct names names;
	struct stack stack;
	bool named = kind != PXT__TRACK_EVENT__TYPE__TYPE_SLICE_END;

	if (known && known->epoch != p->epoch) {
		/* An end's own name is not needed, unless its begin was not seen. */
		if (known->epoch == 0)
			known->is_base = base != NULL;
		write_names(p, known, event->type, base, bytes, &names, &data);
		packet.interned_data = &data;
	}
	stack.bytes = 0;
	if (p->stack != 0 && p->frames->list[p->stack].stack_epoch != p->epoch) {
		write_stack(p, &data, &stack);
		packet.interned_data = &data;
	}
	track_event.has_callstack_iid = p->stack != 0;
	track_event.callstack_iid = p->stack;
	if (named && p->name) {
		track_event.name = (char *)(uintptr_t)p->name;
	} else if (named && known && known->is_base == (base != NULL)) {
		track_event.has_name_iid = 1;
		track_event.name_iid = event->type->index + 1u;
	} else if (named) {
		track_event.name = (char *)(uintptr_t)event->type->label;
	}
	put_event(p, &packet, &track_event, kind, track, stack.bytes);
	p->name = NULL;
	p->stack = 0;
}

void pxt_perfetto_name(struct pxt_perfetto *p, const char *name)
{
	p->name = name;
}

void pxt_perfetto_mark(struct pxt_perfetto *p, int64_t ns, Pxt__TrackEvent__Type kind,
    uint64_t track, const char *name)
{
	Pxt__TracePacket packet = packet_at(p, ns);
	Pxt__TrackEvent event = PXT__TRACK_EVENT__INIT;

	event.name = (char *)(uintptr_t)name;
	put_event(p, &packet, &event, kind, track, 0);
}

bool pxt_perfetto_counter(
    struct pxt_perfetto *p, int64_t ns, uint64_t track, const struct pxt_value *value)
{
	Pxt__TracePacket packet = packet_at(p, ns);
	Pxt__TrackEvent event = PXT__TRACK_EVENT__INIT;

	if (value->kind == POSIX_TRACE_FIELD_SIGNED_NP) {
		event.has_counter_value = 1;
		event.counter_value = value->i;
	} else if (value->kind == POSIX_TRACE_FIELD_FLOAT_NP) {
		event.has_double_counter_value = 1;
		event.double_counter_value = value->f;
	} else if (value->kind == POSIX_TRACE_FIELD_TEXT_NP) {
		return false;
	} else if (value->u <= INT64_MAX) {
		event.has_counter_value = 1;
		event.counter_value = (int64_t)value->u;
	} else {
		event.has_double_counter_value = 1;
		event.double_counter_value = (double)value->u;
	}
	put_event(p, &packet, &event, PXT__TRACK_EVENT__TYPE__TYPE_COUNTER, track, 0);
	return true;
}

void pxt_perfetto_task(struct pxt_perfetto *p, int64_t ns, const struct pxt_task *task)
{
	static const Pxt__GenericKernelTaskStateEvent__TaskState states[] = {
		[PXT_TASK_READY] =
		    PXT__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE__TASK_STATE_RUNNABLE,
		[PXT_TASK_RUNS] =
		    PXT__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE__TASK_STATE_RUNNING,
		[PXT_TASK_SLEEPS] =
		    PXT__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE__TASK_STATE_INTERRUPTIBLE_SLEEP,
		[PXT_TASK_WAITS] =
		    PXT__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE__TASK_STATE_UNINTERRUPTIBLE_SLEEP,
		[PXT_TASK_STOPPED] =
		    PXT__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE__TASK_STATE_STOPPED,
		[PXT_TASK_DEAD] = PXT__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE__TASK_STATE_DEAD,
	};
	Pxt__GenericKernelTaskStateEvent event = PXT__GENERIC_KERNEL_TASK_STATE_EVENT__INIT;
	Pxt__TracePacket packet = packet_at(p, ns);

	event.has_tid = event.has_state = 1;
	event.tid = task->tid;
	event.state = states[task->state];
	event.has_cpu = task->cpu >= 0;
	event.cpu = (int32_t)task->cpu;
	event.has_prio = task->has_prio;
	event.prio = (int32_t)task->prio;
	event.comm = *task->comm ? (char *)(uintptr_t)task->comm : NULL;
	packet.generic_kernel_task_state_event = &event;
	put(p, &packet, 0);
}
