/* SPDX-License-Identifier: MIT */
/*
 * source.c - types and events of opened logs, merged by time; how often a log that grows (--follow) is looked at
 * again.
 */
#include "tools/read/source.h"

#include "format/mul64.h"
#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/select/select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace_hooks_np.h>

#define WAIT_MS 100

/* ---- Types ---- */

static void fill_type(struct pxt_source *source, struct pxt_type *type, trace_event_id_t id)
{
	type->id = id;
	if (posix_trace_eventid_get_name(source->trid, id, type->name) != 0)
		(void)snprintf(type->name, sizeof type->name, "event#%u", (unsigned)id);
	type->field_count = 0;
	free(type->message);
	type->message = NULL;
	pxt_fields_learn(source->trid, type);
	type->bytes = pxt_escape(
	    type->name, strlen(type->name), type->label, sizeof type->label, &type->width);
	type->selected = pxt_select_type(source->select, type->name);
	type->is_rename =
	    id > POSIX_TRACE_UNNAMED_USEREVENT && strcmp(type->name, "task_rename") == 0;
	type->is_fork =
	    id > POSIX_TRACE_UNNAMED_USEREVENT && strcmp(type->name, "sched_process_fork") == 0;
}

static struct pxt_type *new_type(struct pxt_source *source, trace_event_id_t id)
{
	if (id >= PXT_TYPES_MAX) {
		source->odd_type.index = PXT_INDEX_NONE;
		fill_type(source, &source->odd_type, id);
		return &source->odd_type;
	}
	struct pxt_type *type = pxt_must(calloc(1, sizeof *type));

	type->index = source->type_count++;
	fill_type(source, type, id);
	source->types[id] = type;
	return type;
}

static inline struct pxt_type *find_type(struct pxt_source *source, trace_event_id_t id)
{
	struct pxt_type *type = id < PXT_TYPES_MAX ? source->types[id] : NULL;

	if (!type)
		return new_type(source, id);
	/* While a log grows, a type's description may follow its first events. */
	if (type->field_count == 0 && !source->info.posix_complete_np &&
	    type->asked != source->refills) {
		type->asked = source->refills;
		pxt_fields_learn(source->trid, type);
	}
	return type;
}

/* ---- Whose events come ---- */

static inline void note_pid(struct pxt_source *source, pid_t pid)
{
	if (source->pid == pid || pid <= 0)
		return;
	source->many_pids = source->many_pids || source->pid > 0;
	source->pid = source->pid > 0 ? source->pid : pid;
}

void pxt_source_learn_pids(struct pxt_source *source)
{
	note_pid(source, source->info.posix_pid_np);
	pxt_source_load_names(source);
	for (uint32_t i = 0; i < source->name_count; i++)
		note_pid(source, source->names[i].posix_pid_np);
}

/* To its last block that has events, or as near as its heads lead. */
static void go_to_last_block(trace_id_t trid)
{
	struct posix_trace_logblock_np block;
	struct timespec begin = { 0 };
	int unavailable = 0;

	while (posix_trace_log_nextblock_np(trid, &block, sizeof block, &unavailable) == 0 &&
	       !unavailable)
		if (block.posix_records_np > 0)
			(void)posix_trace_log_gettime_np(trid, block.posix_begin_ticks_np, &begin);
	(void)posix_trace_seek_np(trid, pxt_when_ns(&begin), NULL, 0);
}

void pxt_source_learn_crash(struct pxt_source *source)
{
	struct posix_trace_eventview_np views[16];
	size_t count = 0;

	if (!source->info.posix_complete_np || source->info.posix_signal_tid_np <= 0)
		return;
	go_to_last_block(source->trid);
	while (posix_trace_getnext_events_np(source->trid, views, sizeof *views, 16, &count) == 0 &&
	       count > 0)
		if (views[count - 1].posix_event_id_np == POSIX_TRACE_STOP) {
			source->crashed = pxt_thread_number(views[count - 1].posix_thread_id_np);
			source->crashed_entry = views[count - 1].posix_thread_entry_np;
		}
	(void)posix_trace_rewind(source->trid);
}

/* ---- Events ---- */

/* Said once, however often the log is read. */
static void stop_reading(struct pxt_source *source)
{
	source->failed = true;
	source->at_end = true;
	source->told = true;
}

static void read_failed(struct pxt_source *source, int error)
{
	if (!source->told)
		pxt_complain("%s: cannot be read behind event %llu: %s", source->path,
		    (unsigned long long)source->events, strerror(error));
	if (!source->told)
		pxt_explain("what came before is shown; the rest of the file is damaged");
	stop_reading(source);
}

/*
 * A complete log is read up to what is damaged in it.  One that grows goes on after it, as does one
 * that may be incomplete: who looks on wants to see what happens now, and what is missing is counted as
 * lost.  True when there is something after it.
 */
