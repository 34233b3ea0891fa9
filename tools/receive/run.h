/* SPDX-License-Identifier: MIT */
/*
 * run.h - one run of a target: from what arrives of its stream into a log.
 *
 * What arrives is told in its order, with the numbers that the target gave it.  What is missing
 * between two pieces costs only itself: its records are counted, and are in the log as losses
 * before the next record.  A record of which a part is missing is missing.
 *
 * The log can be read as a growing one at each instant; what it holds, and what its trailer says,
 * fits together:  records kept + records missing = records that the target put on the line.
 *
 * Memory: two blocks of 64 KiB, a third where records are coded, one record, and what was told; whatever arrives.
 */
#ifndef PXT_RECEIVE_RUN_H
#define PXT_RECEIVE_RUN_H

#include "tools/write/logwrite.h"

#include "format/frame.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * ---- What a target has told already ----
 *
 * It says the same names again and again, and the log needs them once.
 * Memory: 16 bytes for each thing told, at most PXT_RECEIVE_KNOWN_MAX of them (2 MiB and a half).
 */

/* All that a log can name: types, threads, modules (FORMAT.md, section 9), and one process. */
#define PXT_RECEIVE_KNOWN_MAX (1024u + 65536u + 4096u + 1u)

struct pxt_receive_known {
	struct pxt_receive_known_cell {
		uint64_t key; /* never 0 */
		uint64_t value;
	} * cells;
	uint32_t count;
	uint32_t mask;
};

enum pxt_receive_known_news {
	PXT_RECEIVE_KNOWN_NEW,     /* nothing was told of @key before */
	PXT_RECEIVE_KNOWN_CHANGED, /* something else was */
	PXT_RECEIVE_KNOWN_SAME,
	PXT_RECEIVE_KNOWN_FULL /* no room, or no memory */
};

enum pxt_receive_known_news pxt_receive_known_tell(
    struct pxt_receive_known *known, uint64_t key, uint64_t value);
void pxt_receive_known_free(struct pxt_receive_known *known);

/* A number that stands for @count bytes; @start: what came before. */
uint64_t pxt_receive_known_hash(uint64_t start, const void *bytes, uint32_t count);

/* Slots of the longest record: context, a thread without index, 4,095 bytes of data. */
#define PXT_RECEIVE_RUN_RECORD_SLOTS 350u

/* So far back a frame counts as late or doubled, not as one of the next round of numbers. */
#define PXT_RECEIVE_RUN_LATE 64u

/* What a target counted up to some moment; it says so now and then. */
struct pxt_receive_totals {
	uint64_t frames;
	uint64_t records;
	uint64_t lost;
};

/* A sender of packets: family, address and port (tools/line/device.h). */
#define PXT_RECEIVE_SENDER_BYTES 24u

struct pxt_receive_run {
	char path[4096];
	/* The receiver's: whose frames alone are the run's, and when one came last. */
	unsigned char sender[PXT_RECEIVE_SENDER_BYTES];
	uint64_t heard_ms;
	struct pxt_log_header header;
	uint32_t seed; /* CRC of the UUID */
	struct pxt_logblocks blocks;
	struct pxt_receive_known known;
	unsigned char *decoded; /* a block, and what it told; NULL: none was coded yet */
	bool ended;             /* the trailer has come, or the log was closed */
	bool end_unknown;       /* how much the target recorded after the last record is */
	bool cut; /* the log is to end here: what is recorded from now on is none of its business */
	int error; /* of the file, an errno */

	uint64_t frames;        /* as the target counts: the next one's number ... */
	uint64_t records;       /* ... and the number of the next record that begins */
	uint64_t kept;          /* records in the log */
	uint64_t missing;       /* records that did not arrive */
	uint64_t early;         /* records before the first piece: nobody listened yet */
	uint64_t missed_before; /* a plain log: what another receiver missed, as it says */
	uint64_t target_lost;   /* records that the target itself lost */
	uint64_t frames_missing;
	uint64_t frames_again;      /* arrived twice, or too late */
	uint64_t odd;               /* a right checksum, but contents that make no sense */
	uint64_t unreported;        /* losses that the log does not show yet */
	struct pxt_clock_set clock; /* the latest that the target told */
	uint32_t name_hash[PXT_LOG_IDS];
	/* Of the trailer that the log got. */
	struct posix_trace_counts_np counts;
	uint64_t log_lost;
	bool off_line; /* what is missing was not lost on a line */

