/* SPDX-License-Identifier: MIT */
/*
 * ftracetext.c - events of the Linux kernel from text; see import.h.
 *
 * A name may hold anything, also what separates names; it has at most 15 bytes, and is taken up to the last place
 * where what follows it can begin.
 */
#include "tools/import/import.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMM_BYTES 16u
#define SECOND     INT64_C(1000000000)

const struct pxt_ftracetext_type pxt_ftracetext_types[PXT_FTRACETEXT_KINDS] = {
	{ "sched_switch", "char[16] prev_comm, i32 prev_tid, i32 prev_prio, i64 prev_state, "
	                  "char[16] next_comm, i32 next_tid, i32 next_prio" },
	{ "sched_waking", "char[16] comm, i32 tid, i32 prio, i32 target_cpu" },
	{ "sched_wakeup", "char[16] comm, i32 tid, i32 prio, i32 target_cpu" },
	{ "sched_wakeup_new", "char[16] comm, i32 tid, i32 prio, i32 target_cpu" },
};

/* ---- Payload ---- */

static void pack(struct pxt_ftracetext_event *event, const void *bytes, size_t count)
{
	memcpy(event->data + event->bytes, bytes, count);
	event->bytes += count;
}

static void pack_comm(struct pxt_ftracetext_event *event, const char *from, size_t bytes)
{
	char comm[COMM_BYTES] = "";

	memcpy(comm, from, bytes < COMM_BYTES ? bytes : COMM_BYTES - 1);
	pack(event, comm, sizeof comm);
}

static void pack_number(struct pxt_ftracetext_event *event, long number)
{
	int32_t value = (int32_t)number;

	pack(event, &value, sizeof value);
}

/* What the letters of a state stand for in the kernel. */
static int64_t state_of(const char *letters)
{
	static const struct {
		char letter;
		int64_t bit;
	} states[] = { { 'S', 0x1 }, { 'D', 0x2 }, { 'T', 0x4 }, { 't', 0x8 }, { 'X', 0x10 },
		{ 'Z', 0x20 }, { 'P', 0x40 }, { 'I', 0x80 }, { '+', 0x100 } };
	int64_t state = 0;

	for (; *letters && *letters != ' '; letters++)
		for (size_t i = 0; i < sizeof states / sizeof *states; i++)
			if (*letters == states[i].letter)
				state |= states[i].bit;
	return state;
}

/* The last place of @mark where a name that begins at @text can end; NULL: there is none. */
static const char *name_end(const char *text, const char *mark)
{
	const char *end = NULL;

	for (const char *at = strstr(text, mark); at && at - text < (ptrdiff_t)COMM_BYTES;
	     at = strstr(at + 1, mark))
		end = at;
	return end;
}

/* "KEYcomm=NAME KEYpid=N KEYprio=N": packs name, number and priority; returns what follows. */
static const char *take_task(struct pxt_ftracetext_event *event, const char *text, const char *key)
{
	char mark[24];
	char *end;

	(void)snprintf(mark, sizeof mark, "%scomm=", key);
	text = strstr(text, mark);
	if (!text)
		return NULL;
	text += strlen(mark);
	(void)snprintf(mark, sizeof mark, " %spid=", key);
	const char *name = name_end(text, mark);
	if (!name)
		return NULL;
	pack_comm(event, text, (size_t)(name - text));
	pack_number(event, strtol(name + strlen(mark), &end, 10));
	(void)snprintf(mark, sizeof mark, " %sprio=", key);
	if (strncmp(end, mark, strlen(mark)) != 0)
		return NULL;
	pack_number(event, strtol(end + strlen(mark), &end, 10));
	return end;
}

/* "NAME:N [PRIO]" of trace-cmd. */
static const char *take_short(struct pxt_ftracetext_event *event, const char *text)
{
	const char *colon = name_end(text, ":");
	char *end;

	if (!colon)
		return NULL;
	pack_comm(event, text, (size_t)(colon - text));
	pack_number(event, strtol(colon + 1, &end, 10));
	if (strncmp(end, " [", 2) != 0)
		return NULL;
	pack_number(event, strtol(end + 2, &end, 10));
	return *end == ']' ? end + 1 : NULL;
}

static bool take_switch(struct pxt_ftracetext_event *event, const char *text)
{
	bool full = strncmp(text, "prev_comm=", 10) == 0;
	const char *rest = full ? take_task(event, text, "prev_") : take_short(event, text);

	const char *mark = full ? " prev_state=" : " ";

	if (!rest || strncmp(rest, mark, strlen(mark)) != 0)
		return false;
	int64_t state = state_of(rest + strlen(mark));
	pack(event, &state, sizeof state);
	rest = strstr(rest, " ==> ");
	if (!rest)
		return false;
	return (full ? take_task(event, rest + 5, "next_") : take_short(event, rest + 5)) != NULL;
}

