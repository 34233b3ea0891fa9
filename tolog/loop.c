/* SPDX-License-Identifier: MIT */
/*
 * loop.c - the log policy LOOP: frames that are written over again and again, so that the newest
 * events are in the log (LOGP-01), and the least size of such a log.
 *
 * The newest block is written again with more records until it is full, its head last (output.c): a
 * flush of few records costs two short writes, not a frame.
 */
#include "tolog/policies.h"

#include "core/testpoints.h"

/* A log of this many frames at least, as long as records fit: what one block overwrites is small. */
#define FRAMES_WANTED  16u
#define SLOTS_OF_FRAME 8u
#define FRAME_MAX      65536u /* a frame counts its records in 16 bits */
#define BLOCK_BYTES                                                                                \
	(CONFIG_PTRACE_LOG_BLOCK_SIZE < FRAME_MAX ? CONFIG_PTRACE_LOG_BLOCK_SIZE : FRAME_MAX)
#define RECORD_ROOM (BLOCK_BYTES - PXT_LOG_BLOCK_BYTES)

/* What a frame must be able to hold. */
static uint64_t largest_record(const struct _pxt_attr *attr)
{
	uint64_t user =
	    pxt_slots_for(PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + (uint32_t)attr->_pxt_max_data);
	uint64_t system = pxt_system_slots() + 1u;

	/* And a loss slot before it. */
	return ((user > system ? user : system) + 1u) * PXT_SLOT_BYTES;
}

/* Bytes for records in a frame. */
static uint64_t room_of(const struct _pxt_attr *attr)
{
	uint64_t size = attr->_pxt_log_size;
	uint64_t room = size / FRAMES_WANTED;

	if (room < largest_record(attr))
		room = largest_record(attr);
	if (room > RECORD_ROOM)
		room = RECORD_ROOM;
	if (room > size)
		room = size;
	return room & ~(uint64_t)(PXT_SLOT_BYTES - 1u);
}

/* A LOOP log has as many frames as its size allows. */
static uint64_t frames_of(const struct _pxt_attr *attr)
{
	uint64_t frames = attr->_pxt_log_size / room_of(attr);

	return frames < UINT32_MAX ? frames : UINT32_MAX;
}

/* The least size of a LOOP log; only a regular file can be overwritten. */
static int check(const struct pxt_port_log *out, const struct _pxt_attr *attr)
{
	uint64_t least = ((uint64_t)pxt_system_slots() + 2u) * PXT_SLOT_BYTES;

	return out->kind != PXT_LOG_FILE || attr->_pxt_log_size < least ? EINVAL : 0;
}

static size_t memory(const struct _pxt_attr *attr)
{
	uint64_t frames = frames_of(attr);

	return frames < SIZE_MAX / 4u ? (size_t)frames * sizeof(uint16_t) : SIZE_MAX / 2u;
}

/* As slots, coded records take several times the bytes of their frame. */
static uint32_t largest_block(uint32_t frame_bytes)
{
	uint32_t bytes = frame_bytes * SLOTS_OF_FRAME;

	return bytes > CONFIG_PTRACE_LOG_BLOCK_SIZE ? bytes : CONFIG_PTRACE_LOG_BLOCK_SIZE;
}

static void lay_out(struct pxt_tolog *log, const struct _pxt_attr *attr)
{
	struct pxt_log_header *header = &log->header;

	header->layout = PXT_LAYOUT_FRAMES;
	header->frame_bytes = (uint32_t)room_of(attr) + PXT_LOG_BLOCK_BYTES;
	header->frames = (uint32_t)frames_of(attr);
	header->data_offset = PXT_LOG_HEADER_BYTES;
	header->coded = pxt_tolog_may_code(log, attr);
	if (header->coded)
		header->largest_block = largest_block(header->frame_bytes);
	log->data_room = header->frame_bytes;
	log->end = header->data_offset + (uint64_t)header->frames * header->frame_bytes;
	log->begun = 0;
}

static uint64_t frame_of(const struct pxt_tolog *log)
{
	return log->sums.data_sequence % log->header.frames;
}

/* The first write of a block is the end of the one that had its frame. */
static uint64_t place(struct pxt_tolog *log)
{
	uint64_t frame = frame_of(log);

	if (log->begun == log->sums.data_sequence) {
		log->begun++;
		if (log->begun > log->header.frames) {
			atomic_store_explicit(&log->full, 1u, memory_order_release);
			pxt_tolog_lost(log, log->frame_records[frame]);
		}
		log->frame_records[frame] = 0;
		PXT_TESTPOINT(PXT_TP_LOG_FRAME);
	}
	return log->header.data_offset + frame * log->header.frame_bytes;
}

static void placed(struct pxt_tolog *log, bool full)
{
	log->frame_records[frame_of(log)] = (uint16_t)log->data.count;
	log->placed = log->data;
	if (!full)
		return;
	pxt_logfmt_written(&log->data, &log->sums, PXT_LOG_DATA);
	pxt_tolog_new_data(log);
}

const struct pxt_tolog_policy pxt_tolog_loop = {
	.policy = POSIX_TRACE_LOOP,
	.check = check,
	.lay_out = lay_out,
	.memory = memory,
	.place = place,
	.placed = placed,
};
