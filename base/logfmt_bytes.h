/* SPDX-License-Identifier: MIT */
/* logfmt_bytes.h - numbers, times and text out of a log of either byte order. */
#ifndef PXT_LOGFMT_BYTES_H
#define PXT_LOGFMT_BYTES_H

#include "base/logfmt.h"

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

/* False when it is no time between 1970 and the year 36,000. */
bool pxt_get_time(const unsigned char *at, bool swapped, struct timespec *time);
bool pxt_get_clocks(const unsigned char *at, bool swapped, struct pxt_clock_set *set);
/* NULL, or what is wrong. */
const char *pxt_get_attr(const unsigned char *at, bool swapped, trace_attr_t *attr);

#endif
