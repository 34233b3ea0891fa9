/* SPDX-License-Identifier: MIT */
/* hexdigit.h - what digits stand for, whatever the locale: none of its pages are touched for that. */
#ifndef PXT_HEXDIGIT_H
#define PXT_HEXDIGIT_H

#include "format/compiler.h"

#include <stdint.h>

/* -1: not a digit. */
PXT_INLINE int pxt_hexdigit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* The decimal number that @text begins with; *end is behind it, or @text if there is none. */
PXT_INLINE uint64_t pxt_decimal(const char *text, const char **end)
{
	uint64_t value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10u + (uint64_t)(*text - '0');
	*end = text;
	return value;
}

#endif
