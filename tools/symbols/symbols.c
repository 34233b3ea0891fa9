/* SPDX-License-Identifier: MIT */
/* symbols.c - program addresses as functions and lines, by symbols and DWARF (addr2line); see symbols.h. */
#include "tools/symbols/symbols.h"

#include "tools/output/out.h"
#include "tools/symbols/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

struct symbol {
	uint64_t address; /* in its module as it was linked, + 1: 0 is a free place */
	uint32_t module;
	char *text; /* NULL: not looked up yet */
	bool own;   /* the program's, not of a library's header */
	/* The function of the program into which the compiler put it; NULL: into none. */
	char *into;
};

#define NO_MODULE UINT32_MAX
#define VARIABLES 1024u

struct module {
	const char *path; /* as the log has it */
	bool checked;
	bool usable; /* the file is there and is the same build */
	bool opened;
	struct pxt_objects *objects; /* if it was opened: its variables, or NULL */
	char *file;                  /* where it is on this machine */
};

struct pxt_symbols {
	const struct pxt_source *source;
	const char *root;
	bool inherited; /* forked children trace into the stream, too */
	struct posix_trace_logmodule_np *table_of_log;
	uint32_t log_modules;
	struct pxt_images images;
	int64_t newest_ns;       /* of the events taken */
	struct module **modules; /* the log's, then one for each path of @images */
	uint32_t module_room;
	struct symbol *table; /* hash table of 2 * PXT_SYMBOLS_MAX at most */
	uint32_t size;
	uint32_t used;
	/* Wanted since the last look: of these nobody was asked yet. */
	struct fresh {
		uint32_t module;
		uint64_t key;
	} * fresh;
	uint32_t fresh_count;
	uint32_t fresh_room;
	uint32_t other_builds;       /* said */
	struct pxt_address *pending; /* wanted, before anything was known to be there */
	uint32_t pending_count;
	uint32_t pending_room;
	bool no_tool;
	/* Variables that were asked for: the same ones are asked for again and again. */
	struct variable {
		uint32_t module;
		uint64_t address; /* in it */
		char *text;       /* NULL: a free place; "": there is none */
	} variables[VARIABLES];
	char scratch[2048];
};

/* ---- Modules ---- */

static bool is_inherited(trace_id_t trid)
{
	trace_attr_t attr;

	return posix_trace_get_attr(trid, &attr) == 0 &&
	       attr._pxt_kept._pxt_inherit == POSIX_TRACE_INHERITED;
}

struct pxt_symbols *pxt_symbols_new(const struct pxt_source *source, const char *root)
{
	struct pxt_symbols *symbols = pxt_must(calloc(1, sizeof *symbols));
	uint32_t count = source->info.posix_modules_np;

	symbols->source = source;
	symbols->root = root ? root : "";
	symbols->inherited = is_inherited(source->trid);
	symbols->table_of_log = pxt_must(calloc(count + 1u, sizeof *symbols->table_of_log));
	for (uint32_t i = 0; i < count; i++)
		if (posix_trace_log_getmodule_np(source->trid, i,
		        &symbols->table_of_log[symbols->log_modules],
		        sizeof symbols->table_of_log[symbols->log_modules]) == 0)
			symbols->log_modules++;
	symbols->size = 256;
	symbols->table = pxt_must(calloc(symbols->size, sizeof *symbols->table));
	return symbols;
}

void pxt_symbols_free(struct pxt_symbols *symbols)
{
	for (uint32_t i = 0; i < symbols->size; i++) {
		free(symbols->table[i].text);
		free(symbols->table[i].into);
	}
	for (uint32_t i = 0; i < symbols->module_room; i++) {
		if (symbols->modules[i])
			pxt_objects_close(symbols->modules[i]->objects);
		free(symbols->modules[i] ? symbols->modules[i]->file : NULL);
		free(symbols->modules[i]);
	}
	for (unsigned i = 0; i < VARIABLES; i++)
		free(symbols->variables[i].text);
	pxt_images_free(&symbols->images);
	free(symbols->modules);
	free(symbols->pending);
	free(symbols->fresh);
	free(symbols->table_of_log);
	free(symbols->table);
	free(symbols);
}

