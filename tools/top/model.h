/* SPDX-License-Identifier: MIT */
/*
 * model.h - what happened in one stream in the last seconds: events by thread, durations of pairs, waits
 * for locks, late rounds.  Knows neither where events come from nor where numbers go to.
 *
 * Time is cut in slots; the numbers are those of the present slot and of the ones before it, of
 * PXT_MODEL_SLOTS in all.  A slot that becomes too old is forgotten at once.  Time is told from outside,
 * so that a test can tell any.
 *
 * Bounded: PXT_THREADS_MAX threads, what pairs.h and state.h say, the memory of series.h for durations.
 */
#ifndef PXT_TOP_MODEL_H
#define PXT_TOP_MODEL_H

#include "tools/read/source.h"
#include "tools/top/numbers.h"

#define PXT_MODEL_SLOTS 5u /* as many as lateness.h has */

struct pxt_model;

/* Begins at @now_ns, a time that never steps back. */
struct pxt_model *pxt_model_new(int64_t slot_ns, int64_t now_ns);
void pxt_model_free(struct pxt_model *model);
/* The stream's events come from @reader, which has this one source and outlives the model. */
void pxt_model_open(struct pxt_model *model, const struct pxt_reader *reader);

/* It is @now_ns by now: slots end. */
void pxt_model_tick(struct pxt_model *model, int64_t now_ns);
/* How many events the stream had and lost so far, as its owner says. */
void pxt_model_status(struct pxt_model *model, uint64_t written, uint64_t lost);
/* @counts: else it is older than the model, and tells only what is under way. */
void pxt_model_take(struct pxt_model *model, const struct pxt_event *event, bool counts);

/* Adds rows of threads, pairs and locks. */
void pxt_model_rows(struct pxt_model *model, uint32_t stream, struct pxt_numbers *numbers);
/* Fills a stream's own row in: events and losses a second, and how much of it was read. */
void pxt_model_rates(const struct pxt_model *model, struct pxt_numbers_row *row);
/* Events a second, for a row that is yet to be made. */
double pxt_model_rate(const struct pxt_model *model);

#endif
