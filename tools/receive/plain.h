/* SPDX-License-Identifier: MIT */
/*
 * plain.h - a log as a program writes it into a pipe, block by block; what is damaged is
 * passed over up to the next whole block.
 */
#ifndef PXT_RECEIVE_PLAIN_H
#define PXT_RECEIVE_PLAIN_H

#include "tools/receive/run.h"

#define PXT_RECEIVE_PLAIN_ROOM (PXT_LOG_BLOCK_MAX + 65536u)

struct pxt_receive_plain {
	unsigned char *bytes; /* PXT_RECEIVE_PLAIN_ROOM, from the first log on */
	size_t used;
	uint64_t bad; /* places where no whole block was */
};

enum pxt_receive_plain_want {
	PXT_RECEIVE_PLAIN_MORE, /* all that is there was used */
	PXT_RECEIVE_PLAIN_HEAD, /* plain->bytes begins with a file head: make a run of it */
	PXT_RECEIVE_PLAIN_END   /* the log has ended; plain->bytes is what follows */
};

/* Takes as many bytes as there is room for; returns how many.  0 with @count: no memory. */
size_t pxt_receive_plain_add(
    struct pxt_receive_plain *plain, const unsigned char *bytes, size_t count);
/* Hands whole blocks to @run (NULL: there is none yet). */
enum pxt_receive_plain_want pxt_receive_plain_next(
    struct pxt_receive_plain *plain, struct pxt_receive_run *run);
/* The first @count bytes are done with. */
void pxt_receive_plain_drop(struct pxt_receive_plain *plain, size_t count);

#endif
