/* SPDX-License-Identifier: MIT */
/* sum.h - sums of what a log says, who may lie: one that does not fit stays at its largest. */
#ifndef PXT_SUM_H
#define PXT_SUM_H

#include "format/compiler.h"

#include <stdint.h>

PXT_INLINE void pxt_sum_add(uint64_t *sum, uint64_t more)
{
	*sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}

#endif
