/* SPDX-License-Identifier: MIT */
/*
 * recover.h - what the files of `pxtrace recover` share: images and the streams in them, their
 * process, the log that is written of them, salvage of damaged logs, a target behind a debugger.
 */
#ifndef PXT_RECOVER_H
#define PXT_RECOVER_H

#include "format/imageheader.h"
#include "format/logfmt.h"
#include "format/slot.h"
#include "tools/line/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

/*
 * ---- A file as memory: byte by byte as it is, or a core file by the addresses of its process; the
 * images of streams in it ----
 *
 * Nothing is mapped: a file that is cut short meanwhile then reads as shorter, where a mapping would
 * end the program.  A caller that reads a piece asks first how much there is (row()), so that it never
 * takes more memory than the file has bytes, whatever is in it.
 */

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
	bool small;        /* a smallest Core's stream: its label */
	union {
		struct pxt_small_label label;
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
 * ---- A smallest Core's stream (tiny/tiny.h), by its label ----
 *
 * Where the target stands still, no record is unfinished.  Memory: the stream's.
 */

/* False: none is there, or no stream was ever created. */
bool pxt_small_look(const struct pxt_image *image, uint64_t at, struct pxt_found *found);

struct pxt_small {
	const struct pxt_found *found;
	struct pxt_slot *slots;
	uint32_t mask;
	uint32_t head;
	uint32_t tail;
	uint32_t max_data;
	uint64_t anchor; /* ticks at creation */
	uint64_t last;   /* stamp so far */
	uint64_t retrieved;
	uint64_t cleared;
	uint64_t lost;
	uint64_t events;  /* that are in the image, and ... */
	uint64_t torn;    /* ... that are not, because the target ran on while it was taken */
	uint32_t unnamed; /* tasks whose names are not in the image */
	char name[TRACE_NAME_MAX + 1];
	unsigned char who[65536]; /* by number: left a record, told */
};

/* NULL, or why nothing can be read: then nothing is held.  @found must outlive it. */
const char *pxt_small_load(struct pxt_small *small, const struct pxt_found *found);
void pxt_small_free(struct pxt_small *small);
const char *pxt_small_state(const struct pxt_small *small);
/* Counts its records, and puts them into @log, if it is not NULL. */
struct pxt_logwrite;
void pxt_small_walk(struct pxt_small *small, struct pxt_logwrite *log);
/* A log under the name when it is whole; returns an errno where the file is. */
int pxt_small_write(struct pxt_small *small, const char *path);

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

/* The head of a log that has its events, in its order. */
void pxt_streamimage_head(const struct pxt_streamimage *streamimage, struct pxt_log_header *header);
/* The time of a stamp by the rate, where that is one. */
struct pxt_clock_set pxt_streamimage_clock(const struct pxt_log_header *header, uint64_t ticks);

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

/*
 * ---- A process out of an image: its directory (threads, names of event types), and the lines of
 * process information ----
 */

struct pxt_who {
	const struct pxt_directory_header *header; /* NULL: there is no directory */
	bool swapped;
	unsigned char *bytes;
	uint64_t there;
	uint32_t threads; /* entries of the table that may be in use: 1 to this */
	uint32_t names;
};

/* @found: NULL, or a directory without fault, which must outlive it.  NULL, or what is wrong. */
const char *pxt_who_load(struct pxt_who *who, const struct pxt_found *found);
void pxt_who_free(struct pxt_who *who);

/* False: nobody has this index (yet). */
bool pxt_who_thread(const struct pxt_who *who, uint32_t index, struct pxt_log_thread *thread);
/* The thread was inside a trace point. */
bool pxt_who_inside(const struct pxt_who *who, uint32_t index);
/* The @number-th user event type; false: its name is damaged. */
bool pxt_who_type(const struct pxt_who *who, uint32_t number, struct pxt_log_typename *type);
void pxt_who_process(const struct pxt_who *who, struct pxt_log_process *process);

/*
 * ---- The process information beside a stream ----
 *
 * A black box has it (format/imageheader.h).
 *
 * Lines of a word, a blank and the rest.  Words that are not known, and lines that make no sense, are
 * passed over.
 */

struct pxt_procinfo {
	struct pxt_log_process process; /* its pid is not set */
	struct pxt_log_module *modules;
	uint32_t count;
};

/* @stream: a header without fault.  NULL, or what is wrong; a stream without text is not. */
const char *pxt_procinfo_load(struct pxt_procinfo *procinfo, const struct pxt_found *stream);
void pxt_procinfo_free(struct pxt_procinfo *procinfo);

/*
 * ---- A complete log (FORMAT.md) of the image of a stream, in its recorder's byte order ----
 *
 * Losses are where they happened: before the record that comes next in their lane.  What the stream
 * had lost before the first record that is left is told before that one.  The trailer's counts:
 * written = the log's records + lost + cleared; what the program's own reader had taken is none of its
 * business, and counted apart.
 */

/* What there is of a stream; who knows nothing without a directory, procinfo nothing without text. */
struct pxt_recovered {
	struct pxt_streamimage streamimage;
	struct pxt_who who;
	struct pxt_procinfo procinfo;
};

/* What was made of it. */
struct pxt_written {
	uint64_t events;      /* of the stream */
	uint64_t lost;        /* in all; of these: */
	uint64_t overwritten; /* before anybody read them */
	uint64_t torn;        /* begun, and never finished */
	uint64_t voids;
	uint64_t refused; /* there was no room */
	uint64_t earlier; /* what the program's own reader had counted */
	uint32_t unnamed; /* event types whose names are not in the image */
	uint32_t inside;  /* threads that were inside a trace point */
};

/*
 * All of @found; its directory among @finds.  @place: NULL, or from where of its only lane on.  NULL, or why not:
 * then nothing is held.
 */
const char *pxt_recover_load(struct pxt_recovered *recovered, const struct pxt_finds *finds,
    const struct pxt_found *found, bool all, const struct pxt_streamimage_place *place);
void pxt_recover_free(struct pxt_recovered *recovered);

/* Returns NULL, or what is wrong; *error is an errno where the file is. */
const char *pxt_recover_write(
    struct pxt_recovered *recovered, const char *path, struct pxt_written *written, int *error);
/*
 * ---- A log that grows by what images of one stream of one lane have, one after the other ----
 *
 * begin, add and end write one log, of @written's events and losses so far.
 */

/* Returns NULL, or what is wrong. */
const char *pxt_recover_begin(
    struct pxt_recovered *recovered, const char *path, struct pxt_written *written);
/*
 * What the image has, up to a record that is not finished, unless that is the one at *stuck since the last time:
 * *place is where the next image is to be read from.
 */
void pxt_recover_add(struct pxt_recovered *recovered, struct pxt_streamimage_place *place,
    struct pxt_streamimage_place *stuck);
/* Returns an errno where the file is. */
int pxt_recover_end(struct pxt_recovered *recovered);

/* What it would be, without a log. */
void pxt_recover_sum(const struct pxt_recovered *recovered, struct pxt_written *written);

/*
 * ---- A complete log out of one that lacks its end or is damaged: every block is alone, and the sums
 * in its head tell what is missing before it ----
 *
 * Memory: two blocks of 1 MiB at most, and what a receiver keeps (receive/run.h); of a log with the
 * policy LOOP 16 bytes a frame.
 */

#define PXT_SALVAGE_GAPS 16u

struct pxt_salvaged {
	uint64_t events;  /* in the new log */
	uint64_t missing; /* that the old one was given and does not hold whole */
	uint64_t lost;    /* in the stream, before any log */
	uint64_t held;    /* in the stream at its end */
	/* Of the events: from a block that is cut off, which no checksum vouches for. */
	uint64_t unsure;
	enum pxt_filehead head;
	uint64_t blocks;
	uint64_t gaps; /* stretches of the file that are no sound block; of the first ones: */
	struct {
		uint64_t from;
		uint64_t to;
		const char *path; /* of several files: which one */
	} gap[PXT_SALVAGE_GAPS];
	uint64_t skipped; /* bytes in them */
	uint64_t others;  /* sound blocks of other streams, which were left out */
	bool complete;    /* the trailer was there */
	bool end_unknown; /* how many events were recorded after the last block is */
	bool gave_up;     /* too much of it looks like blocks and is none */
	bool frames;      /* policy LOOP: what is missing may have been overwritten */
};

/* Whether @image begins like a log, though its head may be damaged. */
bool pxt_salvage_is_log(const struct pxt_image *image);
/*
 * @images: of one log, the @count files of it that are there, in its order.  Returns NULL, or why nothing can be made
 * of it; *error is an errno where the new file is.
 */
const char *pxt_salvage(const struct pxt_image *images, unsigned count, const char *path,
    struct pxt_salvaged *salvaged, int *error);

/* ---- In words, for a person ---- */

struct pxt_out;

/* A line for each stream; @all: as pxt_recover_load() has it. */
void pxt_recover_list(struct pxt_out *out, const struct pxt_finds *finds, bool all);
/* What the log @path has of a stream, and what not. */
void pxt_recover_tell(const char *path, const struct pxt_found *found,
    const struct pxt_recovered *recovered, const struct pxt_written *written, bool all);
void pxt_recover_tell_small(const char *path, const struct pxt_small *small);
/* The same of what @image, a log, had. */
void pxt_recover_tell_salvaged(
    const char *path, const struct pxt_salvaged *salvaged, const char *image);

/*
 * ---- The memory of a target that a debugger's server reads (GDB's remote protocol: QEMU, OpenOCD and
 * others), as a file without a name ----
 *
 * The target stands still while it is read: what is read is of one moment.
 */

struct pxt_target {
	struct pxt_linkdevice link;
	uint64_t at; /* of its memory, so many bytes */
	uint64_t bytes;
	int fd;       /* the file: as much of it as was read, from 0 on */
	bool running; /* it was told to go on */
	bool over;    /* the server, or what it ran, has gone */
	/* Bytes that came and were not looked at: */
	unsigned char came[4096];
	size_t count;
	size_t used;
};

/* Whether it is "gdb:...". */
bool pxt_gdbserver_is(const char *text);
/* @text: "gdb:HOST:PORT,ADDRESS,BYTES".  It stands still afterwards.  False: the user was told. */
bool pxt_gdbserver_open(struct pxt_target *target, const char *text);
bool pxt_gdbserver_halt(struct pxt_target *target);
/* While it stands still: @bytes from @offset on, into the file.  False: it is over, or its answers make no sense. */
bool pxt_gdbserver_read(struct pxt_target *target, uint64_t offset, uint64_t bytes);
/* It goes on, and the server is left. */
void pxt_gdbserver_close(struct pxt_target *target);

/*
 * A stream of a target that runs, read again and again through its debugger's server.
 *
 * The target stands still while it is read, and goes on in between.
 */

/* The target stands still, and was read.  False: no stream came until it ended, or the user stopped it. */
bool pxt_follow_appear(struct pxt_target *target, const struct pxt_image *image);
/*
 * After it has appeared: the stream whose header is at @at of @image, until the target ends, is reset, or the user
 * stops it (SIGINT, SIGTERM).  @output grows meanwhile.  Returns NULL, or what is wrong; *error is an errno where the file is.
 */
const char *pxt_follow(struct pxt_target *target, const struct pxt_image *image, uint64_t at,
    const char *output, struct pxt_written *written, int *error);

#endif
