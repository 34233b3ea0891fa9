/* SPDX-License-Identifier: MIT */
/*
 * logfmt_get.c - reading: the head of the file, the heads of blocks, records, and entries of other blocks;
 * which versions of the format are read, and what of them is refused.
 */
#include "format/attr_marks.h"
#include "format/crc32.h"
#include "format/logfmt_fields.h"
#include "format/ticks.h"

#define SECONDS_MAX      ((int64_t)1 << 40)
#define HEADER_BYTES_MAX 65536u

static const unsigned char file_magic[8] = PXT_LOG_MAGIC;
static const unsigned char block_magic[4] = PXT_LOG_BLOCK_MAGIC;

const char pxt_log_newer[] = "the log needs a newer reader";
const char pxt_log_damaged_record[] = "a record is damaged";

bool pxt_logfmt_seems(const unsigned char *at)
{
	unsigned other = 0;

	for (unsigned i = 0; i < sizeof(file_magic); i++)
		other += at[i] != file_magic[i];
	return other < 2 ||
	       memcmp(at + PXT_LOG_HEADER_BYTES, block_magic, sizeof(block_magic)) == 0;
}

static bool good_time(int64_t seconds, uint32_t nanoseconds)
{
	return seconds >= 0 && seconds < SECONDS_MAX && nanoseconds < PXT_NS_PER_S;
}

bool pxt_logfmt_get_time(const unsigned char *at, bool swapped, struct timespec *time)
{
	int64_t seconds = (int64_t)pxt_get64(at, swapped);
	uint32_t nanoseconds = pxt_get32(at + 8, swapped);

	time->tv_sec = pxt_ticks_seconds(seconds);
	time->tv_nsec = (long)nanoseconds;
	return good_time(seconds, nanoseconds);
}

bool pxt_logfmt_get_clocks(const unsigned char *at, bool swapped, struct pxt_clock_set *set)
{
	set->ticks = pxt_get64(at, swapped);
	return pxt_logfmt_get_time(at + 8, swapped, &set->realtime) &&
	       pxt_logfmt_get_time(at + 24, swapped, &set->monotonic) &&
	       pxt_logfmt_get_time(at + 40, swapped, &set->boottime);
}

static bool good_policies(const struct _pxt_attr *attr)
{
	return pxt_logfmt_is_stream_policy(attr->_pxt_stream_policy) &&
	       (attr->_pxt_log_policy == POSIX_TRACE_LOOP ||
	           attr->_pxt_log_policy == POSIX_TRACE_UNTIL_FULL ||
	           attr->_pxt_log_policy == POSIX_TRACE_APPEND) &&
	       (attr->_pxt_inherit == POSIX_TRACE_CLOSE_FOR_CHILD ||
	           attr->_pxt_inherit == POSIX_TRACE_INHERITED);
}

const char *pxt_logfmt_get_attr(const unsigned char *at, bool swapped, struct _pxt_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->_pxt_magic = PXT_ATTR_MAGIC;
	pxt_logfmt_get_fields(at, swapped, pxt_log_attr_fields, attr);
	if (!good_policies(attr))
		return "the attributes name a policy that does not exist";
	if (!good_time(attr->_pxt_create_sec, (uint32_t)attr->_pxt_create_nsec) ||
	    !good_time(attr->_pxt_clockres_sec, (uint32_t)attr->_pxt_clockres_nsec))
		return "the attributes hold an impossible time";
	if (attr->_pxt_max_data > PXT_DATA_MAX || attr->_pxt_system_slots > 4096u)
		return "the attributes hold an impossible size";
	if (!pxt_get_text(at + 80, attr->_pxt_name, sizeof(attr->_pxt_name)) ||
	    !pxt_get_text(at + 112, attr->_pxt_genversion, sizeof(attr->_pxt_genversion)))
		return "a name in the attributes has no end";
	return NULL;
}

/* In either order: what is before all numbers. */
static const char *get_order(const unsigned char *at, bool *swapped)
{
	uint32_t mark = pxt_get32(at + 8, false);

	if (memcmp(at, file_magic, sizeof(file_magic)) != 0)
		return "not a trace log (no magic at its start)";
	if (mark != PXT_LOG_ORDER_MARK && mark != __builtin_bswap32(PXT_LOG_ORDER_MARK))
		return "the byte order mark is damaged";
	*swapped = mark != PXT_LOG_ORDER_MARK;
	return NULL;
}

