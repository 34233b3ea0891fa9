/* SPDX-License-Identifier: MIT */
/* run.c - records and their losses: what is next, what is missing, what the log says of it. */
#include "tools/receive/run.h"

#include "tools/output/out.h"

#include "format/crc32.h"
#include "format/logfmt_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More are damage to the one who reads the log (FORMAT.md, section 9). */
#define THREADS_MAX 65536u
#define MODULES_MAX 4096u
#define NOTES_MAX   1024u

/* ---- The head ---- */

/* What the head would be the beginning of; NULL or what is wrong. */
static const char *look_at(const unsigned char *head, struct pxt_log_header *header)
{
	unsigned char whole[PXT_LOG_HEADER_BYTES];
	const char *wrong;

	memcpy(whole, head, PXT_LOG_HEADER_USED);
	pxt_logfmt_complete_header(whole);
	wrong = pxt_logfmt_get_header(whole, header);
	if (!wrong && header->layout != PXT_LAYOUT_SEQUENTIAL)
		wrong = "a log with the policy LOOP cannot be received: copy its file";
	if (!wrong && header->header_bytes != PXT_LOG_HEADER_BYTES)
		wrong = "its head is longer than this reader knows";
	return wrong;
}

const char *pxt_receive_run_begin(
    struct pxt_receive_run *run, const char *path, enum pxt_logmode mode, const unsigned char *head)
{
	unsigned char whole[PXT_LOG_HEADER_BYTES];
	const char *wrong;

	memset(run, 0, sizeof *run);
	wrong = look_at(head, &run->header);
	if (wrong)
		return wrong;
	memcpy(whole, head, PXT_LOG_HEADER_USED);
	pxt_logfmt_complete_header(whole);
	run->seed = pxt_crc32(0, run->header.uuid, PXT_LOG_UUID_BYTES);
	run->clock = run->header.created;
	(void)snprintf(run->path, sizeof run->path, "%s", path);
	if (!pxt_logblocks_open(&run->blocks, path, mode, whole, &run->header))
		return "out of memory";
	run->error = run->blocks.error;
	return NULL;
}

/* ---- What is missing ---- */

static void miss(struct pxt_receive_run *run, uint64_t records)
{
	run->missing += records;
	run->unreported += records;
}

/* The rest of a record will not come. */
static void drop_partial(struct pxt_receive_run *run)
{
	if (run->whole)
		miss(run, 1);
	run->whole = 0;
	run->partial = 0;
}

void pxt_receive_run_start(struct pxt_receive_run *run, uint64_t frames, uint64_t records)
{
	run->frames = frames;
	run->records = records;
	run->early = records;
	miss(run, records);
}

bool pxt_receive_run_expect(struct pxt_receive_run *run, uint32_t frame, uint32_t records)
{
	uint32_t ahead = (frame - (uint32_t)run->frames) & PXT_FRAME_NUMBER_MASK;
	uint32_t fresh = (records - (uint32_t)run->records) & 0xffffu;

	/* Nothing comes after a trailer: a sender of more makes numbers up. */
	if (run->ended || ahead > PXT_FRAME_NUMBER_MASK - PXT_RECEIVE_RUN_LATE) {
		run->frames_again++;
		return false;
	}
	if (ahead)
		drop_partial(run);
	run->frames_missing += ahead;
	run->frames += ahead + 1u;
	miss(run, fresh);
	run->records += fresh;
	return true;
}

void pxt_receive_run_totals(struct pxt_receive_run *run, const struct pxt_receive_totals *totals)
{
	if (totals->frames > run->frames || totals->records > run->records)
		drop_partial(run);
	if (totals->frames > run->frames) {
		run->frames_missing += totals->frames - run->frames;
		run->frames = totals->frames;
	}
	if (totals->records > run->records) {
		miss(run, totals->records - run->records);
		run->records = totals->records;
	}
	if (totals->lost > run->target_lost) {
		run->unreported += totals->lost - run->target_lost;
		run->target_lost = totals->lost;
	}
}

/* ---- Records ---- */

