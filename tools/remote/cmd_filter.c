/* SPDX-License-Identifier: MIT */
/* cmd_filter.c - pxtrace filter: which event types a stream of another process leaves out. */
#include "tools/command/command.h"
#include "tools/command/options.h"
#include "tools/output/exit.h"
#include "tools/output/out.h"
#include "tools/output/say.h"
#include "tools/remote/ctlsock.h"

#include <getopt.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace filter - which event types a stream of a running program leaves out\n"
	"\n"
	"usage: pxtrace filter NAME [add|sub|set TYPE...]\n"
	"       pxtrace filter NAME none\n"
	"\n"
	"As posix_trace_set_filter() in the program: types in the filter are not recorded, "
	"whether\n"
	"by the program or by processes that attached to the stream.\n"
	"\n"
	"  add TYPE...  leaves these out, too\n"
	"  sub TYPE...  records these again\n"
	"  set TYPE...  leaves out these and no others\n"
	"  none         records everything\n"
	"\n"
	"Without such a word it shows how many types are left out. TYPE is the name of an event\n"
	"type that the stream knows (`pxtrace stat` of a snapshot shows them), one of the\n"
	"standard's (posix_trace_start, ...) included; when one is unknown, nothing changes. NAME\n"
	"is a name that `pxtrace ps` shows, or, with a slash, the path of a socket.\n"
	"\n"
	"options:\n"
	"  -h, --help  this\n"
	"\n"
	"example: what happens beside the busy loop?\n"
	"\n"
	"  $ pxtrace filter machine add loop_begin loop_end\n"
	"  $ pxtrace attach machine\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 the stream could not be reached, or "
	"refused;\n"
	"4 the output could not be written.\n",
	NULL,
};

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* The word after the stream's name; 0: none of them. */
static int how_of(const char *word)
{
	static const struct {
		const char *word;
		int how;
	} words[] = {
		{ "add", POSIX_TRACE_ADD_EVENTSET },
		{ "sub", POSIX_TRACE_SUB_EVENTSET },
		{ "set", POSIX_TRACE_SET_EVENTSET },
		{ "none", POSIX_TRACE_SET_EVENTSET },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(word, words[i].word) == 0)
			return words[i].how;
	return 0;
}

static int wrong(const char *text)
{
	pxt_complain("filter: %s", text);
	return pxt_usage("filter");
}

/* The names one after the other, each with its NUL. */
static int pack(char **types, struct pxt_ask *ask, char text[PXT_CTLSOCK_TEXT])
{
	for (; *types; types++) {
		size_t bytes = strlen(*types) + 1;

		if (bytes == 1)
			return wrong("a type's name is empty");
		if (bytes > TRACE_EVENT_NAME_MAX + 1u) {
			pxt_complain("filter: \"%s\" is longer than any type's name", *types);
			return PXT_EXIT_USAGE;
		}
		if (bytes > PXT_CTLSOCK_TEXT - ask->text_bytes)
			return wrong("these are too many types at once");
		memcpy(text + ask->text_bytes, *types, bytes);
		ask->text_bytes += bytes;
	}
	ask->text = text;
	return PXT_EXIT_OK;
}

/* @argv: the stream's name, and what is after it. */
static int request(char **argv, struct pxt_ask *ask, char text[PXT_CTLSOCK_TEXT])
{
	bool none = argv[1] && strcmp(argv[1], "none") == 0;

	if (!argv[1])
		return PXT_EXIT_OK;
	ask->what = PXT_CTLSOCK_FILTER;
	ask->how = how_of(argv[1]);
	if (ask->how == 0) {
		pxt_complain("filter: add, sub, set or none? (found \"%s\")", argv[1]);
		return pxt_usage("filter");
	}
	if (none && argv[2])
		return wrong("none takes no types");
	if (!none && !argv[2])
		return wrong("which types? (none empties the filter)");
	return none ? PXT_EXIT_OK : pack(argv + 2, ask, text);
}

static int show(const struct pxt_remote *remote)
{
	static struct pxt_out out = { .fd = STDOUT_FILENO };

	pxt_out_unsigned(&out, remote->status.filtered);
	pxt_out_text(
	    &out, remote->status.filtered == 1 ? " type is left out\n" : " types are left out\n");
	return pxt_finish(&out);
}

static int run(int argc, char **argv)
{
	struct pxt_ask ask = { .what = PXT_CTLSOCK_STATUS, .fd = -1 };
	static struct pxt_remote remote;
	static char text[PXT_CTLSOCK_TEXT];
	int code;

	while ((code = getopt_long(argc, argv, ":h", options, NULL)) != -1)
		return code == 'h' ? pxt_help(help)
		                   : pxt_option_error("filter", code, argv, options);
	if (optind == argc)
		return wrong("of which stream? (`pxtrace ps` shows them)");
	int status = request(argv + optind, &ask, text);
	if (status != PXT_EXIT_OK)
		return status;
	enum pxt_reach reach = pxt_remote_open(&remote, argv[optind]);
	if (reach == PXT_REACH_OK)
		reach = pxt_remote_ask(&remote, &ask);
	if (reach != PXT_REACH_OK)
		status = pxt_remote_complain("filter", &remote, reach);
	else if (ask.what == PXT_CTLSOCK_STATUS)
		status = show(&remote);
	pxt_remote_close(&remote);
	return status;
}

const struct pxt_command pxt_cmd_filter = {
	.name = "filter",
	.summary = "chooses event types that such a stream leaves out",
	.help = help,
	.run = run,
};