static bool skip_damage(struct pxt_source *source)
{
	struct posix_trace_logfinding_np finding;

	if (source->failed ||
	    posix_trace_log_skipdamage_np(source->trid, &finding, sizeof finding) != 0)
		return false;
	if (!source->goes_on) {
		if (!source->told) {
			pxt_complain("%s: byte %llu: %s", source->path,
			    (unsigned long long)finding.posix_offset_np, finding.posix_reason_np);
			pxt_explain_damage(source->path, true);
		}
		stop_reading(source);
		return false;
	}
	pxt_complain("%s: DAMAGED at byte %llu: %s", source->path,
	    (unsigned long long)finding.posix_offset_np, finding.posix_reason_np);
	pxt_explain("reading goes on with the next sound block; what is missing counts as lost");
	source->damaged = true;
	if (source->info.posix_complete_np)
		(void)posix_trace_log_getinfo_np(source->trid, &source->info, sizeof source->info);
	return true;
}

static bool refill(struct pxt_source *source)
{
	size_t count = 0;
	int error;

	if (source->at_end)
		return false;
	if (source->passing)
		pxt_part_pass(source);
	do
		error = posix_trace_getnext_events_np(
		    source->trid, source->views, sizeof *source->views, PXT_VIEWS, &count);
	while ((error == 0 || error == EIO) && count == 0 && skip_damage(source));
	source->refills++;
	source->view = 0;
	source->view_end = (uint32_t)count;
	source->passing_left -= count < source->passing_left ? count : source->passing_left;
	if (error != 0 && !source->failed)
		read_failed(source, error);
	source->at_end = count == 0;
	if (source->at_end && !source->failed) {
		source->read_all = true;
		source->newest_ns = source->events > 0 ? source->event.ns : INT64_MIN;
	}
	return count != 0;
}

int64_t pxt_source_placed(const struct pxt_source *source, int64_t ns)
{
	int64_t placed = pxt_when_sum(ns, source->shift_ns);

	if (source->drift == 0)
		return placed;
	return pxt_when_sum(placed,
	    pxt_when_whole((double)(placed - pxt_within_range(source->drift_ns)) * source->drift));
}

/*
 * The times that are handed out never decrease; what the counter said may.  An event behind later ones, but after all
 * of its own thread, is of a thread that was kept from running inside its trace point.
 */
static void take_stamp(struct pxt_source *source, struct pxt_thread *thread, uint64_t ticks)
{
	uint64_t by = source->newest_ticks - ticks;
	bool own = ticks < thread->newest_ticks;

	thread->newest_ticks = ticks;
	source->is_back = false;
	if (ticks >= source->newest_ticks) {
		source->newest_ticks = ticks;
		source->stepped = false;
		return;
	}
	if (by < source->info.posix_clock_np.posix_hz_np / 1000)
		return;
	source->stepped |= own;
	if (!source->stepped)
		return;
	source->is_back = true;
	source->backward++;
	if (by > source->backward_most)
		source->backward_most = by;
}

/* Mostly the one of the event before. */
static inline struct pxt_thread *find_thread(
    struct pxt_source *source, const struct posix_trace_eventview_np *view)
{
	uint64_t id = pxt_thread_number(view->posix_thread_id_np);
	uint32_t entry = view->posix_thread_entry_np;
	pid_t pid = view->posix_pid_np;

	if (source->last_thread && pxt_thread_is(source->last_thread, id, entry, pid))
		return source->last_thread;
	return pxt_source_find_thread(source, id, entry, pid);
}

/* Makes source->event the next one. */
static bool fill(struct pxt_source *source)
{
	if (source->view == source->view_end && !refill(source))
		return false;
	const struct posix_trace_eventview_np *view = &source->views[source->view++];
	struct pxt_event *event = &source->event;
	uint64_t lost = view->posix_lost_before_np;
	bool was_back;

	pxt_sum_add(&lost, source->lost_between);
	source->lost_between = 0;
	event->info.posix_event_id = view->posix_event_id_np;
	event->info.posix_pid = view->posix_pid_np;
	event->info.posix_prog_address = view->posix_prog_address_np;
	event->info.posix_truncation_status =
	    view->posix_cut_np ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	event->extra.posix_cpu_np = view->posix_cpu_np;
	event->extra.posix_ticks_np = view->posix_ticks_np;
	event->extra.posix_lost_before_np = lost;
	event->extra.posix_number_np = view->posix_number_np;
	event->extra.posix_thread_exact_np = view->posix_thread_exact_np;
	event->ns = pxt_source_placed(source, view->posix_ns_np);
	event->type = find_type(source, view->posix_event_id_np);
	event->thread = find_thread(source, view);
	was_back = source->is_back;
	take_stamp(source, event->thread, view->posix_ticks_np);
	source->steps = was_back || source->is_back;
	event->source = source;
	event->bytes = view->posix_bytes_np;
	event->data = view->posix_data_np;
	if (source->select && source->select->pid_count > 0)
		source->pids_met |= pxt_select_pids(source->select, view->posix_pid_np);
	note_pid(source, view->posix_pid_np);
	pxt_sum_add(&source->lost, lost);
	if (source->events++ == 0) {
		source->first_ns = event->ns;
		source->first_lost = lost;
	}
	return true;
}

