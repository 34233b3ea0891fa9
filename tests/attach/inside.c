/* SPDX-License-Identifier: MIT */
/* inside.c - what only the library itself knows; see party.h. */
#include "attach/owner.h"

unsigned owner_guests(trace_id_t trid);

unsigned owner_guests(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	const struct pxt_door *door = stream ? stream->share : NULL;
	unsigned count = 0;

	for (unsigned i = 0; door && i < CONFIG_PTRACE_ATTACH_MAX; i++)
		count += door->present[i] != NULL;
	if (stream)
		pxt_stream_unlock(stream);
	return count;
}
