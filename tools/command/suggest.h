/* SPDX-License-Identifier: MIT */
/* suggest.h - which word was probably meant. */
#ifndef PXT_SUGGEST_H
#define PXT_SUGGEST_H

#include <stdbool.h>

/* The one of @names (NULL after the last) that was probably meant, or NULL. */
const char *pxt_suggest(const char *word, const char *const *names);

/* How far a name may be from what was meant. */
#define PXT_SUGGEST_FAR 3u
/* Whether @name is nearer to @word than *@least, which then becomes its distance. */
bool pxt_suggest_nearer(const char *word, const char *name, unsigned *least);

#endif
