/* SPDX-License-Identifier: MIT */
/*
 * programkind.h - what kind of program a file is: whether the preload library can be loaded into it.  For pxtrace
 * run, and for the wrappers of exec.
 *
 *   concurrency: none of its own.
 *
 * The numbers are those of the ELF format.  A file of the other byte order is another processor's, and is
 * looked at no further.
 */
#ifndef PXT_PROGRAMKIND_H
#define PXT_PROGRAMKIND_H

#include "format/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PXT_PROGRAMKIND_LOADER 128u
#define PXT_PROGRAMKIND_PARTS  64u
#define PXT_PROGRAMKIND_WORDS  256u  /* entries of the table of what is to be loaded */
#define PXT_PROGRAMKIND_NOTES  1024u /* bytes of notes that are looked through */

struct pxt_programkind {
	bool is_elf;
	uint8_t wordsize; /* 1: 32 bits, 2: 64 */
	uint8_t order;
	uint16_t machine;
	/* Has a library that wants to be loaded before all others (AddressSanitizer). */
	bool wants_first;
	bool is_go;                          /* its locks are not the C library's */
	char loader[PXT_PROGRAMKIND_LOADER]; /* what loads its libraries; "": nothing does */
};

/* Bytes of the file; false: it has not so many. */
typedef bool pxt_programkind_read(void *context, uint64_t at, void *to, size_t bytes);

struct pxt_programkind_file {
	pxt_programkind_read *read;
	void *context;
	bool wide;
	uint64_t parts_at;
	uint32_t part_bytes;
	uint32_t parts;
};

struct pxt_programkind_part {
	uint32_t type;
	uint64_t offset;
	uint64_t address;
	uint64_t bytes;
};

PXT_INLINE uint64_t pxt_programkind_number(const unsigned char *from, bool wide)
{
	uint64_t large;
	uint32_t small;

	memcpy(&large, from, wide ? sizeof(large) : 0);
	memcpy(&small, from, wide ? 0 : sizeof(small));
	return wide ? large : small;
}

PXT_INLINE bool pxt_programkind_get_part(
    const struct pxt_programkind_file *file, uint32_t i, struct pxt_programkind_part *part)
{
	unsigned char bytes[56] = { 0 };
	size_t size = file->wide ? 56u : 32u;

	if (i >= file->parts || i >= PXT_PROGRAMKIND_PARTS || file->part_bytes < size ||
	    !file->read(
	        file->context, file->parts_at + (uint64_t)i * file->part_bytes, bytes, size))
		return false;
	memcpy(&part->type, bytes, sizeof(part->type));
	part->offset = pxt_programkind_number(bytes + (file->wide ? 8 : 4), file->wide);
	part->address = pxt_programkind_number(bytes + (file->wide ? 16 : 8), file->wide);
	part->bytes = pxt_programkind_number(bytes + (file->wide ? 32 : 16), file->wide);
	return true;
}

/* Where in the file that is what lies at @address in memory; 0: nowhere. */
PXT_INLINE uint64_t pxt_programkind_place(const struct pxt_programkind_file *file, uint64_t address)
{
	struct pxt_programkind_part part;

	for (uint32_t i = 0; pxt_programkind_get_part(file, i, &part); i++) {
		if (part.type == 1u && address - part.address < part.bytes)
			return part.offset + (address - part.address);
	}
	return 0;
}

PXT_INLINE bool pxt_programkind_is_first(const char *name)
{
	return strncmp(name, "libasan.so", 10) == 0 || strncmp(name, "libclang_rt.asan", 16) == 0;
}

/* Whether one of the libraries is such; the table is at @at, of at most @bytes. */
PXT_INLINE bool pxt_programkind_has_first(
    const struct pxt_programkind_file *file, uint64_t at, uint64_t bytes)
{
	size_t word = file->wide ? 8 : 4;
	uint64_t names = 0;

	/* First where the names are, then which. */
	for (int look = 0; look < 2; look++) {
		for (uint32_t i = 0;
		     i < PXT_PROGRAMKIND_WORDS && ((uint64_t)i + 1u) * 2u * word <= bytes; i++) {
			unsigned char entry[16] = { 0 };
			char name[32] = "";
			uint64_t tag;
			uint64_t value;

			if (!file->read(
			        file->context, at + (uint64_t)i * 2u * word, entry, 2u * word))
				return false;
			tag = pxt_programkind_number(entry, file->wide);
			value = pxt_programkind_number(entry + word, file->wide);
			if (tag == 0)
				break;
			if (tag == 5u)
				names = pxt_programkind_place(file, value);
			if (look == 1 && tag == 1u && names &&
			    file->read(file->context, names + value, name, sizeof(name) - 1u) &&
			    pxt_programkind_is_first(name))
				return true;
		}
	}
	return false;
}

/* Whether Go's linker has put its note into the file of @kind; notes have 12 bytes of numbers, a name and what it tells. */
PXT_INLINE bool pxt_programkind_is_go(
    const struct pxt_programkind_file *file, const struct pxt_programkind_part *part)
{
	uint64_t at = 0;

	while (part->type == 4u && at + 16u <= part->bytes && at < PXT_PROGRAMKIND_NOTES) {
		uint32_t note[4];

		if (!file->read(file->context, part->offset + at, note, sizeof(note)))
			return false;
		if (memcmp(&note[3], "Go\0", 4) == 0)
			return true;
		at += 12u + (((uint64_t)note[0] + 3u) & ~UINT64_C(3)) +
		      (((uint64_t)note[1] + 3u) & ~UINT64_C(3));
	}
	return false;
}

/* What the parts tell. */
PXT_INLINE void pxt_programkind_parts(
    const struct pxt_programkind_file *file, struct pxt_programkind *kind)
{
	struct pxt_programkind_part part;

	for (uint32_t i = 0; pxt_programkind_get_part(file, i, &part); i++) {
		size_t bytes = part.bytes < sizeof(kind->loader) ? (size_t)part.bytes
		                                                 : sizeof(kind->loader) - 1u;

		if (part.type == 3u && !file->read(file->context, part.offset, kind->loader, bytes))
			kind->loader[0] = '\0';
		if (part.type == 2u)
			kind->wants_first =
			    pxt_programkind_has_first(file, part.offset, part.bytes);
		kind->is_go |= pxt_programkind_is_go(file, &part);
	}
}

PXT_INLINE void pxt_programkind_get(
    struct pxt_programkind *kind, pxt_programkind_read *read, void *context)
{
	static const uint16_t one = 1;
	struct pxt_programkind_file file = { .read = read, .context = context };
	unsigned char head[64] = { 0 };
	uint16_t counts[2];

	memset(kind, 0, sizeof(*kind));
	if (!read(context, 0, head, 52) || memcmp(head, "\177ELF", 4) != 0)
		return;
	kind->is_elf = true;
	kind->wordsize = head[4];
	kind->order = head[5];
	memcpy(&kind->machine, head + 18, sizeof(kind->machine));
	file.wide = kind->wordsize == 2;
	if (kind->order != (*(const unsigned char *)&one ? 1 : 2) ||
	    (file.wide && !read(context, 0, head, 64)))
		return;
	file.parts_at = pxt_programkind_number(head + (file.wide ? 32 : 28), file.wide);
	memcpy(counts, head + (file.wide ? 54 : 42), sizeof(counts));
	file.part_bytes = counts[0];
	file.parts = counts[1];
	pxt_programkind_parts(&file, kind);
}

/* The name without its folders. */
PXT_INLINE const char *pxt_programkind_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
