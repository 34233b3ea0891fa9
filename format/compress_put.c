/* SPDX-License-Identifier: MIT */
/*
 * compress_put.c - compresses a block of a log: codes its slots in place.
 *
 * A record's coded bytes are at most as many as those of its slots, and its data comes no later in them
 * than in the slots.  So what is written never reaches what is still to be read, although eight bytes
 * are stored where fewer are meant:
 *
 *   bytes of context   in front of the data: coded, in slots   n bytes of data: stored, in slots
 *          8                    23          28                     n <= 4:   31      32
 *          6                    21          26                     n <= 6:   29      32
 *          0                    15          20                     n == 0:   15      16
 *
 * In a block that grows, slots begin at the next multiple of 16 behind what was coded before.
 *
 * What goes on from record to record is in a structure whose address nobody takes but what is inlined:
 * it stays in registers.
 */
#include "format/compress.h"

#include <string.h>

#define THREAD_BYTES  (CONFIG_PTRACE_RECORD_THREAD ? 2u : 0u)
#define ADDRESS_BYTES (PXT_CTX_BYTES - THREAD_BYTES)
#define INFO          0xffffffu
#define GROUP         8u /* bytes of data that are compared at once */
#define GROUPS        (PXT_CODED_KEPT / GROUP)

struct writer {
	unsigned char *to;
	struct pxt_compress_told *told;
	struct pxt_compress_site *site;  /* of the record before ... */
	struct pxt_compress_site *other; /* ... and the one that was before it */
	uint32_t who;                    /* its place in the table */
	uint64_t ticks;
};

/* The beginning of a record's data, and what of it differs from the one before. */
struct data {
	uint64_t now[GROUPS];
	uint64_t changed[GROUPS];
	uint32_t there[GROUPS]; /* bit i: byte i is not 0 */
	uint32_t kept;          /* bytes of all groups */
	bool sparse;
};

PXT_INLINE void put_little(struct writer *to, uint64_t number, size_t bytes)
{
	number = pxt_compress_little(number);
	memcpy(to->to, &number, sizeof(number));
	to->to += bytes;
}

PXT_INLINE uint64_t get_little(const unsigned char *at)
{
	uint64_t number;

	memcpy(&number, at, sizeof(number));
	return pxt_compress_little(number);
}

PXT_INLINE uint64_t context_of(const unsigned char *slot)
{
	uint64_t number = 0;

	if (PXT_CTX_BYTES)
		memcpy(&number, slot + PXT_SLOT_BYTES + 4, PXT_CTX_BYTES);
	return pxt_compress_little(number);
}

/* ---- Data ---- */

/* Bit 0 of each byte that is not 0. */
PXT_INLINE uint64_t not_zero(uint64_t number)
{
	const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);

	return (((number & low) + low) | number) >> 7 & UINT64_C(0x0101010101010101);
}

/*
 * Group @i, of which @left bytes are there; what is behind them is 0.  @slot: in which the data begins.
 * @i is a constant where this is called, and so is the place.
 */
PXT_INLINE uint64_t get_group(const unsigned char *slot, uint32_t i, uint32_t left)
{
	const uint32_t from = PXT_CTX_BYTES + i * GROUP;
	const uint32_t skip = from % PXT_SLOT_PAYLOAD;
	uint64_t number;

	slot += (size_t)(from / PXT_SLOT_PAYLOAD) * PXT_SLOT_BYTES;
	if (skip <= PXT_SLOT_PAYLOAD - GROUP) {
		number = get_little(slot + 4 + skip);
	} else {
		/* The last eight bytes of this slot, and the first of the next one. */
		number = get_little(slot + PXT_SLOT_BYTES - GROUP) >>
		         8u * (skip + GROUP - PXT_SLOT_PAYLOAD);
		if (left > PXT_SLOT_PAYLOAD - skip)
			number |= get_little(slot + PXT_SLOT_BYTES + 4)
			          << 8u * (PXT_SLOT_PAYLOAD - skip);
	}
	return left < GROUP ? number & ~(UINT64_MAX << 8u * left) : number;
}

