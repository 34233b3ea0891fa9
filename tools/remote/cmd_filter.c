/* SPDX-License-Identifier: MIT */
/*
 * cmd_filter.c - pxtrace filter: which event types a stream of another process leaves out
 * (names that it does not know: attach/ask_filter.c).
 */
#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/remote/ctlsock.h"

#include <fnmatch.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace filter - which event types a stream of a running program leaves out\n"
	"\n"
	"usage: pxtrace filter NAME [add|sub|set TYPE...]\n"
	"       pxtrace filter NAME none|list\n"
	"\n"
	"As posix_trace_set_filter() in the program: types in the filter are not recorded, "
	"whether\n"
	"by the program or by processes that attached to the stream.\n"
	"\n"
	"  add TYPE...  leaves these out, too\n"
	"  sub TYPE...  records these again\n"
	"  set TYPE...  leaves out these and no others\n"
	"  none         records everything\n"
	"  list         shows the names of the types that the stream knows\n"
	"\n"
	"Without such a word it shows how many types are left out. TYPE is the name of an event\n"
	"type that the stream knows, one of the standard's (posix_trace_start, ...) included, or "
	"a\n"
	"pattern of names of the program's types ('loop_*'). A pattern that begins with\n"
	"posix_trace_ is of the standard's types and of system events ('posix_trace_call_*').\n"
	"When a type is unknown, or a pattern is of none, nothing changes. NAME is a name that\n"
	"`pxtrace ps` shows, or, with a slash, the path of a socket.\n"
	"\n"
	"options:\n"
	"  -h, --help  this\n"
	"\n"
	"example: what happens beside the busy loop?\n"
	"\n"
	"  $ pxtrace filter machine add 'loop_*'\n"
	"  $ pxtrace attach machine\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 the stream could not be reached, or "
	"refused;\n"
	"4 the output could not be written.\n",
	NULL,
};

static const struct pxt_option options[] = { PXT_OPT_END };

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

struct filter {
	struct pxt_remote remote;
	struct pxt_remote_types types;
	struct pxt_ask ask;
	bool lists;
	bool has_types;              /* they were asked for */
	char text[PXT_CTLSOCK_TEXT]; /* names one after the other, each with its NUL */
};

static int put_name(struct filter *filter, const char *name)
{
	size_t bytes = strlen(name) + 1;

	if (bytes > PXT_CTLSOCK_TEXT - filter->ask.text_bytes)
		return wrong("these are too many types at once");
	memcpy(filter->text + filter->ask.text_bytes, name, bytes);
	filter->ask.text_bytes += bytes;
	return PXT_EXIT_OK;
}

static bool is_pattern(const char *type)
{
	return strpbrk(type, "*?[") != NULL;
}

/* The types that a pattern is of, by the names that the stream knows; '*' leaves out no start or stop. */
static int put_pattern(struct filter *filter, const char *pattern)
{
	static const char system[] = "posix_trace_";
	bool of_program = strncmp(pattern, system, sizeof system - 1) != 0;
	char name[TRACE_EVENT_NAME_MAX + 1];
	int status = PXT_EXIT_OK;
	bool found = false;

	pxt_remote_types_rewind(&filter->types);
	while (status == PXT_EXIT_OK && pxt_remote_types_next(&filter->types, of_program, name)) {
		if (fnmatch(pattern, name, 0) != 0)
			continue;
		found = true;
		status = put_name(filter, name);
	}
	if (found)
		return status;
	pxt_complain("filter: %s: no type %s is called like \"%s\"", filter->remote.name,
	    of_program ? "of the program" : "that is not the program's", pattern);
	pxt_explain("`pxtrace filter %s list` shows all", filter->remote.name);
	return PXT_EXIT_LOG;
}

static int pack(struct filter *filter, char **types)
{
	int status = PXT_EXIT_OK;

	for (; *types && status == PXT_EXIT_OK; types++)
		status =
		    is_pattern(*types) ? put_pattern(filter, *types) : put_name(filter, *types);
	filter->ask.text = filter->text;
	return status;
}

