/* SPDX-License-Identifier: MIT */
/*
 * choice.h - attach -o with a choice (--event, --where, ...): the events that were chosen, into a log that grows.
 *
 * What was not chosen takes no room in the log.  Numbers of types are the stream's own; losses before an
 * event that was not chosen are told before the next one that was.
 */
#ifndef PXT_MERGE_CHOICE_H
#define PXT_MERGE_CHOICE_H

#include "tools/read/source.h"

struct pxt_choice;

/*
 * Once the head of the stream's log was read.  The log begins at @from_ns, or with the stream, if that is later.
 * NULL, with a word to the user: it cannot be.
 */
struct pxt_choice *pxt_choice_begin(const char *path, struct pxt_reader *reader, int64_t from_ns);
/* All threads that the log's table knows, also those that have no event. */
void pxt_choice_threads(struct pxt_choice *choice, const struct pxt_source *source);
void pxt_choice_put(struct pxt_choice *choice, const struct pxt_event *event);
void pxt_choice_lose(struct pxt_choice *choice, uint64_t events);
/* What is in it so far. */
uint64_t pxt_choice_events(const struct pxt_choice *choice);
uint64_t pxt_choice_lost(const struct pxt_choice *choice);
/* The first error so far, an errno; 0. */
int pxt_choice_error(const struct pxt_choice *choice);
/* Brings what was put so far into the file, from time to time; its bytes by now. */
uint64_t pxt_choice_flush(struct pxt_choice *choice, int64_t now_ns);
/* @unknown: the stream goes on, and nobody wanted the log to end here.  0, or the first errno. */
int pxt_choice_end(struct pxt_choice *choice, const struct pxt_source *source, bool unknown);

#endif
