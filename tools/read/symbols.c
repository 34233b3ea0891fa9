/* SPDX-License-Identifier: MIT */
/* symbols.c - program addresses as functions and lines; see symbols.h. */
#include "tools/read/symbols.h"

#include "tools/output/escape.h"
#include "tools/output/say.h"
#include "tools/read/buildid.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct symbol {
	uint64_t address;
	uint32_t module; /* index, or NO_MODULE */
	char *text;      /* NULL: not looked up yet */
};

#define NO_MODULE UINT32_MAX

struct module {
	struct posix_trace_logmodule_np info;
	bool of_event; /* which tells of no build */
	bool checked;
	bool usable; /* the file is there and is the same build */
	char file[512];
};

struct pxt_symbols {
	const struct pxt_source *source;
	const char *root;
	struct module *modules;
	uint32_t module_count;
	struct symbol *table; /* hash table of 2 * PXT_SYMBOLS_MAX at most */
	uint32_t size;
	uint32_t used;
	bool no_tool;
	char scratch[512];
};

/* ---- Modules ---- */

struct pxt_symbols *pxt_symbols_new(const struct pxt_source *source, const char *root)
{
	struct pxt_symbols *symbols = pxt_must(calloc(1, sizeof *symbols));
	uint32_t count = source->info.posix_modules_np;

	symbols->source = source;
	symbols->root = root ? root : "";
	symbols->modules = pxt_must(calloc(count + 1u, sizeof *symbols->modules));
	for (uint32_t i = 0; i < count; i++) {
		struct posix_trace_logmodule_np *info =
		    &symbols->modules[symbols->module_count].info;

		if (posix_trace_log_getmodule_np(source->trid, i, info) == 0)
			symbols->module_count++;
	}
	symbols->size = 256;
	symbols->table = pxt_must(calloc(symbols->size, sizeof *symbols->table));
	return symbols;
}

struct pxt_symbols *pxt_symbols_of_process(
    const struct pxt_source *source, const struct pxt_images *images, pid_t pid)
{
	struct pxt_symbols *symbols = pxt_symbols_new(source, NULL);
	uint32_t count = 0;

	for (uint32_t i = 0; i < images->count; i++)
		count += images->list[i].pid == pid;
	if (count == 0)
		return symbols;
	free(symbols->modules);
	symbols->modules = pxt_must(calloc(count, sizeof *symbols->modules));
	symbols->module_count = 0;
	/* What was mapped last is what is there. */
	for (uint32_t i = images->count; i > 0; i--)
		if (images->list[i - 1].pid == pid)
			symbols->modules[symbols->module_count++] =
			    (struct module){ .info = images->list[i - 1].module, .of_event = true };
	return symbols;
}

void pxt_symbols_free(struct pxt_symbols *symbols)
{
	for (uint32_t i = 0; i < symbols->size; i++)
		free(symbols->table[i].text);
	free(symbols->table);
	free(symbols->modules);
	free(symbols);
}

static uint32_t module_of(const struct pxt_symbols *symbols, uint64_t address)
{
	for (uint32_t i = 0; i < symbols->module_count; i++)
		if (address >= symbols->modules[i].info.posix_low_np &&
		    address < symbols->modules[i].info.posix_high_np)
			return i;
	return NO_MODULE;
}

