/* SPDX-License-Identifier: MIT */
/*
 * coded_get.c - the slots of a coded block, as its writer had them.
 *
 * Trusts nothing: each byte is there before it is read, each record fits before it is made, and what
 * was not told is damage.
 */
#include "format/coded.h"

#include "format/logfmt_fields.h"
#include "format/mul64.h"

#define CONTEXT_MOST 8u
#define INFO_BYTES   3u

struct reader {
	const unsigned char *at;
	uint32_t left;
	bool odd; /* something was wrong */
	struct pxt_coded_told *told;
	struct pxt_coded_site *site; /* of the record before */
	uint32_t who;
	uint64_t ticks;
	/* What records of the log have. */
	bool swapped;
	uint32_t ctx_bytes;
	uint32_t thread_bytes;
};

/* A record's context and the beginning of its data, or what slots take of it at once. */
struct payload {
	unsigned char
	    bytes[CONTEXT_MOST + PXT_THREAD_EXTRA_BYTES + PXT_CODED_KEPT + PXT_SLOT_PAYLOAD];
	uint32_t used;
};

/* @bytes bytes, which are there or zeros. */
PXT_INLINE const unsigned char *get(struct reader *in, uint32_t bytes)
{
	static const unsigned char zeros[PXT_CODED_KEPT];
	const unsigned char *at = in->at;

	if (bytes > in->left) {
		in->odd = true;
		return zeros;
	}
	in->at += bytes;
	in->left -= bytes;
	return at;
}

PXT_INLINE uint32_t get_byte(struct reader *in)
{
	return *get(in, 1);
}

/* A number of up to 8 bytes.  But for the end of a block, 8 are read at once. */
PXT_INLINE uint64_t get_little(struct reader *in, uint32_t bytes)
{
	uint64_t number = 0;

	if (PXT_LIKELY(in->left >= sizeof(number) && bytes)) {
		memcpy(&number, in->at, sizeof(number));
		in->at += bytes;
		in->left -= bytes;
		return pxt_coded_little(number) & UINT64_MAX >> (64u - 8u * bytes);
	}
	memcpy(&number, get(in, bytes), bytes);
	return pxt_coded_little(number);
}

/* ---- Parts of a record ---- */

PXT_INLINE void get_site(struct reader *in, uint32_t number)
{
	struct pxt_coded_site *site = &in->told->site[number & ~PXT_CODED_NEW];
	uint32_t id;

	in->site = site;
	if (!(number & PXT_CODED_NEW))
		return;
	site->info = (uint32_t)get_little(in, INFO_BYTES);
	site->address = get_little(in, in->ctx_bytes - in->thread_bytes);
	memset(site->data, 0, sizeof(site->data));
	id = pxt_info_id(site->info);
	in->odd |= id == 0 || id == PXT_ID_MARK || id == PXT_LOG_ID_LOSS;
}

PXT_INLINE void get_who(struct reader *in, uint32_t who)
{
	if (who != PXT_CODED_WHO_NEW) {
		in->who = who;
		in->odd |= in->told->who[who] == PXT_CODED_NOBODY;
		return;
	}
	who = get_byte(in);
	in->odd |= who >= PXT_CODED_WHOS;
	in->who = who % PXT_CODED_WHOS;
	who = get_byte(in);
	in->told->who[in->who] = who | (uint32_t)get_little(in, in->thread_bytes) << 8;
}

/* What the site keeps of its data becomes this record's. */
PXT_INLINE void get_sparse(struct reader *in, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i += 8u) {
		uint64_t *kept = &in->site->data[i / 8u];
		uint32_t there = get_byte(in);
		uint64_t changed = 0;

		in->odd |= bytes - i < 8u && there >> (bytes - i);
		for (; there; there &= there - 1u)
			changed |= (uint64_t)get_byte(in) << 8u * (uint32_t)__builtin_ctz(there);
		*kept ^= pxt_coded_little(changed);
	}
}

PXT_INLINE void get_kept(struct reader *in, uint32_t bytes, bool sparse, struct payload *payload)
{
	if (sparse)
		get_sparse(in, bytes);
	else
		for (uint32_t i = 0; i < bytes; i += 8u)
			in->site->data[i / 8u] =
			    pxt_coded_little(get_little(in, bytes - i < 8u ? bytes - i : 8u));
	memcpy(payload->bytes + payload->used, in->site->data, PXT_CODED_KEPT);
	payload->used += bytes;
}

/* ---- Slots ---- */

PXT_INLINE void put32(const struct reader *in, unsigned char *at, uint32_t value)
{
	value = in->swapped ? __builtin_bswap32(value) : value;
	memcpy(at, &value, sizeof(value));
}

PXT_INLINE void put_begin(
    const struct reader *in, unsigned char *slot, uint32_t info, uint64_t ticks)
{
	put32(in, slot, PXT_SLOT_BEGIN);
	put32(in, slot + 4, info);
	put32(in, slot + 8, (uint32_t)ticks);
	put32(in, slot + 12, (uint32_t)(ticks >> 32));
}

/* Whole slots: what is behind the payload's end is zeros. */
PXT_INLINE void put_payload(unsigned char *slot, const struct payload *payload)
{
	for (uint32_t i = 0; i < payload->used; i += PXT_SLOT_PAYLOAD) {
		slot += PXT_SLOT_BYTES;
		memset(slot, 0, 4);
		memcpy(slot + 4, payload->bytes + i, PXT_SLOT_PAYLOAD);
	}
}

