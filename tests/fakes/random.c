/* SPDX-License-Identifier: MIT */
/* random.c - bytes that are not random. */
#include "fakes.h"
#include "wrap.h"

#include <string.h>

static bool fixed;
static unsigned char fixed_byte;

PXT_WRAPPED(void, pxt_port_random, (void *bytes, size_t count))
{
	if (fixed)
		memset(bytes, fixed_byte, count);
	else
		__real_pxt_port_random(bytes, count);
}

void pxt_fake_random(unsigned char byte)
{
	fixed_byte = byte;
	fixed = true;
}
