/* SPDX-License-Identifier: MIT */
/*
 * vcd.c - pxtrace export vcd: threads as signals, for waveform viewers (GTKWave).
 *
 * Bounded: what wires.h and slices.h say, and a scope number for each thread of each log.
 */
#include "format/mul64.h"
#include "tools/command/command.h"
#include "tools/event/event.h"
#include "tools/export/export.h"
#include "tools/export/slices.h"
#include "tools/export/wires.h"
#include "tools/output/out.h"
#include "tools/review/review.h"
#include "tools/select/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const help[] = {
	"pxtrace export vcd - writes a value change dump for GTKWave and its like\n"
	"\n"
	"usage: pxtrace export vcd [OPTION]... LOG...\n"
	"\n"
	"A module for each process, in it one for each thread, and in that as signals:\n"
	"\n"
	"  job              1 from job_begin to job_end (X_start, X_stop; X_enter, X_exit; "
	"X_lock,\n"
	"                   X_unlock as well), also while several are open\n"
	"  running, ready   where the log has events of a scheduler (sched_switch, sched_wakeup)\n"
	"  any other event  a moment\n"
	"\n"
	"and in the process's module lost, the number of events that were lost so far. What "
	"cannot\n"
	"be known is x: before a thread's first event, and from a loss of events to the next one.\n"
	"Time 0 is the start of the earliest log, or the first event where that came before it;\n"
	"the unit is a nanosecond.\n"
	"\n"
	"what of them:\n"
	"      --counter NAME    a numeric field as a signal: FIELD, or EVENT.FIELD, with * and "
	"?;\n"
	"                        several times\n",
	PXT_EXPORT_COMMON_HELP
	"\n"
	"example: the jobs beside what a logic analyser recorded\n"
	"\n"
	"  $ pxtrace export vcd --event 'job_*' -o run.vcd run.ptl && gtkwave run.vcd\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a log could not be read, or no log has a\n"
	"name that was asked for; 3 events were lost (--strict); 4 the output could not be\n"
	"written.\n",
	NULL,
};

/* Numbers of a scope's signals: a kind, and in it pairs, types, fields. */
#define KEY(kind, number) ((uint64_t)(kind) << 32 | (number))
enum {
	KEY_LOST,
	KEY_RUNNING,
	KEY_READY,
	KEY_PAIR,
	KEY_EVENT,
	KEY_FIELD
};

/* What is kept of a log. */
struct vcd_log {
	struct pxt_slices *slices;
	struct pxt_sched sched;
	uint32_t scope; /* of the process */
	uint64_t lost;
	uint32_t *threads; /* scopes, by the thread's index; 0: none yet */
};

static struct {
	struct pxt_counters counters;
	struct pxt_wires wires;
	bool met;        /* some event */
	int64_t zero_ns; /* what is time 0 in the file, which knows none before it */
} vcd;

static struct vcd_log *log_of(const struct pxt_source *source)
{
	const struct pxt_export_log *log = source->user;

	return log->format;
}

/* ---- Scopes ---- */

static uint32_t declare_scope(uint32_t parent, uint64_t key, const char *name, int64_t number)
{
	char text[160];

	(void)snprintf(text, sizeof text, "%.40s_%lld", *name ? name : "thread", (long long)number);
	return pxt_wires_scope(&vcd.wires, parent, key, text, strlen(text));
}

/* A thread, by the system's number where that is known, so that the scheduler's events find it. */
static uint32_t thread_scope(struct vcd_log *log, const struct pxt_thread *thread)
{
	uint32_t *scope;

	if (thread->index == PXT_INDEX_NONE || !thread->recorded)
		return log->scope;
	scope = &log->threads[thread->index];
	if (*scope != 0)
		return *scope;
	if (thread->tid > 0)
		*scope =
		    declare_scope(log->scope, (uint64_t)thread->tid, thread->name, thread->tid);
	else
		*scope = declare_scope(
		    log->scope, KEY(1, thread->index), thread->name, (int64_t)thread->index);
	return *scope;
}

/* ---- Signals ---- */

