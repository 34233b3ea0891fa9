/* SPDX-License-Identifier: MIT */
/*
 * standing.h - what events said once and holds since: images, descriptors, semaphores, names of threads.  A log
 * that begins later begins with it, so that it can be read by itself.
 *
 * Bounded: PXT_STANDING_MAX events; what comes beyond is not kept.
 */
#ifndef PXT_STANDING_H
#define PXT_STANDING_H

#include "tools/read/source.h"

#define PXT_STANDING_MAX 65536u

struct pxt_standing;

struct pxt_standing *pxt_standing_new(void);
void pxt_standing_free(struct pxt_standing *standing);
/* Any event. */
void pxt_standing_take(struct pxt_standing *standing, const struct pxt_event *event);
/* All of them, in their order. */
void pxt_standing_each(const struct pxt_standing *standing,
    void (*take)(void *self, const struct pxt_event *event), void *self);

#endif
