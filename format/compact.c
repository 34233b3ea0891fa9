/* SPDX-License-Identifier: MIT */
/* compact.c - compresses records for a line (COMPACT frames): what a frame said of a record is not repeated. */
#include "format/frame.h"

#include "format/logfmt.h"

#define ADDRESS_BYTES (PXT_LOG_CTX_BYTES - PXT_LOG_THREAD_CTX)
#define GROUP         8u /* bytes of data that have their zeros told by one byte */

static void send(struct pxt_compact *to)
{
	pxt_frame_add(to->frame, to->bytes, to->waiting);
	to->written += to->waiting;
	to->waiting = 0;
}

static void put(struct pxt_compact *to, uint32_t byte)
{
	if (to->waiting == sizeof(to->bytes))
		send(to);
	to->bytes[to->waiting++] = (unsigned char)byte;
}

/* Seven bits a byte, the lowest first; the last one has no eighth bit. */
static void put_number(struct pxt_compact *to, uint64_t number)
{
	for (; number > 0x7fu; number >>= 7)
		put(to, (uint32_t)number | 0x80u);
	put(to, (uint32_t)number);
}

/* The next byte of a payload: a slot has twelve, or all of them. */
static uint32_t take(const unsigned char **at)
{
	if (PXT_SLOT_PAYLOAD < PXT_SLOT_BYTES && ((uintptr_t)*at & (PXT_SLOT_BYTES - 1u)) == 0)
		*at += PXT_SLOT_BYTES - PXT_SLOT_PAYLOAD;
	return *(*at)++;
}

static uint64_t take_little(const unsigned char **at, uint32_t bytes)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < bytes; i++)
		value |= (uint64_t)take(at) << 8 * i;
	return value;
}

/* The site's number, or PXT_COMPACT_NEW where the frame has not told it: it has now. */
static uint32_t site_of(struct pxt_compact *told, uint32_t info, uintptr_t address)
{
	uint32_t known = told->sites < PXT_COMPACT_SITES ? told->sites : PXT_COMPACT_SITES;

	for (uint32_t i = 0; i < known; i++)
		if (told->site[i].info == info && told->site[i].address == address)
			return i;
	known = told->sites++ % PXT_COMPACT_SITES;
	told->site[known].info = info;
	told->site[known].address = address;
	return PXT_COMPACT_NEW;
}

static void put_site(struct pxt_compact *to, uint32_t info, uintptr_t address)
{
	uint32_t rest = info >> 22;

	put_number(to, pxt_info_id(info) << 1 | (rest ? PXT_COMPACT_ODD : 0u));
	put_number(to, pxt_info_bytes(info));
	if (rest)
		put_number(to, rest);
	put_number(to, address ^ to->address);
	to->address = address;
}

/* How many bytes the difference takes, less one; PXT_COMPACT_FAR: it is a number. */
static uint32_t width_of(uint64_t difference)
{
	uint32_t width = 0;

	while (width < PXT_COMPACT_FAR && difference >> 8 * (width + 1u))
		width++;
	return width;
}

static void put_stamp(struct pxt_compact *to, uint64_t difference, uint32_t width)
{
	if (width == PXT_COMPACT_FAR) {
		put_number(to, difference);
		return;
	}
	for (uint32_t i = 0; i <= width; i++)
		put(to, (uint32_t)(difference >> 8 * i));
}

/* Whether it is shorter without its zeros. */
static bool is_sparse(const unsigned char *at, uint32_t bytes)
{
	uint32_t zeros = 0;

	for (uint32_t i = 0; i < bytes; i++)
		zeros += take(&at) == 0;
	return zeros > (bytes + GROUP - 1u) / GROUP;
}

static void put_sparse(struct pxt_compact *to, const unsigned char *at, uint32_t bytes)
{
	while (bytes) {
		uint32_t count = bytes < GROUP ? bytes : GROUP;
		const unsigned char *ahead = at;
		uint32_t there = 0;

		for (uint32_t i = 0; i < count; i++)
			there |= (uint32_t)(take(&ahead) != 0) << i;
		put(to, there);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t byte = take(&at);

			if (byte)
				put(to, byte);
		}
		bytes -= count;
	}
}

static void put_raw(struct pxt_compact *to, const unsigned char **at, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		put(to, take(at));
}

