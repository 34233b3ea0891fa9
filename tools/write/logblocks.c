/* SPDX-License-Identifier: MIT */
/* logblocks.c - the file of a log: its name, its blocks, its end; and what is written in the other byte order. */
#define _GNU_SOURCE
#include "tools/write/logwrite.h"

#include "format/crc32.h"
#include "format/ids.h"
#include "format/logfmt.h"
#include "format/logfmt_fields.h"
#include "tools/output/out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace_hooks_np.h>
#include <unistd.h>

/* Larger ones would only make a live reader wait. */
#define ROOM_MAX 65536u

/* ---- The file ---- */

static void write_all(struct pxt_logblocks *log, const unsigned char *bytes, uint32_t count)
{
	if (log->error)
		return;
	log->error = log->packer ? pxt_packer_put(log->packer, log->fd, bytes, count)
	                         : pxt_write_all(log->fd, bytes, count);
}

/* A new file beside @path, so that what is under that name stays whole until it is replaced. */
static void open_file(struct pxt_logblocks *log)
{
	if (log->error)
		return;
	log->fd = log->path ? pxt_final_beside(log->path, &log->temporary)
	                    : memfd_create("pxtrace-log", MFD_CLOEXEC);
	if (log->fd < 0)
		log->error = errno;
}

static void rename_file(struct pxt_logblocks *log)
{
	if (log->error || !log->temporary)
		return;
	if (rename(log->temporary, log->path) != 0) {
		log->error = errno;
		return;
	}
	free(log->temporary);
	log->temporary = NULL;
}

/* As an entry, in the log's order. */
static void keep_head(struct pxt_logblocks *log, const unsigned char *head)
{
	static const uint16_t bytes = PXT_LOG_HEAD_BYTES;
	uint16_t length = (uint16_t)pxt_get16((const unsigned char *)&bytes, log->swapped);

	memcpy(log->head, &length, sizeof length);
	memcpy(log->head + 8, head, PXT_LOG_HEADER_USED);
}

/* Without the file's head nothing can be read: it comes again, at the log's beginning and its end. */
static void put_head(struct pxt_logblocks *log)
{
	(void)pxt_logblocks_entry(log, PXT_LOG_HEAD, log->head, sizeof log->head);
}

bool pxt_logblocks_open(struct pxt_logblocks *log, const char *path, enum pxt_logmode mode,
    const unsigned char *head, const struct pxt_log_header *header)
{
	memset(log, 0, sizeof *log);
	log->fd = -1;
	log->swapped = header->swapped;
	log->anew = header->generation != 0;
	log->room = header->largest_block < ROOM_MAX ? header->largest_block : ROOM_MAX;
	memcpy(log->sums.uuid, header->uuid, sizeof log->sums.uuid);
	log->last_ticks = header->created.ticks;
	for (uint32_t id = 1; id <= POSIX_TRACE_UNNAMED_USEREVENT; id++)
		log->nameless[id] = id != POSIX_TRACE_PROCESS_NP;
	log->path = path ? pxt_final_name(path) : NULL;
	log->error = path && !log->path ? errno : 0;
	log->memory = aligned_alloc(16, 2 * (size_t)ROOM_MAX);
	if (log->error == ENOMEM || !log->memory) {
		pxt_logblocks_abandon(log);
		return false;
	}
	pxt_logfmt_start(&log->data, log->memory, log->room);
	pxt_logfmt_start(&log->meta, log->memory + ROOM_MAX, log->room);
	open_file(log);
	if (!log->error && path && pxt_packed_named(path))
		log->packer = pxt_packer_begin(&log->error);
	write_all(log, head, PXT_LOG_HEADER_BYTES);
	keep_head(log, head);
	put_head(log);
	if (mode == PXT_LOG_GROWING)
		rename_file(log);
	return true;
}

/* ---- Blocks ---- */

/* In the head of a finished block of data, whose checksum becomes another one. */
static void put_missed(const struct pxt_logblocks *log, unsigned char *block, uint32_t length)
{
	uint32_t crc;

	memcpy(block + PXT_LOG_AT_MISSED, &log->missed, sizeof log->missed);
	crc = pxt_crc32(pxt_crc32(0, block, PXT_LOG_AT_CRC), block + PXT_LOG_BLOCK_BYTES,
	    length - PXT_LOG_BLOCK_BYTES);
	memcpy(block + PXT_LOG_AT_CRC, &crc, sizeof crc);
}

static void put_block(
    struct pxt_logblocks *log, struct pxt_log_block *block, enum pxt_log_type type)
{
	uint32_t length;

