/* SPDX-License-Identifier: MIT */
/*
 * image.h - a file as memory: byte by byte as it is, or a core file by the addresses of its process.
 *
 * Nothing is mapped: a file that is cut short meanwhile then reads as shorter, where a mapping would
 * end the program.  A caller that reads a piece asks first how much there is (row()), so that it never
 * takes more memory than the file has bytes, whatever is in it.
 */
#ifndef PXT_RECOVER_IMAGE_H
#define PXT_RECOVER_IMAGE_H

#include "format/logfmt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the file that lie at an address. */
struct pxt_image_part {
	uint64_t at;
	uint64_t bytes;
	uint64_t offset; /* in the file */
	uint64_t end;    /* of the row of parts that this one belongs to: no gap up to here */
};

struct pxt_image {
	const char *path;
	int fd;
	uint64_t size;                /* of the file */
	bool core;                    /* places are addresses, else offsets in the file */
	struct pxt_image_part *parts; /* by address; none reaches into the next */
	size_t count;
};

/* Takes @fd over.  NULL, or why the file cannot be read that way. */
const char *pxt_image_open(struct pxt_image *image, const char *path, int fd);
void pxt_image_close(struct pxt_image *image);

/* How many bytes are there in a row from @at on. */
uint64_t pxt_image_row(const struct pxt_image *image, uint64_t at);
/* Bytes that were read, fewer than @bytes where the file has no more. */
uint64_t pxt_image_read(const struct pxt_image *image, uint64_t at, void *to, uint64_t bytes);

/* ---- The head of a log's file, also where the file has it damaged ---- */

enum pxt_filehead {
	PXT_FILEHEAD_NONE,
	PXT_FILEHEAD_SOUND,
	PXT_FILEHEAD_REPEATED, /* a block of the log repeats it */
	PXT_FILEHEAD_MENDED    /* one byte was wrong, which the checksum tells */
};

/* @whole: PXT_LOG_HEADER_BYTES bytes.  NONE: *wrong says what is wrong with the file's own. */
enum pxt_filehead pxt_filehead_load(const struct pxt_image *image, unsigned char *whole,
    struct pxt_log_header *header, const char **wrong);
/* Whether a sound block of the file repeats the head of a log. */
bool pxt_filehead_repeated(
    const struct pxt_image *image, unsigned char *whole, struct pxt_log_header *header);

#endif
