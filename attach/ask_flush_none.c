/* SPDX-License-Identifier: MIT */
/* ask_flush_none.c - there are no logs. */
#include "attach/owner.h"

#include <errno.h>

int pxt_ask_flush(struct pxt_ctlsock *ctlsock)
{
	(void)ctlsock;
	return ENOTSUP;
}