static bool take_wake(struct pxt_ftracetext_event *event, const char *text)
{
	bool full = strncmp(text, "comm=", 5) == 0;
	const char *mark = full ? "target_cpu=" : "CPU:";
	const char *rest = full ? take_task(event, text, "") : take_short(event, text);
	const char *cpu = rest ? strstr(rest, mark) : NULL;

	if (!cpu)
		return false;
	pack_number(event, strtol(cpu + strlen(mark), NULL, 10));
	return true;
}

/* ---- Lines ---- */

/* "123.456789" or "123456789": false when it is neither. */
static bool take_stamp(struct pxt_ftracetext *ftrace, const char *word, uint64_t *stamp)
{
	char *end;
	uint64_t unit = (uint64_t)SECOND / 10;

	errno = 0;
	*stamp = strtoull(word, &end, 10);
	if (!isdigit((unsigned char)*word) || errno != 0)
		return false;
	if (*end == ':') {
		ftrace->ticks = true;
		return true;
	}
	if (*end != '.' || *stamp > (uint64_t)(INT64_MAX / SECOND) / 2)
		return false;
	*stamp *= (uint64_t)SECOND;
	for (end++; isdigit((unsigned char)*end); end++, unit /= 10)
		*stamp += unit * (uint64_t)(*end - '0');
	return *end == ':';
}

/* " [003] ", after "-TID", "(TGID)" or "TID": where the task's name has ended. */
static const char *find_cpu(const char *line)
{
	for (const char *at = strchr(line, '['); at; at = strchr(at + 1, '[')) {
		size_t digits = strspn(at + 1, "0123456789");

		if (at > line && at[-1] == ' ' && digits > 0 && digits < 6 && at[digits + 1] == ']')
			return at;
	}
	return NULL;
}

static void take_name(struct pxt_ftracetext_event *event, const char *name, const char *end)
{
	size_t bytes = (size_t)(end - name);

	memset(event->comm, 0, sizeof event->comm);
	memcpy(event->comm, name, bytes < COMM_BYTES ? bytes : COMM_BYTES - 1);
}

/* perf's "TASK TID" or "TASK PID/TID": the last word is numbers alone. */
static bool take_perf_head(struct pxt_ftracetext_event *event, const char *name, const char *end)
{
	const char *word;
	const char *slash;

	while (end > name && end[-1] == ' ')
		end--;
	for (word = end; word > name && word[-1] != ' ';)
		word--;
	if (word == name || strspn(word, "0123456789/") < (size_t)(end - word))
		return false;
	slash = memchr(word, '/', (size_t)(end - word));
	event->tid = (pid_t)strtol(slash ? slash + 1 : word, NULL, 10);
	event->pid = slash ? (pid_t)strtol(word, NULL, 10) : 0;
	while (word > name && word[-1] == ' ')
		word--;
	take_name(event, name, word);
	return true;
}

/* TASK-TID and (TGID) between the line's begin and @end. */
static bool take_head(struct pxt_ftracetext_event *event, const char *line, const char *end)
{
	const char *name = line + strspn(line, " ");
	const char *dash = NULL;

	if (take_perf_head(event, name, end))
		return true;
	for (const char *at = name; at < end; at++)
		if (*at == '-' && isdigit((unsigned char)at[1]))
			dash = at;
	if (!dash)
		return false;
	char *behind;
	event->tid = (pid_t)strtol(dash + 1, &behind, 10);
	behind += strspn(behind, " ");
	event->pid = *behind == '(' ? (pid_t)strtol(behind + 1, NULL, 10) : 0;
	take_name(event, name, dash);
	return true;
}

/* After "[CPU]": words up to the one that is a stamp; what follows it. */
static const char *find_stamp(struct pxt_ftracetext *ftrace, const char *text, uint64_t *stamp)
{
	for (unsigned words = 0; words < 3 && *text; words++) {
		text += strspn(text, " ");
		size_t bytes = strcspn(text, " ");

		if (bytes > 1 && text[bytes - 1] == ':' && take_stamp(ftrace, text, stamp))
			return text + bytes;
		text += bytes;
	}
	return NULL;
}

