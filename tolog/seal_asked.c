/* SPDX-License-Identifier: MIT */
/* seal_asked.c - whether the program asked for logs that a fatal signal completes (seal.c). */
#include "tolog/tolog.h"

_Atomic uint32_t pxt_tolog_watched;

bool pxt_tolog_seals(void)
{
	return atomic_load_explicit(&pxt_tolog_watched, memory_order_relaxed) != 0;
}
