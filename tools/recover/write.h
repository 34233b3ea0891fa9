/* SPDX-License-Identifier: MIT */
/*
 * write.h - a complete log (FORMAT.md) of the image of a stream, in its recorder's byte order.
 *
 * Losses are where they happened: before the record that comes next in their lane.  What the
 * stream had lost before the first record that is left is told before that one.  The trailer's
 * counts: written = the log's records + lost + cleared; what the program's own reader had taken
 * is none of its business, and counted apart.
 */
#ifndef PXT_RECOVER_WRITE_H
#define PXT_RECOVER_WRITE_H

#include "tools/recover/image.h"
#include "tools/recover/who.h"

/* What there is of a stream; who knows nothing without a directory, procinfo nothing without text. */
struct pxt_recovered {
	struct pxt_streamimage streamimage;
	struct pxt_who who;
	struct pxt_procinfo procinfo;
};

/* What was made of it. */
struct pxt_written {
	uint64_t events;      /* of the stream */
	uint64_t lost;        /* in all; of these: */
	uint64_t overwritten; /* before anybody read them */
	uint64_t torn;        /* begun, and never finished */
	uint64_t voids;
	uint64_t refused; /* there was no room */
	uint64_t earlier; /* what the program's own reader had counted */
	uint32_t unnamed; /* event types whose names are not in the image */
	uint32_t inside;  /* threads that were inside a trace point */
};

/*
 * All of @found; its directory among @finds.  @place: NULL, or from where of its only lane on.  NULL, or why not:
 * then nothing is held.
 */
const char *pxt_recover_load(struct pxt_recovered *recovered, const struct pxt_finds *finds,
    const struct pxt_found *found, bool all, const struct pxt_streamimage_place *place);
void pxt_recover_free(struct pxt_recovered *recovered);

/* Returns NULL, or what is wrong; *error is an errno where the file is. */
const char *pxt_recover_write(
    struct pxt_recovered *recovered, const char *path, struct pxt_written *written, int *error);
/*
 * ---- A log that grows by what images of one stream of one lane have, one after the other ----
 *
 * begin, add and end write one log, of @written's events and losses so far.
 */

/* Returns NULL, or what is wrong. */
const char *pxt_recover_begin(
    struct pxt_recovered *recovered, const char *path, struct pxt_written *written);
/*
 * What the image has, up to a record that is not finished, unless that is the one at *stuck since the last time:
 * *place is where the next image is to be read from.
 */
void pxt_recover_add(struct pxt_recovered *recovered, struct pxt_streamimage_place *place,
    struct pxt_streamimage_place *stuck);
/* Returns an errno where the file is. */
int pxt_recover_end(struct pxt_recovered *recovered);

/* What it would be, without a log. */
void pxt_recover_sum(const struct pxt_recovered *recovered, struct pxt_written *written);

#endif
