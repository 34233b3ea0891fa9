/* SPDX-License-Identifier: MIT */
/*
 * threads.c - the threads of a log: their table, what they are called, and from which event on by another name.
 */
#include "tools/read/source.h"

#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/select/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

static int by_thread(const void *a, const void *b)
{
	const struct posix_trace_logthread_np *x = a;
	const struct posix_trace_logthread_np *y = b;

	return (x->posix_thread_np > y->posix_thread_np) -
	       (x->posix_thread_np < y->posix_thread_np);
}

void pxt_source_load_names(struct pxt_source *source)
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
	pxt_source_load_names(source);
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

struct pxt_thread *pxt_source_find_thread(
    struct pxt_source *source, uint64_t id, uint32_t entry, pid_t pid)
{
	if (!source->threads || source->thread_count * 2 > source->thread_mask)
		grow_threads(source);
	uint32_t at = hash(id, entry) & source->thread_mask;
	while (source->threads[at] && !pxt_thread_is(source->threads[at], id, entry, pid))
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

/* ---- Renames ---- */

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
	const struct pxt_layout *field =
	    pxt_field_named(event->type, by_kernel ? "newcomm" : "name");
	const char *text = "";
	size_t bytes = 0;

	if (field && field->kind == POSIX_TRACE_FIELD_TEXT_NP)
		bytes = pxt_field_text(event, field, &text);
	(void)snprintf(name, sizeof name, "%.*s", (int)bytes, text);
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

void pxt_source_learn_thread(struct pxt_reader *reader, const struct pxt_event *event)
{
	bool by_kernel = event->type->is_rename;
	uint64_t what = POSIX_TRACE_PROCESS_THREAD_NAME_NP;
	uint64_t number = 0;

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

void pxt_source_forget_threads(struct pxt_source *source)
{
	forget_renames(source);
	for (uint32_t i = 0; source->threads && i <= source->thread_mask; i++)
		if (source->threads[i])
			source->threads[i]->newest_ticks = 0;
}