/* ---- The merge ---- */

static bool earlier(const struct pxt_source *a, const struct pxt_source *b)
{
	return a->event.ns < b->event.ns || (a->event.ns == b->event.ns && a->place < b->place);
}

static void sift_down(struct pxt_reader *reader, unsigned at)
{
	struct pxt_source **heap = reader->heap;
	struct pxt_source *moved = heap[at];

	for (unsigned child; (child = 2 * at + 1) < reader->heap_count; at = child) {
		if (child + 1 < reader->heap_count && earlier(heap[child + 1], heap[child]))
			child++;
		if (!earlier(heap[child], moved))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

static void make_heap(struct pxt_reader *reader)
{
	reader->heap_count = 0;
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_source *source = reader->sources[i];

		source->filled = source->filled || fill(source);
		if (source->filled)
			reader->heap[reader->heap_count++] = source;
	}
	for (unsigned i = reader->heap_count / 2; i-- > 0;)
		sift_down(reader, i);
	reader->heap_made = true;
}

/* The earliest event was handed out: its source's next one finds its place. */
static void step(struct pxt_reader *reader)
{
	struct pxt_source *source = reader->heap[0];

	source->filled = fill(source);
	if (!source->filled)
		reader->heap[0] = reader->heap[--reader->heap_count];
	if (reader->heap_count > 0)
		sift_down(reader, 0);
}

static struct pxt_event *next(struct pxt_reader *reader)
{
	if (reader->count == 1)
		return fill(reader->sources[0]) ? &reader->sources[0]->event : NULL;
	if (!reader->heap_made)
		make_heap(reader);
	else if (reader->heap_count > 0)
		step(reader);
	return reader->heap_count > 0 ? &reader->heap[0]->event : NULL;
}

struct pxt_event *pxt_reader_next(struct pxt_reader *reader)
{
	struct pxt_event *event = next(reader);

	if (event && reader->part && reader->part_ends &&
	    pxt_select_time(reader->part, event->ns, reader->start_ns) > 0) {
		pxt_part_end(reader);
		return NULL;
	}
	if (event &&
	    (event->type->is_rename || event->info.posix_event_id == POSIX_TRACE_PROCESS_NP))
		pxt_source_learn_thread(reader, event);
	return event;
}

void pxt_reader_rewind(struct pxt_reader *reader)
{
	reader->heap_made = false;
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_source *source = reader->sources[i];

		(void)posix_trace_rewind(source->trid);
		pxt_source_forget_threads(source);
		source->at_end = source->failed = source->filled = false;
		source->events = source->lost = 0;
		source->newest_ticks = source->backward = source->backward_most = 0;
		source->is_back = source->stepped = false;
		source->view = source->view_end = 0;
		source->passing = false;
		source->passing_left = 0;
	}
	if (reader->part)
		pxt_part_begin(reader);
}

void pxt_reader_wait(struct pxt_reader *reader)
{
	const struct timespec pause = { .tv_nsec = WAIT_MS * 1000000L };
	bool waited = false;

	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_source *source = reader->sources[i];

		if (source->spool.from < 0)
			continue;
		waited = true;
		if (!pxt_spool_take(&source->spool, WAIT_MS))
			source->failed = true;
	}
	if (!waited)
		(void)nanosleep(&pause, NULL);
}

bool pxt_reader_again(struct pxt_reader *reader)
{
	bool growing = false;

	if (reader->heap_count == 0)
		reader->heap_made = false;
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_source *source = reader->sources[i];

		if (source->failed || source->drained)
			continue;
		if (source->info.posix_complete_np) {
			growing = pxt_source_go_on(reader, source) || growing;
			continue;
		}
		/* What came before the end of a pipe is read once more. */
		source->drained = source->spool.ended;
		if (posix_trace_log_getinfo_np(source->trid, &source->info, sizeof source->info) !=
		    0)
			continue;
		pxt_sum_add(&source->info.posix_lost_np, source->lost_former);
		pxt_source_learn_pids(source);
		source->at_end = false;
		source->read_all = false;
		growing = true;
	}
	return growing;
}

/* Where others read the log, it is looked for a first event. */
static void look_whether_empty(struct pxt_source *source)
{
	if (!source->read_all && source->events == 0 && pxt_never_started(&source->info, 0))
		(void)refill(source);
}

int pxt_reader_conclude(struct pxt_reader *reader, bool whole, bool strict)
{
	int status = PXT_EXIT_OK;

	for (unsigned i = 0; i < reader->count; i++) {
		look_whether_empty(reader->sources[i]);

		int mine = pxt_ended_conclude(reader->sources[i], whole, strict);

		if (mine == PXT_EXIT_LOG || status == PXT_EXIT_OK)
			status = mine;
	}
	return status;
}