/* @slot: the begin slot of a record whose payload has @used bytes so far, the last slot's rest being zeros. */
static void put_rest(unsigned char *slot, uint32_t used, const unsigned char *from, uint32_t bytes)
{
	const uint32_t skip = used % PXT_SLOT_PAYLOAD;
	uint32_t part = skip ? PXT_SLOT_PAYLOAD - skip : 0;

	slot += (size_t)(1u + used / PXT_SLOT_PAYLOAD) * PXT_SLOT_BYTES;
	if (skip) {
		part = part < bytes ? part : bytes;
		memcpy(slot + 4 + skip, from, part);
		slot += PXT_SLOT_BYTES;
	}
	from += part;
	for (bytes -= part; bytes >= PXT_SLOT_PAYLOAD; bytes -= PXT_SLOT_PAYLOAD) {
		memset(slot, 0, 4);
		memcpy(slot + 4, from, PXT_SLOT_PAYLOAD);
		from += PXT_SLOT_PAYLOAD;
		slot += PXT_SLOT_BYTES;
	}
	if (bytes) {
		memset(slot, 0, PXT_SLOT_BYTES);
		memcpy(slot + 4, from, bytes);
	}
}

/* ---- Records ---- */

/* Bytes of its slots; 0: it is damaged or does not fit. */
PXT_INLINE uint32_t get_record(struct reader *in, uint32_t lead, unsigned char *to, uint32_t room)
{
	const uint32_t who = lead >> PXT_CODED_WHO_SHIFT;
	struct payload payload;
	uint64_t context;
	uint32_t bytes;
	uint32_t info;
	uint32_t slots;

	if (who != in->who || who == PXT_CODED_WHO_NEW)
		get_who(in, who);
	in->ticks += get_little(in, 1u << (lead & PXT_CODED_WIDTH));
	info = in->site->info;
	if (in->odd || info == 0)
		return 0;
	slots = pxt_info_slots(info, in->ctx_bytes);
	if (slots > room / PXT_SLOT_BYTES)
		return 0;
	memset(payload.bytes, 0, sizeof(payload.bytes));
	context = in->site->address << 8u * in->thread_bytes | in->told->who[in->who] >> 8;
	context = pxt_coded_little(context);
	memcpy(payload.bytes, &context, CONTEXT_MOST);
	payload.used = in->ctx_bytes;
	if (pxt_info_extra(info)) {
		memcpy(payload.bytes + payload.used, get(in, PXT_THREAD_EXTRA_BYTES),
		    PXT_THREAD_EXTRA_BYTES);
		payload.used += PXT_THREAD_EXTRA_BYTES;
	}
	bytes = pxt_info_bytes(info);
	if (bytes)
		get_kept(in, bytes < PXT_CODED_KEPT ? bytes : PXT_CODED_KEPT,
		    (lead & PXT_CODED_SPARSE) != 0, &payload);
	put_begin(in, to, info | (in->told->who[in->who] & 0xffu) << 24, in->ticks);
	put_payload(to, &payload);
	if (bytes > PXT_CODED_KEPT && in->left < bytes - PXT_CODED_KEPT)
		return 0;
	if (bytes > PXT_CODED_KEPT) {
		bytes -= PXT_CODED_KEPT;
		put_rest(to, payload.used, in->at, bytes);
		in->at += bytes;
		in->left -= bytes;
	}
	return in->odd ? 0 : slots * PXT_SLOT_BYTES;
}

PXT_INLINE uint32_t get_loss(struct reader *in, unsigned char *to, uint32_t room, uint64_t *lost)
{
	uint64_t number = get_little(in, 8);

	if (room < PXT_SLOT_BYTES || in->odd)
		return 0;
	put_begin(in, to, pxt_slot_info(PXT_LOG_ID_LOSS, 0, false, false, PXT_CPU_UNKNOWN), number);
	pxt_sum_add(lost, number);
	return PXT_SLOT_BYTES;
}

bool pxt_coded_get(struct pxt_coded_told *told, const struct pxt_log_header *header,
    const struct pxt_log_blockhead *head, const unsigned char *from, uint32_t bytes,
    unsigned char *to, uint32_t room, struct pxt_coded_made *made)
{
	struct reader in = { .at = from,
		.left = bytes,
		.told = told,
		.site = told->site,
		.who = PXT_CODED_WHO_NEW,
		.ticks = header->layout == PXT_LAYOUT_FRAMES ? 0 : head->begin,
		.swapped = header->swapped,
		.ctx_bytes = header->ctx_bytes,
		.thread_bytes = header->contents & PXT_LOG_HAS_THREAD ? 2u : 0u };

	memset(made, 0, sizeof(*made));
	pxt_coded_forget(told);
	/* Bound: the coded bytes. */
	while (in.left) {
		uint32_t lead = get_byte(&in);
		uint32_t site = lead & PXT_CODED_SITE ? get_byte(&in) : 0;
		uint32_t done;

		if ((site & ~PXT_CODED_NEW) == PXT_CODED_LOSS) {
			done = get_loss(&in, to + made->bytes, room - made->bytes, &made->lost);
		} else {
			if (lead & PXT_CODED_SITE)
				get_site(&in, site);
			done = get_record(&in, lead, to + made->bytes, room - made->bytes);
			made->count += done != 0;
		}
		if (!done)
			return false;
		made->bytes += done;
		made->read = bytes - in.left;
	}
	return true;
}
