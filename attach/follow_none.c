/* SPDX-License-Identifier: MIT */
/* follow_none.c - there are no logs of what a stream holds. */
#include "attach/owner.h"

#include <errno.h>

int pxt_door_do_snapshot(struct pxt_door *door, int fd)
{
	(void)door;
	(void)fd;
	return ENOTSUP;
}

int pxt_door_do_follow(struct pxt_door *door, unsigned i, int fd)
{
	(void)door;
	(void)i;
	(void)fd;
	return ENOTSUP;
}

void pxt_door_follow_all(struct pxt_door *door)
{
	(void)door;
}

void pxt_door_follow_end(struct pxt_caller *caller)
{
	(void)caller;
}
