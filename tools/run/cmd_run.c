/* SPDX-License-Identifier: MIT */
/* cmd_run.c - pxtrace run: a program that nobody changed, recorded from its begin to its end. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "tools/command/command.h"
#include "tools/command/options.h"
#include "tools/merge/merge.h"
#include "tools/output/exit.h"
#include "tools/output/outfile.h"
#include "tools/output/say.h"
#include "tools/output/when.h"
#include "tools/run/groups.h"
#include "tools/run/program.h"
#include "tools/run/recorder.h"
#include "tools/run/summary.h"
#include "tools/sched/schedwatch.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace run - records what a program does that nobody changed\n"
	"\n"
	"usage: pxtrace run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"\n"
	"Locks and who waits for them, calls that may block, threads, processes: recorded in\n"
	"the program and in all that it starts, by a library that is loaded before its own.\n"
	"Output and exit status are the program's. At its end a summary, on standard error.\n"
	"\n",
	"options:\n"
	"  -o, --output LOG  the log (PROGRAM.ptl)\n"
	"      --only GROUPS mutex, cond, sync, locks (all three), calls, threads, signals,\n"
	"                    functions; several with commas\n"
	"      --contended   locks only where a thread has to wait: next to no cost otherwise\n"
	"      --stack MS    waits longer than MS milliseconds tell the functions that called\n"
	"      --for T       ends the program after T: 10s, 500ms (by SIGTERM)\n"
	"      --size BYTES  at most that much log: 64M; recording stops when it is full\n"
	"      --ring        with --size: the newest events instead of the first\n"
	"      --buffer BYTES   memory of each process in which events wait to be taken (4M; of\n"
	"                    a forked child an eighth)\n"
	"  -q, --quiet       no summary\n"
	"  -h, --help        this\n"
	"\n",
	"example: which lock costs this server its time?\n"
	"\n"
	"  $ pxtrace run -o run.ptl -- redis-server --io-threads 2\n"
	"  $ pxtrace why run.ptl\n"
	"\n"
	"exit status: the program's, 128 and the number of the signal that ended it; 1 wrong\n"
	"command line; 4 the log could not be written; 126 the program could not be started; 127\n"
	"there is none of that name.\n",
	NULL,
};

/* Of a path; of a variable, which may name several. */
#define PATH_BYTES     4096
#define VARIABLE_BYTES 16384

struct run {
	const char *output;
	const char *buffer;
	uint64_t types;
	uint64_t size;
	uint64_t stack_us;
	uint64_t limit_ns; /* --for; 0: none */
	bool contended;
	bool ring;
	bool quiet;
	struct pxt_program program;
	struct pxt_recorder recorder;
	struct pxt_schedwatch *watch; /* NULL: the scheduler tells nothing */
	struct pxt_outfile file;      /* of the program's own events */
	char own[PATH_BYTES + 16];    /* its name, where the scheduler's come to them ... */
	char sched[PATH_BYTES + 16];  /* ... from here */
	char library[PATH_BYTES];
	char name[PATH_BYTES]; /* of the log, where none was given */
};

/* ---- The library that is loaded ---- */

static bool try_library(struct run *r, const char *folder, const char *below)
{
	int bytes =
	    snprintf(r->library, sizeof r->library, "%s/%s/libptrace-preload.so", folder, below);

	return bytes < (int)sizeof r->library && access(r->library, R_OK) == 0;
}

static bool find_library(struct run *r)
{
	const char *given = getenv("PXTRACE_PRELOAD");
	char folder[PATH_BYTES - 64] = "";
	char *slash;

	if (given && *given) {
		(void)snprintf(r->library, sizeof r->library, "%s", given);
		if (access(r->library, R_OK) == 0)
			return true;
		pxt_complain("run: %s (PXTRACE_PRELOAD): %s", given, strerror(errno));
		return false;
	}
	if (readlink("/proc/self/exe", folder, sizeof folder - 1) > 0 &&
	    (slash = strrchr(folder, '/')) != NULL) {
		*slash = '\0';
		/* As it is installed; as it is built. */
		if (try_library(r, folder, PXTRACE_LIBRARY_DIR) ||
		    try_library(r, folder, "../sysevents"))
			return true;
	}
	pxt_complain("run: libptrace-preload.so is not where pxtrace is installed");
	pxt_explain("PXTRACE_PRELOAD=/path/to/libptrace-preload.so says where else it is");
	return false;
}

/* ---- The program's environment ---- */

#define VARIABLES 8

struct variables {
	char text[VARIABLES][VARIABLE_BYTES];
	char *list[VARIABLES + 1];
	unsigned count;
};