void pxt_symbols_take(struct pxt_symbols *symbols, const struct pxt_event *event)
{
	if (symbols->newest_ns < event->ns)
		symbols->newest_ns = event->ns;
	pxt_images_take(&symbols->images, event);
}

struct pxt_address pxt_symbols_address(const struct pxt_event *event)
{
	struct pxt_address at = { .value = (uint64_t)(uintptr_t)event->info.posix_prog_address,
		.pid = event->info.posix_pid,
		.ns = event->ns };
	trace_event_id_t id = event->info.posix_event_id;

	if ((id == POSIX_TRACE_FUNCTION_ENTER_NP || id == POSIX_TRACE_FUNCTION_EXIT_NP) &&
	    event->bytes >= sizeof at.value) {
		memcpy(&at.value, event->data, sizeof at.value);
		at.begins = true;
	}
	return at;
}

/* The log's table is of its writer, and of the writer's children; what attaches has other images there. */
static bool has_table_of_log(const struct pxt_symbols *symbols, pid_t pid)
{
	pid_t writer = symbols->source->info.posix_pid_np;

	return pid == writer || pid == 0 || writer == 0 || symbols->inherited;
}

/* The module of a place, and where in it that is; NO_MODULE: none is known. */
static uint32_t module_of(
    const struct pxt_symbols *symbols, struct pxt_address at, uint64_t *address)
{
	*address = at.value;
	if (pxt_images_knows(&symbols->images, at.pid)) {
		const struct pxt_image *image =
		    pxt_images_find(&symbols->images, at.pid, at.value, at.ns);

		if (image)
			*address -= image->base;
		return image ? symbols->log_modules + image->file : NO_MODULE;
	}
	for (uint32_t i = 0; has_table_of_log(symbols, at.pid) && i < symbols->log_modules; i++) {
		const struct posix_trace_logmodule_np *info = &symbols->table_of_log[i];

		if (at.value < info->posix_low_np || at.value >= info->posix_high_np)
			continue;
		*address -= info->posix_base_np;
		return i;
	}
	return NO_MODULE;
}

static const char *path_of(const struct pxt_symbols *symbols, uint32_t index)
{
	return index < symbols->log_modules
	           ? symbols->table_of_log[index].posix_path_np
	           : symbols->images.files[index - symbols->log_modules].path;
}

const char *pxt_symbols_image(const struct pxt_symbols *symbols, struct pxt_address at)
{
	uint64_t address;
	uint32_t index = module_of(symbols, at, &address);

	return index == NO_MODULE ? NULL : path_of(symbols, index);
}

static struct module *module_at(struct pxt_symbols *symbols, uint32_t index)
{
	symbols->modules =
	    pxt_must_reach(symbols->modules, &symbols->module_room, index, sizeof(struct module *));
	if (!symbols->modules[index]) {
		symbols->modules[index] = pxt_must(calloc(1, sizeof(struct module)));
		symbols->modules[index]->path = path_of(symbols, index);
	}
	return symbols->modules[index];
}

/* ---- Builds ---- */

/* What was in memory. */
static struct pxt_build build_of(const struct pxt_symbols *symbols, uint32_t index)
{
	const struct posix_trace_logmodule_np *info = &symbols->table_of_log[index];
	struct pxt_build build = { .told = true };

	if (index >= symbols->log_modules)
		return symbols->images.files[index - symbols->log_modules].build;
	if (info->posix_buildid_bytes_np <= sizeof build.id) {
		build.bytes = (uint8_t)info->posix_buildid_bytes_np;
		memcpy(build.id, info->posix_buildid_np, build.bytes);
	}
	return build;
}

