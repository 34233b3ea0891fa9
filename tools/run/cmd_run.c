/* SPDX-License-Identifier: MIT */
/* cmd_run.c - pxtrace run: a program that nobody changed, recorded from its begin to its end. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "format/ctlsock.h"
#include "tools/command/command.h"
#include "tools/event/event.h"
#include "tools/flight/flight.h"
#include "tools/merge/merge.h"
#include "tools/output/out.h"
#include "tools/read/source.h"
#include "tools/run/recorder.h"
#include "tools/sched/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace run - records what an unchanged program does\n"
	"\n"
	"usage: pxtrace run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"\n"
	"Locks and who waits for them, calls that may block, threads, processes: recorded in\n"
	"the program and in all that it starts, by a library that is loaded before its own.\n"
	"Output and exit status are the program's. At its end a summary, on standard error.\n"
	"\n",
	"options:\n"
	"  -o, --output LOG  the log (PROGRAM.ptl, in the folder where you are)\n"
	"      --only GROUPS groups with commas: mutex, cond, rwlock, spin, sem, barrier, once "
	"(all\n"
	"                    these: locks), futex, threads, children, sleep, timer, signal, file,\n"
	"                    socket, poll, fsync, mq (these: io), alloc, function, calls; of the\n"
	"                    kernel sched, and beside it irq, softirq, block, freq. Behind a +\n"
	"                    what comes to the usual ones, all but alloc and softirq\n"
	"      --all         locks that were free when they were taken are events, too; they are\n"
	"                    counted otherwise\n"
	"      --stack MS    waits longer than MS milliseconds tell all functions that called; 0: "
	"none\n"
	"      --for T       ends the program after T: 10s, 500ms (by SIGTERM)\n"
	"      --children    until the processes that it started have ended, too\n"
	"      --size BYTES  at most that much is recorded: 64M; then recording stops. Half of it\n"
	"                    is the scheduler's; the log of both is not compressed, and larger\n"
	"      --ring        the newest events instead of the first (--size 64M)\n"
	"      --rotate BYTES[,FILES]   the log is a folder of files of that size, of which the\n"
	"                    newest are kept (8); without the scheduler's events. Also by age, or\n"
	"                    by both: 1h,24; 64M,1h,24\n"
	"      --buffer BYTES   memory of each process in which events wait to be taken (4M;\n"
	"                    64K to 1G)\n" PXT_FLIGHT_HELP
	"      --note K=V    is kept in the log, and shown by stat; may be given several times\n"
	"      --no-arguments  the log has the program's name alone of the command line\n"
	"  -q, --quiet       no summary\n"
	"  -h, --help        this\n"
	"\n",
	"example: which lock costs this server its time?\n"
	"\n"
	"  $ pxtrace run -o run.ptl -- redis-server --io-threads 2\n"
	"  $ pxtrace why run.ptl\n"
	"\n"
	"exit status: the program's, 128 and the number of the signal that ended it.  Where it "
	"was\n"
	"not started: 1 wrong command line; 2 no library to load; 4 the log cannot be written; "
	"126\n"
	"it cannot be started; 127 there is none of that name.  124: it goes on after --for.\n",
	NULL,
};

/* How long a program may take to end, once its time is over. */
#define GRACE_NS      INT64_C(5000000000)
/* What `timeout` returns, too. */
#define STATUS_STAYED 124

struct run {
	const char *output;
	struct pxt_preload_wish wish;
	uint64_t size;
	int64_t limit_ns; /* --for; 0: none */
	bool asks_frequency;
	struct pxt_rotate rotate; /* the log is several files, if it is set */
	bool ring;
	bool quiet;
	bool children; /* until they have ended, too */
	struct pxt_flight_wish when;
	struct pxt_flight *flight; /* NULL: all is one log */
	bool replaces;             /* an older log is where this one goes */
	struct pxt_program program;
	struct pxt_preload preload;
	struct pxt_notes notes;
	struct pxt_recorder recorder;
	struct pxt_throttles *throttles; /* NULL: no cgroup tells its CPU time */
	struct pxt_throttle throttled;   /* in the end */
	struct pxt_schedwatch *watch;    /* NULL: the scheduler tells nothing */
	struct pxt_schedtold told;
	struct pxt_outfile file;           /* of the program's own events */
	char parts[PXT_PRELOAD_PATH + 16]; /* a folder, so that nobody else has its names: */
	char own[PXT_PRELOAD_PATH + 32];   /* its name, where the scheduler's come to them ... */
	char sched[PXT_PRELOAD_PATH + 32]; /* ... from here ... */
	char older[PXT_PRELOAD_PATH + 32]; /* ... and, with --ring, here */
	char name[PXT_PRELOAD_PATH];       /* of the log, where none was given */
};

