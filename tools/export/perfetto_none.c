/* SPDX-License-Identifier: MIT */
/* perfetto_none.c - stands for export/perfetto.c where protobuf-c was not there at the build. */
#include "tools/export/export.h"

#include "tools/command/command.h"
#include "tools/output/out.h"

static const char *const help[] = {
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

static int run(int argc, char **argv)
{
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return pxt_help(help);
	pxt_complain("export perfetto: this pxtrace was built without protobuf-c");
	pxt_explain("`pxtrace export perfetto --help` tells how to get it");
	return PXT_EXIT_USAGE;
}

const struct pxt_command pxt_export_perfetto = {
	.name = "perfetto",
	.summary = "a trace for ui.perfetto.dev (not in this build)",
	.help = help,
	.run = run,
};
