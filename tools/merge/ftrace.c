/* SPDX-License-Identifier: MIT */
/*
 * ftrace.c - scheduler events from text, and their place on the line of time by the clock that they have.
 * The text is tracefs' own (`cat trace`), that of `trace-cmd report`, or that of `perf script`:
 *
 *	TASK-TID [(TGID)] [CPU] [FLAGS] STAMP: EVENT: PAYLOAD
 *	TASK [PID/]TID [CPU] STAMP: sched:EVENT: PAYLOAD
 *
 * The payload is the kernel's own ("prev_comm=a prev_pid=1 ..."), or the short one that trace-cmd
 * makes of sched_switch and sched_wakeup ("a:1 [120] S ==> b:2 [120]").  A name may hold anything,
 * also what separates names; it has at most 15 bytes, and is taken up to the last place where what
 * follows it can begin.  Fields are named as LTTng names them (tid for the kernel's pid).
 */
#include "tools/merge/merge.h"

#include "tools/output/openfile.h"
#include "tools/output/say.h"
#include "tools/output/when.h"
#include "tools/read/source.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1024u
#define COMM_BYTES 16u
#define SECOND     INT64_C(1000000000)

const struct pxt_ftrace_type pxt_ftrace_types[PXT_FTRACE_KINDS] = {
	{ "sched_switch", "char[16] prev_comm, i32 prev_tid, i32 prev_prio, i64 prev_state, "
	                  "char[16] next_comm, i32 next_tid, i32 next_prio" },
	{ "sched_waking", "char[16] comm, i32 tid, i32 prio, i32 target_cpu" },
	{ "sched_wakeup", "char[16] comm, i32 tid, i32 prio, i32 target_cpu" },
	{ "sched_wakeup_new", "char[16] comm, i32 tid, i32 prio, i32 target_cpu" },
};

/* ---- Payload ---- */

static void pack(struct pxt_ftrace_event *event, const void *bytes, size_t count)
{
	memcpy(event->data + event->bytes, bytes, count);
	event->bytes += count;
}

static void pack_comm(struct pxt_ftrace_event *event, const char *from, size_t bytes)
{
	char comm[COMM_BYTES] = "";

	memcpy(comm, from, bytes < COMM_BYTES ? bytes : COMM_BYTES - 1);
	pack(event, comm, sizeof comm);
}

static void pack_number(struct pxt_ftrace_event *event, long number)
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
static const char *take_task(struct pxt_ftrace_event *event, const char *text, const char *key)
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
static const char *take_short(struct pxt_ftrace_event *event, const char *text)
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

static bool take_switch(struct pxt_ftrace_event *event, const char *text)
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

static bool take_wake(struct pxt_ftrace_event *event, const char *text)
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
static bool take_stamp(struct pxt_ftrace *ftrace, const char *word, uint64_t *stamp)
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

static void take_name(struct pxt_ftrace_event *event, const char *name, const char *end)
{
	size_t bytes = (size_t)(end - name);

	memset(event->comm, 0, sizeof event->comm);
	memcpy(event->comm, name, bytes < COMM_BYTES ? bytes : COMM_BYTES - 1);
}

/* perf's "TASK TID" or "TASK PID/TID": the last word is numbers alone. */
static bool take_perf_head(struct pxt_ftrace_event *event, const char *name, const char *end)
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
static bool take_head(struct pxt_ftrace_event *event, const char *line, const char *end)
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
static const char *find_stamp(struct pxt_ftrace *ftrace, const char *text, uint64_t *stamp)
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

