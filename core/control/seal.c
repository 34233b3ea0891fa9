/* SPDX-License-Identifier: MIT */
/*
 * seal.c - the stop of a stream in the handler of a fatal signal: the stream's mutex is held, the
 * process lock is not, and may be any thread's.
 */
#include "core/control/seal.h"

#include "core/control/barrier.h"
#include "core/control/control.h"
#include "core/process/forks.h"
#include "core/process/holdback.h"
#include "core/process/threads.h"
#include "core/stream/inherited.h"
#include "core/stream/wanted.h"

/* The stream's block stays while its mutex is held; those of others may go at any time. */
static void take_wanted(struct pxt_stream *stream)
{
	atomic_store_explicit(&pxt_fork.hot, PXT_NO_HOT, memory_order_release);
	pxt_bits_cool();
	/* Forked processes' short paths. */
	atomic_store_explicit(&stream->block->no_short, 1u, memory_order_release);
	pxt_wanted_take(stream->index);
}

/*
 * A control call that was interrupted, or runs beside, may put the hot stream in force once more:
 * so it is taken out of force again when that has had its time.  A thread that is inside then is lost:
 * it may be the caller's own thread, and the process ends.
 */
void pxt_seal_stream(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	uint32_t state = pxt_block_state(block);

	if (state == PXT_GATE_OFF)
		return;
	state = pxt_control_shut_gate(stream);
	take_wanted(stream);
	(void)pxt_threads_wait_left(pxt_holdback_ns, pxt_inherited_whose(block));
	take_wanted(stream);
	block->quiet = 1;
	if (state == PXT_GATE_RUNNING)
		pxt_barrier_put_stop(block, PXT_STOP_BY_SIGNAL, NULL);
}