static struct pxt_wire *pair_wire(
    struct vcd_log *log, uint32_t scope, const struct pxt_slice *slice, bool declare)
{
	size_t bytes;
	const char *name = pxt_slices_name(log->slices, slice->pair, &bytes);

	return declare ? pxt_wires_declare(&vcd.wires, scope, KEY(KEY_PAIR, slice->pair),
	                     PXT_WIRE_BIT, 1, name, bytes)
	               : pxt_wires_find(&vcd.wires, scope, KEY(KEY_PAIR, slice->pair));
}

/* Types beyond those that are remembered share a signal. */
static struct pxt_wire *event_wire(uint32_t scope, const struct pxt_type *type, bool declare)
{
	bool odd = type->index == PXT_INDEX_NONE;
	const char *name = odd ? "others" : type->name;

	return declare ? pxt_wires_declare(&vcd.wires, scope, KEY(KEY_EVENT, type->index),
	                     PXT_WIRE_EVENT, 1, name, strlen(name))
	               : pxt_wires_find(&vcd.wires, scope, KEY(KEY_EVENT, type->index));
}

static void declare_fields(const struct vcd_log *log, const struct pxt_type *type)
{
	char name[sizeof type->name + 80];

	for (unsigned i = 0; i < type->field_count && type->index != PXT_INDEX_NONE; i++) {
		const struct pxt_layout *field = &type->fields[i];

		if (!pxt_counters_want(&vcd.counters, type, field))
			continue;
		(void)snprintf(name, sizeof name, "%s_%s", type->name, field->name);
		(void)pxt_wires_declare(&vcd.wires, log->scope,
		    KEY(KEY_FIELD, type->index << 8 | i),
		    field->kind == POSIX_TRACE_FIELD_FLOAT_NP ? PXT_WIRE_REAL : PXT_WIRE_VECTOR,
		    8 * field->bytes, name, strlen(name));
	}
}

static void put_fields(const struct vcd_log *log, const struct pxt_event *event)
{
	const struct pxt_type *type = event->type;
	struct pxt_value value;

	for (unsigned i = 0; i < type->field_count && type->index != PXT_INDEX_NONE; i++) {
		const struct pxt_layout *field = &type->fields[i];
		struct pxt_wire *wire;

		if (!pxt_counters_want(&vcd.counters, type, field) ||
		    !pxt_field_value(event, field, &value))
			continue;
		wire = pxt_wires_find(&vcd.wires, log->scope, KEY(KEY_FIELD, type->index << 8 | i));
		if (!wire)
			continue;
		if (value.kind == POSIX_TRACE_FIELD_FLOAT_NP)
			pxt_wires_real(&vcd.wires, wire, value.f, value.bytes);
		else
			pxt_wires_vector(&vcd.wires, wire,
			    value.kind == POSIX_TRACE_FIELD_SIGNED_NP ? (uint64_t)value.i
			                                              : value.u);
	}
}

/* ---- The first reading: which signals there are ---- */

static void declare_tasks(struct vcd_log *log, const struct pxt_task *tasks, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t scope =
		    declare_scope(log->scope, (uint64_t)tasks[i].tid, tasks[i].comm, tasks[i].tid);

		(void)pxt_wires_declare(
		    &vcd.wires, scope, KEY(KEY_RUNNING, 0), PXT_WIRE_BIT, 1, "running", 7);
		(void)pxt_wires_declare(
		    &vcd.wires, scope, KEY(KEY_READY, 0), PXT_WIRE_BIT, 1, "ready", 5);
	}
}

static void declare_event(
    struct vcd_log *log, uint32_t scope, const struct pxt_type *type, const struct pxt_slice *slice)
{
	bool bar = slice->bar != PXT_BAR_NONE;
	uint32_t before = vcd.wires.wire_count;
	struct pxt_wire *wire = event_wire(scope, type, true);

	if (wire && (vcd.wires.wire_count > before || !bar))
		wire->optional = bar;
	if (bar)
		(void)pair_wire(log, scope, slice, true);
}