	block->nameless = !log->names;
	length = pxt_logfmt_finish(block, &log->sums, type);
	if (type == PXT_LOG_DATA && log->missed > 0)
		put_missed(log, block->bytes, length);
	log->names = type != PXT_LOG_DATA && log->names;
	if (log->swapped)
		pxt_logblocks_swap_block(block->bytes, length);
	write_all(log, block->bytes, length);
	pxt_logfmt_written(block, &log->sums, type);
	pxt_logfmt_start(block, block->bytes, log->room);
}

static void flush_meta(struct pxt_logblocks *log)
{
	if (log->meta.count)
		put_block(log, &log->meta, log->meta_type);
}

/* What the records mean goes first, for those who follow the log. */
void pxt_logblocks_flush(struct pxt_logblocks *log)
{
	flush_meta(log);
	if (log->data.count || log->data.lost)
		put_block(log, &log->data, PXT_LOG_DATA);
}

bool pxt_logblocks_record(
    struct pxt_logblocks *log, const unsigned char *slots, uint32_t count, uint64_t ticks)
{
	uint32_t bytes = count * PXT_SLOT_BYTES;
	uint32_t id;

	if (bytes > log->room - PXT_LOG_BLOCK_BYTES)
		return false;
	if (bytes > log->data.room - log->data.used)
		pxt_logblocks_flush(log);
	memcpy(log->data.bytes + log->data.used, slots, bytes);
	id = pxt_info_id(pxt_get32(slots + 4, log->swapped));
	log->used[id] = true;
	log->names = log->names || !log->nameless[id];
	pxt_logfmt_put_copied(&log->data, count, 1, ticks, ticks);
	if (log->last_ticks < ticks)
		log->last_ticks = ticks;
	return true;
}

void pxt_logblocks_missed(struct pxt_logblocks *log, uint64_t records)
{
	if (records == log->missed)
		return;
	pxt_logblocks_flush(log);
	log->missed = records;
}

void pxt_logblocks_loss(struct pxt_logblocks *log, uint64_t records)
{
	uint64_t most = PXT_LOGBLOCKS_MOST - log->sums.lost - log->data.lost;

	records = records < most ? records : most;
	if (!records)
		return;
	if (!pxt_logfmt_put_loss(&log->data, records)) {
		pxt_logblocks_flush(log);
		(void)pxt_logfmt_put_loss(&log->data, records);
	}
	if (log->swapped)
		pxt_logblocks_swap_entry(
		    PXT_LOG_DATA, log->data.bytes + log->data.used - PXT_SLOT_BYTES);
}

/* The block under construction that takes entries of @type. */
static struct pxt_log_block *meta_block(struct pxt_logblocks *log, enum pxt_log_type type)
{
	if (type != log->meta_type)
		flush_meta(log);
	log->meta_type = type;
	return &log->meta;
}

bool pxt_logblocks_entry(
    struct pxt_logblocks *log, enum pxt_log_type type, const unsigned char *entry, uint32_t bytes)
{
	struct pxt_log_block *block = meta_block(log, type);
	uint32_t most = (log->room - PXT_LOG_BLOCK_BYTES) & ~(PXT_SLOT_BYTES - 1u);

	if (bytes > most)
		return false;
	if (((block->used + bytes + 15u) & ~15u) > block->room)
		flush_meta(log);
	memcpy(block->bytes + block->used, entry, bytes);
	block->used += bytes;
	block->count++;
	if (type == PXT_LOG_TYPES)
		log->named[pxt_get16(entry + 2, log->swapped) % PXT_LOG_IDS] = true;
	return true;
}

/* An entry of @type by @put, in an empty block where this one has no room for it; in the log's order. */
#define PUT(log, type, put)                                                                        \
	do {                                                                                       \
		struct pxt_log_block *block = meta_block(log, type);                               \
		uint32_t at = block->used;                                                         \
                                                                                                   \
		if (!(put)) {                                                                      \
			flush_meta(log);                                                           \
			at = block->used;                                                          \
			(void)(put);                                                               \
		}                                                                                  \
		if ((log)->swapped)                                                                \
			pxt_logblocks_swap_entry(type, block->bytes + at);                         \
	} while (0)

void pxt_logblocks_type(
    struct pxt_logblocks *log, uint32_t id, const char *name, const char *format)
{
	PUT(log, PXT_LOG_TYPES, pxt_logfmt_put_type(block, id, name, format));
	log->named[id % PXT_LOG_IDS] = true;
	log->nameless[id % PXT_LOG_IDS] =
	    id != POSIX_TRACE_PROCESS_NP && strcmp(name, "task_rename") != 0;
}

uint32_t pxt_logblocks_name_rest(struct pxt_logblocks *log)
{
	uint32_t made = 0;

	for (uint32_t id = 1; id < PXT_LOG_IDS; id++) {
		const char *system = pxt_system_event_name(id);
		char name[16];

		if (!log->used[id] || log->named[id])
			continue;
		(void)snprintf(name, sizeof name, "type_%u", (unsigned)id);
		pxt_logblocks_type(log, id, system ? system : name, pxt_sysspecific_format(id));
		made += !system;
	}
	return made;
}

