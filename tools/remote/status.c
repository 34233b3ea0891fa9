/* SPDX-License-Identifier: MIT */
/* status.c - a stream's state, in words and in per cent; see status.h. */
#include "tools/remote/status.h"

#include <trace.h>
#include <trace_np.h>

const char *pxt_status_state(const struct pxt_ctlsock_status *status)
{
	static const char *const words[] = {
		[PXT_CTLSOCK_STOPPED] = "stopped",
		[PXT_CTLSOCK_RUNNING] = "running",
		[PXT_CTLSOCK_FULL] = "full",
	};

	return status->state < sizeof words / sizeof *words ? words[status->state] : "unknown";
}

const char *pxt_status_policy(const struct pxt_ctlsock_status *status)
{
	switch (status->full_policy) {
	case POSIX_TRACE_LOOP:
		return "loop";
	case POSIX_TRACE_UNTIL_FULL:
		return "until-full";
	case POSIX_TRACE_FLUSH:
		return "flush";
	case POSIX_TRACE_DISCARD_NP:
		return "discard";
	default:
		return "unknown";
	}
}

/* What was asked while the stream is in use may be a little more than all. */
unsigned pxt_status_fill(const struct pxt_ctlsock_status *status)
{
	if (status->slot_count == 0 || status->slots_used >= status->slot_count)
		return status->slot_count == 0 ? 0 : 100;
	if (status->slots_used > UINT64_MAX / 100)
		return (unsigned)(status->slots_used / (status->slot_count / 100 + 1));
	return (unsigned)(status->slots_used * 100 / status->slot_count);
}
