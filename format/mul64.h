/* SPDX-License-Identifier: MIT */
/*
 * mul64.h - the upper half of a 128-bit product, and division, also where the processor has neither; sums that
 * stay at their largest.
 */
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

#if CONFIG_PTRACE_PORT_BARE
/*
 * *value becomes floor((high * 2^64 + *value) / divisor) for high < divisor < 2^63, and the rest is returned.
 * Bit by bit: a compiler's division of 64 bits takes 800 bytes on a processor of 32.  Bound: 64 rounds.
 */
uint64_t pxt_divide_wide(uint64_t high, uint64_t *value, uint64_t divisor);

PXT_INLINE uint64_t pxt_divide(uint64_t value, uint64_t divisor)
{
	(void)pxt_divide_wide(0, &value, divisor);
	return value;
}

PXT_INLINE uint64_t pxt_divide_high(uint64_t high, uint64_t divisor)
{
	uint64_t value = 0;

	(void)pxt_divide_wide(high, &value, divisor);
	return value;
}
#else
PXT_INLINE uint64_t pxt_divide(uint64_t value, uint64_t divisor)
{
	return value / divisor;
}

/* floor(high * 2^64 / divisor) for high < divisor < 2^63: long division, one bit at a time. */
PXT_INLINE uint64_t pxt_divide_high(uint64_t high, uint64_t divisor)
{
	uint64_t quotient = 0;

	for (unsigned bit = 0; bit < 64; bit++) {
		/* Doubling what is less than the divisor loses nothing. */
		high <<= 1;
		quotient <<= 1;
		if (high >= divisor) {
			high -= divisor;
			quotient |= 1;
		}
	}
	return quotient;
}
#endif

/* ---- Sums of what a log says, who may lie: one that does not fit stays at its largest ---- */

PXT_INLINE void pxt_sum_add(uint64_t *sum, uint64_t more)
{
	*sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}

#endif
