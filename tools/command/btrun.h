/* SPDX-License-Identifier: MIT */
/* btrun.h - runs the command babeltrace2 with our plugin, which stands beside pxtrace. */
#ifndef PXT_BTRUN_H
#define PXT_BTRUN_H

#include <stdbool.h>
#include <sys/types.h>

/* Adds a piece to a text that grows: NULL at first, to be freed. */
void pxt_btrun_put(char **text, const char *piece);
/* The same of a string among babeltrace2's parameters. */
void pxt_btrun_put_string(char **text, const char *string);

/* Starts it with @words, of which the last one is NULL; -1, with a word to the user of @command. */
pid_t pxt_btrun_start(const char *command, char *const *words);
/* Whether it did what it was to do; if not, the user is told. */
bool pxt_btrun_wait(const char *command, pid_t child);

#endif
