/* SPDX-License-Identifier: MIT */
/* meta.c - what a page knows beside its events: logs, types, threads, pairs, losses. */
#include "tools/report/report.h"

#include "format/ids.h"
#include "tools/describe/describe.h"
#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/read/source.h"
#include "tools/spans/pairs.h"

#include <stdio.h>
#include <stdlib.h>

/* A date: as a number it would be rounded. */
static void put_start(struct pxt_out *out, int64_t ns)
{
	pxt_json_name(out, "start");
	pxt_out_format(out, "\"%lld\"", (long long)ns);
}

void pxt_report_meta_thread(struct pxt_out *out, uint64_t id, long tid)
{
	pxt_json_name(out, "id");
	pxt_out_format(out, "\"%#llx\"", (unsigned long long)id);
	pxt_json_signed(out, "tid", tid);
}

/* ---- Logs ---- */

static void put_attributes(struct pxt_out *out, trace_id_t trid)
{
	char name[TRACE_NAME_MAX + 1] = "";
	char version[TRACE_NAME_MAX + 1] = "";
	struct timespec resolution = { 0 };
	trace_attr_t attr;
	size_t size = 0;
	size_t data = 0;
	int policy = 0;
	int log_policy = 0;

	if (posix_trace_get_attr(trid, &attr) != 0)
		return;
	(void)posix_trace_attr_getname(&attr, name);
	(void)posix_trace_attr_getgenversion(&attr, version);
	(void)posix_trace_attr_getclockres(&attr, &resolution);
	(void)posix_trace_attr_getstreamsize(&attr, &size);
	(void)posix_trace_attr_getmaxdatasize(&attr, &data);
	(void)posix_trace_attr_getstreamfullpolicy(&attr, &policy);
	(void)posix_trace_attr_getlogfullpolicy(&attr, &log_policy);
	pxt_json_text(out, "stream", name);
	pxt_json_text(out, "by", version);
	pxt_json_text(out, "policy", pxt_policy_name(policy));
	pxt_json_text(out, "logPolicy", pxt_policy_name(log_policy));
	pxt_json_number(out, "streamBytes", size);
	pxt_json_number(out, "maxData", data);
	pxt_json_number(out, "resolution", (uint64_t)pxt_when_ns(&resolution));
}

static void put_clock(struct pxt_out *out, const struct posix_trace_clock_np *clock)
{
	pxt_json_text(out, "clock", pxt_clock_name(clock));
	pxt_json_number(out, "hz", clock->posix_hz_np);
	pxt_json_number(out, "ppm", clock->posix_error_ppm_np);
}

static void put_log_counts(
    struct pxt_out *out, const struct pxt_source *source, const struct pxt_report_log *of)
{
	const struct posix_trace_counts_np *counts = &source->info.posix_counts_np;
	uint64_t lost = source->info.posix_lost_np;
	struct pxt_unwritten why;

	pxt_json_number(out, "written", counts->posix_written_np);
	pxt_json_number(out, "retrieved", counts->posix_retrieved_np);
	pxt_json_number(out, "lost", counts->posix_lost_np);
	pxt_json_number(out, "cleared", counts->posix_cleared_np);
	pxt_json_number(out, "held", counts->posix_held_np);
	pxt_json_number(out, "lostAll", lost > source->lost ? lost : source->lost);
	pxt_json_number(out, "lostUntold", pxt_source_lost_rest(source));
	if (pxt_unwritten(source->trid, &why))
		pxt_json_text(out, "unwritten", why.text);
	pxt_json_number(out, "read", source->events);
	pxt_json_number(out, "selected", of->events);
}

static void put_modules(struct pxt_out *out, const struct pxt_source *source)
{
	struct posix_trace_logmodule_np module;

	pxt_json_open(out, "modules", '[');
	for (uint32_t i = 0; i < source->info.posix_modules_np; i++) {
		if (posix_trace_log_getmodule_np(source->trid, i, &module, sizeof module) != 0)
			break;
		pxt_json_open(out, NULL, '{');
		pxt_json_text(out, "path", module.posix_path_np);
		pxt_json_hex(out, "id", module.posix_buildid_np,
		    module.posix_buildid_bytes_np <= sizeof module.posix_buildid_np
		        ? module.posix_buildid_bytes_np
		        : 0);
		pxt_json_close(out, "}");
	}
	pxt_json_close(out, "]");
}

