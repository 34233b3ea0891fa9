/* SPDX-License-Identifier: MIT */
/* select.c - the options by which all subcommands choose events; see select.h. */
#include "tools/select/select.h"

#include "tools/command/command.h"
#include "tools/output/out.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
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
	pxt_explain("say 1.5 (seconds), 1500ms, 20us, -1s (since the start of the log) or "
	            "2026-01-31T12:00:00.25Z");
	return false;
}

static bool take_pid(void *self, char *value)
{
	struct pxt_select *select = self;
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

static bool take_where(void *self, char *value)
{
	struct pxt_select *select = self;
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

static bool take_event(void *self, char *value)
{
	struct pxt_select *select = self;

	return add(select->events, &select->event_count, value, "--event");
}

static bool take_thread(void *self, char *value)
{
	struct pxt_select *select = self;

	return add(select->threads, &select->thread_count, value, "--thread");
}

static bool take_from(void *self, char *value)
{
	return take_time(&((struct pxt_select *)self)->from, value, "--from");
}

static bool take_to(void *self, char *value)
{
	return take_time(&((struct pxt_select *)self)->to, value, "--to");
}

const struct pxt_option pxt_select_options[] = {
	PXT_OPT_TAKE('e', "event", take_event),
	PXT_OPT_TAKE('t', "thread", take_thread),
	PXT_OPT_TAKE(0, "pid", take_pid),
	PXT_OPT_TAKE(0, "where", take_where),
	PXT_OPT_TAKE(0, "from", take_from),
	PXT_OPT_TAKE(0, "to", take_to),
	PXT_OPT_END,
};

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

bool pxt_select_means(const char *wanted, const struct pxt_thread *thread)
{
	char *end;
	unsigned long long number = strtoull(wanted, &end, 0);

	if (end != wanted && *end == '\0' &&
	    (number == thread->id ||
	        (thread->tid > 0 && number == (unsigned long long)thread->tid)))
		return true;
	return thread->recorded && fnmatch(wanted, thread->name, 0) == 0;
}

uint64_t pxt_select_threads(const struct pxt_select *select, const struct pxt_thread *thread)
{
	uint64_t met = 0;

	for (unsigned i = 0; i < select->thread_count; i++)
		met |= (uint64_t)pxt_select_means(select->threads[i], thread) << i;
	return met;
}

bool pxt_select_thread(const struct pxt_select *select, const struct pxt_thread *thread)
{
	return !select || select->thread_count == 0 || pxt_select_threads(select, thread) != 0;
}

uint64_t pxt_select_pids(const struct pxt_select *select, pid_t pid)
{
	uint64_t met = 0;

	for (unsigned i = 0; i < select->pid_count; i++)
		met |= (uint64_t)(select->pids[i] == pid) << i;
	return met;
}

/* ---- Which numeric fields are shown as curves ---- */

bool pxt_counters_option(struct pxt_counters *counters, const char *option, const char *pattern)
{
	if (counters->count == PXT_COUNTERS_MAX) {
		pxt_complain("more than %u times %s", PXT_COUNTERS_MAX, option);
		return false;
	}
	counters->patterns[counters->count++] = pattern;
	return true;
}

bool pxt_counters_want(const struct pxt_counters *counters, const struct pxt_type *type,
    const struct pxt_layout *field)
{
	char both[sizeof type->name + sizeof field->name + 1];

	if (field->kind == POSIX_TRACE_FIELD_TEXT_NP)
		return false;
	(void)snprintf(both, sizeof both, "%s.%s", type->name, field->name);
	for (unsigned i = 0; i < counters->count; i++)
		if (fnmatch(counters->patterns[i], field->name, 0) == 0 ||
		    fnmatch(counters->patterns[i], both, 0) == 0)
			return true;
	return false;
}
