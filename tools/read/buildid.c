/* SPDX-License-Identifier: MIT */
/* buildid.c - the identity of an ELF file; see buildid.h. */
#include "tools/read/buildid.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PT_NOTE     4u
#define NOTES_MAX   4096u
#define HEADERS_MAX 256u

struct elf {
	int fd;
	bool big;
	bool wide;
};

static uint64_t number(const struct elf *elf, const unsigned char *p, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)p[elf->big ? bytes - 1 - i : i] << 8 * i;
	return value;
}

static bool read_at(const struct elf *elf, void *to, size_t bytes, uint64_t offset)
{
	return offset <= INT64_MAX / 2 &&
	       pread(elf->fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool read_head(struct elf *elf, unsigned char head[64])
{
	if (!read_at(elf, head, 52, 0) || memcmp(head,
	                                      "\x7f"
	                                      "ELF",
	                                      4) != 0)
		return false;
	elf->wide = head[4] == 2;
	elf->big = head[5] == 2;
	return !elf->wide || read_at(elf, head, 64, 0);
}

uint64_t pxt_build_sections(int fd)
{
	struct elf elf = { .fd = fd };
	unsigned char head[64];
	unsigned char first[40];
	uint64_t count;

	if (!read_head(&elf, head))
		return 0;
	count = number(&elf, head + (elf.wide ? 60 : 48), 2);
	if (count != 0)
		return count;
	/* More than two bytes can say are in the first section's head. */
	return read_at(&elf, first, sizeof first,
	           elf.wide ? number(&elf, head + 40, 8) : number(&elf, head + 32, 4))
	           ? number(&elf, first + (elf.wide ? 32 : 20), elf.wide ? 8 : 4)
	           : 0;
}

size_t pxt_build_id(int fd, unsigned char id[PXT_BUILDID_MAX])
{
	struct elf elf = { .fd = fd };
	unsigned char head[64];

	if (!read_head(&elf, head))
		return 0;
	uint64_t table = elf.wide ? number(&elf, head + 32, 8) : number(&elf, head + 28, 4);
	uint64_t size = number(&elf, head + (elf.wide ? 54 : 42), 2);
	uint64_t count = number(&elf, head + (elf.wide ? 56 : 44), 2);
	if (size < (elf.wide ? 56u : 32u) || count > HEADERS_MAX)
		return 0;
	for (uint64_t i = 0; i < count; i++) {
		unsigned char entry[56];
		unsigned char notes[NOTES_MAX];

		if (!read_at(&elf, entry, elf.wide ? 56 : 32, table + i * size))
			return 0;
		if (number(&elf, entry, 4) != PT_NOTE)
			continue;
		uint64_t offset =
		    elf.wide ? number(&elf, entry + 8, 8) : number(&elf, entry + 4, 4);
		uint64_t bytes =
		    elf.wide ? number(&elf, entry + 32, 8) : number(&elf, entry + 16, 4);
		if (bytes > NOTES_MAX || !read_at(&elf, notes, (size_t)bytes, offset))
			continue;
		uint32_t length;
		const unsigned char *found =
		    pxt_elfnote_buildid(notes, (size_t)bytes, elf.big, &length);
		if (found) {
			memcpy(id, found, length);
			return length;
		}
	}
	return 0;
}

void pxt_build_text(const unsigned char *id, size_t bytes, char text[2 * PXT_BUILDID_MAX + 1])
{
	*text = '\0';
	for (size_t i = 0; i < bytes && i < PXT_BUILDID_MAX; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", id[i]);
}

void pxt_build_debug_path(const unsigned char *id, size_t bytes, char path[PXT_BUILD_DEBUG_ROOM])
{
	char text[2 * PXT_BUILDID_MAX + 1];

	pxt_build_text(id, bytes, text);
	(void)snprintf(path, PXT_BUILD_DEBUG_ROOM, "/usr/lib/debug/.build-id/%.2s/%s.debug", text,
	    bytes > 1 ? text + 2 : "");
}
