/* SPDX-License-Identifier: MIT */
/* saychain.h - the chain of a late round (chain.h) in words. */
#ifndef PXT_SAYCHAIN_H
#define PXT_SAYCHAIN_H

#include "tools/why/words.h"

/* "control took 90 ms for a round, where 0.1 ms is usual (7 of 250): it waited ..." */
void pxt_say_round(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_blame *blame);
/* "it waited 90 ms for table_mutex, which netsync had, ...; netsync was in recv ...": the whole chain. */
void pxt_say_links(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_chain *chain, const char *subject);
/* What one thread of the chain did, without its name. */
void pxt_say_link(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_link *link);
/* Whether a more urgent thread waits for a less urgent one that a third one keeps from running. */
bool pxt_chain_is_inversion(const struct pxt_chain *chain);

#endif
