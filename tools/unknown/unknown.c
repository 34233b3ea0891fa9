/* SPDX-License-Identifier: MIT */
/* unknown.c - names on the command line that nothing in the logs has; see unknown.h. */
#include "tools/unknown/unknown.h"

#include "tools/command/command.h"
#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/select/select.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What a log has ---- */

/* Names in one line of bounded length; and of all of them the one that is nearest to @word. */
struct list {
	const char *word;
	unsigned distance;
	char nearest[TRACE_EVENT_NAME_MAX + 1];
	size_t used;
	bool full;
	char line[512];
};

static void compare(struct list *list, const char *name)
{
	bool within = strlen(list->word) > 2 && list->distance > 1 && strstr(name, list->word);

	if (within)
		list->distance = 1;
	if (within || pxt_suggest_nearer(list->word, name, &list->distance))
		(void)snprintf(list->nearest, sizeof list->nearest, "%s", name);
}

static void add_name(struct list *list, const char *name)
{
	size_t bytes = strlen(name);

	compare(list, name);
	if (list->full)
		return;
	if (list->used + bytes + 8 > sizeof list->line) {
		memcpy(list->line + list->used, " ...", 5);
		list->full = true;
		return;
	}
	list->line[list->used] = ' ';
	memcpy(list->line + list->used + 1, name, bytes + 1);
	list->used += bytes + 1;
}

typedef bool visitor(const struct pxt_source *source, trace_event_id_t id, void *argument);

/* Calls @visit with each type of a log until it returns false; returns what it returned last. */
static bool each_type(const struct pxt_source *source, visitor *visit, void *argument)
{
	trace_event_id_t id;
	int unavailable = 0;

	(void)posix_trace_eventtypelist_rewind(source->trid);
	while (posix_trace_eventtypelist_getnext_id(source->trid, &id, &unavailable) == 0 &&
	       !unavailable)
		if (!visit(source, id, argument))
			return false;
	return true;
}

static bool list_type(const struct pxt_source *source, trace_event_id_t id, void *list)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	if (posix_trace_eventid_get_name(source->trid, id, name) != 0)
		return true;
	/* Every log has the system's. */
	if (id < POSIX_TRACE_UNNAMED_USEREVENT)
		compare(list, name);
	else
		add_name(list, name);
	return true;
}

static bool other_type(const struct pxt_source *source, trace_event_id_t id, void *pattern)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	return posix_trace_eventid_get_name(source->trid, id, name) != 0 ||
	       fnmatch(pattern, name, 0) != 0;
}

static bool has_name(const struct list *list, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = list->line; (at = strstr(at, name)) != NULL; at += bytes)
		if (at > list->line && at[-1] == ' ' && (at[bytes] == ' ' || at[bytes] == '\0'))
			return true;
	return false;
}

static unsigned fields_of(const struct pxt_source *source, trace_event_id_t id,
    struct pxt_layout fields[POSIX_TRACE_FIELDS_MAX_NP])
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];

	return posix_trace_eventid_getformat_np(source->trid, id, format, sizeof(format)) == 0
	           ? pxt_fields_of(format, fields)
	           : 0;
}

/* The fields of a type, but for those that are in the list. */
static bool list_fields(const struct pxt_source *source, trace_event_id_t id, void *argument)
{
	struct pxt_layout fields[POSIX_TRACE_FIELDS_MAX_NP];
	struct list *list = argument;
	unsigned count = fields_of(source, id, fields);

	for (unsigned i = 0; i < count; i++)
		if (!has_name(list, fields[i].name))
			add_name(list, fields[i].name);
	return true;
}

static bool lacks_field(const struct pxt_source *source, trace_event_id_t id, void *name)
{
	struct pxt_layout fields[POSIX_TRACE_FIELDS_MAX_NP];
	unsigned count = fields_of(source, id, fields);

	for (unsigned i = 0; i < count; i++)
		if (strcmp(fields[i].name, name) == 0)
			return false;
	return true;
}

/* Whether no numeric field of a type is meant. */
static bool lacks_counter(const struct pxt_source *source, trace_event_id_t id, void *pattern)
{
	struct pxt_layout fields[POSIX_TRACE_FIELDS_MAX_NP];
	struct pxt_counters one = { .patterns = { pattern }, .count = 1 };
	struct pxt_type type = { .id = id };
	unsigned count = 0;

	if (posix_trace_eventid_get_name(source->trid, id, type.name) == 0)
		count = fields_of(source, id, fields);
	for (unsigned i = 0; i < count; i++)
		if (pxt_counters_want(&one, &type, &fields[i]))
			return false;
	return true;
}

