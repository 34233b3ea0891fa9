/* SPDX-License-Identifier: MIT */
/*
 * logfmt.h - the log as bytes: FORMAT.md in C.
 *
 * Writing (logfmt.c) fills a buffer of the caller in this machine's byte order; no memory, no
 * output, no system is needed.  Reading (logfmt_get.c) takes either byte order
 * and word size and trusts nothing: every decoder checks the bytes it is given and says what is
 * wrong.
 *
 * A writer's life:
 *
 *	pxt_logfmt_put_header(buffer, &header);                 write PXT_LOG_HEADER_BYTES
 *	pxt_logfmt_start(&block, buffer, room);
 *	while (pxt_logfmt_put_record(&block, slots, n)) ...     until it is full
 *	length = pxt_logfmt_finish(&block, &stream, PXT_LOG_DATA);
 *	write it;
 *	pxt_logfmt_written(&block, &stream);                    only if it was written
 *
 * finish changes nothing but the buffer: a block may be finished and written, go on taking
 * records and be finished again (the newest frame of a LOOP log), or be given up.
 */
#ifndef PXT_LOGFMT_H
#define PXT_LOGFMT_H

#include "format/facts.h"
#include "format/ids.h"
#include "format/slot.h"

#include <trace_np.h>

/* Of logs whose records are coded. */
#define PXT_LOG_MAJOR       2u
#define PXT_LOG_MINOR       1u
/* Of logs whose records are slots, which readers of 1.0 understand. */
#define PXT_LOG_SLOTS_MAJOR 1u
#define PXT_LOG_SLOTS_MINOR 5u
/*
 * The oldest reader that understands a log is of the same major version, and of this minor one; where frames
 * are coded, of 2.1.
 */
#define PXT_LOG_MIN_MINOR   0u
#define PXT_LOG_FRAME_MINOR 1u

/* Text transfers and 7-bit lines spoil it. */
#define PXT_LOG_MAGIC                                                                              \
	{                                                                                          \
		0x89, 'P', 'T', 'L', '\r', '\n', 0x1a, '\n'                                        \
	}
#define PXT_LOG_BLOCK_MAGIC                                                                        \
	{                                                                                          \
		'P', 'T', 'L', 'B'                                                                 \
	}
#define PXT_LOG_ORDER_MARK 0x01020304u

#define PXT_LOG_UUID_BYTES   16u
#define PXT_LOG_IDS          1024u /* event types that a log can name */
#define PXT_LOG_HEADER_BYTES 512u
#define PXT_LOG_HEADER_USED  296u /* of them: what says something; zeros and the checksum follow */
#define PXT_LOG_BLOCK_BYTES  96u  /* the head of a block */
/* A buffer of this size takes one entry of any kind (records may need more). */
#define PXT_LOG_STAGING_MIN  512u
#define PXT_LOG_BLOCK_MAX    1048576u /* no block is longer */

/* The slot that stands for records that are gone: stamp = their number. */
#define PXT_LOG_ID_LOSS PXT_ID_VOID

enum pxt_log_layout {
	PXT_LAYOUT_SEQUENTIAL = 1, /* block after block, also on a pipe */
	PXT_LAYOUT_FRAMES = 2,     /* LOOP: data blocks in frames that are written again */
};

enum pxt_log_type {
	PXT_LOG_DATA = 1,
	PXT_LOG_TYPES = 2,
	PXT_LOG_THREADS = 3,
	PXT_LOG_PROCESS = 4,
	PXT_LOG_MODULES = 5,
	PXT_LOG_CLOCKS = 6,
	PXT_LOG_CLEAR = 7,
	PXT_LOG_TRAILER = 8,
	PXT_LOG_NOTES = 9,
	PXT_LOG_HEAD = 10,
	PXT_LOG_SET = 11,
	PXT_LOG_ANSWER = 12, /* on lines alone: format/order.h */
};

enum pxt_log_moment {
	PXT_LOG_AT_CREATE = 1,
	PXT_LOG_AT_FLUSH = 2,
	PXT_LOG_AT_SHUTDOWN = 3
};

/* pxt_log_header.contents: what the context of a record holds */
#define PXT_LOG_HAS_THREAD      1u
#define PXT_LOG_HAS_ADDRESS     2u
#define PXT_LOG_HAS_CPU         4u
/* And what priorities mean: larger is more urgent; else, as Linux counts, smaller. */
#define PXT_LOG_LARGER_PRIORITY 8u

/* The head of the file.  The members of the first group are set by the decoder only. */
struct pxt_log_header {
	uint16_t major, minor, min_major, min_minor;
	uint32_t header_bytes;
	bool swapped;

