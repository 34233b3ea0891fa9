/* SPDX-License-Identifier: MIT */
/* pxtrace.c - finds the subcommand; help and version. */
#include "tools/command/command.h"
#include "tools/output/out.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

#ifdef PXTRACE_RUN_NEEDS

/* In place of run/cmd_run.c, where the library that records was not built beside it. */
static const char *const run_help[] = {
	"pxtrace run - records what an unchanged program does\n"
	"\n"
	"usage: pxtrace run [-o LOG] [option]... -- PROGRAM [ARGUMENT]...\n"
	"\n"
	"This pxtrace was built without what records.  It needs\n" PXTRACE_RUN_NEEDS ".\n"
	"\n"
	"example:\n"
	"\n"
	"  $ pxtrace run -o run.ptl -- ./app\n"
	"\n"
	"exit status: 1.\n",
	NULL,
};

static int run_none(int argc, char **argv)
{
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return pxt_help(run_help);
	pxt_complain("run: this pxtrace was built without what records");
	pxt_explain("it needs " PXTRACE_RUN_NEEDS);
	return PXT_EXIT_USAGE;
}

const struct pxt_command pxt_cmd_run = {
	.name = "run",
	.summary = "records what an unchanged program does",
	.help = run_help,
	.run = run_none,
};

#endif

/* A new subcommand is a file with a struct pxt_command, and a line here. */
static const struct pxt_command *const commands[] = {
	&pxt_cmd_run,
	&pxt_cmd_print,
	&pxt_cmd_stat,
	&pxt_cmd_why,
	&pxt_cmd_compare,
	&pxt_cmd_report,
	&pxt_cmd_export,
	&pxt_cmd_import,
	&pxt_cmd_merge,
	&pxt_cmd_check,
	&pxt_cmd_receive,
	&pxt_cmd_link,
	&pxt_cmd_recover,
	&pxt_cmd_ps,
	&pxt_cmd_top,
	&pxt_cmd_attach,
	&pxt_cmd_snapshot,
	&pxt_cmd_start,
	&pxt_cmd_stop,
	&pxt_cmd_clear,
	&pxt_cmd_flush,
	&pxt_cmd_filter,
	NULL,
};

static const char help_head[] =
    "pxtrace - reads the logs that libptrace writes, and steers traces\n"
    "\n"
    "usage: pxtrace COMMAND [OPTION]... LOG...\n"
    "       pxtrace COMMAND [OPTION]... NAME...\n"
    "\n"
    "commands:\n";
static const char help_tail[] =
    "\n"
    "  -h, --help     this; of one command: pxtrace COMMAND --help\n"
    "  -V, --version  the version of pxtrace, and of the trace system in it\n"
    "\n"
    "Options may stand before or behind the logs.\n"
    "\n"
    "A log is the file that a program gave to posix_trace_create_withlog(), or\n"
    "anything that copied it (a pipe, a socket, a serial line):\n"
    "\n"
    "  $ pxtrace print run.ptl            every event, a line each\n"
    "  $ pxtrace stat run.ptl             counts and durations\n"
    "  $ pxtrace check run.ptl            whether the log is whole\n"
    "\n"
    "`run` records one of an unchanged program.\n"
    "\n"
    "A NAME is that of a stream of a running program (ps shows them):\n"
    "\n"
    "  $ pxtrace snapshot machine -o now.ptl\n"
    "\n"
    "exit status:\n"
    "  0  done\n"
    "  1  wrong command line\n"
    "  2  a log could not be opened or not be read to its end; a stream not be reached;\n"
    "     the logs do not have a name of an option\n"
    "  3  events were lost: of check always, of other commands with --strict\n"
    "  4  the output could not be written\n"
    "  5  check: a log is damaged, or lacks its end\n"
    "  6  compare: slower by more than --fail-above says\n";

/* ---- main ---- */

static int help(void)
{
	static struct pxt_out out;

	out.fd = STDOUT_FILENO;
	pxt_out_text(&out, help_head);
	for (size_t i = 0; commands[i]; i++)
		pxt_out_format(&out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	pxt_out_text(&out, help_tail);
	return pxt_finish(&out);
}

static int version(void)
{
	static struct pxt_out out;
	char genversion[TRACE_NAME_MAX + 1] = "";
	trace_attr_t attr;

	out.fd = STDOUT_FILENO;
	if (posix_trace_attr_init(&attr) == 0)
		(void)posix_trace_attr_getgenversion(&attr, genversion);
	pxt_out_format(&out, "pxtrace %s (trace system \"%s\")\n", PXTRACE_VERSION, genversion);
	return pxt_finish(&out);
}

/*
 * `pxtrace help COMMAND`; a command without text of its own makes it, and may know more of one word
 * after it: `pxtrace help export csv`.
 */
static int help_about(const struct pxt_command *command, char *about)
{
	char name[] = "";
	char option[] = "--help";
	char *words[] = { name, about ? about : option, about ? option : NULL, NULL };

	return command->help ? pxt_help(command->help) : command->run(about ? 3 : 2, words);
}

/* The first word is no command: what was meant? */
static int unknown(int argc, char **argv)
{
	const struct pxt_command_table table = {
		.list = commands, .what = "command", .before = "pxtrace", .usual = "print"
	};

	if (*argv[1] != '-')
		return pxt_command_unknown(&table, argc, argv);
	pxt_complain("the command comes first, then its options (found \"%s\")", argv[1]);
	return pxt_usage(NULL);
}

/*
 * Where who started this has closed them, a file that is opened would get one of the numbers, and words would go
 * into it.  Writing and reading there fail as before; a program that `run` starts has them closed.
 */
static void occupy_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			(void)open(
			    "/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	}
}

int main(int argc, char **argv)
{
	occupy_standard_descriptors();
	if (argc < 2) {
		pxt_complain("which command?");
		return pxt_usage(NULL);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    (strcmp(argv[1], "help") == 0 && argc == 2))
		return help();
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return version();
	bool about = strcmp(argv[1], "help") == 0;
	for (size_t i = 0; commands[i]; i++) {
		if (strcmp(argv[about ? 2 : 1], commands[i]->name) == 0)
			return about ? help_about(commands[i], argv[3])
			             : commands[i]->run(argc - 1, argv + 1);
	}
	return about ? unknown(argc - 1, argv + 1) : unknown(argc, argv);
}
