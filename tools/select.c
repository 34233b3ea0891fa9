/* SPDX-License-Identifier: MIT */
#include "select.h"

#include "command.h"

#include <fnmatch.h>
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

bool pxt_select_option(struct pxt_select *select, int code, const char *value)
{
	switch (code) {
	case PXT_OPT_EVENT:
		return add(select->events, &select->event_count, value, "--event");
	case PXT_OPT_THREAD:
		return add(select->threads, &select->thread_count, value, "--thread");
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

/* The user types of a log in one line; false when there are none. */
static void list_types(const struct pxt_source *source)
{
	char line[512] = "";
	size_t used = 0;
	trace_event_id_t id;
	int unavailable = 0;

	(void)posix_trace_eventtypelist_rewind(source->trid);
	while (posix_trace_eventtypelist_getnext_id(source->trid, &id, &unavailable) == 0 &&
	       !unavailable) {
		char name[TRACE_EVENT_NAME_MAX + 1];

		if (id < POSIX_TRACE_UNNAMED_USEREVENT ||
		    posix_trace_eventid_get_name(source->trid, id, name) != 0)
			continue;
		size_t bytes = strlen(name);
		if (used + bytes + 8 > sizeof line) {
			memcpy(line + used, " ...", 5);
			break;
		}
		line[used] = ' ';
		memcpy(line + used + 1, name, bytes + 1);
		used += bytes + 1;
	}
	pxt_explain("%s has:%s", source->path, line);
}

static bool source_has(const struct pxt_source *source, const char *pattern)
{
	trace_event_id_t id;
	int unavailable = 0;

	(void)posix_trace_eventtypelist_rewind(source->trid);
	while (posix_trace_eventtypelist_getnext_id(source->trid, &id, &unavailable) == 0 &&
	       !unavailable) {
		char name[TRACE_EVENT_NAME_MAX + 1];

		if (posix_trace_eventid_get_name(source->trid, id, name) == 0 &&
		    fnmatch(pattern, name, 0) == 0)
			return true;
	}
	return false;
}

void pxt_select_review(const struct pxt_select *select, const struct pxt_reader *reader)
{
	for (unsigned i = 0; i < select->event_count; i++) {
		bool found = false;

		for (unsigned k = 0; k < reader->count && !found; k++)
			found = source_has(reader->sources[k], select->events[i]);
		if (found)
			continue;
		pxt_complain("no event type is called \"%s\"", select->events[i]);
		for (unsigned k = 0; k < reader->count; k++)
			list_types(reader->sources[k]);
	}
}
