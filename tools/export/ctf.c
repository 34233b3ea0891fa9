/* SPDX-License-Identifier: MIT */
/*
 * ctf.c - pxtrace export ctf: babeltrace2 reads the logs through our plugin and writes CTF 1.8; with --ctf2 ctf2.c
 * writes CTF 2 itself.
 *
 * The logs are opened here first, so that what is wrong with one is said as everywhere, and not in
 * the words of a graph of components.
 */
#define _XOPEN_SOURCE 700 /* nftw() */
#include "tools/command/command.h"
#include "tools/export/export.h"
#include "tools/output/out.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 4096u
#define LOOK_NS    20000000

struct ctf {
	struct pxt_reader reader;
	const char *output;
	const char *layout;
	const char *clock;
	bool incomplete;
	bool strict;
	bool ctf2;
};

/* ---- The command line of babeltrace2 ---- */

/* Each file, also of a log in several: a file is whole in itself. */
static char *source_params(const struct ctf *ctf)
{
	char *text = NULL;

	for (unsigned i = 0; i < ctf->reader.set_count; i++) {
		const struct pxt_logset *set = &ctf->reader.sets[i];

		for (unsigned k = 0; k == 0 || k < set->count; k++) {
			pxt_btrun_put(&text, text ? "," : "inputs=[");
			pxt_btrun_put_string(&text, set->files ? set->files[k] : set->path);
		}
	}
	pxt_btrun_put(&text, "],layout=");
	pxt_btrun_put_string(&text, ctf->layout);
	pxt_btrun_put(&text, ",clock=");
	pxt_btrun_put_string(&text, ctf->clock);
	if (ctf->incomplete)
		pxt_btrun_put(&text, ",incomplete=yes");
	return text;
}

static char *sink_params(const struct ctf *ctf, const char *folder)
{
	char *text = NULL;

	pxt_btrun_put(&text, "quiet=yes,path=");
	pxt_btrun_put_string(&text, folder);
	if (ctf->reader.set_count == 1 && ctf->reader.sets[0].count <= 1)
		pxt_btrun_put(&text, ",assume-single-trace=yes");
	return text;
}

/* ---- Running it ---- */

static uint64_t bytes_found;

static int visit(const char *path, const struct stat *state, int kind, struct FTW *at)
{
	(void)path;
	(void)at;
	if (kind == FTW_F)
		bytes_found += (uint64_t)state->st_size;
	return 0;
}

/* Of all files in @folder. */
static uint64_t bytes_in(const char *folder)
{
	bytes_found = 0;
	(void)nftw(folder, visit, 8, FTW_PHYS);
	return bytes_found;
}

/* How far it is only shows in what it has written. */
static void watch(pid_t child, const char *folder)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	struct pxt_progress progress;
	siginfo_t ended;

	pxt_progress_begin(&progress, "export ctf", "bytes", 0, false);
	while (pxt_progress_watched(&progress)) {
		ended.si_pid = 0;
		if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
		    ended.si_pid != 0)
			break;
		progress.done = bytes_in(folder);
		pxt_progress_look(&progress);
		(void)nanosleep(&pause, NULL);
	}
	pxt_progress_end(&progress);
}

static int convert(const struct ctf *ctf, const char *folder)
{
	/* As the standard wants them: nobody writes to them. */
	static char source_class[] = "--component=log:source.ptrace.log";
	static char sink_class[] = "--component=ctf:sink.ctf.fs";
	static char params[] = "--params";
	char *source = source_params(ctf);
	char *sink = sink_params(ctf, folder);
	char *const words[] = { source_class, params, source, sink_class, params, sink, NULL };
	pid_t child = pxt_btrun_start("export ctf", words);
	bool good = false;

	if (child >= 0) {
		watch(child, folder);
		good = pxt_btrun_wait("export ctf", child);
	}
	free(source);
	free(sink);
	return good ? PXT_EXIT_OK : PXT_EXIT_OUTPUT;
}

/* Into a folder beside the wanted one, from which it moves when all is there. */
static int write_folder(struct ctf *ctf)
{
	char folder[PATH_BYTES];
	char whole[PATH_BYTES + 8];
	struct stat old;
	bool there = lstat(ctf->output, &old) == 0;

	if (snprintf(folder, sizeof folder, "%s.XXXXXX", ctf->output) >= (int)sizeof folder ||
	    (rmdir(ctf->output) != 0 && errno != ENOENT)) {
		pxt_complain("%s: %s", ctf->output,
		    errno == ENOTDIR ? "is no folder" : "is not empty; name a new folder");
		return PXT_EXIT_OUTPUT;
	}
	if (!mkdtemp(folder)) {
		pxt_complain("%s: %s", ctf->output, strerror(errno));
		return PXT_EXIT_OUTPUT;
	}
	(void)snprintf(whole, sizeof whole, "%s/ctf", folder);
	int status = ctf->ctf2 ? pxt_ctf2_write(&ctf->reader, whole) : convert(ctf, whole);
	/* Who could not look into the empty one does not see this one. */
	if (status == PXT_EXIT_OK && there)
		(void)chmod(whole, old.st_mode & (old.st_uid == geteuid() ? 0777 : 0755));
	if (status == PXT_EXIT_OK && rename(whole, ctf->output) != 0) {
		pxt_complain("%s: %s", ctf->output, strerror(errno));
		status = PXT_EXIT_OUTPUT;
	}
	if (rmdir(folder) != 0)
		pxt_explain("what was written is left in %s", folder);
	return status;
}

