/* SPDX-License-Identifier: MIT */
/*
 * busiest.h - which thread had most events, over and over: in each slice of time.
 *
 * Bounded: a count for each of PXT_THREADS_MAX threads; those beyond, and events of which the log does
 * not say whose they are, are nobody's.
 */
#ifndef PXT_BUSIEST_H
#define PXT_BUSIEST_H

#include "tools/read/source.h"

struct pxt_busiest;

struct pxt_busiest *pxt_busiest_new(void);
void pxt_busiest_free(struct pxt_busiest *busiest);

void pxt_busiest_take(struct pxt_busiest *busiest, const struct pxt_thread *thread);
/*
 * Who had most events since the last call, and how many; of two with as many, whose label comes first.
 * NULL: nobody had any.
 */
const struct pxt_thread *pxt_busiest_next(struct pxt_busiest *busiest, uint64_t *events);

#endif
