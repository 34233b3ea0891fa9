/* SPDX-License-Identifier: MIT */
/* cmd_receive.c - pxtrace receive: the other end of a target's line. */
#include "tools/command/command.h"
#include "tools/output/out.h"

#include "tools/import/import.h"
#include "tools/line/device.h"
#include "tools/line/frame.h"
#include "tools/receive/receiver.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES 65536u
#define WAIT_MS    100
#define FLUSH_MS   250u
#define STATUS_MS  500u
#define ENDED_MS   1000u /* S.Ha.R.K.'s tracer does not say when it is done */

static const char help_use[] =
    "usage: pxtrace receive SOURCE -o LOG [OPTION]...\n"
    "\n"
    "Takes what a target sends of its trace and writes a log of it, live. It may be\n"
    "started before or after the target, and goes on when the target is reset (its\n"
    "next run goes into LOG-2 and so on) or a cable is unplugged. Ctrl-C ends it and\n"
    "leaves a whole log.\n"
    "\n"
    "sources:\n"
    "  serial:DEV,BAUD         a serial device, e.g. serial:/dev/ttyUSB0,115200\n"
    "  udp:[HOST:]PORT         packets that are sent to this port of HOST, an address of\n"
    "                          this machine: 127.0.0.1 unless it is given, * for all\n"
    "  tcp:HOST:PORT           connects to the target\n"
    "  tcp-listen:[HOST:]PORT  is connected to by the target, again and again; HOST as above\n"
    "  PATH                    a FIFO, or a file of bytes received elsewhere (--raw)\n"
    "  -                       standard input\n"
    "\n"
    "A target sends frames (to terminals and datagram sockets by itself, else by\n"
    "posix_trace_attr_setlogform_np()), or its log as it is: both are understood. So are\n"
    "the datagrams of S.Ha.R.K.'s tracer (udp:*:20000), which become a log at the end.\n";
static const char help_options[] =
    "\n"
    "options:\n"
    "  -o, --output LOG  the log; a second run of the target goes into LOG-2\n"
    "                    (run.ptl, run-2.ptl)\n"
    "      --console     the source is a console: lines with PTL: and base64 are the trace,\n"
    "                    all others are shown as they come\n"
    "      --raw FILE    also keeps what arrived, byte by byte, for a bug report;\n"
    "                    `pxtrace receive FILE -o LOG` takes it again\n"
    "      --once        ends when the first log is whole (S.Ha.R.K.: a second after the last\n"
    "                    datagram)\n"
    "      --strict      exit status 3 when events were lost, here or on the target, or when\n"
    "                    a target did not end its log: nobody knows what it recorded then\n"
    "  -q, --quiet       no status line, no words about the logs\n"
    "  -h, --help        this text\n"
    "\n"
    "The status line, on a terminal, and the last words tell three kinds of loss apart:\n"
    "  bad CRC         pieces that are no whole frame: the line is disturbed\n"
    "  frames missing  and the events that were in them: the line, or this computer,\n"
    "                  lost them\n"
    "  lost on target  events that the target had no room for, before any line\n"
    "\n"
    "  $ pxtrace receive serial:/dev/ttyUSB0,115200 -o run.ptl\n"
    "  $ pxtrace print --follow run.ptl       (meanwhile, in another window)\n"
    "\n"
    "exit status: 0 done, 1 usage, 2 the source failed or nothing was received,\n"
    "3 --strict and events were lost, 4 a log could not be written\n";
static const char *const help[] = { help_use, help_options, NULL };

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

struct receive {
	struct pxt_linkdevice from;
	struct pxt_receiver in;
	struct pxt_shark shark;
	uint64_t shark_ms; /* when a datagram of it came last */
	const char *output;
	const char *raw_path;
	int raw;
	bool console;
	struct pxt_linktext lines;
	bool refused;
	bool marked; /* text of a console came, and nobody said that it is one */
	bool once;
	bool strict;
	bool quiet;
	bool live;  /* a status line is drawn ... */
	bool drawn; /* ... and is there now */
	bool first_ended;
	uint64_t flushed_ms;
	uint64_t shown_ms;
	uint64_t shown_events;
};

