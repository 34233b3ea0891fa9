/* SPDX-License-Identifier: MIT */
/*
 * line.c - the log as frames: what is on its way to a device is cut so that a lost or damaged byte
 * costs one frame, and what a receiver must know is said again from time to time.
 *
 * A frame is made when the one before it has gone out; it stays in `bytes` until it has, whatever
 * the device does meanwhile.  Numbers go up when a frame is made: one that is given up is missed
 * by the receiver like one that the line lost.
 */
#include "tolog/tolog.h"

#include "format/crc32.h"
#include "format/frame.h"

#define DATA_BYTES     (CONFIG_PTRACE_LOG_LINE_SLOTS * PXT_SLOT_BYTES)
#define META_BYTES     (PXT_FRAME_META_START + PXT_TOLOG_META_BYTES - PXT_LOG_BLOCK_BYTES)
#define CONTENTS_BYTES (DATA_BYTES > META_BYTES ? DATA_BYTES : META_BYTES)
/* Process, threads and modules, which are long and change slowly, come with every tenth head. */
#define DESCRIBE_EVERY 10u

_Static_assert(DATA_BYTES <= PXT_FRAME_CONTENTS_MAX, "a frame fits a packet");
_Static_assert(PXT_FRAME_HEAD_BYTES <= CONTENTS_BYTES, "so does a head");

struct pxt_tolog_line {
	uint64_t frames;   /* made so far */
	uint64_t records;  /* that begin in them */
	uint64_t lost;     /* told by loss slots in them */
	uint64_t repeated; /* ticks of the last head */
	uint32_t repeats;
	uint32_t seed;
	const unsigned char *next; /* DATA: the slots after those that were made frames of */
	uint32_t left;             /* their bytes */
	uint32_t begun;            /* records of the block that is on its way, in frames so far */
	bool packets;
	bool torn; /* a part of a frame may be out, without an end */
	unsigned char bytes[PXT_FRAME_ROOM(CONTENTS_BYTES)];
};

/* ---- Which logs are lines ---- */

bool pxt_tolog_line_possible(const struct pxt_port_log *out, const struct _pxt_attr *attr)
{
	return !(attr->_pxt_flags & PXT_ATTR_FRAMES) || out->kind == PXT_LOG_SEQUENTIAL;
}

static bool wanted(const struct pxt_port_log *out, const struct _pxt_attr *attr)
{
	if (attr->_pxt_flags & (PXT_ATTR_FRAMES | PXT_ATTR_PLAIN))
		return (attr->_pxt_flags & PXT_ATTR_FRAMES) != 0;
	return out->kind == PXT_LOG_SEQUENTIAL && pxt_port_log_line(out) != PXT_LINE_NONE;
}

size_t pxt_tolog_line_bytes(const struct pxt_port_log *out, const struct _pxt_attr *attr)
{
	return wanted(out, attr) ? sizeof(struct pxt_tolog_line) : 0;
}

void pxt_tolog_line_start(struct pxt_tolog *log)
{
	struct pxt_tolog_line *line = log->line;

	if (!line)
		return;
	line->packets = pxt_port_log_line(&log->out) == PXT_LINE_PACKETS;
	line->seed = pxt_crc32(0, log->header.uuid, PXT_LOG_UUID_BYTES);
}

/* ---- Frames ---- */

static void begin(struct pxt_tolog_line *line, struct pxt_frame *frame, enum pxt_frame_kind kind)
{
	const struct pxt_frame_start start = { .kind = kind,
		.seed = kind == PXT_FRAME_HEAD ? 0 : line->seed,
		.frames = line->frames,
		.records = line->records };

	pxt_frame_begin(
	    frame, line->bytes, &start, line->packets, line->torn || kind == PXT_FRAME_HEAD);
	line->torn = false;
}

static void end(struct pxt_tolog *log, struct pxt_frame *frame)
{
	log->line->frames++;
	log->way.bytes = log->line->bytes;
	log->way.length = pxt_frame_end(frame);
	log->way.sent = 0;
}

/* What the receiver counts of these slots, if it gets them. */
static void count(struct pxt_tolog_line *line, const unsigned char *from, uint32_t bytes)
{
	const struct pxt_slot *slot = (const struct pxt_slot *)(const void *)from;

	for (uint32_t i = 0; i < bytes / PXT_SLOT_BYTES; i++, slot++) {
		if (slot->word[0] != PXT_SLOT_BEGIN)
			continue;
		if (pxt_info_id(slot->word[1]) == PXT_LOG_ID_LOSS) {
			line->lost += pxt_slot_ticks(slot);
		} else {
			line->records++;
			line->begun++;
		}
	}
}

static uint32_t pack_slots(struct pxt_tolog_line *line, struct pxt_frame *frame)
{
	uint32_t bytes = line->left < DATA_BYTES ? line->left : DATA_BYTES;

	begin(line, frame, PXT_FRAME_DATA);
	pxt_frame_add(frame, line->next, bytes);
	return bytes;
}