/* When the log says last that it was in memory. */
static int64_t told_ns(const struct pxt_symbols *symbols, uint32_t index)
{
	return index < symbols->log_modules
	           ? symbols->newest_ns
	           : symbols->images.files[index - symbols->log_modules].told_ns;
}

static void look_for(struct pxt_symbols *symbols, uint32_t index, struct module *module)
{
	const struct pxt_build build = build_of(symbols, index);

	module->usable = pxt_build_find(&build, symbols->root, module->path,
	    told_ns(symbols, index), &symbols->other_builds, &module->file);
}

static struct module *usable_module(struct pxt_symbols *symbols, uint32_t index)
{
	struct module *module = module_at(symbols, index);

	if (!module->checked)
		look_for(symbols, index, module);
	module->checked = true;
	return module->usable ? module : NULL;
}

/* ---- The table of addresses ---- */

static struct symbol *slot_of(const struct pxt_symbols *symbols, uint32_t module, uint64_t address)
{
	uint32_t at =
	    (uint32_t)(((address ^ (uint64_t)module << 48) * UINT64_C(0x9e3779b97f4a7c15)) >> 32);

	for (;; at++) {
		struct symbol *symbol = &symbols->table[at & (symbols->size - 1)];

		if (symbol->address == 0 ||
		    (symbol->address == address && symbol->module == module))
			return symbol;
	}
}

static void grow(struct pxt_symbols *symbols)
{
	struct symbol *old = symbols->table;
	uint32_t size = symbols->size;

	symbols->size *= 2;
	symbols->table = pxt_must(calloc(symbols->size, sizeof *symbols->table));
	for (uint32_t i = 0; i < size; i++)
		if (old[i].address != 0)
			*slot_of(symbols, old[i].module, old[i].address) = old[i];
	free(old);
}

/* A call is in the byte before the one that it returns to. */
static uint64_t key_of(struct pxt_address at, uint64_t address)
{
	return at.begins ? address + 1 : address;
}

static void want_in(struct pxt_symbols *symbols, uint32_t module, uint64_t key)
{
	struct symbol *symbol = slot_of(symbols, module, key);

	if (key == 0 || symbol->address != 0 || symbols->used == PXT_SYMBOLS_MAX)
		return;
	*symbol = (struct symbol){ .address = key, .module = module };
	if (++symbols->used * 2 > symbols->size)
		grow(symbols);
	symbols->fresh = pxt_must_grow(
	    symbols->fresh, &symbols->fresh_room, symbols->fresh_count, sizeof *symbols->fresh);
	symbols->fresh[symbols->fresh_count++] = (struct fresh){ .module = module, .key = key };
}

static void add_pending(struct pxt_symbols *symbols, struct pxt_address at)
{
	if (symbols->pending_count == PXT_SYMBOLS_MAX)
		return;
	symbols->pending = pxt_must_grow(symbols->pending, &symbols->pending_room,
	    symbols->pending_count, sizeof *symbols->pending);
	symbols->pending[symbols->pending_count++] = at;
}

void pxt_symbols_want(struct pxt_symbols *symbols, struct pxt_address at)
{
	uint64_t address;
	uint32_t module = at.value ? module_of(symbols, at, &address) : NO_MODULE;

	if (module != NO_MODULE)
		want_in(symbols, module, key_of(at, address));
	else if (at.value)
		add_pending(symbols, at);
}

/* Images may have been told of since. */
static void want_pending(struct pxt_symbols *symbols)
{
	for (uint32_t i = 0; i < symbols->pending_count; i++) {
		uint64_t address;
		uint32_t module = module_of(symbols, symbols->pending[i], &address);

		if (module != NO_MODULE)
			want_in(symbols, module, key_of(symbols->pending[i], address));
	}
	symbols->pending_count = 0;
}

/* ---- addr2line ---- */