static uint64_t now_ms(void)
{
	return (uint64_t)pxt_when_monotonic() / 1000000u;
}

/* ---- What the user sees ---- */

static void wipe(struct receive *receive)
{
	static const char clear[] = "\r\033[K";

	if (receive->drawn)
		(void)!write(STDERR_FILENO, clear, sizeof clear - 1);
	receive->drawn = false;
}

static void show_status(struct receive *receive, uint64_t ms)
{
	struct pxt_receive_sums sums;
	char text[256];
	uint64_t passed = ms - receive->shown_ms;
	int length;

	pxt_receiver_sums(&receive->in, &sums);
	length = snprintf(text, sizeof text,
	    "\r%llu events, %llu/s | bad CRC %llu | frames missing %llu (%llu events) | lost on "
	    "target "
	    "%llu\033[K",
	    (unsigned long long)sums.events,
	    (unsigned long long)((sums.events - receive->shown_events) * 1000u /
	                         (passed ? passed : 1u)),
	    (unsigned long long)sums.bad, (unsigned long long)sums.frames_missing,
	    (unsigned long long)sums.events_missing, (unsigned long long)sums.target_lost);
	receive->shown_ms = ms;
	receive->shown_events = sums.events;
	if (length > 0)
		(void)!write(STDERR_FILENO, text, (size_t)length);
	receive->drawn = true;
}

static void tell_run(struct receive *receive, const struct pxt_receive_run *run)
{
	uint64_t missing = run->missing - run->early;

	pxt_complain("%s: %llu events%s", run->path, (unsigned long long)run->kept,
	    missing || run->target_lost || run->early ? "; not in it:" : "");
	if (run->target_lost)
		pxt_explain("%llu lost on the target, which had no room for them",
		    (unsigned long long)run->target_lost);
	if (missing)
		pxt_explain("%llu lost on the line (%llu frames are missing)",
		    (unsigned long long)missing, (unsigned long long)run->frames_missing);
	if (run->early)
		pxt_explain(
		    "%llu that were sent before anybody listened", (unsigned long long)run->early);
	if (run->end_unknown)
		pxt_explain("the target did not end its log; events after the last that came: "
		            "number unknown");
	receive->first_ended = true;
}

static void told(void *context, enum pxt_receiver_event event, const struct pxt_receive_run *run,
    const char *text)
{
	struct receive *receive = context;

	if (event == PXT_RECEIVER_ENDED)
		receive->first_ended = true;
	if (event == PXT_RECEIVER_REFUSED)
		receive->refused = true;
	if (receive->quiet && event != PXT_RECEIVER_REFUSED)
		return;
	wipe(receive);
	if (event == PXT_RECEIVER_REFUSED)
		pxt_complain("receive: %s: a trace was refused: %s", receive->from.text, text);
	else if (event == PXT_RECEIVER_ENDED)
		tell_run(receive, run);
	else if (receive->in.done.logs > 1 && pxt_linkdevice_has_packets(&receive->from))
		pxt_complain("%s: another trace, of the same target or of another", text);
	else if (receive->in.done.logs > 1)
		pxt_complain("%s: the target began anew; this is its next log", text);
	else
		pxt_complain("%s: receiving from %s", text, receive->from.text);
}

/* ---- Bytes ---- */

/* False: the copy cannot be written. */
static bool keep_raw(struct receive *receive, const unsigned char *bytes, size_t count)
{
	int error = receive->raw >= 0 ? pxt_write_all(receive->raw, bytes, count) : 0;

	if (error)
		pxt_complain("receive: %s: %s", receive->raw_path, strerror(error));
	return error == 0;
}