static void look(struct pxt_export *export, const struct pxt_event *event, uint64_t lost)
{
	struct vcd_log *log = log_of(event->source);
	struct pxt_task tasks[2];
	struct pxt_slice slice;
	unsigned count;

	/* A kernel's events may be older than all logs. */
	if (!vcd.met && event->ns < export->reader.start_ns)
		vcd.zero_ns = event->ns;
	vcd.met = true;
	if (lost > 0)
		pxt_slices_cut(log->slices, NULL, NULL);
	count = pxt_sched_take(&log->sched, event, tasks);
	declare_tasks(log, tasks, count);
	if (vcd.counters.count > 0)
		declare_fields(log, event->type);
	if (count > 0)
		return;
	uint32_t scope = thread_scope(log, event->thread);
	slice = pxt_slices_take(log->slices, event);
	declare_event(log, scope, event->type, &slice);
}

/* A pair whose other side never came is no pair: its events are shown instead. */
static void choose_signals(struct pxt_reader *reader)
{
	for (uint32_t i = 0; i < vcd.wires.wire_count; i++) {
		struct pxt_wire *wire = &vcd.wires.wires[i];
		const struct pxt_scope *scope = &vcd.wires.scopes[wire->scope];

		if (scope->parent != PXT_SCOPE_TOP)
			scope = &vcd.wires.scopes[scope->parent];
		const struct vcd_log *log = log_of(reader->sources[scope->key - 1]);
		uint32_t number = (uint32_t)wire->key;
		if (wire->key >> 32 == KEY_PAIR)
			wire->hidden = !pxt_slices_whole(log->slices, (uint16_t)number);
		else if (wire->key >> 32 == KEY_EVENT)
			wire->hidden = wire->optional && pxt_slices_paired(log->slices, number);
	}
}

static void looked(struct pxt_export *export, struct pxt_reader *reader)
{
	struct pxt_out *out = &export->out;
	struct pxt_calendar calendar = { 0 };

	pxt_out_text(out, "$date ");
	pxt_out_calendar(out, &calendar, vcd.zero_ns);
	pxt_out_text(out, " $end\n$version pxtrace export vcd $end\n");
	for (unsigned i = 0; i < reader->count; i++) {
		char uuid[37];

		pxt_slices_again(log_of(reader->sources[i])->slices);
		pxt_export_uuid(uuid, reader->sources[i]);
		pxt_out_text(out, "$comment stream ");
		pxt_out_text(out, uuid);
		pxt_out_text(out, ", time 0 is ");
		pxt_out_signed(out, vcd.zero_ns);
		pxt_out_text(out, " ns since 1970 $end\n");
	}
	choose_signals(reader);
	pxt_out_text(out, "$timescale 1 ns $end\n");
	pxt_wires_head(&vcd.wires);
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_wire *lost =
		    pxt_wires_find(&vcd.wires, log_of(reader->sources[i])->scope, KEY(KEY_LOST, 0));

		if (lost)
			pxt_wires_vector(&vcd.wires, lost, 0);
	}
}

/* ---- The second reading: what happened to them ---- */

static void put_tasks(const struct vcd_log *log, const struct pxt_task *tasks, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t scope =
		    pxt_wires_find_scope(&vcd.wires, log->scope, (uint64_t)tasks[i].tid);
		struct pxt_wire *running = pxt_wires_find(&vcd.wires, scope, KEY(KEY_RUNNING, 0));
		struct pxt_wire *ready = pxt_wires_find(&vcd.wires, scope, KEY(KEY_READY, 0));

		if (!running || !ready)
			continue;
		pxt_wires_bit(&vcd.wires, running, tasks[i].state == PXT_TASK_RUNS ? '1' : '0');
		pxt_wires_bit(&vcd.wires, ready, tasks[i].state == PXT_TASK_READY ? '1' : '0');
	}
}

static void put_pair(struct vcd_log *log, uint32_t scope, const struct pxt_slice *slice)
{
	struct pxt_wire *wire = pair_wire(log, scope, slice, false);

	if (!wire)
		return;
	if (slice->bar == PXT_BAR_BEGIN)
		wire->depth++;
	else if (wire->depth > 0)
		wire->depth--;
	pxt_wires_bit(&vcd.wires, wire, wire->depth > 0 ? '1' : '0');
}

