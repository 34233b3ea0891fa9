/* SPDX-License-Identifier: MIT */
/*
 * review.h - names on the command line that nothing in the logs has: said on standard error, with what
 * there is instead.  The answer stays what it is, and so does the exit status.
 *
 * Asked when the logs have been read.  What is in no table of a log (a thread, a process) is only
 * complained of when the log was read to its end.
 */
#ifndef PXT_REVIEW_H
#define PXT_REVIEW_H

#include "tools/select/select.h"
#include "tools/spans/pairs.h"

/* All of the options that choose events. */
void pxt_review_select(const struct pxt_select *select, const struct pxt_reader *reader);
/* A field, as @option names it. */
void pxt_review_field(const struct pxt_reader *reader, const char *option, const char *name);
/* Of --counter: FIELD or EVENT.FIELD, numeric. */
void pxt_review_counter(const struct pxt_reader *reader, const char *pattern);
/* Of --pair; @pairs: what was read of each log of @reader. */
void pxt_review_pairs(const struct pxt_pair_options *options, struct pxt_pairs *const *pairs,
    const struct pxt_reader *reader);

#endif
