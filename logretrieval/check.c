/* SPDX-License-Identifier: MIT */
/*
 * check.c - posix_trace_log_check_np(): what is right and what is wrong in a whole log.  (Each block's checksum is
 * compared in load.c, as in every read.)
 *
 * It goes through the file as load.c does, with the same functions, but writes down what they say
 * and goes on: after a damaged block with the next place where a block of this stream begins.
 */
#include "logretrieval/log.h"

#include "base/attr.h"

#include <errno.h>
#include <stdio.h>

#define STEP 16u /* blocks begin at multiples of it */
#define SEEN PXT_LOG_SEEN_BYTES

struct check {
	struct posix_trace_logcheck_np sum;
	unsigned char *findings; /* the caller's, each of so many bytes: */
	size_t finding_bytes;
	size_t room;
	void (*watch)(uint64_t done, void *context);
	void *context;
	uint64_t size;
	uint64_t block;  /* number of the one at work */
	bool unsure;     /* something was passed over: sums need not go on where they were */
	uint64_t newest; /* the largest stamp so far; of frames, in the one at work */
	bool stepped;    /* the counter has, and is not where it was yet */
	bool trailer;    /* seen */
	uint64_t before; /* frames: records before the oldest block, ... */
	uint64_t behind; /* ... and up to the end of the newest */
	struct pxt_log log;
	uint64_t ids[PXT_LOG_IDS];   /* events of each type, and ... */
	uint64_t first[PXT_LOG_IDS]; /* ... the block in which the first one was */
	/* The last stamp by thread's index; 0: of who has none. */
	uint64_t own[PXT_THREAD_EXTRA + 1u];
};

static void note(struct check *check, int kind, uint64_t offset, const char *reason)
{
	struct posix_trace_logfinding_np finding = {
		.posix_kind_np = kind, .posix_block_np = check->block, .posix_offset_np = offset
	};
	uint64_t place = check->sum.posix_findings_np++;

	if (place >= check->room)
		return;
	(void)snprintf(finding.posix_reason_np, sizeof(finding.posix_reason_np), "%s", reason);
	pxt_give(check->findings + place * check->finding_bytes, check->finding_bytes, &finding,
	    sizeof(finding));
}

/* What a function of the log's has found. */
static void note_error(struct check *check, int kind)
{
	note(check, kind, check->log.error.posix_offset_np, check->log.error.posix_reason_np);
}

/* ---- Slots of blocks that cannot be trusted ---- */

/* Records that look whole in a damaged block are counted. */
static void count_slots(struct check *check, const unsigned char *at, uint32_t bytes)
{
	static const unsigned char zeros[PXT_SLOT_BYTES];
	const struct pxt_log_header *header = &check->log.header;
	uint32_t due = 0; /* continuation slots of the record at hand */

	for (; bytes >= PXT_SLOT_BYTES; at += PXT_SLOT_BYTES, bytes -= PXT_SLOT_BYTES) {
		uint32_t tag = pxt_get32(at, header->swapped);
		uint32_t info = pxt_get32(at + 4, header->swapped);

		if (tag == 0 && due) {
			check->sum.posix_suspect_np += --due == 0;
			continue;
		}
		check->sum.posix_torn_np += due != 0;
		due = 0;
		if (tag != PXT_SLOT_BEGIN)
			check->sum.posix_orphans_np += memcmp(at, zeros, sizeof(zeros)) != 0;
		else if (pxt_info_id(info) != PXT_LOG_ID_LOSS)
			due = pxt_info_slots(info, header->ctx_bytes) - 1;
		if (tag == PXT_SLOT_BEGIN && pxt_info_id(info) != PXT_LOG_ID_LOSS && due == 0)
			check->sum.posix_suspect_np++;
	}
	check->sum.posix_torn_np += due != 0;
}

/* The same of coded ones, up to the first that is not whole; @bytes: behind the head at @at. */
static void count_coded(struct check *check, const unsigned char *at, uint32_t bytes)
{
	const struct pxt_log_header *header = &check->log.header;
	const uint32_t coded = pxt_get32(at + PXT_LOG_AT_CODED, header->swapped);
	const struct pxt_log_blockhead head = { .begin = 0 };
	struct pxt_compress_made made;
	bool whole = pxt_compress_get(check->log.told, header, &head, at + PXT_LOG_BLOCK_BYTES,
	    coded < bytes ? coded : bytes, check->log.decoded, header->largest_block, &made);

	check->sum.posix_suspect_np += made.count;
	check->sum.posix_torn_np += !whole;
}

