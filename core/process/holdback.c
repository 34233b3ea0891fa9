/* SPDX-License-Identifier: MIT */
/* holdback.c - how long a thread inside a trace point is waited for; see holdback.h. */
#include "core/process/holdback.h"

#include "core/process/clock.h"

uint64_t pxt_holdback_ns = (uint64_t)CONFIG_PTRACE_HOLDBACK_MS * 1000000u;

uint64_t pxt_holdback_ticks(void)
{
	uint64_t us = pxt_holdback_ns / 1000u;

	/* At least one tick: a counter of less than 10 Hz must not cut the wait to nothing. */
	return pxt_clock.hz / 1000000u * us + pxt_clock.hz % 1000000u * us / 1000000u + 1u;
}