static void put_losses(struct pxt_out *out, const struct pxt_losses *losses)
{
	pxt_json_open(out, "losses", '[');
	for (uint32_t i = 0; i < losses->count; i++) {
		const struct pxt_loss *loss = &losses->marks[i];

		pxt_json_open(out, NULL, '[');
		pxt_json_signed(out, NULL, loss->from_ns);
		pxt_json_signed(out, NULL, loss->to_ns);
		pxt_json_number(out, NULL, loss->count);
		pxt_json_number(out, NULL, loss->times);
		pxt_json_close(out, "]");
	}
	pxt_json_close(out, "]");
}

static void put_taken(struct pxt_out *out, const struct pxt_lockcounts *taken)
{
	pxt_json_open(out, "taken", '[');
	for (unsigned i = 0; i < PXT_LOCKCOUNTS_KINDS && *taken->kinds[i].name; i++) {
		pxt_json_open(out, NULL, '[');
		pxt_json_label(out, NULL, taken->kinds[i].name);
		pxt_json_number(out, NULL, taken->kinds[i].times);
		pxt_json_close(out, "]");
	}
	pxt_json_close(out, "]");
}

static void put_log(struct pxt_report *report, uint32_t index)
{
	const struct pxt_source *source = report->reader.sources[index];
	const struct posix_trace_loginfo_np *info = &source->info;
	struct pxt_out *out = &report->out;

	pxt_json_open(out, NULL, '{');
	pxt_json_text(out, "path", source->path);
	pxt_json_text(out, "program", info->posix_executable_np);
	pxt_json_text(out, "host", info->posix_host_np);
	pxt_json_text(out, "system", info->posix_system_np);
	pxt_json_number(out, "cpus", info->posix_cpus_np);
	pxt_json_signed(out, "pid", info->posix_pid_np);
	pxt_json_number(out, "bits", UINT64_C(8) * (unsigned)info->posix_word_bytes_np);
	pxt_json_bool(out, "swapped", info->posix_swapped_np != 0);
	pxt_json_bool(out, "complete", info->posix_complete_np != 0);
	pxt_json_bool(out, "failed", source->failed);
	pxt_json_bool(out, "endUnknown", pxt_source_end_unknown(source));
	if (pxt_never_started(info, source->events))
		pxt_json_text(out, "note", PXT_NEVER_STARTED);
	put_start(out, source->start_ns);
	pxt_json_signed(out, "startAt", pxt_report_since(report, source->start_ns));
	pxt_json_signed(out, "lasted", pxt_lasting_ns(info));
	pxt_json_number(out, "blocks", info->posix_blocks_np);
	pxt_json_name(out, "format");
	pxt_out_format(out, "\"%lu.%lu\"", (unsigned long)info->posix_format_major_np,
	    (unsigned long)info->posix_format_minor_np);
	pxt_json_number(out, "threads", info->posix_threads_np);
	pxt_json_hex(out, "uuid", info->posix_uuid_np, sizeof info->posix_uuid_np);
	put_clock(out, &info->posix_clock_np);
	put_attributes(out, source->trid);
	put_log_counts(out, source, &report->logs[index]);
	put_modules(out, source);
	put_losses(out, &report->logs[index].losses);
	put_taken(out, &report->logs[index].taken);
	pxt_programs_put(&report->logs[index].programs, out);
	pxt_json_close(out, "}");
}

/* ---- Types, threads, pairs ---- */

/* What a stream says of itself; "": what a thread did, also where System Events record it. */
static const char *role_of(trace_event_id_t id)
{
	switch (id) {
	case POSIX_TRACE_START:
		return "start";
	case POSIX_TRACE_STOP:
		return "stop";
	case POSIX_TRACE_FLUSH_START:
		return "flush_start";
	case POSIX_TRACE_FLUSH_STOP:
		return "flush_stop";
	case POSIX_TRACE_FILTER:
		return "filter";
	case POSIX_TRACE_ERROR:
		return "error";
	default:
		return id >= POSIX_TRACE_UNNAMED_USEREVENT || pxt_id_is_specific(id) ? ""
		                                                                     : "system";
	}
}

/* What its numbers stand for, of system events: a list by number. */
static void put_field_words(struct pxt_out *out, const struct pxt_type *type, const char *name)
{
	size_t count = pxt_sysnames_count(type->id, name);

	for (size_t i = 0; i < count; i++) {
		const char *word = pxt_sysnames_word(type->id, name, i);

		if (i == 0)
			pxt_json_open(out, NULL, '[');
		pxt_json_text(out, NULL, word ? word : "");
	}
	if (count > 0)
		pxt_json_close(out, "]");
}

