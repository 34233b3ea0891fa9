/* SPDX-License-Identifier: MIT */
/* lock.c - locks in a handler, or where the process ends; see lock.h. */
#include "core/process/lock.h"

#define SLICE_NS 50000u

uint64_t pxt_lock_patience_ns = 1000000000u;

bool pxt_lock_within(struct pxt_port_mutex *mutex, struct pxt_patience *patience)
{
	while (!pxt_port_mutex_try(mutex)) {
		if (!pxt_patience_pause(patience, SLICE_NS))
			return false;
	}
	return true;
}
