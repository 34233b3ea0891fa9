/* SPDX-License-Identifier: MIT */
/*
 * compress_get.c - decompresses a block of a log: the slots of a coded block, as its writer had them.
 *
 * Trusts nothing: each byte is there before it is read, each record fits before it is made, and what
 * was not told is damage.
 */
#include "format/compress.h"

#include "format/logfmt_fields.h"
#include "format/mul64.h"

#define CONTEXT_MOST 8u
#define INFO_BYTES   3u
#define GROUPS       (PXT_CODED_KEPT / 8u)

struct reader {
	const unsigned char *at;
	uint32_t left;
	bool odd; /* something was wrong */
	struct pxt_compress_told *told;
	struct pxt_compress_site *site; /* of the record before */
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
		return pxt_compress_little(number) & UINT64_MAX >> (64u - 8u * bytes);
	}
	memcpy(&number, get(in, bytes), bytes);
	return pxt_compress_little(number);
}

/* ---- Parts of a record ---- */

PXT_INLINE void get_site(struct reader *in, uint32_t number)
{
	struct pxt_compress_site *site = &in->told->site[number & ~PXT_CODED_NEW];
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
		*kept ^= pxt_compress_little(changed);
	}
}

PXT_INLINE void get_kept(struct reader *in, uint32_t bytes, bool sparse, struct payload *payload)
{
	if (sparse)
		get_sparse(in, bytes);
	else
		for (uint32_t i = 0; i < bytes; i += 8u)
			in->site->data[i / 8u] =
			    pxt_compress_little(get_little(in, bytes - i < 8u ? bytes - i : 8u));
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
	context = pxt_compress_little(context);
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

/* ---- Many records of sites and threads that were told, as most are ---- */

/* Bytes that such a record reads at most, but for the data that no site keeps; and those that it writes. */
#define QUICK_CODED (2u + 8u + GROUPS * (1u + 8u) + 8u)
#define QUICK_SLOTS 80u

/* What a site and a thread say of each of their records; of the sites whose numbers share a place, the latest. */
#define ORIGINS 32u

struct origin {
	uint32_t key;    /* number of the site, and 8 bits above it the thread's; 0: none yet */
	uint32_t step;   /* bytes of slots */
	uint32_t kept;   /* bytes of data that the site keeps, and ... */
	uint32_t rest;   /* ... those behind them */
	uint32_t again;  /* the first byte of one more such record, but for width and form */
	uint32_t beyond; /* bits that its first group's first byte does not have */
	uint64_t begin;  /* words 0 and 1 of the begin slot, ... */
	uint64_t slot;   /* ... of the next one, and ... */
	uint64_t high;   /* ... what word 2 has beside data */
	uint64_t *data;
};

/* Where numbers lie in memory as in the log, a context has 8 bytes, and code is not to be small. */
PXT_INLINE bool is_usual(const struct reader *in)
{
	return !PXT_SMALL && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && PXT_SLOT_PAYLOAD == 12 &&
	       !in->swapped && in->ctx_bytes == CONTEXT_MOST;
}

PXT_INLINE void put_halves(unsigned char *slot, uint64_t low, uint64_t high)
{
	memcpy(slot, &low, sizeof(low));
	memcpy(slot + 8, &high, sizeof(high));
}

PXT_INLINE uint64_t load(const unsigned char *at)
{
	uint64_t number;

	memcpy(&number, at, sizeof(number));
	return number;
}

PXT_INLINE uint32_t key_of(uint32_t site, uint32_t lead)
{
	return site | ((lead >> PXT_CODED_WHO_SHIFT) + 1u) << 8;
}

/* Bits of a group's first byte that stand for more than its @left bytes. */
PXT_INLINE uint32_t bits_beyond(uint32_t left)
{
	return left < 8u ? UINT32_MAX << left : 0;
}

/* False: they are not told, or their records are not usual ones. */
static PXT_NOINLINE bool set_origin(const struct reader *in, struct origin *origin, uint32_t key)
{
	const struct pxt_compress_told *told = in->told;
	struct pxt_compress_site *site = &in->told->site[(key & 0xffu) % PXT_CODED_SITES];
	const uint32_t who = (key >> 8) - 1u;
	const uint32_t bytes = pxt_info_bytes(site->info);

	if ((key & 0xffu) >= PXT_CODED_LOSS || who == PXT_CODED_WHO_NEW ||
	    told->who[who] == PXT_CODED_NOBODY || site->info == 0 || pxt_info_extra(site->info))
		return false;
	origin->key = key;
	origin->kept = bytes < PXT_CODED_KEPT ? bytes : PXT_CODED_KEPT;
	origin->rest = bytes - origin->kept;
	origin->again = who << PXT_CODED_WHO_SHIFT;
	origin->step = pxt_info_slots(site->info, CONTEXT_MOST) * PXT_SLOT_BYTES;
	origin->begin =
	    (uint64_t)(site->info | (told->who[who] & 0xffu) << 24) << 32 | PXT_SLOT_BEGIN;
	origin->beyond = bits_beyond(bytes);
	origin->slot = ((uint64_t)(told->who[who] >> 8) | site->address << 16) << 32;
	origin->high = (site->address << 16) >> 32;
	origin->data = site->data;
	return true;
}

/* A group of @left bytes becomes this record's; returns what is behind it.  NULL: a bit @beyond them is set. */
PXT_INLINE const unsigned char *get_group(
    const unsigned char *at, uint64_t *data, uint32_t left, uint32_t beyond, bool sparse)
{
	uint64_t changed = 0;
	uint32_t there;

	if (!sparse) {
		*data = load(at) & (left < 8u ? ~(UINT64_MAX << 8u * left) : UINT64_MAX);
		return at + (left < 8u ? left : 8u);
	}
	there = *at++;
	/*
	 * As most are: the lowest byte differs, or none.  By branches: where the next record begins need not wait for the
	 * byte, as it would if it were added.
	 */
	if (PXT_LIKELY(there == 1u)) {
		*data ^= *at;
		return at + 1;
	}
	if (there == 0)
		return at;
	if (there & beyond)
		return NULL;
	for (; there; there &= there - 1u)
		changed |= (uint64_t)*at++ << 8u * (uint32_t)__builtin_ctz(there);
	*data ^= changed;
	return at;
}

/* The data that its site keeps. */
PXT_INLINE const unsigned char *get_groups(
    const unsigned char *at, const struct origin *origin, bool sparse)
{
	if (origin->kept == 0)
		return at;
	at = get_group(at, &origin->data[0], origin->kept, origin->beyond, sparse);
	for (uint32_t i = 8u; at && i < origin->kept; i += 8u)
		at = get_group(at, &origin->data[i / 8u], origin->kept - i,
		    bits_beyond(origin->kept - i), sparse);
	return at;
}

/* Up to four slots more than its own: the next record, which has room, writes them again. */
PXT_INLINE void put_quick(unsigned char *slot, const struct origin *origin, uint64_t ticks)
{
	const uint64_t *data = origin->data;

	put_halves(slot, origin->begin, ticks);
	put_halves(slot + 16, origin->slot, origin->high | data[0] << 32);
	if (origin->kept > 4) {
		put_halves(slot + 32, data[0] >> 32 << 32, data[1]);
		put_halves(slot + 48, data[2] << 32, data[2] >> 32 | data[3] << 32);
		put_halves(slot + 64, data[3] >> 32 << 32, 0);
	}
}

/*
 * Up to the first record that is odd in any way, which is left to get_record(), or to the last ones, which might
 * be read or written too far.  Returns the bytes of their slots.
 */
static PXT_NOINLINE uint32_t get_quick(
    struct reader *in, struct origin *origins, unsigned char *to, uint32_t room, uint32_t *count)
{
	const unsigned char *at = in->at;
	const unsigned char *last;
	unsigned char *slot = to;
	unsigned char *roof;
	struct origin *origin = &origins[(size_t)(in->site - in->told->site) % ORIGINS];
	uint32_t key =
	    key_of((uint32_t)(in->site - in->told->site), in->who << PXT_CODED_WHO_SHIFT);
	static const uint64_t widest[] = { UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX };
	uint64_t ticks = in->ticks;
	uint32_t n = 0;

	if (in->left < QUICK_CODED || room < QUICK_SLOTS ||
	    (origin->key != key && !set_origin(in, origin, key)))
		return 0;
	last = at + in->left - QUICK_CODED;
	roof = to + room - QUICK_SLOTS;
	/* Bound: the coded bytes.  Two are there behind each record that began at @last or before. */
	for (;;) {
		const unsigned char *next = at + 1;
		const uint32_t lead = *at;
		struct origin *now = origin;
		uint64_t difference;

		if ((lead & ~(PXT_CODED_WIDTH | PXT_CODED_SPARSE)) != origin->again) {
			key = key_of(lead & PXT_CODED_SITE ? *next++ : origin->key & 0xffu, lead);
			now = &origins[key % ORIGINS];
			if (PXT_UNLIKELY(now->key != key) && !set_origin(in, now, key))
				break;
		}
		if (at + now->rest > last || slot + now->step > roof)
			break;
		difference = load(next) & widest[lead & PXT_CODED_WIDTH];
		next += 1u << (lead & PXT_CODED_WIDTH);
		next = get_groups(next, now, (lead & PXT_CODED_SPARSE) != 0);
		if (!next)
			break;
		ticks += difference;
		put_quick(slot, now, ticks);
		at = next;
		if (PXT_UNLIKELY(now->rest)) {
			put_rest(slot, CONTEXT_MOST + PXT_CODED_KEPT, next, now->rest);
			at += now->rest;
		}
		slot += now->step;
		origin = now;
		n++;
	}
	*count += n;
	in->site = &in->told->site[origin->key & 0xffu];
	in->who = (origin->key >> 8) - 1u;
	in->ticks = ticks;
	in->left -= (uint32_t)(at - in->at);
	in->at = at;
	return (uint32_t)(slot - to);
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

bool pxt_compress_get(struct pxt_compress_told *told, const struct pxt_log_header *header,
    const struct pxt_log_blockhead *head, const unsigned char *from, uint32_t bytes,
    unsigned char *to, uint32_t room, struct pxt_compress_made *made)
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

	struct origin origins[ORIGINS];

	memset(made, 0, sizeof(*made));
	memset(origins, 0, sizeof(origins));
	pxt_compress_forget(told);
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
			/* What is told anew holds no longer. */
			if (site & PXT_CODED_NEW ||
			    lead >> PXT_CODED_WHO_SHIFT == PXT_CODED_WHO_NEW)
				memset(origins, 0, sizeof(origins));
			done = get_record(&in, lead, to + made->bytes, room - made->bytes);
			made->count += done != 0;
			if (done && is_usual(&in))
				done += get_quick(&in, origins, to + made->bytes + done,
				    room - made->bytes - done, &made->count);
		}
		if (!done)
			return false;
		made->bytes += done;
		made->read = bytes - in.left;
	}
	return true;
}
