/* SPDX-License-Identifier: MIT */
/* cmd_merge.c - pxtrace merge: several logs, and the kernel's scheduler, as one log. */
#include "tools/command/command.h"
#include "tools/merge/merge.h"
#include "tools/output/out.h"

#include <string.h>

static const char *const help[] = {
	"pxtrace merge - several logs as one, on one line of time\n"
	"\n"
	"usage: pxtrace merge [OPTION]... -o OUT LOG...\n"
	"\n"
	"Logs of one boot of one machine are placed by CLOCK_MONOTONIC, others by civil time; "
	"where "
	"the\n"
	"two contradict each other, it is said. A log that cannot be placed is refused, and "
	"nothing "
	"is\n"
	"written. Threads of different processes stay different, losses stay where they were and "
	"are counted, and the result is a log that "
	"every\n"
	"other command reads.\n"
	"\n",
	"  -o, --output OUT      the new log; it appears when it is finished\n"
	"      --ftrace FILE     also the scheduler's events of the first log's machine and run: "
	"the text\n"
	"                        that trace-cmd report or perf script prints, or the file trace "
	"of\n"
	"                        tracefs\n"
	"      --ftrace-clock mono|boot|x86-tsc\n"
	"                        what it was recorded with (default: mono for stamps with a "
	"point,\n"
	"                        x86-tsc for those without)\n"
	"      --same-boot       all logs are of one machine that was not restarted between them,\n"
	"                        whatever their dates say: place them by CLOCK_MONOTONIC\n"
	"      --by-date         place all logs by civil time, whatever CLOCK_MONOTONIC says\n"
	"      --shift HOST=TIME the civil time of that host's logs (or of the log of that name) "
	"is so\n"
	"                        much further: 1.5, -20ms\n"
	"      --align EVENT[,FIELD]\n"
	"                        clocks of several machines are compared by this event, which "
	"their\n"
	"                        logs have at one moment; FIELD says which of them belong "
	"together\n"
	"      --incomplete      also a log whose program still runs or has died\n"
	"      --strict          exit status 3 when events were lost\n"
	"  -h, --help            this\n"
	"\n"
	"example: two programs, and who ran instead of them\n"
	"\n"
	"  $ trace-cmd record -C mono -e sched_switch -e sched_waking ./run-both\n"
	"  $ trace-cmd report -t >sched.txt\n"
	"  $ pxtrace merge --ftrace sched.txt -o all.ptl control.ptl sensor.ptl\n"
	"  $ pxtrace why all.ptl\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a log could not be read or placed; 3 events "
	"were\n"
	"lost (--strict); 4 the output could not be written.\n",
	NULL,
};

struct wishes {
	const char *output;
	const char *ftrace;
	enum pxt_ftrace_clock clock;
	struct pxt_placing placing;
	bool incomplete;
	bool strict;
};

static bool take_clock(void *self, char *word)
{
	struct wishes *wishes = self;
	static const char *const words[] = { "mono", "boot", "x86-tsc" };

	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		wishes->clock = PXT_FTRACE_MONO + i;
		return true;
	}
	pxt_complain(
	    "--ftrace-clock is mono, boot or x86-tsc, not \"%s\"; others have nothing in common "
	    "with a log",
	    word);
	return false;
}

static bool take_rule(struct wishes *wishes, enum pxt_clock_rule rule)
{
	enum pxt_clock_rule *taken = &wishes->placing.rule;

	if (*taken != PXT_CLOCK_AUTO && *taken != rule)
		pxt_complain("merge: --same-boot and --by-date contradict each other: choose one");
	else
		*taken = rule;
	return *taken == rule;
}

/* "box=-20ms"; changes @text. */
static bool take_shift(void *self, char *text)
{
	struct pxt_placing *placing = &((struct wishes *)self)->placing;
	char *equals = strrchr(text, '=');
	struct pxt_when when;

	if (!equals || equals == text || !pxt_when_parse(equals + 1, &when) || when.absolute) {
		pxt_complain("--shift is HOST=TIME, as box=1.5 or box=-20ms, not \"%s\"", text);
		return false;
	}
	if (placing->shift_count == PXT_SHIFTS) {
		pxt_complain("merge: more than %u times --shift", PXT_SHIFTS);
		return false;
	}
	*equals = '\0';
	placing->shifts[placing->shift_count].name = text;
	placing->shifts[placing->shift_count++].ns = when.ns;
	return true;
}

/* "sync", "sync,number"; changes @text. */
static bool take_align(void *self, char *text)
{
	struct pxt_placing *placing = &((struct wishes *)self)->placing;
	char *comma = strchr(text, ',');

	if (placing->event)
		pxt_complain("merge: --align is taken once");
	else if (*text == '\0' || comma == text || (comma && comma[1] == '\0'))
		pxt_complain("--align is EVENT or EVENT,FIELD, not \"%s\"", text);
	else
		placing->event = text;
	if (placing->event != text)
		return false;
	if (comma) {
		*comma = '\0';
		placing->field = comma + 1;
	}
	return true;
}

