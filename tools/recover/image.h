/* SPDX-License-Identifier: MIT */
/*
 * image.h - a file as memory: byte by byte as it is, or a core file by the addresses of its process; the
 * images of streams in it.
 *
 * Nothing is mapped: a file that is cut short meanwhile then reads as shorter, where a mapping would
 * end the program.  A caller that reads a piece asks first how much there is (row()), so that it never
 * takes more memory than the file has bytes, whatever is in it.
 */
#ifndef PXT_RECOVER_IMAGE_H
#define PXT_RECOVER_IMAGE_H

#include "format/imageheader.h"
#include "format/logfmt.h"
#include "format/slot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

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

/*
 * The headers in images (format/imageheader.h): where streams and directories are, and whether what
 * they say of themselves can be.
 *
 * A file that begins with a stream's header and tells where its directory is holds that one stream (a
 * black box, or what `pxtrace dump` of GDB wrote).  Everything else is searched through.
 */

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

/*
 * Image of a stream whose process is gone: its block out of an image, and the
 * records of its lanes.
 *
 * Nobody writes any more, so nothing is waited for: a record is whole, with the tag of its place
 * and number in each of its slots, or it is lost.  Nothing that the block says is believed before it
 * is checked.  Memory: the block, as far as the image has it, and as much again for the lists.
 */

#define PXT_STREAMIMAGE_STATE 3u /* of gate: */
#define PXT_STREAMIMAGE_AUTO  2u /* stopped by itself, for lack of room */

/* A record or a mark in its lane. */
struct pxt_remain {
	uint64_t ticks;     /* its stamp; of a mark: its number */
	uint32_t away;      /* slots after the lane's `from` */
	uint32_t lost : 31; /* records directly before it that are not whole */
	uint32_t mark : 1;
};

struct pxt_streamimage_lane {
	const unsigned char *cells;
	uint32_t there; /* cells that are in the image */
	bool missing;   /* not even its words are */
	uint64_t head_pos;
	uint64_t head_seq;
	uint64_t next_pos; /* what was not read begins here ... */
	uint64_t next_seq; /* ... with this number, if it is known */
	bool next_known;
	uint64_t refused;
	uint64_t from;        /* where the list begins */
	uint64_t overwritten; /* before they were read; before all of the list that is unread */
	uint64_t torn;        /* never finished */
	uint64_t voids;       /* places given up by writers that came after a stop */
	uint64_t read_before; /* records of the list that the process' own reader had taken */
	uint64_t lost_behind; /* after the last of the list */
	size_t first_unread;  /* in the list; ... */
	uint64_t first_seq;   /* ... this is its number, with those that are lost before it */
	struct pxt_remain *list;
	size_t count;
	size_t records; /* of the list: without marks */
	/* The merge's: */
	size_t front;
	uint64_t barrier;
	/* The log's: */
	size_t told; /* losses of the list before this one are */
	bool gap_told;
};

/* START or STOP that is beside the lanes. */
struct pxt_streamimage_oob {
	uint32_t info;
	bool automatic;
	uint64_t ticks;
	uint64_t ctx;
	const unsigned char *data;
};

#define PXT_STREAMIMAGE_OOBS 16u

struct pxt_streamimage {
	const struct pxt_stream_header *header;
	bool swapped;
	unsigned char *block;
	uint64_t there; /* bytes of it */
	char name[TRACE_NAME_MAX + 1];
	char generation[TRACE_NAME_MAX + 1];
	uint32_t gate;
	/* The reader's counts: what it had taken, ... */
	uint64_t retrieved;
	uint64_t lost;
	uint64_t cleared;
	uint64_t barriers;
	struct pxt_streamimage_lane *lanes;
	struct pxt_streamimage_oob oobs[PXT_STREAMIMAGE_OOBS];
	uint32_t oob_count;
	/* Sums of the lanes: */
	uint64_t records;
	uint64_t read_before;
	uint64_t torn;
	uint64_t voids;
	uint64_t overwritten;
	uint64_t refused;
	uint32_t lanes_missing;
	bool has_cpu; /* some record tells its CPU */
};

/* Up to where a stream's lane was read from images of it before. */
struct pxt_streamimage_place {
	uint64_t pos;
	uint64_t seq;
};

/*
 * @all: what the process' own reader had read already, too, as far as it is whole.  @place: NULL, or where
 * lane 0 is read from in place of that.  NULL, or why nothing can be read.  @found must outlive it.
 */
const char *pxt_streamimage_load(struct pxt_streamimage *streamimage, const struct pxt_found *found,
    bool all, const struct pxt_streamimage_place *place);
void pxt_streamimage_free(struct pxt_streamimage *streamimage);

/* Words 0 to 3 of the slot at @pos as numbers; false: it was stored in parts, or is not there. */
bool pxt_streamimage_slot(const struct pxt_streamimage *streamimage,
    const struct pxt_streamimage_lane *lane, uint64_t pos, struct pxt_slot *slot);
/* Fills the list of a lane, whose words are read already. */
const char *pxt_streamimage_walk(
    struct pxt_streamimage *streamimage, struct pxt_streamimage_lane *lane, bool all);

/* Where the lane goes on after the @index-th of its list. */
struct pxt_streamimage_place pxt_streamimage_after(const struct pxt_streamimage *streamimage,
    const struct pxt_streamimage_lane *lane, size_t index);

/* Whether @pos of a lane comes after an out-of-band record. */
bool pxt_streamimage_beyond(
    const struct pxt_streamimage *streamimage, uint32_t oob, uint32_t lane, uint64_t pos);

static inline uint64_t pxt_streamimage_pos(
    const struct pxt_streamimage_lane *lane, const struct pxt_remain *one)
{
	return lane->from + one->away;
}

/*
 * ---- One sequence out of the lanes ----
 *
 * By the rules of core/read/merge.c for a stream in which nothing happens any more.
 *
 * The smallest stamp of the lanes' fronts comes first; nobody passes a mark before the others have.  What
 * core/read/merge.c gives up because another lane has lost it (rule 3) is not given up: nobody waits for it
 * any more.
 */

enum pxt_order_next {
	PXT_ORDER_RECORD, /* the front of a lane */
	PXT_ORDER_SIDE,   /* the next of streamimage->oobs */
	PXT_ORDER_END,
};

struct pxt_order {
	struct pxt_streamimage *streamimage;
	uint32_t oob; /* the next one */
};

void pxt_order_begin(struct pxt_order *order, struct pxt_streamimage *streamimage);
/* *chosen: the lane of the record. */
enum pxt_order_next pxt_order_next(struct pxt_order *order, uint32_t *chosen);
/* It was taken. */
void pxt_order_done(struct pxt_order *order, enum pxt_order_next next, uint32_t lane);

#endif