static const char *get_version(const unsigned char *at, struct pxt_log_header *header)
{
	pxt_logfmt_get_fields(at, header->swapped, pxt_log_version_fields, header);
	if (header->min_major > PXT_LOG_MAJOR ||
	    (header->min_major == PXT_LOG_MAJOR && header->min_minor > PXT_LOG_MINOR))
		return pxt_log_newer;
	header->coded = header->min_major >= PXT_LOG_MAJOR;
	return NULL;
}

static uint32_t context_bytes(const struct pxt_log_header *header)
{
	uint32_t address = header->word_bytes == 8 ? 6u : 4u;

	return ((header->contents & PXT_LOG_HAS_THREAD) ? 2u : 0u) +
	       ((header->contents & PXT_LOG_HAS_ADDRESS) ? address : 0u);
}

static const char *check_machine(const unsigned char *at, const struct pxt_log_header *header)
{
	if (header->word_bytes != 4 && header->word_bytes != 8)
		return "pointers of the recording machine have neither 4 nor 8 bytes";
	if (header->ctx_bytes != context_bytes(header))
		return "the context's size does not fit what it is said to hold";
	if (at[22] != PXT_SLOT_BYTES)
		return "slots do not have 16 bytes";
	if (header->rate.hz == 0 || header->rate.hz > PXT_HZ_MAX)
		return "the stamp clock's rate is impossible";
	if (header->set_bytes % 4u || header->set_bytes > PXT_LOG_IDS / 8u)
		return "the size of event sets is impossible";
	return NULL;
}

static const char *check_layout(const struct pxt_log_header *header)
{
	if (header->header_bytes < PXT_LOG_HEADER_BYTES ||
	    header->header_bytes > HEADER_BYTES_MAX || header->header_bytes % 16u)
		return "the head of the file has an impossible size";
	if (header->largest_block < PXT_LOG_STAGING_MIN ||
	    header->largest_block > PXT_LOG_BLOCK_MAX)
		return "the largest block has an impossible size";
	if (header->layout == PXT_LAYOUT_SEQUENTIAL)
		return NULL;
	if (header->layout != PXT_LAYOUT_FRAMES)
		return "the layout is neither sequential nor frames";
	if (header->frames == 0 || header->frame_bytes % 16u ||
	    header->frame_bytes < PXT_LOG_BLOCK_BYTES + PXT_SLOT_BYTES ||
	    header->frame_bytes > header->largest_block)
		return "the frames have an impossible size";
	/* 2^62 is far beyond any file, and keeps offsets after the frames within 63 bits. */
	if (header->data_offset < header->header_bytes || header->data_offset % 16u ||
	    header->data_offset > (uint64_t)1 << 62)
		return "the first frame is at an impossible place";
	return NULL;
}

const char *pxt_logfmt_get_header(const unsigned char *at, struct pxt_log_header *header)
{
	const char *wrong;

	memset(header, 0, sizeof(*header));
	wrong = get_order(at, &header->swapped);
	if (wrong)
		return wrong;
	wrong = get_version(at, header);
	if (wrong)
		return wrong;
	if (pxt_get32(at + 508, header->swapped) != pxt_crc32(0, at, 508))
		return "the checksum of the file's head is wrong";
	pxt_logfmt_get_fields(at, header->swapped, pxt_log_header_fields, header);
	memcpy(header->uuid, at + 32, PXT_LOG_UUID_BYTES);
	if (!pxt_logfmt_get_clocks(at + 64, header->swapped, &header->created))
		return "the clocks at creation show an impossible time";
	wrong = check_machine(at, header);
	if (!wrong)
		wrong = check_layout(header);
	return wrong ? wrong : pxt_logfmt_get_attr(at + 152, header->swapped, &header->attr);
}

void pxt_logfmt_complete_header(unsigned char *whole)
{
	bool swapped = pxt_get32(whole + 8, false) != PXT_LOG_ORDER_MARK;
	uint32_t sum;

	memset(whole + PXT_LOG_HEADER_USED, 0, PXT_LOG_HEADER_BYTES - PXT_LOG_HEADER_USED);
	sum = pxt_crc32(0, whole, PXT_LOG_HEADER_BYTES - 4u);
	sum = swapped ? __builtin_bswap32(sum) : sum;
	memcpy(whole + PXT_LOG_HEADER_BYTES - 4u, &sum, sizeof(sum));
}

