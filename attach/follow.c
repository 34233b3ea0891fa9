/* SPDX-License-Identifier: MIT */
/*
 * follow.c - logs for others: of what a stream holds at one moment, and of what comes.
 *
 * Written into files only, of file systems that keep nobody waiting: whoever passes a pipe or a terminal could
 * hold up the thread that takes all guests' events, and with it the stream's end.
 */
#include "attach/owner.h"

#include <errno.h>
#include <trace_np.h>

int pxt_door_do_snapshot(struct pxt_door *door, int fd)
{
	return pxt_port_local_takes_log(fd) ? posix_trace_snapshot_np(door->trid, fd) : EINVAL;
}

/* The log keeps a descriptor of its own. */
int pxt_door_do_follow(struct pxt_door *door, unsigned i, int fd)
{
	struct pxt_caller *caller = &door->caller[i];
	int error;

	if (!pxt_port_local_takes_log(fd))
		return EINVAL;
	if (pxt_door_count(door, PXT_CALLER_FOLLOWS) >= PXT_DOOR_FOLLOWERS)
		return EAGAIN;
	error = pxt_follow_begin(door->trid, fd, &caller->follow);
	if (!error)
		caller->kind = PXT_CALLER_FOLLOWS;
	return error;
}

/* A log that cannot be written any more ends the connection, by which the other side sees it. */
void pxt_door_follow_all(struct pxt_door *door)
{
	for (unsigned i = 0; i < PXT_DOOR_PLACES; i++) {
		if (door->caller[i].kind == PXT_CALLER_FOLLOWS &&
		    pxt_follow_step(door->caller[i].follow) != 0)
			pxt_door_hang_up(door, i);
	}
}

void pxt_door_follow_end(struct pxt_caller *caller)
{
	pxt_follow_end(caller->follow);
	caller->follow = NULL;
}