static void keep(
    struct pxt_receive_run *run, const unsigned char *slots, uint32_t count, uint64_t ticks)
{
	pxt_logblocks_missed(&run->blocks, run->missing + run->missed_before);
	if (run->unreported)
		pxt_logblocks_loss(&run->blocks, run->unreported);
	run->unreported = 0;
	if (pxt_logblocks_record(&run->blocks, slots, count, ticks))
		run->kept++;
	else
		miss(run, 1);
}

static void keep_whole(struct pxt_receive_run *run)
{
	struct pxt_log_record record;
	uint32_t bytes = run->whole * PXT_SLOT_BYTES;

	if (pxt_logfmt_get_record(run->record, bytes, &run->header, &record)) {
		keep(run, run->record, run->whole, record.ticks);
	} else {
		run->odd++;
		miss(run, 1);
	}
	run->whole = 0;
	run->partial = 0;
}

/* A slot that begins a record, or tells a loss. */
static void begin_record(struct pxt_receive_run *run, const unsigned char *slot)
{
	bool swapped = run->header.swapped;
	uint32_t info = pxt_get32(slot + 4, swapped);

	drop_partial(run);
	if (pxt_info_id(info) == PXT_LOG_ID_LOSS) {
		uint64_t lost =
		    (uint64_t)pxt_get32(slot + 12, swapped) << 32 | pxt_get32(slot + 8, swapped);

		run->target_lost += lost;
		run->unreported += lost;
		return;
	}
	run->records++;
	run->whole = pxt_info_slots(info, run->header.ctx_bytes);
	run->partial = 0;
}

void pxt_receive_run_slots(struct pxt_receive_run *run, const unsigned char *slots, uint32_t count)
{
	for (const unsigned char *slot = slots; count > 0; count--, slot += PXT_SLOT_BYTES) {
		uint32_t word = pxt_get32(slot, run->header.swapped);

		if (word == PXT_SLOT_BEGIN)
			begin_record(run, slot);
		else if (word != 0)
			run->odd++;
		if (!run->whole)
			continue; /* the rest of a record whose beginning is missing */
		memcpy(run->record + (size_t)run->partial * PXT_SLOT_BYTES, slot, PXT_SLOT_BYTES);
		if (++run->partial == run->whole)
			keep_whole(run);
	}
}

/* ---- The end ---- */

void pxt_receive_run_flush(struct pxt_receive_run *run)
{
	if (run->ended)
		return;
	pxt_logblocks_flush(&run->blocks);
	if (!run->error)
		run->error = run->blocks.error;
}

/*
 * What the target did not say: it goes on, was reset, or the line is cut.  So the stream runs, and what
 * it recorded after our last record is in no count.  Unless the user ended receiving.
 */
static void make_trailer(struct pxt_receive_run *run, struct pxt_log_trailer *trailer)
{
	memset(trailer, 0, sizeof *trailer);
	run->end_unknown = !run->cut;
	trailer->status.posix_stream_status =
	    run->cut ? POSIX_TRACE_SUSPENDED : POSIX_TRACE_RUNNING;
	trailer->status.posix_stream_full_status = POSIX_TRACE_NOT_FULL;
	trailer->status.posix_stream_overrun_status =
	    run->target_lost ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	trailer->status.posix_log_overrun_status =
	    run->missing ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	trailer->counts.posix_written_np = run->records + run->target_lost;
	trailer->counts.posix_retrieved_np = run->records;
	trailer->counts.posix_lost_np = run->target_lost;
	trailer->end = run->clock;
	trailer->attr = run->header.attr;
}

static int close_log(struct pxt_receive_run *run, struct pxt_log_trailer *trailer)
{
	int error;

	drop_partial(run);
	if (run->unreported)
		pxt_logblocks_loss(&run->blocks, run->unreported);
	run->unreported = 0;
	trailer->log_lost += run->missing;
	if (run->missing > run->early && !run->off_line) {
		struct posix_trace_lognote_np note;

		pxt_logwrite_lossnote(&note, PXT_LOSSNOTE_LINK, run->missing - run->early);
		pxt_logblocks_note(&run->blocks, &note);
	}
	error = pxt_logblocks_close(&run->blocks, trailer);
	run->counts = trailer->counts;
	run->log_lost = trailer->log_lost;
	run->ended = true;
	pxt_receive_known_free(&run->known);
	free(run->decoded);
	run->decoded = NULL;
	run->error = run->error ? run->error : error;
	return run->error;
}

