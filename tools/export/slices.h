/* SPDX-License-Identifier: MIT */
/*
 * slices.h - pairs of events as bars on tracks, for viewers whose bars must lie inside each other.
 *
 * Which events make a pair, and which end belongs to which begin, is as in spans/pairs.h: by their names, and by
 * a first field of one name; of system events, the first pair of a type counts.  Pairs that nest share the
 * thread's own track.  A pair that once
 * ended while another one was inside it and went on (a lock that is passed on, jobs that overlap)
 * has lanes of its own beside it, as many as are open at a time.  A pair with such a field, most of whose ends are in
 * another thread than their begins (a request that is handed on), has lanes of its own beside all threads.  Which
 * pairs those are is known when all events were seen: a first reading looks, a second one writes.
 *
 * Bounded: PXT_PAIRS_MAX pairs; PXT_OPEN_DEPTH open begins a thread, PXT_OPEN_MAX in all.  What does
 * not fit is no bar, but an event like any other.
 */
#ifndef PXT_SLICES_H
#define PXT_SLICES_H

#include "tools/event/event.h"
#include "tools/spans/pairs.h"

/* In place of a thread's index: of bars that no thread has alone. */
#define PXT_SLICES_MOVED PXT_THREADS_MAX

enum pxt_bar {
	PXT_BAR_NONE,  /* an event of its own, also an end whose begin nobody saw */
	PXT_BAR_BEGIN, /* a bar begins */
	PXT_BAR_END    /* the bar of that pair that was opened last on that lane ends */
};

struct pxt_slice {
	enum pxt_bar bar;
	uint16_t pair;
	/* 0: the thread's own track; else one of the pair's own lanes, from 1, ... */
	uint16_t lane;
	bool moved;                   /* ... which are of PXT_SLICES_MOVED */
	const struct pxt_layout *key; /* the field by which begin and end were matched, or NULL */
	/* Of a bar that is cut: the event's type that began it, and what that had in its key, if it had one. */
	const struct pxt_type *type;
	bool keyed;
	uint64_t value;
};

struct pxt_slices;

struct pxt_slices *pxt_slices_new(void);
void pxt_slices_free(struct pxt_slices *slices);
/* The second reading begins: nothing is open, and all pairs are known. */
void pxt_slices_again(struct pxt_slices *slices);

/* What @event is.  Call for each event of one log, in their order. */
struct pxt_slice pxt_slices_take(struct pxt_slices *slices, const struct pxt_event *event);

/*
 * Events were lost, and ends may be among them: calls @cut for all that is open, innermost first, and
 * forgets it.
 */
void pxt_slices_cut(struct pxt_slices *slices,
    void (*cut)(void *context, uint32_t thread, const struct pxt_slice *slice), void *context);

/* Of system events that have a name for each value: their pair, else NULL. */
const struct pxt_syspair *pxt_slices_system(const struct pxt_slices *slices, uint16_t pair);
/* "job" of job_begin and job_end; not ended by a NUL. */
const char *pxt_slices_name(const struct pxt_slices *slices, uint16_t pair, size_t *bytes);

/*
 * Of a first reading that writes what it sees, as if all pairs were known.  Known: it is over.  Spoilt: the second one
 * would write something else.  Stand: all was seen, and the second one would write the same.
 */
bool pxt_slices_known(const struct pxt_slices *slices);
bool pxt_slices_spoilt(const struct pxt_slices *slices);
bool pxt_slices_stand(const struct pxt_slices *slices);

#endif
