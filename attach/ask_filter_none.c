/* SPDX-License-Identifier: MIT */
/* ask_filter_none.c - there are no filters. */
#include "attach/owner.h"

#include <errno.h>

uint32_t pxt_ask_filter_now(struct pxt_block *block)
{
	(void)block;
	return 0;
}

int pxt_ask_filter(
    struct pxt_ctlsock *ctlsock, int how, const char *words, uint32_t bytes, char text[128])
{
	(void)ctlsock;
	(void)how;
	(void)words;
	(void)bytes;
	(void)text;
	return ENOTSUP;
}
