/* SPDX-License-Identifier: MIT */
/*
 * logswap.h - what format/logfmt.c wrote in this machine's byte order, turned into the other one: for
 * logs whose records come from a machine of that order.
 */
#ifndef PXT_LOGSWAP_H
#define PXT_LOGSWAP_H

#include <stddef.h>
#include <stdint.h>

/* @count numbers of @bytes bytes each, from offset @at on. */
struct pxt_logswap {
	uint16_t at;
	uint8_t bytes;
	uint8_t count;
};

/* Turns the numbers that @count runs tell of. */
void pxt_logswap(unsigned char *at, const struct pxt_logswap *runs, size_t count);
/* The head of a file, and its checksum anew. */
void pxt_logswap_head(unsigned char *head);
/* The head of a finished block, and its checksum anew; the contents stay as they are. */
void pxt_logswap_block(unsigned char *block, uint32_t length);
/* A slot (loss). */
void pxt_logswap_slot(unsigned char *slot);
/* The entry of a TYPES, THREADS, PROCESS, MODULES, CLOCKS, CLEAR or TRAILER block. */
void pxt_logswap_type(unsigned char *entry);
void pxt_logswap_thread(unsigned char *entry);
void pxt_logswap_process(unsigned char *entry);
void pxt_logswap_module(unsigned char *entry);
void pxt_logswap_note(unsigned char *entry);
void pxt_logswap_clocks(unsigned char *entry);
void pxt_logswap_clear(unsigned char *entry);
void pxt_logswap_trailer(unsigned char *entry);

#endif