	bool coded;         /* blocks may be: it needs a reader of version 2 */
	uint8_t word_bytes; /* of a pointer: 4 or 8 */
	uint8_t ctx_bytes;  /* PXT_CTX_BYTES */
	uint8_t layout;     /* enum pxt_log_layout */
	uint32_t contents;  /* PXT_LOG_HAS_... */
	unsigned char uuid[PXT_LOG_UUID_BYTES];
	struct pxt_clock_rate rate;
	struct pxt_clock_set created;
	uint32_t largest_block; /* bytes: no block of this file is longer */
	uint32_t set_bytes;     /* sizeof(trace_event_set_t), 0 without filter */
	uint64_t data_offset;   /* PXT_LAYOUT_FRAMES: where the first frame begins */
	uint32_t frame_bytes;   /* PXT_LAYOUT_FRAMES: multiple of 16 */
	uint32_t frames;        /* PXT_LAYOUT_FRAMES: their number */
	uint32_t generation;    /* how often the file was begun anew (clear) */
	uint32_t number;        /* of the file in its set, from 1; 0: the log is one file */
	struct _pxt_attr attr;  /* creation time included */
};

/* What a stream counts over all blocks of its log. */
struct pxt_log_stream {
	unsigned char uuid[PXT_LOG_UUID_BYTES];
	uint64_t data_sequence; /* of the next DATA block */
	uint64_t meta_sequence; /* of the next block of any other type */
	uint64_t records;       /* in all DATA blocks so far */
	uint64_t lost;          /* told by all blocks so far */
};

/* A block under construction. */
struct pxt_log_block {
	unsigned char *bytes;
	uint32_t room;
	uint32_t used;
	uint32_t count;
	uint32_t coded; /* its records are, in so many bytes; 0: they are slots (compress.h) */
	uint32_t slots; /* bytes of slots that were coded */
	bool grows;     /* of a frame: more may follow what was coded, so nothing pads it */
	bool nameless;  /* PXT_LOG_FLAG_NAMELESS is true of its records */
	uint64_t begin; /* smallest and ... */
	uint64_t end;   /* ... largest stamp in it; 0 where it has none */
	uint64_t lost;
};

/* ---- Entries of the blocks that are not DATA ---- */

struct pxt_log_thread {
	uint64_t thread; /* the pthread_t */
	uint64_t since;  /* the index has meant this thread since this stamp */
	int32_t pid;
	int32_t tid;    /* 0: unknown */
	uint16_t index; /* PXT_THREAD_EXTRA: it never got one */
	char name[16];
};

struct pxt_log_process {
	int32_t pid;
	struct timespec start; /* CLOCK_REALTIME; 0: unknown */
	char executable[256];
	char host[72];
	unsigned char boot_id[16]; /* zeros: unknown, or the log is of a version below 1.1 */
	uint32_t cpus;             /* 0: unknown, or below 1.2 */
	char system[40];           /* machine, kernel, release; empty as the others */
};

struct pxt_log_module {
	uint64_t base;
	uint64_t low;
	uint64_t high;
	uint32_t build_id_bytes;
	unsigned char build_id[32];
	char path[256];
};

/* What somebody wanted to be in the log, in words. */
struct pxt_log_note {
	char name[POSIX_TRACE_NOTE_NAME_MAX_NP + 1];
	char text[POSIX_TRACE_NOTE_TEXT_MAX_NP + 1];
};

struct pxt_log_clock {
	uint32_t moment; /* enum pxt_log_moment */
	struct pxt_clock_set clock;
};

/* Of a file of a set: what is in front of it, ... */
struct pxt_log_set {
	uint64_t records;  /* in all earlier files */
	uint64_t lost;     /* ... and lost, as they tell */
	uint64_t repeated; /* records of earlier files with which this one begins, once more */
};

struct pxt_log_trailer {
	struct posix_trace_status_info status;
	struct posix_trace_counts_np counts;
	uint64_t log_lost; /* records that the log was given and does not hold */
	uint64_t data_blocks;
	uint64_t meta_blocks; /* without the trailer */
	struct pxt_clock_set end;
	struct _pxt_attr attr;
	struct pxt_crash crash;
};

/* ---- Writing ---- */

/* Fills PXT_LOG_HEADER_BYTES bytes. */
void pxt_logfmt_put_header(void *buffer, const struct pxt_log_header *header);
/* What follows from the first PXT_LOG_HEADER_USED bytes of @whole, in either byte order. */
void pxt_logfmt_complete_header(unsigned char *whole);

/* @buffer: 16-byte aligned, at least PXT_LOG_STAGING_MIN bytes. */
void pxt_logfmt_start(struct pxt_log_block *block, void *buffer, uint32_t room);

/*
 * All put functions: false = no room left, nothing was put.  A block takes entries of one type
 * only; record and loss belong to DATA.
 */
/*
 * Copies a whole record (begin slot first) and clears its tags.  @slots may be the very place
 * where the record goes, bytes + used.
 */
