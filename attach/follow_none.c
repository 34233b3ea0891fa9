/* SPDX-License-Identifier: MIT */
/* follow_none.c - there are no logs of what a stream holds. */
#include "attach/owner.h"

#include <errno.h>

int pxt_follow_snapshot(struct pxt_ctlsock *ctlsock, int fd)
{
	(void)ctlsock;
	(void)fd;
	return ENOTSUP;
}

int pxt_follow_begin_log(struct pxt_ctlsock *ctlsock, unsigned i, int fd)
{
	(void)ctlsock;
	(void)i;
	(void)fd;
	return ENOTSUP;
}

void pxt_follow_all(struct pxt_ctlsock *ctlsock)
{
	(void)ctlsock;
}

void pxt_follow_close(struct pxt_ctlsock *ctlsock, struct pxt_connection *connection)
{
	(void)ctlsock;
	(void)connection;
}
