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

/* Explains how to get at the black box beside the log @path, if there is one. */
void pxt_say_box(const char *path);

/*
 * From now on a line goes to @listener, without its end and without what it begins with; NULL: to
 * standard error again.  For who draws on the whole screen.
 */
void pxt_say_to(void (*listener)(const char *line));

/* Writes what is left in @out; PXT_EXIT_OK, or PXT_EXIT_OUTPUT with a word to the user. */
struct pxt_out;
int pxt_finish(struct pxt_out *out);

/* Memory for a small thing, or the end of the program with a word about it. */
void *pxt_must(void *memory);

#endif
