/* SPDX-License-Identifier: MIT */
/*
 * chrome.c - pxtrace export chrome: the Trace Event Format, which Perfetto, speedscope, Firefox Profiler and
 * Chrome's own viewer open.
 *
 *	{"displayTimeUnit":"ns","otherData":{...},"traceEvents":[{"ph":"B","pid":1,...},...]}
 *
 * Bounded, beside what a log's reader keeps: what slices.h says, and a mark for each thread that was named.
 */
#include "tools/command/command.h"
#include "tools/event/event.h"
#include "tools/export/bars.h"
#include "tools/export/export.h"
#include "tools/output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const help[] = {
	"pxtrace export chrome - writes a trace in Chrome's Trace Event Format (JSON)\n"
	"\n"
	"usage: pxtrace export chrome [OPTION]... LOG...\n"
	"\n"
	"Opens in ui.perfetto.dev, speedscope.app, profiler.firefox.com and chrome://tracing.\n"
	"Each thread has a track. X_begin or X_start with X_end or X_stop, X_enter with X_exit,\n"
	"X_lock with X_unlock are a bar from one to the other; pairs that overlap are\n"
	"asynchronous bars. Everything else is a mark. The data is in \"args\". Where events\n"
	"were lost stands a mark that says how many, and bars that were open end there\n"
	"(cut_by_loss). Events that tell which functions called have them in \"stackFrames\".\n"
	"Times are microseconds from the first log's start; \"otherData\" has its date.\n"
	"\n"
	"Processes of two logs with one number are told apart: that of a later log is larger by\n"
	"10000000 for each log before it. A field \"data\" is \"data_\", as viewers have one of\n"
	"their own.\n"
	"\n",
	PXT_EXPORT_COMMON_HELP "\n"
	                       "example: the second that matters, for speedscope\n"
	                       "\n"
	                       "  $ pxtrace export chrome --from 12s --to 13s -o run.json run.ptl\n"
	                       "\n" PXT_HELP_STATUS,
	NULL,
};

#define PIDS_MAX  1024u
#define PID_APART 10000000

/* What is kept of each log. */
struct chrome {
	struct pxt_bars bars;
	const struct pxt_source *source;
	int64_t last_ns;
	int64_t apart; /* added to the numbers of its processes and threads */
	int64_t *tids; /* of its threads, by their index, 0: not named yet; and their processes */
	int64_t *pids;
};

static struct {
	struct pxt_out *out;
	int64_t start_ns;
	struct {
		const struct pxt_source *source;
		int64_t pid;
	} processes[PIDS_MAX]; /* that have a name */
	unsigned process_count;
	struct pxt_frames stacks;
} state;

/* ---- Heads of events ---- */

static void put_head(const char *phase, int64_t pid, int64_t tid)
{
	pxt_json_line(state.out);
	pxt_json_open(state.out, NULL, '{');
	pxt_json_text(state.out, "ph", phase);
	pxt_json_signed(state.out, "pid", pid);
	pxt_json_signed(state.out, "tid", tid);
}

/* Microseconds, to the nanosecond. */
static void put_time(int64_t ns)
{
	int64_t since = ns - state.start_ns;
	uint64_t size = since < 0 ? 0 - (uint64_t)since : (uint64_t)since;

	pxt_json_name(state.out, "ts");
	pxt_out_format(state.out, "%s%llu.%03llu", since < 0 ? "-" : "",
	    (unsigned long long)(size / 1000), (unsigned long long)(size % 1000));
}

static void put_name_of(const char *what, int64_t pid, int64_t tid, const char *name)
{
	put_head("M", pid, tid);
	pxt_json_text(state.out, "name", what);
	pxt_json_open(state.out, "args", '{');
	pxt_json_text(state.out, "name", name);
	pxt_json_close(state.out, "}}");
}

/* ---- Whose an event is ---- */

static void name_process(const struct chrome *log, int64_t pid)
{
	const struct pxt_source *source = log->source;
	const char *path = source->info.posix_executable_np;

	for (unsigned i = 0; i < state.process_count; i++)
		if (state.processes[i].source == source && state.processes[i].pid == pid)
			return;
	if (state.process_count == PIDS_MAX || pid != source->info.posix_pid_np)
		return;
	state.processes[state.process_count].source = source;
	state.processes[state.process_count++].pid = pid;
	put_name_of("process_name", pid + log->apart, 0, pxt_path_name(path));
}

static int64_t tid_of(const struct pxt_thread *thread)
{
	return thread->tid > 0 ? thread->tid : (int64_t)thread->index + 1;
}

