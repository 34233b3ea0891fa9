/* SPDX-License-Identifier: MIT */
/* logfmt_fields.c - where numbers are in a log, and how they get there and back. */
#include "format/logfmt_fields.h"

#define VERSION(at, member) PXT_LOG_FIELD(at, 2, struct pxt_log_header, member)
const struct pxt_log_field pxt_log_version_fields[] = { VERSION(12, major), VERSION(14, minor),
	VERSION(16, min_major), VERSION(18, min_minor), PXT_LOG_FIELDS_END };

#define HEADER(at, bytes, member) PXT_LOG_FIELD(at, bytes, struct pxt_log_header, member)
const struct pxt_log_field pxt_log_header_fields[] = { HEADER(20, 1, word_bytes),
	HEADER(21, 1, ctx_bytes), HEADER(23, 1, layout), HEADER(24, 4, header_bytes),
	HEADER(28, 4, contents), HEADER(48, 4, rate.source), HEADER(52, 4, rate.error_ppm),
	HEADER(56, 8, rate.hz), HEADER(120, 4, largest_block), HEADER(124, 4, set_bytes),
	HEADER(128, 8, data_offset), HEADER(136, 4, frame_bytes), HEADER(140, 4, frames),
	HEADER(PXT_LOG_AT_GENERATION, 4, generation), HEADER(148, 4, number), PXT_LOG_FIELDS_END };

#define ATTR(at, bytes, member) PXT_LOG_FIELD(at, bytes, struct _pxt_attr, member)
const struct pxt_log_field pxt_log_attr_fields[] = { ATTR(0, 4, _pxt_stream_policy),
	ATTR(4, 4, _pxt_log_policy), ATTR(8, 4, _pxt_inherit), ATTR(12, 4, _pxt_lanes),
	ATTR(16, 4, _pxt_flags), ATTR(20, 4, _pxt_flush_priority), ATTR(24, 8, _pxt_stream_size),
	ATTR(32, 8, _pxt_max_data), ATTR(40, 8, _pxt_log_size), ATTR(48, 8, _pxt_create_sec),
	ATTR(56, 8, _pxt_clockres_sec), ATTR(64, 4, _pxt_create_nsec),
	ATTR(68, 4, _pxt_clockres_nsec), ATTR(72, 4, _pxt_system_slots),
	ATTR(76, 4, _pxt_ctx_bytes), PXT_LOG_FIELDS_END };

#define THREAD(at, bytes, member) PXT_LOG_FIELD(at, bytes, struct pxt_log_thread, member)
const struct pxt_log_field pxt_log_thread_fields[] = { THREAD(2, 2, index), THREAD(4, 4, pid),
	THREAD(8, 4, tid), THREAD(16, 8, thread), THREAD(24, 8, since), PXT_LOG_FIELDS_END };

#define MODULE(at, bytes, member) PXT_LOG_FIELD(at, bytes, struct pxt_log_module, member)
const struct pxt_log_field pxt_log_module_fields[] = { MODULE(4, 2, build_id_bytes),
	MODULE(8, 8, base), MODULE(16, 8, low), MODULE(24, 8, high), PXT_LOG_FIELDS_END };

#define TRAILER(at, bytes, member) PXT_LOG_FIELD(at, bytes, struct pxt_log_trailer, member)
const struct pxt_log_field pxt_log_trailer_fields[] = { TRAILER(8, 4, status.posix_stream_status),
	TRAILER(12, 4, status.posix_stream_full_status),
	TRAILER(16, 4, status.posix_stream_overrun_status),
	TRAILER(20, 4, status.posix_stream_flush_status),
	TRAILER(24, 4, status.posix_stream_flush_error),
	TRAILER(28, 4, status.posix_log_overrun_status),
	TRAILER(32, 4, status.posix_log_full_status), TRAILER(40, 8, counts.posix_written_np),
	TRAILER(48, 8, counts.posix_retrieved_np), TRAILER(56, 8, counts.posix_lost_np),
	TRAILER(64, 8, counts.posix_cleared_np), TRAILER(72, 8, counts.posix_held_np),
	TRAILER(80, 8, log_lost), TRAILER(88, 8, data_blocks), TRAILER(96, 8, meta_blocks),
	PXT_LOG_FIELDS_END };

#define CRASH(at, bytes, member) PXT_LOG_FIELD(at, bytes, struct pxt_crash, member)
const struct pxt_log_field pxt_log_crash_fields[] = { CRASH(304, 4, signal), CRASH(308, 4, code),
	CRASH(312, 8, address), CRASH(320, 8, at), CRASH(328, 4, sender), CRASH(332, 4, tid),
	PXT_LOG_FIELDS_END };

static uint64_t get(const unsigned char *at, uint32_t bytes, bool swapped)
{
	switch (bytes) {
	case 1:
		return *at;
	case 2:
		return pxt_get16(at, swapped);
	case 4:
		return pxt_get32(at, swapped);
	default:
		return pxt_get64(at, swapped);
	}
}

static void put(unsigned char *at, uint32_t bytes, uint64_t value)
{
	const uint32_t word = (uint32_t)value;
	const uint16_t half = (uint16_t)value;

	switch (bytes) {
	case 1:
		*at = (unsigned char)value;
		break;
	case 2:
		memcpy(at, &half, sizeof(half));
		break;
	case 4:
		memcpy(at, &word, sizeof(word));
		break;
	default:
		memcpy(at, &value, sizeof(value));
		break;
	}
}

void pxt_logfmt_put_fields(
    unsigned char *at, const struct pxt_log_field *fields, const void *object)
{
	const unsigned char *from = object;

	for (; fields->bytes; fields++)
		put(at + fields->at, fields->bytes,
		    get(from + fields->member, fields->room, false));
}

void pxt_logfmt_get_fields(
    const unsigned char *at, bool swapped, const struct pxt_log_field *fields, void *object)
{
	unsigned char *to = object;

	for (; fields->bytes; fields++)
		put(to + fields->member, fields->room,
		    get(at + fields->at, fields->bytes, swapped));
}
