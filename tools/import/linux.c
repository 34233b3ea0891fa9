/* SPDX-License-Identifier: MIT */
/* linux.c - events of the Linux kernel that perf, trace-cmd or ftrace recorded, as a log; see import.h. */
#include "tools/import/import.h"

#include "format/ticks.h"
#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/write/logwrite.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_TYPE  32u
#define FIELDS_MAX  24u
#define KEY_BYTES   32u
#define TEXT_BYTES  32u /* of a text that others follow; a task's name has 16 */
#define COMM_BYTES  16u
#define BUCKETS     65536u
#define NS          1000000000u
#define THREADS_MAX (PXT_LOGWRITE_THREADS + 1u)

extern char **environ;

struct thread {
	pid_t tid;
	pid_t pid;
	uint32_t next; /* in its bucket; 0: none */
	char comm[COMM_BYTES];
};

struct field {
	char key[KEY_BYTES];
	bool is_text; /* else each value so far was a number */
};

struct type {
	char name[TRACE_EVENT_NAME_MAX + 1];
	bool plain; /* its events say different things: one text */
	unsigned count;
	struct field fields[FIELDS_MAX];
};

struct import {
	struct pxt_ftracetext text;
	const char *path;
	struct pxt_logwrite *log;
	uint64_t hz;
	uint64_t first;   /* the smallest stamp */
	uint64_t unnamed; /* events for whose type there was no number */
	uint32_t thread_count;
	struct thread *threads; /* by index, from 1 */
	uint32_t buckets[BUCKETS];
	unsigned type_count;
	struct type types[PXT_LINUX_TYPES];
};

/* ---- Threads ---- */

static uint32_t find_thread(const struct import *import, pid_t tid)
{
	uint32_t at = import->buckets[(uint32_t)tid % BUCKETS];

	while (at && import->threads[at].tid != tid)
		at = import->threads[at].next;
	return at;
}

/* The last name counts: at its begin a thread has that of its parent. */
static void note_thread(struct import *import, pid_t tid, pid_t pid, const char *comm)
{
	uint32_t at = find_thread(import, tid);

	if (!at) {
		if (import->thread_count == PXT_LOGWRITE_THREADS)
			return;
		at = ++import->thread_count;
		import->threads[at] =
		    (struct thread){ .tid = tid, .next = import->buckets[(uint32_t)tid % BUCKETS] };
		import->buckets[(uint32_t)tid % BUCKETS] = at;
	}
	if (pid)
		import->threads[at].pid = pid;
	memcpy(import->threads[at].comm, comm, COMM_BYTES);
}

/* A name and a number in the data of a switch or a wakeup. */
static void note_told(struct import *import, size_t at)
{
	const unsigned char *data = import->text.event.data + at;
	char comm[COMM_BYTES];
	int32_t tid;

	memcpy(comm, data, sizeof comm);
	memcpy(&tid, data + sizeof comm, sizeof tid);
	if (tid > 0)
		note_thread(import, tid, 0, comm);
}

static void tell_threads(struct import *import)
{
	for (uint32_t i = 1; i <= import->thread_count; i++) {
		const struct thread *thread = &import->threads[i];
		struct posix_trace_logthread_np told = {
			.posix_thread_np = PXT_LOGWRITE_KERNEL_THREAD + (uint32_t)thread->tid,
			.posix_pid_np = thread->pid,
			.posix_tid_np = thread->tid
		};

		memcpy(told.posix_name_np, thread->comm, strnlen(thread->comm, COMM_BYTES - 1));
		pxt_logwrite_thread(import->log, i, &told);
	}
}

/* ---- Fields: "comm=a b pid=1 orig_cpu=0" ---- */

struct pair {
	const char *key;
	size_t key_bytes;
	const char *value;
	size_t value_bytes;
};

/* The length of "KEY" if "KEY=" stands at @text, else 0. */
static size_t key_at(const char *text)
{
	size_t bytes = 0;

	if (isdigit((unsigned char)*text))
		return 0;
	while (isalnum((unsigned char)text[bytes]) || text[bytes] == '_')
		bytes++;
	return text[bytes] == '=' && bytes < KEY_BYTES - 1 ? bytes : 0;
}

/* The next pair; a value goes up to the next key.  What follows it, or NULL: there is none here. */
static const char *next_pair(const char *text, struct pair *pair)
{
	pair->key = text;
	pair->key_bytes = key_at(text);
	if (!pair->key_bytes)
		return NULL;
	pair->value = text + pair->key_bytes + 1;
	for (text = pair->value; *text; text++)
		if (*text == ' ' && key_at(text + 1))
			break;
	pair->value_bytes = (size_t)(text - pair->value);
	while (pair->value_bytes && strchr(" ,", pair->value[pair->value_bytes - 1]))
		pair->value_bytes--;
	return *text ? text + 1 : text;
}

