/* SPDX-License-Identifier: MIT */
/*
 * layout.h - where the fields of a type's events lie: its description taken apart once, so that
 * not every event needs it.  Stands alone: also for those who read no pxt_source.
 */
#ifndef PXT_LAYOUT_H
#define PXT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <trace.h>
#include <trace_np.h>

struct pxt_layout {
	char name[64];
	int kind;        /* POSIX_TRACE_FIELD_..._NP */
	uint32_t bytes;  /* 0 when @trailing */
	uint32_t offset; /* in the event's data */
	bool trailing;   /* text up to the end of the data */
};

/*
 * What a description says; returns the number of fields (at most POSIX_TRACE_FIELDS_MAX_NP, which
 * @fields has room for), 0 where it is none.
 */
unsigned pxt_fields_of(const char *format, struct pxt_layout *fields);

/* Whether data of @length bytes holds the field; *@bytes is its length there. */
static inline bool pxt_layout_present(const struct pxt_layout *field, size_t length, size_t *bytes)
{
	if (field->offset > length || field->bytes > length - field->offset)
		return false;
	*bytes = field->trailing ? length - field->offset : field->bytes;
	return true;
}

/* ---- Values: getnext hands described data out in this machine's byte order ---- */

static inline uint64_t pxt_load_unsigned(const unsigned char *from, size_t bytes)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (bytes) {
	case 1:
		return *from;
	case 2:
		memcpy(&u16, from, sizeof u16);
		return u16;
	case 4:
		memcpy(&u32, from, sizeof u32);
		return u32;
	default:
		memcpy(&u64, from, sizeof u64);
		return u64;
	}
}

static inline int64_t pxt_load_signed(const unsigned char *from, size_t bytes)
{
	uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
	uint64_t value = (pxt_load_unsigned(from, bytes) ^ sign) - sign;
	int64_t result;

	memcpy(&result, &value, sizeof result);
	return result;
}

static inline double pxt_load_float(const unsigned char *from, size_t bytes)
{
	double value;
	float single;

	if (bytes == sizeof single) {
		memcpy(&single, from, sizeof single);
		return (double)single;
	}
	memcpy(&value, from, sizeof value);
	return value;
}

/* A text's bytes without the NULs that fill its field up. */
static inline size_t pxt_text_bytes(const unsigned char *text, size_t bytes)
{
	while (bytes > 0 && text[bytes - 1] == 0)
		bytes--;
	return bytes;
}

/* ---- The event sets that START and FILTER carry, as one text ---- */

/* Room for all 1,024 types. */
#define PXT_EVENTSET_TEXT 5120u

struct pxt_eventset {
	const char *name;
	char text[PXT_EVENTSET_TEXT]; /* "none", or the numbers of its types: "32 33 40" */
};

/*
 * The sets in the data of an event of type @id: START has one ("filter"), FILTER two ("old", "new").
 * Returns their number; 0: it is another type, or its data is none.
 */
unsigned pxt_eventset_count(trace_event_id_t id, size_t bytes);
/* The @index-th of @count; @data: of the whole event, numbers in this machine's byte order. */
void pxt_eventset_of(struct pxt_eventset *set, const unsigned char *data, size_t bytes,
    unsigned index, unsigned count);

#endif
