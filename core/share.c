/* SPDX-License-Identifier: MIT */
/* share.c - Core's side of streams that other processes trace into; see share.h. */
#include "core/share.h"

#include "core/admit.h"
#include "core/autostop.h"
#include "core/consumer.h"
#include "core/control.h"
#include "core/directory.h"
#include "core/mirror.h"

#include <errno.h>
#include <string.h>

const struct pxt_share_ops *pxt_share_ops;

/* Half of the table is this process' own, whatever the others say of their threads. */
#define GUESTS_THREADS (CONFIG_PTRACE_MAX_THREADS / 2u)

/* Nobody knows the identifier yet but those who come by the name. */
int pxt_share_name(struct pxt_stream *stream)
{
	const char *name = stream->block->attr._pxt_share;
	int error;

	if (!name)
		return 0;
	/* The caller's text: not looked at again. */
	stream->block->attr._pxt_share = NULL;
	pxt_stream_unlock(stream);
	error = pxt_share_ops->open(stream, name);
	pxt_port_mutex_lock(&stream->mutex);
	if (error) {
		pxt_handle_remove(stream->trid);
		stream->trid = 0;
	}
	return error;
}

void pxt_share_close(struct pxt_stream *stream)
{
	if (stream->share)
		pxt_share_ops->close(stream);
}

void pxt_share_forget(void)
{
	for (unsigned i = 0; pxt_share_ops && i < CONFIG_PTRACE_MAX_STREAMS; i++)
		pxt_share_ops->forget(i);
}

static bool is_settled(trace_id_t trid, uint64_t clock)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	bool settled;

	if (!stream)
		return true;
	settled = !stream->share || pxt_block_state(stream->block) == PXT_GATE_OFF ||
	          pxt_share_ops->pull(stream, pxt_port_ticks_ordered(), true) >= clock;
	pxt_stream_unlock(stream);
	return settled;
}

void pxt_share_settle(trace_id_t trid)
{
	const uint64_t slice = 200000;
	struct pxt_patience patience;
	uint64_t clock;

	if (!pxt_share_ops)
		return;
	clock = pxt_port_ticks_ordered();
	pxt_patience_begin(&patience, pxt_holdback_ns);
	while (!is_settled(trid, clock) && pxt_patience_pause(&patience, slice))
		;
}

static struct pxt_ring guests_ring(struct pxt_block *block)
{
	return pxt_block_ring(block, block->lane_mask + 1u);
}

uint32_t pxt_guest_room(struct pxt_block *block)
{
	struct pxt_lane *lane = guests_ring(block).lane;
	uint32_t size = block->slot_mask + 1u;
	uint64_t pos;
	uint64_t seq;

	/* What finds no room is refused, as it is to the threads of this process. */
	if (block->full_policy != POSIX_TRACE_LOOP)
		return size;
	pxt_lane_head(lane, &pos, &seq);
	pos -= lane->pos - lane->ruins;
	return pos < size ? size - (uint32_t)pos : 0u;
}

/* As a trace point does it (core/emit.c), but for the stamp, which is there already. */
bool pxt_guest_put(struct pxt_stream *stream, const struct pxt_event *event)
{
	struct pxt_block *block = stream->block;
	struct pxt_place place = { .ring = guests_ring(block) };
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	uint32_t slots = pxt_info_slots(event->info, PXT_CTX_BYTES);

	if ((gate & PXT_GATE_STATE) == PXT_GATE_OFF ||
	    !pxt_admits(block, gate, pxt_info_id(event->info)))
		return false;
	if (gate & PXT_GATE_KEEPS) {
		if (!pxt_emit_reserve_free(block, gate, &place, slots, 0))
			return false;
	} else if (pxt_ring_reserve(&place, slots, 0) != PXT_RESERVED) {
		return false;
	}
	pxt_ring_store(&place, event);
	return true;
}

void pxt_guest_lost(struct pxt_stream *stream, uint64_t records, uint64_t ticks)
{
	struct pxt_block *block = stream->block;

	/* They were written, though not into a lane. */
	block->sided += records;
	pxt_consumer_lost(block, records);
	pxt_consumer_gap(block, ticks);
	pxt_consumer_look_again(block);
}

uint32_t pxt_guest_thread(int32_t pid, int32_t tid, uint64_t thread, const char *name)
{
	static _Atomic uint32_t taken;
	struct pxt_thread_table *table = pxt_threads;
	struct pxt_thread *entry;
	uint32_t index;

	if (atomic_load_explicit(&table->count, memory_order_relaxed) >=
	        CONFIG_PTRACE_MAX_THREADS - 1u ||
	    atomic_fetch_add_explicit(&taken, 1u, memory_order_relaxed) >= GUESTS_THREADS)
		return PXT_THREAD_EXTRA;
	index = 1u + atomic_fetch_add_explicit(&table->count, 1u, memory_order_relaxed);
	if (index >= CONFIG_PTRACE_MAX_THREADS)
		return PXT_THREAD_EXTRA;
	entry = &table->entry[index];
	atomic_store_explicit(&entry->pid, pid, memory_order_relaxed);
	(void)strncpy(entry->name, name, sizeof(entry->name));
	atomic_store_explicit(&entry->tid, tid, memory_order_release);
	/* Last, for those who walk through the table: 0 is not there yet. */
	pxt_wide_set(&entry->thread, thread);
	pxt_mirrors_thread(table, index);
	return index;
}
