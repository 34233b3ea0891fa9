/* SPDX-License-Identifier: MIT */
/*
 * fields.h - descriptions of payloads ("u32 job, i64 late_ns").  The grammar is in trace_np.h;
 * fields.c checks and takes apart the text, and takes values out of data.
 */
#ifndef PXT_FIELDS_H
#define PXT_FIELDS_H

#include "format/compiler.h"

#include <stdbool.h>
#include <trace_np.h>

#define PXT_FIELD_NAME_MAX 63u

struct pxt_field {
	const char *name; /* in the description, not terminated */
	uint32_t name_bytes;
	int kind;       /* POSIX_TRACE_FIELD_... */
	uint32_t bytes; /* of the field; 0 with `trailing` */
	bool trailing;  /* text up to the end of the data */
};

/* Where the fields end: at the end, or at a message. */
PXT_INLINE bool pxt_fields_over(const char *at)
{
	return *at == '\0' || *at == ';';
}

/* One field at *at, the comma after it included; false where there is none.  *at moves after. */
bool pxt_field_parse(const char **at, struct pxt_field *field);
/*
 * 0 or EINVAL; reads POSIX_TRACE_FORMAT_MAX_NP + 1 bytes of @format at most.  On success *bytes
 * is the length with the NUL.
 */
int pxt_fields_check(const char *format, size_t *bytes);

#endif
