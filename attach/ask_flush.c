/* SPDX-License-Identifier: MIT */
/* ask_flush.c - a flush that another process asks for. */
#include "attach/owner.h"

#include <trace.h>

int pxt_door_do_flush(struct pxt_door *door)
{
	return posix_trace_flush(door->trid);
}
