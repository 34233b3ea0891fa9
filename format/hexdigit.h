/* SPDX-License-Identifier: MIT */
/* hexdigit.h - what a hexadecimal digit stands for, whatever the locale. */
#ifndef PXT_HEXDIGIT_H
#define PXT_HEXDIGIT_H

#include "format/compiler.h"

/* -1: it is none. */
PXT_INLINE int pxt_hexdigit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

#endif