/* Packets have borders, a file has none: there they are put as on a serial line. */
static bool keep_packet(struct receive *receive, const unsigned char *bytes, size_t count)
{
	unsigned char stuffed[PXT_FRAME_ROOM(PXT_FRAME_CONTENTS_MAX)];

	if (receive->raw < 0 || count > PXT_LINKFRAME_BYTES)
		return true;
	return keep_raw(receive, stuffed, pxt_linkframe_stuff(bytes, count, stuffed));
}

/* ---- A console ---- */

static void take_trace(void *context, const unsigned char *bytes, size_t count)
{
	struct receive *receive = context;

	pxt_receiver_bytes(&receive->in, bytes, count);
}

/* Whatever a target prints, no terminal obeys it. */
static void show_text(void *context, const char *text, size_t count)
{
	static struct pxt_out out;
	struct receive *receive = context;

	if (receive->quiet)
		return;
	wipe(receive);
	out.fd = STDOUT_FILENO;
	pxt_out_escaped(&out, text, count);
	pxt_out_char(&out, '\n');
	pxt_out_flush(&out);
}

static void count_spoilt(void *context)
{
	struct receive *receive = context;

	receive->in.done.bad++;
}

static bool take(struct receive *receive, const unsigned char *bytes, size_t count)
{
	if (receive->console) {
		if (!keep_raw(receive, bytes, count))
			return false;
		pxt_linktext_bytes(&receive->lines, bytes, count);
		return receive->in.error == 0;
	}
	if (!receive->marked && !receive->in.done.logs)
		receive->marked = pxt_linktext_is_in(bytes, count);
	if (pxt_linkdevice_has_packets(&receive->from) && pxt_shark_is_packet(bytes, count)) {
		pxt_shark_packet(&receive->shark, bytes, count);
		receive->shark_ms = now_ms();
		return keep_packet(receive, bytes, count);
	}
	if (pxt_linkdevice_has_packets(&receive->from)) {
		if (!keep_packet(receive, bytes, count))
			return false;
		receive->in.now_ms = now_ms();
		pxt_receiver_packet(&receive->in, receive->from.sender, bytes, count);
	} else {
		if (!keep_raw(receive, bytes, count))
			return false;
		pxt_receiver_bytes(&receive->in, bytes, count);
	}
	return receive->in.error == 0;
}

static void at_times(struct receive *receive)
{
	uint64_t ms = now_ms();

	if (ms - receive->flushed_ms >= FLUSH_MS) {
		pxt_receiver_flush(&receive->in);
		receive->flushed_ms = ms;
	}
	if (receive->shark_ms && ms - receive->shark_ms >= ENDED_MS)
		receive->first_ended = true;
	if (receive->live && ms - receive->shown_ms >= STATUS_MS)
		show_status(receive, ms);
}

/* True: it goes on. */
static bool one_step(struct receive *receive, unsigned char *bytes, int *status)
{
	size_t count;

	switch (pxt_linkdevice_read(&receive->from, bytes, READ_BYTES, &count, WAIT_MS)) {
	case PXT_FROM_BYTES:
		if (take(receive, bytes, count))
			break;
		*status = PXT_EXIT_OUTPUT;
		return false;
	case PXT_FROM_WAITING:
		if (!receive->quiet)
			pxt_complain("receive: waiting for %s", receive->from.text);
		break;
	case PXT_FROM_BROKEN:
		wipe(receive);
		pxt_receiver_break(&receive->in);
		if (!receive->quiet && receive->from.kind == PXT_FROM_SERIAL)
			pxt_complain("receive: %s went away", receive->from.text);
		break;
	case PXT_FROM_END:
		return false;
	case PXT_FROM_ERROR:
		*status = PXT_EXIT_LOG;
		return false;
	case PXT_FROM_QUIET:
	default:
		break;
	}
	at_times(receive);
	return !(receive->once && receive->first_ended);
}

/* ---- The end ---- */

/* What nobody sends any more. */
static bool is_file(const struct receive *receive)
{
	struct stat st;

	return receive->from.fd >= 0 && fstat(receive->from.fd, &st) == 0 && S_ISREG(st.st_mode);
}

