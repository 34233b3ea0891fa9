/* SPDX-License-Identifier: MIT */
/* admit.c - whether an event passes a stream's filter: of the system's own, here; see admit.h. */
#include "core/stream/admit.h"

#include "base/attr.h"

/* Bit i: this configuration makes events of system type i. */
static const uint32_t system_events =
    (uint32_t)CONFIG_PTRACE_SYSEV_ERROR << PXT_ID_SYSTEM_FIRST |
    (uint32_t)CONFIG_PTRACE_SYSEV_START_STOP * (1u << 2 | 1u << 3) |
    (uint32_t)CONFIG_PTRACE_SYSEV_OVERFLOW_RESUME * (1u << 4 | 1u << 5) |
    (uint32_t)CONFIG_PTRACE_SYSEV_FILTER << 6 |
    (uint32_t)CONFIG_PTRACE_SYSEV_FLUSH * (1u << 7 | 1u << 8);

bool pxt_admit_system(struct pxt_block *block, uint32_t id)
{
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);

	/* Another process counts what is recorded for it; it makes system events of its own. */
	return (system_events >> id & 1u) && !pxt_attr_producer(&block->attr) &&
	       pxt_admit(block, gate, id);
}
