/* SPDX-License-Identifier: MIT */
/* wanted.c - upkeep of the wanted table: which types any stream records; see wanted.h. */
#include "core/stream/wanted.h"

#include "core/process/directory.h"
#include "core/stream/gate.h"
#include "core/stream/stream.h"

PXT_API pxt_wanted_mask _pxt_wanted[PXT_ID_COUNT];

/* Types that no trace point has opened yet: they are asked for as type 0, and open where that is wanted. */
#define NOT_OPENED 0u
#define OPENS      (CONFIG_PTRACE_EXTENSIONS && CONFIG_PTRACE_USEREVENTS)

/* Types that can be wanted: system ones, the unnamed one, and named ones so far. */
static bool exists(unsigned id)
{
	return id >= PXT_ID_UNNAMED || (id >= PXT_ID_SYSTEM_FIRST && id <= PXT_ID_SYSTEM_LAST);
}

/* From here on no type was named, and none is wanted. */
static unsigned end_of_types(void)
{
	return PXT_ID_USER_FIRST + pxt_names_count();
}

static void set_bit(unsigned id, unsigned index, bool on)
{
	pxt_wanted_mask bit = (pxt_wanted_mask)(1u << index);

	/* Most types are wanted by nobody, before and after. */
	if (!on && !__atomic_load_n(&_pxt_wanted[id], __ATOMIC_SEQ_CST))
		return;
	if (on)
		PXT_MASK_OR(&_pxt_wanted[id], bit);
	else
		PXT_MASK_AND(&_pxt_wanted[id], (pxt_wanted_mask)~bit);
	pxt_bits_follow(id);
}

/*
 * Forked processes have hot streams of their own, and wanted tables that are never told of a stop or a
 * filter.  They go the short way into the creator's blocks only while those run and let
 * everything in.
 */
static void open_to_forks(bool may)
{
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		struct pxt_block *block = pxt_stream_block(i);
		uint32_t gate;

		if (!block || !pxt_streams[i].inherited)
			continue;
		gate = atomic_load_explicit(&block->gate, memory_order_acquire);
		atomic_store_explicit(&block->no_short,
		    !may || (gate & (PXT_GATE_STATE | PXT_GATE_FILTERED)) != PXT_GATE_RUNNING,
		    memory_order_release);
	}
}

void pxt_wanted_suspend_hot(void)
{
	atomic_store_explicit(&pxt_fork.hot, PXT_NO_HOT, memory_order_release);
	pxt_bits_cool();
	open_to_forks(false);
}

/* The only live stream's index; none, or several: CONFIG_PTRACE_MAX_STREAMS. */
static unsigned only_live(void)
{
	unsigned found = CONFIG_PTRACE_MAX_STREAMS;

	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		struct pxt_block *block = pxt_stream_block(i);

		if (!block || (pxt_block_state(block) == PXT_GATE_OFF && !pxt_streams[i].theirs))
			continue;
		if (found != CONFIG_PTRACE_MAX_STREAMS)
			return CONFIG_PTRACE_MAX_STREAMS;
		found = i;
	}
	return found;
}

static void put_in_force(unsigned index)
{
	struct pxt_block *block;
	uint32_t gate;

	if (index == CONFIG_PTRACE_MAX_STREAMS)
		return;
	block = pxt_stream_block(index);
	gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	/* The fast path cuts nothing of up to 4 bytes, and no number of a CPU. */
	if ((gate & PXT_GATE_CAREFUL) || block->max_data < 4u || pxt_port_cpus() > PXT_CPU_UNKNOWN)
		return;
	pxt_bits_heat();
	/* Release: pairs with the trace point's acquire. */
	atomic_store_explicit(&pxt_fork.hot, block, memory_order_release);
}

void pxt_wanted_update(unsigned index, bool live)
{
	struct pxt_block *block = atomic_load_explicit(&pxt_blocks[index], memory_order_relaxed);
	uint32_t gate = live ? atomic_load_explicit(&block->gate, memory_order_acquire) : 0;
	const unsigned end = end_of_types();

	pxt_wanted_suspend_hot();
	set_bit(NOT_OPENED, index, live && OPENS);
	for (unsigned id = PXT_ID_SYSTEM_FIRST; id < end; id++)
		set_bit(id, index, live && exists(id) && pxt_admit(block, gate, id));
	open_to_forks(true);
	put_in_force(only_live());
}

/* A forked process' stream is wanted whether it runs or not: this process does not learn of a start. */
void pxt_wanted_inherited(void)
{
	const unsigned end = end_of_types();

	for (unsigned id = 0; id < end; id++) {
		for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++)
			set_bit(id, i,
			    pxt_streams[i].theirs && (exists(id) || (id == NOT_OPENED && OPENS)));
	}
	put_in_force(only_live());
}

void pxt_wanted_late(uint64_t system)
{
	const unsigned end = end_of_types();

	for (unsigned id = 0; id < end; id++) {
		bool is_system = id >= PXT_ID_SYSTEM_FIRST && id <= PXT_ID_SYSTEM_LAST;

		set_bit(id, 0u,
		    is_system ? system >> id & 1u : exists(id) || (id == NOT_OPENED && OPENS));
	}
}

void pxt_wanted_type_comes(unsigned id)
{
	for (unsigned index = 0; index < CONFIG_PTRACE_MAX_STREAMS; index++) {
		struct pxt_block *block = pxt_stream_block(index);
		uint32_t gate;

		if (!block)
			continue;
		gate = atomic_load_explicit(&block->gate, memory_order_acquire);
		set_bit(id, index,
		    pxt_streams[index].theirs ||
		        ((gate & PXT_GATE_STATE) != PXT_GATE_OFF && pxt_admit(block, gate, id)));
	}
	/* Where one is in force, no other is live. */
	if (pxt_wanted_by(id) &&
	    atomic_load_explicit(&pxt_fork.hot, memory_order_relaxed) != PXT_NO_HOT)
		pxt_bits_heat();
}

void pxt_wanted_type_added(unsigned id)
{
	pxt_process_lock();
	pxt_wanted_type_comes(id);
	/* Who names a type most often records it, and may have ended when names are asked for. */
	pxt_directory_introduce();
	pxt_process_unlock();
}

void pxt_wanted_take(unsigned index)
{
	for (unsigned id = 0; id < PXT_ID_COUNT; id++)
		set_bit(id, index, false);
}

void pxt_wanted_none(void)
{
	atomic_store_explicit(&pxt_fork.hot, PXT_NO_HOT, memory_order_release);
	for (unsigned id = 0; id < PXT_ID_COUNT; id++)
		__atomic_store_n(&_pxt_wanted[id], 0, __ATOMIC_RELAXED);
	pxt_bits_clear();
}
