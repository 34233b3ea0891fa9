/* SPDX-License-Identifier: MIT */
/*
 * tracepoint.c - the tracepoints that are recorded, in one table: where their fields lie in samples, by the text that
 * tracefs has.
 */
#define _GNU_SOURCE
#include "tools/sched/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Fields in the order of struct pxt_tracepoint_said; the text, where there is one, is the last. */
static const struct {
	const char *path; /* below events/ */
	unsigned count;
	const char *fields[PXT_TRACEPOINT_FIELDS];
	const char *text;
	unsigned group;
} table[PXT_TRACEPOINTS] = {
	[PXT_TRACEPOINT_SWITCH] = { "sched/sched_switch", 7,
	    { "prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid",
	        "next_prio" },
	    NULL, 0 },
#define WAKE 4, { "comm", "pid", "prio", "target_cpu" }, NULL, 0
	[PXT_TRACEPOINT_WAKING] = { "sched/sched_waking", WAKE },
	[PXT_TRACEPOINT_WAKEUP] = { "sched/sched_wakeup", WAKE },
	[PXT_TRACEPOINT_NEW] = { "sched/sched_wakeup_new", WAKE },
	[PXT_TRACEPOINT_MIGRATE] = { "sched/sched_migrate_task", 5,
	    { "comm", "pid", "prio", "orig_cpu", "dest_cpu" }, NULL, 0 },
	[PXT_TRACEPOINT_BOOST] = { "sched/sched_pi_setprio", 4,
	    { "comm", "pid", "oldprio", "newprio" }, NULL, 0 },
	[PXT_TRACEPOINT_IRQ] = { "irq/irq_handler_entry", 2, { "irq", "name" }, "name",
	    PXT_SCHEDGROUP_IRQ },
	[PXT_TRACEPOINT_IRQ_END] = { "irq/irq_handler_exit", 1, { "irq" }, NULL,
	    PXT_SCHEDGROUP_IRQ },
	[PXT_TRACEPOINT_SOFTIRQ] = { "irq/softirq_entry", 1, { "vec" }, NULL,
	    PXT_SCHEDGROUP_SOFTIRQ },
	[PXT_TRACEPOINT_SOFTIRQ_END] = { "irq/softirq_exit", 1, { "vec" }, NULL,
	    PXT_SCHEDGROUP_IRQ },
	[PXT_TRACEPOINT_BLOCK] = { "block/block_io_start", 4, { "dev", "sector", "bytes", "rwbs" },
	    "rwbs", PXT_SCHEDGROUP_BLOCK },
	[PXT_TRACEPOINT_BLOCK_END] = { "block/block_rq_complete", 3, { "dev", "sector", "error" },
	    NULL, PXT_SCHEDGROUP_BLOCK },
	[PXT_TRACEPOINT_FREQUENCY] = { "power/cpu_frequency", 2, { "cpu_id", "state" }, NULL,
	    PXT_SCHEDGROUP_FREQUENCY },
};

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
		/* "char prev_comm[16]"; "__data_loc char[] name" */
		for (const char *bracket = at; bracket < end; bracket++)
			if (*bracket == '[' && bracket[1] != ']')
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
	if (is_name(name))
		return field->size == 16;
	return field->size == 4 || field->size == 8 ||
	       (strcmp(name, "rwbs") == 0 && field->size <= 16);
}

bool pxt_tracepoint_parse(
    struct pxt_tracepoint *point, enum pxt_tracepoint_kind kind, const char *text)
{
	const char *id = strstr(text, "ID:");

	*point = (struct pxt_tracepoint){ .known = false };
	if (!id)
		return false;
	point->id = (uint32_t)strtoul(id + 3, NULL, 10);
	for (unsigned i = 0; i < table[kind].count; i++)
		if (!take_field(&point->fields[i], text, table[kind].fields[i]))
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
	for (unsigned i = 0; i < table[kind].count; i++)
		if ((size_t)point->fields[i].offset + point->fields[i].size > bytes)
			return false;
	return true;
}

/* What lies elsewhere in the sample has its place and its length in its field. */
static void text(const struct pxt_tracepoint_field *field, const char *name,
    const unsigned char *data, size_t bytes, char to[16])
{
	size_t at = field->offset;
	size_t count = field->size;

	if (strcmp(name, "name") == 0) {
		uint64_t place = (uint64_t)number(field, data);

		at = place & 0xffffu;
		count = place >> 16 & 0xffffu;
	}
	count = count < 15 ? count : 15;
	/* Behind its end the kernel leaves what was there. */
	if (at + count <= bytes)
		memcpy(to, data + at, strnlen((const char *)data + at, count));
}

