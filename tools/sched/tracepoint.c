/* SPDX-License-Identifier: MIT */
/*
 * tracepoint.c - the scheduler's tracepoints: where their fields lie in samples, by the
 * text that tracefs has.
 */
#include "tools/sched/tracepoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pxt_tracepoint_names[PXT_TRACEPOINTS] = { "sched_switch", "sched_waking",
	"sched_wakeup", "sched_wakeup_new", "sched_migrate_task", "sched_pi_setprio" };

static const char *const switch_fields[] = { "prev_comm", "prev_pid", "prev_prio", "prev_state",
	"next_comm", "next_pid", "next_prio" };
static const char *const wake_fields[] = { "comm", "pid", "prio", "target_cpu" };
static const char *const boost_fields[] = { "comm", "pid", "oldprio", "newprio" };
static const char *const migrate_fields[] = { "comm", "pid", "prio", "orig_cpu", "dest_cpu" };

static const struct {
	const char *const *names;
	unsigned count;
} wanted[PXT_TRACEPOINTS] = { { switch_fields, 7 }, { wake_fields, 4 }, { wake_fields, 4 },
	{ wake_fields, 4 }, { migrate_fields, 5 }, { boost_fields, 4 } };

/* ---- The format ---- */

/* The line of the field @name, from "offset:" on; NULL: there is none. */
static const char *find_field(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strstr(text, "field:"); at; at = strstr(at + 1, "field:")) {
		const char *end = strpbrk(at, ";\n");

		if (!end || *end != ';')
			continue;
		const char *last = end;
		/* "char prev_comm[16]" */
		for (const char *bracket = at; bracket < end; bracket++)
			if (*bracket == '[')
				last = last == end ? bracket : last;
		if ((size_t)(last - at) > length && last[-(ptrdiff_t)length - 1] == ' ' &&
		    strncmp(last - length, name, length) == 0)
			return end;
	}
	return NULL;
}

/* A number after @mark on the same line. */
static bool number_after(const char *line, const char *mark, uint16_t *number)
{
	const char *at = strstr(line, mark);
	const char *end = strchr(line, '\n');

	if (!at || (end && at > end))
		return false;
	unsigned long value = strtoul(at + strlen(mark), NULL, 10);
	*number = (uint16_t)value;
	return value <= UINT16_MAX;
}

static bool is_name(const char *field)
{
	return strlen(field) >= 4 && strcmp(field + strlen(field) - 4, "comm") == 0;
}

static bool take_field(struct pxt_tracepoint_field *field, const char *text, const char *name)
{
	const char *line = find_field(text, name);

	if (!line || !number_after(line, "offset:", &field->offset) ||
	    !number_after(line, "size:", &field->size))
		return false;
	return is_name(name) ? field->size == 16 : field->size == 4 || field->size == 8;
}

bool pxt_tracepoint_parse(
    struct pxt_tracepoint *point, enum pxt_tracepoint_kind kind, const char *text)
{
	const char *id = strstr(text, "ID:");

	*point = (struct pxt_tracepoint){ .known = false };
	if (!id)
		return false;
	point->id = (uint32_t)strtoul(id + 3, NULL, 10);
	for (unsigned i = 0; i < wanted[kind].count; i++)
		if (!take_field(&point->fields[i], text, wanted[kind].names[i]))
			return false;
	point->known = point->id > 0 && point->id <= UINT16_MAX;
	return point->known;
}

/* ---- Samples ---- */

static int64_t number(const struct pxt_tracepoint_field *field, const unsigned char *data)
{
	int32_t narrow;
	int64_t value;

	if (field->size == 8) {
		memcpy(&value, data + field->offset, sizeof value);
		return value;
	}
	memcpy(&narrow, data + field->offset, sizeof narrow);
	return narrow;
}

static void name(const struct pxt_tracepoint_field *field, const unsigned char *data, char to[16])
{
	memcpy(to, data + field->offset, 16);
	to[15] = '\0';
}

static bool fits(const struct pxt_tracepoint *point, enum pxt_tracepoint_kind kind, size_t bytes)
{
	for (unsigned i = 0; i < wanted[kind].count; i++)
		if ((size_t)point->fields[i].offset + point->fields[i].size > bytes)
			return false;
	return true;
}

enum pxt_tracepoint_kind pxt_tracepoint_read(const struct pxt_tracepoint points[PXT_TRACEPOINTS],
    const unsigned char *data, size_t bytes, struct pxt_tracepoint_said *said)
{
	enum pxt_tracepoint_kind kind = 0;
	uint16_t id;

	*said = (struct pxt_tracepoint_said){ .from = -1 };
	if (bytes < sizeof id)
		return PXT_TRACEPOINTS;
	memcpy(&id, data, sizeof id);
	while (kind < PXT_TRACEPOINTS && !(points[kind].known && points[kind].id == id))
		kind++;
	if (kind == PXT_TRACEPOINTS || !fits(&points[kind], kind, bytes))
		return PXT_TRACEPOINTS;
	const struct pxt_tracepoint_field *fields = points[kind].fields;
	name(&fields[0], data, said->name);
	said->tid = (int32_t)number(&fields[1], data);
	said->prio = (int32_t)number(&fields[2], data);
	if (kind == PXT_TRACEPOINT_SWITCH) {
		said->state = number(&fields[3], data);
		name(&fields[4], data, said->next_name);
		said->next_tid = (int32_t)number(&fields[5], data);
		said->next_prio = (int32_t)number(&fields[6], data);
	} else if (kind == PXT_TRACEPOINT_MIGRATE) {
		said->from = (int32_t)number(&fields[3], data);
		said->to = (int32_t)number(&fields[4], data);
	} else if (kind == PXT_TRACEPOINT_BOOST) {
		said->next_prio = (int32_t)number(&fields[3], data);
	} else {
		said->to = (int32_t)number(&fields[3], data);
	}
	return kind;
}
