/* SPDX-License-Identifier: MIT */
/*
 * command.h - what every subcommand of pxtrace is: one file, one struct pxt_command, one line in
 * the table of pxtrace.c; and the options of a command line.
 */
#ifndef PXT_COMMAND_H
#define PXT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pxt_command {
	const char *name;
	const char *summary; /* one line for `pxtrace --help` */
	/*
	 * The command's own --help, in pieces that ISO C allows; NULL after the last.  NULL at all:
	 * run() shows it when --help is its first argument.
	 */
	const char *const *help;
	/* argv[0] is the command's name.  Returns the exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct pxt_command pxt_cmd_run;
extern const struct pxt_command pxt_cmd_print;
extern const struct pxt_command pxt_cmd_stat;
extern const struct pxt_command pxt_cmd_why;
extern const struct pxt_command pxt_cmd_compare;
extern const struct pxt_command pxt_cmd_report;
extern const struct pxt_command pxt_cmd_export;
extern const struct pxt_command pxt_cmd_import;
extern const struct pxt_command pxt_cmd_merge;
extern const struct pxt_command pxt_cmd_check;
extern const struct pxt_command pxt_cmd_receive;
extern const struct pxt_command pxt_cmd_link;
extern const struct pxt_command pxt_cmd_recover;
extern const struct pxt_command pxt_cmd_ps;
extern const struct pxt_command pxt_cmd_start;
extern const struct pxt_command pxt_cmd_stop;
extern const struct pxt_command pxt_cmd_clear;
extern const struct pxt_command pxt_cmd_flush;
extern const struct pxt_command pxt_cmd_filter;
extern const struct pxt_command pxt_cmd_attach;
extern const struct pxt_command pxt_cmd_snapshot;
extern const struct pxt_command pxt_cmd_top;

/* ---- What all commands say of their options: help, and what is wrong on the command line ---- */

/* Writes the whole of @pieces to standard output; returns the exit status. */
int pxt_help(const char *const *pieces);
/* Says where help is to be had; returns PXT_EXIT_USAGE. */
int pxt_usage(const char *command);

/*
 * What getopt_long() found wrong: @code '?' (no such option) or ':' (an option without its value).
 * Returns PXT_EXIT_USAGE.
 */
struct option;
int pxt_option_error(const char *command, int code, char **argv, const struct option *options);

/* The number after an option.  False, with a word to the user, when it is none of that range. */
bool pxt_option_number(
    uint64_t *to, const char *value, const char *option, uint64_t least, uint64_t most);

/* A number of bytes: 65536, 64K, 10MiB (K, M and G are powers of 1024).  False as above. */
bool pxt_option_bytes(
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

/* ---- Which word was probably meant ---- */

/* The one of @names (NULL after the last) that was probably meant, or NULL. */
const char *pxt_suggest(const char *word, const char *const *names);

/* How far a name may be from what was meant. */
#define PXT_SUGGEST_FAR 3u
/* Whether @name is nearer to @word than *@least, which then becomes its distance. */
bool pxt_suggest_nearer(const char *word, const char *name, unsigned *least);

/* ---- Runs the command babeltrace2 with our plugin, which stands beside pxtrace ---- */

/* Adds a piece to a text that grows: NULL at first, to be freed. */
void pxt_btrun_put(char **text, const char *piece);
/* The same of a string among babeltrace2's parameters. */
void pxt_btrun_put_string(char **text, const char *string);

/* Starts it with @words, of which the last one is NULL; -1, with a word to the user of @command. */
pid_t pxt_btrun_start(const char *command, char *const *words);
/* Whether it did what it was to do; if not, the user is told. */
bool pxt_btrun_wait(const char *command, pid_t child);

#endif
