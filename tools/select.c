/* SPDX-License-Identifier: MIT */
#include "select.h"

#include "command.h"
#include "fields.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool add(const char **list, unsigned *count, const char *value, const char *option)
{
	if (*count == PXT_SELECT_MAX) {
		pxt_complain("more than %u times %s", PXT_SELECT_MAX, option);
		return false;
	}
	list[(*count)++] = value;
	return true;
}

static bool take_time(struct pxt_when *when, const char *value, const char *option)
{
	if (pxt_when_parse(value, when))
		return true;
	pxt_complain("%s does not understand the time \"%s\"", option, value);
	pxt_explain(
	    "say 1.5, 1500ms, 20us (since the start of the log) or 2026-01-31T12:00:00.25Z");
	return false;
}

static bool take_pid(struct pxt_select *select, const char *value)
{
	char *end;

	errno = 0;
	long number = strtol(value, &end, 10);
	if (end == value || *end != '\0' || errno != 0 || number < 1 || number > INT_MAX) {
		pxt_complain("--pid wants the number of a process, not \"%s\"", value);
		return false;
	}
	if (select->pid_count == PXT_SELECT_MAX) {
		pxt_complain("more than %u times --pid", PXT_SELECT_MAX);
		return false;
	}
	select->pids[select->pid_count++] = (pid_t)number;
	return true;
}

static bool take_where(struct pxt_select *select, const char *value)
{
	struct pxt_text_error error;

	if (select->where) {
		pxt_complain("--where stands twice: join the two conditions by \"and\"");
		return false;
	}
	select->where = pxt_where_parse(value, &error);
	if (!select->where)
		pxt_text_complain("--where", value, &error);
	return select->where != NULL;
}

bool pxt_select_option(struct pxt_select *select, int code, const char *value)
{
	switch (code) {
	case PXT_OPT_EVENT:
		return add(select->events, &select->event_count, value, "--event");
	case PXT_OPT_THREAD:
		return add(select->threads, &select->thread_count, value, "--thread");
	case PXT_OPT_PID:
		return take_pid(select, value);
	case PXT_OPT_WHERE:
		return take_where(select, value);
	case PXT_OPT_FROM:
		return take_time(&select->from, value, "--from");
	default:
		return take_time(&select->to, value, "--to");
	}
}

bool pxt_select_check(const struct pxt_select *select)
{
	if (select->from.set && select->to.set && select->from.absolute == select->to.absolute &&
	    select->from.ns > select->to.ns) {
		pxt_complain("--from is later than --to: nothing lies between them");
		return false;
	}
	return true;
}

bool pxt_select_type(const struct pxt_select *select, const char *name)
{
	if (!select || select->event_count == 0)
		return true;
	for (unsigned i = 0; i < select->event_count; i++)
		if (fnmatch(select->events[i], name, 0) == 0)
			return true;
	return false;
}

bool pxt_select_thread(const struct pxt_select *select, const struct pxt_thread *thread)
{
	if (!select || select->thread_count == 0)
		return true;
	for (unsigned i = 0; i < select->thread_count; i++) {
		const char *wanted = select->threads[i];
		char *end;
		unsigned long long number = strtoull(wanted, &end, 0);

		if (end != wanted && *end == '\0' &&
		    (number == thread->id ||
		        (thread->tid > 0 && number == (unsigned long long)thread->tid)))
			return true;
		if (thread->recorded && fnmatch(wanted, thread->name, 0) == 0)
			return true;
	}
	return false;
}

bool pxt_select_pid(const struct pxt_select *select, pid_t pid)
{
	for (unsigned i = 0; i < select->pid_count; i++)
		if (select->pids[i] == pid)
			return true;
	return false;
}

/* ---- What could never match ---- */

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

static bool differs(const struct pxt_source *source, trace_event_id_t id, void *pattern)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	return posix_trace_eventid_get_name(source->trid, id, name) != 0 ||
	       fnmatch(pattern, name, 0) != 0;
}

static bool has_name(const struct list *list, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = list->line; (at = strstr(at, name)) != NULL; at += bytes)
		if (at[-1] == ' ' && (at[bytes] == ' ' || at[bytes] == '\0'))
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

static void review(const struct pxt_reader *reader, visitor *lacks, visitor *tell, const char *name,
    const char *what)
{
	/* The visitors only read it. */
	char *copy = pxt_must(strdup(name));
	bool missing = true;

	for (unsigned k = 0; k < reader->count && missing; k++)
		missing = each_type(reader->sources[k], lacks, copy);
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

void pxt_select_review(const struct pxt_select *select, const struct pxt_reader *reader)
{
	const char *field;

	for (unsigned i = 0; i < select->event_count; i++)
		review(reader, differs, list_type, select->events[i], "no event type is");
	for (unsigned i = 0; select->where && (field = pxt_where_field(select->where, i)); i++)
		review(reader, lacks_field, list_fields, field, "--where: no event has a field");
}
