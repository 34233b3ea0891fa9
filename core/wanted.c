/* SPDX-License-Identifier: MIT */
/* wanted.c - upkeep of the wanted table; see wanted.h. */
#include "core/wanted.h"

#include "core/admit.h"
#include "core/names.h"

PXT_API pxt_wanted_mask _pxt_wanted[PXT_ID_COUNT];

static bool exists(unsigned id)
{
	if (id >= PXT_ID_USER_FIRST)
		return id - PXT_ID_USER_FIRST < pxt_names_count();
	return id == PXT_ID_UNNAMED || (id >= PXT_ID_SYSTEM_FIRST && id <= PXT_ID_SYSTEM_LAST);
}

static void set_bit(unsigned id, unsigned index, bool on)
{
	pxt_wanted_mask bit = (pxt_wanted_mask)(1u << index);

	if (on)
		__atomic_fetch_or(&_pxt_wanted[id], bit, __ATOMIC_RELEASE);
	else
		__atomic_fetch_and(&_pxt_wanted[id], (pxt_wanted_mask)~bit, __ATOMIC_RELEASE);
}

void pxt_wanted_update(unsigned index, bool live)
{
	struct pxt_block *block = atomic_load_explicit(&pxt_blocks[index], memory_order_relaxed);
	uint32_t gate = live ? atomic_load_explicit(&block->gate, memory_order_acquire) : 0;

	for (unsigned id = 0; id < PXT_ID_COUNT; id++)
		set_bit(id, index, live && exists(id) && pxt_admits(block, gate, id));
}

void pxt_wanted_type_added(unsigned id)
{
	pxt_process_lock();
	for (unsigned index = 0; index < CONFIG_PTRACE_MAX_STREAMS; index++) {
		struct pxt_block *block =
		    atomic_load_explicit(&pxt_blocks[index], memory_order_acquire);
		uint32_t gate;

		if (!block)
			continue;
		gate = atomic_load_explicit(&block->gate, memory_order_acquire);
		set_bit(id, index,
		    (gate & PXT_GATE_STATE) != PXT_GATE_OFF && pxt_admits(block, gate, id));
	}
	pxt_process_unlock();
}

void pxt_wanted_none(void)
{
	for (unsigned id = 0; id < PXT_ID_COUNT; id++)
		__atomic_store_n(&_pxt_wanted[id], 0, __ATOMIC_RELAXED);
}
