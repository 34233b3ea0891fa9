/* SPDX-License-Identifier: MIT */
/* logfmt_bytes.h - numbers, times and text out of a log of either byte order. */
#ifndef PXT_LOGFMT_BYTES_H
#define PXT_LOGFMT_BYTES_H

#include "format/logfmt_fields.h"

#include <string.h>

PXT_INLINE uint16_t pxt_get16(const unsigned char *at, bool swapped)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap16(value) : value;
}

PXT_INLINE uint32_t pxt_get32(const unsigned char *at, bool swapped)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap32(value) : value;
}

PXT_INLINE uint64_t pxt_get64(const unsigned char *at, bool swapped)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap64(value) : value;
}

PXT_INLINE int32_t pxt_get_int(const unsigned char *at, bool swapped)
{
	return (int32_t)pxt_get32(at, swapped);
}

/*
 * Text padded with zeros.  False when its last byte is not one of them: a name that goes on into
 * something else is damage.
 */
PXT_INLINE bool pxt_get_text(const unsigned char *at, char *to, size_t room)
{
	memcpy(to, at, room);
	return at[room - 1] == '\0';
}

PXT_INLINE bool pxt_get_record_here(const unsigned char *at, uint32_t room, bool swapped,
    uint32_t ctx_bytes, struct pxt_log_record *record)
{
	uint32_t id;
	uint32_t i;

	if (pxt_get32(at, swapped) != PXT_SLOT_BEGIN)
		return false;
	record->info = pxt_get32(at + 4, swapped);
	record->ticks = (uint64_t)pxt_get32(at + 12, swapped) << 32 | pxt_get32(at + 8, swapped);
	id = pxt_info_id(record->info);
	if (id == PXT_LOG_ID_LOSS) {
		record->slots = 1;
		return true;
	}
	record->slots = pxt_info_slots(record->info, ctx_bytes);
	if (record->slots > room / PXT_SLOT_BYTES || id == 0 || id == PXT_ID_MARK)
		return false;
	/* Bound: the slots of a record, at most 344. */
	for (i = 1; i < record->slots; i++) {
		if (pxt_get32(at + (size_t)i * PXT_SLOT_BYTES, false) != 0)
			return false;
	}
	return true;
}

/*
 * The begin slot at @at, as pxt_logfmt_get_record() says, for those who look at many in a row and know
 * what does not change from one to the next.
 */
#if PXT_SMALL
bool pxt_get_record(const unsigned char *at, uint32_t room, bool swapped, uint32_t ctx_bytes,
    struct pxt_log_record *record);
#else
PXT_INLINE bool pxt_get_record(const unsigned char *at, uint32_t room, bool swapped,
    uint32_t ctx_bytes, struct pxt_log_record *record)
{
	return pxt_get_record_here(at, room, swapped, ctx_bytes, record);
}
#endif

/* False when it is no time between 1970 and the year 36,000. */
bool pxt_logfmt_get_time(const unsigned char *at, bool swapped, struct timespec *time);
bool pxt_logfmt_get_clocks(const unsigned char *at, bool swapped, struct pxt_clock_set *set);
/* NULL, or what is wrong. */
const char *pxt_logfmt_get_attr(const unsigned char *at, bool swapped, struct _pxt_attr *attr);

#endif
