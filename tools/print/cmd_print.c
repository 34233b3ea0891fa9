/* SPDX-License-Identifier: MIT */
/* cmd_print.c - pxtrace print: one line an event. */
#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/print/printer.h"

#include <unistd.h>

static const char *const help[] = {
	"pxtrace print - shows the events of a log, one line each\n"
	"\n"
	"usage: pxtrace print [OPTION]... LOG...\n"
	"\n"
	"A line is: time, thread (name/tid), event, and its fields by name. Data without a\n"
	"description is shown as bytes and text. Several logs are merged by time. Where events\n"
	"were lost stands a line of its own that says how many.\n"
	"\n" PXT_PRINTER_HELP_TIME,
	PXT_SELECT_HELP PXT_PRINTER_HELP_WHICH "      --tail N          only the last N of them\n",
	PXT_PRINTER_HELP_WHAT,
	"logs:\n"
	"      --incomplete      also a log whose program still runs or has died\n"
	"      --follow          the same, and wait for more until the stream is shut down\n"
	"      --strict          exit status 3 when events were lost\n"
	"  -h, --help            this\n"
	"\n"
	"examples: what did the threads named ctl* do around a late job, 1.20 s into the run?\n"
	"Which jobs were more than a millisecond late, and by how much?\n"
	"\n"
	"  $ pxtrace print --thread 'ctl*' --from 1.20 --to 1.21 --delta run.ptl\n"
	"  $ pxtrace print --where 'late_ns > 1ms' --format '{time} {field:late_ns:>12}' run.ptl\n"
	"\n" PXT_HELP_STATUS,
	NULL,
};

/* ---- The command line ---- */

struct command {
	struct pxt_printer printer;
	bool incomplete;
};

static bool take_tail(void *self, char *value)
{
	struct pxt_printer *p = &((struct command *)self)->printer;

	p->tailed = true;
	return pxt_option_number(&p->tail, value, "--tail", 0, UINT64_MAX);
}

static const struct pxt_option options[] = {
	PXT_OPT_MORE(pxt_select_options, struct command, printer.select),
	PXT_OPT_MORE(pxt_printer_options, struct command, printer),
	PXT_OPT_FLAG(0, "strict", struct command, printer.strict),
	PXT_OPT_TAKE(0, "tail", take_tail),
	PXT_OPT_FLAG(0, "incomplete", struct command, incomplete),
	PXT_OPT_FLAG(0, "follow", struct command, printer.follow),
	PXT_OPT_END,
};

/* All that is in a log that was named twice would be told twice. */
static bool are_all_new(const struct pxt_reader *reader)
{
	for (unsigned i = 1; i < reader->count; i++)
		for (unsigned k = 0; k < i; k++)
			if (!pxt_outfile_is_another(
			        "print", reader->sources[i]->path, reader->sources[k]->path))
				return false;
	return true;
}

static int prepare(struct pxt_printer *p, bool incomplete, int argc, char **argv)
{
	int status;

	if (pxt_printer_check(p) != PXT_EXIT_OK)
		return PXT_EXIT_USAGE;
	if (p->limited && p->tailed) {
		pxt_complain("print: --limit takes the first events, --tail the last: choose one");
		return pxt_usage("print");
	}
	if (p->follow && argc - optind > 1) {
		pxt_complain("print: --follow takes one log");
		return pxt_usage("print");
	}
	p->line.reader = &p->reader;
	p->line.live = p->follow;
	p->line.out.colour = pxt_colour_wanted(p->colour, STDOUT_FILENO);
	status = pxt_reader_open(&p->reader, argv + optind, (unsigned)(argc - optind),
	    p->follow    ? PXT_OPEN_LIVE
	    : incomplete ? PXT_OPEN_INCOMPLETE
	                 : PXT_OPEN_COMPLETE,
	    &p->select);
	return status == PXT_EXIT_OK && !are_all_new(&p->reader) ? PXT_EXIT_USAGE : status;
}

static int run(int argc, char **argv)
{
	static struct command c;
	struct pxt_printer *p = &c.printer;
	int status;

	p->command = "print";
	p->line.out.fd = STDOUT_FILENO;
	p->line.fields.dump_limit = 64;
	status = pxt_options_read(&pxt_cmd_print, &c, argc, argv);
	if (status >= 0)
		return status;
	status = prepare(p, c.incomplete, argc, argv);
	if (status == PXT_EXIT_OK)
		status = pxt_printer_run(p);
	pxt_reader_close(&p->reader);
	return status;
}

const struct pxt_command pxt_cmd_print = {
	.name = "print",
	.summary = "shows the events of a log, one line each",
	.help = help,
	.options = options,
	.wants = "which log?",
	.run = run,
};