bool pxt_logfmt_put_record(struct pxt_log_block *block, const struct pxt_slot *slots, uint32_t n);
/* The same for records that are where they go, with their tags cleared already. */
void pxt_logfmt_put_copied(
    struct pxt_log_block *block, uint32_t slots, uint32_t records, uint64_t least, uint64_t most);
/* @records were lost directly before the record that is put next, in this block or a later one. */
bool pxt_logfmt_put_loss(struct pxt_log_block *block, uint64_t records);
/* @format may be "". */
bool pxt_logfmt_put_type(
    struct pxt_log_block *block, uint32_t id, const char *name, const char *format);
bool pxt_logfmt_put_thread(struct pxt_log_block *block, const struct pxt_log_thread *thread);
bool pxt_logfmt_put_process(struct pxt_log_block *block, const struct pxt_log_process *process);
bool pxt_logfmt_put_module(struct pxt_log_block *block, const struct pxt_log_module *module);
/* As much of both as a note may have. */
bool pxt_logfmt_put_note(struct pxt_log_block *block, const char *name, const char *text);
bool pxt_logfmt_put_clock(struct pxt_log_block *block, const struct pxt_log_clock *clock);
bool pxt_logfmt_put_set(struct pxt_log_block *block, const struct pxt_log_set *set);
/* The file's head once more. */
bool pxt_logfmt_put_head(struct pxt_log_block *block, const struct pxt_log_header *header);
bool pxt_logfmt_put_clear(struct pxt_log_block *block, uint64_t ticks, uint64_t records);
bool pxt_logfmt_put_trailer(struct pxt_log_block *block, const struct pxt_log_trailer *trailer);

/* @bytes up to the next slot's begin: where the slots stand that follow coded records. */
PXT_INLINE uint32_t pxt_logfmt_whole_slots(uint32_t bytes)
{
	return (bytes + PXT_SLOT_BYTES - 1u) & ~(PXT_SLOT_BYTES - 1u);
}

/* The bytes of a block that is written as it is. */
PXT_INLINE uint32_t pxt_logfmt_length(const struct pxt_log_block *block)
{
	return block->grows ? PXT_LOG_BLOCK_BYTES + block->coded
	                    : pxt_logfmt_whole_slots(block->used);
}

/* Writes the block's head and checksum; returns its length in bytes. */
uint32_t pxt_logfmt_finish(
    struct pxt_log_block *block, const struct pxt_log_stream *stream, enum pxt_log_type type);
/* The block is in the log: the next one gets the next sequence number. */
void pxt_logfmt_written(
    const struct pxt_log_block *block, struct pxt_log_stream *stream, enum pxt_log_type type);

/* ---- Reading: NULL when all is well, else what is wrong, in words ---- */

/* The head of a block, as it says. */
struct pxt_log_blockhead {
	uint32_t type;
	uint32_t length;
	uint32_t count;
	uint32_t flags;
	uint32_t coded; /* bytes of its records, which are coded; 0: it has slots */
	uint64_t sequence;
	uint64_t begin;
	uint64_t end;
	uint64_t lost;
	uint64_t lost_total;
	uint64_t records_total;
	uint64_t missed;
	/* DATA: what follows the head once it is loaded (logretrieval/load.c). */
	uint32_t slot_bytes;
};

/* A record inside a block: what its begin slot says, and where its payload is. */
struct pxt_log_record {
	uint32_t info;
	uint32_t slots;
	uint64_t ticks; /* of a loss slot: the number of records lost */
};

/* A full policy of a stream, whether this configuration has it or not; APPEND is a log's alone. */
PXT_INLINE bool pxt_logfmt_is_stream_policy(int policy)
{
	return policy >= POSIX_TRACE_LOOP && policy <= POSIX_TRACE_DISCARD_NP &&
	       policy != POSIX_TRACE_APPEND;
}

/* The text that pxt_logfmt_get_header() returns when a newer reader is needed (see min_major). */
extern const char pxt_log_newer[];

/*
 * Whether a file that begins with the PXT_LOG_SEEMS_BYTES bytes at @at may be a log whose head was damaged: all
 * of its magic but one byte is there, or a block follows.
 */
#define PXT_LOG_SEEMS_BYTES (PXT_LOG_HEADER_BYTES + 4u)
bool pxt_logfmt_seems(const unsigned char *at);
/* @at: its first PXT_LOG_HEADER_BYTES bytes. */
const char *pxt_logfmt_get_header(const unsigned char *at, struct pxt_log_header *header);
/*
 * Whether a sound HEAD block of any stream, in either byte order, is at @block, of which @bytes bytes are
 * at hand; @whole: PXT_LOG_HEADER_BYTES bytes, the file's head as the block has it.  Cost: a checksum of at
 * most PXT_LOG_STAGING_MIN bytes, so that a file full of what seems to be such blocks costs no more.
 */