int pxt_receive_run_end(struct pxt_receive_run *run)
{
	struct pxt_log_trailer trailer;

	if (run->ended)
		return run->error;
	make_trailer(run, &trailer);
	return close_log(run, &trailer);
}

/* ---- Entries ---- */

/* A name of the log's order of things, as one number. */
static uint64_t key_of(uint32_t type, uint64_t a, uint64_t b)
{
	const uint64_t words[] = { type, a, b };

	return pxt_receive_known_hash(0, words, sizeof words);
}

/* A type keeps its name, whatever comes later. */
static bool good_type(struct pxt_receive_run *run, const unsigned char *entry, uint32_t *id)
{
	struct pxt_log_typename type;
	size_t length;
	uint32_t hash;

	if (pxt_logfmt_get_type(entry, run->header.swapped, &type))
		return false;
	length = strlen(type.name);
	hash = (uint32_t)pxt_receive_known_hash(0, type.name, (uint32_t)length) | 1u;
	if (length > TRACE_EVENT_NAME_MAX ||
	    (run->name_hash[type.id] && run->name_hash[type.id] != hash))
		return false;
	run->name_hash[type.id] = hash;
	*id = type.id;
	return true;
}

/* Things of a kind of which a log has no more than so many. */
struct kind {
	uint32_t *count; /* that were told */
	uint32_t most;
};

/* What is new, or has changed; @kind: NULL, there is room for any number.  False: there is none for this one. */
static bool put_once(struct pxt_receive_run *run, enum pxt_log_type type, uint64_t key,
    const unsigned char *entry, uint32_t bytes, const struct kind *kind)
{
	enum pxt_receive_known_news told;

	if (kind && *kind->count >= kind->most)
		return false;
	told = pxt_receive_known_tell(&run->known, key, pxt_receive_known_hash(0, entry, bytes));
	if (kind)
		*kind->count += told == PXT_RECEIVE_KNOWN_NEW;
	return (told != PXT_RECEIVE_KNOWN_NEW && told != PXT_RECEIVE_KNOWN_CHANGED) ||
	       pxt_logblocks_entry(&run->blocks, type, entry, bytes);
}

static bool put_type(struct pxt_receive_run *run, const unsigned char *entry, uint32_t bytes)
{
	uint32_t id;

	return good_type(run, entry, &id) &&
	       put_once(run, PXT_LOG_TYPES, key_of(PXT_LOG_TYPES, id, 0), entry, bytes, NULL);
}

static bool put_thread(struct pxt_receive_run *run, const unsigned char *entry, uint32_t bytes)
{
	const struct kind kind = { &run->threads, THREADS_MAX };
	struct pxt_log_thread thread;
	uint64_t key;

	pxt_logfmt_get_thread(entry, run->header.swapped, &thread);
	key = key_of(PXT_LOG_THREADS, (uint64_t)thread.index << 48 ^ thread.thread, thread.since);
	return thread.index != PXT_THREAD_NONE &&
	       put_once(run, PXT_LOG_THREADS, key, entry, bytes, &kind);
}

static bool put_process(struct pxt_receive_run *run, const unsigned char *entry, uint32_t bytes)
{
	struct pxt_log_process process;

	return !pxt_logfmt_get_process(entry, run->header.swapped, &process) &&
	       put_once(run, PXT_LOG_PROCESS, key_of(PXT_LOG_PROCESS, 0, 0), entry, bytes, NULL);
}

/* A thing that is known by all of its bytes. */
static bool put_thing(struct pxt_receive_run *run, enum pxt_log_type type,
    const unsigned char *entry, uint32_t bytes, const struct kind *kind)
{
	uint64_t key = key_of(type, pxt_receive_known_hash(0, entry, bytes), 0);

	return put_once(run, type, key, entry, bytes, kind);
}