/* ---- The run ---- */

/* Something may have come from the scheduler, or it is time to look. */
static void wait_a_moment(struct run *r, struct pollfd wakes[2])
{
	/* Without a descriptor that tells of the program's end it is looked after often. */
	(void)poll(wakes, 2, wakes[0].fd < 0 ? 5 : PXT_SCHEDWATCH_MS);
	if (r->watch)
		(void)pxt_schedwatch_poll(r->watch);
	if (r->flight) {
		pxt_recorder_flush(&r->recorder);
		pxt_flight_step(r->flight);
	}
}

/* Until the program ends, or its time is over and it does not mind. */
static int await_program(struct run *r, struct pollfd wakes[2])
{
	int64_t limit = r->limit_ns ? pxt_when_monotonic() + r->limit_ns : INT64_MAX;
	bool told = false;
	int status = PXT_EXIT_LOG;

	while (!pxt_program_ended(&r->program, &status)) {
		wait_a_moment(r, wakes);
		if (pxt_when_monotonic() < limit)
			continue;
		if (told) {
			pxt_complain(
			    "run: %s goes on after SIGTERM; the log ends here", r->program.path);
			return STATUS_STAYED;
		}
		(void)kill(r->program.pid, SIGTERM);
		told = true;
		limit = pxt_when_monotonic() + GRACE_NS;
	}
	return status;
}