void pxt_logblocks_thread(struct pxt_logblocks *log, const struct pxt_log_thread *thread)
{
	PUT(log, PXT_LOG_THREADS, pxt_logfmt_put_thread(block, thread));
}

void pxt_logblocks_process(struct pxt_logblocks *log, const struct pxt_log_process *process)
{
	PUT(log, PXT_LOG_PROCESS, pxt_logfmt_put_process(block, process));
}

void pxt_logblocks_module(struct pxt_logblocks *log, const struct pxt_log_module *module)
{
	PUT(log, PXT_LOG_MODULES, pxt_logfmt_put_module(block, module));
}

void pxt_logblocks_note(struct pxt_logblocks *log, const struct posix_trace_lognote_np *note)
{
	PUT(log, PXT_LOG_NOTES,
	    pxt_logfmt_put_note(block, note->posix_name_np, note->posix_text_np));
}

void pxt_logblocks_clock(struct pxt_logblocks *log, const struct pxt_log_clock *clock)
{
	PUT(log, PXT_LOG_CLOCKS, pxt_logfmt_put_clock(block, clock));
}

void pxt_logblocks_clear(struct pxt_logblocks *log, uint64_t ticks, uint64_t records)
{
	pxt_logblocks_flush(log);
	PUT(log, PXT_LOG_CLEAR, pxt_logfmt_put_clear(block, ticks, records));
	flush_meta(log);
}

/* ---- The end ---- */

/* False: the sum runs over. */
static bool add(uint64_t *sum, uint64_t number)
{
	*sum += number;
	return *sum >= number;
}

/*
 * Whether the counts add up: each written record is counted once, and the log holds the flushed ones.
 */
static bool is_lawful(const struct pxt_logblocks *log, const struct pxt_log_trailer *trailer)
{
	const struct posix_trace_counts_np *counts = &trailer->counts;
	uint64_t sum = counts->posix_retrieved_np;
	uint64_t held = log->sums.records;
	uint64_t lost = counts->posix_lost_np;

	if (!add(&sum, counts->posix_lost_np) || !add(&sum, counts->posix_cleared_np) ||
	    !add(&sum, counts->posix_held_np) || sum != counts->posix_written_np)
		return false;
	if (log->anew)
		return true;
	return add(&held, trailer->log_lost) && add(&lost, trailer->log_lost) &&
	       add(&lost, counts->posix_cleared_np) && counts->posix_retrieved_np <= held &&
	       log->sums.lost <= lost;
}

/* What can be said of a stream whose own counts are those of no log like this. */
static void count_anew(const struct pxt_logblocks *log, struct pxt_log_trailer *trailer)
{
	trailer->counts =
	    (struct posix_trace_counts_np){ .posix_written_np = log->sums.records + log->sums.lost,
		    .posix_retrieved_np = log->sums.records,
		    .posix_lost_np = log->sums.lost };
	trailer->log_lost = 0;
	trailer->status.posix_stream_overrun_status =
	    log->sums.lost ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
}

static void put_trailer(struct pxt_logblocks *log, struct pxt_log_trailer *trailer)
{
	/* The blocks before it are counted. */
	flush_meta(log);
	if (!is_lawful(log, trailer))
		count_anew(log, trailer);
	trailer->data_blocks = log->sums.data_sequence;
	trailer->meta_blocks = log->sums.meta_sequence;
	PUT(log, PXT_LOG_TRAILER, pxt_logfmt_put_trailer(block, trailer));
	flush_meta(log);
}

int pxt_logblocks_close(struct pxt_logblocks *log, struct pxt_log_trailer *trailer)
{
	int error;

	(void)pxt_logblocks_name_rest(log);
	pxt_logblocks_flush(log);
	put_head(log);
	if (trailer)
		put_trailer(log, trailer);
	if (log->packer && !log->error)
		log->error = pxt_packer_end(log->packer, log->fd);
	/* A network's or a quota's refusal may come this late. */
	if (log->fd >= 0 && close(log->fd) != 0 && !log->error)
		log->error = errno;
	log->fd = -1;
	rename_file(log);
	error = log->error;
	pxt_logblocks_abandon(log);
	return error;
}

void pxt_logblocks_abandon(struct pxt_logblocks *log)
{
	if (log->fd >= 0)
		(void)close(log->fd);
	log->fd = -1;
	if (log->temporary)
		(void)unlink(log->temporary);
	pxt_packer_free(log->packer);
	free(log->temporary);
	free(log->path);
	free(log->memory);
	log->packer = NULL;
	log->temporary = NULL;
	log->path = NULL;
	log->memory = NULL;
}

