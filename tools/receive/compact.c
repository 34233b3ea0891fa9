/* SPDX-License-Identifier: MIT */
/*
 * compact.c - records out of a COMPACT frame, or coded ones of a block, into slots, as a DATA frame has them; blocks
 * out of plain bytes.
 */
#include "format/compress.h"
#include "format/frame.h"

#include "tools/receive/run.h"

#include <stdlib.h>
#include <string.h>

/* ---- Records of a COMPACT frame ---- */

/* Bytes of a frame, and whether more were asked for than there are. */
struct reader {
	const unsigned char *at;
	const unsigned char *end;
	bool odd;
};

struct site {
	uint32_t info;
	uint64_t address;
};

/* What the frame has told so far. */
struct told {
	uint64_t ticks;
	uint64_t address;
	uint32_t thread;
	uint32_t sites;
	struct site site[PXT_COMPACT_SITES];
};

/* A record, as its slots are filled. */
struct filling {
	unsigned char slots[PXT_RECEIVE_RUN_RECORD_SLOTS * PXT_SLOT_BYTES];
	uint32_t bytes; /* of the payload so far */
};

static uint32_t get(struct reader *in)
{
	if (in->at == in->end) {
		in->odd = true;
		return 0;
	}
	return *in->at++;
}

static uint64_t get_number(struct reader *in)
{
	uint64_t number = 0;
	uint32_t shift = 0;
	uint32_t byte;

	do {
		byte = get(in);
		number |= (uint64_t)(byte & 0x7fu) << shift;
		shift += 7;
	} while (byte & 0x80u && shift < 64u);
	in->odd |= (byte & 0x80u) != 0;
	return number;
}

static uint64_t get_little(struct reader *in, uint32_t bytes)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < bytes; i++)
		value |= (uint64_t)get(in) << 8 * i;
	return value;
}

/* ---- Slots ---- */

static void put32(unsigned char *at, uint32_t value, bool swapped)
{
	value = swapped ? __builtin_bswap32(value) : value;
	memcpy(at, &value, sizeof value);
}

static void fill(struct filling *to, uint32_t byte)
{
	uint32_t slot = 1u + to->bytes / PXT_SLOT_PAYLOAD;
	uint32_t place = PXT_SLOT_BYTES - PXT_SLOT_PAYLOAD + to->bytes % PXT_SLOT_PAYLOAD;

	to->slots[slot * PXT_SLOT_BYTES + place] = (unsigned char)byte;
	to->bytes++;
}

static void fill_little(struct filling *to, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		fill(to, (uint32_t)(value >> 8 * i) & 0xffu);
}

static void begin(
    struct filling *to, const struct pxt_receive_run *run, uint32_t info, uint64_t ticks)
{
	memset(to, 0, sizeof *to);
	put32(to->slots, PXT_SLOT_BEGIN, run->header.swapped);
	put32(to->slots + 4, info, run->header.swapped);
	put32(to->slots + 8, (uint32_t)ticks, run->header.swapped);
	put32(to->slots + 12, (uint32_t)(ticks >> 32), run->header.swapped);
}

/* ---- Records ---- */

static struct site new_site(struct reader *in, struct told *told)
{
	uint64_t type = get_number(in);
	uint64_t bytes = get_number(in);
	uint64_t rest = type & PXT_COMPACT_ODD ? get_number(in) : 0;
	struct site *site = &told->site[told->sites++ % PXT_COMPACT_SITES];

	in->odd |= type >> 1 > 0x3ffu || bytes > 0xfffu || rest > 0x3ffu;
	in->odd |= type >> 1 == PXT_LOG_ID_LOSS;
	told->address ^= get_number(in);
	site->info = (uint32_t)(rest << 22 | bytes << 10 | type >> 1);
	site->address = told->address;
	return *site;
}

