/* SPDX-License-Identifier: MIT */
/*
 * sign.h - makes the checksums of a log right, whatever else is in it, so that a fuzzer comes
 * past them.
 */
#ifndef PXT_FUZZ_SIGN_H
#define PXT_FUZZ_SIGN_H

#include "format/crc32.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint32_t get32(const unsigned char *at, bool swapped)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap32(value) : value;
}

static void put32(unsigned char *at, uint32_t value, bool swapped)
{
	value = swapped ? __builtin_bswap32(value) : value;
	memcpy(at, &value, sizeof(value));
}

/* Makes the checksum of the block at @block right; returns its length as it says, or 16. */
static size_t sign_block(unsigned char *block, size_t room, bool swapped)
{
	uint32_t length;

	if (room < 96 || memcmp(block, "PTLB", 4) != 0)
		return 16;
	length = get32(block + 8, swapped);
	if (length < 96 || length > room)
		return 16;
	put32(block + 92, pxt_crc32(pxt_crc32(0, block, 92), block + 96, length - 96), swapped);
	return (length + 15u) & ~(size_t)15;
}

static inline void sign(unsigned char *log, size_t size)
{
	bool swapped;

	if (size < 512)
		return;
	swapped = get32(log + 8, false) != 0x01020304u;
	put32(log + 508, pxt_crc32(0, log, 508), swapped);
	for (size_t at = 512; at < size;)
		at += sign_block(log + at, size - at, swapped);
}

#endif
