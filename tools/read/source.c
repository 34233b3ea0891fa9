/* SPDX-License-Identifier: MIT */
/*
 * source.c - types, threads and events of opened logs, merged by time; how often a log that grows (--follow)
 * is looked at again.
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

/* ---- Threads ---- */

static int by_thread(const void *a, const void *b)
{
	const struct posix_trace_logthread_np *x = a;
	const struct posix_trace_logthread_np *y = b;

	return (x->posix_thread_np > y->posix_thread_np) -
	       (x->posix_thread_np < y->posix_thread_np);
}

/* The log's table, once, and again when a growing log has more of it. */
static void load_names(struct pxt_source *source)
{
	const uint64_t mask = sizeof(pthread_t) >= 8 ? UINT64_MAX : UINT32_MAX;
	uint32_t count = source->info.posix_threads_np;

	if (count == source->names_asked)
		return;
	source->names_asked = count;
	source->name_count = 0;
	source->names = pxt_must(realloc(source->names, (count + 1u) * sizeof *source->names));
	while (
	    source->name_count < count &&
	    posix_trace_log_getthread_np(source->trid, source->name_count,
	        &source->names[source->name_count], sizeof source->names[source->name_count]) == 0)
		source->names[source->name_count++].posix_thread_np &= mask;
	qsort(source->names, source->name_count, sizeof *source->names, by_thread);
}

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
	load_names(source);
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