static void put_fields(struct pxt_out *out, const struct pxt_type *type)
{
	pxt_json_open(out, "fields", '[');
	for (unsigned i = 0; i < type->field_count; i++) {
		const struct pxt_layout *field = &type->fields[i];

		pxt_json_open(out, NULL, '[');
		pxt_json_text(out, NULL, field->name);
		pxt_out_format(out, ",%d,%lu,%lu,%d", field->kind, (unsigned long)field->offset,
		    (unsigned long)field->bytes, field->trailing);
		put_field_words(out, type, field->name);
		pxt_json_close(out, "]");
	}
	pxt_json_close(out, "]");
}

/* Which of its fields says what, where an event is the scheduler's: "cpu":0, by their places. */
static void put_scheduler(
    struct pxt_out *out, const struct pxt_type *type, const struct pxt_role *role)
{
	static const char *const names[PXT_USES] = { [PXT_USE_THREAD] = "thread",
		[PXT_USE_CPU] = "cpu",
		[PXT_USE_FROM] = "from",
		[PXT_USE_TO] = "to",
		[PXT_USE_STATE] = "state",
		[PXT_USE_FROM_NAME] = "fromName",
		[PXT_USE_TO_NAME] = "toName" };

	pxt_json_open(out, "scheduler", '{');
	pxt_json_label(out, "deed", role->deed == PXT_SWITCH ? "switch" : "wake");
	for (unsigned use = 0; use < PXT_USES; use++)
		if (names[use] && role->fields[use])
			pxt_json_number(
			    out, names[use], (uint64_t)(role->fields[use] - type->fields));
	pxt_json_close(out, "}");
}

static void put_roles(
    struct pxt_out *out, const struct pxt_type *type, const struct pxt_type_roles *roles)
{
	for (unsigned i = 0; roles && i < roles->count; i++) {
		const struct pxt_role *role = &roles->list[i];

		/* What wakes its own thread, or is a wake-up among others, is no news of the scheduler's. */
		if (role->deed != PXT_SWITCH &&
		    (role->deed != PXT_WAKE || !role->fields[PXT_USE_THREAD] ||
		        role->fields[PXT_USE_WHAT]))
			continue;
		put_scheduler(out, type, role);
		return;
	}
}

/* The places of fields that are shown as curves. */
static void put_counters(
    struct pxt_out *out, const struct pxt_counters *counters, const struct pxt_type *type)
{
	pxt_json_open(out, "counters", '[');
	for (unsigned i = 0; i < type->field_count; i++)
		if (pxt_counters_want(counters, type, &type->fields[i]))
			pxt_json_number(out, NULL, i);
	pxt_json_close(out, "]");
}

static void put_type(struct pxt_report *report, const struct pxt_entry *entry)
{
	struct pxt_out *out = &report->out;
	const struct pxt_type *type = entry->subject;
	bool shared = entry->index == PXT_INDEX_NONE;

	pxt_json_open(out, NULL, '{');
	pxt_json_number(out, "log", entry->log);
	pxt_json_label(out, "name", shared ? "(others)" : type->label);
	pxt_json_number(out, "count", entry->count);
	pxt_json_number(out, "bytes", entry->bytes);
	pxt_json_text(out, "role", shared ? "" : role_of(type->id));
	if (!shared) {
		put_fields(out, type);
		put_roles(out, type, entry->roles);
		put_counters(out, &report->counters, type);
	}
	pxt_json_close(out, "}");
}

static void put_thread(struct pxt_report *report, const struct pxt_entry *entry)
{
	struct pxt_out *out = &report->out;
	const struct pxt_thread *thread = entry->subject;
	bool shared = entry->index == PXT_INDEX_NONE;

	pxt_json_open(out, NULL, '{');
	pxt_json_number(out, "log", entry->log);
	pxt_json_label(out, "name", shared ? "(others)" : thread->label);
	pxt_json_number(out, "count", entry->count);
	if (!shared) {
		pxt_json_bool(out, "known", thread->recorded);
		pxt_report_meta_thread(out, thread->id, thread->tid);
		pxt_json_signed(out, "pid", thread->pid);
	}
	pxt_json_close(out, "}");
}

