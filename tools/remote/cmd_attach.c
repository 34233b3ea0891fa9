/* SPDX-License-Identifier: MIT */
/* cmd_attach.c - pxtrace attach: the events of a stream of another process, as they happen. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "tools/command/command.h"
#include "tools/flight/flight.h"
#include "tools/merge/merge.h"
#include "tools/output/out.h"
#include "tools/print/printer.h"
#include "tools/read/source.h"
#include "tools/remote/ctlsock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_MS      50
#define FREE_EVENTS  128u
#define FLUSH_EVENTS 1024u

static const char *const help[] = {
	"pxtrace attach - shows the events of a running program, as they happen\n"
	"\n"
	"usage: pxtrace attach NAME [OPTION]...\n"
	"       pxtrace attach NAME -o LOG [--for TIME] [--size BYTES] [--strict] [--quiet]\n"
	"       pxtrace attach NAME --when CONDITION [--keep T] [--most N] [-o LOG] [--for TIME]\n"
	"\n"
	"First what the stream holds, then what comes, until the stream is shut down or Ctrl-C. A\n"
	"line is as pxtrace print has it. The program does not wait for the reader: events that\n"
	"come faster than they can be shown are lost here, and counted. NAME is a name that\n"
	"`pxtrace ps` shows, or, with a slash, the path of a socket.\n"
	"\n"
	"With -o nothing is shown: the events, all or those that are chosen (-e, -t, --where), go\n"
	"into a log, with names, threads and losses. It can be read meanwhile (`pxtrace print\n"
	"--follow LOG`), and is complete at the end.\n"
	"\n"
	"  -o, --output LOG  records into this log\n"
	"      --for TIME    so long at most: 10s, 250ms, 5min\n"
	"      --size BYTES  no more than this: 10MiB, 64K\n"
	"  -q, --quiet       says nothing at the end where nothing was lost\n" PXT_FLIGHT_HELP
	"      --only GROUPS system events of these alone, as of `pxtrace run`: locks,io\n"
	"\n",
	PXT_PRINTER_HELP_TIME,
	PXT_SELECT_HELP PXT_PRINTER_HELP_WHICH,
	PXT_PRINTER_HELP_WHAT,
	"      --strict          exit status 3 when events were lost\n"
	"  -h, --help            this\n"
	"\n"
	"example: late jobs, now\n"
	"\n"
	"  $ pxtrace attach machine --where 'late_ns > 1ms'\n"
	"\n"
	"example: ten seconds of it, and then why it was late\n"
	"\n"
	"  $ pxtrace attach machine -o run.ptl --for 10s\n"
	"  $ pxtrace why run.ptl\n"
	"\n"
	"exit status: 0 the stream was shut down, or Ctrl-C; 1 wrong command line; 2 the stream\n"
	"could not be reached, refused, or its process died; 3 events were lost (--strict); 4 the\n"
	"output could not be written.\n",
	NULL,
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

struct attach {
	struct pxt_printer printer; /* first, so that its functions find the rest */
	struct pxt_remote remote;
	struct pxt_behind behind;
	struct pxt_record record;
	struct pxt_choice *choice; /* with -o and options that choose; else NULL */
	struct pxt_groups only;
	struct pxt_flight_wish when;
	char name[PXT_CTLSOCK_PATH + 8]; /* of its logs, where none was given */
	int64_t begun_ns;
	bool chooses; /* an option says which events, ... */
	bool shows;   /* ... or how they are shown, which nothing is with -o */
	bool full;    /* --for or --size ended it */
	uint32_t turn;
};

/* ---- Into a log, what was chosen ---- */

static void put(struct pxt_printer *printer, const struct pxt_event *event)
{
	pxt_choice_put(((struct attach *)printer)->choice, event);
}

static void lose(struct pxt_printer *printer, uint64_t lost)
{
	pxt_choice_lose(((struct attach *)printer)->choice, lost);
}

/* Whether neither the time nor the room that was asked for is at its end; looked at from time to time. */
static bool has_room(struct attach *attach)
{
	const struct pxt_record *record = &attach->record;
	int64_t now = pxt_when_monotonic();
	uint64_t bytes = pxt_choice_flush(attach->choice, now);

	if ((record->for_ns != 0 && now - attach->begun_ns >= record->for_ns) ||
	    (record->size != 0 && bytes >= record->size))
		attach->full = true;
	return !attach->full && pxt_choice_error(attach->choice) == 0;
}

