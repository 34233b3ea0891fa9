/* SPDX-License-Identifier: MIT */
/* inside.c - what only the library itself knows; see party.h. */
#include "attach/owner.h"

unsigned owner_producers(trace_id_t trid);
bool owner_wakes_by_a_pull_after(trace_id_t trid, void (*record)(void *), void *argument);

unsigned owner_producers(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	const struct pxt_ctlsock *ctlsock = stream ? stream->share : NULL;
	unsigned count = 0;

	for (unsigned i = 0; ctlsock && i < PXT_CTLSOCK_MEMORIES; i++)
		count += ctlsock->present[i] != NULL;
	if (stream)
		pxt_stream_unlock(stream);
	return count;
}

/* The helper cannot pull meanwhile. */
bool owner_wakes_by_a_pull_after(trace_id_t trid, void (*record)(void *), void *argument)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	bool woken;

	if (!stream)
		return false;
	(void)pxt_block_announce_sleep(stream->block);
	record(argument);
	pxt_share_pull_now(stream->block, false);
	woken = atomic_load(&stream->block->asleep) == 0;
	pxt_stream_unlock(stream);
	return woken;
}