/* The event's process and thread, which get their names with their first event. */
static void find_who(
    const struct chrome *log, const struct pxt_event *event, int64_t *pid, int64_t *tid)
{
	const struct pxt_thread *thread = event->thread;
	bool is_known = thread->index != PXT_INDEX_NONE && thread->recorded;

	*pid = event->info.posix_pid + log->apart;
	*tid = is_known ? tid_of(thread) + log->apart : 0;
	name_process(log, event->info.posix_pid);
	if (!is_known || log->tids[thread->index] != 0)
		return;
	log->pids[thread->index] = *pid;
	log->tids[thread->index] = *tid;
	put_name_of("thread_name", *pid, *tid, thread->label);
}

/* ---- Bars and marks ---- */

/* Bars of pairs that overlap are asynchronous: their number is the lane's. */
static void put_lane(
    const struct pxt_slices *slices, uint32_t thread, const struct pxt_slice *slice)
{
	size_t bytes;
	const char *base = pxt_slices_name(slices, slice->pair, &bytes);

	pxt_json_part(state.out, "cat", base, bytes);
	pxt_json_name(state.out, "id");
	pxt_out_format(state.out, "\"%lx.%x.%x\"", (unsigned long)thread, (unsigned)slice->pair,
	    (unsigned)slice->lane);
}

/* Of a bar: viewers end none whose end has another name.  @own: NULL: as its pair is called. */
static void put_name(const struct chrome *log, const struct pxt_slice *slice, const char *own)
{
	size_t bytes;
	const char *base = pxt_slices_name(log->bars.slices, slice->pair, &bytes);

	pxt_json_part(state.out, "name", own ? own : base, own ? strlen(own) : bytes);
}

static void put_bar(
    struct chrome *log, const struct pxt_event *event, const struct pxt_slice *slice)
{
	static const char *const phases[2][3] = { { "i", "B", "E" }, { "i", "b", "e" } };
	/* Firefox Profiler takes "data" for an object of Chrome's, and refuses a file in which it is none. */
	static const char *const renamed[2] = { "data", "data_" };
	uint32_t stack = pxt_bars_stack(&log->bars, event, &state.stacks, 0, true);
	int64_t pid;
	int64_t tid;

	find_who(log, event, &pid, &tid);
	put_head(phases[slice->lane > 0][slice->bar], pid, tid);
	put_time(event->ns);
	if (slice->bar == PXT_BAR_NONE) {
		pxt_json_text(state.out, "name", event->type->label);
		pxt_json_text(state.out, "s", "t");
	} else {
		put_name(log, slice, pxt_bars_own_name(&log->bars, slice, event));
		if (slice->lane > 0)
			put_lane(log->bars.slices,
			    slice->moved ? PXT_SLICES_MOVED : event->thread->index, slice);
	}
	if (stack != 0)
		pxt_json_number(state.out, "sf", stack);
	pxt_json_open(state.out, "args", '{');
	pxt_json_payload(state.out, event, renamed);
	pxt_json_close(state.out, "}}");
}

/* ---- Losses ---- */

/* A bar whose end may be among the lost events. */
static void cut(void *context, uint32_t thread, const struct pxt_slice *slice)
{
	struct chrome *log = context;
	pid_t pid = (pid_t)(log->pids[thread] - log->apart);

	put_head(slice->lane > 0 ? "e" : "E", log->pids[thread], log->tids[thread]);
	put_time(log->last_ns);
	put_name(log, slice, pxt_bars_cut_name(&log->bars, slice, pid, log->last_ns));
	if (slice->lane > 0)
		put_lane(log->bars.slices, thread, slice);
	pxt_json_open(state.out, "args", '{');
	pxt_json_bool(state.out, "cut_by_loss", true);
	pxt_json_close(state.out, "}}");
}

static void put_loss(struct chrome *log, int64_t ns, uint64_t lost)
{
	int64_t pid = log->source->info.posix_pid_np;

	pxt_slices_cut(log->bars.slices, cut, log);
	name_process(log, pid);
	put_head("i", pid + log->apart, 0);
	put_time(ns);
	pxt_json_text(state.out, "s", "p");
	pxt_json_text(state.out, "name", "EVENTS LOST");
	pxt_json_open(state.out, "args", '{');
	pxt_json_number(state.out, "lost", lost);
	pxt_json_close(state.out, "}}");
}

/* ---- The format's calls ---- */

static void put_event(struct pxt_export *export, const struct pxt_event *event, uint64_t lost)
{
	struct chrome *log = pxt_export_of(event->source);
	struct pxt_slice slice;

	if (pxt_bars_spoilt(&log->bars)) {
		pxt_bars_look(export, event, lost);
		return;
	}
	if (lost > 0)
		put_loss(log, event->ns, lost);
	log->last_ns = event->ns;
	slice = pxt_slices_take(log->bars.slices, event);
	put_bar(log, event, &slice);
}

