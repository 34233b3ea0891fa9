/* SPDX-License-Identifier: MIT */
/* procinfo.c - executable, host, start and modules out of lines of text. */
#include "tools/recover/procinfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
