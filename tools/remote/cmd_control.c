/* SPDX-License-Identifier: MIT */
/* cmd_control.c - pxtrace start, stop, clear, flush: streams of other processes, by name. */
#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/remote/ctlsock.h"

#include <unistd.h>

static const struct pxt_option options[] = { PXT_OPT_END };

#define NAMES_HELP                                                                                 \
	"NAME is a name that `pxtrace ps` shows, or, with a slash, the path of a socket. "         \
	"Several\n"                                                                                \
	"names: one after the other.\n"
#define END_HELP                                                                                   \
	"  -h, --help  this\n"                                                                     \
	"\n"                                                                                       \
	"exit status: 0 done; 1 wrong command line; 2 a stream could not be reached, or "          \
	"refused.\n"

static const char *const start_help[] = {
	"pxtrace start - starts streams of running programs\n"
	"\n"
	"usage: pxtrace start NAME...\n"
	"\n"
	"As posix_trace_start() in the program: events are recorded from now on. A stream that\n"
	"runs already goes on.\n"
	"\n" NAMES_HELP "\n" END_HELP "\n"
	"example: trace one second of a machine that runs untraced otherwise\n"
	"\n"
	"  $ pxtrace start machine; sleep 1; pxtrace stop machine\n"
	"  $ pxtrace snapshot machine -o second.ptl\n",
	NULL,
};
static const char *const stop_help[] = {
	"pxtrace stop - stops streams of running programs\n"
	"\n"
	"usage: pxtrace stop NAME...\n"
	"\n"
	"As posix_trace_stop() in the program: nothing more is recorded, what is there stays. The\n"
	"program runs on; its trace points cost as much as if nobody traced.\n"
	"\n" NAMES_HELP "\n" END_HELP "\n"
	"example: keep what led to a trouble until somebody has looked at it\n"
	"\n"
	"  $ pxtrace stop machine\n"
	"  $ pxtrace snapshot machine -o trouble.ptl\n",
	NULL,
};
static const char *const clear_help[] = {
	"pxtrace clear - empties streams of running programs\n"
	"\n"
	"usage: pxtrace clear NAME...\n"
	"\n"
	"As posix_trace_clear() in the program: what the stream holds is discarded, its log, if\n"
	"it has one, begins anew, and its filter is empty. Whether it runs does not change.\n"
	"\n" NAMES_HELP "\n" END_HELP "\n"
	"example: only what happens during the next job\n"
	"\n"
	"  $ pxtrace clear machine; ./next-job; pxtrace snapshot machine -o job.ptl\n",
	NULL,
};
static const char *const flush_help[] = {
	"pxtrace flush - makes running programs write to their logs\n"
	"\n"
	"usage: pxtrace flush NAME...\n"
	"\n"
	"As posix_trace_flush() in the program: what the stream holds goes into its log, and is\n"
	"there when the command ends. A stream without a log has nothing to flush: snapshot saves\n"
	"it.\n"
	"\n" NAMES_HELP "\n" END_HELP "\n"
	"example: read the log of a running program up to this moment\n"
	"\n"
	"  $ pxtrace flush machine && pxtrace print --incomplete machine.ptl\n",
	NULL,
};

static int control(const char *command, const char *name, uint32_t what)
{
	/* A process that answers at all may take their time with a log on a slow disk. */
	const struct pxt_ask ask = { .what = what, .fd = -1, .patient = true };
	static struct pxt_remote remote;
	enum pxt_reach reach = pxt_remote_open(&remote, name);
	int status = PXT_EXIT_OK;

	if (reach == PXT_REACH_OK)
		reach = pxt_remote_tell(&remote, PXT_CTLSOCK_STATUS);
	if (reach == PXT_REACH_OK)
		reach = pxt_remote_ask(&remote, &ask);
	if (reach != PXT_REACH_OK)
		status = pxt_remote_complain(command, &remote, reach);
	pxt_remote_close(&remote);
	return status;
}

#define WANTS "which stream? (`pxtrace ps` shows them)"

static int each(const struct pxt_command *command, uint32_t what, int argc, char **argv)
{
	int status = pxt_options_read(command, NULL, argc, argv);

	if (status >= 0)
		return status;
	status = PXT_EXIT_OK;
	for (int i = optind; i < argc; i++) {
		int mine = control(command->name, argv[i], what);

		/* A wrong name is not worse than a stream that is not there. */
		status = mine > status ? mine : status;
	}
	return status;
}

static int start(int argc, char **argv)
{
	return each(&pxt_cmd_start, PXT_CTLSOCK_START, argc, argv);
}

static int stop(int argc, char **argv)
{
	return each(&pxt_cmd_stop, PXT_CTLSOCK_STOP, argc, argv);
}

static int clear(int argc, char **argv)
{
	return each(&pxt_cmd_clear, PXT_CTLSOCK_CLEAR, argc, argv);
}

static int flush(int argc, char **argv)
{
	return each(&pxt_cmd_flush, PXT_CTLSOCK_FLUSH, argc, argv);
}

const struct pxt_command pxt_cmd_start = {
	.name = "start",
	.summary = "starts streams of running programs",
	.help = start_help,
	.options = options,
	.wants = WANTS,
	.run = start,
};
const struct pxt_command pxt_cmd_stop = {
	.name = "stop",
	.summary = "stops them",
	.help = stop_help,
	.options = options,
	.wants = WANTS,
	.run = stop,
};
const struct pxt_command pxt_cmd_clear = {
	.name = "clear",
	.summary = "empties them",
	.help = clear_help,
	.options = options,
	.wants = WANTS,
	.run = clear,
};
const struct pxt_command pxt_cmd_flush = {
	.name = "flush",
	.summary = "makes them write to their logs",
	.help = flush_help,
	.options = options,
	.wants = WANTS,
	.run = flush,
};
