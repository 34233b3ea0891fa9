/* SPDX-License-Identifier: MIT */
/* objects_elf.c - names of variables, and where functions lie, out of a binary's symbols, by libelf. */
#include "tools/symbols/symbols.h"

#include "tools/output/out.h"

#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINK_BYTES   256u
/* Variables inside of others (aliases, members that have symbols): how many are looked at. */
#define NEAR_MAX     8u
/* -ffunction-sections makes many, but not so many. */
#define SECTIONS_MAX 262144u

struct object {
	uint64_t value;
	uint64_t size;
	const char *name; /* in a file that stays open */
};

struct pxt_objects {
	struct file {
		int fd;
		Elf *elf;
	} files[2];
	unsigned file_count;
	uint64_t bytes; /* of its tables, as they are in the files */
	bool whole;     /* a table with all symbols was there, not those for the linker alone */
	struct table {
		struct object *list;
		uint32_t count;
		uint32_t room;
	} variables, functions;
};

static void add(struct table *table, const GElf_Sym *symbol, const char *name)
{
	table->list = pxt_must_grow(table->list, &table->room, table->count, sizeof *table->list);
	table->list[table->count++] =
	    (struct object){ .value = symbol->st_value, .size = symbol->st_size, .name = name };
}

/* Bytes of the tables of all files that are open. */
static uint64_t all_bytes;

/* The section's, and those of its names: false, it is too much. */
static bool reserve_bytes(struct pxt_objects *objects, Elf *elf, const GElf_Shdr *head)
{
	Elf_Scn *names = elf_getscn(elf, head->sh_link);
	GElf_Shdr names_head;
	uint64_t bytes = head->sh_size;

	if (!names || !gelf_getshdr(names, &names_head) || names_head.sh_size > UINT64_MAX - bytes)
		return false;
	bytes += names_head.sh_size;
	if (bytes > PXT_OBJECTS_BYTES_MAX - all_bytes)
		return false;
	all_bytes += bytes;
	objects->bytes += bytes;
	return true;
}

static void take_table(
    struct pxt_objects *objects, Elf *elf, Elf_Scn *section, const GElf_Shdr *head)
{
	Elf_Data *data = reserve_bytes(objects, elf, head) ? elf_getdata(section, NULL) : NULL;
	size_t count = data && head->sh_entsize ? data->d_size / head->sh_entsize : 0;

	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_size == 0)
			continue;
		name = elf_strptr(elf, head->sh_link, symbol.st_name);
		if (!name || !*name)
			continue;
		if (GELF_ST_TYPE(symbol.st_info) == STT_OBJECT)
			add(&objects->variables, &symbol, name);
		else if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
			add(&objects->functions, &symbol, name);
	}
}

/* False: it cannot be read. */
static bool take_file(struct pxt_objects *objects, const char *path)
{
	struct file *file = &objects->files[objects->file_count];
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	bool taken[2] = { false, false };

	file->fd = pxt_open_plain(path);
	if (file->fd < 0)
		return false;
	/* elf_begin() takes memory for as many as the file says. */
	if (pxt_build_sections(file->fd) <= SECTIONS_MAX)
		file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (!file->elf) {
		(void)close(file->fd);
		return false;
	}
	objects->file_count++;
	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		if (!gelf_getshdr(section, &head) ||
		    (head.sh_type != SHT_SYMTAB && head.sh_type != SHT_DYNSYM) ||
		    taken[head.sh_type == SHT_SYMTAB])
			continue;
		taken[head.sh_type == SHT_SYMTAB] = true;
		objects->whole = objects->whole || head.sh_type == SHT_SYMTAB;
		take_table(objects, file->elf, section, &head);
	}
	return true;
}

/* The name that objcopy --add-gnu-debuglink gave; "": none. */
static void read_link(Elf *elf, char name[LINK_BYTES])
{
	size_t names;
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	*name = '\0';
	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const char *known =
		    gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
		Elf_Data *data;

		if (!known || strcmp(known, ".gnu_debuglink") != 0 || head.sh_size > LINK_BYTES)
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf && memchr(data->d_buf, '\0', data->d_size) &&
		    !strchr(data->d_buf, '/'))
			(void)strcpy(name, data->d_buf);
		return;
	}
}

