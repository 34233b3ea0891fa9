/* SPDX-License-Identifier: MIT */
/*
 * close_up.h - a record's data in one piece: in slots four bytes that are no data are between each
 * twelve that are.
 *
 *   concurrency: none; the slots are the caller's own copy.
 */
#ifndef PXT_CLOSE_UP_H
#define PXT_CLOSE_UP_H

#include "format/slot.h"

#include <stddef.h>
#include <string.h>

/*
 * Puts @bytes payload bytes from payload byte @from on of the record at @at into one piece, where they
 * are; returns where it begins.  Bound: the slots of the record.
 */
PXT_INLINE const unsigned char *pxt_close_up(unsigned char *at, uint32_t from, uint32_t bytes)
{
	unsigned char *slot = at + (size_t)(1u + from / PXT_SLOT_PAYLOAD) * PXT_SLOT_BYTES;
	unsigned char *data = slot + 4 + from % PXT_SLOT_PAYLOAD;
	unsigned char *to = slot + PXT_SLOT_BYTES;
	const unsigned char *end = data + bytes;

	while (to < end) {
		unsigned char part[PXT_SLOT_PAYLOAD];

		slot += PXT_SLOT_BYTES;
		memcpy(part, slot + 4, sizeof(part));
		memcpy(to, part, sizeof(part));
		to += sizeof(part);
	}
	return data;
}

#endif
