/* SPDX-License-Identifier: MIT */
/* ask_filter_none.c - there are no filters. */
#include "attach/owner.h"

#include <errno.h>

uint32_t pxt_door_filtered(struct pxt_block *block)
{
	(void)block;
	return 0;
}

int pxt_door_do_filter(
    struct pxt_door *door, int how, const char *words, uint32_t bytes, char text[128])
{
	(void)door;
	(void)how;
	(void)words;
	(void)bytes;
	(void)text;
	return ENOTSUP;
}