static struct site site_of(struct reader *in, struct told *told, uint32_t site)
{
	if (site == PXT_COMPACT_NEW)
		return new_site(in, told);
	if (site < told->sites)
		return told->site[site];
	in->odd = true;
	return told->site[0];
}

static uint64_t get_stamp(struct reader *in, uint32_t width)
{
	return width == PXT_COMPACT_FAR ? get_number(in) : get_little(in, width + 1u);
}

static void get_data(struct reader *in, struct filling *to, uint32_t bytes, bool sparse)
{
	uint32_t there = 0xffu;

	for (uint32_t i = 0; i < bytes; i++) {
		if (sparse && i % 8u == 0)
			there = get(in);
		fill(to, there >> i % 8u & 1u ? get(in) : 0);
	}
}

static void get_record(
    struct reader *in, const struct pxt_receive_run *run, struct told *told, struct filling *to)
{
	uint32_t context = run->header.ctx_bytes;
	uint32_t thread_bytes = run->header.contents & PXT_LOG_HAS_THREAD ? 2u : 0u;
	uint32_t lead = get(in);
	uint32_t number = lead >> PXT_COMPACT_SITE_SHIFT;
	struct site site = site_of(in, told, number);
	uint32_t thread = number == PXT_COMPACT_NOBODY ? PXT_THREAD_NONE : told->thread;

	if (lead & PXT_COMPACT_THREAD)
		thread = (uint32_t)get_number(in);
	if (thread != PXT_THREAD_NONE)
		told->thread = thread;
	told->ticks += get_stamp(in, lead & PXT_COMPACT_FAR);
	begin(to, run, site.info, told->ticks);
	fill_little(to, thread, thread_bytes);
	fill_little(to, site.address, context - thread_bytes);
	if (pxt_info_extra(site.info))
		get_data(in, to, PXT_THREAD_EXTRA_BYTES, false);
	get_data(in, to, pxt_info_bytes(site.info), lead & PXT_COMPACT_SPARSE);
}

void pxt_receive_run_compact(
    struct pxt_receive_run *run, const unsigned char *contents, uint32_t bytes)
{
	struct reader in = { .at = contents, .end = contents + bytes };
	struct told told = { .ticks = run->header.created.ticks,
		.sites = PXT_COMPACT_FIRST_SITES,
		.site = { { PXT_COMPACT_FIRST, 0 }, { PXT_COMPACT_SECOND, 0 } } };
	struct filling record;

	while (in.at < in.end) {
		if (*in.at >> PXT_COMPACT_SITE_SHIFT == PXT_COMPACT_LOSS) {
			in.at++;
			begin(&record, run, PXT_LOG_ID_LOSS, get_number(&in));
		} else {
			get_record(&in, run, &told, &record);
		}
		if (in.odd) {
			/* Its records are missing, as the next frame's number says. */
			run->odd++;
			return;
		}
		pxt_receive_run_slots(run, record.slots,
		    1u + (record.bytes + PXT_SLOT_PAYLOAD - 1u) / PXT_SLOT_PAYLOAD);
	}
}

/* ---- Blocks ---- */

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

/* ---- Coded records of a block ---- */

const unsigned char *pxt_receive_run_decode(struct pxt_receive_run *run,
    const struct pxt_log_header *header, const struct pxt_log_blockhead *head,
    const unsigned char *contents, uint32_t *bytes)
{
	struct pxt_compress_made made;
	unsigned char *slots;

	if (!head->coded)
		return contents;
	if (!run->decoded)
		run->decoded = malloc(sizeof(struct pxt_compress_told) + PXT_LOG_BLOCK_MAX);
	if (!run->decoded)
		return NULL;
	slots = run->decoded + sizeof(struct pxt_compress_told);
	(void)pxt_compress_get((struct pxt_compress_told *)(void *)run->decoded, header, head,
	    contents, head->coded < *bytes ? head->coded : *bytes, slots, header->largest_block,
	    &made);
	*bytes = made.bytes;
	return slots;
}
