/* SPDX-License-Identifier: MIT */
/*
 * perfetto.c - pxtrace export perfetto: which packets (export/packets.h) a log's events become.
 *
 * Bounded, beside what a log's reader keeps: a track number for each thread (PXT_THREADS_MAX),
 * PROCESSES_MAX processes, LANES_MAX lanes, and what slices.h says.
 */
#include "tools/command/command.h"
#include "tools/event/event.h"
#include "tools/export/bars.h"
#include "tools/export/export.h"
#include "tools/export/packets.h"
#include "tools/output/out.h"
#include "tools/select/select.h"
#include "tools/unknown/unknown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const help[] = {
	"pxtrace export perfetto - writes a trace for the Perfetto viewer\n"
	"\n"
	"usage: pxtrace export perfetto [OPTION]... -o FILE LOG...\n"
	"\n"
	"FILE opens in ui.perfetto.dev (nothing is sent anywhere) and in trace_processor. Each\n"
	"thread has a track. X_begin or X_start with X_end or X_stop, X_enter with X_exit, X_lock\n"
	"with X_unlock are a bar from one to the other; pairs that overlap have lanes of their "
	"own\n"
	"below the thread. A pair whose first fields have one name, and most of whose ends are in\n"
	"another thread than the begin with the same value there, has lanes below the process: a\n"
	"request that is handed on. Everything else is a mark. The typed fields are annotations.\n"
	"Where events were lost stands a mark that says how many, and bars that were open end\n"
	"there (cut_by_loss). sched_switch and sched_wakeup become states of threads and CPUs.\n"
	"Events that tell which functions called have a call stack.\n"
	"\n"
	"Several logs make an archive (tar) of traces, which opens as one: by the clocks of one\n"
	"machine, or by the civil time of several.\n"
	"\n"
	"what of them:\n"
	"      --counter NAME    a numeric field as a curve: FIELD, or EVENT.FIELD, with * and ?;\n"
	"                        several times\n"
	"      --flow NAME       arrows from each event to the next one that has the same number\n"
	"                        in this field, whatever its thread: a request, say; several "
	"times\n"
	"      --cpu             the CPU as an annotation\n",
	PXT_EXPORT_COMMON_HELP
	"\n"
	"example: jobs as bars, their lateness as a curve\n"
	"\n"
	"  $ pxtrace export perfetto --counter job_end.late_ns -o run.pftrace run.ptl\n"
	"\n" PXT_HELP_STATUS,
	NULL,
};

#define PROCESSES_MAX 256u
#define LANES_MAX     4096u

/* A lane of a pair beside its thread's track. */
struct lane {
	uint32_t thread;
	uint16_t pair;
	uint16_t lane;
	uint64_t track;
};

static struct pf {
	/* Options */
	struct pxt_counters counters;
	struct pxt_counters flows;
	bool cpu;
	/* The log at hand */
	struct pxt_perfetto packets;
	struct pxt_bars bars;
	struct pxt_frames stacks;
	struct pxt_sched sched;
	int64_t last_ns;
	uint64_t *threads; /* tracks, by the thread's index; 0: none yet */
	struct {
		pid_t pid;
		uint64_t track;
	} processes[PROCESSES_MAX];
	unsigned process_count;
	struct lane lanes[LANES_MAX];
	unsigned lane_count;
	uint64_t *curves[PXT_TYPES_MAX]; /* tracks of a type's fields; 0: none */
	bool curves_asked[PXT_TYPES_MAX];
	/* The archive */
	struct pxt_export_tar tar;
	unsigned logs_done;
} pf;

/* ---- Tracks ---- */

static const char *name_of_process(const struct pxt_source *source, pid_t pid)
{
	const char *path = source->info.posix_executable_np;

	if (pid != source->info.posix_pid_np)
		return "";
	return pxt_path_name(path);
}

static uint64_t process_track(const struct pxt_source *source, pid_t pid)
{
	for (unsigned i = 0; i < pf.process_count; i++)
		if (pf.processes[i].pid == pid)
			return pf.processes[i].track;
	if (pf.process_count == PROCESSES_MAX)
		return pf.processes[0].track;
	uint64_t track = pxt_perfetto_process(&pf.packets, pid, name_of_process(source, pid));
	pf.processes[pf.process_count].pid = pid;
	pf.processes[pf.process_count++].track = track;
	return track;
}