/* Group @i, as it is and what of it differs. */
PXT_INLINE void compare(
    struct data *data, const unsigned char *slot, const struct pxt_compress_site *site, uint32_t i)
{
	if (i * GROUP >= data->kept)
		return;
	data->now[i] = get_group(slot, i, data->kept - i * GROUP);
	data->changed[i] = data->now[i] ^ site->data[i];
}

/* @site's group becomes what is now.  Returns the bytes that what differs takes. */
PXT_INLINE uint32_t note_changed(struct data *data, struct pxt_compress_site *site, uint32_t i)
{
	uint64_t differs;

	if (i * GROUP >= data->kept)
		return 0;
	site->data[i] = data->now[i];
	differs = not_zero(data->changed[i]);
	data->there[i] = (uint32_t)(differs * UINT64_C(0x0102040810204080) >> 56);
	return 1u + (uint32_t)(differs * UINT64_C(0x0101010101010101) >> 56);
}

PXT_INLINE void put_group(struct writer *to, const struct data *data, uint32_t i)
{
	uint32_t there;

	if (i * GROUP >= data->kept)
		return;
	if (!data->sparse) {
		put_little(to, data->now[i], GROUP);
		return;
	}
	*to->to++ = (unsigned char)data->there[i];
	for (there = data->there[i]; there; there &= there - 1u)
		*to->to++ =
		    (unsigned char)(data->changed[i] >> 8u * (uint32_t)__builtin_ctz(there));
}

/*
 * As most are: nothing but the lowest byte of the first group differs, or nothing.  False: more does, or the whole
 * data is no longer.
 */
PXT_INLINE bool put_as_before(struct writer *to, const struct data *data, uint32_t most)
{
	const uint64_t first = data->changed[0];
	const uint64_t there = first != 0;
	const uint32_t bytes =
	    (most > 1 ? (data->kept + GROUP - 1u) / GROUP : 1u) + (uint32_t)there;
	uint64_t others = 0;

#pragma GCC unroll 4
	for (uint32_t i = 1; i < most; i++)
		others |= data->changed[i];
	if (others || first > 0xffu || bytes >= data->kept)
		return false;
	put_little(to, there | first << 8, bytes);
	to->site->data[0] = data->now[0];
	return true;
}

/* Up to @most groups.  Returns whether what differs was told. */
PXT_INLINE bool put_groups(
    struct writer *to, const unsigned char *slot, uint32_t kept, uint32_t most)
{
	unsigned char *end = to->to + kept;
	struct data data = { .kept = kept };
	uint32_t bytes = 0;

#pragma GCC unroll 4
	for (uint32_t i = 0; i < most; i++)
		compare(&data, slot, to->site, i);
	if (put_as_before(to, &data, most))
		return true;
#pragma GCC unroll 4
	for (uint32_t i = 0; i < most; i++)
		bytes += note_changed(&data, to->site, i);
	data.sparse = bytes < kept;
#pragma GCC unroll 4
	for (uint32_t i = 0; i < most; i++)
		put_group(to, &data, i);
	to->to = data.sparse ? to->to : end;
	return data.sparse;
}

/* @bytes is a constant: all are read before one is written. */
PXT_INLINE void move(unsigned char *to, const unsigned char *from, uint32_t bytes)
{
	unsigned char piece[PXT_SLOT_BYTES];

	memcpy(piece, from, bytes);
	memcpy(to, piece, bytes);
}

/*
 * The data behind what a site keeps, in whole pieces: up to 11 bytes more than are meant.  Records with so much data
 * take at least 13 bytes more in slots than coded, so those are nobody's any more.
 */
