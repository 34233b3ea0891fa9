/* SPDX-License-Identifier: MIT */
/* modules.c - executable and shared libraries in memory, with their build-ids. */
#define _GNU_SOURCE
#include "format/elfnote.h"
#include "port/port_sysinfo.h"
#include "port/posix/quiet.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

struct walk {
	void (*each)(void *context, const struct pxt_port_module *module);
	void *context;
	bool first;
};

static void take_buildid(const void *notes, size_t bytes, struct pxt_port_module *module)
{
	uint32_t length;
	const unsigned char *id = pxt_elfnote_buildid(notes, bytes, PXT_ELFNOTE_BIG, &length);

	if (!id)
		return;
	module->buildid_bytes = length;
	memcpy(module->buildid, id, length);
}

static void note_segments(const struct dl_phdr_info *info, struct pxt_port_module *module)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t at = (uint64_t)info->dlpi_addr + header->p_vaddr;

		/* Notes outside every loaded segment exist in the file only. */
		if (header->p_type != PT_NOTE || at < module->low ||
		    header->p_memsz > module->high - at)
			continue;
		/* The loader gives addresses as numbers. */
		const void *notes =
		    (const void *)(uintptr_t)at; /* NOLINT(performance-no-int-to-ptr) */

		if (module->buildid_bytes == 0)
			take_buildid(notes, header->p_memsz, module);
	}
}

static void load_segments(const struct dl_phdr_info *info, struct pxt_port_module *module)
{
	module->low = UINT64_MAX;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t low = (uint64_t)info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		if (low < module->low)
			module->low = low;
		if (low + header->p_memsz > module->high)
			module->high = low + header->p_memsz;
	}
}

/* Absolute, if it can be: "./plugin.so" is below the folder that dlopen() was called in, as a rule. */
static void take_path(const char *name, char *path, size_t room)
{
	size_t bytes = strnlen(name, room - 1);

	if (*name != '/' && memchr(name, '/', bytes) && bytes + 2 < room &&
	    getcwd(path, room - bytes - 1))
		(void)strcat(path, "/");
	else
		*path = '\0';
	(void)strncat(path, name, room - 1 - strlen(path));
}

static int on_module(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct walk *walk = argument;
	struct pxt_port_module module;

	(void)size;
	memset(&module, 0, sizeof(module));
	module.base = (uint64_t)info->dlpi_addr;
	load_segments(info, &module);
	if (module.high == 0)
		return 0;
	note_segments(info, &module);
	if (walk->first)
		pxt_port_executable(module.path, sizeof(module.path));
	else if (info->dlpi_name != NULL)
		take_path(info->dlpi_name, module.path, sizeof(module.path));
	walk->first = false;
	walk->each(walk->context, &module);
	return 0;
}

void pxt_port_modules(
    void (*each)(void *context, const struct pxt_port_module *module), void *context)
{
	struct walk walk = { each, context, true };
	struct pxt_quiet quiet = pxt_quiet_begin();

	(void)dl_iterate_phdr(on_module, &walk);
	pxt_quiet_end(quiet);
}
