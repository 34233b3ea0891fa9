/* SPDX-License-Identifier: MIT */
/* behind.c - memory of a growing log given back behind its reader; see behind.h. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "tools/read/behind.h"

#include <fcntl.h>
#include <unistd.h>

#define PAGE  4096u
#define PIECE ((uint64_t)1 << 20) /* is worth a call of the system */

static bool begin(struct pxt_behind *behind)
{
	unsigned char raw[PXT_LOG_HEADER_BYTES];

	if (pread(behind->fd, raw, sizeof raw, 0) != (ssize_t)sizeof raw ||
	    pxt_logfmt_get_header(raw, &behind->header) ||
	    behind->header.layout != PXT_LAYOUT_SEQUENTIAL)
		return false;
	behind->at = behind->header.header_bytes;
	behind->freed = (behind->at + PAGE - 1) / PAGE * PAGE;
	return behind->begun = true;
}

/*
 * The block at after->at, if event @number comes after it.  One that is no DATA block, or has no
 * records, was read as well when a later one was: each call ends at a DATA block that has some.
 */
static bool passed(const struct pxt_behind *behind, uint64_t number, uint32_t *length)
{
	unsigned char raw[PXT_LOG_BLOCK_BYTES];
	struct pxt_log_blockhead head;

	if (pread(behind->fd, raw, sizeof raw, (off_t)behind->at) != (ssize_t)sizeof raw ||
	    pxt_logfmt_get_block(raw, &behind->header, &head))
		return false;
	*length = head.length;
	return head.type != PXT_LOG_DATA || head.records_total + head.missed <= number;
}

void pxt_behind_read(struct pxt_behind *behind, uint64_t number)
{
	uint32_t length;

	if (behind->off || (!behind->begun && !begin(behind))) {
		behind->off = true;
		return;
	}
	/* Bound: blocks written so far, each passed once.  A block is no shorter than its head. */
	while (passed(behind, number, &length))
		behind->at += length;
	uint64_t end = behind->at / PAGE * PAGE;
	if (end < behind->freed + PIECE)
		return;
	behind->off = fallocate(behind->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	                  (off_t)behind->freed, (off_t)(end - behind->freed)) != 0;
	behind->freed = end;
}
