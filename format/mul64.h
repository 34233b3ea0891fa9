/* SPDX-License-Identifier: MIT */
/* mul64.h - the upper half of a 128-bit product, also where there is no 128-bit type. */
#ifndef PXT_MUL64_H
#define PXT_MUL64_H

#include "format/compiler.h"

#include <stdint.h>

/* By four products of halves; no sum here exceeds 64 bits. */
PXT_INLINE uint64_t pxt_mul_high_portable(uint64_t a, uint64_t b)
{
	uint64_t a_low = a & 0xffffffffu;
	uint64_t b_low = b & 0xffffffffu;
	uint64_t middle = (a >> 32) * b_low + (a_low * b_low >> 32);
	uint64_t other = a_low * (b >> 32) + (middle & 0xffffffffu);

	return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

#if defined(__SIZEOF_INT128__)
PXT_INLINE uint64_t pxt_mul_high(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)a * b >> 64);
}
#else
PXT_INLINE uint64_t pxt_mul_high(uint64_t a, uint64_t b)
{
	return pxt_mul_high_portable(a, b);
}
#endif

#endif