/* "CPU:1 [LOST 12 EVENTS]" and "CPU:1 [12 EVENTS DROPPED]". */
static bool take_loss(struct pxt_ftrace *ftrace, const char *line)
{
	const char *at = strncmp(line, "CPU:", 4) == 0 ? strchr(line, '[') : NULL;
	uint64_t count = 0;

	if (!at || !strstr(at, "EVENTS"))
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
static void take_comment(struct pxt_ftrace *ftrace, const char *line)
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

/* An event of a kind that is imported; what is none is counted, or is no event at all. */
static bool take_line(struct pxt_ftrace *ftrace, const char *line)
{
	struct pxt_ftrace_event *event = &ftrace->event;
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
	if (strncmp(text, "sched:", 6) == 0)
		text += 6;
	for (event->kind = 0; event->kind < PXT_FTRACE_KINDS; event->kind++) {
		const char *name = pxt_ftrace_types[event->kind].name;
		size_t bytes = strlen(name);

		if (strncmp(text, name, bytes) != 0 || text[bytes] != ':')
			continue;
		text += bytes + 1;
		text += strspn(text, " ");
		event->bytes = 0;
		if (event->kind == 0 ? take_switch(event, text) : take_wake(event, text))
			return true;
		break;
	}
	ftrace->skipped++;
	return false;
}

static bool read_event(struct pxt_ftrace *ftrace)
{
	char line[LINE_BYTES];

	while (fgets(line, sizeof line, ftrace->file)) {
		size_t bytes = strcspn(line, "\r\n");
		bool whole = line[bytes] != '\0';

		line[bytes] = '\0';
		bool taken = take_line(ftrace, line);
		/* The rest of a line that is too long: names end long before. */
		for (int c = 0; !whole && c != '\n' && c != EOF;)
			c = fgetc(ftrace->file);
		if (taken)
			return true;
	}
	return false;
}

/* ---- Time ---- */

static const struct pxt_source *first_log(const struct pxt_ftrace *ftrace)
{
	return ftrace->reader->sources[0];
}

/* From a stamp to the common line, through the clocks of the first log. */
static int64_t ns_of(const struct pxt_ftrace *ftrace, uint64_t stamp)
{
	const struct pxt_place *place = &ftrace->line->places[0];
	struct timespec time = { 0, 0 };

	if (ftrace->clock == PXT_FTRACE_TSC) {
		(void)posix_trace_log_gettime_np(first_log(ftrace)->trid, stamp, &time);
		return pxt_source_placed(first_log(ftrace), pxt_when_ns(&time));
	}
	int64_t from = ftrace->clock == PXT_FTRACE_BOOT ? place->boot_ns : place->mono_ns;
	return pxt_source_placed(first_log(ftrace), place->real_ns + ((int64_t)stamp - from));
}

bool pxt_ftrace_next(struct pxt_ftrace *ftrace)
{
	if (!read_event(ftrace))
		return false;
	ftrace->events++;
	ftrace->ns = ns_of(ftrace, ftrace->event.stamp);
	ftrace->event.lost_before = ftrace->pending;
	ftrace->pending = 0;
	return true;
}

/* ---- Opening ---- */

static void rewind_file(struct pxt_ftrace *ftrace)
{
	rewind(ftrace->file);
	ftrace->events = ftrace->lost = ftrace->unknown = ftrace->skipped = ftrace->pending = 0;
}

/* Which clock the stamps are of, and whether the first log knows that clock. */
static bool choose_clock(struct pxt_ftrace *ftrace)
{
	const struct pxt_source *source = first_log(ftrace);
	const struct pxt_place *place = &ftrace->line->places[0];

	if (ftrace->clock == PXT_FTRACE_AUTO)
		ftrace->clock = ftrace->ticks ? PXT_FTRACE_TSC : PXT_FTRACE_MONO;
	if (ftrace->ticks != (ftrace->clock == PXT_FTRACE_TSC)) {
		pxt_complain(
		    "%s: its stamps are not of the clock that --ftrace-clock names", ftrace->path);
		return false;
	}
	if (ftrace->clock == PXT_FTRACE_TSC &&
	    source->info.posix_clock_np.posix_source_np != POSIX_TRACE_CLOCK_TSC_NP) {
		pxt_complain("%s: its stamps are a counter, which %s does not know", ftrace->path,
		    source->path);
		pxt_explain("record with the clock mono: trace-cmd record -C mono, or echo mono "
		            ">trace_clock");
		return false;
	}
	if ((ftrace->clock == PXT_FTRACE_MONO && place->mono_ns <= 0) ||
	    (ftrace->clock == PXT_FTRACE_BOOT && place->boot_ns <= 0)) {
		pxt_complain(
		    "%s: %s does not know the clock of its stamps", ftrace->path, source->path);
		return false;
	}
	return true;
}

/* Both from one run: their times must meet. */
static bool check_times(const struct pxt_ftrace *ftrace, int64_t first, int64_t last)
{
	const struct pxt_source *source = first_log(ftrace);
	int64_t start = pxt_source_placed(source, pxt_when_ns(&source->info.posix_start_np));
	int64_t end = pxt_lasting_end(&source->info);
	char text[16];

	end = end > 0 ? pxt_source_placed(source, end) : INT64_MAX / 2;
	if (last >= start && first <= end)
		return true;
	pxt_duration(text, (uint64_t)(last < start ? start - last : first - end));
	pxt_complain("%s: cannot be placed: it %s %s %s %s", ftrace->path,
	    last < start ? "ends" : "begins", text,
	    last < start ? "before the begin of" : "behind the end of", source->path);
	pxt_explain("was it recorded in the same run, and with the clock mono (trace-cmd record -C "
	            "mono)? --ftrace-clock says which clock it was");
	return false;
}

bool pxt_ftrace_open(struct pxt_ftrace *ftrace, const char *path, enum pxt_ftrace_clock clock,
    const struct pxt_reader *reader, const struct pxt_line *line)
{
	int64_t first = INT64_MAX;
	int64_t last = INT64_MIN;
	int fd;

	*ftrace =
	    (struct pxt_ftrace){ .path = path, .clock = clock, .reader = reader, .line = line };
	fd = pxt_open_plain(path); /* it is read several times */
	ftrace->file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!ftrace->file) {
		pxt_complain("%s: %s", path, pxt_open_error(errno));
		return false;
	}
	if (!read_event(ftrace)) {
		pxt_complain("%s: there is no scheduler event in it", path);
		pxt_explain(
		    "it should be what `trace-cmd report -t` or `perf script` prints, or tracefs' "
		    "file trace, with sched_switch and sched_waking");
		return false;
	}
	if (!choose_clock(ftrace))
		return false;
	rewind_file(ftrace);
	while (pxt_ftrace_next(ftrace)) {
		first = ftrace->ns < first ? ftrace->ns : first;
		last = ftrace->ns > last ? ftrace->ns : last;
	}
	if (ferror(ftrace->file) || !check_times(ftrace, first, last))
		return false;
	if (ftrace->unknown)
		pxt_complain(
		    "%s: does not say how many events it lost in %llu places; 1 is counted for "
		    "each",
		    path, (unsigned long long)ftrace->unknown);
	rewind_file(ftrace);
	return true;
}

void pxt_ftrace_close(struct pxt_ftrace *ftrace)
{
	if (ftrace->file)
		(void)fclose(ftrace->file);
	ftrace->file = NULL;
}