bool pxt_logfmt_get_head(const unsigned char *block, uint32_t bytes, unsigned char *whole);
/* @at: PXT_LOG_BLOCK_BYTES bytes of one.  The checksum is not looked at. */
const char *pxt_logfmt_get_block(
    const unsigned char *at, const struct pxt_log_header *header, struct pxt_log_blockhead *head);
/* Whether the checksum of a block, of which @length bytes are at hand, is right. */
bool pxt_logfmt_sound(const unsigned char *block, uint32_t length, bool swapped);
/*
 * Walks through a DATA block whose head and checksum are right: each record must be whole, and
 * their numbers must be those of the head.  *offset is where the trouble is.
 */
const char *pxt_logfmt_check_data(const unsigned char *block, const struct pxt_log_blockhead *head,
    const struct pxt_log_header *header, uint32_t *offset);

extern const char pxt_log_damaged_record[];
/* Whether what a block holds is what its head says. */
const char *pxt_logfmt_check_counts(
    const struct pxt_log_blockhead *head, uint32_t count, uint64_t lost);

/*
 * The begin slot at @at, with @room bytes (a multiple of 16, at least 16) from it to the end of
 * the block.  False: it does not begin a record, or the record does not fit.
 */
bool pxt_logfmt_get_record(const unsigned char *at, uint32_t room,
    const struct pxt_log_header *header, struct pxt_log_record *record);
/* Copies @bytes payload bytes of the record at @at, beginning with payload byte @from. */
void pxt_logfmt_get_payload(const unsigned char *at, uint32_t from, void *to, uint32_t bytes);

/*
 * The next entry of a block: *offset is PXT_LOG_BLOCK_BYTES at first and moves on.  @least: bytes
 * that an entry of this type has at least.
 */
const char *pxt_logfmt_get_entry(const unsigned char *block, const struct pxt_log_blockhead *head,
    bool swapped, uint32_t least, uint32_t *offset, const unsigned char **entry);

struct pxt_log_typename {
	uint32_t id;
	char name[256];
	char format[256];
};
const char *pxt_logfmt_get_type(
    const unsigned char *entry, bool swapped, struct pxt_log_typename *type);
void pxt_logfmt_get_thread(const unsigned char *entry, bool swapped, struct pxt_log_thread *thread);
const char *pxt_logfmt_get_process(
    const unsigned char *entry, bool swapped, struct pxt_log_process *process);
const char *pxt_logfmt_get_module(
    const unsigned char *entry, bool swapped, struct pxt_log_module *module);
const char *pxt_logfmt_get_note(
    const unsigned char *entry, bool swapped, struct pxt_log_note *note);
void pxt_logfmt_get_set(const unsigned char *entry, bool swapped, struct pxt_log_set *set);
const char *pxt_logfmt_get_clock(
    const unsigned char *entry, bool swapped, struct pxt_log_clock *clock);
const char *pxt_logfmt_get_trailer(
    const unsigned char *entry, bool swapped, struct pxt_log_trailer *trailer);

/* Of a block's head: none of its events tells a name of a thread, or of an image. */
#define PXT_LOG_FLAG_NAMELESS 1u

/*
 * Where a block's head has its flags (2 bytes), its stream's UUID (16 bytes), what a receiver missed (8), how many bytes its
 * coded records have (4), its checksum (4).
 */
#define PXT_LOG_AT_FLAGS  6u
#define PXT_LOG_AT_UUID   24u
#define PXT_LOG_AT_MISSED 80u
#define PXT_LOG_AT_CODED  88u
#define PXT_LOG_AT_CRC    92u

/* Where the file's head has how often the file was begun anew (4 bytes). */
#define PXT_LOG_AT_GENERATION 144u

/* Bytes of an entry that each type has at least. */
#define PXT_LOG_TYPE_BYTES    8u
#define PXT_LOG_THREAD_BYTES  48u
#define PXT_LOG_PROCESS_BYTES 352u
#define PXT_LOG_PROCESS_1_1   368u /* with the boot id */
#define PXT_LOG_PROCESS_1_2   416u /* with CPUs and system; as much as the smallest buffer takes */
#define PXT_LOG_MODULE_BYTES  64u
#define PXT_LOG_NOTE_BYTES    8u
#define PXT_LOG_CLOCK_BYTES   64u
#define PXT_LOG_CLEAR_BYTES   16u
#define PXT_LOG_SET_BYTES     32u
#define PXT_LOG_HEAD_BYTES    304u
#define PXT_LOG_TRAILER_BYTES 304u
/* The bytes of a trailer with a signal. */
#define PXT_LOG_CRASH_BYTES   336u

#endif