static bool number_of(const struct pair *pair, int64_t *number)
{
	char digits[24];
	char *end;

	if (pair->value_bytes == 0 || pair->value_bytes >= sizeof digits)
		return false;
	memcpy(digits, pair->value, pair->value_bytes);
	digits[pair->value_bytes] = '\0';
	if (!isdigit((unsigned char)*digits) && *digits != '-')
		return false;
	errno = 0;
	/* Not by base 0: CPUs are written as 001. */
	*number = strtoll(digits, &end, strncmp(digits, "0x", 2) == 0 ? 16 : 10);
	return *end == '\0' && errno == 0;
}

/* LTTng's names: tid for the kernel's pid, which is a thread's. */
static void name_field(struct field *field, const struct pair *pair)
{
	size_t stem = pair->key_bytes;

	memcpy(field->key, pair->key, stem);
	field->key[stem] = '\0';
	if (stem >= 3 && strcmp(field->key + stem - 3, "pid") == 0 &&
	    (stem == 3 || field->key[stem - 4] == '_'))
		field->key[stem - 3] = 't';
}

static bool is_named(const struct type *type, const struct field *field)
{
	for (unsigned i = 0; i < type->count; i++)
		if (strcmp(type->fields[i].key, field->key) == 0)
			return true;
	return false;
}

/* The first event of a type says which fields it has, ... */
static void learn_fields(struct type *type, const char *text)
{
	struct pair pair;
	int64_t number;

	while (*text && !type->plain) {
		struct field field;

		text = next_pair(text, &pair);
		if (!text || type->count == FIELDS_MAX) {
			type->plain = true;
			return;
		}
		name_field(&field, &pair);
		field.is_text = !number_of(&pair, &number);
		type->plain = is_named(type, &field);
		type->fields[type->count++] = field;
	}
}

/* ... and the others whether they all have them. */
static void compare_fields(struct type *type, const char *text)
{
	struct pair pair;
	int64_t number;

	for (unsigned i = 0; i < type->count; i++) {
		struct field field;

		text = next_pair(text, &pair);
		if (text)
			name_field(&field, &pair);
		if (!text || strcmp(field.key, type->fields[i].key) != 0) {
			type->plain = true;
			return;
		}
		type->fields[i].is_text |= !number_of(&pair, &number);
	}
	type->plain = *text != '\0';
}

/* ---- Types ---- */

/* Names that have a number already. */
static bool is_others_name(const char *name)
{
	for (unsigned i = 0; i < PXT_FTRACETEXT_KINDS; i++)
		if (strcmp(name, pxt_ftracetext_types[i].name) == 0)
			return true;
	return pxt_logwrite_system_type(name) != 0;
}

/* NULL: there is no number for it. */
static struct type *type_of(struct import *import, bool learn)
{
	const struct pxt_ftracetext_event *event = &import->text.event;
	const char *said = event->text;
	struct type *type = import->types;

	for (; type < import->types + import->type_count; type++)
		if (strncmp(type->name, event->name, TRACE_EVENT_NAME_MAX) == 0)
			break;
	if (type == import->types + import->type_count) {
		if (!learn || import->type_count == PXT_LINUX_TYPES)
			return NULL;
		(void)snprintf(
		    type->name, sizeof type->name, "%.*s", TRACE_EVENT_NAME_MAX, event->name);
		if (is_others_name(type->name))
			return NULL;
		import->type_count++;
		learn_fields(type, said);
	} else if (learn && !type->plain) {
		compare_fields(type, said);
	}
	return type;
}

static size_t room_of(const struct type *type, unsigned i)
{
	size_t bytes = strlen(type->fields[i].key);

	return bytes >= 4 && strcmp(type->fields[i].key + bytes - 4, "comm") == 0 ? COMM_BYTES
	                                                                          : TEXT_BYTES;
}

/* Its description, to @text; false: it has no room there. */
static bool describe(const struct type *type, char *text, size_t room)
{
	size_t used = 0;

	*text = '\0';
	for (unsigned i = 0; i < type->count && used < room; i++) {
		const struct field *field = &type->fields[i];
		char kind[16] = "i64";

		if (field->is_text && i + 1 == type->count)
			(void)snprintf(kind, sizeof kind, "text");
		else if (field->is_text)
			(void)snprintf(kind, sizeof kind, "char[%zu]", room_of(type, i));
		int more =
		    snprintf(text + used, room - used, "%s%s %s", i ? ", " : "", kind, field->key);
		used += more > 0 ? (size_t)more : 0;
	}
	return used < room;
}

