/* SPDX-License-Identifier: MIT */
/* plain.c - blocks out of bytes. */
#include "tools/receive/run.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char block_magic[4] = PXT_LOG_BLOCK_MAGIC;

size_t pxt_receive_plain_add(
    struct pxt_receive_plain *plain, const unsigned char *bytes, size_t count)
{
	if (!plain->bytes)
		plain->bytes = malloc(PXT_RECEIVE_PLAIN_ROOM);
	if (!plain->bytes)
		return 0;
	if (count > PXT_RECEIVE_PLAIN_ROOM - plain->used)
		count = PXT_RECEIVE_PLAIN_ROOM - plain->used;
	memcpy(plain->bytes + plain->used, bytes, count);
	plain->used += count;
	return count;
}

void pxt_receive_plain_drop(struct pxt_receive_plain *plain, size_t count)
{
	plain->used -= count;
	memmove(plain->bytes, plain->bytes + count, plain->used);
}

/* After @from: the next place where a block may begin, or as far as one certainly does not. */
static size_t next_magic(const struct pxt_receive_plain *plain, size_t from)
{
	size_t at = from;

	while (plain->used - at >= sizeof block_magic &&
	       memcmp(plain->bytes + at, block_magic, sizeof block_magic) != 0)
		at++;
	return at;
}

static void deliver(
    struct pxt_receive_run *run, const unsigned char *block, const struct pxt_log_blockhead *head)
{
	uint32_t bytes = head->length - PXT_LOG_BLOCK_BYTES;
	bool data = head->type == PXT_LOG_DATA;
	const struct pxt_receive_totals before = { .frames = run->frames,
		.records = head->records_total - (data ? head->count : 0u),
		.lost = head->lost_total - head->lost };

	pxt_receive_run_totals(run, &before);
	run->missed_before = data ? head->missed : run->missed_before;
	if (data) {
		const unsigned char *slots = pxt_receive_run_decode(
		    run, &run->header, head, block + PXT_LOG_BLOCK_BYTES, &bytes);

		/* Without memory its records are missing, as the next block's sums say. */
		pxt_receive_run_slots(run, slots, slots ? bytes / PXT_SLOT_BYTES : 0);
	} else
		pxt_receive_run_entries(
		    run, head->type, head->count, block + PXT_LOG_BLOCK_BYTES, bytes);
}

enum pxt_receive_plain_want pxt_receive_plain_next(
    struct pxt_receive_plain *plain, struct pxt_receive_run *run)
{
	struct pxt_log_blockhead head;
	size_t at = 0;

	if (!run && plain->used >= PXT_LOG_HEADER_BYTES)
		return PXT_RECEIVE_PLAIN_HEAD;
	while (run && !run->ended && plain->used - at >= PXT_LOG_BLOCK_BYTES) {
		const unsigned char *block = plain->bytes + at;
		bool good = pxt_logfmt_get_block(block, &run->header, &head) == NULL;

		if (good && plain->used - at < head.length)
			break;
		good = good && pxt_logfmt_sound(block, head.length, run->header.swapped);
		if (good) {
			deliver(run, block, &head);
			at += head.length;
		} else {
			plain->bad++;
			at = next_magic(plain, at + 1);
		}
	}
	if (at)
		pxt_receive_plain_drop(plain, at);
	return run && run->ended ? PXT_RECEIVE_PLAIN_END : PXT_RECEIVE_PLAIN_MORE;
}
