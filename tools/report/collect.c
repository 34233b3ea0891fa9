/* SPDX-License-Identifier: MIT */
/* collect.c - one pass over the logs, into the page; see report.h. */
#include "tools/report/report.h"

#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>
#include <unistd.h>

/* ---- Numbers of the page ---- */

static uint32_t new_entry(
    struct pxt_entries *entries, uint32_t log, uint32_t index, const void *subject)
{
	entries->list =
	    pxt_must_grow(entries->list, &entries->room, entries->count, sizeof *entries->list);
	entries->list[entries->count] =
	    (struct pxt_entry){ .log = log, .index = index, .subject = subject };
	return entries->count++;
}

static uint32_t type_number(struct pxt_report *report, uint32_t log, const struct pxt_type *type)
{
	uint32_t index = type->index < PXT_TYPES_MAX ? type->index : PXT_TYPES_MAX;
	uint32_t *number = &report->logs[log].types[index];

	if (*number == PXT_REPORT_NONE)
		*number = new_entry(&report->types, log, type->index, type);
	return *number;
}

static uint32_t thread_number(
    struct pxt_report *report, uint32_t log, const struct pxt_thread *thread)
{
	struct pxt_report_log *of = &report->logs[log];
	uint32_t *number = &of->other_threads;

	if (thread->index != PXT_INDEX_NONE) {
		if (thread->index >= of->thread_room) {
			uint32_t room = 2 * thread->index + 64;

			of->threads = pxt_must(realloc(of->threads, room * sizeof *of->threads));
			for (uint32_t i = of->thread_room; i < room; i++)
				of->threads[i] = PXT_REPORT_NONE;
			of->thread_room = room;
		}
		number = &of->threads[thread->index];
	}
	if (*number == PXT_REPORT_NONE)
		*number = new_entry(&report->threads, log, thread->index, thread);
	return *number;
}

/* ---- Events and spans ---- */

int64_t pxt_report_since(const struct pxt_report *report, int64_t ns)
{
	return ns - report->reader.start_ns;
}

/* From pairs.c, while the end event is at work. */
static void take_span(void *context, uint32_t pair, uint64_t begin_mark, int64_t begin_ns)
{
	struct pxt_report *report = context;
	uint64_t mark = report->at->spans->mark;
	struct pxt_row *row = report->at->spans->row;

	(void)begin_ns;
	if (row->number == 0)
		row->number =
		    1 + new_entry(&report->pairs, (uint32_t)(report->at - report->logs), pair, row);
	report->pairs.list[row->number - 1].count++;
	if (mark != UINT64_MAX)
		pxt_pack_span(&report->pack, begin_mark, mark, row->number - 1);
}

static void take_event(struct pxt_report *report, uint32_t log, const struct pxt_event *event)
{
	struct pxt_report_log *of = &report->logs[log];
	int64_t ns = pxt_report_since(report, event->ns);
	struct pxt_packed packed = { .ns = ns, .cpu = event->extra.posix_cpu_np };

	packed.type = type_number(report, log, event->type);
	packed.thread = thread_number(report, log, event->thread);
	packed.cut = event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;
	packed.bytes = event->bytes;
	packed.data = event->data;
	if (!report->types.list[packed.type].roles)
		report->types.list[packed.type].roles =
		    pxt_roles_of(report->answers.book, event, log);
	report->types.list[packed.type].count++;
	report->types.list[packed.type].bytes += event->bytes;
	report->threads.list[packed.thread].count++;
	if (report->events++ == 0)
		report->first_ns = ns;
	report->last_ns = ns;
	of->events++;
	of->spans->mark = UINT64_MAX;
	/* Both only grow: once an event is left out all later ones are, and the page has no holes. */
	if (report->pack.events < report->limit && report->pack.data_bytes < PXT_REPORT_DATA) {
		of->spans->mark = report->pack.events;
		report->shown_ns = ns;
		pxt_pack_event(&report->pack, &packed);
	}
	report->at = of;
	pxt_pairs_take(of->spans, event);
}

static uint32_t log_of(const struct pxt_report *report, const struct pxt_event *event)
{
	uint32_t log = 0;

	while (report->reader.sources[log] != event->source)
		log++;
	return log;
}

static void begin(struct pxt_report *report)
{
	report->pack.out = &report->out;
	report->logs = pxt_must(calloc(report->reader.count, sizeof *report->logs));
	for (unsigned i = 0; i < report->reader.count; i++) {
		struct pxt_report_log *of = &report->logs[i];

		memset(of->types, 0xff, sizeof of->types);
		of->other_threads = PXT_REPORT_NONE;
		of->spans = pxt_pairs_new(&report->options);
		of->symbols = pxt_symbols_new(report->reader.sources[i], NULL);
		of->spans->on_span = take_span;
		of->spans->context = report;
		of->last_ns = pxt_report_since(report, report->reader.sources[i]->start_ns);
	}
}

/* What a log lost and no event tells of: after its last event, or overwritten in the log. */
static void end(struct pxt_report *report)
{
	for (unsigned i = 0; i < report->reader.count; i++) {
		struct pxt_report_log *of = &report->logs[i];
		uint64_t rest = pxt_source_lost_rest(report->reader.sources[i]);

		if (rest > 0) {
			of->spans->losses++;
			pxt_losses_add(&of->losses, of->last_ns, of->last_ns, rest);
		}
		pxt_pairs_end(of->spans);
		pxt_pairs_name(of->spans, of->symbols);
	}
	pxt_pack_finish(&report->pack);
}

