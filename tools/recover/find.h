/* SPDX-License-Identifier: MIT */
/*
 * find.h - the headers in images (format/imageheader.h): where streams and directories are, and whether what
 * they say of themselves can be.
 *
 * A file that begins with a stream's header and tells where its directory is holds that one stream (a
 * black box, or what `pxtrace dump` of GDB wrote).  Everything else is searched through.
 */
#ifndef PXT_RECOVER_FIND_H
#define PXT_RECOVER_FIND_H

#include "tools/recover/image.h"

#include "format/imageheader.h"

/* So many headers are kept, and so many places looked at, in all files together. */
#define PXT_FIND_MAX  4096u
#define PXT_FIND_LOOK 1048576u

/* A header, in this machine's byte order. */
struct pxt_found {
	const struct pxt_image *image;
	uint64_t at;
	bool swapped;
	uint64_t there;    /* bytes of the block that are in the image */
	const char *wrong; /* NULL, or why it cannot be used */
	union {
		struct pxt_imageheader header;
		struct pxt_stream_header stream;
		struct pxt_directory_header directory;
	};
};

struct pxt_finds {
	struct pxt_found *streams;
	size_t stream_count;
	struct pxt_found *directories;
	size_t directory_count;
	size_t looked; /* places that begin like a header */
	bool full;     /* there may be more */
};

/* Adds what @image holds.  False: there is no memory. */
bool pxt_find(struct pxt_finds *finds, const struct pxt_image *image);
void pxt_find_free(struct pxt_finds *finds);
/* The directory of @stream's process; NULL where there is none. */
const struct pxt_found *pxt_find_directory(
    const struct pxt_finds *finds, const struct pxt_found *stream);

/* A stream's header at @at; false: there is none. */
bool pxt_find_stream_at(const struct pxt_image *image, uint64_t at, struct pxt_found *found);
bool pxt_find_directory_at(const struct pxt_image *image, uint64_t at, struct pxt_found *found);

#endif
