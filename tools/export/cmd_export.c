/* SPDX-License-Identifier: MIT */
/* cmd_export.c - pxtrace export: the table of formats. */
#include "tools/command/command.h"
#include "tools/export/export.h"
#include "tools/output/out.h"

#include <string.h>
#include <unistd.h>

#ifndef PXTRACE_HAS_PERFETTO

/* In place of perfetto.c, where protobuf-c was not there at the build. */
static const char *const perfetto_help[] = {
	"pxtrace export perfetto - writes a trace for the Perfetto viewer\n"
	"\n"
	"This pxtrace was built without it, because protobuf-c was not there. To get it, install\n"
	"protobuf-c with its compiler and configure and build again:\n"
	"\n"
	"  $ apt-get install libprotobuf-c-dev protobuf-c-compiler      (Debian, Ubuntu)\n"
	"  $ dnf install protobuf-c-devel protobuf-c-compiler           (Fedora)\n"
	"  $ cmake -S . -B build && cmake --build build\n",
	NULL,
};

static int perfetto_none(int argc, char **argv)
{
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return pxt_help(perfetto_help);
	pxt_complain("export perfetto: this pxtrace was built without protobuf-c");
	pxt_explain("`pxtrace export perfetto --help` tells how to get it");
	return PXT_EXIT_USAGE;
}

const struct pxt_command pxt_export_perfetto = {
	.name = "perfetto",
	.summary = "a trace for ui.perfetto.dev (not in this build)",
	.help = perfetto_help,
	.run = perfetto_none,
};

#endif

/* A format is a line here. */
static const struct pxt_command *const formats[] = {
	&pxt_export_ctf,
	&pxt_export_csv,
	&pxt_export_perfetto,
	&pxt_export_chrome,
	&pxt_export_speedscope,
	&pxt_export_folded,
	NULL,
};

static const char help_head[] = "pxtrace export - writes logs in the formats of other programs\n"
                                "\n"
                                "usage: pxtrace export FORMAT [OPTION]... LOG...\n"
                                "\n"
                                "formats:\n";
static const char help_tail[] =
    "\n"
    "`pxtrace export FORMAT --help` tells about one of them: its options, what is in it, an\n"
    "example. All take -o FILE (which appears when it is finished, never half-written), and\n"
    "all but ctf choose events by --event, --thread, --from and --to.\n"
    "\n"
    "example: a run without its first two minutes, for a spreadsheet or a database\n"
    "\n"
    "  $ pxtrace export csv --from 2min -o run.csv run.ptl\n"
    "\n" PXT_HELP_STATUS;

/* The list is made of the table, so it is not among the texts of struct pxt_command. */
static int show_help(void)
{
	static struct pxt_out out;

	out.fd = STDOUT_FILENO;
	pxt_out_text(&out, help_head);
	for (size_t i = 0; formats[i]; i++)
		pxt_out_format(&out, "  %-10s %s\n", formats[i]->name, formats[i]->summary);
	pxt_out_text(&out, help_tail);
	return pxt_finish(&out);
}

static const struct pxt_command_table table = { .list = formats,
	.what = "format",
	.before = "pxtrace export",
	.usual = "csv",
	.usage = "export" };

static int run(int argc, char **argv)
{
	if (argc < 2) {
		pxt_complain("export: which format?");
		return pxt_usage("export");
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return show_help();
	for (size_t i = 0; formats[i]; i++)
		if (strcmp(argv[1], formats[i]->name) == 0)
			return formats[i]->run(argc - 1, argv + 1);
	return pxt_command_unknown(&table, argc, argv);
}

const struct pxt_command pxt_cmd_export = {
	.name = "export",
	.summary = "writes logs in the formats of other programs",
	.run = run,
};
