/* SPDX-License-Identifier: MIT */
/* tables.c - what a log says about types, threads, modules, and notes; and that it has said more. */
#include "logretrieval/log.h"

#include <errno.h>

#define INDICES ((size_t)UINT16_MAX + 1u)

void *pxt_log_grow(void *table, uint32_t count, uint32_t *room, uint32_t most, size_t element)
{
	uint32_t wanted = *room ? *room * 2 : 16;
	void *larger;

	if (count < *room)
		return table;
	if (count >= most)
		return NULL;
	if (wanted > most)
		wanted = most;
	larger = pxt_port_heap_resize(table, wanted * element);
	if (larger)
		*room = wanted;
	return larger;
}

bool pxt_log_room_for_gap(struct pxt_log *log)
{
	const uint32_t most = PXT_LOG_GAPS_MAX + (log->files ? PXT_LOG_FILES_MAX : 0u);
	struct pxt_log_gap *gaps =
	    pxt_log_grow(log->gaps, log->scan.gap_count, &log->gap_room, most, sizeof(*gaps));

	if (gaps)
		log->gaps = gaps;
	return gaps != NULL;
}

/* More entries than a log can have are damage, not a want of memory. */
static int full(struct pxt_log *log, uint64_t offset, uint32_t count, uint32_t most)
{
	return count < most ? ENOMEM
	                    : pxt_log_fail(log, offset,
	                          "more threads, modules or notes than a log can have");
}

static int add_type(struct pxt_log *log, uint64_t offset, const struct pxt_log_typename *type)
{
	struct pxt_log_name *name = log->names[type->id];

	if (strlen(type->name) > TRACE_EVENT_NAME_MAX)
		return pxt_log_fail(
		    log, offset, "an event type's name is longer than this reader takes");
	if (name && strcmp(name->name, type->name) != 0)
		return pxt_log_fail(log, offset, "an event type has two names");
	if (!name) {
		name = pxt_port_heap_resize(NULL, sizeof(*name));
		if (!name)
			return ENOMEM;
		memcpy(name->name, type->name, strlen(type->name) + 1);
		name->format[0] = '\0';
		log->names[type->id] = name;
	}
	if (type->format[0])
		memcpy(name->format, type->format, strlen(type->format) + 1);
	return 0;
}

int pxt_log_take_type(struct pxt_log *log, uint64_t offset, const unsigned char *entry)
{
	struct pxt_log_typename type;
	const char *wrong = pxt_logfmt_get_type(entry, log->header.swapped, &type);

	return wrong ? pxt_log_fail(log, offset, wrong) : add_type(log, offset, &type);
}

/* A thread that comes again with the same index and beginning was renamed. */
static struct pxt_log_threadcell *same_thread(
    const struct pxt_log *log, const struct pxt_log_thread *thread)
{
	uint32_t place;

	for (place = log->by_index[thread->index]; place; place = log->threads[place - 1].older) {
		struct pxt_log_threadcell *cell = &log->threads[place - 1];

		if (cell->thread.since == thread->since && cell->thread.thread == thread->thread)
			return cell;
	}
	return NULL;
}

/* Keeps each index' threads in order of time, latest first. */
static void chain(struct pxt_log *log, uint32_t place)
{
	struct pxt_log_threadcell *cell = &log->threads[place - 1];
	uint32_t *link = &log->by_index[cell->thread.index];

	while (*link && log->threads[*link - 1].thread.since > cell->thread.since)
		link = &log->threads[*link - 1].older;
	cell->older = *link;
	*link = place;
}

static bool make_index(uint32_t **index)
{
	if (*index)
		return true;
	*index = pxt_port_heap_resize(NULL, INDICES * sizeof(**index));
	if (!*index)
		return false;
	memset(*index, 0, INDICES * sizeof(**index));
	return true;
}

/* Place + 1 of a new one; 0: the table is full, or there is no memory. */
static uint32_t add_thread(struct pxt_log *log, const struct pxt_log_thread *thread)
{
	struct pxt_log_threadcell *table = pxt_log_grow(log->threads, log->thread_count,
	    &log->thread_room, PXT_LOG_THREADS_MAX, sizeof(*table));

	if (!table)
		return 0;
	log->threads = table;
	log->threads[log->thread_count++].thread = *thread;
	return log->thread_count;
}

int pxt_log_take_thread(struct pxt_log *log, uint64_t offset, const unsigned char *entry)
{
	struct pxt_log_thread thread;
	struct pxt_log_threadcell *cell;

	pxt_logfmt_get_thread(entry, log->header.swapped, &thread);
	if (thread.index == PXT_THREAD_NONE)
		return pxt_log_fail(log, offset, "a thread has the index 0");
	if (!make_index(&log->by_index))
		return ENOMEM;
	cell = same_thread(log, &thread);
	if (cell) {
		cell->thread = thread;
		return 0;
	}
	if (!add_thread(log, &thread))
		return full(log, offset, log->thread_count, PXT_LOG_THREADS_MAX);
	chain(log, log->thread_count);
	return 0;
}