static void set(struct variables *variables, const char *name, const char *value)
{
	unsigned at = variables->count++;

	if (snprintf(variables->text[at], VARIABLE_BYTES, "%s=%s", name, value) >= VARIABLE_BYTES)
		pxt_complain(
		    "run: %s is cut, as it would be longer than %d bytes", name, VARIABLE_BYTES);
	variables->list[at] = variables->text[at];
}

static void set_number(struct variables *variables, const char *name, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%" PRIu64, value);
	set(variables, name, text);
}

/* Others' libraries come after ours. */
static void set_preload(const struct run *r, struct variables *variables)
{
	const char *others = getenv("LD_PRELOAD");
	char text[VARIABLE_BYTES];
	int bytes;

	others = others ? others : "";
	bytes = snprintf(text, sizeof text, "%s%s%s", r->library, *others ? ":" : "", others);
	if (bytes < (int)sizeof text)
		set(variables, "LD_PRELOAD", text);
	else
		set(variables, "LD_PRELOAD", r->library);
}

static void set_all(const struct run *r, struct variables *variables)
{
	set_preload(r, variables);
	set(variables, "PXTRACE_ATTACH", r->recorder.name);
	set_number(variables, "PXTRACE_EVENTS", r->types & PXT_GROUPS_TYPES);
	if (r->buffer)
		set(variables, "PXTRACE_RING", r->buffer);
	if (r->contended)
		set(variables, "PXTRACE_CONTENDED", "1");
	if (r->stack_us)
		set_number(variables, "PXTRACE_STACK_US", r->stack_us);
}

/* ---- The run ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Until the program ends; its status. */
static int await(struct run *r)
{
	struct pollfd wakes[2] = { { .events = POLLIN }, { .events = POLLIN } };
	uint64_t limit = r->limit_ns ? now_ns() + r->limit_ns : UINT64_MAX;
	int status = PXT_EXIT_LOG;

	wakes[0].fd = (int)syscall(SYS_pidfd_open, r->program.pid, 0);
	wakes[1].fd = r->watch ? pxt_schedwatch_fd(r->watch) : -1;
	while (!pxt_program_ended(&r->program, &status)) {
		/* Without such a descriptor the program is looked after often. */
		(void)poll(wakes, 2, wakes[0].fd < 0 ? 5 : PXT_SCHEDWATCH_MS);
		if (r->watch)
			(void)pxt_schedwatch_poll(r->watch);
		if (now_ns() < limit)
			continue;
		(void)kill(r->program.pid, SIGTERM);
		limit = UINT64_MAX;
	}
	if (wakes[0].fd >= 0)
		(void)close(wakes[0].fd);
	return status;
}

static int begin(struct run *r)
{
	int status;

	pxt_program_forward(&r->program);
	status = pxt_program_begin(&r->program);
	return status ? status : await(r);
}

/* As it would run without this command. */
static int run_untraced(struct run *r)
{
	char *const none[] = { NULL };

	return pxt_program_prepare(&r->program, none) ? begin(r) : PXT_PROGRAM_NOT_STARTED;
}

/* What the kernel keeps to itself is said once; all else is recorded. */
static void watch_scheduler(struct run *r)
{
	struct pxt_schedtold told = { 0 };
	struct pxt_schedsay say;

	(void)snprintf(r->sched, sizeof r->sched, "%s.sched.ptl", r->output);
	(void)snprintf(r->own, sizeof r->own, "%s.own.ptl", r->output);
	if (!(r->types & PXT_GROUPS_SCHED) || strcmp(r->output, "-") == 0)
		return;
	r->watch = pxt_schedwatch_open(r->program.pid, r->sched, PXT_SCHEDLEVEL_POINTS, &told);
	if (!r->quiet && pxt_schedsay_missing(&say, &told)) {
		pxt_complain("run: %s", say.what);
		if (*say.how)
			pxt_explain("%s", say.how);
	}
}

/* Both logs as one; where that fails, both stay. */
static bool add_scheduler(struct run *r)
{
	char *paths[] = { r->own, r->sched };
	int error = pxt_schedwatch_end(r->watch, NULL);

	if (error) {
		pxt_complain("run: %s: %s; what the scheduler did is not in the log", r->sched,
		    strerror(error));
		if (rename(r->own, r->output) == 0)
			return true;
	} else if (pxt_merge_files(r->output, paths, 2) == PXT_EXIT_OK) {
		(void)unlink(r->own);
		(void)unlink(r->sched);
		return true;
	}
	pxt_complain("run: the logs stay apart: %s, %s", r->own, r->sched);
	return false;
}