/* Calls @visit with each thread that the log's table has, then with those that were read. */
static bool each_thread(const struct pxt_source *source,
    bool (*visit)(const struct pxt_thread *thread, void *argument), void *argument)
{
	for (uint32_t i = 0; i < source->info.posix_threads_np; i++) {
		struct posix_trace_logthread_np entry;
		struct pxt_thread thread = { .recorded = true };

		if (posix_trace_log_getthread_np(source->trid, i, &entry, sizeof entry) != 0)
			break;
		thread.id = entry.posix_thread_np;
		thread.tid = entry.posix_tid_np;
		memcpy(thread.name, entry.posix_name_np, sizeof entry.posix_name_np);
		if (!visit(&thread, argument))
			return false;
	}
	for (uint32_t i = 0; source->threads && i <= source->thread_mask; i++)
		if (source->threads[i] && !visit(source->threads[i], argument))
			return false;
	return true;
}

static bool other_thread(const struct pxt_thread *thread, void *wanted)
{
	return !pxt_select_means(wanted, thread);
}

static bool list_thread(const struct pxt_thread *thread, void *list)
{
	char number[24];
	const char *name = thread->name;

	if (!*name && thread->tid <= 0 && thread->id == 0)
		return true;
	if (!*name) {
		if (thread->tid > 0)
			(void)snprintf(number, sizeof number, "%ld", (long)thread->tid);
		else
			(void)snprintf(
			    number, sizeof number, "%#llx", (unsigned long long)thread->id);
		name = number;
	}
	if (!has_name(list, name))
		add_name(list, name);
	return true;
}

typedef void filler(const struct pxt_source *source, struct list *list);

static void fill_types(const struct pxt_source *source, struct list *list)
{
	(void)each_type(source, list_type, list);
}

static void fill_fields(const struct pxt_source *source, struct list *list)
{
	(void)each_type(source, list_fields, list);
}

static void fill_threads(const struct pxt_source *source, struct list *list)
{
	(void)each_thread(source, list_thread, list);
}

/* A log that grows may tell of more types than those that were read. */
static bool has_all_types(const struct pxt_source *source)
{
	return source->read_all || source->info.posix_complete_np;
}

/* Whether the log could still hold what it has no table of. */
static bool may_hold_more(const struct pxt_source *source)
{
	return !source->read_all || source->thread_count == PXT_THREADS_MAX;
}

/* ---- What is said ---- */

static struct list list_for(const char *word)
{
	size_t bytes = strlen(word);

	return (struct list){ .word = word,
		.distance =
		    bytes / 3 + 1 > PXT_SUGGEST_FAR ? (unsigned)bytes / 3 + 1 : PXT_SUGGEST_FAR };
}

/* @spans: other names that were possible; NULL after the last. */
static void complain(struct pxt_reader *reader, const char *what, const char *name, filler *fill,
    const char *const *spans)
{
	struct list all = list_for(name);

	for (unsigned k = 0; k < reader->count; k++)
		fill(reader->sources[k], &all);
	for (; spans && *spans; spans++)
		compare(&all, *spans);
	if (*all.nearest)
		pxt_complain("%s called \"%s\"; did you mean \"%s\"?", what, name, all.nearest);
	else
		pxt_complain("%s called \"%s\"", what, name);
	for (unsigned k = 0; k < reader->count; k++) {
		struct list list = list_for(name);

		fill(reader->sources[k], &list);
		pxt_explain(
		    "%s has:%s", reader->sources[k]->path, list.used > 0 ? list.line : " none");
	}
	reader->misnamed = true;
}

/* Whether no log has a type of which @lacks is false. */
static bool all_lack(const struct pxt_reader *reader, visitor *lacks, const char *name)
{
	/* The visitors only read it. */
	char *copy = pxt_must(strdup(name));
	bool missing = true;

	for (unsigned k = 0; k < reader->count && missing; k++)
		missing =
		    has_all_types(reader->sources[k]) && each_type(reader->sources[k], lacks, copy);
	free(copy);
	return missing;
}

void pxt_unknown_field(struct pxt_reader *reader, const char *option, const char *name)
{
	char what[64];

	(void)snprintf(what, sizeof what, "%s: no event has a field", option);
	if (all_lack(reader, lacks_field, name))
		complain(reader, what, name, fill_fields, NULL);
}

void pxt_unknown_counter(struct pxt_reader *reader, const char *option, const char *pattern)
{
	char what[64];

	(void)snprintf(what, sizeof what, "%s: no event has a numeric field", option);
	if (all_lack(reader, lacks_counter, pattern))
		complain(reader, what, pattern, fill_fields, NULL);
}

static bool is_span(const char *pattern, const char *const *spans)
{
	for (; spans && *spans; spans++)
		if (fnmatch(pattern, *spans, 0) == 0)
			return true;
	return false;
}

static void review_type(
    struct pxt_reader *reader, const char *option, const char *name, const char *const *spans)
{
	char what[64];