bool pxt_logfmt_get_head(const unsigned char *block, uint32_t bytes, unsigned char *whole)
{
	bool swapped;
	uint32_t length;

	if (bytes < PXT_LOG_BLOCK_BYTES + PXT_LOG_HEAD_BYTES ||
	    memcmp(block, block_magic, sizeof(block_magic)) != 0)
		return false;
	swapped = pxt_get16(block + 4, false) != PXT_LOG_HEAD;
	length = pxt_get32(block + 8, swapped);
	if (pxt_get16(block + 4, swapped) != PXT_LOG_HEAD || length > bytes || length % 16u ||
	    length > PXT_LOG_STAGING_MIN || length < PXT_LOG_BLOCK_BYTES + PXT_LOG_HEAD_BYTES ||
	    !pxt_logfmt_sound(block, length, swapped) ||
	    pxt_get16(block + PXT_LOG_BLOCK_BYTES, swapped) < PXT_LOG_HEAD_BYTES)
		return false;
	memcpy(whole, block + PXT_LOG_BLOCK_BYTES + 8, PXT_LOG_HEADER_USED);
	pxt_logfmt_complete_header(whole);
	return true;
}

#define HEAD(at, bits, member) PXT_LOG_FIELD(at, (bits) / 8u, struct pxt_log_blockhead, member),
static const struct pxt_log_field head_fields[] = { PXT_LOG_BLOCK_FIELDS(HEAD)
	    HEAD(PXT_LOG_AT_MISSED, 64, missed) HEAD(PXT_LOG_AT_CODED, 32, coded)
	        HEAD(PXT_LOG_AT_FLAGS, 16, flags) PXT_LOG_FIELDS_END };

const char *pxt_logfmt_get_block(
    const unsigned char *at, const struct pxt_log_header *header, struct pxt_log_blockhead *head)
{
	if (memcmp(at, block_magic, sizeof(block_magic)) != 0)
		return "no block begins here";
	pxt_logfmt_get_fields(at, header->swapped, head_fields, head);
	if (memcmp(at + PXT_LOG_AT_UUID, header->uuid, PXT_LOG_UUID_BYTES) != 0)
		return "the block belongs to another stream";
	if (head->length < PXT_LOG_BLOCK_BYTES ||
	    (head->length % 16u && !(head->coded && header->layout == PXT_LAYOUT_FRAMES)) ||
	    head->length > header->largest_block)
		return "the block has an impossible length";
	/* Older writers have zeros there; what follows is up to 15 bytes of padding. */
	if (head->coded && (head->type != PXT_LOG_DATA || !header->coded ||
	                       head->length - PXT_LOG_BLOCK_BYTES - head->coded >= 16u))
		return "the block has an impossible number of coded bytes";
	return NULL;
}

bool pxt_logfmt_sound(const unsigned char *block, uint32_t length, bool swapped)
{
	uint32_t crc = pxt_crc32(0, block, PXT_LOG_AT_CRC);

	crc = pxt_crc32(crc, block + PXT_LOG_BLOCK_BYTES, length - PXT_LOG_BLOCK_BYTES);
	return crc == pxt_get32(block + PXT_LOG_AT_CRC, swapped);
}

#if PXT_SMALL
bool pxt_get_record(const unsigned char *at, uint32_t room, bool swapped, uint32_t ctx_bytes,
    struct pxt_log_record *record)
{
	return pxt_get_record_here(at, room, swapped, ctx_bytes, record);
}
#endif

bool pxt_logfmt_get_record(const unsigned char *at, uint32_t room,
    const struct pxt_log_header *header, struct pxt_log_record *record)
{
	return pxt_get_record(at, room, header->swapped, header->ctx_bytes, record);
}

void pxt_logfmt_get_payload(const unsigned char *at, uint32_t from, void *to, uint32_t bytes)
{
	unsigned char *out = to;

	/* Bound: the slots of a record. */
	while (bytes) {
		const uint32_t skip = from % PXT_SLOT_PAYLOAD;
		const size_t slot = 1u + from / PXT_SLOT_PAYLOAD;
		const uint32_t room = PXT_SLOT_PAYLOAD - skip;
		const uint32_t part = room < bytes ? room : bytes;

		memcpy(out, at + slot * PXT_SLOT_BYTES + 4 + skip, part);
		out += part;
		from += part;
		bytes -= part;
	}
}