static int conclude_nothing(const struct receive *receive, const struct pxt_receive_sums *sums)
{
	pxt_complain("receive: %s: no trace was received", receive->from.text);
	/* Why, was said. */
	if (receive->refused)
		return PXT_EXIT_LOG;
	if (receive->marked)
		pxt_explain("there are lines of a console with PTL: in it; --console takes the "
		            "trace out of them");
	else if (is_file(receive) && receive->console)
		pxt_explain("no line in it has PTL: and a whole trace's bytes behind it");
	else if (is_file(receive))
		pxt_explain("no head of a trace is in it: it is no recording of a line, or ends "
		            "before the first one");
	else if (sums->bad && receive->from.kind == PXT_FROM_SERIAL)
		pxt_explain("bytes came, but no whole frame: is the speed right, and the terminal "
		            "raw at the target?");
	else if (sums->bad)
		pxt_explain(
		    "bytes came, but no head of a trace: it comes about every second, when the "
		    "target flushes");
	else
		pxt_explain("does the target flush its stream, and to this place?");
	return PXT_EXIT_LOG;
}

/* Numbers that are missing may have been any number of events. */
static int conclude_shark(struct receive *receive)
{
	struct pxt_shark *shark = &receive->shark;
	const uint64_t missing = pxt_shark_missing(shark);
	int status =
	    shark->failed ? PXT_EXIT_LOG : pxt_shark_write(shark, "receive", receive->output);

	if (shark->failed)
		pxt_complain("receive: %s: %s", receive->output, strerror(ENOMEM));
	if (!receive->quiet && status == PXT_EXIT_OK)
		pxt_complain(
		    "%s: %zu events in %llu datagrams; missing %llu, spoilt %llu, twice %llu",
		    receive->output, shark->count, (unsigned long long)shark->packets,
		    (unsigned long long)missing, (unsigned long long)shark->spoilt,
		    (unsigned long long)shark->twice);
	if (status == PXT_EXIT_OK && receive->strict && (missing || shark->spoilt))
		status = PXT_EXIT_LOST;
	return status;
}

static int conclude(struct receive *receive, int status)
{
	struct pxt_receive_sums sums;
	int error;

	pxt_linktext_end(&receive->lines);
	error = pxt_receiver_end(&receive->in);
	pxt_receiver_sums(&receive->in, &sums);
	if (error) {
		pxt_complain("receive: %s: %s", receive->output, strerror(error));
		return PXT_EXIT_OUTPUT;
	}
	if (status != PXT_EXIT_OK)
		return status;
	if (!sums.logs && receive->shark.packets)
		return conclude_shark(receive);
	if (!sums.logs)
		return conclude_nothing(receive, &sums);
	if (sums.refused > 1)
		pxt_complain(
		    "receive: %llu traces were refused in all", (unsigned long long)sums.refused);
	if (sums.strange)
		pxt_complain("receive: %llu frames were not taken: they are of a trace that "
		             "another address sends",
		    (unsigned long long)sums.strange);
	if (!receive->quiet && (sums.bad || sums.odd || sums.frames_again))
		pxt_complain("receive: on the line: bad CRC %llu, frames twice or late %llu, "
		             "contents without sense %llu",
		    (unsigned long long)sums.bad, (unsigned long long)sums.frames_again,
		    (unsigned long long)sums.odd);
	return receive->strict &&
	               (sums.events_missing || sums.target_lost || sums.odd || sums.ends_unknown)
	           ? PXT_EXIT_LOST
	           : PXT_EXIT_OK;
}

/* ---- The beginning ---- */

static bool is_source(const struct receive *receive, const char *path)
{
	const struct pxt_linkdevice *from = &receive->from;

	return from->kind == PXT_FROM_STDIN  ? pxt_outfile_is(path, STDIN_FILENO)
	       : from->kind == PXT_FROM_PATH ? pxt_outfile_same(path, from->where)
	                                     : false;
}

