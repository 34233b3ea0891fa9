/* SPDX-License-Identifier: MIT */
/*
 * command.h - what every subcommand of pxtrace is: one file, one struct pxt_command, one line in
 * the table of pxtrace.c.
 */
#ifndef PXT_COMMAND_H
#define PXT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit status; the worst that happened wins. */
enum pxt_exit {
	PXT_EXIT_OK = 0,
	PXT_EXIT_USAGE = 1, /* the command line makes no sense; nothing was read */
	/* A log could not be opened, or not be read to its end; a stream could not be reached. */
	PXT_EXIT_LOG = 2,
	PXT_EXIT_LOST = 3,   /* events were lost: check always, others by --strict */
	PXT_EXIT_OUTPUT = 4, /* the output could not be written */
	PXT_EXIT_DAMAGE = 5, /* check: a log is damaged, or lacks its end */
};

struct pxt_command {
	const char *name;
	const char *summary; /* one line for `pxtrace --help` */
	/*
	 * The command's own --help, in pieces that ISO C allows; NULL behind the last.  NULL at all:
	 * run() shows it when --help is its first argument.
	 */
	const char *const *help;
	/* argv[0] is the command's name.  Returns the exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct pxt_command pxt_cmd_print;
extern const struct pxt_command pxt_cmd_stat;
extern const struct pxt_command pxt_cmd_why;
extern const struct pxt_command pxt_cmd_report;
extern const struct pxt_command pxt_cmd_export;
extern const struct pxt_command pxt_cmd_merge;
extern const struct pxt_command pxt_cmd_check;
extern const struct pxt_command pxt_cmd_receive;
extern const struct pxt_command pxt_cmd_recover;
extern const struct pxt_command pxt_cmd_ps;
extern const struct pxt_command pxt_cmd_start;
extern const struct pxt_command pxt_cmd_stop;
extern const struct pxt_command pxt_cmd_clear;
extern const struct pxt_command pxt_cmd_flush;
extern const struct pxt_command pxt_cmd_filter;
extern const struct pxt_command pxt_cmd_attach;
extern const struct pxt_command pxt_cmd_snapshot;

/* Writes the whole of @pieces to standard output; returns the exit status. */
int pxt_help(const char *const *pieces);
/* Writes what is left in @out; PXT_EXIT_OK, or PXT_EXIT_OUTPUT with a word to the user. */
struct pxt_out;
int pxt_finish(struct pxt_out *out);

/*
 * "pxtrace: " and a line on standard error.  What comes from outside (paths, names, reasons) is
 * escaped, so that no log and no file name reaches the terminal as a command.
 */
void pxt_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, indented as the explanation of the line before. */
void pxt_explain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says where help is to be had; returns PXT_EXIT_USAGE. */
int pxt_usage(const char *command);

/*
 * What getopt_long() found wrong: @code '?' (no such option) or ':' (an option without its value).
 * Returns PXT_EXIT_USAGE.
 */
struct option;
int pxt_option_error(const char *command, int code, char **argv, const struct option *options);

/* The number behind an option.  False, with a word to the user, when it is none of that range. */
bool pxt_option_number(
    uint64_t *to, const char *value, const char *option, uint64_t least, uint64_t most);

/* What is wrong with an option's text, and at which byte of it. */
struct pxt_text_error {
	size_t at;
	char reason[160];
};
/* Notes it; returns false. */
bool pxt_text_wrong(struct pxt_text_error *error, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Shows the reason, the text, and a caret below the place. */
void pxt_text_complain(const char *option, const char *text, const struct pxt_text_error *error);

/* Memory for a small thing, or the end of the program with a word about it. */
void *pxt_must(void *memory);

/* The one of @names (NULL behind the last) that was probably meant, or NULL. */
const char *pxt_suggest(const char *word, const char *const *names);

#endif