/* The log, and what it came to.  The program's status stays, where a log was written at all. */
static int conclude(struct run *r, int status)
{
	static struct pxt_out out = { .fd = STDERR_FILENO };
	struct posix_trace_counts_np counts = { 0 };
	int error = pxt_recorder_close(&r->recorder, &counts);

	if (error)
		pxt_complain("run: %s: %s; what was recorded before is in the log", r->output,
		    strerror(error));
	if (!pxt_outfile_commit(&r->file) || (r->watch && !add_scheduler(r)))
		return status ? status : PXT_EXIT_OUTPUT;
	if (!r->quiet && pxt_summary(&out, r->output, &counts) == PXT_EXIT_OK)
		pxt_out_format(&out, "More: pxtrace why %s\n", r->output);
	pxt_out_flush(&out);
	return status ? status : error ? PXT_EXIT_OUTPUT : PXT_EXIT_OK;
}

static int run_traced(struct run *r)
{
	static struct variables variables;
	const char *path;

	pxt_recorder_name(&r->recorder);
	set_all(r, &variables);
	if (!pxt_outfile_check(r->output))
		return PXT_EXIT_OUTPUT;
	if (!pxt_program_prepare(&r->program, variables.list))
		return PXT_PROGRAM_NOT_STARTED;
	watch_scheduler(r);
	path = r->watch ? r->own : r->output;
	if (pxt_outfile_open(&r->file, path)) {
		if (pxt_recorder_open(&r->recorder, r->file.fd, path, r->size, r->ring))
			return conclude(r, begin(r));
		pxt_outfile_discard(&r->file);
	}
	if (r->watch)
		pxt_schedwatch_abandon(r->watch);
	return PXT_EXIT_OUTPUT;
}

static int run_program(struct run *r, char **argv)
{
	int status = pxt_program_find(&r->program, argv);

	if (status)
		return status;
	if (!r->output) {
		const char *slash = strrchr(r->program.path, '/');

		(void)snprintf(r->name, sizeof r->name, "%.*s.ptl", (int)sizeof r->name - 8,
		    slash ? slash + 1 : r->program.path);
		r->output = r->name;
	}
	if (!find_library(r))
		return PXT_EXIT_LOG;
	return pxt_program_traceable(&r->program, r->library) ? run_traced(r) : run_untraced(r);
}

/* ---- The command line ---- */

enum {
	OPT_ONLY = 400,
	OPT_CONTENDED,
	OPT_STACK,
	OPT_FOR,
	OPT_SIZE,
	OPT_RING,
	OPT_BUFFER
};

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "contended", no_argument, NULL, OPT_CONTENDED },
	{ "stack", required_argument, NULL, OPT_STACK },
	{ "for", required_argument, NULL, OPT_FOR },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "ring", no_argument, NULL, OPT_RING },
	{ "buffer", required_argument, NULL, OPT_BUFFER },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool take_time(uint64_t *ns, const char *value)
{
	struct pxt_when when = { 0 };

	if (pxt_when_parse(value, &when) && !when.absolute && when.ns > 0) {
		*ns = (uint64_t)when.ns;
		return true;
	}
	pxt_complain("run: --for wants a duration (10s, 500ms), not \"%s\"", value);
	return false;
}

static bool take_buffer(struct run *r, const char *value)
{
	static char text[24];
	uint64_t bytes;

	if (!pxt_option_bytes(&bytes, value, "--buffer", 65536))
		return false;
	(void)snprintf(text, sizeof text, "%" PRIu64, bytes);
	r->buffer = text;
	return true;
}

static bool take_option(struct run *r, int code, const char *value)
{
	uint64_t ms;

	switch (code) {
	case 'o':
		r->output = value;
		return true;
	case 'q':
		return r->quiet = true;
	case OPT_ONLY:
		return pxt_groups_parse(value, &r->types);
	case OPT_CONTENDED:
		return r->contended = true;
	case OPT_STACK:
		if (!pxt_option_number(&ms, value, "--stack", 1, 3600000))
			return false;
		r->stack_us = ms * 1000u;
		return true;
	case OPT_FOR:
		return take_time(&r->limit_ns, value);
	case OPT_SIZE:
		return pxt_option_bytes(&r->size, value, "--size", 65536);
	case OPT_RING:
		return r->ring = true;
	default:
		return take_buffer(r, value);
	}
}

static int run(int argc, char **argv)
{
	static struct run r = { .types = PXT_GROUPS_ALL };
	int code;

	while ((code = getopt_long(argc, argv, "+:o:qh", options, NULL)) != -1) {
		if (code == 'h')
			return pxt_help(help);
		if (code == '?' || code == ':')
			return pxt_option_error("run", code, argv, options);
		if (!take_option(&r, code, optarg))
			return pxt_usage("run");
	}
	if (optind == argc) {
		pxt_complain("run: which program?");
		return pxt_usage("run");
	}
	if (r.ring && !r.size)
		r.size = UINT64_C(64) << 20;
	return run_program(&r, argv + optind);
}

const struct pxt_command pxt_cmd_run = {
	.name = "run",
	.summary = "records what a program does that nobody changed",
	.help = help,
	.run = run,
};