static void tell_types(struct import *import)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];

	for (unsigned i = 0; i < PXT_FTRACETEXT_KINDS; i++)
		pxt_logwrite_type(import->log, (trace_event_id_t)(FIRST_TYPE + i),
		    pxt_ftracetext_types[i].name, pxt_ftracetext_types[i].format);
	for (unsigned i = 0; i < import->type_count; i++) {
		struct type *type = &import->types[i];

		type->plain |= !describe(type, format, sizeof format);
		pxt_logwrite_type(import->log,
		    (trace_event_id_t)(FIRST_TYPE + PXT_FTRACETEXT_KINDS + i), type->name,
		    type->plain ? "text payload"
		    : *format   ? format
		                : NULL);
	}
}

/* ---- Events ---- */

/* What an event says as data, to @data; @cut: a text was longer than its field. */
static size_t pack(
    const struct type *type, const char *text, unsigned char data[PXT_FTRACETEXT_LINE], bool *cut)
{
	struct pair pair;
	size_t used = 0;
	int64_t number = 0;

	if (type->plain) {
		used = strlen(text);
		memcpy(data, text, used);
		return used;
	}
	for (unsigned i = 0; i < type->count; i++) {
		bool last = i + 1 == type->count;

		text = next_pair(text, &pair);
		if (!text) /* the file was changed meanwhile */
			break;
		if (!type->fields[i].is_text) {
			(void)number_of(&pair, &number);
			memcpy(data + used, &number, sizeof number);
			used += sizeof number;
			continue;
		}
		size_t room = last ? pair.value_bytes : room_of(type, i);
		*cut |= pair.value_bytes > room;
		memset(data + used, 0, room);
		memcpy(data + used, pair.value, pair.value_bytes < room ? pair.value_bytes : room);
		used += room;
	}
	return used;
}

static void put_event(struct import *import)
{
	/* FIELDS_MAX fields of TEXT_BYTES, and one of the rest of the line. */
	static unsigned char data[FIELDS_MAX * TEXT_BYTES + PXT_FTRACETEXT_LINE];
	const struct pxt_ftracetext_event *event = &import->text.event;
	const uint32_t index = find_thread(import, event->tid);
	struct pxt_logevent made = { .id = (trace_event_id_t)(FIRST_TYPE + event->kind),
		.ticks = event->stamp,
		.thread_index = index ? index : PXT_LOGWRITE_NO_INDEX,
		.thread = PXT_LOGWRITE_KERNEL_THREAD + (uint32_t)event->tid,
		.pid = event->pid,
		.cpu = event->cpu,
		.data = event->data,
		.bytes = event->bytes };

	if (event->lost_before)
		pxt_logwrite_loss(import->log, event->lost_before);
	if (event->kind == PXT_FTRACETEXT_KINDS) {
		const struct type *type = type_of(import, false);

		if (!type) {
			import->unnamed++;
			pxt_logwrite_loss(import->log, 1);
			return;
		}
		made.id = (trace_event_id_t)(made.id + (type - import->types));
		made.data = data;
		made.bytes = pack(type, event->text, data, &made.cut);
	}
	pxt_logwrite_event(import->log, &made);
}

static void look(struct import *import)
{
	import->first = UINT64_MAX;
	while (pxt_ftracetext_next(&import->text)) {
		const struct pxt_ftracetext_event *event = &import->text.event;

		if (event->stamp < import->first)
			import->first = event->stamp;
		note_thread(import, event->tid, event->pid, event->comm);
		if (event->kind == PXT_FTRACETEXT_KINDS)
			(void)type_of(import, true);
		else
			note_told(import, 0);
		/* Behind name, number, priority and state. */
		if (event->kind == 0)
			note_told(import, COMM_BYTES + 4 + 4 + 8);
	}
}

static int write_log(struct import *import, const char *output)
{
	struct pxt_loghead head = { .name = "linux",
		.clock_source = POSIX_TRACE_CLOCK_PORT_NP,
		.hz = import->text.ticks ? import->hz : NS,
		.created.ticks = import->first };
	struct pxt_progress progress;

	import->log = pxt_must(pxt_logwrite_begin(output, PXT_LOG_WHOLE, &head));
	tell_types(import);
	tell_threads(import);
	pxt_ftracetext_rewind(&import->text);
	pxt_progress_begin(&progress, "import", "events", 0, false);
	while (pxt_logwrite_error(import->log) == 0 && pxt_ftracetext_next(&import->text)) {
		pxt_progress_step(&progress);
		put_event(import);
	}
	pxt_progress_end(&progress);
	pxt_logwrite_loss(import->log, import->text.pending);
	return pxt_import_end(import->log, NULL, "import", output);
}