static bool may_go_on(struct attach *attach)
{
	return !attach->choice || attach->turn % FREE_EVENTS != 0 || has_room(attach);
}

static int end_choice(struct attach *attach, int status)
{
	const struct pxt_source *source = attach->printer.reader.sources[0];
	uint64_t events = pxt_choice_events(attach->choice);
	uint64_t lost = pxt_choice_lost(attach->choice);
	bool by_itself = !attach->full && !interrupted;
	int error =
	    pxt_choice_end(attach->choice, source, by_itself && !source->info.posix_complete_np);

	if (error != 0) {
		pxt_complain("attach: %s: %s", attach->record.output, strerror(error));
		return PXT_EXIT_OUTPUT;
	}
	if (!attach->record.quiet || lost > 0)
		pxt_complain("%s: %llu events chosen in %.3f s, %llu lost", attach->record.output,
		    (unsigned long long)events,
		    (double)(pxt_when_monotonic() - attach->begun_ns) / 1e9,
		    (unsigned long long)lost);
	return status;
}

/* ---- While it goes on ---- */

static bool look(struct pxt_printer *printer, const struct pxt_event *event)
{
	struct attach *attach = (struct attach *)printer;

	if (interrupted || attach->full || !may_go_on(attach))
		return false;
	attach->turn++;
	if (attach->turn % FREE_EVENTS == 0)
		pxt_behind_read(&attach->behind, event->extra.posix_number_np);
	/* Where much comes and little is shown, that little does not wait in the buffer. */
	if (attach->turn % FLUSH_EVENTS == 0)
		pxt_out_flush(&printer->line.out);
	return true;
}

/* The log gets no more: what is there already is read. */
static void let_go(struct attach *attach)
{
	attach->printer.reader.sources[0]->spool.ended = true;
}

/* The owner says nothing any more, so whatever comes is the end. */
static void wait_for_more(struct pxt_printer *printer)
{
	struct attach *attach = (struct attach *)printer;
	struct pollfd wait = { .fd = attach->remote.fd, .events = POLLIN };

	if ((attach->choice && !has_room(attach)) || interrupted || poll(&wait, 1, WAIT_MS) > 0)
		let_go(attach);
}

/* ---- Beginning ---- */

/* The owner may still be writing the log's head. */
static enum pxt_reach wait_for_head(const struct attach *attach, int fd)
{
	struct pollfd connection = { .fd = attach->remote.fd, .events = POLLIN };
	unsigned char raw[PXT_LOG_HEADER_BYTES];
	bool ended = false;

	for (int ms = 0; ms < PXT_REMOTE_WAIT_MS && !interrupted; ms += 10) {
		if (pread(fd, raw, sizeof raw, 0) == (ssize_t)sizeof raw)
			return PXT_REACH_OK;
		if (ended)
			return PXT_REACH_GONE;
		ended = poll(&connection, 1, 10) > 0;
	}
	return PXT_REACH_MUTE;
}

/* The events are there, in memory that both hold. */
static int open_log(struct attach *attach, int fd)
{
	struct pxt_printer *printer = &attach->printer;
	enum pxt_reach reach = wait_for_head(attach, fd);

	attach->behind.fd = fd;
	if (reach != PXT_REACH_OK) {
		(void)close(fd);
		return pxt_remote_complain("attach", &attach->remote, reach);
	}
	printer->line.reader = &printer->reader;
	printer->line.out.colour = pxt_colour_wanted(printer->colour, STDOUT_FILENO);
	return pxt_reader_open_growing(&printer->reader, attach->remote.name, fd, &printer->select);
}

/* What comes is in *@memory from now on. */
static int follow(struct attach *attach, int *memory)
{
	struct pxt_ask ask = { .what = PXT_CTLSOCK_FOLLOW };
	enum pxt_reach reach;

	ask.fd = memfd_create("pxtrace-attach", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ask.fd < 0) {
		pxt_complain("attach: no memory for the events: %s", strerror(errno));
		return PXT_EXIT_LOG;
	}
	reach = pxt_remote_ask(&attach->remote, &ask);
	if (reach == PXT_REACH_OK) {
		*memory = ask.fd;
		return PXT_EXIT_OK;
	}
	(void)close(ask.fd);
	return pxt_remote_complain("attach", &attach->remote, reach);
}