PXT_INLINE unsigned char *put_rest(unsigned char *to, const unsigned char *slot, uint32_t bytes)
{
	const uint32_t from = PXT_CODED_KEPT + PXT_CTX_BYTES;
	const uint32_t skip = from % PXT_SLOT_PAYLOAD;
	unsigned char *end = to + bytes;

	slot += from / PXT_SLOT_PAYLOAD * PXT_SLOT_BYTES + 4u;
	move(to, slot + skip, PXT_SLOT_PAYLOAD - skip);
	to += PXT_SLOT_PAYLOAD - skip;
	slot += PXT_SLOT_BYTES;
	/* Of slots that are not the last, the next one's tag is moved, too. */
	for (; end - to > 4 * (ptrdiff_t)PXT_SLOT_PAYLOAD; to += (size_t)4 * PXT_SLOT_PAYLOAD) {
#pragma GCC unroll 4
		for (uint32_t i = 0; i < 4; i++)
			move(to + (size_t)i * PXT_SLOT_PAYLOAD, slot + (size_t)i * PXT_SLOT_BYTES,
			    PXT_SLOT_BYTES);
		slot += (size_t)4 * PXT_SLOT_BYTES;
	}
	for (; to < end; to += PXT_SLOT_PAYLOAD, slot += PXT_SLOT_BYTES)
		move(to, slot, PXT_SLOT_PAYLOAD);
	return end;
}

/* ---- Records ---- */

/* The place of a site in the table follows from what it is.  Returns what the lead says of it. */
PXT_INLINE uint32_t put_site(struct writer *to, uint32_t info, uint64_t address)
{
	struct pxt_compress_site *before = to->site;
	uint64_t mixed;
	uint32_t place;

	if (before->info == info && before->address == address)
		return 0;
	to->site = to->other;
	to->other = before;
	if (to->site->info == info && to->site->address == address) {
		*to->to++ = (unsigned char)(to->site - to->told->site);
		return PXT_CODED_SITE;
	}
	mixed = (address ^ (uint64_t)info << 40) * UINT64_C(0x9e3779b97f4a7c15);
	place = (uint32_t)(mixed >> 32) % PXT_CODED_SITES;
	to->site = &to->told->site[place];
	if (to->site->info == info && to->site->address == address) {
		*to->to++ = (unsigned char)place;
		return PXT_CODED_SITE;
	}
	to->site->info = info;
	to->site->address = address;
	memset(to->site->data, 0, sizeof(to->site->data));
	*to->to++ = (unsigned char)(place | PXT_CODED_NEW);
	put_little(to, info, 3);
	put_little(to, address, ADDRESS_BYTES);
	return PXT_CODED_SITE;
}

PXT_INLINE uint32_t put_who(struct writer *to, uint32_t thread, uint32_t cpu)
{
	const uint32_t who = thread << 8 | cpu;
	uint32_t *whos = to->told->who;

	if (whos[to->who] != who) {
		to->who = (who * 0x9e3779b1u >> 16) % PXT_CODED_WHOS;
		if (whos[to->who] != who) {
			whos[to->who] = who;
			put_little(to, to->who | cpu << 8, 2);
			put_little(to, thread, THREAD_BYTES);
			return PXT_CODED_WHO_NEW << PXT_CODED_WHO_SHIFT;
		}
	}
	return to->who << PXT_CODED_WHO_SHIFT;
}

/* Bytes of a stamp's difference, as a power of two. */
PXT_INLINE uint32_t width_of(uint64_t difference)
{
	if (difference >> 8 == 0)
		return 0;
	if (difference >> 16 == 0)
		return 1;
	return difference >> 32 == 0 ? 2 : 3;
}

/* @from: the slot in which the extra bytes begin, if there are any, and the data. */
PXT_INLINE const unsigned char *put_extra(
    struct writer *to, const unsigned char *from, const uint64_t *extra)
{
	put_little(to, extra[0], 8);
	put_little(to, extra[1], PXT_THREAD_EXTRA_BYTES - 8u);
	return from + PXT_SLOT_BYTES;
}

PXT_INLINE uint32_t info_of(const unsigned char *slot)
{
	uint32_t info;

	memcpy(&info, slot + 4, sizeof(info));
	return info;
}

