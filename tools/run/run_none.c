/* SPDX-License-Identifier: MIT */
/* run_none.c - pxtrace run, where the library that records was not built beside it. */
#include "tools/command/command.h"
#include "tools/output/exit.h"
#include "tools/output/say.h"

static const char *const help[] = {
	"pxtrace run - records what a program does that nobody changed\n"
	"\n"
	"This pxtrace was built without what records (System Events, Trace To Log and Attached\n"
	"Processes, with shared libraries).\n",
	0,
};

static int run(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pxt_complain("run: this pxtrace was built without what records");
	pxt_explain(
	    "it needs System Events, Trace To Log, Attached Processes, and shared libraries");
	return PXT_EXIT_USAGE;
}

const struct pxt_command pxt_cmd_run = {
	.name = "run",
	.summary = "records what a program does that nobody changed",
	.help = help,
	.run = run,
};