/* False: it is not there, or is of another build. */
static bool take_debug_file(struct pxt_objects *objects, const char *path)
{
	unsigned char wanted[PXT_BUILDID_MAX];
	unsigned char id[PXT_BUILDID_MAX];
	size_t bytes = pxt_build_id(objects->files[0].fd, wanted);
	int fd = pxt_open_plain(path);
	bool same = fd >= 0 && pxt_build_id(fd, id) == bytes && memcmp(id, wanted, bytes) == 0;

	if (fd >= 0)
		(void)close(fd);
	return same && bytes > 0 && take_file(objects, path);
}

/* What was stripped from a file is below its build-id, or where its link says, if it is there at all. */
static void take_debug_files(struct pxt_objects *objects, const char *file)
{
	static const char *const before[] = { "", "", "/usr/lib/debug" };
	static const char *const below[] = { "", ".debug/", "" };
	unsigned char id[PXT_BUILDID_MAX];
	char path[PATH_MAX];
	char link[LINK_BYTES];
	const char *base = strrchr(file, '/');
	int folder = base ? (int)(base + 1 - file) : 0;

	pxt_build_debug_path(id, pxt_build_id(objects->files[0].fd, id), path);
	if (take_debug_file(objects, path))
		return;
	read_link(objects->files[0].elf, link);
	for (unsigned i = 0; i < 3 && *link; i++) {
		int length = snprintf(
		    path, sizeof path, "%s%.*s%s%s", before[i], folder, file, below[i], link);

		if (length > 0 && (size_t)length < sizeof path && take_debug_file(objects, path))
			return;
	}
}

static int by_value(const void *a, const void *b)
{
	const struct object *x = a;
	const struct object *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void sort(struct table *table)
{
	if (table->count > 0)
		qsort(table->list, table->count, sizeof *table->list, by_value);
}

/* What is wanted was read: no more descriptors than files that are read at once. */
static void let_go(struct file *file)
{
	if (file->fd < 0)
		return;
	(void)elf_cntl(file->elf, ELF_C_FDDONE);
	(void)close(file->fd);
	file->fd = -1;
}

struct pxt_objects *pxt_objects_open(const char *file)
{
	struct pxt_objects *objects;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	objects = pxt_must(calloc(1, sizeof *objects));
	if (take_file(objects, file) && !objects->whole)
		take_debug_files(objects, file);
	if (objects->variables.count + objects->functions.count == 0) {
		pxt_objects_close(objects);
		return NULL;
	}
	for (unsigned i = 0; i < objects->file_count; i++)
		let_go(&objects->files[i]);
	sort(&objects->variables);
	sort(&objects->functions);
	return objects;
}

static const struct object *find(const struct table *table, uint64_t address)
{
	size_t low = 0;
	size_t high = table->count;

	/* The first one behind the address: those before it are the nearest that may have it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->list[middle].value <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < NEAR_MAX; i--)
		if (address - table->list[i - 1].value < table->list[i - 1].size)
			return &table->list[i - 1];
	return NULL;
}

bool pxt_objects_name(const struct pxt_objects *objects, uint64_t address, char *name, size_t room)
{
	const struct object *object = find(&objects->variables, address);

	if (!object)
		return false;
	if (address == object->value)
		(void)snprintf(name, room, "%s", object->name);
	else
		(void)snprintf(name, room, "%s+%llu", object->name,
		    (unsigned long long)(address - object->value));
	return true;
}

bool pxt_objects_in_function(const struct pxt_objects *objects, uint64_t address)
{
	return find(&objects->functions, address) != NULL;
}

void pxt_objects_close(struct pxt_objects *objects)
{
	if (!objects)
		return;
	for (unsigned i = 0; i < objects->file_count; i++) {
		let_go(&objects->files[i]);
		(void)elf_end(objects->files[i].elf);
	}
	all_bytes -= objects->bytes;
	free(objects->variables.list);
	free(objects->functions.list);
	free(objects);
}