/* Where the trouble is; head->length where there is none. */
PXT_INLINE uint32_t walk(const unsigned char *block, const struct pxt_log_blockhead *head,
    bool swapped, uint32_t ctx_bytes, uint32_t *count, uint64_t *lost)
{
	struct pxt_log_record record;
	uint32_t at = PXT_LOG_BLOCK_BYTES;

	/* Bound: the slots of a block. */
	while (at < head->length) {
		if (!pxt_get_record(block + at, head->length - at, swapped, ctx_bytes, &record))
			break;
		if (pxt_info_id(record.info) == PXT_LOG_ID_LOSS)
			pxt_sum_add(lost, record.ticks);
		else
			++*count;
		at += record.slots * PXT_SLOT_BYTES;
	}
	return at;
}

const char *pxt_logfmt_check_data(const unsigned char *block, const struct pxt_log_blockhead *head,
    const struct pxt_log_header *header, uint32_t *offset)
{
	uint64_t lost = 0;
	uint32_t count = 0;

	/* A loop for each byte order: the usual one need not ask. */
	*offset = header->swapped ? walk(block, head, true, header->ctx_bytes, &count, &lost)
	                          : walk(block, head, false, header->ctx_bytes, &count, &lost);
	if (*offset < head->length)
		return pxt_log_damaged_record;
	*offset = 0;
	return pxt_logfmt_check_counts(head, count, lost);
}

const char *pxt_logfmt_check_counts(
    const struct pxt_log_blockhead *head, uint32_t count, uint64_t lost)
{
	if (count != head->count)
		return "the block does not hold as many records as it says";
	if (lost != head->lost)
		return "the block does not tell as many losses as it says";
	if (head->records_total < head->count || head->lost_total < head->lost)
		return "the block's sums are below what it holds itself";
	return NULL;
}

/* ---- Reading: names, threads, modules, notes, clocks, and the trailer ---- */

const char *pxt_logfmt_get_entry(const unsigned char *block, const struct pxt_log_blockhead *head,
    bool swapped, uint32_t least, uint32_t *offset, const unsigned char **entry)
{
	uint32_t room = head->length - *offset;
	uint32_t bytes;

	if (room < 8u)
		return "the block does not hold as many entries as it says";
	bytes = pxt_get16(block + *offset, swapped);
	if (bytes > room || bytes < least || bytes % 8u || bytes == 0)
		return "an entry has an impossible length";
	*entry = block + *offset;
	*offset += bytes;
	return NULL;
}

/* Into memory that has room for its end.  False: it holds a zero byte. */
static bool take_text(char *text, const unsigned char *from, uint32_t bytes)
{
	memcpy(text, from, bytes);
	text[bytes] = '\0';
	return !memchr(text, '\0', bytes);
}

const char *pxt_logfmt_get_type(
    const unsigned char *entry, bool swapped, struct pxt_log_typename *type)
{
	uint32_t name = pxt_get16(entry + 4, swapped);
	uint32_t format = pxt_get16(entry + 6, swapped);

	type->id = pxt_get16(entry + 2, swapped);
	if (type->id == 0 || type->id >= PXT_LOG_IDS)
		return "an event type has an impossible number";
	if (name >= sizeof(type->name) || format >= sizeof(type->format) ||
	    PXT_LOG_TYPE_BYTES + name + format > pxt_get16(entry, swapped))
		return "an event type's name does not fit its entry";
	if (!take_text(type->name, entry + PXT_LOG_TYPE_BYTES, name) ||
	    !take_text(type->format, entry + PXT_LOG_TYPE_BYTES + name, format))
		return "an event type's name holds a zero byte";
	return NULL;
}

void pxt_logfmt_get_thread(const unsigned char *entry, bool swapped, struct pxt_log_thread *thread)
{
	pxt_logfmt_get_fields(entry, swapped, pxt_log_thread_fields, thread);
	memcpy(thread->name, entry + 32, sizeof(thread->name));
	thread->name[sizeof(thread->name) - 1] = '\0';
}