/* A record that is longer than a frame goes as slots, and what is after its first slots, too. */
static uint32_t pack_records(struct pxt_tolog *log, struct pxt_frame *frame)
{
	struct pxt_tolog_line *line = log->line;
	const struct pxt_slot *first;

	if (!CONFIG_PTRACE_LOG_LINE_COMPACT)
		return pack_slots(line, frame);
	first = (const struct pxt_slot *)(const void *)line->next;
	if (!pxt_compact_takes(first, DATA_BYTES))
		return pack_slots(line, frame);
	begin(line, frame, PXT_FRAME_COMPACT);
	return pxt_compact_add(frame, first, line->left, DATA_BYTES, log->header.created.ticks);
}

static void pack_data(struct pxt_tolog *log)
{
	struct pxt_tolog_line *line = log->line;
	struct pxt_frame frame;
	uint32_t bytes = pack_records(log, &frame);

	end(log, &frame);
	count(line, line->next, bytes);
	line->next += bytes;
	line->left -= bytes;
}

/* The head is in meta_bytes; what is after its first part there is free.  Its stack is not that of each frame. */
PXT_NOINLINE static void pack_head(struct pxt_tolog *log)
{
	struct pxt_tolog_line *line = log->line;
	struct pxt_log_clock reading = { .moment = PXT_LOG_AT_FLUSH };
	const uint64_t counts[] = { line->frames, line->records, line->lost };
	unsigned char *entry = log->meta_bytes + PXT_LOG_HEADER_BYTES;
	struct pxt_log_block block;
	struct pxt_frame frame;

	_Static_assert(
	    sizeof(counts) == PXT_FRAME_HEAD_BYTES - PXT_FRAME_COUNTS_AT, "three counts");
	pxt_port_clock_read(&reading.clock);
	pxt_logfmt_start(&block, entry, PXT_TOLOG_META_BYTES - PXT_LOG_HEADER_BYTES);
	entry += block.used;
	(void)pxt_logfmt_put_clock(&block, &reading);
	begin(line, &frame, PXT_FRAME_HEAD);
	pxt_frame_add(&frame, log->meta_bytes, PXT_FRAME_FILE_HEAD);
	pxt_frame_add(&frame, entry, PXT_LOG_CLOCK_BYTES);
	pxt_frame_add(&frame, counts, sizeof(counts));
	end(log, &frame);
}

PXT_NOINLINE static void pack_meta(struct pxt_tolog *log)
{
	const uint16_t start[] = { (uint16_t)log->way.type, (uint16_t)log->meta.count };
	struct pxt_frame frame;

	_Static_assert(sizeof(start) == PXT_FRAME_META_START, "type and number");
	begin(log->line, &frame, PXT_FRAME_META);
	pxt_frame_add(&frame, start, sizeof(start));
	pxt_frame_add(
	    &frame, log->meta_bytes + PXT_LOG_BLOCK_BYTES, log->meta.used - PXT_LOG_BLOCK_BYTES);
	end(log, &frame);
}

void pxt_tolog_line_pack(struct pxt_tolog *log)
{
	struct pxt_tolog_line *line = log->line;

	if (!line)
		return;
	line->begun = 0;
	line->left = 0;
	if (log->way.what == PXT_WAY_HEAD) {
		pack_head(log);
	} else if (log->way.what == PXT_WAY_META) {
		pack_meta(log);
	} else {
		line->next = log->data_bytes + PXT_LOG_BLOCK_BYTES;
		line->left = log->data.used - PXT_LOG_BLOCK_BYTES;
		pack_data(log);
	}
}

bool pxt_tolog_line_more(struct pxt_tolog *log)
{
	if (!log->line || !log->line->left)
		return false;
	pack_data(log);
	return true;
}

/* ---- Trouble ---- */

/* A packet that nobody waits for is lost like any other on its way: the target goes on. */
bool pxt_tolog_line_is_lossy(const struct pxt_tolog *log, int error)
{
	return log->line && log->line->packets &&
	       (error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH);
}

uint32_t pxt_tolog_line_given_up(struct pxt_tolog *log)
{
	struct pxt_tolog_line *line = log->line;
	uint32_t begun;

	if (!line)
		return 0;
	begun = log->way.what == PXT_WAY_DATA ? line->begun : 0;
	line->torn = true;
	line->left = 0;
	line->begun = 0;
	return begun;
}

/* ---- What is said again ---- */

bool pxt_tolog_line_due(struct pxt_tolog *log, uint64_t hz, bool last, bool *describe)
{
	struct pxt_tolog_line *line = log->line;
	uint64_t now = pxt_port_ticks();

	if (!line)
		return false;
	if (!line->repeated)
		line->repeated = now; /* create has just sent a head */
	if (!last && now - line->repeated < hz * CONFIG_PTRACE_LOG_LINE_REPEAT_MS / 1000u)
		return false;
	line->repeated = now;
	*describe = !last && ++line->repeats % DESCRIBE_EVERY == 0;
	return true;
}
