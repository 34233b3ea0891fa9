/* SPDX-License-Identifier: MIT */
/* cmd_snapshot.c - pxtrace snapshot: what a stream of another process holds, as a complete log. */
#include "tools/command/command.h"
#include "tools/command/options.h"
#include "tools/output/say.h"
#include "tools/remote/snapshot.h"

#include <getopt.h>

static const char *const help[] = {
	"pxtrace snapshot - saves what a stream of a running program holds\n"
	"\n"
	"usage: pxtrace snapshot NAME -o LOG\n"
	"\n"
	"The newest events of a flight recorder (a stream that overwrites), or what waits in any\n"
	"other stream, as a complete log, which every other command reads. The program goes on\n"
	"recording meanwhile, at no cost to its trace points, and the stream keeps what it has.\n"
	"NAME is a name that `pxtrace ps` shows, or, with a slash, the path of a socket.\n"
	"\n"
	"options:\n"
	"  -o, --output LOG  the log to write (-: standard output); it appears when it is whole\n"
	"  -q, --quiet       says nothing where all went well\n"
	"  -h, --help        this\n"
	"\n"
	"example: what happened in the last moments?\n"
	"\n"
	"  $ pxtrace snapshot machine -o now.ptl\n"
	"  $ pxtrace why now.ptl\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 the stream could not be reached, or "
	"refused;\n"
	"4 the log could not be written.\n",
	NULL,
};

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int wrong(const char *text)
{
	pxt_complain("snapshot: %s", text);
	return pxt_usage("snapshot");
}

static int run(int argc, char **argv)
{
	struct pxt_snapshot s = { 0 };
	int code;

	while ((code = getopt_long(argc, argv, ":o:qh", options, NULL)) != -1) {
		if (code == 'h')
			return pxt_help(help);
		if (code == '?' || code == ':')
			return pxt_option_error("snapshot", code, argv, options);
		if (code == 'o')
			s.output = optarg;
		else
			s.quiet = true;
	}
	if (optind == argc)
		return wrong("of which stream? (`pxtrace ps` shows them)");
	if (argc - optind > 1)
		return wrong("one stream at a time");
	if (!s.output)
		return wrong("into which log? e.g. -o now.ptl");
	s.name = argv[optind];
	return pxt_snapshot_save(&s);
}

const struct pxt_command pxt_cmd_snapshot = {
	.name = "snapshot",
	.summary = "saves what such a stream holds as a log",
	.help = help,
	.run = run,
};
