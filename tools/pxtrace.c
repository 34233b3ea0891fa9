/* SPDX-License-Identifier: MIT */
/* pxtrace.c - finds the subcommand; help, version, and what all commands say when they fail. */
#include "command.h"

#include "escape.h"
#include "out.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

/* A new subcommand is a file with a struct pxt_command, and a line here. */
static const struct pxt_command *const commands[] = {
	&pxt_cmd_print,
	&pxt_cmd_stat,
	NULL,
};

static const char help_head[] = "pxtrace - reads the logs that libptrace writes\n"
                                "\n"
                                "usage: pxtrace COMMAND [OPTION]... LOG...\n"
                                "\n"
                                "commands:\n";
static const char help_tail[] =
    "\n"
    "`pxtrace COMMAND --help` tells about one command. Options may stand before or\n"
    "behind the logs.\n"
    "\n"
    "A log is the file that a program gave to posix_trace_create_withlog(), or\n"
    "anything that copied it (a pipe, a socket, a serial line):\n"
    "\n"
    "  $ pxtrace print run.ptl            every event, a line each\n"
    "  $ pxtrace stat run.ptl             counts, and how long things took\n"
    "\n"
    "exit status:\n"
    "  0  done\n"
    "  1  the command line makes no sense\n"
    "  2  a log could not be opened or not be read to its end\n"
    "  3  --strict was given, and events were lost\n"
    "  4  the output could not be written\n";

/* ---- What all commands say ---- */

__attribute__((format(printf, 2, 0))) static void say(
    const char *prefix, const char *format, va_list args)
{
	char raw[1024];
	char text[4 * sizeof raw + 64];
	size_t used = strlen(prefix);

	memcpy(text, prefix, used + 1);
	(void)vsnprintf(raw, sizeof raw, format, args);
	used += pxt_escape(raw, strlen(raw), text + used, sizeof text - used - 1, NULL);
	text[used++] = '\n';
	/* One write, so that lines of several processes do not mix. */
	(void)!write(STDERR_FILENO, text, used);
}

void pxt_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("pxtrace: ", format, args);
	va_end(args);
}

void pxt_explain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("         ", format, args);
	va_end(args);
}

int pxt_usage(const char *command)
{
	if (command)
		pxt_explain("`pxtrace %s --help` shows the options and an example", command);
	else
		pxt_explain("`pxtrace --help` shows the commands and an example");
	return PXT_EXIT_USAGE;
}

void *pxt_must(void *memory)
{
	if (!memory) {
		pxt_complain("out of memory");
		exit(PXT_EXIT_LOG);
	}
	return memory;
}

static int finish(struct pxt_out *out)
{
	pxt_out_flush(out);
	if (out->error == 0)
		return PXT_EXIT_OK;
	pxt_complain("standard output: %s", strerror(out->error));
	return PXT_EXIT_OUTPUT;
}

int pxt_help(const char *const *pieces)
{
	static struct pxt_out out = { .fd = STDOUT_FILENO };

	for (; *pieces; pieces++)
		pxt_out_text(&out, *pieces);
	return finish(&out);
}

/* ---- Suggestions ---- */

/* Insertions, deletions and replacements that lead from @a to @b; words beyond 31 bytes: many. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[32];
	size_t length = strlen(b);

	if (length >= sizeof row / sizeof *row || strlen(a) >= sizeof row / sizeof *row)
		return 99;
	for (unsigned k = 0; k <= length; k++)
		row[k] = k;
	for (unsigned i = 1; *a; i++, a++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (size_t k = 1; k <= length; k++) {
			unsigned replaced = diagonal + (*a != b[k - 1]);
			unsigned other = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;

			diagonal = row[k];
			row[k] = replaced < other ? replaced : other;
		}
	}
	return row[length];
}

const char *pxt_suggest(const char *word, const char *const *names)
{
	const char *best = NULL;
	unsigned least = 3;

	for (; *names; names++) {
		unsigned d = distance(word, *names);

		/* A beginning of two letters is as good as a word with few mistakes. */
		if (strlen(word) >= 2 && strncmp(word, *names, strlen(word)) == 0)
			d = 0;
		if (d < least && d < strlen(*names) - 1) {
			least = d;
			best = *names;
		}
	}
	return best;
}

int pxt_option_error(const char *command, int code, char **argv, const struct option *options)
{
	const char *names[64] = { NULL };
	const char *word = argv[optind - 1];
	const char *meant;

	if (code == ':') {
		pxt_complain("%s: %s wants a value behind it", command, word);
		return pxt_usage(command);
	}
	if (strncmp(word, "--", 2) != 0) {
		pxt_complain("%s: there is no option -%c", command, optopt);
		return pxt_usage(command);
	}
	for (size_t i = 0; i + 1 < sizeof names / sizeof *names && options[i].name; i++)
		names[i] = options[i].name;
	meant = pxt_suggest(word + 2, names);
	if (optopt != 0)
		pxt_complain("%s: %s takes no value", command, word);
	else if (meant)
		pxt_complain("%s: there is no option %s; did you mean --%s?", command, word, meant);
	else
		pxt_complain("%s: there is no option %s", command, word);
	return pxt_usage(command);
}

/* ---- main ---- */

static int help(void)
{
	static struct pxt_out out = { .fd = STDOUT_FILENO };

	pxt_out_text(&out, help_head);
	for (size_t i = 0; commands[i]; i++)
		pxt_out_format(&out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	pxt_out_text(&out, help_tail);
	return finish(&out);
}

static int version(void)
{
	static struct pxt_out out = { .fd = STDOUT_FILENO };
	char genversion[TRACE_NAME_MAX + 1] = "";
	trace_attr_t attr;

	if (posix_trace_attr_init(&attr) == 0)
		(void)posix_trace_attr_getgenversion(&attr, genversion);
	pxt_out_format(&out, "pxtrace %s (trace system \"%s\")\n", PXTRACE_VERSION, genversion);
	return finish(&out);
}

/* The first word is no command: what was meant? */
static int unknown(int argc, char **argv)
{
	const char *names[sizeof commands / sizeof(void *)] = { NULL };
	const char *word = argv[1];

	for (size_t i = 0; commands[i]; i++)
		names[i] = commands[i]->name;
	if (*word == '-') {
		pxt_complain("the command comes first, then its options (found \"%s\")", word);
		return pxt_usage(NULL);
	}
	for (int i = 2; i < argc; i++) {
		for (size_t k = 0; names[k]; k++) {
			if (strcmp(argv[i], names[k]) == 0) {
				pxt_complain(
				    "the command comes first: pxtrace %s %s", names[k], word);
				return PXT_EXIT_USAGE;
			}
		}
	}
	if (access(word, F_OK) == 0) {
		pxt_complain(
		    "\"%s\" is a file, not a command; perhaps: pxtrace print %s", word, word);
		return pxt_usage(NULL);
	}
	const char *meant = pxt_suggest(word, names);
	if (meant)
		pxt_complain("there is no command \"%s\"; did you mean \"%s\"?", word, meant);
	else
		pxt_complain("there is no command \"%s\"", word);
	return pxt_usage(NULL);
}

int main(int argc, char **argv)
{
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
			return about ? pxt_help(commands[i]->help)
			             : commands[i]->run(argc - 1, argv + 1);
	}
	return about ? unknown(argc - 1, argv + 1) : unknown(argc, argv);
}