/* Who it is from; returns what the lead says of it. */
PXT_INLINE uint32_t put_origin(struct writer *to, uint32_t info, uint64_t context)
{
	const uint32_t site = put_site(to, info & INFO, context >> 8u * THREAD_BYTES);

	return site |
	       put_who(to, (uint32_t)context & (THREAD_BYTES ? 0xffffu : 0u), pxt_info_cpu(info));
}

/* @bytes of data; @most: groups that they may have. */
PXT_INLINE bool put_data(
    struct writer *to, const unsigned char *from, uint32_t bytes, uint32_t most)
{
	bool sparse = put_groups(to, from, bytes < PXT_CODED_KEPT ? bytes : PXT_CODED_KEPT, most);

	if (most > 1 && bytes > PXT_CODED_KEPT)
		to->to = put_rest(to->to, from, bytes - PXT_CODED_KEPT);
	return sparse;
}

/*
 * As most are: the stamp is soon after the one before, and of the data the lowest byte differs, or nothing.
 * Puts both; @before: the site's data.  Returns what the lead says of them; 0: it is another one, nothing was put.
 * @skip: 1: the lead is put before them, with @who; or 0.
 */
PXT_INLINE uint32_t put_near(struct writer *to, uint32_t skip, uint32_t who, uint64_t difference,
    uint64_t now, uint64_t *before)
{
	const uint64_t changed = now ^ *before;
	const uint64_t there = changed != 0;
	uint32_t says = PXT_CODED_SPARSE;
	uint64_t number;

	if (changed > 0xffu || difference > 0xffffu)
		return 0;
	*before = now;
	if (difference <= 0xffu) {
		number = difference | there << 8 | changed << 16;
		put_little(
		    to, skip ? number << 8 | who | says : number, skip + 2u + (uint32_t)there);
	} else {
		says |= 1u;
		number = difference | there << 16 | changed << 24;
		put_little(
		    to, skip ? number << 8 | who | says : number, skip + 3u + (uint32_t)there);
	}
	return says;
}

/* With two bytes of data that would be no shorter than they are. */
PXT_INLINE bool may_be_near(uint32_t bytes)
{
	return bytes > 2u && bytes <= GROUP;
}

PXT_INLINE void put_record(
    struct writer *to, const unsigned char *slot, uint32_t info, uint64_t context)
{
	const uint64_t ticks = pxt_slot_ticks((const struct pxt_slot *)(const void *)slot);
	const uint64_t difference = ticks - to->ticks;
	const unsigned char *from = slot + PXT_SLOT_BYTES;
	unsigned char *lead = to->to++;
	const uint32_t bytes = pxt_info_bytes(info);
	uint64_t extra[2];
	uint32_t first;
	uint32_t near = 0;

	to->ticks = ticks;
	if (pxt_info_extra(info)) {
		extra[0] = get_group(from, 0, GROUP);
		extra[1] = get_group(from, 1, PXT_THREAD_EXTRA_BYTES - GROUP);
	}
	first = put_origin(to, info, context);
	if (may_be_near(bytes) && !pxt_info_extra(info))
		near = put_near(to, 0, 0, difference, get_group(from, 0, bytes), to->site->data);
	first |= near;
	if (!near) {
		first |= width_of(difference);
		put_little(to, difference, 1u << (first & PXT_CODED_WIDTH));
		if (pxt_info_extra(info))
			from = put_extra(to, from, extra);
		/* Apart, because most have so few bytes. */
		if (bytes <= GROUP ? put_data(to, from, bytes, 1)
		                   : put_data(to, from, bytes, GROUPS))
			first |= PXT_CODED_SPARSE;
	}
	*lead = (unsigned char)first;
}

/*
 * Those from @at on with the origin and the size of the one before, as most have: they tell stamp and
 * data alone.  @bytes of data; @most: groups that they may have.
 */
