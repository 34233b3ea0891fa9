/* SPDX-License-Identifier: MIT */
/* cmd_import.c - pxtrace import: what other tracers left, as a log. */
#define _GNU_SOURCE
#include "tools/command/command.h"
#include "tools/import/import.h"
#include "tools/output/out.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDERS_OPEN 16

static const char *const help[] = {
	"pxtrace import - makes a log of another tracer's file\n"
	"\n"
	"usage: pxtrace import shark [OPTION]... -o LOG FILE...\n"
	"       pxtrace import ctf -o LOG FOLDER...\n"
	"       pxtrace import perf|trace-cmd|ftrace [--hz N] -o LOG FILE\n"
	"       pxtrace import systemview [--hz N] -o LOG FILE\n"
	"\n"
	"shark: files of S.Ha.R.K.'s New Tracer, 16 bytes an event. Several files, one of each\n"
	"chunk, become one log, in the order of the stamps. The rate of the stamps is that of\n"
	"the event cycles_per_msec, or of trace_start's second parameter.\n"
	"\n"
	"ctf: traces of LTTng and others that write CTF, of one machine. Runs the command\n"
	"babeltrace2. Every command reads the log: why, report, export perfetto.\n"
	"\n"
	"perf, trace-cmd, ftrace: perf.data, trace.dat, or the text of `perf script`, `trace-cmd\n"
	"report` or tracefs' file trace, whichever of the three words is said. Runs the command\n"
	"perf or trace-cmd for a file of theirs. why needs sched_switch and sched_waking.\n"
	"\n"
	"systemview: a recording of SEGGER SystemView (.SVDat), or the bytes that a target sent.\n"
	"\n"
	"options:\n"
	"  -o, --output LOG  the log; it appears when it is whole\n"
	"      --hz N        all but ctf: rate of the stamps, ticks per second\n"
	"  -h, --help        this\n"
	"\n"
	"  $ pxtrace import shark -o run.ptl 0trace.dat 1trace.dat\n"
	"  $ pxtrace import ctf -o run.ptl ~/lttng-traces/run-20261128-120000\n"
	"  $ perf record -a -e sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new sleep "
	"5\n"
	"  $ pxtrace import perf -o run.ptl perf.data\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a file could not be read, is cut or is none\n"
	"of that tracer, or its command failed: no log is written then; 4 the log could not be\n"
	"written.\n",
	NULL,
};

struct wishes {
	const char *output;
	uint64_t hz;
};

static const struct pxt_option options[] = {
	PXT_OPT_TEXT('o', "output", struct wishes, output),
	PXT_OPT_NUMBER(0, "hz", struct wishes, hz, 1, UINT64_C(1) << 40),
	PXT_OPT_END,
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

/* What babeltrace2 would wait at for ever. */
static int find_other(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)where;
	if (type != FTW_F || S_ISREG(st->st_mode))
		return 0;
	pxt_complain("import ctf: %s: is no regular file", path);
	return 1;
}

/*
 * Babeltrace2 reads a trace, and our plugin's sink.ptrace.log (tools/babeltrace/) writes the log.
 *
 * So a program that reads no CTF needs no library that does.
 */
static int import_ctf(char *const *inputs, int count, const char *output)
{
	/* As the standard wants them: nobody writes to them. */
	static char sink_class[] = "--component=log:sink.ptrace.log";
	static char params[] = "--params";
	char **words;
	char *path = NULL;
	bool good = false;
	int used = 0;
	pid_t child;

	for (int i = 0; i < count; i++) {
		if (nftw(inputs[i], find_other, FOLDERS_OPEN, 0) > 0)
			return PXT_EXIT_LOG;
	}
	words = pxt_must(calloc((size_t)count + 4, sizeof *words));
	if (!pxt_outfile_check(output)) {
		free(words);
		return PXT_EXIT_OUTPUT;
	}
	for (; used < count; used++) {
		/* Whatever its first letter is, it is no option. */
		if (*inputs[used] != '/')
			pxt_btrun_put(&words[used], "./");
		pxt_btrun_put(&words[used], inputs[used]);
	}
	pxt_btrun_put(&path, "path=");
	pxt_btrun_put_string(&path, output);
	words[used++] = sink_class;
	words[used++] = params;
	words[used++] = path;
	child = pxt_btrun_start("import ctf", words);
	if (child >= 0)
		good = pxt_btrun_wait("import ctf", child);
	while (count-- > 0)
		free(words[count]);
	free(words);
	free(path);
	return good ? PXT_EXIT_OK : PXT_EXIT_LOG;
}

static int run(int argc, char **argv)
{
	struct wishes wishes = { 0 };
	int status = pxt_options_read(&pxt_cmd_import, &wishes, argc, argv);

	if (status >= 0)
		return status;
	const char *tracer = optind < argc ? argv[optind] : "";
	const bool ctf = strcmp(tracer, "ctf") == 0;
	const bool of_linux = strcmp(tracer, "perf") == 0 || strcmp(tracer, "trace-cmd") == 0 ||
	                      strcmp(tracer, "ftrace") == 0;
	const bool sysview = strcmp(tracer, "systemview") == 0;
	if (!ctf && !of_linux && !sysview && strcmp(tracer, "shark") != 0) {
		pxt_complain("import: of which tracer? shark, ctf, perf, trace-cmd, ftrace and "
		             "systemview are known");
		return pxt_usage("import");
	}
	if (ctf && wishes.hz) {
		pxt_complain("import ctf: CTF says the rate of its stamps itself: no --hz");
		return pxt_usage("import");
	}
	if (!wishes.output || optind + 1 == argc) {
		pxt_complain(
		    wishes.output ? "import: which files?" : "import: into which log? (-o LOG)");
		return pxt_usage("import");
	}
	if ((of_linux || sysview) && optind + 2 != argc) {
		pxt_complain("import %s: one file: each has stamps of its own", tracer);
		return pxt_usage("import");
	}
	if (sysview)
		return pxt_sysview_import(argv[optind + 1], wishes.hz, wishes.output);
	if (of_linux)
		return pxt_linux_import(argv[optind + 1], wishes.hz, wishes.output);
	if (ctf)
		return import_ctf(&argv[optind + 1], argc - optind - 1, wishes.output);
	struct pxt_shark shark = { .hz = wishes.hz };
	return import(&shark, &argv[optind + 1], argc - optind - 1, wishes.output);
}

const struct pxt_command pxt_cmd_import = {
	.name = "import",
	.summary = "makes a log of another tracer's file",
	.help = help,
	.options = options,
	.run = run,
};
