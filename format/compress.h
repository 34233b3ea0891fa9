/* SPDX-License-Identifier: MIT */
/*
 * compress.h - compression of a log's blocks: records in few bytes, FORMAT.md, section 5.3, in C.
 *
 * A block is filled with slots, and coded in place before it is written (compress_put.c); a reader makes
 * the same slots of it again (compress_get.c).  Each block is coded by
 * itself: what one told of a site or of a thread, another one tells again.
 *
 *   concurrency: none; the block and the table are the caller's.
 */
#ifndef PXT_COMPRESS_H
#define PXT_COMPRESS_H

#include "format/logfmt.h"

#define PXT_CODED_SITES 127u /* known at a time; each has a number */
#define PXT_CODED_WHOS  15u  /* threads on CPUs, likewise */
#define PXT_CODED_KEPT  32u  /* bytes of data that are known of a site, at most */

/* The first byte of a record. */
#define PXT_CODED_WIDTH     3u  /* 1 << this: the bytes of the stamp's difference */
#define PXT_CODED_SPARSE    4u  /* the beginning of the data is told by what differs from before */
#define PXT_CODED_SITE      8u  /* another site than before: its number follows */
#define PXT_CODED_WHO_SHIFT 4u  /* who, or ... */
#define PXT_CODED_WHO_NEW   15u /* ... its entry follows */
/* The number of a site. */
#define PXT_CODED_NEW       0x80u /* its entry follows */
#define PXT_CODED_LOSS      127u  /* no record but a loss */

/* Where something is recorded, and what was there before. */
struct pxt_compress_site {
	uint64_t address;
	uint64_t data[PXT_CODED_KEPT / 8u]; /* as bytes; zeros behind the end */
	uint32_t info; /* word 1 of a begin slot, without the CPU; 0: not told yet */
};

/* What the block has told so far. */
struct pxt_compress_told {
	struct pxt_compress_site site[PXT_CODED_SITES];
	uint32_t who[PXT_CODED_WHOS]; /* CPU, and 8 bits above it the thread's index */
	/* Of the latest record, where the writer goes on after it. */
	uint32_t last_site;
	uint32_t last_who;
	uint64_t ticks;
};

#define PXT_CODED_NOBODY 0xffffffffu /* no such place was told yet */

PXT_INLINE void pxt_compress_forget(struct pxt_compress_told *told)
{
	for (uint32_t i = 0; i < PXT_CODED_SITES; i++)
		told->site[i].info = 0;
	for (uint32_t i = 0; i < PXT_CODED_WHOS; i++)
		told->who[i] = PXT_CODED_NOBODY;
}

/* A little-endian number of memory, and the other way round. */
PXT_INLINE uint64_t pxt_compress_little(uint64_t number)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? number : __builtin_bswap64(number);
}

/*
 * Codes the slots of @block, which is full or to be written as it is: nothing can be put into it any
 * more.  They take at most as many bytes as before.  Into a block that grows more slots may be put, which
 * the next call codes behind those; @told is what it was.
 */
void pxt_compress_put(struct pxt_compress_told *told, struct pxt_log_block *block);

/* What pxt_compress_get() has made. */
struct pxt_compress_made {
	uint32_t bytes; /* of slots */
	uint32_t count; /* records */
	uint64_t lost;
	uint32_t read; /* coded bytes of whole records */
};

/*
 * The slots of a block of @head, of which @bytes coded bytes are at @from, go to @to, in the log's byte
 * order.  False: a record is damaged, or does not fit @room bytes; *made tells of those before it.
 */
bool pxt_compress_get(struct pxt_compress_told *told, const struct pxt_log_header *header,
    const struct pxt_log_blockhead *head, const unsigned char *from, uint32_t bytes,
    unsigned char *to, uint32_t room, struct pxt_compress_made *made);

#endif