static int await(struct run *r)
{
	struct pollfd wakes[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int status;

	wakes[0].fd = (int)syscall(SYS_pidfd_open, r->program.pid, 0);
	wakes[1].fd = r->watch ? pxt_schedwatch_fd(r->watch) : -1;
	status = await_program(r, wakes);
	if (wakes[0].fd >= 0)
		(void)close(wakes[0].fd);
	wakes[0].fd = -1;
	while (r->children && pxt_program_has_children())
		wait_a_moment(r, wakes);
	return status;
}

static int begin(struct run *r)
{
	int status;

	pxt_program_forward(&r->program);
	status = pxt_program_begin(&r->program);
	return status ? status : await(r);
}

/* The program waits, with what tells it and those that it starts what to record. */
static bool prepare(struct run *r)
{
	pxt_recorder_name(&r->recorder);
	r->wish.stream = r->recorder.name;
	pxt_preload_set(&r->preload, &r->wish);
	if (!pxt_program_prepare(&r->program, r->preload.list))
		return false;
	if (r->children)
		pxt_program_adopt();
	return true;
}

/* The log is open. */
static int begin_recorded(struct run *r)
{
	pxt_recorder_notes_tell(&r->notes, r->recorder.trid, r->program.argv);
	r->throttles = pxt_throttles_new();
	if (r->watch)
		pxt_schedwatch_throttles(r->watch, r->throttles);
	return begin(r);
}

/* As it would run without this command. */
static int run_untraced(struct run *r)
{
	char *const none[] = { NULL };

	return pxt_program_prepare(&r->program, none) ? begin(r) : PXT_PROGRAM_NOT_STARTED;
}

/* Beside the log, which will be made of what is in it. */
static bool make_parts(struct run *r)
{
	(void)snprintf(r->parts, sizeof r->parts, "%s.XXXXXX", r->output);
	if (!mkdtemp(r->parts)) {
		pxt_complain("run: %s: %s", r->parts, strerror(errno));
		return false;
	}
	(void)snprintf(r->sched, sizeof r->sched, "%s/sched.ptl", r->parts);
	(void)snprintf(r->older, sizeof r->older, "%s/older.ptl", r->parts);
	(void)snprintf(r->own, sizeof r->own, "%s/own.ptl", r->parts);
	return true;
}

static void remove_parts(const struct run *r)
{
	(void)unlink(r->own);
	(void)unlink(r->sched);
	(void)unlink(r->older);
	(void)rmdir(r->parts);
}

static void watch_scheduler(struct run *r)
{
	/* Half of --size; with --ring, two segments of a quarter each. */
	const struct pxt_schedwatch_file file = { .path = r->flight ? NULL : r->sched,
		.limit = r->flight ? 0
		         : r->ring ? r->size / 4
		                   : r->size / 2,
		.groups = r->wish.groups.kernel & PXT_SCHEDGROUP_ALL,
		.other = r->ring ? r->older : NULL };

	_Static_assert(PXT_SCHEDGROUP_ALL == (PXT_GROUP_IRQ | PXT_GROUP_BLOCK |
	                                         PXT_GROUP_FREQUENCY | PXT_GROUP_SOFTIRQ),
	    "groups by the same bits");
	r->watch = pxt_schedwatch_open(r->program.pid, &file, PXT_SCHEDLEVEL_POINTS, &r->told);
	if (!r->watch)
		remove_parts(r);
}

/* What the kernel keeps to itself is said once; all else is recorded. */
static void say_missing(const struct run *r)
{
	struct pxt_schedsay say;

	if (r->asks_frequency && !pxt_schedmachine_has_frequency())
		pxt_complain("run: frequencies are not recorded: this machine does not tell them");
	if (!r->wish.groups.kernel || !pxt_schedsay_missing(&say, &r->told))
		return;
	pxt_complain("run: %s", say.what);
	if (*say.how)
		pxt_explain("%s", say.how);
}

/* Both logs as one; where that fails, both stay. */
static bool add_scheduler(struct run *r)
{
	char *paths[] = { r->own, r->sched, r->older };
	int error = pxt_schedwatch_end(r->watch, &r->told);

	if (error) {
		pxt_complain("run: %s: %s; what the scheduler did is not in the log", r->sched,
		    strerror(error));
		if (rename(r->own, r->output) == 0) {
			remove_parts(r);
			return true;
		}
	} else if (pxt_merge_files(r->output, paths, 1 + r->told.segments,
	               r->ring ? r->told.beyond : 0) == PXT_EXIT_OK) {
		remove_parts(r);
		return true;
	}
	pxt_complain("run: the logs stay apart: %s, %s%s%s", r->own, r->sched,
	    r->told.segments > 1 ? ", " : "", r->told.segments > 1 ? r->older : "");
	return false;
}

static void summarize(struct run *r, const struct pxt_recorder_sum *sum)
{
	static struct pxt_out out;
	const struct pxt_summary summary = { .path = r->output,
		.replaced = r->replaces,
		.ring = r->ring,
		.sum = sum,
		.throttled = r->throttled,
		.sched_lost = r->told.lost,
		.sched_beyond = r->told.beyond,
		.sched_unended = r->told.unended };

	out.fd = STDERR_FILENO;
	out.colour = pxt_colour_wanted(NULL, STDERR_FILENO);
	say_missing(r);
	if (pxt_summary(&out, &summary) == PXT_EXIT_OK) {
		pxt_out_text(&out, "More: pxtrace why ");
		pxt_out_escaped(&out, r->output, strlen(r->output));
		pxt_out_char(&out, '\n');
	}
	pxt_out_flush(&out);
}

/* The log, and what it came to.  The status is the program's, whatever became of the log. */
static int conclude(struct run *r, int status)
{
	struct pxt_recorder_sum sum;
	bool whole;

	pxt_recorder_notes_tell_status(r->recorder.trid, status);
	if (r->throttles)
		(void)pxt_throttles_look(r->throttles, &r->throttled);
	pxt_recorder_notes_tell_throttled(r->recorder.trid, &r->throttled);
	pxt_recorder_close(&r->recorder, &sum, !r->quiet);
	if (sum.error)
		pxt_complain("run: %s: %s; what was recorded before is in the log", r->output,
		    strerror(sum.error));
	whole = r->recorder.rotation ||
	        (pxt_outfile_commit(&r->file) && (!r->watch || add_scheduler(r)));
	pxt_throttles_free(r->throttles);
	/* The log is there.  Who does not want to wait for the summary may end it. */
	pxt_program_forward_no_more();
	if (whole && !r->quiet)
		summarize(r, &sum);
	pxt_recorder_free(&sum);
	return status;
}

/* ---- Only what is around something ---- */

static bool watches_wakeups(const struct run *r)
{
	if (r->when.condition.kind != PXT_CONDITION_WAKEUP ||
	    (r->watch && r->told.level == PXT_SCHEDLEVEL_POINTS))
		return true;
	pxt_complain(
	    "run: --when: \"wakeup\" wants the scheduler's tracepoints, which are not recorded");
	say_missing(r);
	return false;
}

/* Both logs grow in memory. */
static bool begin_flight(struct run *r)
{
	int fd = memfd_create("pxtrace-run", MFD_CLOEXEC);
	int own = fd < 0 ? -1 : dup(fd);
	int sched = r->watch ? dup(pxt_schedwatch_memory(r->watch)) : -1;

	if (own < 0 || (r->watch && sched < 0)) {
		pxt_complain("run: no memory for the events: %s", strerror(errno));
		return false;
	}
	if (!watches_wakeups(r) || !pxt_recorder_open(&r->recorder, fd, r->output, 0, false))
		return false;
	pxt_recorder_flush(&r->recorder);
	if (r->watch)
		(void)pxt_schedwatch_poll(r->watch);
	return pxt_flight_watch(r->flight, r->output, own) &&
	       (!r->watch || pxt_flight_watch(r->flight, r->output, sched));
}

static int conclude_flight(struct run *r, int status)
{
	struct pxt_recorder_sum sum;
	struct pxt_flight_sum met;

	pxt_recorder_close(&r->recorder, &sum, false);
	pxt_recorder_free(&sum);
	if (r->watch)
		(void)pxt_schedwatch_end(r->watch, &r->told);
	pxt_throttles_free(r->throttles);
	pxt_flight_end(r->flight, &met);
	pxt_program_forward_no_more();
	if (r->quiet)
		return status;
	say_missing(r);
	if (sum.counts.posix_lost_np + r->told.lost > 0)
		pxt_complain("run: %" PRIu64 " events LOST, %" PRIu64
		             " of the scheduler's (--only records fewer)",
		    sum.counts.posix_lost_np + r->told.lost, r->told.lost);
	pxt_flight_summary(&r->when, &met);
	return status;
}

static int run_flight(struct run *r)
{
	struct pxt_flight_sum none;

	r->flight = pxt_flight_new(&r->when);
	if (!r->flight)
		return PXT_EXIT_OUTPUT;
	if (!prepare(r))
		return PXT_PROGRAM_NOT_STARTED;
	if (r->wish.groups.kernel)
		watch_scheduler(r);
	if (!begin_flight(r)) {
		pxt_flight_end(r->flight, &none);
		return PXT_EXIT_OUTPUT;
	}
	return conclude_flight(r, begin_recorded(r));
}

/* ---- All of it ---- */

static int run_rotating(struct run *r)
{
	int status = PXT_EXIT_OUTPUT;
	int fd = pxt_rotate_open(&r->rotate, r->output);

	if (fd < 0)
		return status;
	r->output = r->rotate.folder;
	r->replaces = pxt_rotate_remove_older(&r->rotate);
	r->wish.groups.kernel = 0;
	r->recorder.rotation = &r->rotate.rotation;
	if (!prepare(r))
		status = PXT_PROGRAM_NOT_STARTED;
	else if (pxt_recorder_open(&r->recorder, fd, r->output, 0, false))
		status = conclude(r, begin_recorded(r));
	(void)close(fd);
	return status;
}

static int run_traced(struct run *r)
{
	const char *path;

	if (!prepare(r))
		return PXT_PROGRAM_NOT_STARTED;
	if (r->wish.groups.kernel) {
		if (!make_parts(r))
			return PXT_EXIT_OUTPUT;
		watch_scheduler(r);
	}
	path = r->watch ? r->own : r->output;
	if (pxt_outfile_open(&r->file, path)) {
		if (pxt_recorder_open(
		        &r->recorder, r->file.fd, path, r->watch ? r->size / 2 : r->size, r->ring))
			return conclude(r, begin_recorded(r));
		pxt_outfile_discard(&r->file);
	}
	if (r->watch) {
		pxt_schedwatch_abandon(r->watch);
		remove_parts(r);
	}
	return PXT_EXIT_OUTPUT;
}

/* PROGRAM.ptl; only an older log makes room for a new one. */
static bool choose_name(struct run *r)
{

	(void)snprintf(r->name, sizeof r->name, "%.*s.ptl", (int)sizeof r->name - 8,
	    pxt_path_name(r->program.path));
	r->output = r->name;
	if (r->when.condition.text || r->rotate.is_set || access(r->name, F_OK) != 0 ||
	    pxt_recorder_is_log(r->name))
		return true;
	pxt_complain("run: %s is there, and is no log; -o gives the log another name", r->name);
	return false;
}

static int run_program(struct run *r, char **argv)
{
	int status = pxt_program_find(&r->program, argv);

	if (status)
		return status;
	if (!pxt_preload_find(&r->preload))
		return PXT_EXIT_LOG;
	if (!pxt_program_traceable(&r->program, r->preload.library))
		return run_untraced(r);
	if (!r->output && !choose_name(r))
		return PXT_EXIT_OUTPUT;
	r->when.output = r->output;
	if (r->when.condition.text)
		return run_flight(r);
	if (r->rotate.is_set)
		return run_rotating(r);
	if (!pxt_outfile_check(r->output))
		return PXT_EXIT_OUTPUT;
	r->replaces = access(r->output, F_OK) == 0;
	return run_traced(r);
}

/* ---- The command line ---- */

static bool take_stack(void *self, char *value)
{
	struct run *r = self;
	uint64_t ms;

	if (!pxt_option_number(&ms, value, "--stack", 0, 3600000))
		return false;
	r->wish.stack_us = ms > 0 ? ms * 1000u : UINT64_MAX;
	return true;
}

/* What the program writes goes to standard output. */
static bool take_output(void *self, char *value)
{
	struct run *r = self;

	r->output = value;
	if (*value && strcmp(value, "-") != 0)
		return true;
	if (!*value)
		pxt_complain("run: -o wants the name of a file, not an empty one");
	else
		pxt_complain("run: standard output is the program's; -o wants the name of a file");
	return false;
}

static bool take_groups(void *self, char *value)
{
	struct run *r = self;

	r->asks_frequency = strstr(value, "freq") != NULL;
	return pxt_groups_parse(&r->wish.groups, value, "run");
}

static bool take_rotation(void *self, char *value)
{
	return pxt_rotate_take(&((struct run *)self)->rotate, value);
}

static bool take_note(void *self, char *value)
{
	return pxt_recorder_notes_add(&((struct run *)self)->notes, value);
}

static const struct pxt_option options[] = {
	PXT_OPT_TAKE('o', "output", take_output),
	PXT_OPT_TAKE(0, "only", take_groups),
	PXT_OPT_FLAG(0, "all", struct run, wish.all),
	PXT_OPT_TAKE(0, "stack", take_stack),
	PXT_OPT_TIME(0, "for", struct run, limit_ns, 1),
	PXT_OPT_BYTES(0, "size", struct run, size, 65536, UINT64_MAX),
	PXT_OPT_FLAG(0, "ring", struct run, ring),
	PXT_OPT_TAKE(0, "rotate", take_rotation),
	PXT_OPT_FLAG(0, "children", struct run, children),
	PXT_OPT_MORE(pxt_flight_options, struct run, when),
	PXT_OPT_TAKE(0, "note", take_note),
	PXT_OPT_FLAG(0, "no-arguments", struct run, notes.no_arguments),
	PXT_OPT_BYTES(0, "buffer", struct run, wish.buffer, PXT_PRELOAD_RING, PXT_CTLSOCK_MEMORY),
	PXT_OPT_FLAG('q', "quiet", struct run, quiet),
	PXT_OPT_END,
};

static int run(int argc, char **argv)
{
	static struct run r;
	int status;

	pxt_groups_usual(&r.wish.groups);
	status = pxt_options_read(&pxt_cmd_run, &r, argc, argv);
	if (status >= 0)
		return status;
	if (!pxt_flight_check(&r.when))
		return pxt_usage("run");
	if (r.ring && r.when.condition.text) {
		pxt_complain("run: --when keeps the newest events by itself: no --ring beside it");
		return pxt_usage("run");
	}
	if (r.rotate.is_set && (r.ring || r.size || r.when.condition.text)) {
		pxt_complain(
		    "run: --rotate says what is kept: no --size, --ring or --when beside it");
		return pxt_usage("run");
	}
	if ((r.ring || r.when.condition.text) && !r.size)
		r.size = UINT64_C(64) << 20;
	r.when.command = "run";
	r.when.size = r.size;
	return run_program(&r, argv + optind);
}

const struct pxt_command pxt_cmd_run = {
	.name = "run",
	.summary = "records what an unchanged program does",
	.help = help,
	.options = options,
	.wants = "which program?",
	.stops = true,
	.run = run,
};