static bool take_same_boot(void *self, char *value)
{
	(void)value;
	return take_rule(self, PXT_CLOCK_ONE_BOOT);
}

static bool take_by_date(void *self, char *value)
{
	(void)value;
	return take_rule(self, PXT_CLOCK_DATES);
}

static bool take_ftrace(void *self, char *value)
{
	struct wishes *wishes = self;
	bool once = !wishes->ftrace;

	if (!once)
		pxt_complain("--ftrace is taken once: one machine has one scheduler");
	wishes->ftrace = value;
	return once;
}

static const struct pxt_option options[] = {
	PXT_OPT_TEXT('o', "output", struct wishes, output),
	PXT_OPT_TAKE(0, "ftrace", take_ftrace),
	PXT_OPT_TAKE(0, "ftrace-clock", take_clock),
	PXT_OPT_DO(0, "same-boot", take_same_boot),
	PXT_OPT_DO(0, "by-date", take_by_date),
	PXT_OPT_TAKE(0, "shift", take_shift),
	PXT_OPT_TAKE(0, "align", take_align),
	PXT_OPT_FLAG(0, "incomplete", struct wishes, incomplete),
	PXT_OPT_FLAG(0, "strict", struct wishes, strict),
	PXT_OPT_END,
};

/* A log given twice, under whatever names, would be there twice; and OUT must be none of them. */
static bool check_inputs(const struct pxt_reader *reader, const char *output)
{
	for (unsigned i = 0; i < reader->count; i++) {
		const struct pxt_source *source = reader->sources[i];

		if (pxt_source_has_file(source, output)) {
			pxt_complain("%s: would be overwritten by its own merger; name another -o",
			    source->path);
			return false;
		}
		for (unsigned k = 0; k < i; k++) {
			if (memcmp(reader->sources[k]->info.posix_uuid_np,
			        source->info.posix_uuid_np, 16) != 0)
				continue;
			pxt_complain("%s: is the same stream's log as %s", source->path,
			    reader->sources[k]->path);
			return false;
		}
	}
	return true;
}

static bool add_kernel(struct pxt_merge *merge, const struct wishes *wishes)
{
	if (!wishes->ftrace)
		return true;
	if (!pxt_ftrace_open(
	        &merge->ftrace, wishes->ftrace, wishes->clock, &merge->reader, &merge->line))
		return false;
	/* First, so that these names are the kernel's whatever a log calls so. */
	for (unsigned i = 0; i < PXT_FTRACETEXT_KINDS; i++)
		merge->ftrace_ids[i] = pxt_merge_types_add(&merge->types,
		    pxt_ftracetext_types[i].name, pxt_ftracetext_types[i].format, wishes->ftrace);
	return true;
}

static int merge_logs(struct pxt_merge *merge, const struct wishes *wishes)
{
	if (!pxt_outfile_check(wishes->output))
		return PXT_EXIT_OUTPUT;
	if (!check_inputs(&merge->reader, wishes->output) ||
	    !pxt_merge_line_make(&merge->line, &merge->reader, &wishes->placing) ||
	    !add_kernel(merge, wishes) || !pxt_merge_types_make(&merge->types, &merge->reader))
		return PXT_EXIT_LOG;
	int status = pxt_merge_write(merge, wishes->output);
	if (merge->ftrace.text.skipped)
		pxt_complain(
		    "%s: %llu lines tell of other events than the scheduler's; they were left out",
		    wishes->ftrace, (unsigned long long)merge->ftrace.text.skipped);
	int losses = pxt_reader_conclude(&merge->reader, true, wishes->strict);
	if (merge->ftrace.text.lost)
		pxt_complain("%s: %llu EVENTS LOST", wishes->ftrace,
		    (unsigned long long)merge->ftrace.text.lost);
	if (merge->ftrace.text.lost && wishes->strict && losses == PXT_EXIT_OK)
		losses = PXT_EXIT_LOST;
	return status != PXT_EXIT_OK ? status : losses;
}

static int run(int argc, char **argv)
{
	static struct pxt_merge merge;
	struct wishes wishes = { 0 };
	int status;

	status = pxt_options_read(&pxt_cmd_merge, &wishes, argc, argv);
	if (status >= 0)
		return status;
	if (!wishes.output) {
		pxt_complain("merge: where to? -o OUT");
		return pxt_usage("merge");
	}
	status = pxt_reader_open(&merge.reader, argv + optind, (unsigned)(argc - optind),
	    wishes.incomplete ? PXT_OPEN_INCOMPLETE : PXT_OPEN_COMPLETE, NULL);
	if (status == PXT_EXIT_OK)
		status = merge_logs(&merge, &wishes);
	pxt_merge_close(&merge);
	return status;
}

const struct pxt_command pxt_cmd_merge = {
	.name = "merge",
	.summary = "several logs as one, on one line of time",
	.help = help,
	.options = options,
	.wants = "which logs?",
	.run = run,
};
