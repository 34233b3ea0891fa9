/* SPDX-License-Identifier: MIT */
/*
 * answers.h - what `pxtrace why` says of the worst spans, on the page: a sentence each, what would
 * help, and where the time went.
 *
 * Which spans are the worst is found while the page's events are read.  What happened in them needs a
 * second reading, up to the end of the last one.  Memory: what late.h and blame.h say, for PXT_LATE_MAX
 * spans at most.
 */
#ifndef PXT_ANSWERS_H
#define PXT_ANSWERS_H

#include "tools/why/tell.h"

struct pxt_answers {
	unsigned worst; /* how many; 0: none, and the logs are not read again */
	struct pxt_roles_book *book;
	struct pxt_late_search search;
	struct pxt_blames blames;
};

/*
 * Finds them: before the first event, each event, after the last one.  False, with a word to the user, when
 * a roles file does not fit the logs: then nothing else need be read.
 */
void pxt_answers_begin(
    struct pxt_answers *answers, const struct pxt_reader *reader, struct pxt_select *select);
bool pxt_answers_take(struct pxt_answers *answers, const struct pxt_event *event);
bool pxt_answers_end(struct pxt_answers *answers, const struct pxt_reader *reader);
/* Explains them: reads the logs again, and leaves @reader where the last one ends. */
void pxt_answers_explain(struct pxt_answers *answers, struct pxt_reader *reader);
/* Writes them as one JSON object; times are in ns since @start_ns. */
void pxt_answers_put(struct pxt_answers *answers, struct pxt_out *out, int64_t start_ns);
/* Once; also when nothing was found. */
void pxt_answers_free(struct pxt_answers *answers);

#endif