/* "function (file:line)" from addr2line's two lines; NULL where it knew nothing. */
static char *symbol_text(char *function, char *place)
{
	char raw[700];
	char text[1024];

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

static const struct pxt_objects *objects_of(struct module *module)
{
	if (!module->opened)
		module->objects = pxt_objects_open(module->file);
	module->opened = true;
	return module->objects;
}

/* Without lines the answer is the nearest function before, though it may have ended long before. */
static bool is_wrong(struct module *module, const struct symbol *symbol, const char *place)
{
	const struct pxt_objects *objects = *place == '?' ? objects_of(module) : NULL;

	return objects && !pxt_objects_in_function(objects, symbol->address - 1);
}

/* addr2line's answers, a line ahead. */
struct answers {
	struct pxt_binutil *tool;
	bool ended;
	char line[1024];
};

static void next_line(struct answers *answers)
{
	answers->ended =
	    answers->ended || !pxt_binutil_line(answers->tool, answers->line, sizeof answers->line);
}

static bool is_head(const struct answers *answers)
{
	return strncmp(answers->line, "0x", 2) == 0;
}

/* Where a function of a library was put into its caller by the compiler, the caller is what tells. */
static bool is_of_library(const char *place)
{
	return strncmp(place, "/usr/include/", 13) == 0 || strstr(place, "/trace_points_np.h:") ||
	       strstr(place, "/include/c++/") || strncmp(place, "/rustc/", 7) == 0 ||
	       strstr(place, "/rustlib/src/");
}

/*
 * The address, then a function and its place for each that was put into the next one, innermost first:
 * the first one of the program itself, or else the last; and the next one of the program.
 */
static void take_answer(struct module *module, struct symbol *symbol, struct answers *answers)
{
	char function[sizeof answers->line];
	bool found = false;

	next_line(answers);
	while (!answers->ended && !is_head(answers)) {
		memcpy(function, answers->line, sizeof function);
		next_line(answers);
		if (answers->ended)
			break;
		if (found && !symbol->into && !is_of_library(answers->line)) {
			symbol->into = symbol_text(function, answers->line);
		} else if (!found && !is_wrong(module, symbol, answers->line)) {
			found = symbol->own = !is_of_library(answers->line);
			free(symbol->text);
			symbol->text = symbol_text(function, answers->line);
		}
		next_line(answers);
	}
}

/* What was asked first is answered first. */
static void take_answers(struct pxt_symbols *symbols, const struct fresh *fresh, uint32_t count,
    struct pxt_binutil *tool)
{
	struct answers answers = { .tool = tool };

	next_line(&answers);
	for (uint32_t i = 0; i < count && !answers.ended; i++) {
		struct symbol *symbol = slot_of(symbols, fresh[i].module, fresh[i].key);

		take_answer(symbols->modules[symbol->module], symbol, &answers);
	}
}

/* @count addresses of one module. */
static void resolve(
    struct pxt_symbols *symbols, const struct fresh *fresh, uint32_t count, char *file)
{
	char words[3][10] = { "addr2line", "-aifC", "-e" };
	char *argv[] = { words[0], words[1], words[2], file, NULL };
	struct pxt_binutil tool;
	bool missing = false;

	if (!pxt_binutil_new(&tool))
		return;
	for (uint32_t i = 0; i < count; i++)
		(void)fprintf(tool.in, "0x%llx\n", (unsigned long long)(fresh[i].key - 1));
	if (pxt_binutil_run(&tool, argv, &missing))
		take_answers(symbols, fresh, count, &tool);
	pxt_binutil_end(&tool);
	symbols->no_tool = missing;
	if (missing)
		pxt_complain(
		    "addr2line is not installed (Debian: binutils); addresses stay numbers");
}

static int by_module(const void *a, const void *b)
{
	const struct fresh *one = a;
	const struct fresh *other = b;

	if (one->module != other->module)
		return one->module < other->module ? -1 : 1;
	return (one->key > other->key) - (one->key < other->key);
}

void pxt_symbols_resolve(struct pxt_symbols *symbols)
{
	uint32_t count;

	want_pending(symbols);
	if (symbols->fresh_count > 0)
		qsort(symbols->fresh, symbols->fresh_count, sizeof *symbols->fresh, by_module);
	for (uint32_t i = 0; i < symbols->fresh_count && !symbols->no_tool; i += count) {
		const struct fresh *fresh = &symbols->fresh[i];
		struct module *module = usable_module(symbols, fresh->module);

		count = 1;
		while (i + count < symbols->fresh_count && fresh[count].module == fresh->module)
			count++;
		if (module)
			resolve(symbols, fresh, count, module->file);
	}
	symbols->fresh_count = 0;
}

uint32_t pxt_symbols_changes(const struct pxt_symbols *symbols, pid_t pid)
{
	return pxt_images_changes(&symbols->images, pid);
}

bool pxt_symbols_stays(const struct pxt_symbols *symbols, struct pxt_address at, int64_t ns)
{
	return pxt_images_find(&symbols->images, at.pid, at.value, at.ns) ==
	       pxt_images_find(&symbols->images, at.pid, at.value, ns);
}

/* ---- Text ---- */

static const char *escaped(struct pxt_symbols *symbols, const char *raw)
{
	(void)pxt_escape(raw, strlen(raw), symbols->scratch, sizeof symbols->scratch, NULL);
	return symbols->scratch;
}

const char *pxt_symbols_text(struct pxt_symbols *symbols, struct pxt_address at)
{
	uint64_t address;
	uint32_t module = module_of(symbols, at, &address);
	const struct symbol *symbol = slot_of(symbols, module, key_of(at, address));
	char raw[sizeof symbols->scratch / 4];

	if (symbol->address != 0 && symbol->text)
		return symbol->text;
	if (module == NO_MODULE) {
		(void)snprintf(raw, sizeof raw, "0x%llx", (unsigned long long)at.value);
	} else {
		const char *path = module_at(symbols, module)->path;
		const char *base = strrchr(path, '/');

		(void)snprintf(raw, sizeof raw, "%.80s+0x%llx", base ? base + 1 : path,
		    (unsigned long long)address);
	}
	return escaped(symbols, raw);
}

static const struct symbol *known(const struct pxt_symbols *symbols, struct pxt_address at)
{
	uint64_t address;
	uint32_t module = module_of(symbols, at, &address);
	const struct symbol *symbol = slot_of(symbols, module, key_of(at, address));

	return symbol->address != 0 ? symbol : NULL;
}

const char *pxt_symbols_own(const struct pxt_symbols *symbols, struct pxt_address at)
{
	const struct symbol *symbol = known(symbols, at);

	return symbol && symbol->own ? symbol->text : NULL;
}

const char *pxt_symbols_into(const struct pxt_symbols *symbols, struct pxt_address at)
{
	const struct symbol *symbol = known(symbols, at);

	return symbol ? symbol->into : NULL;
}

/* Escaped; "": there is none. */
static char *look_up(struct pxt_symbols *symbols, uint32_t index, uint64_t address)
{
	struct module *module = usable_module(symbols, index);
	const struct pxt_objects *objects = module ? objects_of(module) : NULL;
	char name[400];
	char raw[sizeof symbols->scratch / 4] = "";

	if (objects && pxt_objects_name(objects, address, name, sizeof name))
		pxt_binutil_demangle(name, raw, sizeof raw);
	return pxt_must(strdup(escaped(symbols, raw)));
}

const char *pxt_symbols_variable(struct pxt_symbols *symbols, struct pxt_address at)
{
	uint64_t address;
	uint32_t index = module_of(symbols, at, &address);
	struct variable *variable =
	    &symbols->variables[(address >> 3 ^ address >> 13 ^ index) % VARIABLES];

	if (index == NO_MODULE)
		return NULL;
	if (!variable->text || variable->module != index || variable->address != address) {
		free(variable->text);
		*variable = (struct variable){ .module = index,
			.address = address,
			.text = look_up(symbols, index, address) };
	}
	return *variable->text ? variable->text : NULL;
}
