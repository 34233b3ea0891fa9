/* SPDX-License-Identifier: MIT */
/* say.h - what all commands say when something fails. */
#ifndef PXT_SAY_H
#define PXT_SAY_H

/*
 * "pxtrace: " and a line on standard error.  What comes from outside (paths, names, reasons) is
 * escaped, so that no log and no file name reaches the terminal as a command.
 */
void pxt_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, indented as the explanation of the line before. */
void pxt_explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes what is left in @out; PXT_EXIT_OK, or PXT_EXIT_OUTPUT with a word to the user. */
struct pxt_out;
int pxt_finish(struct pxt_out *out);

/* Memory for a small thing, or the end of the program with a word about it. */
void *pxt_must(void *memory);

#endif