/* The slots between @from and @to of what seems to be a DATA block, as far as the file goes. */
static void count_damaged(struct check *check, uint64_t from, uint64_t to)
{
	uint64_t bytes = (to > check->size ? check->size : to) - from;
	const unsigned char *at;

	if (bytes > check->log.header.largest_block)
		bytes = check->log.header.largest_block;
	if (bytes <= PXT_LOG_BLOCK_BYTES ||
	    (at = pxt_log_see(&check->log, from, (uint32_t)bytes)) == NULL ||
	    pxt_get16(at + 4, check->log.header.swapped) != PXT_LOG_DATA)
		return;
	bytes -= PXT_LOG_BLOCK_BYTES;
	if (check->log.header.coded && pxt_get32(at + PXT_LOG_AT_CODED, check->log.header.swapped))
		count_coded(check, at, (uint32_t)bytes);
	else
		count_slots(check, at + PXT_LOG_BLOCK_BYTES, (uint32_t)bytes);
}

/* ---- Sound blocks ---- */

/*
 * A counter that wrapped or was set back: every block is sound, and times mean nothing.  A thread that was kept from
 * running inside a trace point records behind others whose stamps are later, but after all its own: that is no step.
 */
static void check_stamp(struct check *check, uint32_t index, uint64_t ticks)
{
	uint64_t hz = check->log.header.rate.hz;
	uint64_t by = check->newest - ticks;
	bool own = ticks < check->own[index];
	uint64_t ns;

	check->own[index] = ticks;
	if (ticks >= check->newest) {
		check->newest = ticks;
		check->stepped = false;
		return;
	}
	check->stepped |= own && by >= hz / 1000;
	if (by < hz / 1000 || !check->stepped)
		return;
	/* Bound: hz is at most 2^40. */
	ns = by / hz < UINT64_C(1) << 33 ? by / hz * PXT_NS_PER_S + by % hz * 1000 / hz * 1000000
	                                 : UINT64_MAX;
	check->sum.posix_backward_np++;
	if (ns > check->sum.posix_backward_ns_np)
		check->sum.posix_backward_ns_np = ns;
}

/* A thread's place in the table; 0: it has none, or the log does not say. */
static uint32_t index_of(
    const struct check *check, const unsigned char *at, const struct pxt_log_record *record)
{
	const unsigned char *context = at + PXT_SLOT_BYTES + 4;

	if (!(check->log.header.contents & PXT_LOG_HAS_THREAD) || pxt_info_extra(record->info))
		return PXT_THREAD_NONE;
	return context[0] | (uint32_t)context[1] << 8;
}

static void count_records(struct check *check, uint64_t offset, const unsigned char *block,
    const struct pxt_log_blockhead *head)
{
	const struct pxt_log_header *header = &check->log.header;
	const uint32_t end = PXT_LOG_BLOCK_BYTES + head->slot_bytes;
	uint32_t at = PXT_LOG_BLOCK_BYTES;
	uint64_t least = UINT64_MAX;
	uint64_t most = 0;

	/* Bound: the block's slots; pxt_log_load() went through the same records. */
	while (at < end) {
		const unsigned char *start = block + at;
		struct pxt_log_record record;
		uint32_t id;

		if (!pxt_get_record(start, end - at, header->swapped, header->ctx_bytes, &record))
			return;
		at += record.slots * PXT_SLOT_BYTES;
		id = pxt_info_id(record.info);
		if (id == PXT_LOG_ID_LOSS)
			continue;
		check_stamp(check, index_of(check, start, &record), record.ticks);
		least = record.ticks < least ? record.ticks : least;
		most = record.ticks > most ? record.ticks : most;
		check->sum.posix_placeless_np += pxt_info_extra(record.info);
		if (check->ids[id]++ == 0)
			check->first[id] = offset;
	}
	check->sum.posix_records_np += head->count;
	pxt_sum_add(&check->sum.posix_told_np, head->lost);
	if (head->count && (head->begin != least || head->end != most))
		note(check, POSIX_TRACE_FINDING_LAW_NP, offset + 40,
		    "the block's first and last stamp are not those of its records");
}

