/* SPDX-License-Identifier: MIT */
/*
 * logfmt_fields.h - where numbers are in a log: tables that both its writer and its reader follow
 * (logfmt_fields.c).  Texts, times and what versions decide are not in them.
 */
#ifndef PXT_LOGFMT_FIELDS_H
#define PXT_LOGFMT_FIELDS_H

#include "format/logfmt.h"

#include <stddef.h>

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

#endif
