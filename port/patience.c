/* SPDX-License-Identifier: MIT */
/*
 * patience.c - waiting for what may never come, in slices, on every port.
 *
 * A slice may last much longer than asked for: on a machine with much to do, or with timers that
 * are coarse.  So the clock decides.  It may also stand still, on a board whose counter was not
 * started yet: then the slices that were asked for do.
 */
#include "port/port.h"

void pxt_patience_begin(struct pxt_patience *patience, uint64_t ns)
{
	patience->until_ns = pxt_port_now_ns() + ns;
	patience->slices_ns = ns;
}

bool pxt_patience_pause(struct pxt_patience *patience, uint64_t slice_ns)
{
	int64_t left = (int64_t)(patience->until_ns - pxt_port_now_ns());

	if (left <= 0 || patience->slices_ns < slice_ns)
		return false;
	patience->slices_ns -= slice_ns;
	pxt_port_pause_ns((uint64_t)left < slice_ns ? (uint64_t)left : slice_ns);
	return true;
}
