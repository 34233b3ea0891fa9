/* SPDX-License-Identifier: MIT */
/*
 * answers.h - what `pxtrace why` says of the worst spans, on the page: a sentence each, what would
 * help, and where the time went.
 *
 * It reads the logs twice, before the page is begun: which spans are the worst, and what happened in
 * them.  Memory: what late.h and blame.h say, for PXT_LATE_MAX spans at most.
 */
#ifndef PXT_ANSWERS_H
#define PXT_ANSWERS_H

#include "tools/why/tell.h"

struct pxt_answers {
	unsigned worst; /* how many; 0: none, and the logs are not read for it */
	struct pxt_roles_book *book;
	struct pxt_late_search search;
	struct pxt_blames blames;
};

/*
 * Finds and explains them; @reader is at the first event again.  False, with a word to the user, when
 * a roles file does not fit the logs.
 */
bool pxt_answers_find(
    struct pxt_answers *answers, struct pxt_reader *reader, struct pxt_select *select);
/* Writes them as one JSON object; times are in ns since @start_ns. */
void pxt_answers_put(struct pxt_answers *answers, struct pxt_out *out, int64_t start_ns);
/* Once; also when nothing was found. */
void pxt_answers_free(struct pxt_answers *answers);

#endif