/* What is not in the log as it was recorded. */
static void tell_rest(const struct import *import)
{
	if (import->text.skipped)
		pxt_complain("%s: %llu lines are no events in a form that is known", import->path,
		    (unsigned long long)import->text.skipped);
	if (import->unnamed)
		pxt_complain("%s: %llu events are left out: there is no type for them (of %u)",
		    import->path, (unsigned long long)import->unnamed, PXT_LINUX_TYPES);
	if (import->text.lost)
		pxt_complain("%s: %llu EVENTS LOST by the tracer", import->path,
		    (unsigned long long)import->text.lost);
	if (import->text.unknown)
		pxt_complain("%s: does not say how many in %llu places; 1 is counted for each",
		    import->path, (unsigned long long)import->text.unknown);
}

int pxt_linux_text(FILE *file, const char *path, uint64_t hz, const char *output)
{
	struct import *import = pxt_must(calloc(1, sizeof *import));
	int status = PXT_EXIT_LOG;

	import->text = (struct pxt_ftracetext){ .file = file, .others = true };
	import->path = path;
	import->hz = hz;
	import->threads = pxt_must(calloc(THREADS_MAX, sizeof *import->threads));
	look(import);
	if (ferror(file)) {
		pxt_complain("import: %s: %s", path, strerror(errno));
	} else if (import->text.events && import->text.cut) {
		pxt_complain("import: %s: its last line has no end: the file is cut", path);
	} else if (import->text.events == 0) {
		pxt_complain("import: %s: there is no event of the kernel in it", path);
		pxt_explain("it should be perf.data, trace.dat, or what `perf script`, `trace-cmd "
		            "report` or tracefs' file trace say; of a trace.dat that is cut, "
		            "trace-cmd says nothing");
	} else if (import->text.ticks != (hz != 0)) {
		pxt_complain(hz ? "import: %s: its stamps are seconds: no --hz"
		                : "import: %s: its stamps are a counter: say its rate by --hz",
		    path);
	} else {
		status = write_log(import, output);
		tell_rest(import);
	}
	(void)fclose(file);
	free(import->threads);
	free(import);
	return status;
}

/* ---- Files of other programs ---- */

/* As the standard wants them: nobody writes to them. */
static char perf_name[] = "perf";
static char perf_word[] = "script";
static char perf_fields[] = "-Ftrace:comm,pid,tid,cpu,time,event,trace";
static char perf_ns[] = "--ns";
static char perf_lost[] = "--show-lost-events";
static char input[] = "-i";
static char cmd_name[] = "trace-cmd";
static char cmd_word[] = "report";
static char cmd_ns[] = "-t";

/* Its text, in a file without a name; NULL, with a word to the user. */
static FILE *run(char *const *words, const char *package)
{
	FILE *text = pxt_must(tmpfile());
	posix_spawn_file_actions_t actions;
	pid_t child;
	int ended = 0;

	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_adddup2(&actions, fileno(text), STDOUT_FILENO);
	int failed = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (failed == 0)
		while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
			;
	if (failed == 0 && WIFEXITED(ended) && WEXITSTATUS(ended) == 0) {
		rewind(text);
		return text;
	}
	(void)fclose(text);
	if (failed == ENOENT) {
		pxt_complain("import: %s, which reads this file, is not installed", words[0]);
		pxt_explain("Debian: apt-get install %s", package);
	} else {
		pxt_complain("import: %s: %s", words[0], failed ? strerror(failed) : "failed");
	}
	return NULL;
}

int pxt_linux_import(const char *path, uint64_t hz, const char *output)
{
	char magic[10] = "";
	int fd = pxt_open_plain(path); /* it is read twice */
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *name = (char *)(uintptr_t)path;
	char *const perf[] = { perf_name, perf_word, perf_fields, perf_ns, perf_lost, input, name,
		NULL };
	char *const cmd[] = { cmd_name, cmd_word, cmd_ns, input, name, NULL };
	bool is_perf;

	if (!file) {
		pxt_complain("import: %s: %s", path, pxt_open_error(errno));
		return PXT_EXIT_LOG;
	}
	size_t bytes = fread(magic, 1, sizeof magic, file);
	is_perf = bytes >= 8 && memcmp(magic, "PERFILE2", 8) == 0;
	if (is_perf || (bytes == sizeof magic && memcmp(magic, "\x17\x08\x44tracing", 10) == 0)) {
		(void)fclose(file);
		file = is_perf ? run(perf, "linux-perf") : run(cmd, "trace-cmd");
	} else {
		rewind(file);
	}
	return file ? pxt_linux_text(file, path, hz, output) : PXT_EXIT_LOG;
}