/* The first of the table that has this number, or would be after it. */
static uint32_t first_named(const struct pxt_source *source, uint64_t id)
{
	uint32_t low = 0;

	for (uint32_t high = source->name_count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (source->names[middle].posix_thread_np < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether other threads of the log had its number before or after it. */
static bool shares_number(struct pxt_source *source, const struct pxt_thread *thread)
{
	load_names(source);
	uint32_t next = first_named(source, thread->id) + 1;

	return thread->entry != UINT32_MAX && next < source->name_count &&
	       source->names[next].posix_thread_np == thread->id;
}

/* The first thread of a process has its number; what it is called is the program. */
static void name_main_thread(const struct pxt_source *source, struct pxt_thread *thread)
{
	const char *path = source->info.posix_executable_np;
	const char *slash = strrchr(path, '/');

	if (*thread->name || thread->tid <= 0 || thread->tid != source->info.posix_pid_np)
		return;
	(void)snprintf(thread->name, sizeof thread->name, "%.15s", slash ? slash + 1 : path);
}

/*
 * As its own entry says.  One without an entry came when the table of threads was full: entries with its
 * number are of threads that had ended before.
 */
static void name_thread(struct pxt_source *source, struct pxt_thread *thread)
{
	struct posix_trace_logthread_np entry;

	if (thread->entry == UINT32_MAX ||
	    posix_trace_log_getthread_np(source->trid, thread->entry, &entry, sizeof entry) != 0)
		return;
	memcpy(thread->name, entry.posix_name_np, sizeof entry.posix_name_np);
	thread->name[sizeof entry.posix_name_np] = '\0';
	thread->tid = entry.posix_tid_np;
	thread->pid = entry.posix_pid_np;
}

/* What it is called on the screen, and whether that is wanted. */
static void label_thread(struct pxt_source *source, struct pxt_thread *thread)
{
	char raw[sizeof thread->name + 24];
	uint64_t id = thread->id;

	if (id == 0)
		(void)snprintf(raw, sizeof raw, "-");
	else if (*thread->name && thread->tid > 0)
		(void)snprintf(raw, sizeof raw, "%s/%ld", thread->name, (long)thread->tid);
	else if (*thread->name)
		(void)snprintf(raw, sizeof raw, "%s", thread->name);
	else if (thread->tid > 0)
		(void)snprintf(raw, sizeof raw, "%ld", (long)thread->tid);
	else if (shares_number(source, thread))
		(void)snprintf(raw, sizeof raw, "thread %#llx#%lu", (unsigned long long)id,
		    (unsigned long)thread->entry + 1);
	else if (thread->pid > 0 && thread->pid != source->info.posix_pid_np)
		(void)snprintf(raw, sizeof raw, "thread %#llx of %ld", (unsigned long long)id,
		    (long)thread->pid);
	else
		(void)snprintf(raw, sizeof raw, "thread %#llx", (unsigned long long)id);
	thread->bytes =
	    pxt_escape(raw, strlen(raw), thread->label, sizeof thread->label, &thread->width);
	thread->selected = pxt_select_thread(source->select, thread);
	if (source->select)
		source->names_met |= pxt_select_threads(source->select, thread);
}

static void fill_thread(
    struct pxt_source *source, struct pxt_thread *thread, uint64_t id, uint32_t entry, pid_t pid)
{
	thread->id = id;
	thread->entry = entry;
	thread->tid = thread->own_tid = 0;
	thread->pid = id != 0 && entry == UINT32_MAX ? pid : 0;
	thread->recorded = id != 0;
	*thread->name = '\0';
	if (id != 0)
		name_thread(source, thread);
	/* A handler of a fatal signal cannot ask who runs; the log says to whom the signal came. */
	if (id != 0 && thread->tid == 0 && entry != UINT32_MAX && id == source->crashed &&
	    entry == source->crashed_entry)
		thread->tid = source->info.posix_signal_tid_np;
	name_main_thread(source, thread);
	label_thread(source, thread);
}

/* A log of many short processes renames each of them: nobody looks through all for it. */
static struct pxt_thread **chain_of(struct pxt_source *source, pid_t number)
{
	return &source->numbered[(uint32_t)number % PXT_NUMBERED];
}

static void put_in_chain(struct pxt_source *source, struct pxt_thread *thread)
{
	struct pxt_thread **chain = chain_of(source, thread->tid);

	thread->alike = *chain;
	*chain = thread;
}

static uint32_t hash(uint64_t id, uint32_t entry)
{
	return (uint32_t)(((id ^ (uint64_t)entry << 32) * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

static void grow_threads(struct pxt_source *source)
{
	uint32_t old = source->threads ? source->thread_mask + 1 : 0;
	uint32_t size = old ? 2 * old : 64;
	struct pxt_thread **table = pxt_must(calloc(size, sizeof(struct pxt_thread *)));

	for (uint32_t i = 0; i < old; i++) {
		struct pxt_thread *thread = source->threads[i];
		uint32_t at = thread ? hash(thread->id, thread->entry) & (size - 1) : 0;

		while (thread && table[at])
			at = (at + 1) & (size - 1);
		if (thread)
			table[at] = thread;
	}
	free(source->threads);
	source->threads = table;
	source->thread_mask = size - 1;
}

/* Of forked processes without places, threads have the same numbers. */
static inline bool is_thread(
    const struct pxt_thread *thread, uint64_t id, uint32_t entry, pid_t pid)
{
	return thread->id == id && thread->entry == entry &&
	       (entry != UINT32_MAX || id == 0 || thread->pid == pid);
}

static struct pxt_thread *find_thread(
    struct pxt_source *source, pthread_t pthread, uint32_t entry, pid_t pid)
{
	uint64_t id = pxt_thread_number(pthread);

	if (source->last_thread && is_thread(source->last_thread, id, entry, pid))
		return source->last_thread;
	if (!source->threads || source->thread_count * 2 > source->thread_mask)
		grow_threads(source);
	uint32_t at = hash(id, entry) & source->thread_mask;
	while (source->threads[at] && !is_thread(source->threads[at], id, entry, pid))
		at = (at + 1) & source->thread_mask;
	struct pxt_thread *thread = source->threads[at];
	if (!thread && source->thread_count < PXT_THREADS_MAX) {
		thread = pxt_must(calloc(1, sizeof *thread));
		thread->index = source->thread_count++;
		fill_thread(source, thread, id, entry, pid);
		put_in_chain(source, thread);
		source->threads[at] = thread;
	} else if (!thread) {
		thread = &source->odd_thread;
		thread->index = PXT_INDEX_NONE;
		fill_thread(source, thread, id, entry, pid);
	}
	source->last_thread = thread;
	return thread;
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

/* Makes source->event the next one. */
static bool fill(struct pxt_source *source)
{
	if (source->view == source->view_end && !refill(source))
		return false;
	const struct posix_trace_eventview_np *view = &source->views[source->view++];
	struct pxt_event *event = &source->event;
	bool was_back;

	event->info.posix_event_id = view->posix_event_id_np;
	event->info.posix_pid = view->posix_pid_np;
	event->info.posix_prog_address = view->posix_prog_address_np;
	event->info.posix_truncation_status =
	    view->posix_cut_np ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	event->extra.posix_cpu_np = view->posix_cpu_np;
	event->extra.posix_ticks_np = view->posix_ticks_np;
	event->extra.posix_lost_before_np = view->posix_lost_before_np;
	event->extra.posix_number_np = view->posix_number_np;
	event->extra.posix_thread_exact_np = view->posix_thread_exact_np;
	event->ns = pxt_source_placed(source, view->posix_ns_np);
	event->type = find_type(source, view->posix_event_id_np);
	event->thread = find_thread(
	    source, view->posix_thread_id_np, view->posix_thread_entry_np, view->posix_pid_np);
	was_back = source->is_back;
	take_stamp(source, event->thread, view->posix_ticks_np);
	source->steps = was_back || source->is_back;
	event->source = source;
	event->bytes = view->posix_bytes_np;
	event->data = view->posix_data_np;
	if (source->select && source->select->pid_count > 0)
		source->pids_met |= pxt_select_pids(source->select, view->posix_pid_np);
	note_pid(source, view->posix_pid_np);
	pxt_sum_add(&source->lost, view->posix_lost_before_np);
	if (source->events++ == 0) {
		source->first_ns = event->ns;
		source->first_lost = view->posix_lost_before_np;
	}
	return true;
}

/* ---- Renames ---- */

/* A text of an event, of so many bytes; "": it has no such field. */
static void text_of(const struct pxt_event *event, const struct pxt_layout *field,
    char text[sizeof event->thread->name])
{
	size_t room = sizeof event->thread->name - 1;
	size_t bytes = 0;

	if (field && field->kind == POSIX_TRACE_FIELD_TEXT_NP && event->bytes > field->offset) {
		bytes = event->bytes - field->offset;
		if (!field->trailing && bytes > field->bytes)
			bytes = field->bytes;
		bytes = bytes < room ? bytes : room;
		memcpy(text, event->data + field->offset, bytes);
	}
	text[bytes] = '\0';
}

/* What the kernel says (@pid 0) is a number of the machine; a process numbers its own threads as it sees them. */
static bool is_numbered(const struct pxt_thread *thread, pid_t pid, pid_t number)
{
	if (pid == 0)
		return thread->tid == number;
	return (thread->pid == pid || thread->pid == 0) &&
	       (thread->own_tid ? thread->own_tid : thread->tid) == number;
}

static void rename_thread(struct pxt_source *source, struct pxt_thread *thread, const char *name)
{
	if (strcmp(thread->name, name) == 0)
		return;
	memcpy(thread->name, name, strlen(name) + 1);
	label_thread(source, thread);
	source->renames = true;
}

static void rename_threads(struct pxt_source *source, pid_t pid, pid_t number, const char *name)
{
	struct pxt_thread *thread = *chain_of(source, number);

	for (; thread; thread = thread->alike)
		if (is_numbered(thread, pid, number))
			rename_thread(source, thread, name);
	for (uint32_t i = 0; pid && source->own_numbers && i <= source->thread_mask; i++) {
		thread = source->threads[i];
		if (thread && is_numbered(thread, pid, number))
			rename_thread(source, thread, name);
	}
}

/*
 * The log's table has one name of a thread; from an event that says another one on it is called so, in all logs
 * of the same host.  A table that is full has threads without names: they get none.
 */
static void take_name(struct pxt_reader *reader, const struct pxt_event *event, pid_t number)
{
	bool by_kernel = event->type->is_rename;
	pid_t pid = by_kernel ? 0 : event->thread->pid;
	char name[sizeof event->thread->name];

	text_of(event, pxt_field_named(event->type, by_kernel ? "newcomm" : "name"), name);
	/* In one log for all, this is the thread: others have had its number, or will have it. */
	if (*name && reader->count == 1 && event->thread->tid == number &&
	    (by_kernel || !event->thread->own_tid || event->thread->own_tid == number)) {
		rename_thread(event->source, event->thread, name);
		return;
	}
	for (unsigned i = 0; *name && i < reader->count; i++)
		if (strcmp(reader->sources[i]->info.posix_host_np,
		        event->source->info.posix_host_np) == 0)
			rename_threads(reader->sources[i], pid, number, name);
}

/* Events that say of a thread which number or name it has. */
static void learn_thread(struct pxt_reader *reader, const struct pxt_event *event)
{
	bool by_kernel = event->type->is_rename;
	uint64_t what = POSIX_TRACE_PROCESS_THREAD_NAME_NP;
	uint64_t number = 0;

	if (!by_kernel && event->info.posix_event_id != POSIX_TRACE_PROCESS_NP)
		return;
	const struct pxt_layout *field = pxt_field_named(event->type, by_kernel ? "tid" : "number");
	const struct pxt_layout *kind = by_kernel ? NULL : pxt_field_named(event->type, "what");
	if (!field || !pxt_field_key(event, field, &number) || number == 0 || number > INT32_MAX ||
	    (kind && !pxt_field_key(event, kind, &what)))
		return;
	if (what == POSIX_TRACE_PROCESS_THREAD_NAME_NP)
		take_name(reader, event, (pid_t)number);
	else if (what == POSIX_TRACE_PROCESS_THREAD_BEGIN_NP && event->thread->recorded) {
		event->thread->own_tid = (pid_t)number;
		event->source->own_numbers |= event->thread->tid != (pid_t)number;
	}
}

/* Read from the beginning, threads have their first names again. */
static void forget_renames(struct pxt_source *source)
{
	if (source->renames)
		memset(source->numbered, 0, sizeof source->numbered);
	for (uint32_t i = 0; source->renames && i <= source->thread_mask; i++) {
		struct pxt_thread *thread = source->threads[i];

		if (!thread)
			continue;
		fill_thread(source, thread, thread->id, thread->entry, thread->pid);
		put_in_chain(source, thread);
	}
	source->renames = false;
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
	if (event)
		learn_thread(reader, event);
	return event;
}

static void forget_stamps(struct pxt_source *source)
{
	for (uint32_t i = 0; source->threads && i <= source->thread_mask; i++)
		if (source->threads[i])
			source->threads[i]->newest_ticks = 0;
}

void pxt_reader_rewind(struct pxt_reader *reader)
{
	reader->heap_made = false;
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_source *source = reader->sources[i];

		(void)posix_trace_rewind(source->trid);
		forget_renames(source);
		source->at_end = source->failed = source->filled = false;
		source->events = source->lost = 0;
		source->newest_ticks = source->backward = source->backward_most = 0;
		source->is_back = source->stepped = false;
		forget_stamps(source);
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
