/* SPDX-License-Identifier: MIT */
/*
 * crc32.h - the checksum of log blocks: CRC-32 as in IEEE 802.3 (reflected polynomial 0xedb88320,
 * all ones before and inverted after).
 *
 * Two files do the same: crc32_fast.c (16 KiB of constants, above 1 GB/s) for hosts, crc32_small.c
 * (64 bytes of constants) for small targets.  The build takes one of them.
 */
#ifndef PXT_CRC32_H
#define PXT_CRC32_H

#include "format/compiler.h"

#include <stddef.h>
#include <stdint.h>

/* Continues @crc (0 at first) over @bytes more bytes. */
uint32_t pxt_crc32(uint32_t crc, const void *data, size_t bytes);

#endif