/* The number in sequence: what is missing before it. */
static void check_sequence(
    struct check *check, uint64_t offset, const struct pxt_log_blockhead *head, uint64_t *next)
{
	char text[160];

	if (head->sequence > *next) {
		pxt_sum_add(&check->sum.posix_missing_np, head->sequence - *next);
		check->unsure = true;
		(void)snprintf(text, sizeof(text), "%llu blocks are missing in front of this one",
		    (unsigned long long)(head->sequence - *next));
		note(check, POSIX_TRACE_FINDING_DAMAGE_NP, offset, text);
	} else if (head->sequence < *next) {
		check->unsure = true;
		note(check, POSIX_TRACE_FINDING_DAMAGE_NP, offset,
		    "the block was there before: its number in sequence is too low");
		return;
	}
	*next = head->sequence;
	pxt_sum_add(next, 1);
}

/* False: the sum runs over, which no count of a stream does. */
static bool add(uint64_t *sum, uint64_t more)
{
	*sum += more;
	return *sum >= more;
}

static bool goes_on(uint64_t sum, uint64_t before, uint64_t more)
{
	return add(&before, more) && sum == before;
}

/* The sums over all blocks go on where the block before left them. */
static void check_sums(struct check *check, uint64_t offset, const struct pxt_log_blockhead *head)
{
	struct pxt_log *log = &check->log;
	uint64_t records = head->type == PXT_LOG_DATA ? head->count : 0;

	if (log->header.layout == PXT_LAYOUT_SEQUENTIAL && !check->unsure &&
	    (!goes_on(head->records_total, log->scan.records_total, records) ||
	        !goes_on(head->lost_total, log->scan.lost_total, head->lost)))
		note(check, POSIX_TRACE_FINDING_LAW_NP, offset + 64,
		    "the block's sums of records and losses do not go on from the block before");
	log->scan.records_total = head->records_total;
	log->scan.lost_total = head->lost_total;
	check->unsure = false;
}

static int take_block(struct check *check, uint64_t offset, const unsigned char *block,
    const struct pxt_log_blockhead *head)
{
	struct pxt_log *log = &check->log;
	int error = 0;

	if (check->trailer)
		note(check, POSIX_TRACE_FINDING_DAMAGE_NP, offset,
		    "a block stands behind the log's trailer");
	check_sequence(check, offset, head,
	    head->type == PXT_LOG_DATA ? &log->scan.data_blocks : &log->scan.meta_blocks);
	check_sums(check, offset, head);
	if (head->type == PXT_LOG_DATA) {
		count_records(check, offset, block, head);
	} else {
		check->trailer |= head->type == PXT_LOG_TRAILER;
		error = pxt_log_take(log, offset, block, head);
	}
	if (error == ENOMEM)
		return error;
	if (error) {
		note_error(check, POSIX_TRACE_FINDING_DAMAGE_NP);
		check->sum.posix_damaged_np++;
	} else {
		check->sum.posix_sound_np++;
	}
	return 0;
}

/* ---- The way through the file ---- */

static bool block_at(struct check *check, uint64_t offset)
{
	const unsigned char *at;

	return check->size - offset >= SEEN &&
	       (at = pxt_log_see(&check->log, offset, SEEN)) != NULL &&
	       pxt_log_begins_here(&check->log, at);
}

/* What a block at @offset says of itself; false: it is none, or its head is not there whole. */
static bool head_at(struct check *check, uint64_t offset, struct pxt_log_blockhead *head)
{
	const unsigned char *at;

	return check->size - offset >= PXT_LOG_BLOCK_BYTES &&
	       (at = pxt_log_see(&check->log, offset, PXT_LOG_BLOCK_BYTES)) != NULL &&
	       !pxt_logfmt_get_block(at, &check->log.header, head);
}

/*
 * Where to go on after what cannot be read at @offset: where the block says that it ends, if that
 * is so, else where the next one seems to begin.  *cut: the file ends within the block.
 */
