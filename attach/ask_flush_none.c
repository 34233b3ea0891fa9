/* SPDX-License-Identifier: MIT */
/* ask_flush_none.c - there are no logs. */
#include "attach/owner.h"

#include <errno.h>

int pxt_door_do_flush(struct pxt_door *door)
{
	(void)door;
	return ENOTSUP;
}