/* A log that was begun anew (clear) tells the same modules again, and so does each file of a set. */
static bool known_module(const struct pxt_log *log, const struct pxt_log_module *module)
{
	uint32_t i;

	for (i = 0; i < log->module_count; i++) {
		const struct pxt_log_module *known = &log->modules[i];

		if (known->base == module->base && known->low == module->low &&
		    known->high == module->high && strcmp(known->path, module->path) == 0)
			return true;
	}
	return false;
}

int pxt_log_take_module(struct pxt_log *log, uint64_t offset, const unsigned char *entry)
{
	struct pxt_log_module module;
	struct pxt_log_module *table;
	const char *wrong = pxt_logfmt_get_module(entry, log->header.swapped, &module);

	if (wrong)
		return pxt_log_fail(log, offset, wrong);
	if ((log->header.generation || log->files) && known_module(log, &module))
		return 0;
	table = pxt_log_grow(log->modules, log->module_count, &log->module_room,
	    PXT_LOG_MODULES_MAX, sizeof(module));
	if (!table)
		return full(log, offset, log->module_count, PXT_LOG_MODULES_MAX);
	log->modules = table;
	log->modules[log->module_count++] = module;
	return 0;
}

/* As with modules. */
static bool known_note(const struct pxt_log *log, const struct pxt_log_note *note)
{
	for (uint32_t i = 0; i < log->note_count; i++)
		if (strcmp(log->notes[i].name, note->name) == 0 &&
		    strcmp(log->notes[i].text, note->text) == 0)
			return true;
	return false;
}

int pxt_log_take_note(struct pxt_log *log, uint64_t offset, const unsigned char *entry)
{
	struct pxt_log_note note;
	struct pxt_log_note *table;
	const char *wrong = pxt_logfmt_get_note(entry, log->header.swapped, &note);

	if (wrong)
		return pxt_log_fail(log, offset, wrong);
	if ((log->header.generation || log->files) && known_note(log, &note))
		return 0;
	table = pxt_log_grow(
	    log->notes, log->note_count, &log->note_room, PXT_LOG_NOTES_MAX, sizeof(note));
	if (!table)
		return full(log, offset, log->note_count, PXT_LOG_NOTES_MAX);
	log->notes = table;
	log->notes[log->note_count++] = note;
	return 0;
}

uint32_t pxt_log_find_thread(const struct pxt_log *log, uint32_t index, uint64_t ticks)
{
	uint32_t place = log->by_index ? log->by_index[index] : 0;

	while (place && log->threads[place - 1].thread.since > ticks)
		place = log->threads[place - 1].older;
	return place;
}

uint32_t pxt_log_find_placeless(struct pxt_log *log, uint64_t thread, int32_t pid, int32_t tid)
{
	const struct pxt_log_thread wanted = {
		.thread = thread, .pid = pid, .tid = tid, .index = PXT_THREAD_EXTRA
	};
	uint32_t *link;
	uint32_t place;

	if (!make_index(&log->by_tid))
		return 0;
	link = &log->by_tid[(uint32_t)tid % INDICES];
	for (place = *link; place; place = log->threads[place - 1].older) {
		const struct pxt_log_thread *known = &log->threads[place - 1].thread;

		if (known->tid == tid && known->thread == thread && known->pid == pid)
			return place;
	}
	place = add_thread(log, &wanted);
	if (place) {
		log->threads[place - 1].older = *link;
		*link = place;
	}
	return place;
}

void pxt_log_forget_views(struct pxt_log *log)
{
	for (uint32_t i = 0; i < PXT_LOG_KINDS; i++) {
		log->kinds[i].info = 0;
		log->kinds[i].next = log->kinds;
	}
	log->kind = log->kinds;
	log->line.time = pxt_log_latest(log);
	log->line.span = 0;
}

void pxt_log_free_tables(const struct pxt_log *log)
{
	for (uint32_t i = 0; i < PXT_LOG_IDS; i++)
		pxt_port_heap_free(log->names[i]);
	pxt_port_heap_free(log->threads);
	pxt_port_heap_free(log->by_index);
	pxt_port_heap_free(log->by_tid);
	pxt_port_heap_free(log->modules);
	pxt_port_heap_free(log->notes);
	pxt_port_heap_free(log->readings);
	pxt_port_heap_free(log->gaps);
}