static uint64_t find_next(struct check *check, uint64_t offset, bool *is_block, bool *cut)
{
	uint64_t rest = check->size - offset;
	struct pxt_log_blockhead head = { 0 };
	uint64_t next;

	*is_block = block_at(check, offset);
	*cut = rest < PXT_LOG_BLOCK_BYTES;
	if (head_at(check, offset, &head)) {
		*cut = head.length > rest;
		if (!*cut && (head.length == rest || block_at(check, offset + head.length)))
			return offset + head.length;
	}
	next = pxt_log_find_block(&check->log, offset + STEP, check->size);
	*cut = *cut && next == check->size && !check->trailer;
	return next;
}

/* A damaged block that says it is the one that comes next is not missing as well. */
static void count_in_sequence(struct check *check, uint64_t offset)
{
	struct pxt_log *log = &check->log;
	struct pxt_log_blockhead head = { 0 };
	uint64_t *next;

	if (!head_at(check, offset, &head))
		return;
	next = head.type == PXT_LOG_DATA ? &log->scan.data_blocks : &log->scan.meta_blocks;
	*next += head.sequence == *next;
}

/* What pxt_log_load() refused at @offset; returns where to go on. */
static uint64_t pass_over(struct check *check, uint64_t offset)
{
	bool is_block;
	bool cut;
	uint64_t next = find_next(check, offset, &is_block, &cut);

	if (cut) {
		note(check, POSIX_TRACE_FINDING_END_NP, offset,
		    "the last block is cut off: its writer died, or the copy is short");
	} else {
		note_error(check, POSIX_TRACE_FINDING_DAMAGE_NP);
		check->sum.posix_damaged_np += is_block;
		check->unsure = true;
		count_in_sequence(check, offset);
	}
	if (is_block)
		count_damaged(check, offset, next);
	else
		check->sum.posix_skipped_np += next - offset;
	return next;
}

static int walk(struct check *check)
{
	struct pxt_log *log = &check->log;
	uint64_t offset = log->scan.at;

	/* Bound: the file's size; each turn passes over at least a step of it. */
	for (; offset < check->size; check->block++) {
		struct pxt_log_blockhead head = { 0 };
		const unsigned char *block;
		int error = pxt_log_load(log, offset, &head, &block);

		log->scan.at = offset;
		check->watch(offset, check->context);
		if (error) {
			offset = pass_over(check, offset);
			continue;
		}
		if (head.type == PXT_LOG_DATA && log->header.layout == PXT_LAYOUT_FRAMES)
			note(check, POSIX_TRACE_FINDING_DAMAGE_NP, offset,
			    "a DATA block stands behind the frames");
		else
			error = take_block(check, offset, block, &head);
		if (error)
			return error;
		offset += head.length;
	}
	return 0;
}

/* ---- Frames ---- */

static void take_frame(struct check *check, uint64_t offset, const unsigned char *block,
    const struct pxt_log_blockhead *head)
{
	struct pxt_log *log = &check->log;

	if (!log->scan.any_frame || head->sequence < log->oldest) {
		log->oldest = head->sequence;
		check->before = head->records_total - head->count;
	}
	if (!log->scan.any_frame || head->sequence > log->newest) {
		log->newest = head->sequence;
		check->behind = head->records_total;
	}
	log->scan.any_frame = true;
	/* Frames are not in the order of time. */
	check->newest = 0;
	memset(check->own, 0, sizeof(check->own));
	check->sum.posix_sound_np++;
	count_records(check, offset, block, head);
}

static void check_frame(struct check *check, uint32_t frame)
{
	struct pxt_log *log = &check->log;
	uint64_t offset = log->header.data_offset + (uint64_t)frame * log->header.frame_bytes;
	uint64_t end = offset + log->header.frame_bytes;
	struct pxt_log_blockhead head = { 0 };
	const unsigned char *block;

	if (pxt_log_unwritten(log, offset))
		return;
	if (!pxt_log_load_frame(log, frame, &head, &block)) {
		take_frame(check, offset, block, &head);
		return;
	}
	if (end > check->size) {
		note_error(check, POSIX_TRACE_FINDING_END_NP);
	} else {
		note_error(check, POSIX_TRACE_FINDING_DAMAGE_NP);
		check->sum.posix_damaged_np++;
	}
	count_damaged(check, offset, end);
}