/* ---- The end ---- */

static int conclude(struct attach *attach, int status)
{
	const struct pxt_source *source = attach->printer.reader.sources[0];

	/* A process that wanted no more events knows that there are more. */
	if (!source->spool.ended || interrupted || attach->full || source->info.posix_complete_np)
		return status;
	pxt_complain(
	    "attach: %s: its process ended without shutting the stream down", attach->remote.name);
	pxt_explain(
	    "what it recorded last may be in its black box or core file: `pxtrace recover`");
	return status == PXT_EXIT_OK || status == PXT_EXIT_LOST ? PXT_EXIT_LOG : status;
}

static int show(struct attach *attach, int memory)
{
	int status = open_log(attach, memory);

	if (status == PXT_EXIT_OK && attach->record.output) {
		attach->choice =
		    pxt_choice_begin(attach->record.output, &attach->printer.reader, INT64_MIN);
		status = attach->choice ? PXT_EXIT_OK : PXT_EXIT_LOG;
	}
	if (status == PXT_EXIT_OK) {
		attach->printer.reader.sources[0]->let_go = true;
		status = conclude(attach, pxt_printer_run(&attach->printer));
	}
	if (attach->choice)
		status = end_choice(attach, status);
	pxt_reader_close(&attach->printer.reader);
	return status;
}

/* ---- Only what is around something ---- */

static bool is_over(const struct attach *attach)
{
	int64_t limit = attach->record.for_ns;

	return interrupted || (limit != 0 && pxt_when_monotonic() - attach->begun_ns >= limit);
}

static int watch(struct attach *attach, int memory)
{
	struct pollfd connection = { .fd = attach->remote.fd, .events = POLLIN };
	enum pxt_reach reach = wait_for_head(attach, memory);
	struct pxt_flight *flight;
	struct pxt_flight_sum sum;

	if (reach != PXT_REACH_OK) {
		(void)close(memory);
		return pxt_remote_complain("attach", &attach->remote, reach);
	}
	flight = pxt_flight_new(&attach->when);
	if (!flight) {
		(void)close(memory);
		return PXT_EXIT_OUTPUT;
	}
	bool watched = pxt_flight_watch(flight, attach->remote.name, memory);
	/* The owner says nothing any more: whatever comes is the end. */
	while (watched && !is_over(attach) && poll(&connection, 1, WAIT_MS) <= 0)
		pxt_flight_step(flight);
	pxt_flight_end(flight, &sum);
	if (!watched)
		return PXT_EXIT_LOG;
	if (!attach->record.quiet)
		pxt_flight_summary(&attach->when, &sum);
	return sum.failed > 0 ? PXT_EXIT_OUTPUT : PXT_EXIT_OK;
}

static int record(struct attach *attach, int memory)
{
	if (attach->when.condition.text)
		return watch(attach, memory);
	return attach->record.output && !attach->chooses
	           ? pxt_record_run(&attach->record, &attach->remote, memory, &interrupted)
	           : show(attach, memory);
}

static int attach_to(struct attach *attach, const char *name)
{
	/* The second time for good: the output may be stuck. */
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND };
	enum pxt_reach reach = pxt_remote_open(&attach->remote, name);
	int memory = -1;
	int status;

	if (reach != PXT_REACH_OK)
		return pxt_remote_complain("attach", &attach->remote, reach);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	status = follow(attach, &memory);
	if (status == PXT_EXIT_OK)
		status = record(attach, memory);
	pxt_remote_close(&attach->remote);
	return status;
}

/* ---- The command line ---- */

#define LEAST_SIZE 65536u
#define WHEN_SIZE  (UINT64_C(64) << 20)

static bool take_groups(void *self, char *value)
{
	struct attach *attach = self;

	attach->printer.only = &attach->only;
	return attach->chooses = pxt_groups_parse(&attach->only, value, "attach");
}