/* ---- The other byte order: where the numbers of FORMAT.md lie, and how wide they are ---- */

#define AT_CRC 92u
#define AT_SUM 508u /* in the file head */

/* Three clocks: ticks, then thrice seconds and nanoseconds. */
#define SET(at)                                                                                    \
	{ (at), 8, 2 }, { (at) + 16, 4, 2 }, { (at) + 24, 8, 1 }, { (at) + 32, 4, 2 },             \
	    { (at) + 40, 8, 1 },                                                                   \
	{                                                                                          \
		(at) + 48, 4, 2                                                                    \
	}
#define ATTRIBUTES(at)                                                                             \
	{ (at), 4, 6 }, { (at) + 24, 8, 5 },                                                       \
	{                                                                                          \
		(at) + 64, 4, 4                                                                    \
	}

static const struct pxt_logblocks_swap block_runs[] = { { 4, 2, 2 }, { 8, 4, 2 }, { 16, 8, 1 },
	{ 40, 8, 6 } };
static const struct pxt_logblocks_swap head_runs[] = { { 8, 4, 1 }, { 12, 2, 4 }, { 24, 4, 2 },
	{ 48, 4, 2 }, { 56, 8, 1 }, { 120, 4, 2 }, { 128, 8, 1 }, { 136, 4, 4 }, SET(64),
	ATTRIBUTES(152) };

#define RUNS_MAX 16u

/* Of entries of each type of block, in the order of versions; of DATA the slot that tells a loss. */
static const struct pxt_logblocks_swap entry_runs[][RUNS_MAX] = {
	[PXT_LOG_DATA] = { { 0, 4, 4 } },
	[PXT_LOG_TYPES] = { { 0, 2, 4 } },
	[PXT_LOG_THREADS] = { { 0, 2, 2 }, { 4, 4, 3 }, { 16, 8, 2 } },
	[PXT_LOG_PROCESS] = { { 0, 2, 2 }, { 4, 4, 1 }, { 8, 8, 1 }, { 16, 4, 2 },
	    { PXT_LOG_PROCESS_1_1, 4, 1 } },
	[PXT_LOG_MODULES] = { { 0, 2, 4 }, { 8, 8, 3 } },
	[PXT_LOG_CLOCKS] = { { 0, 2, 2 }, SET(8) },
	[PXT_LOG_CLEAR] = { { 0, 2, 1 }, { 8, 8, 1 } },
	[PXT_LOG_TRAILER] = { { 0, 2, 1 }, { 8, 4, 8 }, { 40, 8, 8 }, SET(104), ATTRIBUTES(160),
	    { 304, 4, 2 }, { 312, 8, 2 }, { 328, 4, 2 } },
	[PXT_LOG_NOTES] = { { 0, 2, 4 } },
};

void pxt_logblocks_swap(unsigned char *at, const struct pxt_logblocks_swap *runs, size_t count)
{
	for (const struct pxt_logblocks_swap *run = runs; run < runs + count; run++) {
		unsigned char *number = at + run->at;

		for (unsigned i = 0; i < run->count; i++, number += run->bytes) {
			for (unsigned k = 0; k < run->bytes / 2u; k++) {
				unsigned char byte = number[k];

				number[k] = number[run->bytes - 1u - k];
				number[run->bytes - 1u - k] = byte;
			}
		}
	}
}

void pxt_logblocks_swap_entry(enum pxt_log_type type, unsigned char *entry)
{
	const struct pxt_logblocks_swap *runs = entry_runs[type];
	uint16_t length = PXT_SLOT_BYTES;
	size_t count = 0;

	if (type != PXT_LOG_DATA)
		memcpy(&length, entry, sizeof length);
	/* What an older version's entry has not is behind its end. */
	while (count < RUNS_MAX && runs[count].count > 0 && runs[count].at < length)
		count++;
	pxt_logblocks_swap(entry, runs, count);
}

static void put_sum(unsigned char *at, uint32_t sum)
{
	sum = __builtin_bswap32(sum);
	memcpy(at, &sum, sizeof sum);
}

void pxt_logblocks_swap_head(unsigned char *head)
{
	pxt_logblocks_swap(head, head_runs, sizeof head_runs / sizeof *head_runs);
	put_sum(head + AT_SUM, pxt_crc32(0, head, AT_SUM));
}

void pxt_logblocks_swap_block(unsigned char *block, uint32_t length)
{
	pxt_logblocks_swap(block, block_runs, sizeof block_runs / sizeof *block_runs);
	put_sum(block + AT_CRC, pxt_crc32(pxt_crc32(0, block, AT_CRC), block + PXT_LOG_BLOCK_BYTES,
	                            length - PXT_LOG_BLOCK_BYTES));
}
