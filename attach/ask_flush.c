/* SPDX-License-Identifier: MIT */
/* ask_flush.c - a flush that another process asks for. */
#include "attach/owner.h"

#include <trace.h>

int pxt_ask_flush(struct pxt_ctlsock *ctlsock)
{
	return posix_trace_flush(ctlsock->trid);
}
