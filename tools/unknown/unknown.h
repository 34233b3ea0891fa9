/* SPDX-License-Identifier: MIT */
/*
 * unknown.h - names on the command line that nothing in the logs has: said on standard error, with the
 * nearest one that there is.  The answer stays what it is; the exit status is that of a log that failed.
 *
 * Asked when the logs have been read.  What is in no table of a log (a thread, a process) is only
 * complained of when the log was read to its end.
 */
#ifndef PXT_UNKNOWN_H
#define PXT_UNKNOWN_H

#include "tools/select/select.h"
#include "tools/spans/pairs.h"

/* All of the options that choose events.  @spans: what --event may name besides; NULL after the last. */
void pxt_unknown_select(
    const struct pxt_select *select, struct pxt_reader *reader, const char *const *spans);
/* A field, as @option names it. */
void pxt_unknown_field(struct pxt_reader *reader, const char *option, const char *name);
/* Of --counter: FIELD or EVENT.FIELD, numeric. */
void pxt_unknown_counter(struct pxt_reader *reader, const char *option, const char *pattern);
/* Of --pair, with what pxt_pairs_take() has noted there. */
void pxt_unknown_pairs(const struct pxt_pair_options *options, struct pxt_reader *reader);

/* The exit status after @status; types of a stream that lives may still come, so there it is no mistake. */
int pxt_unknown_status(const struct pxt_reader *reader, int status);

#endif
