/* SPDX-License-Identifier: MIT */
/*
 * follow.c - logs for others: of what a stream holds at one moment, and of what comes.
 *
 * Written into files only, of file systems that keep nobody waiting: a process that passes a pipe or a terminal could
 * hold up the thread that takes all producers' events, and with it the stream's end.
 */
#include "attach/owner.h"

int pxt_follow_snapshot(struct pxt_ctlsock *ctlsock, int fd)
{
	return pxt_port_local_takes_log(fd) ? posix_trace_snapshot_np(ctlsock->trid, fd) : EINVAL;
}

/* The log keeps a descriptor of its own. */
int pxt_follow_begin_log(struct pxt_ctlsock *ctlsock, unsigned i, int fd)
{
	struct pxt_connection *connection = &ctlsock->connection[i];
	int error;

	if (!pxt_port_local_takes_log(fd))
		return EINVAL;
	if (pxt_connections_count(ctlsock, PXT_CONNECTION_FOLLOWS) >= PXT_CTLSOCK_FOLLOWERS)
		return EAGAIN;
	error = pxt_follow_begin(ctlsock->trid, fd, &connection->follow);
	if (!error)
		connection->kind = PXT_CONNECTION_FOLLOWS;
	return error;
}

/* A log that cannot be written any more ends the connection, by which the other side sees it. */
void pxt_follow_all(struct pxt_ctlsock *ctlsock)
{
	for (unsigned i = 0; i < PXT_CTLSOCK_PLACES; i++) {
		if (ctlsock->connection[i].kind == PXT_CONNECTION_FOLLOWS &&
		    !pxt_ctlsock_ending(ctlsock) &&
		    pxt_follow_step(ctlsock->connection[i].follow) != 0)
			pxt_connections_close(ctlsock, i);
	}
}

void pxt_follow_close(struct pxt_ctlsock *ctlsock, struct pxt_connection *connection)
{
	pxt_follow_end(connection->follow, !pxt_ctlsock_left(ctlsock));
	connection->follow = NULL;
}