/* The thread's own track; an event without a thread is the process's. */
static uint64_t thread_track(const struct pxt_event *event)
{
	const struct pxt_thread *thread = event->thread;
	pid_t pid = event->info.posix_pid;

	if (thread->index == PXT_INDEX_NONE || !thread->recorded)
		return process_track(event->source, pid);
	if (pf.threads[thread->index] == 0)
		pf.threads[thread->index] = pxt_perfetto_thread(
		    &pf.packets, process_track(event->source, pid), pid, thread);
	return pf.threads[thread->index];
}

/* The newest lane is the likeliest: bars of one pair follow each other. */
static struct lane *find_lane(uint32_t thread, const struct pxt_slice *slice)
{
	for (unsigned i = pf.lane_count; i-- > 0;)
		if (pf.lanes[i].thread == thread && pf.lanes[i].pair == slice->pair &&
		    pf.lanes[i].lane == slice->lane)
			return &pf.lanes[i];
	return NULL;
}

/* The track that a bar is on; 0: there is no lane for it any more. */
static uint64_t slice_track(const struct pxt_event *event, const struct pxt_slice *slice)
{
	uint32_t index = slice->moved ? PXT_SLICES_MOVED : event->thread->index;
	uint64_t parent = slice->moved ? process_track(event->source, event->info.posix_pid)
	                               : thread_track(event);
	char name[1024];
	size_t bytes;

	if (slice->lane == 0)
		return parent;
	struct lane *lane = find_lane(index, slice);
	if (lane || pf.lane_count == LANES_MAX || slice->bar == PXT_BAR_END)
		return lane ? lane->track : 0;
	const char *base = pxt_slices_name(pf.bars.slices, slice->pair, &bytes);
	(void)pxt_escape(base, bytes, name, sizeof name, NULL);
	lane = &pf.lanes[pf.lane_count++];
	*lane = (struct lane){ .thread = index, .pair = slice->pair, .lane = slice->lane };
	lane->track = pxt_perfetto_lane(&pf.packets, parent, name, false);
	return lane->track;
}

/* ---- Curves ---- */

/* Which fields of the type are curves, asked once. */
static uint64_t *curves_of(const struct pxt_event *event)
{
	const struct pxt_type *type = event->type;
	char name[sizeof type->label + 80];

	if (type->index == PXT_INDEX_NONE || pf.counters.count == 0)
		return NULL;
	if (pf.curves_asked[type->index])
		return pf.curves[type->index];
	if (type->field_count == 0)
		return NULL;
	pf.curves_asked[type->index] = true;
	for (unsigned i = 0; i < type->field_count; i++) {
		const struct pxt_layout *field = &type->fields[i];

		if (!pxt_counters_want(&pf.counters, type, field))
			continue;
		if (!pf.curves[type->index])
			pf.curves[type->index] =
			    pxt_must(calloc(POSIX_TRACE_FIELDS_MAX_NP, sizeof(uint64_t)));
		(void)snprintf(name, sizeof name, "%s.%s", type->label, field->name);
		pf.curves[type->index][i] = pxt_perfetto_lane(&pf.packets,
		    process_track(event->source, event->source->info.posix_pid_np), name, true);
	}
	return pf.curves[type->index];
}

static void put_curves(const struct pxt_event *event)
{
	const uint64_t *curves = curves_of(event);
	struct pxt_value value;

	for (unsigned i = 0; curves && i < event->type->field_count; i++)
		if (curves[i] != 0 && pxt_field_value(event, &event->type->fields[i], &value))
			(void)pxt_perfetto_counter(&pf.packets, event->ns, curves[i], &value);
}

/* ---- Flows ---- */

