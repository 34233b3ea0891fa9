/* SPDX-License-Identifier: MIT */
/* modules.c - executable and shared libraries in memory, with their build-ids. */
#define _GNU_SOURCE
#include "port/port_sysinfo.h"
#include "port/posix/quiet.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>

struct walk {
	void (*each)(void *context, const struct pxt_port_module *module);
	void *context;
	bool first;
};

static size_t padded(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

/* A note: header, name, description, the latter two padded to 4 bytes. */
static void find_buildid(const unsigned char *notes, size_t bytes, struct pxt_port_module *module)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) head;
		size_t name_bytes;
		size_t data_bytes;

		memcpy(&head, notes, sizeof(head));
		notes += sizeof(head);
		bytes -= sizeof(head);
		name_bytes = padded(head.n_namesz);
		data_bytes = padded(head.n_descsz);
		if (name_bytes > bytes || data_bytes > bytes - name_bytes)
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
		    memcmp(notes, "GNU", 4) == 0 && head.n_descsz <= sizeof(module->buildid)) {
			module->buildid_bytes = head.n_descsz;
			memcpy(module->buildid, notes + name_bytes, head.n_descsz);
			return;
		}
		notes += name_bytes + data_bytes;
		bytes -= name_bytes + data_bytes;
	}
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
			find_buildid(notes, header->p_memsz, module);
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
		strncpy(module.path, info->dlpi_name, sizeof(module.path) - 1);
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