static bool take_strict(void *self, char *value)
{
	struct attach *attach = self;

	(void)value;
	return attach->printer.strict = attach->record.strict = true;
}

static bool note_choice(void *self, char *value)
{
	(void)value;
	return ((struct attach *)self)->chooses = true;
}

static bool note_show(void *self, char *value)
{
	(void)value;
	return ((struct attach *)self)->shows = true;
}

static const struct pxt_option options[] = {
	PXT_OPT_TEXT('o', "output", struct attach, record.output),
	PXT_OPT_TIME(0, "for", struct attach, record.for_ns, 1),
	PXT_OPT_BYTES(0, "size", struct attach, record.size, LEAST_SIZE, UINT64_MAX),
	PXT_OPT_TAKE(0, "only", take_groups),
	PXT_OPT_FLAG('q', "quiet", struct attach, record.quiet),
	PXT_OPT_DO(0, "strict", take_strict),
	PXT_OPT_MORE(pxt_flight_options, struct attach, when),
	{ PXT_OPTION_MORE, .more = pxt_select_options,
	    .at = offsetof(struct attach, printer.select), .take = note_choice },
	{ PXT_OPTION_MORE, .more = pxt_printer_options, .at = offsetof(struct attach, printer),
	    .take = note_show },
	PXT_OPT_END,
};

/* Logs of what is around something have all events of that time. */
static int check_when(struct attach *attach, const char *name)
{

	if (attach->chooses || attach->shows || attach->record.strict) {
		pxt_complain(
		    "attach: --when keeps all events around what it waits for: of the other "
		    "options only -o, --for, --size and --quiet");
		return pxt_usage("attach");
	}
	(void)snprintf(attach->name, sizeof attach->name, "%s.ptl", pxt_path_name(name));
	attach->when.command = "attach";
	attach->when.output = attach->record.output ? attach->record.output : attach->name;
	attach->when.size = attach->record.size ? attach->record.size : WHEN_SIZE;
	return PXT_EXIT_OK;
}

/* Whether a log is wanted or lines: not both, and a limit only of a log. */
static int check(struct attach *attach, const char *name)
{
	const struct pxt_record *record = &attach->record;

	if (!pxt_flight_check(&attach->when))
		return pxt_usage("attach");
	if (attach->when.condition.text)
		return check_when(attach, name);
	if (!record->output && (record->for_ns != 0 || record->size != 0 || record->quiet)) {
		pxt_complain(
		    "attach: --for, --size and --quiet are of a log: into which? -o run.ptl");
		return pxt_usage("attach");
	}
	if (!record->output || (attach->chooses && !attach->shows)) {
		int status = pxt_printer_check(&attach->printer);

		if (status != PXT_EXIT_OK || !record->output)
			return status;
	}
	if (attach->shows) {
		pxt_complain(
		    "attach: a log gets events as they are, and nothing is shown: beside -o "
		    "only options that choose events (`pxtrace print` has the others)");
		return pxt_usage("attach");
	}
	return pxt_outfile_check(record->output) ? PXT_EXIT_OK : PXT_EXIT_OUTPUT;
}

static int run(int argc, char **argv)
{
	static struct attach attach;
	struct pxt_printer *p = &attach.printer;
	int status;

	p->command = "attach";
	p->follow = true;
	p->look = look;
	p->wait = wait_for_more;
	p->line.out.fd = STDOUT_FILENO;
	p->line.live = true;
	p->line.fields.dump_limit = 64;
	status = pxt_options_read(&pxt_cmd_attach, &attach, argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind > 1) {
		pxt_complain("attach: one stream at a time");
		return pxt_usage("attach");
	}
	status = check(&attach, argv[optind]);
	if (status != PXT_EXIT_OK)
		return status;
	if (attach.record.output && attach.chooses) {
		attach.printer.put = put;
		attach.printer.lose = lose;
	}
	attach.begun_ns = pxt_when_monotonic();
	return attach_to(&attach, argv[optind]);
}

const struct pxt_command pxt_cmd_attach = {
	.name = "attach",
	.summary = "shows or records the events of such a stream as they happen",
	.help = help,
	.options = options,
	.wants = "to which stream? (`pxtrace ps` shows them)",
	.run = run,
};