static void put_lost(struct pxt_export *export, const struct pxt_source *source, uint64_t lost)
{
	struct vcd_log *log = log_of(source);
	struct pxt_wire *wire = pxt_wires_find(&vcd.wires, log->scope, KEY(KEY_LOST, 0));

	(void)export;
	pxt_sum_add(&log->lost, lost);
	pxt_slices_cut(log->slices, NULL, NULL);
	if (log->scope != PXT_SCOPE_NONE)
		pxt_wires_unknown(&vcd.wires, log->scope);
	if (wire)
		pxt_wires_vector(&vcd.wires, wire, log->lost);
}

static void put_event(struct pxt_export *export, const struct pxt_event *event, uint64_t lost)
{
	struct vcd_log *log = log_of(event->source);
	int64_t ns = event->ns - vcd.zero_ns;
	struct pxt_task tasks[2];
	unsigned count;

	pxt_wires_at(&vcd.wires, ns < 0 ? 0 : (uint64_t)ns);
	if (lost > 0)
		put_lost(export, event->source, lost);
	count = pxt_sched_take(&log->sched, event, tasks);
	put_tasks(log, tasks, count);
	if (vcd.counters.count > 0)
		put_fields(log, event);
	if (count > 0)
		return;
	uint32_t scope = thread_scope(log, event->thread);
	struct pxt_slice slice = pxt_slices_take(log->slices, event);
	if (slice.bar != PXT_BAR_NONE) {
		put_pair(log, scope, &slice);
		return;
	}
	struct pxt_wire *wire = event_wire(scope, event->type, false);
	if (wire)
		pxt_wires_event(&vcd.wires, wire);
}

/* ---- Begin and end ---- */

static void begin(struct pxt_export *export, struct pxt_reader *reader)
{
	pxt_wires_begin(&vcd.wires, &export->out);
	vcd.zero_ns = reader->start_ns;
	for (unsigned i = 0; i < reader->count; i++) {
		const struct posix_trace_loginfo_np *info = &reader->sources[i]->info;
		struct pxt_export_log *log = reader->sources[i]->user;
		struct vcd_log *mine = pxt_must(calloc(1, sizeof *mine));
		const char *slash = strrchr(info->posix_executable_np, '/');
		const char *name = slash ? slash + 1 : info->posix_executable_np;

		mine->slices = pxt_slices_new();
		mine->threads = pxt_must(calloc(PXT_THREADS_MAX, sizeof *mine->threads));
		mine->scope = declare_scope(
		    PXT_SCOPE_TOP, i + 1u, *name ? name : "process", info->posix_pid_np);
		(void)pxt_wires_declare(
		    &vcd.wires, mine->scope, KEY(KEY_LOST, 0), PXT_WIRE_VECTOR, 64, "lost", 4);
		log->format = mine;
	}
}

static void end(struct pxt_export *export, struct pxt_reader *reader)
{
	(void)export;
	if (vcd.wires.left_out > 0)
		pxt_complain("export vcd: too many signals: %llu changes were left out",
		    (unsigned long long)vcd.wires.left_out);
	for (unsigned i = 0; i < reader->count; i++) {
		struct vcd_log *log = log_of(reader->sources[i]);

		pxt_slices_free(log->slices);
		free(log->threads);
		free(log);
	}
	pxt_wires_free(&vcd.wires);
}

/* ---- The command line ---- */

enum {
	OPT_COUNTER = 500
};

static const struct option options[] = {
	{ "counter", required_argument, NULL, OPT_COUNTER },
	{ NULL, 0, NULL, 0 },
};

static bool take_option(struct pxt_export *export, int code, char *value)
{
	(void)export;
	(void)code;
	return pxt_counters_option(&vcd.counters, "--counter", value);
}

static void review(struct pxt_reader *reader)
{
	for (unsigned i = 0; i < vcd.counters.count; i++)
		pxt_review_counter(reader, "--counter", vcd.counters.patterns[i]);
}

static const struct pxt_export_format format = {
	.name = "vcd",
	.letters = "",
	.help = help,
	.options = options,
	.option = take_option,
	.begin = begin,
	.look = look,
	.looked = looked,
	.event = put_event,
	.lost = put_lost,
	.end = end,
	.review = review,
};

PXT_EXPORT_COMMAND(vcd, "signals for GTKWave")