/* What was received elsewhere exists once: no file that is written may be it, nor two of them one. */
static int check_files(const struct receive *receive)
{
	const char *raw = receive->raw_path;

	if (is_source(receive, receive->output)) {
		pxt_complain("receive: %s is the source itself; the log needs a name of its own: "
		             "-o NEW.ptl",
		    receive->output);
		return PXT_EXIT_USAGE;
	}
	if (raw && is_source(receive, raw)) {
		pxt_complain(
		    "receive: %s is the source itself; --raw needs a name of its own", raw);
		return PXT_EXIT_USAGE;
	}
	if (raw && pxt_outfile_same(raw, receive->output)) {
		pxt_complain("receive: %s cannot be both the log (-o) and the bytes as they came "
		             "(--raw); name another one",
		    raw);
		return PXT_EXIT_USAGE;
	}
	return pxt_outfile_check(receive->output) ? PXT_EXIT_OK : PXT_EXIT_OUTPUT;
}

static int run(struct receive *receive)
{
	static unsigned char bytes[READ_BYTES];
	struct sigaction action = { .sa_handler = stop };
	int status = check_files(receive);

	if (status != PXT_EXIT_OK)
		return status;
	if (receive->raw_path) {
		receive->raw = pxt_final_open(receive->raw_path);
		if (receive->raw < 0) {
			pxt_complain("receive: %s: %s", receive->raw_path, pxt_open_error(errno));
			return PXT_EXIT_OUTPUT;
		}
	}
	(void)pxt_must(pxt_receiver_init(&receive->in, receive->output) ? receive : NULL);
	receive->in.tell = told;
	receive->in.context = receive;
	receive->lines.trace = take_trace;
	receive->lines.text = show_text;
	receive->lines.spoilt = count_spoilt;
	receive->lines.context = receive;
	receive->live = !receive->quiet && isatty(STDERR_FILENO);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	receive->shown_ms = receive->flushed_ms = now_ms();
	while (!stopped && one_step(receive, bytes, &status))
		continue;
	wipe(receive);
	status = conclude(receive, status);
	pxt_shark_free(&receive->shark);
	pxt_linkdevice_close(&receive->from);
	if (receive->raw >= 0 && close(receive->raw) != 0 && status == PXT_EXIT_OK) {
		pxt_complain("receive: %s: %s", receive->raw_path, strerror(errno));
		status = PXT_EXIT_OUTPUT;
	}
	return status;
}

static const struct pxt_option options[] = {
	PXT_OPT_TEXT('o', "output", struct receive, output),
	PXT_OPT_TEXT(0, "raw", struct receive, raw_path),
	PXT_OPT_FLAG(0, "console", struct receive, console),
	PXT_OPT_FLAG(0, "once", struct receive, once),
	PXT_OPT_FLAG(0, "strict", struct receive, strict),
	PXT_OPT_FLAG('q', "quiet", struct receive, quiet),
	PXT_OPT_END,
};

static int receive_main(int argc, char **argv)
{
	static struct receive receive;
	int status;

	receive.raw = -1;
	status = pxt_options_read(&pxt_cmd_receive, &receive, argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind > 1) {
		pxt_complain("receive: one source at a time (\"%s\" and \"%s\")", argv[optind],
		    argv[optind + 1]);
		return pxt_usage("receive");
	}
	if (!receive.output) {
		pxt_complain("receive: into which log? e.g. -o run.ptl");
		return pxt_usage("receive");
	}
	if (!pxt_linkdevice_parse(&receive.from, "receive", argv[optind]))
		return PXT_EXIT_USAGE;
	return run(&receive);
}

const struct pxt_command pxt_cmd_receive = {
	.name = "receive",
	.summary = "writes a log from a target's line or network",
	.help = help,
	.options = options,
	.wants = "from where? e.g. serial:/dev/ttyUSB0,115200",
	.run = receive_main,
};