PXT_INLINE const unsigned char *put_row(struct writer *to, const unsigned char *at,
    const unsigned char *end, uint32_t info, uint64_t context, uint32_t bytes, uint32_t most)
{
	const size_t step = (size_t)pxt_slots_for(PXT_CTX_BYTES + bytes) * PXT_SLOT_BYTES;
	const uint32_t who = to->who << PXT_CODED_WHO_SHIFT;
	uint64_t before = to->site->data[0];

	/* Bound: the slots of the block. */
	for (; at < end && info_of(at) == info && context_of(at) == context; at += step) {
		const uint64_t ticks = pxt_slot_ticks((const struct pxt_slot *)(const void *)at);
		const uint64_t difference = ticks - to->ticks;
		unsigned char *lead;
		uint32_t first;

		to->ticks = ticks;
		if (may_be_near(bytes) && put_near(to, 1, who, difference,
		                              get_group(at + PXT_SLOT_BYTES, 0, bytes), &before))
			continue;
		lead = to->to++;
		to->site->data[0] = before;
		first = width_of(difference);
		put_little(to, difference, 1u << first);
		if (put_data(to, at + PXT_SLOT_BYTES, bytes, most))
			first |= PXT_CODED_SPARSE;
		*lead = (unsigned char)(first | who);
		before = to->site->data[0];
	}
	to->site->data[0] = before;
	return at;
}

/* A record and its row; returns what is behind them. */
PXT_INLINE const unsigned char *put_records(
    struct writer *to, const unsigned char *at, const unsigned char *end, uint32_t info)
{
	const uint64_t context = context_of(at);
	const uint32_t bytes = pxt_info_bytes(info);

	put_record(to, at, info, context);
	at += (size_t)pxt_info_slots(info, PXT_CTX_BYTES) * PXT_SLOT_BYTES;
	if (pxt_info_extra(info))
		return at;
	/* Apart, because most have so many. */
	if (!PXT_SMALL && bytes == 4)
		return put_row(to, at, end, info, context, 4, 1);
	if (bytes <= GROUP)
		return put_row(to, at, end, info, context, bytes, 1);
	return put_row(to, at, end, info, context, bytes, GROUPS);
}

PXT_INLINE void put_loss(struct writer *to, const unsigned char *slot)
{
	const uint64_t lost = pxt_slot_ticks((const struct pxt_slot *)(const void *)slot);

	*to->to++ = PXT_CODED_SITE;
	*to->to++ = PXT_CODED_LOSS;
	put_little(to, lost, 8);
}

/* The smallest stamp of a block that grows may still become smaller, so its first one is told whole. */
static void start(struct pxt_compress_told *told, const struct pxt_log_block *block)
{
	pxt_compress_forget(told);
	told->last_site = 0;
	told->last_who = 0;
	told->ticks = block->grows ? 0 : block->begin;
}

void pxt_compress_put(struct pxt_compress_told *told, struct pxt_log_block *block)
{
	unsigned char *begin = block->bytes + PXT_LOG_BLOCK_BYTES;
	const unsigned char *at = begin + pxt_logfmt_whole_slots(block->coded);
	const unsigned char *end = block->bytes + block->used;
	struct writer to = { .to = begin + block->coded, .told = told };

	if (block->coded == 0)
		start(told, block);
	to.site = &told->site[told->last_site];
	to.other = to.site;
	to.who = told->last_who;
	to.ticks = told->ticks;
	block->slots += (uint32_t)(end - at);
	/* Bound: the slots of the block. */
	while (at < end) {
		const uint32_t info = info_of(at);

		if (pxt_info_id(info) == PXT_LOG_ID_LOSS) {
			put_loss(&to, at);
			at += PXT_SLOT_BYTES;
		} else {
			at = put_records(&to, at, end, info);
		}
	}
	told->last_site = (uint32_t)(to.site - told->site);
	told->last_who = to.who;
	told->ticks = to.ticks;
	block->coded = (uint32_t)(to.to - begin);
	block->used = PXT_LOG_BLOCK_BYTES +
	              (block->grows ? pxt_logfmt_whole_slots(block->coded) : block->coded);
}
