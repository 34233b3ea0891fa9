/* SPDX-License-Identifier: MIT */
/*
 * logblocks.h - the file of a log that is being written: records and entries go into blocks, blocks
 * go into the file by one write each.
 *
 * The log has the byte order of its head: what another machine recorded stays as it is, and what
 * is added here (heads of blocks, losses, the trailer) is turned into its order.
 *
 * For any input, the log is consistent: each type that an event has gets a name, and a trailer whose
 * counts cannot be those of this log gets the log's own.
 *
 * Errors stay: after the first one nothing is written, and pxt_logblocks_close() tells it.
 */
#ifndef PXT_LOGBLOCKS_H
#define PXT_LOGBLOCKS_H

#include "format/logfmt.h"
#include "tools/packed/packed.h"
#include "tools/write/logwrite.h"

#include <stddef.h>
#include <stdint.h>

/* More losses than this no sum of counts holds, and no stream has. */
#define PXT_LOGBLOCKS_MOST (UINT64_C(1) << 62)

struct pxt_logblocks {
	int fd;
	int error; /* the first errno */
	bool swapped;
	char *path;
	char *temporary;           /* NULL: the log is under its name */
	struct pxt_packer *packer; /* NULL: it is not compressed */
	struct pxt_log_stream sums;
	struct pxt_log_block data;
	struct pxt_log_block meta;
	enum pxt_log_type meta_type;
	uint32_t room; /* of a block */
	unsigned char *memory;
	uint64_t last_ticks;                    /* the largest stamp so far */
	uint64_t missed;                        /* before the records of @data */
	unsigned char head[PXT_LOG_HEAD_BYTES]; /* the entry that repeats the file's head */
	bool anew; /* the head says that its stream was cleared, and counts more */
	bool used[PXT_LOG_IDS];
	bool named[PXT_LOG_IDS];
};

/*
 * Begins @path (NULL: memory without a name), compressed if its name ends in ".zst", with @head, PXT_LOG_HEADER_BYTES bytes of which @header was read; the layout is
 * sequential.  False: there is no memory.  All other errors come to light in close.
 */
bool pxt_logblocks_open(struct pxt_logblocks *log, const char *path, enum pxt_logmode mode,
    const unsigned char *head, const struct pxt_log_header *header);

/* @slots: a whole record of @count slots, in the log's order.  False: no block is that large. */
bool pxt_logblocks_record(
    struct pxt_logblocks *log, const unsigned char *slots, uint32_t count, uint64_t ticks);
/* What would make the sum over all larger than PXT_LOGBLOCKS_MOST is left out. */
void pxt_logblocks_loss(struct pxt_logblocks *log, uint64_t records);
/*
 * So many records of the stream, in all, are not in the log: those that follow are numbered after
 * them, and begin a block.
 */
void pxt_logblocks_missed(struct pxt_logblocks *log, uint64_t records);
/* @entry: one of a block of @type, checked, in the log's order.  False: no block is that large. */
bool pxt_logblocks_entry(
    struct pxt_logblocks *log, enum pxt_log_type type, const unsigned char *entry, uint32_t bytes);
void pxt_logblocks_type(
    struct pxt_logblocks *log, uint32_t id, const char *name, const char *format);
/* Makes names for types that events have and nobody has named; returns how many. */
uint32_t pxt_logblocks_name_rest(struct pxt_logblocks *log);
/* The block under construction that takes entries of @type; for logs in this machine's order. */
struct pxt_log_block *pxt_logblocks_meta(struct pxt_logblocks *log, enum pxt_log_type type);
/* That block is full: it goes into the file, and an empty one of the same type is returned. */
struct pxt_log_block *pxt_logblocks_more(struct pxt_logblocks *log);
/* A note, in either order. */
void pxt_logblocks_note(struct pxt_logblocks *log, const struct posix_trace_lognote_np *note);
/* A clock reading, in either order. */
void pxt_logblocks_clock(struct pxt_logblocks *log, const struct pxt_log_clock *clock);
/* What comes before is not to be reported: @records of log and stream were cleared. */
void pxt_logblocks_clear(struct pxt_logblocks *log, uint64_t ticks, uint64_t records);
/* Everything put so far goes into the file. */
void pxt_logblocks_flush(struct pxt_logblocks *log);

/*
 * The trailer; the numbers of blocks in it are filled in here, and its counts are corrected where
 * they contradict the log.  NULL: the log stays a growing one.  Frees what is held; returns 0 or
 * the first error.
 */
int pxt_logblocks_close(struct pxt_logblocks *log, struct pxt_log_trailer *trailer);
/* Gives up: a temporary file is removed, a growing one stays as it is. */
void pxt_logblocks_abandon(struct pxt_logblocks *log);

/*
 * What format/logfmt.c wrote in this machine's byte order, turned into the other one: for
 * logs whose records come from a machine of that order.
 */

/* @count numbers of @bytes bytes each, from offset @at on. */
struct pxt_logswap {
	uint16_t at;
	uint8_t bytes;
	uint8_t count;
};

/* Turns the numbers that @count runs tell of. */
void pxt_logswap(unsigned char *at, const struct pxt_logswap *runs, size_t count);
/* The head of a file, and its checksum anew. */
void pxt_logswap_head(unsigned char *head);
/* The head of a finished block, and its checksum anew; the contents stay as they are. */
void pxt_logswap_block(unsigned char *block, uint32_t length);
/* A slot (loss). */
void pxt_logswap_slot(unsigned char *slot);
/* The entry of a TYPES, THREADS, PROCESS, MODULES, CLOCKS, CLEAR or TRAILER block. */
void pxt_logswap_type(unsigned char *entry);
void pxt_logswap_thread(unsigned char *entry);
void pxt_logswap_process(unsigned char *entry);
void pxt_logswap_module(unsigned char *entry);
void pxt_logswap_note(unsigned char *entry);
void pxt_logswap_clocks(unsigned char *entry);
void pxt_logswap_clear(unsigned char *entry);
void pxt_logswap_trailer(unsigned char *entry);

#endif