/* "CPU:1 [LOST 12 EVENTS]" and "CPU:1 [12 EVENTS DROPPED]"; perf's "... PERF_RECORD_LOST lost 12". */
static bool take_loss(struct pxt_ftracetext *ftrace, const char *line)
{
	static const char perf[] = ": PERF_RECORD_LOST lost ";
	const char *at = strncmp(line, "CPU:", 4) == 0 ? strchr(line, '[') : NULL;
	uint64_t count = 0;

	if (!at || !strstr(at, "EVENTS"))
		at = strstr(line, perf);
	if (!at)
		return false;
	at += strcspn(at, "0123456789");
	if (isdigit((unsigned char)*at))
		count = strtoull(at, NULL, 10);
	if (count == 0 || count > UINT64_C(1) << 48) {
		ftrace->unknown++;
		count = 1;
	}
	ftrace->lost += count;
	ftrace->pending += count;
	return true;
}

/* "# entries-in-buffer/entries-written: 90/100   #P:2": the first ones were overwritten. */
static void take_comment(struct pxt_ftracetext *ftrace, const char *line)
{
	static const char mark[] = "entries-in-buffer/entries-written: ";
	const char *at = strstr(line, mark);
	char *slash;

	if (!at || ftrace->events)
		return;
	uint64_t kept = strtoull(at + sizeof mark - 1, &slash, 10);
	uint64_t written = *slash == '/' ? strtoull(slash + 1, NULL, 10) : 0;
	if (written > kept && written - kept < UINT64_C(1) << 48) {
		ftrace->lost += written - kept;
		ftrace->pending += written - kept;
	}
}

/* Of another kind than those above: its name without group and modifiers, and what is said of it. */
static bool take_other(struct pxt_ftracetext_event *event, const char *text)
{
	const char *end = text + strcspn(text, " ");
	const char *name = text;

	/* A sample's period stands before its name. */
	if (strspn(text, "0123456789") == (size_t)(end - text)) {
		name = end + strspn(end, " ");
		end = name + strcspn(name, " ");
	}
	if (end - name < 2 || end[-1] != ':')
		return false;
	const char *colon = memchr(name, ':', (size_t)(end - name));
	if (colon + 5 < end)
		name = colon + 1;
	else
		end = colon + 1;
	(void)snprintf(event->name, sizeof event->name, "%.*s", (int)(end - name) - 1, name);
	event->text = end + strcspn(end, " ");
	event->text += strspn(event->text, " ");
	return true;
}

/* An event; what is none is counted, or is no event at all. */
static bool take_line(struct pxt_ftracetext *ftrace, const char *line)
{
	struct pxt_ftracetext_event *event = &ftrace->event;
	const char *cpu = find_cpu(line);

	if (*line == '#')
		take_comment(ftrace, line);
	if (*line == '#' || take_loss(ftrace, line) || !cpu || !take_head(event, line, cpu))
		return false;
	event->cpu = (int)strtol(cpu + 1, NULL, 10);
	const char *text = find_stamp(ftrace, strchr(cpu, ']') + 1, &event->stamp);
	if (!text)
		return false;
	text += strspn(text, " ");
	const char *known = strncmp(text, "sched:", 6) == 0 ? text + 6 : text;
	for (event->kind = 0; event->kind < PXT_FTRACETEXT_KINDS; event->kind++) {
		const char *name = pxt_ftracetext_types[event->kind].name;
		size_t bytes = strlen(name);

		if (strncmp(known, name, bytes) != 0 || known[bytes] != ':')
			continue;
		known += bytes + 1;
		known += strspn(known, " ");
		event->bytes = 0;
		if (event->kind == 0 ? take_switch(event, known) : take_wake(event, known))
			return true;
		break;
	}
	if (event->kind == PXT_FTRACETEXT_KINDS && ftrace->others && take_other(event, text))
		return true;
	ftrace->skipped++;
	return false;
}

bool pxt_ftracetext_next(struct pxt_ftracetext *ftrace)
{
	while (fgets(ftrace->line, sizeof ftrace->line, ftrace->file)) {
		size_t bytes = strcspn(ftrace->line, "\r\n");
		bool whole = ftrace->line[bytes] != '\0';

		ftrace->line[bytes] = '\0';
		/* What there is of the last line may be another event's name or number. */
		if (!whole && feof(ftrace->file)) {
			ftrace->cut = true;
			ftrace->skipped++;
			return false;
		}
		bool taken = take_line(ftrace, ftrace->line);
		/* The rest of a line that is too long: names end long before. */
		for (int c = 0; !whole && c != '\n' && c != EOF;)
			c = fgetc(ftrace->file);
		if (!taken)
			continue;
		ftrace->events++;
		ftrace->event.lost_before = ftrace->pending;
		ftrace->pending = 0;
		return true;
	}
	return false;
}

void pxt_ftracetext_rewind(struct pxt_ftracetext *ftrace)
{
	rewind(ftrace->file);
	ftrace->events = ftrace->lost = ftrace->unknown = ftrace->skipped = ftrace->pending = 0;
}
