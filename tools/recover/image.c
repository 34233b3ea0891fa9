/* SPDX-License-Identifier: MIT */
/* image.c - the parts of a core file (ELF), of a dump or of a stream's file, and bytes out of them; its head. */
#include "tools/recover/recover.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The file ---- */

static uint64_t read_file(int fd, uint64_t offset, void *to, uint64_t bytes)
{
	unsigned char *at = to;
	uint64_t done = 0;

	while (done < bytes) {
		uint64_t wanted = bytes - done < 1u << 30 ? bytes - done : 1u << 30;
		ssize_t got = pread(fd, at + done, (size_t)wanted, (off_t)(offset + done));

		if (got > 0)
			done += (uint64_t)got;
		else if (got == 0 || errno != EINTR)
			break;
	}
	return done;
}

/* ---- ELF ---- */

/* What the two classes and the two byte orders have in common. */
struct elf {
	int fd;
	uint64_t size;
	bool wide;
	bool swapped;
	uint64_t headers_at;
	uint64_t header_bytes;
	uint64_t headers;
};

static uint64_t number(const struct elf *elf, const unsigned char *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * (elf->swapped ? bytes - 1 - i : i);
	return value;
}

/* A member of one of two structures that differ in widths alone. */
#define MEMBER(elf, raw, type, name)                                                               \
	((elf)->wide ? number(elf, (raw) + offsetof(Elf64_##type, name),                           \
	                   sizeof(((Elf64_##type *)0)->name))                                      \
	             : number(elf, (raw) + offsetof(Elf32_##type, name),                           \
	                   sizeof(((Elf32_##type *)0)->name)))

/* More program headers than the head of the file can tell are in the first section header. */
static bool count_headers(struct elf *elf, const unsigned char *head)
{
	unsigned char section[sizeof(Elf64_Shdr)] = { 0 };
	uint64_t at = MEMBER(elf, head, Ehdr, e_shoff);

	if (elf->headers != PN_XNUM)
		return true;
	if (at >= elf->size || !read_file(elf->fd, at, section, sizeof section))
		return false;
	elf->headers = MEMBER(elf, section, Shdr, sh_info);
	return true;
}

/* False: it is no core file. */
static bool begin_elf(struct elf *elf, const unsigned char *head)
{
	uint64_t least;

	if (memcmp(head, ELFMAG, SELFMAG) != 0 ||
	    (head[EI_CLASS] != ELFCLASS32 && head[EI_CLASS] != ELFCLASS64) ||
	    (head[EI_DATA] != ELFDATA2LSB && head[EI_DATA] != ELFDATA2MSB))
		return false;
	elf->wide = head[EI_CLASS] == ELFCLASS64;
	elf->swapped = head[EI_DATA] == ELFDATA2MSB;
	least = elf->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (MEMBER(elf, head, Ehdr, e_type) != ET_CORE)
		return false;
	elf->headers_at = MEMBER(elf, head, Ehdr, e_phoff);
	elf->header_bytes = MEMBER(elf, head, Ehdr, e_phentsize);
	elf->headers = MEMBER(elf, head, Ehdr, e_phnum);
	if (elf->header_bytes < least || elf->headers_at >= elf->size || !count_headers(elf, head))
		elf->headers = 0;
	else if (elf->headers > (elf->size - elf->headers_at) / elf->header_bytes)
		elf->headers = (elf->size - elf->headers_at) / elf->header_bytes;
	return true;
}

/* What of the segment is in the file. */
static bool get_part(const struct elf *elf, uint64_t index, struct pxt_image_part *part)
{
	unsigned char raw[sizeof(Elf64_Phdr)] = { 0 };

	(void)read_file(elf->fd, elf->headers_at + index * elf->header_bytes, raw, sizeof raw);
	if (MEMBER(elf, raw, Phdr, p_type) != PT_LOAD)
		return false;
	part->at = MEMBER(elf, raw, Phdr, p_vaddr);
	part->offset = MEMBER(elf, raw, Phdr, p_offset);
	part->bytes = MEMBER(elf, raw, Phdr, p_filesz);
	if (part->offset >= elf->size)
		return false;
	if (part->bytes > elf->size - part->offset)
		part->bytes = elf->size - part->offset;
	/* None ends after the last address. */
	if (part->bytes > UINT64_MAX - part->at)
		part->bytes = UINT64_MAX - part->at;
	return part->bytes > 0;
}

static int by_address(const void *a, const void *b)
{
	const struct pxt_image_part *one = a;
	const struct pxt_image_part *other = b;

	return (one->at > other->at) - (one->at < other->at);
}

/* What two parts claim belongs to the one in front; together they are no more than the file. */
static void order_parts(struct pxt_image *image)
{
	uint64_t left = image->size;
	uint64_t end = 0;
	size_t kept = 0;

	qsort(image->parts, image->count, sizeof *image->parts, by_address);
	for (size_t i = 0; i < image->count; i++) {
		struct pxt_image_part part = image->parts[i];
		uint64_t skip = part.at < end ? end - part.at : 0;

		if (skip >= part.bytes || !left)
			continue;
		part.at += skip;
		part.offset += skip;
		part.bytes -= skip;
		if (part.bytes > left)
			part.bytes = left;
		left -= part.bytes;
		end = part.at + part.bytes;
		image->parts[kept++] = part;
	}
	image->count = kept;
	for (size_t i = kept; i-- > 0;) {
		struct pxt_image_part *part = &image->parts[i];

		part->end = part->at + part->bytes;
		if (i + 1 < kept && part->end == image->parts[i + 1].at)
			part->end = image->parts[i + 1].end;
	}
}

static const char *take_parts(struct pxt_image *image, const struct elf *elf)
{
	image->core = true;
	image->parts = calloc(elf->headers ? (size_t)elf->headers : 1, sizeof *image->parts);
	if (!image->parts)
		return "out of memory";
	for (uint64_t i = 0; i < elf->headers; i++)
		image->count += get_part(elf, i, &image->parts[image->count]);
	order_parts(image);
	return NULL;
}

/* ---- Open and close ---- */

static const char *take_file(struct pxt_image *image)
{
	image->parts = calloc(1, sizeof *image->parts);
	if (!image->parts)
		return "out of memory";
	image->parts[0].bytes = image->size;
	image->count = image->size > 0;
	order_parts(image);
	return NULL;
}

const char *pxt_image_open(struct pxt_image *image, const char *path, int fd)
{
	unsigned char head[sizeof(Elf64_Ehdr)] = { 0 };
	struct elf elf = { .fd = fd };
	struct stat st;

	*image = (struct pxt_image){ .path = path, .fd = fd };
	if (fstat(fd, &st) != 0 || st.st_size < 0)
		return "its size is not known";
	image->size = (uint64_t)st.st_size;
	elf.size = image->size;
	(void)read_file(fd, 0, head, sizeof head);
	return begin_elf(&elf, head) ? take_parts(image, &elf) : take_file(image);
}

void pxt_image_close(struct pxt_image *image)
{
	free(image->parts);
	if (image->fd >= 0)
		(void)close(image->fd);
	*image = (struct pxt_image){ .fd = -1 };
}

/* ---- Bytes ---- */

/* The part that holds @at; NULL: none does. */
static const struct pxt_image_part *part_at(const struct pxt_image *image, uint64_t at)
{
	size_t low = 0;
	size_t high = image->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct pxt_image_part *part = &image->parts[middle];

		if (at < part->at)
			high = middle;
		else if (at - part->at >= part->bytes)
			low = middle + 1;
		else
			return part;
	}
	return NULL;
}

uint64_t pxt_image_row(const struct pxt_image *image, uint64_t at)
{
	const struct pxt_image_part *part = part_at(image, at);

	return part ? part->end - at : 0;
}

uint64_t pxt_image_read(const struct pxt_image *image, uint64_t at, void *to, uint64_t bytes)
{
	const struct pxt_image_part *part = part_at(image, at);
	uint64_t done = 0;

	for (; part && done < bytes && part < image->parts + image->count; part++) {
		uint64_t skip = at + done - part->at;
		uint64_t most = part->bytes - skip;
		uint64_t wanted = bytes - done < most ? bytes - done : most;
		uint64_t got =
		    read_file(image->fd, part->offset + skip, (unsigned char *)to + done, wanted);

		done += got;
		if (got < wanted || part->at + part->bytes == part->end)
			break;
	}
	return done;
}

/* ---- The head of a log's file ---- */

#define STEP 16u /* blocks begin at multiples of it */

bool pxt_filehead_repeated(
    const struct pxt_image *image, unsigned char *whole, struct pxt_log_header *header)
{
	unsigned char piece[65536 + PXT_LOG_STAGING_MIN];
	const uint64_t turn = sizeof piece - PXT_LOG_STAGING_MIN;

	for (uint64_t at = 0; at < image->size; at += turn) {
		uint64_t got = pxt_image_read(image, at, piece, sizeof piece);

		for (uint32_t i = 0; i < turn && i < got; i += STEP)
			if (pxt_logfmt_get_head(piece + i, (uint32_t)got - i, whole) &&
			    !pxt_logfmt_get_header(whole, header))
				return true;
	}
	return false;
}

/*
 * One byte that was changed: with the right value at the right place the checksum is right again.  Of
 * 130,560 others one would be taken for it once in 30,000 files that are damaged otherwise.
 */
static bool mend(unsigned char *whole, struct pxt_log_header *header)
{
	for (uint32_t at = 0; at < PXT_LOG_HEADER_BYTES; at++) {
		unsigned char was = whole[at];

		for (uint32_t change = 1; change < 256; change++) {
			whole[at] = (unsigned char)(was ^ change);
			if (!pxt_logfmt_get_header(whole, header))
				return true;
		}
		whole[at] = was;
	}
	return false;
}

enum pxt_filehead pxt_filehead_load(const struct pxt_image *image, unsigned char *whole,
    struct pxt_log_header *header, const char **wrong)
{
	unsigned char repeated[PXT_LOG_HEADER_BYTES];

	memset(whole, 0, PXT_LOG_HEADER_BYTES);
	if (pxt_image_read(image, 0, whole, PXT_LOG_HEADER_BYTES) < PXT_LOG_HEADER_BYTES) {
		*wrong = "the file is too short to be a log";
		return PXT_FILEHEAD_NONE;
	}
	*wrong = pxt_logfmt_get_header(whole, header);
	if (!*wrong)
		return PXT_FILEHEAD_SOUND;
	if (pxt_filehead_repeated(image, repeated, header)) {
		memcpy(whole, repeated, sizeof repeated);
		return PXT_FILEHEAD_REPEATED;
	}
	return mend(whole, header) ? PXT_FILEHEAD_MENDED : PXT_FILEHEAD_NONE;
}