static bool put_module(struct pxt_receive_run *run, const unsigned char *entry, uint32_t bytes)
{
	const struct kind kind = { &run->modules, MODULES_MAX };
	struct pxt_log_module module;

	return !pxt_logfmt_get_module(entry, run->header.swapped, &module) &&
	       put_thing(run, PXT_LOG_MODULES, entry, bytes, &kind);
}

static bool put_note(struct pxt_receive_run *run, const unsigned char *entry, uint32_t bytes)
{
	const struct kind kind = { &run->notes, NOTES_MAX };
	struct pxt_log_note note;

	return !pxt_logfmt_get_note(entry, run->header.swapped, &note) &&
	       put_thing(run, PXT_LOG_NOTES, entry, bytes, &kind);
}

static bool put_clock(struct pxt_receive_run *run, const unsigned char *entry)
{
	struct pxt_log_clock clock;

	if (pxt_logfmt_get_clock(entry, run->header.swapped, &clock))
		return false;
	if (clock.clock.ticks <= run->clock.ticks)
		return true;
	run->clock = clock.clock;
	pxt_logblocks_clock(&run->blocks, &clock);
	return true;
}

static bool put_clear(struct pxt_receive_run *run, const unsigned char *entry)
{
	drop_partial(run);
	pxt_logblocks_clear(
	    &run->blocks, run->blocks.last_ticks, pxt_get64(entry + 8, run->header.swapped));
	return true;
}

int pxt_receive_run_finish(struct pxt_receive_run *run, struct pxt_log_trailer *trailer)
{
	run->clock = trailer->end;
	run->end_unknown = trailer->status.posix_stream_status == POSIX_TRACE_RUNNING;
	return close_log(run, trailer);
}

static bool put_trailer(struct pxt_receive_run *run, const unsigned char *entry)
{
	struct pxt_log_trailer trailer;

	if (pxt_logfmt_get_trailer(entry, run->header.swapped, &trailer))
		return false;
	(void)pxt_receive_run_finish(run, &trailer);
	return true;
}

static uint32_t least_bytes(uint32_t type)
{
	static const uint16_t least[] = { [PXT_LOG_TYPES] = PXT_LOG_TYPE_BYTES,
		[PXT_LOG_THREADS] = PXT_LOG_THREAD_BYTES,
		[PXT_LOG_PROCESS] = PXT_LOG_PROCESS_BYTES,
		[PXT_LOG_MODULES] = PXT_LOG_MODULE_BYTES,
		[PXT_LOG_CLOCKS] = PXT_LOG_CLOCK_BYTES,
		[PXT_LOG_CLEAR] = PXT_LOG_CLEAR_BYTES,
		[PXT_LOG_TRAILER] = PXT_LOG_TRAILER_BYTES,
		[PXT_LOG_NOTES] = PXT_LOG_NOTE_BYTES };

	return type < sizeof least / sizeof *least ? least[type] : 0;
}

static bool put_entry(
    struct pxt_receive_run *run, uint32_t type, const unsigned char *entry, uint32_t bytes)
{
	switch (type) {
	case PXT_LOG_TYPES:
		return put_type(run, entry, bytes);
	case PXT_LOG_THREADS:
		return put_thread(run, entry, bytes);
	case PXT_LOG_PROCESS:
		return put_process(run, entry, bytes);
	case PXT_LOG_MODULES:
		return put_module(run, entry, bytes);
	case PXT_LOG_NOTES:
		return put_note(run, entry, bytes);
	case PXT_LOG_CLOCKS:
		return put_clock(run, entry);
	case PXT_LOG_CLEAR:
		return put_clear(run, entry);
	case PXT_LOG_TRAILER:
		return put_trailer(run, entry);
	default: /* of a later minor version */
		return true;
	}
}