static int check_types(struct filter *filter, char **types)
{
	for (; *types; types++) {
		if (**types == '\0')
			return wrong("a type's name is empty");
		if (strlen(*types) > TRACE_EVENT_NAME_MAX) {
			pxt_complain("filter: \"%s\" is longer than any type's name", *types);
			return PXT_EXIT_USAGE;
		}
		filter->has_types = filter->has_types || is_pattern(*types);
	}
	return PXT_EXIT_OK;
}

/* @argv: the stream's name, and what is after it. */
static int request(struct filter *filter, char **argv)
{
	struct pxt_ask *ask = &filter->ask;
	bool none = argv[1] && strcmp(argv[1], "none") == 0;

	if (!argv[1])
		return PXT_EXIT_OK;
	filter->lists = filter->has_types = strcmp(argv[1], "list") == 0;
	if (filter->lists)
		return argv[2] ? wrong("list takes no types") : PXT_EXIT_OK;
	ask->what = PXT_CTLSOCK_FILTER;
	ask->how = how_of(argv[1]);
	if (ask->how == 0) {
		pxt_complain("filter: add, sub, set, none or list? (found \"%s\")", argv[1]);
		return pxt_usage("filter");
	}
	if (none && argv[2])
		return wrong("none takes no types");
	if (!none && !argv[2])
		return wrong("which types? (none empties the filter)");
	return none ? PXT_EXIT_OK : check_types(filter, argv + 2);
}

static int show(const struct pxt_remote *remote)
{
	static struct pxt_out out;

	out.fd = STDOUT_FILENO;
	pxt_out_unsigned(&out, remote->status.filtered);
	pxt_out_text(
	    &out, remote->status.filtered == 1 ? " type is left out\n" : " types are left out\n");
	return pxt_finish(&out);
}

/* The program's own first. */
static int list(struct filter *filter)
{
	static struct pxt_out out;
	char name[TRACE_EVENT_NAME_MAX + 1];

	out.fd = STDOUT_FILENO;
	for (int of_program = 1; of_program >= 0; of_program--) {
		pxt_remote_types_rewind(&filter->types);
		while (pxt_remote_types_next(&filter->types, of_program, name)) {
			pxt_out_escaped(&out, name, strlen(name));
			pxt_out_char(&out, '\n');
		}
	}
	return pxt_finish(&out);
}

/* @types: those of the command line. */
static int ask_owner(struct filter *filter, char **types)
{
	enum pxt_reach reach = PXT_REACH_OK;
	int status = PXT_EXIT_OK;

	if (filter->has_types)
		reach = pxt_remote_types_open(&filter->remote, &filter->types);
	if (reach == PXT_REACH_OK && filter->lists)
		return list(filter);
	if (reach == PXT_REACH_OK && filter->ask.what == PXT_CTLSOCK_FILTER)
		status = pack(filter, types);
	if (status != PXT_EXIT_OK)
		return status;
	if (reach == PXT_REACH_OK)
		reach = pxt_remote_ask(&filter->remote, &filter->ask);
	if (reach != PXT_REACH_OK)
		return pxt_remote_complain("filter", &filter->remote, reach);
	return filter->ask.what == PXT_CTLSOCK_STATUS ? show(&filter->remote) : PXT_EXIT_OK;
}

static int run(int argc, char **argv)
{
	static struct filter filter;
	int status;

	filter.types.memory = -1;
	filter.ask.what = PXT_CTLSOCK_STATUS;
	filter.ask.fd = -1;
	status = pxt_options_read(&pxt_cmd_filter, NULL, argc, argv);
	if (status >= 0)
		return status;
	status = request(&filter, argv + optind);
	if (status != PXT_EXIT_OK)
		return status;
	enum pxt_reach reach = pxt_remote_open(&filter.remote, argv[optind]);
	if (reach == PXT_REACH_OK)
		status = ask_owner(&filter, argv[optind + 1] ? argv + optind + 2 : argv + argc);
	else
		status = pxt_remote_complain("filter", &filter.remote, reach);
	pxt_remote_types_close(&filter.types);
	pxt_remote_close(&filter.remote);
	return status;
}

const struct pxt_command pxt_cmd_filter = {
	.name = "filter",
	.summary = "chooses event types that such a stream leaves out",
	.help = help,
	.options = options,
	.wants = "of which stream? (`pxtrace ps` shows them)",
	.run = run,
};
