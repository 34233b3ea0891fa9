/* SPDX-License-Identifier: MIT */
/* suggest.h - which word was probably meant. */
#ifndef PXT_SUGGEST_H
#define PXT_SUGGEST_H

/* The one of @names (NULL after the last) that was probably meant, or NULL. */
const char *pxt_suggest(const char *word, const char *const *names);

#endif
