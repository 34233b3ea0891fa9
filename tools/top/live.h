/* SPDX-License-Identifier: MIT */
/*
 * live.h - the streams of running programs that have a name, as they come and go, each with its model.
 *
 * A stream has two connections: one is asked over and over how it is, by the other its owner hands
 * out what happens (pxtrace attach).  No answer is waited for.  A program that is stopped, or answers
 * nonsense, is shown as such; who looks on too often already is refused, and then only the numbers that
 * the owner says are known.
 *
 * Bounded: PXT_LIVE_STREAMS streams, of PXT_LIVE_FOLLOWED of which the events are read, each through 16 MiB
 * of memory at most (format/ctlsock.h).
 */
#ifndef PXT_TOP_LIVE_H
#define PXT_TOP_LIVE_H

#include "tools/top/model.h"

#include <stdbool.h>
#include <stdint.h>

#define PXT_LIVE_STREAMS  64u
#define PXT_LIVE_FOLLOWED 16u

struct pxt_live;

/* @names: these alone, or, where there are none, those that there are in the user's folders. */
struct pxt_live *pxt_live_new(char *const *names, size_t count, int64_t slot_ns, int64_t now_ns);
void pxt_live_free(struct pxt_live *live);
/*
 * The first look.  PXT_EXIT_OK, or what it is worth that a stream which was named cannot be reached, or that
 * the folders of names cannot be looked into; after a word to the user.
 */
int pxt_live_begin(struct pxt_live *live);
/* Asks, takes what has come, looks who is there.  True where there is more to be taken at once. */
bool pxt_live_step(struct pxt_live *live, int64_t now_ns);
/* How many streams there are, those that have just ended among them. */
uint32_t pxt_live_count(const struct pxt_live *live);
/* Whether all streams that were named have ended. */
bool pxt_live_over(const struct pxt_live *live);
void pxt_live_numbers(struct pxt_live *live, struct pxt_numbers *numbers);
/* The name of the stream with that number, as it is reached; NULL: it is not there. */
const char *pxt_live_name(const struct pxt_live *live, uint32_t stream);

#endif