void pxt_compact_put(struct pxt_compact *to, const struct pxt_slot *slot)
{
	const unsigned char *at = (const unsigned char *)(slot + 1);
	uint32_t info = slot->word[1];
	uint32_t bytes = pxt_info_bytes(info);
	uint32_t thread = (uint32_t)take_little(&at, PXT_LOG_THREAD_CTX);
	uintptr_t address = (uintptr_t)take_little(&at, ADDRESS_BYTES);
	uint64_t difference = pxt_slot_ticks(slot) - to->ticks;
	uint32_t lead = width_of(difference);
	const unsigned char *data = at + (pxt_info_extra(info) ? PXT_SLOT_BYTES : 0u);
	uint32_t site = site_of(to, info, address);

	to->ticks += difference;
	lead |= site << PXT_COMPACT_SITE_SHIFT;
	if (thread != (site == PXT_COMPACT_NOBODY ? PXT_THREAD_NONE : to->thread))
		lead |= PXT_COMPACT_THREAD;
	if (is_sparse(data, bytes))
		lead |= PXT_COMPACT_SPARSE;
	put(to, lead);
	if (site == PXT_COMPACT_NEW)
		put_site(to, info, address);
	if (lead & PXT_COMPACT_THREAD)
		put_number(to, thread);
	if (thread != PXT_THREAD_NONE)
		to->thread = thread;
	put_stamp(to, difference, lead & PXT_COMPACT_FAR);
	if (pxt_info_extra(info))
		put_raw(to, &at, PXT_THREAD_EXTRA_BYTES);
	if (lead & PXT_COMPACT_SPARSE)
		put_sparse(to, data, bytes);
	else
		put_raw(to, &data, bytes);
}

void pxt_compact_put_loss(struct pxt_compact *to, uint64_t records)
{
	put(to, PXT_COMPACT_LOSS << PXT_COMPACT_SITE_SHIFT);
	put_number(to, records);
}

void pxt_compact_begin(struct pxt_compact *to, struct pxt_frame *frame, uint64_t ticks)
{
	to->frame = frame;
	to->written = 0;
	to->waiting = 0;
	to->ticks = ticks;
	to->address = 0;
	to->thread = PXT_THREAD_NONE;
	to->sites = PXT_COMPACT_FIRST_SITES;
	to->site[0].info = PXT_COMPACT_FIRST;
	to->site[0].address = 0;
	to->site[1].info = PXT_COMPACT_SECOND;
	to->site[1].address = 0;
}

bool pxt_compact_fits(const struct pxt_compact *to, uint32_t data, uint32_t room)
{
	return to->written + to->waiting + data + PXT_COMPACT_MOST <= room;
}

void pxt_compact_end(struct pxt_compact *to)
{
	send(to);
}

static bool is_loss(const struct pxt_slot *slot)
{
	return pxt_info_id(slot->word[1]) == PXT_LOG_ID_LOSS;
}

static uint32_t data_of(const struct pxt_slot *slot)
{
	return is_loss(slot) ? 0u : pxt_info_bytes(slot->word[1]);
}

bool pxt_compact_takes(const struct pxt_slot *slot, uint32_t room)
{
	return slot->word[0] == PXT_SLOT_BEGIN && data_of(slot) + PXT_COMPACT_MOST <= room;
}

uint32_t pxt_compact_add(struct pxt_frame *frame, const struct pxt_slot *slot, uint32_t bytes,
    uint32_t room, uint64_t ticks)
{
	const struct pxt_slot *at = slot;
	const struct pxt_slot *end = slot + bytes / PXT_SLOT_BYTES;
	struct pxt_compact to;

	pxt_compact_begin(&to, frame, ticks);
	while (
	    at < end && at->word[0] == PXT_SLOT_BEGIN && pxt_compact_fits(&to, data_of(at), room)) {
		if (is_loss(at)) {
			pxt_compact_put_loss(&to, pxt_slot_ticks(at));
			at++;
			continue;
		}
		pxt_compact_put(&to, at);
		at += pxt_info_slots(at->word[1], PXT_CTX_BYTES);
	}
	pxt_compact_end(&to);
	return (uint32_t)(at - slot) * PXT_SLOT_BYTES;
}
