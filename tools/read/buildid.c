/* SPDX-License-Identifier: MIT */
/* buildid.c - the identity of an ELF file; see buildid.h. */
#include "tools/read/buildid.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define PT_NOTE         4u
#define NT_GNU_BUILD_ID 3u
#define NOTES_MAX       4096u
#define HEADERS_MAX     256u

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

/* Looks for the build-id among notes: name length, data length, type, name, data, each padded. */
static size_t search_notes(
    const struct elf *elf, const unsigned char *notes, size_t bytes, unsigned char *id, size_t room)
{
	size_t at = 0;

	while (bytes - at >= 12) {
		uint64_t name = number(elf, notes + at, 4);
		uint64_t data = number(elf, notes + at + 4, 4);
		uint64_t type = number(elf, notes + at + 8, 4);

		if (name > bytes || data > bytes)
			return 0;
		size_t data_at = at + 12 + ((size_t)name + 3) / 4 * 4;
		size_t next = data_at + ((size_t)data + 3) / 4 * 4;
		if (data_at + data > bytes)
			return 0;
		if (type == NT_GNU_BUILD_ID && name == 4 &&
		    memcmp(notes + at + 12, "GNU", 4) == 0) {
			if (data > room)
				return 0;
			memcpy(id, notes + data_at, (size_t)data);
			return (size_t)data;
		}
		if (next > bytes)
			return 0;
		at = next;
	}
	return 0;
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

size_t pxt_build_id(int fd, unsigned char *id, size_t room)
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
		size_t length = search_notes(&elf, notes, (size_t)bytes, id, room);
		if (length > 0)
			return length;
	}
	return 0;
}
