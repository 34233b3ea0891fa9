/* SPDX-License-Identifier: MIT */
/* run_none.c - pxtrace run, where the library that records was not built beside it. */
#include "tools/command/command.h"
#include "tools/output/out.h"

#include <stddef.h>
#include <string.h>

static const char *const help[] = {
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

static int run(int argc, char **argv)
{
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return pxt_help(help);
	pxt_complain("run: this pxtrace was built without what records");
	pxt_explain("it needs " PXTRACE_RUN_NEEDS);
	return PXT_EXIT_USAGE;
}

const struct pxt_command pxt_cmd_run = {
	.name = "run",
	.summary = "records what an unchanged program does",
	.help = help,
	.run = run,
};
