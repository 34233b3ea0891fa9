/* SPDX-License-Identifier: MIT */
/*
 * lineplain.h - a log as a program writes it into a pipe, block by block; what is damaged is
 * passed over up to the next whole block.
 */
#ifndef PXT_LINEPLAIN_H
#define PXT_LINEPLAIN_H

#include "linerun.h"

#define PXT_LINEPLAIN_ROOM (PXT_LOG_BLOCK_MAX + 65536u)

struct pxt_lineplain {
	unsigned char *bytes; /* PXT_LINEPLAIN_ROOM, from the first log on */
	size_t used;
	uint64_t bad; /* places where no whole block was */
};

enum pxt_lineplain_want {
	PXT_LINEPLAIN_MORE, /* all that is there was used */
	PXT_LINEPLAIN_HEAD, /* plain->bytes begins with a file head: make a run of it */
	PXT_LINEPLAIN_END   /* the log has ended; plain->bytes is what follows */
};

/* Takes as many bytes as there is room for; returns how many.  0 with @count: no memory. */
size_t pxt_lineplain_add(struct pxt_lineplain *plain, const unsigned char *bytes, size_t count);
/* Hands whole blocks to @run (NULL: there is none yet). */
enum pxt_lineplain_want pxt_lineplain_next(struct pxt_lineplain *plain, struct pxt_linerun *run);
/* The first @count bytes are done with. */
void pxt_lineplain_drop(struct pxt_lineplain *plain, size_t count);

#endif