bool pxt_report_collect(struct pxt_report *report)
{
	struct pxt_reader *reader = &report->reader;
	struct pxt_progress progress;
	struct pxt_event *event;

	bool goes_on = true;

	begin(report);
	pxt_answers_begin(&report->answers, reader, &report->select);
	pxt_progress_reader(&progress, "report", reader, report->out.fd == STDOUT_FILENO);
	while (goes_on && (event = pxt_reader_next(reader)) != NULL) {
		pxt_progress_step(&progress);
		goes_on = pxt_answers_take(&report->answers, event);
		uint32_t log = reader->count == 1 ? 0 : log_of(report, event);
		struct pxt_report_log *of = &report->logs[log];
		int64_t before_ns = of->last_ns;
		uint64_t lost = event->extra.posix_lost_before_np;

		of->last_ns = pxt_report_since(report, event->ns);
		pxt_symbols_take(of->symbols, event);
		pxt_programs_take(&of->programs, event);
		pxt_lockcounts_add(&of->taken, event);
		pxt_pairs_gap(of->spans, event);
		if (pxt_select_time(&report->select, event->ns, reader->start_ns) != 0)
			continue;
		if (lost > 0)
			pxt_losses_add(&of->losses, before_ns, of->last_ns, lost);
		if (pxt_select_event(&report->select, event, reader->start_ns))
			take_event(report, log, event);
	}
	pxt_progress_end(&progress);
	goes_on = pxt_answers_end(&report->answers, reader);
	end(report);
	return goes_on;
}

void pxt_report_free(struct pxt_report *report)
{
	for (unsigned i = 0; report->logs && i < report->reader.count; i++) {
		free(report->logs[i].threads);
		pxt_losses_free(&report->logs[i].losses);
		pxt_programs_free(&report->logs[i].programs);
		pxt_pairs_free(report->logs[i].spans);
		if (report->logs[i].symbols)
			pxt_symbols_free(report->logs[i].symbols);
	}
	free(report->logs);
	free(report->types.list);
	free(report->threads.list);
	free(report->pairs.list);
}

/* ---- Where events of one log were lost ---- */

static void halve(struct pxt_losses *losses)
{
	for (size_t i = 0; i < PXT_LOSSES_MAX / 2; i++) {
		const struct pxt_loss *second = &losses->marks[2 * i + 1];
		struct pxt_loss joined = losses->marks[2 * i];

		joined.to_ns = second->to_ns;
		joined.count += second->count;
		joined.times += second->times;
		losses->marks[i] = joined;
	}
	losses->count = PXT_LOSSES_MAX / 2;
}

void pxt_losses_add(struct pxt_losses *losses, int64_t from_ns, int64_t to_ns, uint64_t count)
{
	if (!losses->marks)
		losses->marks = pxt_must(calloc(PXT_LOSSES_MAX, sizeof *losses->marks));
	if (losses->count == PXT_LOSSES_MAX)
		halve(losses);
	losses->marks[losses->count++] =
	    (struct pxt_loss){ .from_ns = from_ns, .to_ns = to_ns, .count = count, .times = 1 };
}

void pxt_losses_free(struct pxt_losses *losses)
{
	free(losses->marks);
	*losses = (struct pxt_losses){ 0 };
}

/* ---- The traced processes of a log ---- */

#define NAME_AT 21u /* FORMAT.md 5.1: behind what, number, address and size */

static struct pxt_program *find(struct pxt_programs *programs, pid_t pid)
{
	for (uint32_t i = 0; i < programs->count; i++)
		if (programs->list[i].pid == pid)
			return &programs->list[i];
	return NULL;
}

static struct pxt_program *add(struct pxt_programs *programs, pid_t pid)
{
	if (programs->count == PXT_PROGRAMS_MAX)
		return NULL;
	if (!programs->list)
		programs->list = pxt_must(calloc(PXT_PROGRAMS_MAX, sizeof *programs->list));
	programs->list[programs->count].pid = pid;
	return &programs->list[programs->count++];
}

void pxt_programs_take(struct pxt_programs *programs, const struct pxt_event *event)
{
	struct pxt_program *program;

	if (event->info.posix_event_id != POSIX_TRACE_PROCESS_NP || event->bytes <= NAME_AT ||
	    event->data[0] != POSIX_TRACE_PROCESS_TRACED_NP)
		return;
	program = find(programs, event->info.posix_pid);
	if (!program)
		program = add(programs, event->info.posix_pid);
	if (!program)
		return;
	free(program->path);
	program->path =
	    pxt_must(strndup((const char *)event->data + NAME_AT, event->bytes - NAME_AT));
}

void pxt_programs_put(const struct pxt_programs *programs, struct pxt_out *out)
{
	pxt_json_open(out, "programs", '[');
	for (uint32_t i = 0; i < programs->count; i++) {
		pxt_json_open(out, NULL, '[');
		pxt_json_signed(out, NULL, programs->list[i].pid);
		pxt_json_text(out, NULL, programs->list[i].path);
		pxt_json_close(out, "]");
	}
	pxt_json_close(out, "]");
}

void pxt_programs_free(struct pxt_programs *programs)
{
	for (uint32_t i = 0; i < programs->count; i++)
		free(programs->list[i].path);
	free(programs->list);
}
