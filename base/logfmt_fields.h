/* SPDX-License-Identifier: MIT */
/*
 * logfmt_fields.h - where numbers stand in a log: tables that both its writer and its reader follow
 * (logfmt_fields.c).  Texts, times and what versions decide are not in them.
 */
#ifndef PXT_LOGFMT_FIELDS_H
#define PXT_LOGFMT_FIELDS_H

#include "base/logfmt.h"

#include <stddef.h>

/* A number of @bytes bytes at offset @at of the log, and of @room bytes at @member of a structure. */
struct pxt_log_field {
	uint16_t at;
	uint16_t member;
	uint8_t bytes; /* 0: behind the last one */
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

extern const struct pxt_log_field pxt_log_header_fields[]; /* struct pxt_log_header, */
extern const struct pxt_log_field
    pxt_log_version_fields[];                              /* ... of which no version moves these */
extern const struct pxt_log_field pxt_log_attr_fields[];   /* trace_attr_t */
extern const struct pxt_log_field pxt_log_thread_fields[]; /* struct pxt_log_thread */
extern const struct pxt_log_field pxt_log_module_fields[]; /* struct pxt_log_module */
extern const struct pxt_log_field pxt_log_trailer_fields[]; /* struct pxt_log_trailer */
extern const struct pxt_log_field pxt_log_crash_fields[];   /* struct pxt_crash */

/* @object's numbers to @at, in this machine's order. */
void pxt_log_put_fields(unsigned char *at, const struct pxt_log_field *fields, const void *object);
/* The numbers at @at, in either order, to @object. */
void pxt_log_get_fields(
    const unsigned char *at, bool swapped, const struct pxt_log_field *fields, void *object);

#endif
