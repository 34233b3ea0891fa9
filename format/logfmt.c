/* SPDX-License-Identifier: MIT */
/* logfmt.c - writing: headers, records and entries as FORMAT.md lays them out. */
#include "format/logfmt_fields.h"

#include "format/attr_marks.h"
#include "format/crc32.h"

static const unsigned char file_magic[8] = PXT_LOG_MAGIC;
static const unsigned char block_magic[4] = PXT_LOG_BLOCK_MAGIC;

static void put16(unsigned char *at, uint32_t value)
{
	uint16_t half = (uint16_t)value;

	memcpy(at, &half, sizeof(half));
}

static void put32(unsigned char *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put64(unsigned char *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* strnlen(), which small C libraries do without. */
static uint32_t length_of(const char *text, uint32_t most)
{
	uint32_t length = 0;

	while (length < most && text[length])
		length++;
	return length;
}

/* Text of at most @room - 1 bytes; what follows is zero already. */
static void put_text(unsigned char *at, const char *text, uint32_t room)
{
	for (uint32_t i = 0; i + 1 < room && text[i]; i++)
		at[i] = (unsigned char)text[i];
}

static void put_time(unsigned char *at, const struct timespec *time)
{
	put64(at, (uint64_t)time->tv_sec);
	put32(at + 8, (uint32_t)time->tv_nsec);
}

static void put_clocks(unsigned char *at, const struct pxt_clock_set *set)
{
	put64(at, set->ticks);
	put_time(at + 8, &set->realtime);
	put_time(at + 24, &set->monotonic);
	put_time(at + 40, &set->boottime);
}

static void put_attr(unsigned char *at, const struct _pxt_attr *attr)
{
	pxt_logfmt_put_fields(at, pxt_log_attr_fields, attr);
	put32(at + 16, attr->_pxt_flags & PXT_ATTR_LOGGED);
	put_text(at + 80, attr->_pxt_name, 32);
	put_text(at + 112, attr->_pxt_genversion, 32);
}

/* PXT_LOG_HEADER_USED bytes, which are zero. */
static void put_header(unsigned char *at, const struct pxt_log_header *header)
{
	memcpy(at, file_magic, sizeof(file_magic));
	pxt_logfmt_put_fields(at, pxt_log_header_fields, header);
	put32(at + 8, PXT_LOG_ORDER_MARK);
	put16(at + 12, header->coded ? PXT_LOG_MAJOR : PXT_LOG_SLOTS_MAJOR);
	put16(at + 14, header->coded ? PXT_LOG_MINOR : PXT_LOG_SLOTS_MINOR);
	put16(at + 16, header->coded ? PXT_LOG_MAJOR : PXT_LOG_SLOTS_MAJOR);
	put16(at + 18, header->coded && header->layout == PXT_LAYOUT_FRAMES ? PXT_LOG_FRAME_MINOR
	                                                                    : PXT_LOG_MIN_MINOR);
	at[22] = PXT_SLOT_BYTES;
	put32(at + 24, PXT_LOG_HEADER_BYTES);
	memcpy(at + 32, header->uuid, PXT_LOG_UUID_BYTES);
	put_clocks(at + 64, &header->created);
	put_attr(at + 152, &header->attr);
}

void pxt_logfmt_put_header(void *buffer, const struct pxt_log_header *header)
{
	unsigned char *at = buffer;

	memset(at, 0, PXT_LOG_HEADER_BYTES);
	put_header(at, header);
	put32(at + 508, pxt_crc32(0, at, 508));
}

void pxt_logfmt_start(struct pxt_log_block *block, void *buffer, uint32_t room)
{
	memset(block, 0, sizeof(*block));
	block->bytes = buffer;
	block->room = room & ~(PXT_SLOT_BYTES - 1u);
	block->used = PXT_LOG_BLOCK_BYTES;
}

/* Room for @bytes more bytes, or NULL; counted as taken. */
static unsigned char *take(struct pxt_log_block *block, uint32_t bytes)
{
	unsigned char *at = block->bytes + block->used;

	if (bytes > block->room - block->used)
		return NULL;
	block->used += bytes;
	return at;
}

/* A zeroed entry of @bytes bytes, rounded up to 8, that begins with its own length; or NULL. */
static unsigned char *take_entry(struct pxt_log_block *block, uint32_t bytes)
{
	uint32_t whole = (bytes + 7u) & ~7u;
	/* Keeps the 8 bytes back that may be needed to pad the block to a multiple of 16. */
	unsigned char *at =
	    ((block->used + whole + 15u) & ~15u) <= block->room ? take(block, whole) : NULL;

	if (at) {
		memset(at, 0, whole);
		put16(at, whole);
		block->count++;
	}
	return at;
}

/* The record or entry that was put last, and counted, has this stamp. */
static void stamp(struct pxt_log_block *block, uint64_t ticks)
{
	if (block->count == 1 || ticks < block->begin)
		block->begin = ticks;
	if (block->count == 1 || ticks > block->end)
		block->end = ticks;
}

bool pxt_logfmt_put_record(struct pxt_log_block *block, const struct pxt_slot *slots, uint32_t n)
{
	unsigned char *at = take(block, n * PXT_SLOT_BYTES);
	uint32_t i;

	if (!at)
		return false;
	if (at != (const unsigned char *)slots)
		memcpy(at, slots, (size_t)n * PXT_SLOT_BYTES);
	put32(at, PXT_SLOT_BEGIN);
	for (i = 1; i < n; i++)
		put32(at + (size_t)i * PXT_SLOT_BYTES, 0);
	block->count++;
	stamp(block, pxt_slot_ticks(slots));
	return true;
}

void pxt_logfmt_put_copied(
    struct pxt_log_block *block, uint32_t slots, uint32_t records, uint64_t least, uint64_t most)
{
	bool first = block->count == 0;

	block->used += slots * PXT_SLOT_BYTES;
	block->count += records;
	if (first || least < block->begin)
		block->begin = least;
	if (first || most > block->end)
		block->end = most;
}

bool pxt_logfmt_put_loss(struct pxt_log_block *block, uint64_t records)
{
	unsigned char *at = take(block, PXT_SLOT_BYTES);

	if (!at)
		return false;
	put32(at, PXT_SLOT_BEGIN);
	put32(at + 4, pxt_slot_info(PXT_LOG_ID_LOSS, 0, false, false, PXT_CPU_UNKNOWN));
	put32(at + 8, (uint32_t)records);
	put32(at + 12, (uint32_t)(records >> 32));
	block->lost += records;
	return true;
}

bool pxt_logfmt_put_type(
    struct pxt_log_block *block, uint32_t id, const char *name, const char *format)
{
	uint32_t name_bytes = length_of(name, TRACE_EVENT_NAME_MAX);
	uint32_t format_bytes = length_of(format, POSIX_TRACE_FORMAT_MAX_NP);
	unsigned char *at = take_entry(block, PXT_LOG_TYPE_BYTES + name_bytes + format_bytes);

	if (!at)
		return false;
	put16(at + 2, id);
	put16(at + 4, name_bytes);
	put16(at + 6, format_bytes);
	memcpy(at + 8, name, name_bytes);
	memcpy(at + 8 + name_bytes, format, format_bytes);
	return true;
}

bool pxt_logfmt_put_thread(struct pxt_log_block *block, const struct pxt_log_thread *thread)
{
	unsigned char *at = take_entry(block, PXT_LOG_THREAD_BYTES);

	if (!at)
		return false;
	pxt_logfmt_put_fields(at, pxt_log_thread_fields, thread);
	put_text(at + 32, thread->name, sizeof(thread->name));
	return true;
}

bool pxt_logfmt_put_process(struct pxt_log_block *block, const struct pxt_log_process *process)
{
	unsigned char *at = take_entry(block, PXT_LOG_PROCESS_1_2);

	if (!at)
		return false;
	put32(at + 4, (uint32_t)process->pid);
	put_time(at + 8, &process->start);
	put_text(at + 24, process->executable, sizeof(process->executable));
	put_text(at + 280, process->host, sizeof(process->host));
	memcpy(at + PXT_LOG_PROCESS_BYTES, process->boot_id, sizeof(process->boot_id));
	put32(at + PXT_LOG_PROCESS_1_1, process->cpus);
	put_text(at + PXT_LOG_PROCESS_1_1 + 8, process->system, sizeof(process->system));
	return true;
}

bool pxt_logfmt_put_module(struct pxt_log_block *block, const struct pxt_log_module *module)
{
	uint32_t path_bytes = length_of(module->path, sizeof(module->path) - 1);
	unsigned char *at = take_entry(block, PXT_LOG_MODULE_BYTES + path_bytes);

	if (!at)
		return false;
	put16(at + 2, path_bytes);
	pxt_logfmt_put_fields(at, pxt_log_module_fields, module);
	memcpy(at + 32, module->build_id, sizeof(module->build_id));
	memcpy(at + 64, module->path, path_bytes);
	return true;
}

bool pxt_logfmt_put_note(struct pxt_log_block *block, const char *name, const char *text)
{
	uint32_t name_bytes = length_of(name, POSIX_TRACE_NOTE_NAME_MAX_NP);
	uint32_t text_bytes = length_of(text, POSIX_TRACE_NOTE_TEXT_MAX_NP);
	unsigned char *at = take_entry(block, PXT_LOG_NOTE_BYTES + name_bytes + text_bytes);

	if (!at)
		return false;
	put16(at + 2, name_bytes);
	put16(at + 4, text_bytes);
	memcpy(at + PXT_LOG_NOTE_BYTES, name, name_bytes);
	memcpy(at + PXT_LOG_NOTE_BYTES + name_bytes, text, text_bytes);
	return true;
}

bool pxt_logfmt_put_clock(struct pxt_log_block *block, const struct pxt_log_clock *clock)
{
	unsigned char *at = take_entry(block, PXT_LOG_CLOCK_BYTES);

	if (!at)
		return false;
	stamp(block, clock->clock.ticks);
	put16(at + 2, clock->moment);
	put_clocks(at + 8, &clock->clock);
	return true;
}

bool pxt_logfmt_put_head(struct pxt_log_block *block, const struct pxt_log_header *header)
{
	unsigned char *at = take_entry(block, PXT_LOG_HEAD_BYTES);

	if (!at)
		return false;
	put_header(at + 8, header);
	return true;
}

bool pxt_logfmt_put_set(struct pxt_log_block *block, const struct pxt_log_set *set)
{
	unsigned char *at = take_entry(block, PXT_LOG_SET_BYTES);

	if (!at)
		return false;
	put64(at + 8, set->records);
	put64(at + 16, set->lost);
	put64(at + 24, set->repeated);
	return true;
}

bool pxt_logfmt_put_clear(struct pxt_log_block *block, uint64_t ticks, uint64_t records)
{
	unsigned char *at = take_entry(block, PXT_LOG_CLEAR_BYTES);

	if (!at)
		return false;
	put64(at + 8, records);
	block->begin = ticks;
	block->end = ticks;
	return true;
}

bool pxt_logfmt_put_trailer(struct pxt_log_block *block, const struct pxt_log_trailer *trailer)
{
	const struct pxt_crash *crash = &trailer->crash;
	unsigned char *at =
	    take_entry(block, crash->signal ? PXT_LOG_CRASH_BYTES : PXT_LOG_TRAILER_BYTES);

	if (!at)
		return false;
	pxt_logfmt_put_fields(at, pxt_log_trailer_fields, trailer);
	put_clocks(at + 104, &trailer->end);
	put_attr(at + 160, &trailer->attr);
	if (crash->signal)
		pxt_logfmt_put_fields(at, pxt_log_crash_fields, crash);
	block->begin = trailer->end.ticks;
	block->end = trailer->end.ticks;
	return true;
}

#define PUT(place, bits, member) put##bits(at + (place), BLOCK_##member);
/* What is there, by the names of struct pxt_log_blockhead. */
#define BLOCK_type               ((uint32_t)type)
#define BLOCK_length             length
#define BLOCK_count              block->count
#define BLOCK_sequence           (data ? stream->data_sequence : stream->meta_sequence)
#define BLOCK_begin              block->begin
#define BLOCK_end                block->end
#define BLOCK_lost               block->lost
#define BLOCK_lost_total         (stream->lost + block->lost)
#define BLOCK_records_total      (stream->records + (data ? block->count : 0u))

uint32_t pxt_logfmt_finish(
    struct pxt_log_block *block, const struct pxt_log_stream *stream, enum pxt_log_type type)
{
	unsigned char *at = block->bytes;
	uint32_t length = pxt_logfmt_length(block);
	bool data = type == PXT_LOG_DATA;

	memset(at, 0, PXT_LOG_BLOCK_BYTES);
	if (length > block->used)
		memset(at + block->used, 0, length - block->used);
	memcpy(at, block_magic, sizeof(block_magic));
	PXT_LOG_BLOCK_FIELDS(PUT)
	put16(at + PXT_LOG_AT_FLAGS, data && block->nameless ? PXT_LOG_FLAG_NAMELESS : 0u);
	memcpy(at + PXT_LOG_AT_UUID, stream->uuid, PXT_LOG_UUID_BYTES);
	put32(at + PXT_LOG_AT_CODED, block->coded);
	put32(at + PXT_LOG_AT_CRC, pxt_crc32(pxt_crc32(0, at, PXT_LOG_AT_CRC),
	                               at + PXT_LOG_BLOCK_BYTES, length - PXT_LOG_BLOCK_BYTES));
	return length;
}

void pxt_logfmt_written(
    const struct pxt_log_block *block, struct pxt_log_stream *stream, enum pxt_log_type type)
{
	if (type == PXT_LOG_DATA) {
		stream->data_sequence++;
		stream->records += block->count;
	} else {
		stream->meta_sequence++;
	}
	stream->lost += block->lost;
}