/* One number for each value of each name of a field, never 0. */
static uint64_t flow_number(const char *name, uint64_t value)
{
	uint64_t number = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		number = (number ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	number = (number ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return (number ^ number >> 32) | 1u;
}

static void note_flows(const struct pxt_event *event)
{
	const struct pxt_type *type = event->type;
	struct pxt_value value;

	for (unsigned i = 0; pf.flows.count > 0 && i < type->field_count; i++)
		if (pxt_counters_want(&pf.flows, type, &type->fields[i]) &&
		    pxt_field_value(event, &type->fields[i], &value))
			pxt_perfetto_flow(&pf.packets, flow_number(type->fields[i].name, value.u));
}

/* ---- Events ---- */

/* A bar whose end may be among the lost events. */
static void cut(void *context, uint32_t thread, const struct pxt_slice *slice)
{
	const struct lane *lane = slice->lane ? find_lane(thread, slice) : NULL;
	uint64_t track = slice->lane ? (lane ? lane->track : 0) : pf.threads[thread];

	(void)context;
	if (track == 0)
		return;
	pxt_perfetto_note_flag(&pf.packets, "cut_by_loss");
	pxt_perfetto_mark(
	    &pf.packets, pf.last_ns, PXT__TRACK_EVENT__TYPE__TYPE_SLICE_END, track, NULL);
}

static void put_loss(const struct pxt_source *source, int64_t ns, uint64_t lost)
{
	uint64_t track = process_track(source, source->info.posix_pid_np);

	pxt_slices_cut(pf.bars.slices, cut, NULL);
	pxt_perfetto_dropped(&pf.packets);
	pxt_perfetto_note_number(&pf.packets, "lost", lost);
	pxt_perfetto_mark(
	    &pf.packets, ns, PXT__TRACK_EVENT__TYPE__TYPE_INSTANT, track, "EVENTS LOST");
}

static void put_bar(const struct pxt_event *event, const struct pxt_slice *slice)
{
	bool begins = slice->bar == PXT_BAR_BEGIN;
	uint64_t track =
	    slice->bar == PXT_BAR_NONE ? thread_track(event) : slice_track(event, slice);
	Pxt__TrackEvent__Type kind = begins ? PXT__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN
	                                    : PXT__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	const char *base = NULL;
	size_t bytes = 0;

	if (slice->bar == PXT_BAR_NONE || track == 0) {
		kind = PXT__TRACK_EVENT__TYPE__TYPE_INSTANT;
		track = track ? track : thread_track(event);
	} else if (begins) {
		base = pxt_slices_name(pf.bars.slices, slice->pair, &bytes);
		pxt_perfetto_name(&pf.packets, pxt_bars_own_name(&pf.bars, slice, event));
	}
	/* A bar is joined by its begin, and by what lies in it. */
	if (slice->bar != PXT_BAR_END)
		note_flows(event);
	/* The viewer puts the notes of begin and end together: the key once. */
	pxt_perfetto_note_fields(&pf.packets, event, slice->bar == PXT_BAR_END ? slice->key : NULL);
	if (pf.cpu && event->extra.posix_cpu_np >= 0)
		pxt_perfetto_note_number(&pf.packets, "cpu", (uint64_t)event->extra.posix_cpu_np);
	pxt_perfetto_stack(
	    &pf.packets, &pf.stacks, pxt_bars_stack(&pf.bars, event, &pf.stacks, 0, true));
	pxt_perfetto_event(&pf.packets, event, kind, track, base, bytes);
}

static void put_event(struct pxt_export *export, const struct pxt_event *event, uint64_t lost)
{
	struct pxt_task tasks[2];
	unsigned count;

	if (pxt_bars_spoilt(&pf.bars)) {
		pxt_bars_look(export, event, lost);
		return;
	}
	if (lost > 0)
		put_loss(event->source, event->ns, lost);
	pf.last_ns = event->ns;
	count = pxt_sched_take(&pf.sched, event, tasks);
	for (unsigned i = 0; i < count; i++)
		pxt_perfetto_task(&pf.packets, event->ns, &tasks[i]);
	if (count == 0) {
		struct pxt_slice slice = pxt_slices_take(pf.bars.slices, event);

		put_bar(event, &slice);
	}
	put_curves(event);
}

static void put_lost(struct pxt_export *export, const struct pxt_source *source, uint64_t lost)
{
	(void)export;
	put_loss(source, source->events > 0 ? pf.last_ns : source->start_ns, lost);
}

/* ---- Logs ---- */

/* A name for the archive that any system takes. */
static void name_file(char *name, size_t room, const char *machine, const struct pxt_source *source)
{
	char host[41];
	size_t used = 0;

	for (; machine[used] && used + 1 < sizeof host; used++) {
		char c = machine[used];
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		             (c >= 'A' && c <= 'Z') || c == '.' || c == '_';

		host[used] = '-';
		if (plain)
			host[used] = c;
	}
	host[used] = '\0';
	(void)snprintf(name, room, "%03u-%s-%ld.pftrace", pf.logs_done + 1, host,
	    (long)source->info.posix_pid_np);
}

static void begin_file(struct pxt_export *export, const struct pxt_source *source)
{
	const char *machine = pxt_export_target(export, source);
	char name[100];

	if (export->reader.count > 1) {
		name_file(name, sizeof name, machine, source);
		pxt_export_tar_begin(
		    &pf.tar, &export->out, name, source->info.posix_start_np.tv_sec);
	}
	memset(&pf.sched, 0, sizeof pf.sched);
	pf.threads = pxt_must(calloc(PXT_THREADS_MAX, sizeof *pf.threads));
	pf.process_count = pf.lane_count = 0;
	memset(pf.curves, 0, sizeof pf.curves);
	memset(pf.curves_asked, 0, sizeof pf.curves_asked);
	pf.last_ns = source->start_ns;
	pxt_perfetto_begin(&pf.packets, &export->out, source, machine);
	(void)process_track(source, source->info.posix_pid_np);
}

static void forget_tracks(void)
{
	for (unsigned i = 0; i < PXT_TYPES_MAX; i++)
		free(pf.curves[i]);
	free(pf.threads);
}

static void begin(struct pxt_export *export, struct pxt_reader *reader)
{
	struct pxt_export_log *log = reader->sources[0]->user;

	pxt_bars_begin(&pf.bars, reader->sources[0], true);
	log->format = &pf.bars;
	begin_file(export, reader->sources[0]);
}

static void looked(struct pxt_export *export, struct pxt_reader *reader)
{
	pxt_bars_looked(export, reader);
	if (!pxt_bars_tried())
		return;
	forget_tracks();
	begin_file(export, reader->sources[0]);
}

static void end(struct pxt_export *export, struct pxt_reader *reader)
{
	(void)reader;
	pxt_perfetto_end(&pf.packets);
	forget_tracks();
	if (pf.stacks.missing > 0)
		pxt_complain("%llu events have no stack: there are too many",
		    (unsigned long long)pf.stacks.missing);
	pxt_bars_frames_free(&pf.stacks);
	pxt_bars_end(&pf.bars);
	pf.logs_done++;
	if (export->reader.count == 1)
		return;
	pxt_export_tar_end(&pf.tar, &export->out);
	if (pf.logs_done == export->reader.count)
		pxt_export_tar_close(&export->out);
}

/* ---- The command line ---- */

static bool take_counter(void *self, char *value)
{
	(void)self;
	return pxt_counters_option(&pf.counters, "--counter", value);
}

static bool take_flow(void *self, char *value)
{
	(void)self;
	return pxt_counters_option(&pf.flows, "--flow", value);
}

static const struct pxt_option options[] = {
	PXT_OPT_TAKE(0, "counter", take_counter),
	PXT_OPT_TAKE(0, "flow", take_flow),
	PXT_OPT_FLAG(0, "cpu", struct pf, cpu),
	PXT_OPT_END,
};

static void review(struct pxt_reader *reader)
{
	for (unsigned i = 0; i < pf.counters.count; i++)
		pxt_unknown_counter(reader, "--counter", pf.counters.patterns[i]);
	for (unsigned i = 0; i < pf.flows.count; i++)
		pxt_unknown_counter(reader, "--flow", pf.flows.patterns[i]);
}

static const struct pxt_export_format format = {
	.name = "perfetto",
	.help = help,
	.options = options,
	.self = &pf,
	.binary = true,
	.apart = true,
	.begin = begin,
	PXT_BARS_CALLS(pxt_bars_stand),
	.looked = looked,
	.event = put_event,
	.lost = put_lost,
	.end = end,
	.review = review,
};

PXT_EXPORT_COMMAND(perfetto, "a trace for ui.perfetto.dev")
