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
	const struct pxt_option *options; /* of pxt_options_read(), and --help */
	const char *wants; /* "which log?": said where no word is left; NULL: none is needed */
	bool stops;        /* options end at the first word that is none */
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

/* Of commands that read logs and write one thing. */
#define PXT_HELP_STATUS                                                                            \
	"exit status: 0 done; 1 wrong command line; 2 a log could not be read, or no log has a\n"  \
	"name that was asked for; 3 events were lost (--strict); 4 the output could not be\n"      \
	"written.\n"

/* Writes the whole of @pieces to standard output; returns the exit status. */
int pxt_help(const char *const *pieces);
/* Says where help is to be had; returns PXT_EXIT_USAGE. */
int pxt_usage(const char *command);

/* The number after an option.  False, with a word to the user, when it is none of that range. */
bool pxt_option_number(
    uint64_t *to, const char *value, const char *option, uint64_t least, uint64_t most);

/* A number of bytes: 65536, 64K, 10MiB (K, M and G are powers of 1024).  False as above. */
bool pxt_option_bytes(
    uint64_t *to, const char *value, const char *option, uint64_t least, uint64_t most);

/* A length of time: 5ms, 250us, 1.5 (seconds), of @least nanoseconds or more.  False as above. */
bool pxt_option_time(int64_t *to, const char *value, const char *option, int64_t least);

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

/* ---- The options of a command line ---- */

enum pxt_option_kind {
	PXT_OPTION_END,    /* after the last one */
	PXT_OPTION_FLAG,   /* sets a bool */
	PXT_OPTION_TEXT,   /* sets a const char * to its value */
	PXT_OPTION_NUMBER, /* sets a number to its value, from @least to @most */
	PXT_OPTION_BYTES,  /* the same, with a unit */
	PXT_OPTION_TIME,   /* sets an int64_t to nanoseconds, @least or more */
	PXT_OPTION_TAKE,   /* @take gets its value */
	PXT_OPTION_DO,     /* it has none, and @take is called */
	PXT_OPTION_ALIAS,  /* another name of the one before */
	PXT_OPTION_MORE,   /* those of @more; behind each, @take is called, if it is not NULL */
	PXT_OPTION_WORD    /* @take gets each word that is no option */
};

struct pxt_option {
	enum pxt_option_kind kind;
	char letter; /* 0: none */
	const char *name;
	/* Where it is in what the command line sets, and its size. */
	size_t at;
	size_t bytes;
	uint64_t least;
	uint64_t most;
	/* @self is what the command line sets.  False, with a word to the user, when @value makes no sense. */
	bool (*take)(void *self, char *value);
	const struct pxt_option *more; /* of what is at @at, ... */
	void *to;                      /* ... or, if that is not NULL, of this */
};

#define PXT_OPT_AT(type, member) .at = offsetof(type, member), .bytes = sizeof(((type *)0)->member)
#define PXT_OPT_FLAG(letter, name, type, member)                                                   \
	{                                                                                          \
		PXT_OPTION_FLAG, letter, name, PXT_OPT_AT(type, member)                            \
	}
#define PXT_OPT_TEXT(letter, name, type, member)                                                   \
	{                                                                                          \
		PXT_OPTION_TEXT, letter, name, PXT_OPT_AT(type, member)                            \
	}
#define PXT_OPT_NUMBER(letter, name, type, member, from, to)                                       \
	{                                                                                          \
		PXT_OPTION_NUMBER, letter, name, PXT_OPT_AT(type, member), .least = (from),        \
		                                                           .most = (to)            \
	}
#define PXT_OPT_BYTES(letter, name, type, member, from, to)                                        \
	{                                                                                          \
		PXT_OPTION_BYTES, letter, name, PXT_OPT_AT(type, member), .least = (from),         \
		                                                          .most = (to)             \
	}
#define PXT_OPT_TIME(letter, name, type, member, from)                                             \
	{                                                                                          \
		PXT_OPTION_TIME, letter, name, PXT_OPT_AT(type, member), .least = (from)           \
	}
#define PXT_OPT_TAKE(letter, name, function)                                                       \
	{                                                                                          \
		PXT_OPTION_TAKE, letter, name, .take = (function)                                  \
	}
#define PXT_OPT_DO(letter, name, function)                                                         \
	{                                                                                          \
		PXT_OPTION_DO, letter, name, .take = (function)                                    \
	}
#define PXT_OPT_MORE(options, type, member)                                                        \
	{                                                                                          \
		PXT_OPTION_MORE, .more = (options), PXT_OPT_AT(type, member)                       \
	}
/* --color WHEN and --colour WHEN, to a const char *. */
#define PXT_OPT_COLOUR(type, member) PXT_OPT_MORE(pxt_colour_options, type, member)
#define PXT_OPT_END                                                                                \
	{                                                                                          \
		.kind = PXT_OPTION_END                                                             \
	}

extern const struct pxt_option pxt_colour_options[];

/*
 * Takes them all, into @self; argv[optind] is then the first word that is none.  Returns -1, or the exit status with
 * which the command ends: help was shown, or something was wrong, and the user was told.
 */
int pxt_options_read(const struct pxt_command *command, void *self, int argc, char **argv);

/* ---- Which word was probably meant ---- */

/* The one of @names (NULL after the last) that was probably meant, or NULL. */
const char *pxt_suggest(const char *word, const char *const *names);

/* Commands that are chosen by a word, and what is said where it is none of them. */
struct pxt_command_table {
	const struct pxt_command *const *list; /* NULL after the last */
	const char *what;                      /* "command" */
	const char *before;                    /* "pxtrace", ... */
	const char *usual;                     /* ... "print": what a file in its place is for */
	const char *usage;                     /* for pxt_usage() */
};
/* argv[1] is none of them: says what was meant; returns PXT_EXIT_USAGE. */
int pxt_command_unknown(const struct pxt_command_table *table, int argc, char **argv);

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
