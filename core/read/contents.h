/* SPDX-License-Identifier: MIT */
/*
 * contents.h - what an item of the sequence holds.
 *
 *   concurrency: as consumer.h.
 */
#ifndef PXT_CONTENTS_H
#define PXT_CONTENTS_H

#include "core/read/consumer.h"

/* Up to @room bytes of the data, all of the origin.  False: overwritten meanwhile. */
bool pxt_contents_read(struct pxt_stream *stream, const struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin);
/* Who and where, out of a record's context. */
void pxt_contents_origin(const struct pxt_block *block, uint64_t ctx, struct pxt_origin *origin);
/* The record as item->slots slots with tag 0.  False: overwritten meanwhile. */
bool pxt_contents_slots(
    struct pxt_stream *stream, const struct pxt_item *item, struct pxt_slot *slots);

#endif
