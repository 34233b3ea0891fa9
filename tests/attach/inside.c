/* SPDX-License-Identifier: MIT */
/* inside.c - what only the library itself knows; see party.h. */
#include "attach/owner.h"

unsigned owner_producers(trace_id_t trid);

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
