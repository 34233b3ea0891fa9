/* SPDX-License-Identifier: MIT */
/*
 * logfmt_fields.h - where numbers are in a log: tables that both its writer and its reader follow
 * (logfmt_fields.c).  Texts, times and what versions decide are not in them.  And their bytes
 * in either order.
 */
#ifndef PXT_LOGFMT_FIELDS_H
#define PXT_LOGFMT_FIELDS_H

#include "format/logfmt.h"

#include <string.h>

/* A number of @bytes bytes at offset @at of the log, and of @room bytes at @member of a structure. */
struct pxt_log_field {
	uint16_t at;
	uint16_t member;
	uint8_t bytes; /* 0: after the last one */
	uint8_t room;
};

/* One of a table; @bytes of the log for @member of @type. */
#define PXT_LOG_FIELD(at, bytes, type, member)                                                     \
	{                                                                                          \
		(at), offsetof(type, member), (bytes), sizeof(((type *)NULL)->member)              \
	}
/* Each table ends so. */
#define PXT_LOG_FIELDS_END                                                                         \
	{                                                                                          \
		0, 0, 0, 0                                                                         \
	}

/*
 * The head of a block: place, bits, and member of struct pxt_log_blockhead.  The writer makes stores
 * of them and the reader a table; a table for both would cost every writer its bytes.  (What was
 * missed, a receiver writes.)
 */
#define PXT_LOG_BLOCK_FIELDS(FIELD)                                                                \
	FIELD(4, 16, type)                                                                         \
	FIELD(8, 32, length)                                                                       \
	FIELD(12, 32, count)                                                                       \
	FIELD(16, 64, sequence)                                                                    \
	FIELD(40, 64, begin)                                                                       \
	FIELD(48, 64, end)                                                                         \
	FIELD(56, 64, lost)                                                                        \
	FIELD(64, 64, lost_total)                                                                  \
	FIELD(72, 64, records_total)

extern const struct pxt_log_field pxt_log_header_fields[]; /* struct pxt_log_header, */
extern const struct pxt_log_field
    pxt_log_version_fields[];                              /* ... of which no version moves these */
extern const struct pxt_log_field pxt_log_attr_fields[];   /* struct _pxt_attr */
extern const struct pxt_log_field pxt_log_thread_fields[]; /* struct pxt_log_thread */
extern const struct pxt_log_field pxt_log_module_fields[]; /* struct pxt_log_module */
extern const struct pxt_log_field pxt_log_trailer_fields[]; /* struct pxt_log_trailer */
extern const struct pxt_log_field pxt_log_crash_fields[];   /* struct pxt_crash */

/* @object's numbers to @at, in this machine's order. */
void pxt_logfmt_put_fields(
    unsigned char *at, const struct pxt_log_field *fields, const void *object);
/* The numbers at @at, in either order, to @object. */
void pxt_logfmt_get_fields(
    const unsigned char *at, bool swapped, const struct pxt_log_field *fields, void *object);

/* ---- Numbers, times and text out of a log of either byte order ---- */

#define PXT_GET(bits)                                                                              \
	PXT_INLINE uint##bits##_t pxt_get##bits(const unsigned char *at, bool swapped)             \
	{                                                                                          \
		uint##bits##_t value;                                                              \
                                                                                                   \
		memcpy(&value, at, sizeof(value));                                                 \
		return swapped ? __builtin_bswap##bits(value) : value;                             \
	}                                                                                          \
	_Static_assert(1, "")
PXT_GET(16);
PXT_GET(32);
PXT_GET(64);

/*
 * Text padded with zeros.  False when its last byte is not one of them: a name that goes on into
 * something else is damage.
 */
PXT_INLINE bool pxt_get_text(const unsigned char *at, char *to, size_t room)
{
	memcpy(to, at, room);
	return at[room - 1] == '\0';
}

/*
 * The begin slot at @at of a block that was checked when it was loaded: what its record is.  False: it does not
 * fit @room.
 */
PXT_INLINE bool pxt_get_checked(const unsigned char *at, uint32_t room, bool swapped,
    uint32_t ctx_bytes, struct pxt_log_record *record)
{
	record->info = pxt_get32(at + 4, swapped);
	record->ticks = (uint64_t)pxt_get32(at + 12, swapped) << 32 | pxt_get32(at + 8, swapped);
	record->slots = pxt_info_id(record->info) == PXT_LOG_ID_LOSS
	                    ? 1
	                    : pxt_info_slots(record->info, ctx_bytes);
	return record->slots <= room / PXT_SLOT_BYTES;
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
