/* SPDX-License-Identifier: MIT */
/* divide.c - long division, for processors without one; see mul64.h. */
#include "format/mul64.h"

uint64_t pxt_divide_wide(uint64_t high, uint64_t *value, uint64_t divisor)
{
	for (unsigned i = 0; i < 64; i++) {
		/* Doubling what is less than the divisor loses nothing. */
		high = high << 1 | *value >> 63;
		*value <<= 1;
		if (high >= divisor) {
			high -= divisor;
			*value |= 1u;
		}
	}
	return high;
}