/* The frames of a LOOP log hold consecutive blocks, and as many records as their sums say. */
static void check_frames(struct check *check)
{
	const struct pxt_log_header *header = &check->log.header;
	const struct pxt_log *log = &check->log;
	uint64_t known;
	uint64_t there;

	/* Bound: the file's size, whatever number of frames its head says. */
	for (uint32_t i = 0; i < header->frames; i++, check->block++) {
		if (header->data_offset + (uint64_t)i * header->frame_bytes >= check->size)
			break;
		check->watch(
		    header->data_offset + (uint64_t)i * header->frame_bytes, check->context);
		check_frame(check, i);
	}
	if (!log->scan.any_frame)
		return;
	there = log->newest - log->oldest;
	pxt_sum_add(&there, 1);
	known = check->sum.posix_sound_np + check->sum.posix_damaged_np;
	/* After blocks that are overwritten by now every frame is full. */
	if (log->oldest != 0 && there < header->frames)
		there = header->frames;
	if (there > known) {
		pxt_sum_add(&check->sum.posix_missing_np, there - known);
		note(check, POSIX_TRACE_FINDING_DAMAGE_NP, header->data_offset,
		    "the frames do not hold consecutive blocks");
	} else if (check->sum.posix_damaged_np == 0 &&
	           check->behind - check->before != check->sum.posix_records_np) {
		note(check, POSIX_TRACE_FINDING_LAW_NP, header->data_offset,
		    "the frames do not hold as many records as their sums say");
	}
}

/* ---- What holds for the whole log ---- */

/* Events whose type has no name. */
static void check_types(struct check *check)
{
	char text[160];
	uint32_t id;

	for (id = 1; id < PXT_LOG_IDS; id++) {
		if (!check->ids[id] || check->log.names[id])
			continue;
		check->sum.posix_unnamed_np += check->ids[id];
		(void)snprintf(text, sizeof(text), "%llu events of type %u, which has no name",
		    (unsigned long long)check->ids[id], (unsigned)id);
		note(check, POSIX_TRACE_FINDING_TYPE_NP, check->first[id], text);
	}
}

/* Numbers at the end of a log that contradict each other. */
static void check_law(struct check *check)
{
	const struct pxt_log *log = &check->log;
	const struct posix_trace_counts_np *counts = &log->trailer.counts;
	uint64_t lost = counts->posix_lost_np;
	uint64_t flushed = log->scan.records_total;
	uint64_t parts = counts->posix_retrieved_np;

	pxt_sum_add(&flushed, log->trailer.log_lost);
	if (!add(&parts, lost) || !add(&parts, counts->posix_cleared_np) ||
	    !goes_on(counts->posix_written_np, parts, counts->posix_held_np))
		note(check, POSIX_TRACE_FINDING_LAW_NP, log->scan.at,
		    "written is not retrieved + lost + cleared + held");
	/* A clear that began the file anew began the sums of its blocks anew, too. */
	if (log->header.generation)
		return;
	if (counts->posix_retrieved_np > flushed)
		note(check, POSIX_TRACE_FINDING_LAW_NP, log->scan.at,
		    "the log holds fewer records than were flushed to it");
	pxt_sum_add(&lost, log->trailer.log_lost);
	pxt_sum_add(&lost, counts->posix_cleared_np);
	if (log->scan.lost_total > lost)
		note(check, POSIX_TRACE_FINDING_LAW_NP, log->scan.at,
		    "the blocks tell more losses than the trailer");
}

static void conclude(struct check *check)
{
	struct pxt_log *log = &check->log;

	check_types(check);
	check->sum.posix_readings_backward_np = log->readings_backward;
	check->sum.posix_complete_np = log->complete;
	if (log->complete) {
		check->sum.posix_counts_np = log->trailer.counts;
		check->sum.posix_lost_in_log_np = log->trailer.log_lost;
		check->sum.posix_stream_status_np = log->trailer.status.posix_stream_status;
		check_law(check);
	} else if (!check->trailer) {
		note(check, POSIX_TRACE_FINDING_END_NP, check->size,
		    "the log ends without its trailer: it is being written, or its writer died");
	}
}

/* A log whose head alone is damaged is one nevertheless; of anything else nothing can be said. */
static int judge_head(struct check *check)
{
	static const unsigned char magic[8] = PXT_LOG_MAGIC;
	const unsigned char *at = pxt_log_see(&check->log, 0, sizeof(magic));

	note_error(check, POSIX_TRACE_FINDING_DAMAGE_NP);
	if (!at || memcmp(at, magic, sizeof(magic)) != 0 ||
	    check->log.header.min_major > PXT_LOG_MAJOR ||
	    (check->log.header.min_major == PXT_LOG_MAJOR &&
	        check->log.header.min_minor > PXT_LOG_MINOR))
		return EINVAL;
	return 0;
}

