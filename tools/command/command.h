/* SPDX-License-Identifier: MIT */
/*
 * command.h - what every subcommand of pxtrace is: one file, one struct pxt_command, one line in
 * the table of pxtrace.c.
 */
#ifndef PXT_COMMAND_H
#define PXT_COMMAND_H

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

#endif