	uint32_t threads; /* told so far */
	uint32_t modules;
	uint32_t notes;

	uint32_t partial; /* slots of a record whose rest is awaited ... */
	uint32_t whole;   /* ... and of the whole of it; 0: none */
	unsigned char record[PXT_RECEIVE_RUN_RECORD_SLOTS * PXT_SLOT_BYTES];
};

/*
 * @head: the first PXT_FRAME_FILE_HEAD bytes of a file head, of which the rest is worked out.
 * Returns NULL, or why no log can be made of it.  A file that cannot be written is run->error.
 */
const char *pxt_receive_run_begin(struct pxt_receive_run *run, const char *path,
    enum pxt_logmode mode, const unsigned char *head);

/*
 * The first piece that arrives has these numbers.  What came before belongs to the log, as lost;
 * but nobody listened yet.
 */
void pxt_receive_run_start(struct pxt_receive_run *run, uint64_t frames, uint64_t records);
/*
 * A frame (no HEAD) with the number @frame comes next, before which @records began: the lowest 14
 * and 16 bits of both.  False: it came before, or after the trailer, and is not to be taken.
 */
bool pxt_receive_run_expect(struct pxt_receive_run *run, uint32_t frame, uint32_t records);
/* The same by the full numbers, also where there are no frames. */
void pxt_receive_run_totals(struct pxt_receive_run *run, const struct pxt_receive_totals *totals);

/*
 * The slots of a DATA block of a log with @header, of whose contents *bytes are at hand: the same, or, where they are coded,
 * others up to the first that is not whole.  *bytes: of slots.  NULL: no memory.
 */
const unsigned char *pxt_receive_run_decode(struct pxt_receive_run *run,
    const struct pxt_log_header *header, const struct pxt_log_blockhead *head,
    const unsigned char *contents, uint32_t *bytes);
/* Contents of a DATA frame or block: @count slots. */
void pxt_receive_run_slots(struct pxt_receive_run *run, const unsigned char *slots, uint32_t count);
/* Contents of a COMPACT frame (compact.c). */
void pxt_receive_run_compact(
    struct pxt_receive_run *run, const unsigned char *contents, uint32_t bytes);
/* Entries of a block of @type, @count of them in @bytes bytes. */
void pxt_receive_run_entries(struct pxt_receive_run *run, uint32_t type, uint32_t count,
    const unsigned char *entries, uint32_t bytes);
/* Contents of a HEAD frame, checked before.  False: it came before, or after the trailer. */
bool pxt_receive_run_head(struct pxt_receive_run *run, const unsigned char *contents);

/* Ends the log as @trailer says, whose loss in the log does not have what this run misses. */
int pxt_receive_run_finish(struct pxt_receive_run *run, struct pxt_log_trailer *trailer);

void pxt_receive_run_flush(struct pxt_receive_run *run);
/* Ends the log, with a trailer of our own if none came.  Returns 0 or the first error. */
int pxt_receive_run_end(struct pxt_receive_run *run);

/*
 * ---- A log as a program writes it into a pipe, block by block (compact.c) ----
 *
 * What is damaged is passed over up to the next whole block.
 */

#define PXT_RECEIVE_PLAIN_ROOM (PXT_LOG_BLOCK_MAX + 65536u)

struct pxt_receive_plain {
	unsigned char *bytes; /* PXT_RECEIVE_PLAIN_ROOM, from the first log on */
	size_t used;
	uint64_t bad; /* places where no whole block was */
};

enum pxt_receive_plain_want {
	PXT_RECEIVE_PLAIN_MORE, /* all that is there was used */
	PXT_RECEIVE_PLAIN_HEAD, /* plain->bytes begins with a file head: make a run of it */
	PXT_RECEIVE_PLAIN_END   /* the log has ended; plain->bytes is what follows */
};

/* Takes as many bytes as there is room for; returns how many.  0 with @count: no memory. */
size_t pxt_receive_plain_add(
    struct pxt_receive_plain *plain, const unsigned char *bytes, size_t count);
/* Hands whole blocks to @run (NULL: there is none yet). */
enum pxt_receive_plain_want pxt_receive_plain_next(
    struct pxt_receive_plain *plain, struct pxt_receive_run *run);
/* The first @count bytes are done with. */
void pxt_receive_plain_drop(struct pxt_receive_plain *plain, size_t count);

#endif
