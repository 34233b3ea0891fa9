/* SPDX-License-Identifier: MIT */
/*
 * logturn.h - what format/logfmt.c wrote in this machine's byte order, turned into the other one: for
 * logs whose records come from a machine of that order.
 */
#ifndef PXT_LOGTURN_H
#define PXT_LOGTURN_H

#include <stddef.h>
#include <stdint.h>

/* @count numbers of @bytes bytes each, from offset @at on. */
struct pxt_logturn {
	uint16_t at;
	uint8_t bytes;
	uint8_t count;
};

/* Turns the numbers that @count runs tell of. */
void pxt_logturn(unsigned char *at, const struct pxt_logturn *runs, size_t count);
/* The head of a file, and its checksum anew. */
void pxt_logturn_head(unsigned char *head);
/* The head of a finished block, and its checksum anew; the contents stay as they are. */
void pxt_logturn_block(unsigned char *block, uint32_t length);
/* A slot (loss). */
void pxt_logturn_slot(unsigned char *slot);
/* The entry of a TYPES, THREADS, PROCESS, MODULES, CLOCKS, CLEAR or TRAILER block. */
void pxt_logturn_type(unsigned char *entry);
void pxt_logturn_thread(unsigned char *entry);
void pxt_logturn_process(unsigned char *entry);
void pxt_logturn_module(unsigned char *entry);
void pxt_logturn_clocks(unsigned char *entry);
void pxt_logturn_clear(unsigned char *entry);
void pxt_logturn_trailer(unsigned char *entry);

#endif