	(void)snprintf(what, sizeof what, "%s: no event type is", option);
	if (!is_span(name, spans) && all_lack(reader, other_type, name))
		complain(reader, what, name, fill_types, spans);
}

static void review_thread(struct pxt_reader *reader, const char *option, const char *name)
{
	char *copy = pxt_must(strdup(name));
	bool missing = true;
	char what[64];

	for (unsigned k = 0; k < reader->count && missing; k++)
		missing = !may_hold_more(reader->sources[k]) &&
		          each_thread(reader->sources[k], other_thread, copy);
	free(copy);
	(void)snprintf(what, sizeof what, "%s: no thread is", option);
	if (missing)
		complain(reader, what, name, fill_threads, NULL);
}

/* A thread that has another name by now, and in the log's table. */
static bool was_called_so(const struct pxt_reader *reader, unsigned i)
{
	for (unsigned k = 0; k < reader->count; k++)
		if (reader->sources[k]->names_met >> i & 1u)
			return true;
	return false;
}

static void review_pid(const struct pxt_select *select, struct pxt_reader *reader, unsigned i)
{
	for (unsigned k = 0; k < reader->count; k++)
		if (!reader->sources[k]->read_all || reader->sources[k]->pids_met >> i & 1u ||
		    reader->sources[k]->info.posix_pid_np == select->pids[i])
			return;
	reader->misnamed = true;
	pxt_complain("--pid: no event is of process %ld", (long)select->pids[i]);
	for (unsigned k = 0; k < reader->count; k++) {
		const struct pxt_source *source = reader->sources[k];

		if (source->info.posix_pid_np > 0)
			pxt_explain(
			    "%s was written by %ld", source->path, (long)source->info.posix_pid_np);
		else
			pxt_explain("%s does not say of which process it is", source->path);
	}
}

static void review_from(const struct pxt_select *select, const struct pxt_reader *reader)
{
	int64_t newest = INT64_MIN;

	for (unsigned k = 0; k < reader->count; k++) {
		if (!reader->sources[k]->read_all)
			return;
		if (reader->sources[k]->newest_ns > newest)
			newest = reader->sources[k]->newest_ns;
	}
	if (newest == INT64_MIN)
		return;
	if (newest - (select->from.absolute ? 0 : reader->start_ns) < select->from.ns)
		pxt_complain("--from: that is behind the last event, which came %.9f s after the "
		             "start",
		    (double)(newest - reader->start_ns) / 1e9);
}

/* What a condition names: fields, and what "event" and "thread" are compared with. */
static void review_where(
    const struct pxt_where *where, struct pxt_reader *reader, const char *const *spans)
{
	const char *name;

	for (unsigned i = 0; (name = pxt_where_field(where, i)); i++)
		pxt_unknown_field(reader, "--where", name);
	for (unsigned i = 0; (name = pxt_where_name(where, PXT_WHERE_EVENT, i)); i++)
		review_type(reader, "--where", name, spans);
	for (unsigned i = 0; (name = pxt_where_name(where, PXT_WHERE_THREAD, i)); i++)
		review_thread(reader, "--where", name);
}

void pxt_unknown_select(
    const struct pxt_select *select, struct pxt_reader *reader, const char *const *spans)
{
	for (unsigned i = 0; i < select->event_count; i++)
		review_type(reader, "--event", select->events[i], spans);
	if (select->where)
		review_where(select->where, reader, spans);
	for (unsigned i = 0; i < select->thread_count; i++)
		if (!was_called_so(reader, i))
			review_thread(reader, "--thread", select->threads[i]);
	for (unsigned i = 0; i < select->pid_count; i++)
		review_pid(select, reader, i);
	if (select->from.set)
		review_from(select, reader);
}

/* A type of which no event was read is no mistake. */
static void review_side(struct pxt_reader *reader, const char *name)
{
	if (all_lack(reader, other_type, name))
		review_type(reader, "--pair", name, NULL);
	else
		pxt_complain("--pair: no event called \"%s\" was read", name);
}

void pxt_unknown_pairs(const struct pxt_pair_options *options, struct pxt_reader *reader)
{
	for (unsigned i = 0; i < options->count; i++) {
		const struct pxt_pair_option *pair = &options->pairs[i];

		if (!pair->begun)
			review_side(reader, pair->begin);
		if (!pair->ended && strcmp(pair->begin, pair->end) != 0)
			review_side(reader, pair->end);
		if (pair->field)
			pxt_unknown_field(reader, "--pair", pair->field);
	}
}

int pxt_unknown_status(const struct pxt_reader *reader, int status)
{
	for (unsigned i = 0; i < reader->count; i++)
		if (reader->sources[i]->let_go)
			return status;
	return reader->misnamed && status != PXT_EXIT_OUTPUT ? PXT_EXIT_LOG : status;
}