/* The head of the file, from a block that repeats it. */
static bool find_head(struct check *check)
{
	struct pxt_log *log = &check->log;
	unsigned char whole[PXT_LOG_HEADER_BYTES];
	uint64_t offset = PXT_LOG_HEADER_BYTES;

	/* Bound: the file's size; each turn goes on by at least a step. */
	while (offset < check->size && check->size - offset >= SEEN) {
		uint64_t rest = check->size - offset;
		uint32_t bytes = rest < log->window_bytes ? (uint32_t)rest : log->window_bytes;
		const unsigned char *at = pxt_log_see(log, offset, bytes);
		uint32_t i;

		if (!at)
			return false;
		for (i = 0; i + SEEN <= bytes; i += STEP) {
			if (bytes - i < PXT_LOG_STAGING_MIN && bytes < rest && i > 0)
				break;
			if (pxt_logfmt_get_head(at + i, bytes - i, whole) &&
			    !pxt_logfmt_get_header(whole, &log->header))
				return true;
		}
		offset += i;
	}
	return false;
}

/*
 * Where the head cannot be read: true when a block that repeats it says all that it said.  *error is what
 * to end with otherwise.
 */
static bool do_without_head(struct check *check, int *error)
{
	struct pxt_log *log = &check->log;
	const unsigned char *at;

	*error = judge_head(check);
	log->window_bytes = PXT_LOG_BLOCK_MAX;
	pxt_log_view_again(log);
	at = pxt_log_see(log, 0, PXT_LOG_SEEMS_BYTES);
	if (!at || !pxt_logfmt_seems(at))
		return false;
	return find_head(check);
}

static int check_file(struct check *check)
{
	struct pxt_log *log = &check->log;
	int error;

	if (!pxt_log_take_window(log))
		return ENOMEM;
	if (pxt_port_file_size(&log->file, &check->size))
		return EINVAL;
	check->sum.posix_bytes_np = check->size;
	if (pxt_log_read_header(log) && !do_without_head(check, &error))
		return error;
	check->sum.posix_format_major_np = log->header.major;
	check->sum.posix_format_minor_np = log->header.minor;
	log->window_bytes = PXT_LOG_BLOCK_MAX;
	pxt_log_view_again(log);
	pxt_log_begin(log);
	if (log->header.layout == PXT_LAYOUT_FRAMES)
		check_frames(check);
	error = walk(check);
	if (!error)
		conclude(check);
	return error;
}

static void unwatched(PXT_UNUSED uint64_t done, PXT_UNUSED void *context)
{
}

PXT_API int posix_trace_log_check_np(int file_desc, struct posix_trace_logcheck_np *result,
    size_t result_bytes, struct posix_trace_logfinding_np *findings, size_t finding_bytes,
    size_t room, void (*watch)(uint64_t done, void *context), void *context)
{
	struct check *check;
	int error;

	if (!pxt_arg_given(result) ||
	    (room != 0 && (!pxt_arg_given(findings) || finding_bytes == 0)))
		return EINVAL;
	memset(result, 0, result_bytes);
	check = pxt_port_heap_resize(NULL, sizeof(*check));
	if (!check)
		return ENOMEM;
	memset(check, 0, sizeof(*check));
	check->findings = (unsigned char *)findings;
	check->finding_bytes = finding_bytes;
	check->room = room;
	check->watch = unwatched;
	if (watch)
		check->watch = watch;
	check->context = context;
	error = pxt_port_file_open(&check->log.file, file_desc);
	if (error) {
		error = EINVAL;
		note(check, POSIX_TRACE_FINDING_DAMAGE_NP, 0,
		    "not a regular file that is open for reading");
	} else {
		error = check_file(check);
		pxt_port_file_close(&check->log.file);
	}
	pxt_give(result, result_bytes, &check->sum, sizeof(check->sum));
	pxt_log_free_tables(&check->log);
	pxt_log_give_window(&check->log);
	pxt_port_heap_free(check);
	return error;
}
