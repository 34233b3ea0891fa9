/* SPDX-License-Identifier: MIT */
/* objects_elf.c - names of variables, out of a binary's symbols, by libelf. */
#include "tools/read/objects.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <unistd.h>

struct found {
	Elf *elf;
	size_t names; /* the section with the text */
	GElf_Sym symbol;
	bool is_found;
};

static void look_in(struct found *found, Elf_Scn *section, const GElf_Shdr *head, uint64_t address)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && head->sh_entsize ? data->d_size / head->sh_entsize : 0;

	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		GElf_Sym symbol;

		if (gelf_getsym(data, (int)i, &symbol) &&
		    GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && address >= symbol.st_value &&
		    address - symbol.st_value < symbol.st_size) {
			found->symbol = symbol;
			found->names = head->sh_link;
			found->is_found = true;
			return;
		}
	}
}

static void look(struct found *found, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	while (!found->is_found && (section = elf_nextscn(found->elf, section)) != NULL)
		if (gelf_getshdr(section, &head) &&
		    (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM))
			look_in(found, section, &head, address);
}

bool pxt_objects_name(const char *file, uint64_t address, char *name, size_t room)
{
	struct found found = { 0 };
	const char *text = NULL;
	int fd;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return false;
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	found.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (found.elf)
		look(&found, address);
	if (found.is_found)
		text = elf_strptr(found.elf, found.names, found.symbol.st_name);
	if (text && address == found.symbol.st_value)
		(void)snprintf(name, room, "%s", text);
	else if (text)
		(void)snprintf(name, room, "%s+%llu", text,
		    (unsigned long long)(address - found.symbol.st_value));
	(void)elf_end(found.elf);
	(void)close(fd);
	return text != NULL;
}