/* The path comes from the log: only an absolute path to a regular file is touched, read-only. */
static bool same_build(const struct module *module, const char *file)
{
	const struct posix_trace_logmodule_np *info = &module->info;
	unsigned char id[64];
	struct stat st;

	if (stat(file, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if (module->of_event)
		return true;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	size_t bytes = pxt_build_id(fd, id, sizeof id);
	(void)close(fd);
	if (bytes == info->posix_buildid_bytes_np && memcmp(id, info->posix_buildid_np, bytes) == 0)
		return true;
	pxt_complain(
	    "%s: is another build than the one that was traced; its addresses stay numbers", file);
	return false;
}

static bool check_module(struct pxt_symbols *symbols, struct module *module)
{
	if (!module->checked) {
		int bytes = snprintf(module->file, sizeof module->file, "%s%s", symbols->root,
		    module->info.posix_path_np);

		module->checked = true;
		module->usable = module->info.posix_path_np[0] == '/' && bytes > 0 &&
		                 (size_t)bytes < sizeof module->file &&
		                 same_build(module, module->file);
	}
	return module->usable;
}

/* ---- The table of addresses ---- */

static struct symbol *slot_of(const struct pxt_symbols *symbols, uint64_t address)
{
	uint32_t at = (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32);

	while (symbols->table[at & (symbols->size - 1)].address != 0 &&
	       symbols->table[at & (symbols->size - 1)].address != address)
		at++;
	return &symbols->table[at & (symbols->size - 1)];
}

static void grow(struct pxt_symbols *symbols)
{
	struct symbol *old = symbols->table;
	uint32_t size = symbols->size;

	symbols->size *= 2;
	symbols->table = pxt_must(calloc(symbols->size, sizeof *symbols->table));
	for (uint32_t i = 0; i < size; i++)
		if (old[i].address != 0)
			*slot_of(symbols, old[i].address) = old[i];
	free(old);
}

void pxt_symbols_want(struct pxt_symbols *symbols, uint64_t address)
{
	struct symbol *symbol = slot_of(symbols, address);

	if (address == 0 || symbol->address == address || symbols->used == PXT_SYMBOLS_MAX)
		return;
	*symbol = (struct symbol){ .address = address, .module = module_of(symbols, address) };
	if (++symbols->used * 2 > symbols->size)
		grow(symbols);
}

/* ---- addr2line ---- */

/* Starts it with the addresses in @in; returns a stream of its output, or NULL. */
static FILE *start_tool(struct pxt_symbols *symbols, char *file, FILE *in, pid_t *pid)
{
	char words[4][10] = { "addr2line", "-f", "-C", "-e" };
	char *argv[] = { words[0], words[1], words[2], words[3], file, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2];

	if (pipe(ends) != 0)
		return NULL;
	int error = posix_spawn_file_actions_init(&actions);
	if (error == 0) {
		(void)posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
		(void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		(void)posix_spawn_file_actions_addclose(&actions, ends[0]);
		(void)posix_spawn_file_actions_addopen(
		    &actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		error = posix_spawnp(pid, "addr2line", &actions, NULL, argv, environ);
		(void)posix_spawn_file_actions_destroy(&actions);
	}
	(void)close(ends[1]);
	FILE *out = error == 0 ? fdopen(ends[0], "r") : NULL;
	if (!out)
		(void)close(ends[0]);
	if (error == ENOENT && !symbols->no_tool) {
		symbols->no_tool = true;
		pxt_complain(
		    "addr2line is not installed (Debian: binutils); addresses stay numbers");
	}
	return out;
}

/* "function (file:line)" from addr2line's two lines; NULL where it knew nothing. */
static char *symbol_text(char *function, char *place)
{
	char raw[700];
	char text[1024];

	function[strcspn(function, "\n")] = '\0';
	place[strcspn(place, "\n")] = '\0';
	place[strcspn(place, " ")] = '\0'; /* "(discriminator 2)" */
	if (strcmp(function, "??") == 0)
		return NULL;
	const char *base = strrchr(place, '/');
	base = base ? base + 1 : place;
	/* Without debugging information: "file.c:?" or "??:0". */
	char *line = strrchr(place, ':');
	if (line && line[1] == '?')
		*line = '\0';
	if (*base == '?')
		(void)snprintf(raw, sizeof raw, "%.200s", function);
	else
		(void)snprintf(raw, sizeof raw, "%.200s (%.300s)", function, base);
	(void)pxt_escape(raw, strlen(raw), text, sizeof text, NULL);
	size_t bytes = strlen(text) + 1;
	return memcpy(pxt_must(malloc(bytes)), text, bytes);
}

/* Both walk the table in the same order: what was asked first is answered first. */
static void ask(struct pxt_symbols *symbols, uint32_t module, FILE *in)
{
	uint64_t base = symbols->modules[module].info.posix_base_np;

	for (uint32_t i = 0; i < symbols->size; i++) {
		const struct symbol *symbol = &symbols->table[i];

		/* The address is where the call returns to: the call is the byte before. */
		if (symbol->address != 0 && !symbol->text && symbol->module == module)
			(void)fprintf(
			    in, "0x%llx\n", (unsigned long long)(symbol->address - base - 1));
	}
	(void)fflush(in);
	rewind(in);
}

static void take_answers(struct pxt_symbols *symbols, uint32_t module, FILE *out)
{
	char function[512];
	char place[512];

	for (uint32_t i = 0; i < symbols->size; i++) {
		struct symbol *symbol = &symbols->table[i];

		if (symbol->address == 0 || symbol->text || symbol->module != module)
			continue;
		if (!fgets(function, sizeof function, out) || !fgets(place, sizeof place, out))
			return;
		symbol->text = symbol_text(function, place);
	}
}

void pxt_symbols_resolve(struct pxt_symbols *symbols)
{
	for (uint32_t i = 0; i < symbols->module_count && !symbols->no_tool; i++) {
		bool any = false;
		pid_t pid;

		for (uint32_t k = 0; k < symbols->size && !any; k++)
			any = symbols->table[k].address != 0 && !symbols->table[k].text &&
			      symbols->table[k].module == i;
		if (!any || !check_module(symbols, &symbols->modules[i]))
			continue;
		FILE *in = tmpfile();
		if (!in)
			return;
		ask(symbols, i, in);
		FILE *out = start_tool(symbols, symbols->modules[i].file, in, &pid);
		if (out) {
			take_answers(symbols, i, out);
			(void)fclose(out);
			while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
				;
		}
		(void)fclose(in);
	}
}

/* ---- Text ---- */

const char *pxt_symbols_text(struct pxt_symbols *symbols, uint64_t address)
{
	const struct symbol *symbol = slot_of(symbols, address);
	char raw[sizeof symbols->scratch / 4];

	if (symbol->address == address && symbol->text)
		return symbol->text;
	uint32_t module = symbol->address == address ? symbol->module : module_of(symbols, address);
	if (module == NO_MODULE) {
		(void)snprintf(raw, sizeof raw, "0x%llx", (unsigned long long)address);
	} else {
		const struct posix_trace_logmodule_np *info = &symbols->modules[module].info;
		const char *base = strrchr(info->posix_path_np, '/');

		(void)snprintf(raw, sizeof raw, "%.80s+0x%llx",
		    base ? base + 1 : info->posix_path_np,
		    (unsigned long long)(address - info->posix_base_np));
	}
	(void)pxt_escape(raw, strlen(raw), symbols->scratch, sizeof symbols->scratch, NULL);
	return symbols->scratch;
}