/* "job", "read", "refill": what its bars are called. */
static void put_base(struct pxt_out *out, const struct pxt_pair *pair, const struct pxt_row *row)
{
	char name[sizeof row->label + 32];

	if (!pair->system || !pair->system->by_value) {
		pxt_json_text(out, "base", pair->base);
		return;
	}
	if (pair->system->names == PXT_SYSPAIR_NUMBERS)
		(void)snprintf(name, sizeof name, "%s %s", pair->system->name, row->label);
	else
		(void)snprintf(name, sizeof name, "%s", row->label);
	pxt_json_label(out, "base", name);
}

/* A pair with the numbers of its row, which say what has no counterpart. */
static void put_pair(struct pxt_report *report, const struct pxt_row *row, uint32_t log)
{
	const struct pxt_pair *pair = &report->logs[log].spans->pairs[row->pair];
	struct pxt_out *out = &report->out;

	pxt_json_open(out, NULL, '{');
	pxt_json_number(out, "log", log);
	put_base(out, pair, row);
	pxt_json_number(out, "family", pair->is_explicit ? 99 : pair->family);
	pxt_json_label(out, "begin", pair->begin ? pair->begin->label : "?");
	pxt_json_label(out, "end", pair->end ? pair->end->label : "?");
	pxt_json_signed(out, "number", (int64_t)row->number - 1);
	pxt_json_number(out, "count", row->series.count);
	pxt_json_number(out, "open", row->open);
	pxt_json_number(out, "unopened", row->unopened);
	pxt_json_number(out, "cut", row->cut);
	pxt_json_bool(out, "by_clock", report->logs[log].spans->by_clock);
	pxt_json_close(out, "}");
}

static void put_pairs(struct pxt_report *report)
{
	for (unsigned log = 0; log < report->reader.count; log++) {
		uint32_t count;
		struct pxt_row **rows = pxt_pairs_rows(report->logs[log].spans, &count);

		for (uint32_t i = 0; i < count; i++)
			put_pair(report, rows[i], log);
		free(rows);
	}
}

static void put_entries(struct pxt_report *report, const char *name,
    const struct pxt_entries *entries,
    void (*put)(struct pxt_report *report, const struct pxt_entry *entry))
{
	pxt_json_open(&report->out, name, '[');
	for (uint32_t i = 0; i < entries->count; i++)
		put(report, &entries->list[i]);
	pxt_json_close(&report->out, "]");
}

static void put_summary(struct pxt_report *report)
{
	struct pxt_out *out = &report->out;
	const uint16_t one = 1;

	pxt_json_number(out, "version", 1);
	pxt_json_text(out, "tool", PXTRACE_VERSION);
	/* Numbers in events' data are in the order of the machine that made the page. */
	pxt_json_bool(out, "little", *(const unsigned char *)&one == 1);
	pxt_json_number(out, "keep", PXT_PACK_KEEP);
	put_start(out, report->reader.start_ns);
	pxt_json_signed(out, "base", report->pack.base_ns);
	pxt_json_signed(out, "first", report->first_ns);
	pxt_json_signed(out, "last", report->last_ns);
	pxt_json_signed(out, "shownTo", report->shown_ns);
	pxt_json_number(out, "events", report->events);
	pxt_json_number(out, "shown", report->pack.events);
	pxt_json_number(out, "spans", report->pack.spans);
	pxt_json_number(out, "dataBytes", report->pack.data_bytes);
	pxt_json_bool(out, "chosen",
	    report->select.event_count + report->select.thread_count + report->select.pid_count >
	            0 ||
	        report->select.from.set || report->select.to.set || report->select.where);
}

void pxt_report_meta(struct pxt_report *report)
{
	struct pxt_out *out = &report->out;

	pxt_out_text(out, "<script type=\"application/json\" id=\"meta\">");
	out->in_page = true;
	pxt_json_begin(out);
	put_summary(report);
	pxt_json_open(out, "logs", '[');
	for (unsigned i = 0; i < report->reader.count; i++)
		put_log(report, i);
	pxt_json_close(out, "]");
	put_entries(report, "types", &report->types, put_type);
	put_entries(report, "threads", &report->threads, put_thread);
	pxt_json_open(out, "pairs", '[');
	put_pairs(report);
	pxt_json_close(out, "]");
}

void pxt_report_meta_answers(struct pxt_report *report)
{
	pxt_answers_explain(&report->answers, &report->reader);
	pxt_answers_put(&report->answers, &report->out, report->reader.start_ns);
	pxt_out_text(&report->out, "}</script>\n");
}