/* Of minor version 2. */
static const char *get_system(
    const unsigned char *entry, bool swapped, struct pxt_log_process *process)
{
	process->cpus = 0;
	process->system[0] = '\0';
	if (pxt_get16(entry, swapped) < PXT_LOG_PROCESS_1_2)
		return NULL;
	process->cpus = pxt_get32(entry + PXT_LOG_PROCESS_1_1, swapped);
	if (!pxt_get_text(
	        entry + PXT_LOG_PROCESS_1_1 + 8, process->system, sizeof(process->system)))
		return "the name of the system in the process' entry has no end";
	return NULL;
}

const char *pxt_logfmt_get_process(
    const unsigned char *entry, bool swapped, struct pxt_log_process *process)
{
	process->pid = (int32_t)pxt_get32(entry + 4, swapped);
	if (!pxt_logfmt_get_time(entry + 8, swapped, &process->start))
		return "the process was started at an impossible time";
	if (!pxt_get_text(entry + 24, process->executable, sizeof(process->executable)) ||
	    !pxt_get_text(entry + 280, process->host, sizeof(process->host)))
		return "a name in the process' entry has no end";
	memset(process->boot_id, 0, sizeof(process->boot_id));
	if (pxt_get16(entry, swapped) >= PXT_LOG_PROCESS_1_1)
		memcpy(process->boot_id, entry + PXT_LOG_PROCESS_BYTES, sizeof(process->boot_id));
	return get_system(entry, swapped, process);
}

const char *pxt_logfmt_get_module(
    const unsigned char *entry, bool swapped, struct pxt_log_module *module)
{
	uint32_t path = pxt_get16(entry + 2, swapped);

	pxt_logfmt_get_fields(entry, swapped, pxt_log_module_fields, module);
	if (module->build_id_bytes > sizeof(module->build_id) || path >= sizeof(module->path) ||
	    PXT_LOG_MODULE_BYTES + path > pxt_get16(entry, swapped))
		return "a module's path or build-id does not fit its entry";
	memcpy(module->build_id, entry + 32, sizeof(module->build_id));
	memcpy(module->path, entry + PXT_LOG_MODULE_BYTES, path);
	module->path[path] = '\0';
	return NULL;
}

const char *pxt_logfmt_get_note(const unsigned char *entry, bool swapped, struct pxt_log_note *note)
{
	uint32_t name = pxt_get16(entry + 2, swapped);
	uint32_t text = pxt_get16(entry + 4, swapped);

	if (name == 0 || name >= sizeof(note->name) || text >= sizeof(note->text) ||
	    PXT_LOG_NOTE_BYTES + name + text > pxt_get16(entry, swapped))
		return "a note's name or text does not fit its entry";
	if (!take_text(note->name, entry + PXT_LOG_NOTE_BYTES, name) ||
	    !take_text(note->text, entry + PXT_LOG_NOTE_BYTES + name, text))
		return "a note holds a zero byte";
	return NULL;
}

void pxt_logfmt_get_set(const unsigned char *entry, bool swapped, struct pxt_log_set *set)
{
	set->records = pxt_get64(entry + 8, swapped);
	set->lost = pxt_get64(entry + 16, swapped);
	set->repeated = pxt_get64(entry + 24, swapped);
}

const char *pxt_logfmt_get_clock(
    const unsigned char *entry, bool swapped, struct pxt_log_clock *clock)
{
	clock->moment = pxt_get16(entry + 2, swapped);
	if (!pxt_logfmt_get_clocks(entry + 8, swapped, &clock->clock))
		return "a clock reading shows an impossible time";
	return NULL;
}

/* Of minor version 1; a shorter trailer has no signal. */
static void get_crash(const unsigned char *entry, bool swapped, struct pxt_crash *crash)
{
	memset(crash, 0, sizeof(*crash));
	if (pxt_get16(entry, swapped) < PXT_LOG_CRASH_BYTES)
		return;
	pxt_logfmt_get_fields(entry, swapped, pxt_log_crash_fields, crash);
}

const char *pxt_logfmt_get_trailer(
    const unsigned char *entry, bool swapped, struct pxt_log_trailer *trailer)
{
	pxt_logfmt_get_fields(entry, swapped, pxt_log_trailer_fields, trailer);
	trailer->counts.posix_stable_np = 1;
	get_crash(entry, swapped, &trailer->crash);
	if (!pxt_logfmt_get_clocks(entry + 104, swapped, &trailer->end))
		return "the clocks at shutdown show an impossible time";
	return pxt_logfmt_get_attr(entry + 160, swapped, &trailer->attr);
}
