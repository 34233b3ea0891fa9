/* SPDX-License-Identifier: MIT */
/*
 * logturn.h - what base/logfmt.c wrote in this machine's byte order, turned into the other one: for
 * logs whose records come from a machine of that order.
 */
#ifndef PXT_LOGTURN_H
#define PXT_LOGTURN_H

#include <stdint.h>

/* The head of a finished block, and its checksum anew; the contents stay as they are. */
void pxt_logturn_block(unsigned char *block, uint32_t length);
/* A slot (loss). */
void pxt_logturn_slot(unsigned char *slot);
/* The entry of a CLOCKS, CLEAR or TRAILER block. */
void pxt_logturn_clocks(unsigned char *entry);
void pxt_logturn_clear(unsigned char *entry);
void pxt_logturn_trailer(unsigned char *entry);

#endif
