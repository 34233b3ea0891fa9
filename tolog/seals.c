/* SPDX-License-Identifier: MIT */
/* seals.c - whether logs are completed when a signal ends the process. */
#include "tolog/tolog.h"

_Atomic uint32_t pxt_tolog_watched;

bool pxt_tolog_seals(void)
{
	return atomic_load_explicit(&pxt_tolog_watched, memory_order_relaxed) != 0;
}