static void put_lost(struct pxt_export *export, const struct pxt_source *source, uint64_t lost)
{
	struct chrome *log = pxt_export_of(source);

	(void)export;
	put_loss(log, source->events > 0 ? log->last_ns : source->start_ns, lost);
}

/* Processes of two logs may have one number. */
static int64_t apart_of(const struct pxt_reader *reader, unsigned index)
{
	for (unsigned i = 0; i < index; i++)
		if (reader->sources[i]->info.posix_pid_np ==
		    reader->sources[index]->info.posix_pid_np)
			return (int64_t)index * PID_APART;
	return 0;
}

static void begin_file(struct pxt_export *export, const struct pxt_reader *reader)
{
	state.out = &export->out;
	state.start_ns = reader->start_ns;
	state.process_count = 0;
	pxt_json_begin(state.out);
	pxt_json_text(state.out, "displayTimeUnit", "ns");
	pxt_json_open(state.out, "otherData", '{');
	pxt_json_name(state.out, "start_ns");
	pxt_out_format(state.out, "\"%lld\"", (long long)reader->start_ns);
	pxt_json_close(state.out, "}");
	pxt_json_line(state.out);
	pxt_json_open(state.out, "traceEvents", '[');
}

static void begin(struct pxt_export *export, struct pxt_reader *reader)
{
	begin_file(export, reader);
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_export_log *of = reader->sources[i]->user;
		struct chrome *log = pxt_must(calloc(1, sizeof *log));

		*log = (struct chrome){ .source = reader->sources[i],
			.last_ns = reader->sources[i]->start_ns,
			.apart = apart_of(reader, i),
			.tids = pxt_must(calloc(PXT_SLICES_MOVED + 1, sizeof *log->tids)),
			.pids = pxt_must(calloc(PXT_SLICES_MOVED + 1, sizeof *log->pids)) };
		log->pids[PXT_SLICES_MOVED] = log->source->info.posix_pid_np + log->apart;
		pxt_bars_begin(&log->bars, reader->sources[i], true);
		of->format = log;
	}
}

static void looked(struct pxt_export *export, struct pxt_reader *reader)
{
	pxt_bars_looked(export, reader);
	if (!pxt_bars_tried())
		return;
	begin_file(export, reader);
	for (unsigned i = 0; i < reader->count; i++) {
		struct chrome *log = pxt_export_of(reader->sources[i]);

		memset(log->tids, 0, PXT_SLICES_MOVED * sizeof *log->tids);
		log->last_ns = log->source->start_ns;
	}
}

/* What "sf" of an event names: the function that recorded it, whose parent called it. */
static void put_stacks(void)
{
	if (state.stacks.count == 0)
		return;
	pxt_json_line(state.out);
	pxt_json_open(state.out, "stackFrames", '{');
	for (uint32_t i = 1; i < state.stacks.count; i++) {
		const struct pxt_frame *frame = &state.stacks.list[i];
		char number[16];

		(void)snprintf(number, sizeof number, "%lu", (unsigned long)i);
		pxt_json_line(state.out);
		pxt_json_open(state.out, number, '{');
		pxt_json_text(state.out, "name", frame->name);
		(void)snprintf(number, sizeof number, "%lu", (unsigned long)frame->parent);
		if (frame->parent != 0)
			pxt_json_text(state.out, "parent", number);
		pxt_json_close(state.out, "}");
	}
	pxt_json_close(state.out, "}");
	if (state.stacks.missing > 0)
		pxt_complain("%llu events have no stack: there are too many",
		    (unsigned long long)state.stacks.missing);
	pxt_bars_frames_free(&state.stacks);
}

static void end(struct pxt_export *export, struct pxt_reader *reader)
{
	(void)export;
	pxt_out_char(state.out, '\n');
	pxt_json_close(state.out, "]");
	put_stacks();
	pxt_json_end(state.out);
	for (unsigned i = 0; i < reader->count; i++) {
		struct chrome *log = pxt_export_of(reader->sources[i]);

		pxt_bars_end(&log->bars);
		free(log->tids);
		free(log->pids);
		free(log);
	}
}

static const struct pxt_export_format format = {
	.name = "chrome",
	.help = help,
	.begin = begin,
	PXT_BARS_CALLS(pxt_bars_stand),
	.looked = looked,
	.event = put_event,
	.lost = put_lost,
	.end = end,
};

PXT_EXPORT_COMMAND(chrome, "Chrome's Trace Event Format, for many viewers")
