/* SPDX-License-Identifier: MIT */
/* review.c - names on the command line that nothing in the logs has; see review.h. */
#include "tools/review/review.h"

#include "tools/event/fields.h"
#include "tools/output/say.h"
#include "tools/select/counters.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What a log has ---- */

/* Names in one line of bounded length. */
struct list {
	size_t used;
	char line[512];
};

/* False when the list is full. */
static bool add_name(struct list *list, const char *name)
{
	size_t bytes = strlen(name);

	if (list->used + bytes + 8 > sizeof list->line) {
		memcpy(list->line + list->used, " ...", 5);
		return false;
	}
	list->line[list->used] = ' ';
	memcpy(list->line + list->used + 1, name, bytes + 1);
	list->used += bytes + 1;
	return true;
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

	return id < POSIX_TRACE_UNNAMED_USEREVENT ||
	       posix_trace_eventid_get_name(source->trid, id, name) != 0 || add_name(list, name);
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

/* The fields of a type, but for those that are in the list. */
static bool list_fields(const struct pxt_source *source, trace_event_id_t id, void *argument)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct pxt_layout fields[POSIX_TRACE_FIELDS_MAX_NP];
	struct list *list = argument;
	unsigned count = 0;

	if (posix_trace_eventid_getformat_np(source->trid, id, format) == 0)
		count = pxt_fields_of(format, fields);
	for (unsigned i = 0; i < count; i++)
		if (!has_name(list, fields[i].name) && !add_name(list, fields[i].name))
			return false;
	return true;
}

static bool lacks_field(const struct pxt_source *source, trace_event_id_t id, void *name)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct pxt_layout fields[POSIX_TRACE_FIELDS_MAX_NP];
	unsigned count = 0;

	if (posix_trace_eventid_getformat_np(source->trid, id, format) == 0)
		count = pxt_fields_of(format, fields);
	for (unsigned i = 0; i < count; i++)
		if (strcmp(fields[i].name, name) == 0)
			return false;
	return true;
}

/* Whether no numeric field of a type is meant. */
static bool lacks_counter(const struct pxt_source *source, trace_event_id_t id, void *pattern)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct pxt_layout fields[POSIX_TRACE_FIELDS_MAX_NP];
	struct pxt_counters one = { .patterns = { pattern }, .count = 1 };
	struct pxt_type type = { .id = id };
	unsigned count = 0;

	if (posix_trace_eventid_getformat_np(source->trid, id, format) == 0 &&
	    posix_trace_eventid_get_name(source->trid, id, type.name) == 0)
		count = pxt_fields_of(format, fields);
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

		if (posix_trace_log_getthread_np(source->trid, i, &entry) != 0)
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
	return has_name(list, name) || add_name(list, name);
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

static void review(const struct pxt_reader *reader, visitor *lacks, visitor *tell, const char *name,
    const char *what)
{
	/* The visitors only read it. */
	char *copy = pxt_must(strdup(name));
	bool missing = true;

	for (unsigned k = 0; k < reader->count && missing; k++)
		missing =
		    has_all_types(reader->sources[k]) && each_type(reader->sources[k], lacks, copy);
	free(copy);
	if (!missing)
		return;
	pxt_complain("%s called \"%s\"", what, name);
	for (unsigned k = 0; k < reader->count; k++) {
		struct list list = { 0 };

		(void)each_type(reader->sources[k], tell, &list);
		pxt_explain(
		    "%s has:%s", reader->sources[k]->path, list.used > 0 ? list.line : " none");
	}
}

void pxt_review_field(const struct pxt_reader *reader, const char *option, const char *name)
{
	char what[64];

	(void)snprintf(what, sizeof what, "%s: no event has a field", option);
	review(reader, lacks_field, list_fields, name, what);
}

void pxt_review_counter(const struct pxt_reader *reader, const char *pattern)
{
	review(
	    reader, lacks_counter, list_fields, pattern, "--counter: no event has a numeric field");
}

static void review_thread(const struct pxt_reader *reader, const char *name)
{
	char *copy = pxt_must(strdup(name));
	bool missing = true;

	for (unsigned k = 0; k < reader->count && missing; k++)
		missing = !may_hold_more(reader->sources[k]) &&
		          each_thread(reader->sources[k], other_thread, copy);
	free(copy);
	if (!missing)
		return;
	pxt_complain("--thread: no thread is called \"%s\"", name);
	for (unsigned k = 0; k < reader->count; k++) {
		struct list list = { 0 };

		(void)each_thread(reader->sources[k], list_thread, &list);
		pxt_explain(
		    "%s has:%s", reader->sources[k]->path, list.used > 0 ? list.line : " none");
	}
}

static void review_pid(const struct pxt_select *select, const struct pxt_reader *reader, unsigned i)
{
	for (unsigned k = 0; k < reader->count; k++)
		if (!reader->sources[k]->read_all || reader->sources[k]->pids_met >> i & 1u ||
		    reader->sources[k]->info.posix_pid_np == select->pids[i])
			return;
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

void pxt_review_select(const struct pxt_select *select, const struct pxt_reader *reader)
{
	const char *field;

	for (unsigned i = 0; i < select->event_count; i++)
		review(reader, other_type, list_type, select->events[i], "no event type is");
	for (unsigned i = 0; select->where && (field = pxt_where_field(select->where, i)); i++)
		pxt_review_field(reader, "--where", field);
	for (unsigned i = 0; i < select->thread_count; i++)
		review_thread(reader, select->threads[i]);
	for (unsigned i = 0; i < select->pid_count; i++)
		review_pid(select, reader, i);
	if (select->from.set)
		review_from(select, reader);
}

void pxt_review_pairs(const struct pxt_pair_options *options, struct pxt_pairs *const *pairs,
    const struct pxt_reader *reader)
{
	for (unsigned i = 0; i < options->count; i++) {
		const char *begin = options->pairs[i].begin;
		const char *end = options->pairs[i].end;
		bool begun = false;
		bool ended = strcmp(begin, end) == 0;

		for (unsigned k = 0; k < reader->count; k++) {
			begun = begun || pairs[k]->pairs[i].begin;
			ended = ended || pairs[k]->pairs[i].end;
		}
		if (!begun)
			pxt_complain("--pair: no event called \"%s\" was read", begin);
		if (!ended)
			pxt_complain("--pair: no event called \"%s\" was read", end);
		if (options->pairs[i].field)
			pxt_review_field(reader, "--pair", options->pairs[i].field);
	}
}