static void read_other(struct pxt_tracepoint_said *said, enum pxt_tracepoint_kind kind,
    const struct pxt_tracepoint_field *fields, const unsigned char *data, size_t bytes)
{
	unsigned count = table[kind].count - (table[kind].text != NULL);

	for (unsigned i = 0; i < count; i++)
		said->numbers[i] = number(&fields[i], data);
	if (table[kind].text)
		text(&fields[count], table[kind].text, data, bytes, said->name);
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
	if (kind >= PXT_TRACEPOINT_IRQ) {
		read_other(said, kind, fields, data, bytes);
		return kind;
	}
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

/* ---- Formats of tracepoints, from where tracefs is mounted or could be ---- */

#define FORMAT_BYTES 8192u

/* A C library or its headers may not know these calls; their numbers are the same everywhere. */
#ifndef SYS_fsopen
#define SYS_fsopen   430
#define SYS_fsconfig 431
#define SYS_fsmount  432
#endif

#define FLAG_CLOEXEC   1 /* FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC */
#define COMMAND_CREATE 6 /* FSCONFIG_CMD_CREATE */

/* The first mount of it that this process sees; -1 with errno. */
static int open_mounted(void)
{
	char line[1024];
	char where[1024];
	char type[64];
	int folder = -1;
	int error = ENOENT;
	FILE *mounts = fopen("/proc/self/mounts", "re");

	while (mounts && folder < 0 && fgets(line, sizeof line, mounts)) {
		if (sscanf(line, "%*s %1023s %63s", where, type) != 2 ||
		    strcmp(type, "tracefs") != 0)
			continue;
		folder = open(where, O_PATH | O_DIRECTORY | O_CLOEXEC);
		error = errno;
	}
	if (mounts)
		(void)fclose(mounts);
	errno = error;
	return folder;
}

/* A mount without a place: the system gives it up with its descriptor. */
static int open_private(void)
{
	int mount = -1;
	int fs = (int)syscall(SYS_fsopen, "tracefs", FLAG_CLOEXEC);

	if (fs < 0)
		return -1;
	if (syscall(SYS_fsconfig, fs, COMMAND_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, fs, FLAG_CLOEXEC, 0);
	(void)close(fs);
	return mount;
}

static int read_format(
    int folder, const char *name, enum pxt_tracepoint_kind kind, struct pxt_tracepoint *point)
{
	char path[80];
	char format[FORMAT_BYTES];
	size_t bytes = 0;
	ssize_t got = 1;

	point->known = false;
	(void)snprintf(path, sizeof path, "events/%s/format", name);
	int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return errno;
	while (got > 0 && bytes < sizeof format - 1) {
		got = read(file, format + bytes, sizeof format - 1 - bytes);
		bytes += got > 0 ? (size_t)got : 0;
	}
	int error = got < 0 ? errno : 0;
	(void)close(file);
	format[bytes] = '\0';
	if (error == 0 && !pxt_tracepoint_parse(point, kind, format))
		error = EPROTO;
	return error;
}

unsigned pxt_tracepoint_group(enum pxt_tracepoint_kind kind)
{
	return table[kind].group;
}

/* Entries and ends are of use together alone. */
static void pair(struct pxt_tracepoint points[PXT_TRACEPOINTS], enum pxt_tracepoint_kind begin)
{
	if (!points[begin].known || !points[begin + 1].known)
		points[begin].known = points[begin + 1].known = false;
}

int pxt_tracefs_points(struct pxt_tracepoint points[PXT_TRACEPOINTS], unsigned groups)
{
	int folder = open_mounted();
	int error = errno;

	if (folder < 0)
		folder = open_private();
	if (folder < 0)
		return error;
	error = read_format(folder, table[PXT_TRACEPOINT_SWITCH].path, PXT_TRACEPOINT_SWITCH,
	    &points[PXT_TRACEPOINT_SWITCH]);
	for (unsigned kind = PXT_TRACEPOINT_SWITCH + 1; kind < PXT_TRACEPOINTS; kind++)
		if (table[kind].group == 0 || (table[kind].group & groups))
			(void)read_format(folder, table[kind].path, kind, &points[kind]);
	/* Before Linux 6.5: a request is told when the disk gets it, mostly by a thread of the kernel's. */
	if (!points[PXT_TRACEPOINT_BLOCK].known && (groups & PXT_SCHEDGROUP_BLOCK))
		(void)read_format(folder, "block/block_rq_issue", PXT_TRACEPOINT_BLOCK,
		    &points[PXT_TRACEPOINT_BLOCK]);
	pair(points, PXT_TRACEPOINT_IRQ);
	pair(points, PXT_TRACEPOINT_SOFTIRQ);
	pair(points, PXT_TRACEPOINT_BLOCK);
	/* It says when who wakes; the other one says when the woken one's CPU heard of it. */
	if (points[PXT_TRACEPOINT_WAKING].known)
		points[PXT_TRACEPOINT_WAKEUP].known = false;
	(void)close(folder);
	return error;
}
