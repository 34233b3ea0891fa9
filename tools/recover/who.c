/* SPDX-License-Identifier: MIT */
/* who.c - threads and names, each place checked before it is read. */
#include "tools/recover/recover.h"

#include "format/logfmt_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const struct pxt_who *who, uint64_t at, uint64_t bytes)
{
	return at <= who->there && who->there - at >= bytes;
}

static uint32_t get32(const struct pxt_who *who, uint64_t at)
{
	return has(who, at, 4) ? pxt_get32(who->bytes + at, who->swapped) : 0;
}

static uint32_t fewer(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

const char *pxt_who_load(struct pxt_who *who, const struct pxt_found *found)
{
	const struct pxt_directory_header *header;

	*who = (struct pxt_who){ 0 };
	if (!found)
		return NULL;
	header = &found->directory;
	if (found->there > SIZE_MAX)
		return "it is larger than the memory of this machine";
	who->bytes = malloc((size_t)found->there);
	if (!who->bytes)
		return "out of memory";
	who->header = header;
	who->swapped = found->swapped;
	who->there = pxt_image_read(found->image, found->at, who->bytes, found->there);
	who->threads = get32(who, header->threads_at);
	who->threads = fewer(who->threads, header->entries ? header->entries - 1u : 0);
	who->threads = fewer(who->threads, PXT_THREAD_EXTRA - 1u);
	if (header->names_at)
		who->names = fewer(get32(who, header->names_count_at), header->names_max);
	return NULL;
}

void pxt_who_free(struct pxt_who *who)
{
	free(who->bytes);
	*who = (struct pxt_who){ 0 };
}

/* ---- Threads ---- */

/* The place of an entry, or 0: it is not in the image. */
static uint64_t entry_at(const struct pxt_who *who, uint32_t index)
{
	uint64_t at;

	if (!index || index > who->threads)
		return 0;
	at = who->header->entries_at + (uint64_t)index * who->header->entry_bytes;
	return has(who, at, who->header->entry_bytes) ? at : 0;
}

/* WORDS: low, high, and their exclusive-or; 0 while it is being set. */
static uint64_t get_thread(const struct pxt_who *who, uint64_t at)
{
	uint32_t low = get32(who, at);
	uint32_t high = get32(who, at + 4);

	if (who->header->form == PXT_IMAGEHEADER_WHOLE)
		return pxt_get64(who->bytes + at, who->swapped);
	return (low ^ high) == get32(who, at + 8) ? (uint64_t)high << 32 | low : 0;
}

bool pxt_who_thread(const struct pxt_who *who, uint32_t index, struct pxt_log_thread *thread)
{
	uint64_t at = entry_at(who, index);

	memset(thread, 0, sizeof *thread);
	if (!at)
		return false;
	thread->index = (uint16_t)index;
	thread->thread = get_thread(who, at + who->header->thread_at);
	thread->pid = (int32_t)get32(who, at + who->header->pid_at);
	thread->tid = (int32_t)get32(who, at + who->header->tid_at);
	memcpy(thread->name, who->bytes + at + who->header->name_at, sizeof thread->name);
	thread->name[sizeof thread->name - 1] = '\0';
	return thread->thread != 0;
}

bool pxt_who_inside(const struct pxt_who *who, uint32_t index)
{
	uint64_t at = entry_at(who, index);

	return at && (get32(who, at + who->header->passes_at) & 1u);
}

/* ---- Names ---- */

/* Text with its NUL within @most bytes at @at; false: it has none, or is longer than @room. */
static bool get_text(const struct pxt_who *who, uint64_t at, uint64_t most, char *to, size_t room)
{
	const unsigned char *text = who->bytes + at;
	const unsigned char *end;

	if (!has(who, at, 1))
		return false;
	most = most < who->there - at ? most : who->there - at;
	most = most < room ? most : room;
	end = memchr(text, '\0', (size_t)most);
	if (!end)
		return false;
	memcpy(to, text, (size_t)(end - text) + 1u);
	return true;
}

bool pxt_who_type(const struct pxt_who *who, uint32_t number, struct pxt_log_typename *type)
{
	const struct pxt_directory_header *header = who->header;
	uint32_t format;

	memset(type, 0, sizeof *type);
	if (number >= who->names)
		return false;
	type->id = header->first_user_id + number;
	if (!get_text(who, header->names_first_at + (uint64_t)number * header->name_bytes,
	        header->name_bytes, type->name, sizeof type->name))
		return false;
	format = get32(who, header->format_offsets_at + (uint64_t)number * 4u);
	if (format && format <= header->pool_bytes &&
	    !get_text(who, (uint64_t)header->pool_at + format - 1u,
	        header->pool_bytes - format + 1u, type->format, sizeof type->format))
		type->format[0] = '\0';
	return type->name[0] != '\0';
}

/* ---- The process ---- */

void pxt_who_process(const struct pxt_who *who, struct pxt_log_process *process)
{
	const struct pxt_directory_header *header = who->header;

	memset(process, 0, sizeof *process);
	if (!header)
		return;
	process->pid = header->header.pid;
	memcpy(process->executable, header->executable, sizeof header->executable);
	process->executable[sizeof header->executable - 1] = '\0';
	memcpy(process->host, header->host, sizeof header->host);
	process->host[sizeof header->host - 1] = '\0';
	if (header->started_sec > 0 && header->started_sec < (int64_t)1 << 40 &&
	    header->started_nsec < 1000000000u) {
		process->start.tv_sec = (time_t)header->started_sec;
		process->start.tv_nsec = (long)header->started_nsec;
	}
}

/* ---- Lines of process information: executable, host, start and modules ---- */

/* More text is none of ours; more modules are damage to the one who reads the log. */
#define TEXT_MAX    (UINT64_C(1) << 20)
#define MODULES_MAX 4096u
#define SECONDS_MAX (UINT64_C(1) << 40)

/* ---- Words ---- */

/* A number of @base at *at, which ends before @end; false: there is none, or it is too large. */
static bool get_number(const char **at, char end, unsigned base, uint64_t *value)
{
	static const char digits[] = "0123456789abcdef";
	const char *from = *at;

	*value = 0;
	for (; **at && **at != end; ++*at) {
		const char *digit = memchr(digits, **at, base);

		if (!digit || *value > (UINT64_MAX - base) / base)
			return false;
		*value = *value * base + (uint64_t)(digit - digits);
	}
	if (*at == from || **at != end)
		return false;
	*at += end != '\0';
	return true;
}

static void get_started(const char *text, struct timespec *started)
{
	uint64_t seconds;
	uint64_t nanoseconds;

	if (!get_number(&text, '.', 10, &seconds) || !get_number(&text, '\0', 10, &nanoseconds) ||
	    seconds >= SECONDS_MAX || nanoseconds >= 1000000000u)
		return;
	started->tv_sec = (time_t)seconds;
	started->tv_nsec = (long)nanoseconds;
}

/* Two digits at @text; false: there are not. */
static bool get_byte(const char *text, unsigned char *byte)
{
	char pair[3] = { text[0], '\0', '\0' };
	const char *end = pair;
	uint64_t value;

	if (text[0])
		pair[1] = text[1];
	if (!get_number(&end, '\0', 16, &value) || end != pair + 2)
		return false;
	*byte = (unsigned char)value;
	return true;
}

static void get_boot(const char *text, unsigned char id[16])
{
	unsigned char got[16];

	for (size_t i = 0; i < sizeof got; i++, text += 2) {
		if (!get_byte(text, &got[i]))
			return;
	}
	memcpy(id, got, sizeof got);
}

static void get_cpus(const char *text, uint32_t *cpus)
{
	uint64_t count;

	if (get_number(&text, '\0', 10, &count) && count <= UINT32_MAX)
		*cpus = (uint32_t)count;
}

/* Pairs of digits up to a blank, or "-". */
static bool get_build_id(const char **at, struct pxt_log_module *module)
{
	if (**at == '-') {
		++*at;
		return *(*at)++ == ' ';
	}
	while (**at != ' ') {
		if (module->build_id_bytes == sizeof module->build_id ||
		    !get_byte(*at, &module->build_id[module->build_id_bytes++]))
			return false;
		*at += 2;
	}
	++*at;
	return true;
}

static bool get_module(const char *text, struct pxt_log_module *module)
{
	memset(module, 0, sizeof *module);
	if (!get_number(&text, ' ', 16, &module->base) ||
	    !get_number(&text, ' ', 16, &module->low) ||
	    !get_number(&text, ' ', 16, &module->high) || !get_build_id(&text, module) ||
	    strlen(text) >= sizeof module->path)
		return false;
	memcpy(module->path, text, strlen(text) + 1);
	return true;
}

/* ---- Lines ---- */

static bool add_module(struct pxt_procinfo *procinfo, const char *text)
{
	struct pxt_log_module module;
	void *larger;

	if (procinfo->count == MODULES_MAX || !get_module(text, &module))
		return true;
	/* Doubles at each power of two. */
	if ((procinfo->count & (procinfo->count - 1u)) == 0) {
		larger =
		    realloc(procinfo->modules, (procinfo->count ? (size_t)procinfo->count * 2 : 1) *
		                                   sizeof *procinfo->modules);
		if (!larger)
			return false;
		procinfo->modules = larger;
	}
	procinfo->modules[procinfo->count++] = module;
	return true;
}

/* What follows @word and a blank in @line; NULL: another word. */
static const char *behind(const char *line, const char *word)
{
	size_t length = strlen(word);

	return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static bool take_line(struct pxt_procinfo *procinfo, const char *line)
{
	struct pxt_log_process *process = &procinfo->process;
	const char *rest;

	if ((rest = behind(line, "executable")) != NULL)
		(void)snprintf(process->executable, sizeof process->executable, "%s", rest);
	else if ((rest = behind(line, "host")) != NULL)
		(void)snprintf(process->host, sizeof process->host, "%s", rest);
	else if ((rest = behind(line, "system")) != NULL)
		(void)snprintf(process->system, sizeof process->system, "%s", rest);
	else if ((rest = behind(line, "cpus")) != NULL)
		get_cpus(rest, &process->cpus);
	else if ((rest = behind(line, "started")) != NULL)
		get_started(rest, &process->start);
	else if ((rest = behind(line, "boot")) != NULL)
		get_boot(rest, process->boot_id);
	else if ((rest = behind(line, "module")) != NULL)
		return add_module(procinfo, rest);
	return true;
}

const char *pxt_procinfo_load(struct pxt_procinfo *procinfo, const struct pxt_found *stream)
{
	uint64_t bytes = stream->stream.procinfo_bytes;
	uint64_t got;
	const char *wrong = NULL;
	char *text;
	char *end;

	*procinfo = (struct pxt_procinfo){ 0 };
	if (!stream->stream.procinfo_at || stream->stream.procinfo_at > UINT64_MAX - stream->at)
		return NULL;
	bytes = bytes < TEXT_MAX ? bytes : TEXT_MAX;
	text = malloc((size_t)bytes + 1);
	if (!text)
		return "out of memory";
	got = pxt_image_read(stream->image, stream->at + stream->stream.procinfo_at, text, bytes);
	for (char *line = text; !wrong && line < text + got; line = end + 1) {
		end = memchr(line, '\n', (size_t)(text + got - line));
		if (!end)
			break;
		*end = '\0';
		if (!take_line(procinfo, line))
			wrong = "out of memory";
	}
	free(text);
	return wrong;
}

void pxt_procinfo_free(struct pxt_procinfo *procinfo)
{
	free(procinfo->modules);
	*procinfo = (struct pxt_procinfo){ 0 };
}
