/* SPDX-License-Identifier: MIT */
/* cmd_import.c - pxtrace import: what other tracers left, as a log. */
#include "tools/command/command.h"
#include "tools/import/ctf.h"
#include "tools/import/shark.h"
#include "tools/output/say.h"

#include <getopt.h>
#include <string.h>

static const char *const help[] = {
	"pxtrace import - makes a log of another tracer's file\n"
	"\n"
	"usage: pxtrace import shark [OPTION]... -o LOG FILE...\n"
	"       pxtrace import ctf -o LOG FOLDER...\n"
	"\n"
	"shark: files of S.Ha.R.K.'s New Tracer, 16 bytes an event. Several files, one of each\n"
	"chunk, become one log, in the order of the stamps. The rate of the stamps is that of\n"
	"the event cycles_per_msec, or of trace_start's second parameter.\n"
	"\n"
	"ctf: traces of LTTng and others that write CTF, of one machine. Runs the command\n"
	"babeltrace2. Every command reads the log: why, report, export perfetto.\n"
	"\n"
	"options:\n"
	"  -o, --output LOG  the log; it appears when it is whole\n"
	"      --hz N        shark: rate of the stamps, ticks per second\n"
	"  -h, --help        this\n"
	"\n"
	"  $ pxtrace import shark -o run.ptl 0trace.dat 1trace.dat\n"
	"  $ pxtrace import ctf -o run.ptl ~/lttng-traces/run-20261128-120000\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a file could not be read, is cut or is none\n"
	"of that tracer, or babeltrace2 failed: no log is written then; 4 the log could not be\n"
	"written.\n",
	NULL,
};

enum {
	OPT_HZ = 400
};

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "hz", required_argument, NULL, OPT_HZ },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int import(struct pxt_shark *shark, char **files, int count, const char *output)
{
	int status = PXT_EXIT_OK;

	for (int i = 0; i < count && status == PXT_EXIT_OK; i++)
		status = pxt_shark_file(shark, files[i]);
	if (status == PXT_EXIT_OK)
		status = pxt_shark_write(shark, "import", output);
	pxt_shark_free(shark);
	return status;
}

static int run(int argc, char **argv)
{
	struct pxt_shark shark = { .hz = 0 };
	const char *output = NULL;
	int code;

	while ((code = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		if (code == 'h')
			return pxt_help(help);
		if (code == 'o')
			output = optarg;
		else if (code != OPT_HZ)
			return pxt_option_error("import", code, argv, options);
		else if (!pxt_option_number(&shark.hz, optarg, "--hz", 1, UINT64_C(1) << 40))
			return pxt_usage("import");
	}
	const bool ctf = optind < argc && strcmp(argv[optind], "ctf") == 0;
	if (optind == argc || (!ctf && strcmp(argv[optind], "shark") != 0)) {
		pxt_complain("import: of which tracer? shark and ctf are known");
		return pxt_usage("import");
	}
	if (ctf && shark.hz) {
		pxt_complain("import ctf: CTF says the rate of its stamps itself: no --hz");
		return pxt_usage("import");
	}
	if (!output || optind + 1 == argc) {
		pxt_complain(output ? "import: which files?" : "import: into which log? (-o LOG)");
		return pxt_usage("import");
	}
	if (ctf)
		return pxt_ctf_import(&argv[optind + 1], argc - optind - 1, output);
	return import(&shark, &argv[optind + 1], argc - optind - 1, output);
}

const struct pxt_command pxt_cmd_import = {
	.name = "import",
	.summary = "makes a log of another tracer's file",
	.help = help,
	.run = run,
};