/* ---- The command line ---- */

static bool take_word(const char **to, const char *option, const char *value, const char *other)
{
	*to = value;
	if (strcmp(value, other) == 0 ||
	    strcmp(value, strcmp(option, "--clock") ? "ust" : "ticks") == 0)
		return true;
	pxt_complain("%s is %s or %s, not \"%s\"", option,
	    strcmp(option, "--clock") ? "ust" : "ticks", other, value);
	return false;
}

static bool take_layout(void *self, char *value)
{
	return take_word(&((struct ctf *)self)->layout, "--layout", value, "kernel");
}

static bool take_clock(void *self, char *value)
{
	return take_word(&((struct ctf *)self)->clock, "--clock", value, "corrected");
}

static const struct pxt_option options[] = {
	PXT_OPT_TEXT('o', "output", struct ctf, output),
	PXT_OPT_TAKE(0, "layout", take_layout),
	PXT_OPT_TAKE(0, "clock", take_clock),
	PXT_OPT_FLAG(0, "ctf2", struct ctf, ctf2),
	PXT_OPT_FLAG(0, "incomplete", struct ctf, incomplete),
	PXT_OPT_FLAG(0, "strict", struct ctf, strict),
	PXT_OPT_END,
};

static const char *const help[] = {
	"pxtrace export ctf - writes logs as CTF, for Trace Compass and babeltrace2\n"
	"\n"
	"usage: pxtrace export ctf [OPTION]... -o FOLDER LOG...\n"
	"\n"
	"CTF 1.8, which all readers know: runs the command babeltrace2 with the plugin\n"
	"source.ptrace.log. One log becomes the CTF trace FOLDER, several become one trace each\n"
	"inside it, and so does each file of a log in several. One block of a log is one\n"
	"packet; stamps are the counter's own. All events are written; babeltrace2 --begin,\n"
	"--end choose from it.\n"
	"\n"
	"--ctf2 writes CTF 2 instead, for Trace Compass and babeltrace2 from 2.1 on, and needs no\n"
	"other program. Stamps are nanoseconds since 1970. Data that is not as its type's\n"
	"description says, or has none, is a blob.\n"
	"\n",
	"  -o, --output FOLDER   a new folder, or an empty one\n"
	"      --layout ust|kernel\n"
	"                        as a program's trace (the default), or as a kernel's: one stream "
	"a "
	"CPU,\n"
	"                        which fills Trace Compass' views from scheduler events\n"
	"      --clock ticks|corrected\n"
	"                        the counter at its nominal rate (the default), or nanoseconds on "
	"the\n"
	"                        time line that pxtrace shows\n"
	"      --ctf2            CTF 2\n"
	"      --incomplete      also a log whose program still runs or has died\n"
	"      --strict          exit status 3 when events were lost\n"
	"  -h, --help            this\n"
	"\n"
	"example:\n"
	"\n"
	"  $ pxtrace export ctf -o run.ctf run.ptl\n"
	"  $ babeltrace2 run.ctf\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a log could not be read; 3 events were lost\n"
	"(--strict); 4 babeltrace2 is not there or failed, or the output could not be written.\n",
	NULL,
};

static const struct pxt_command line = {
	.name = "export ctf",
	.help = help,
	.options = options,
};

static int run(int argc, char **argv)
{
	static struct ctf ctf;
	int status;

	status = pxt_options_read(&line, &ctf, argc, argv);
	if (status >= 0)
		return status;
	if (ctf.ctf2 && (ctf.layout || (ctf.clock && strcmp(ctf.clock, "corrected") != 0))) {
		pxt_complain("export ctf: --ctf2 has one layout, and the clock \"corrected\"");
		return pxt_usage("export ctf");
	}
	ctf.layout = ctf.layout ? ctf.layout : "ust";
	ctf.clock = ctf.clock ? ctf.clock : "ticks";
	if (optind == argc || !ctf.output) {
		pxt_complain(optind == argc
		                 ? "export ctf: which log?"
		                 : "export ctf: CTF is a folder: say which by -o FOLDER");
		return pxt_usage("export ctf");
	}
	status = pxt_reader_open(&ctf.reader, argv + optind, (unsigned)(argc - optind),
	    ctf.incomplete ? PXT_OPEN_INCOMPLETE : PXT_OPEN_COMPLETE, NULL);
	if (status == PXT_EXIT_OK)
		status = write_folder(&ctf);
	if (status == PXT_EXIT_OK)
		status = pxt_reader_conclude(&ctf.reader, false, ctf.strict);
	pxt_reader_close(&ctf.reader);
	return status;
}

const struct pxt_command pxt_export_ctf = {
	.name = "ctf",
	.summary = "CTF 1.8 for Trace Compass and babeltrace2 (runs babeltrace2), or CTF 2",
	.help = help,
	.run = run,
};