void pxt_receive_run_entries(struct pxt_receive_run *run, uint32_t type, uint32_t count,
    const unsigned char *entries, uint32_t bytes)
{
	const struct pxt_log_blockhead head = { .type = type, .length = bytes };
	uint32_t least = least_bytes(type);
	uint32_t offset = 0;

	if (!least)
		return;
	for (uint32_t i = 0; i < count && !run->ended; i++) {
		uint32_t at = offset;
		const unsigned char *entry;

		if (pxt_logfmt_get_entry(
		        entries, &head, run->header.swapped, least, &offset, &entry)) {
			run->odd++;
			return;
		}
		if (!put_entry(run, type, entry, offset - at))
			run->odd++;
	}
}

/* Its full number says what the lowest bits of others cannot: how much a long gap has cost. */
bool pxt_receive_run_head(struct pxt_receive_run *run, const unsigned char *contents)
{
	bool swapped = run->header.swapped;
	const struct pxt_receive_totals totals = {
		.frames = pxt_get64(contents + PXT_FRAME_COUNTS_AT, swapped),
		.records = pxt_get64(contents + PXT_FRAME_COUNTS_AT + 8, swapped),
		.lost = pxt_get64(contents + PXT_FRAME_COUNTS_AT + 16, swapped),
	};

	if (run->ended || totals.frames < run->frames) {
		run->frames_again++;
		return false;
	}
	pxt_receive_run_totals(run, &totals);
	run->frames++;
	pxt_receive_run_entries(
	    run, PXT_LOG_CLOCKS, 1, contents + PXT_FRAME_CLOCKS_AT, PXT_LOG_CLOCK_BYTES);
	return true;
}

/* ---- A hash table that grows up to its bound ---- */

#define FIRST_CELLS 256u

/* FNV-1a; a stranger who makes two things equal loses the second one's name, no more. */
uint64_t pxt_receive_known_hash(uint64_t start, const void *bytes, uint32_t count)
{
	const unsigned char *at = bytes;
	uint64_t hash = start ^ 0xcbf29ce484222325u;

	for (uint32_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return hash;
}

static struct pxt_receive_known_cell *find(const struct pxt_receive_known *known, uint64_t key)
{
	uint32_t place = (uint32_t)(key >> 32 ^ key) * 0x9e3779b1u & known->mask;

	while (known->cells[place].key && known->cells[place].key != key)
		place = (place + 1u) & known->mask;
	return &known->cells[place];
}

/* At most three quarters are taken, so that a search ends. */
static bool grow(struct pxt_receive_known *known)
{
	struct pxt_receive_known larger = { .mask = known->mask ? known->mask * 2u + 1u
		                                                : FIRST_CELLS - 1u };

	if (known->cells && known->count < known->mask / 4u * 3u)
		return true;
	larger.cells = calloc((size_t)larger.mask + 1u, sizeof *larger.cells);
	if (!larger.cells)
		return false;
	for (uint32_t i = 0; known->cells && i <= known->mask; i++)
		if (known->cells[i].key)
			*find(&larger, known->cells[i].key) = known->cells[i];
	larger.count = known->count;
	free(known->cells);
	*known = larger;
	return true;
}

enum pxt_receive_known_news pxt_receive_known_tell(
    struct pxt_receive_known *known, uint64_t key, uint64_t value)
{
	struct pxt_receive_known_cell *cell;
	enum pxt_receive_known_news news;

	key = key ? key : 1u;
	if (!grow(known))
		return PXT_RECEIVE_KNOWN_FULL;
	cell = find(known, key);
	if (!cell->key && known->count >= PXT_RECEIVE_KNOWN_MAX)
		return PXT_RECEIVE_KNOWN_FULL;
	if (!cell->key) {
		known->count++;
		news = PXT_RECEIVE_KNOWN_NEW;
	} else {
		news = cell->value == value ? PXT_RECEIVE_KNOWN_SAME : PXT_RECEIVE_KNOWN_CHANGED;
	}
	cell->key = key;
	cell->value = value;
	return news;
}

void pxt_receive_known_free(struct pxt_receive_known *known)
{
	free(known->cells);
	*known = (struct pxt_receive_known){ 0 };
}
