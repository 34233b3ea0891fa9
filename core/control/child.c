/* SPDX-License-Identifier: MIT */
/* child.c - streams of the parent, in a forked child; see child.h. */
#include "core/control/child.h"

#include "core/process/directory.h"
#include "core/process/forks.h"
#include "core/process/kept.h"
#include "core/process/replica.h"
#include "core/record/inspect.h"
#include "core/stream/share.h"
#include "core/stream/stream.h"
#include "core/stream/wanted.h"

#include <string.h>

static bool goes_on(void)
{
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		if (pxt_forks_keeps(i))
			return true;
	}
	return false;
}

/*
 * The thread that forks is inside a trace point, so none of these is given back now.  What a child
 * needs not have is not kept from later ones either, as other threads may be forking, too.
 */
static void lend(void)
{
	for (uint32_t i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		struct pxt_block *block =
		    atomic_load_explicit(&pxt_blocks[i], memory_order_acquire);

		if (!block || pxt_streams[i].theirs)
			continue;
		if (!pxt_streams[i].inherited)
			pxt_port_lend(block, pxt_streams[i].block_bytes);
		pxt_streams[i].lent = 1;
	}
}

/*
 * The trace point to come back into may have the block's address, and finds zeros there.  False: the child
 * goes on without the stream.
 */
static bool leave_behind(uint32_t index, bool kept)
{
	struct pxt_block *block = atomic_load_explicit(&pxt_blocks[index], memory_order_relaxed);
	size_t bytes = pxt_streams[index].block_bytes;
	void *moved = kept ? pxt_port_alias(block, bytes) : NULL;

	if (moved || pxt_streams[index].lent || pxt_streams[index].theirs)
		pxt_port_empty(block, bytes);
	atomic_store_explicit(&pxt_blocks[index], moved, memory_order_relaxed);
	return moved != NULL;
}

/* How a child begins. */
enum how {
	USUAL,
	INSIDE, /* its thread comes back into a trace point (core/process/forked.h) */
	ALONE,  /* so it does, and it leaves the forked processes */
};

/* Who comes back into a trace point may be in its rules, which this process cannot note as kept: it shares them. */
static void forget_stream(uint32_t index, enum how how)
{
	struct pxt_inspect_rules *rules = pxt_inspect_withdraw(index);

	atomic_store_explicit(&pxt_blocks[index], NULL, memory_order_relaxed);
	if (how == USUAL)
		pxt_inspect_give_back(rules, true);
}

static void forget_streams(enum how how)
{
	pxt_handle_forget_kind(&pxt_stream_kind);
	pxt_kept_after_fork();
	for (uint32_t i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		bool kept = how != ALONE && pxt_forks_keeps(i);
		size_t bytes = pxt_streams[i].block_bytes;

		if (how != USUAL && atomic_load_explicit(&pxt_blocks[i], memory_order_relaxed))
			kept = leave_behind(i, kept);
		memset(&pxt_streams[i], 0, sizeof(pxt_streams[i]));
		pxt_streams[i].theirs = kept;
		pxt_streams[i].block_bytes = bytes;
		if (!kept)
			forget_stream(i, how);
	}
	pxt_replica_after_fork();
}

/* A child that was not started is not traced, and has none of its parent's streams. */
static void abandon(void)
{
	pxt_wanted_none();
	pxt_share_forget();
}

/* What it inherits, it goes on with. */
static bool begin(bool shared, uint32_t inside)
{
	enum how how = USUAL;

	(void)shared;
	if (inside)
		how = goes_on() && pxt_directory_move() ? INSIDE : ALONE;
	forget_streams(how);
	return pxt_forks_after_fork();
}

const struct pxt_child_part pxt_child_streams = {
	.lend = lend,
	.abandon = abandon,
	.goes_on = goes_on,
	.begin = begin,
};
