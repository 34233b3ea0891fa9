/* SPDX-License-Identifier: MIT */
/* cmd_check.c - pxtrace check: whether a log is whole, and if not, where and what to do. */
#include "format/mul64.h"
#include "tools/command/command.h"
#include "tools/describe/describe.h"
#include "tools/output/out.h"
#include "tools/read/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FINDINGS_MAX 10000u
#define SHORT        1000u /* records */

static const char *const help[] = {
	"pxtrace check - tells whether logs are whole\n"
	"\n"
	"usage: pxtrace check [OPTION]... LOG...\n"
	"\n"
	"Looks through each log, also behind what is wrong in it: the checksum and the place in\n"
	"sequence of every block, every record and slot, the sums that the blocks carry, the\n"
	"names of the event types, the trailer, and its equation: written =\n"
	"retrieved + lost + cleared + held. What is wrong is told with block and byte.\n"
	"\n"
	"  -n, --limit N         findings shown a log (20); all are counted\n"
	"      --incomplete      a log whose program still runs or has died is well so far\n"
	"      --strict          exit status 3 also when nobody knows whether events were lost:\n"
	"                        the log's own end is missing\n"
	"  -q, --quiet           no report, only the exit status\n"
	"      --json            a JSON object a log, a line each\n"
	"      --color WHEN      auto (on a terminal; NO_COLOR is honoured), always, never\n"
	"      --colour WHEN     the same\n"
	"  -h, --help            this\n"
	"\n"
	"example: may this log be trusted, and if not, where does it begin to be wrong?\n"
	"\n"
	"  $ pxtrace check run.ptl\n"
	"\n"
	"example: which of the logs of last night are not as they should be?\n"
	"\n"
	"  $ for log in *.ptl; do pxtrace check -q \"$log\" || echo \"$log: $?\"; done\n",
	"\n"
	"A damaged block is passed over up to where the next one begins. Slots of such a block\n"
	"are torn when a record lacks some of its own, orphans when they belong to no record.\n"
	"\n"
	"exit status: 0 clean; 1 wrong command line; 2 a file could not be read, or is no log;\n"
	"3 clean, but events were lost when it was recorded, or with --strict may have been;\n"
	"4 the output could not be written; 5 damaged, without its end (unless --incomplete), or\n"
	"in contradiction with itself. Of several logs the worst decides: 4, 2, 5, 3, 0.\n",
	NULL,
};

struct checker {
	struct pxt_out out;
	bool incomplete;
	bool strict;
	bool quiet;
	bool json;
	const char *colour;
	unsigned limit;
	struct posix_trace_logfinding_np *findings;
};

/* What there is to say of one log. */
struct verdict {
	const char *path;
	struct posix_trace_logcheck_np sum;
	uint64_t kinds[POSIX_TRACE_FINDING_TYPE_NP + 1]; /* among the findings that are kept */
	uint64_t lost;
	bool end_unknown; /* how much was recorded after its last event is */
	bool lacks_end;   /* the log's next file is empty */
	uint32_t missing; /* files of the log between this one and the one before */
	struct pxt_hints hints;
	int status;
};

/* ---- The verdict ---- */

static const char *word_of(const struct verdict *verdict)
{
	if ((verdict->lost > 0 || verdict->missing > 0) && verdict->status != PXT_EXIT_DAMAGE)
		return "loss";
	if (verdict->status != PXT_EXIT_DAMAGE)
		return verdict->end_unknown ? "clean so far" : "clean";
	return verdict->kinds[POSIX_TRACE_FINDING_DAMAGE_NP] > 0 ? "damaged"
	       : verdict->kinds[POSIX_TRACE_FINDING_END_NP] > 0  ? "incomplete"
	                                                         : "contradictory";
}

static void judge(const struct checker *c, struct verdict *verdict)
{
	const struct posix_trace_logcheck_np *sum = &verdict->sum;
	uint64_t kept =
	    sum->posix_findings_np < FINDINGS_MAX ? sum->posix_findings_np : FINDINGS_MAX;
	uint64_t bad;

	for (uint64_t i = 0; i < kept; i++)
		verdict->kinds[c->findings[i].posix_kind_np]++;
	/* What was not kept is not known, but there is too much of it for a mere end. */
	verdict->kinds[POSIX_TRACE_FINDING_DAMAGE_NP] += sum->posix_findings_np - kept;
	verdict->lost =
	    sum->posix_complete_np ? sum->posix_counts_np.posix_lost_np : sum->posix_told_np;
	if (sum->posix_complete_np) {
		pxt_sum_add(&verdict->lost, sum->posix_lost_in_log_np);
		pxt_sum_add(&verdict->lost, sum->posix_counts_np.posix_held_np);
	}
	verdict->kinds[POSIX_TRACE_FINDING_END_NP] += verdict->lacks_end;
	bad = sum->posix_findings_np + verdict->lacks_end;
	if (c->incomplete) {
		bad -= verdict->kinds[POSIX_TRACE_FINDING_END_NP];
		/* Names may come after the first events of a type. */
		if (!sum->posix_complete_np)
			bad -= verdict->kinds[POSIX_TRACE_FINDING_TYPE_NP];
	}
	verdict->end_unknown = !sum->posix_complete_np ||
	                       sum->posix_stream_status_np == POSIX_TRACE_RUNNING ||
	                       verdict->lacks_end;
	if (bad > 0)
		verdict->status = PXT_EXIT_DAMAGE;
	else if (verdict->lost > 0 || verdict->missing > 0 || (c->strict && verdict->end_unknown))
		verdict->status = PXT_EXIT_LOST;
}

/* ---- For people ---- */

static void line(struct pxt_out *out, const char *title)
{
	pxt_out_text(out, "  ");
	pxt_out_column(out, title, strlen(title), strlen(title), 10);
}

static void put_sums(struct pxt_out *out, const struct posix_trace_logcheck_np *sum)
{
	line(out, "file");
	pxt_out_format(out, "%llu bytes, format %lu.%lu\n", (unsigned long long)sum->posix_bytes_np,
	    (unsigned long)sum->posix_format_major_np, (unsigned long)sum->posix_format_minor_np);
	line(out, "blocks");
	pxt_out_format(out, "%llu sound, %llu damaged, %llu missing",
	    (unsigned long long)sum->posix_sound_np, (unsigned long long)sum->posix_damaged_np,
	    (unsigned long long)sum->posix_missing_np);
	if (sum->posix_skipped_np > 0)
		pxt_out_format(
		    out, ", %llu bytes between them", (unsigned long long)sum->posix_skipped_np);
	pxt_out_char(out, '\n');
	line(out, "records");
	pxt_out_format(out, "%llu sound", (unsigned long long)sum->posix_records_np);
	if (sum->posix_suspect_np > 0)
		pxt_out_format(out, ", %llu in damaged blocks look whole",
		    (unsigned long long)sum->posix_suspect_np);
	pxt_out_char(out, '\n');
	line(out, "slots");
	pxt_out_format(out, "%llu torn, %llu orphans\n", (unsigned long long)sum->posix_torn_np,
	    (unsigned long long)sum->posix_orphans_np);
}

static void put_threads(struct pxt_out *out, const struct posix_trace_logcheck_np *sum)
{
	if (sum->posix_placeless_np == 0)
		return;
	line(out, "threads");
	pxt_out_format(out,
	    "the table of threads was full: %llu events are of threads without a place in it\n",
	    (unsigned long long)sum->posix_placeless_np);
	line(out, "");
	pxt_out_text(out,
	    "(number, pid and tid are in the events, names are not; CONFIG_PTRACE_MAX_THREADS)\n");
}

static void put_law(struct pxt_out *out, const struct posix_trace_logcheck_np *sum)
{
	const struct posix_trace_counts_np *counts = &sum->posix_counts_np;

	if (!sum->posix_complete_np)
		return;
	line(out, "law");
	pxt_out_format(out, "written %llu, retrieved %llu + lost %llu + cleared %llu + held %llu\n",
	    (unsigned long long)counts->posix_written_np,
	    (unsigned long long)counts->posix_retrieved_np,
	    (unsigned long long)counts->posix_lost_np, (unsigned long long)counts->posix_cleared_np,
	    (unsigned long long)counts->posix_held_np);
	if (sum->posix_lost_in_log_np > 0) {
		line(out, "");
		pxt_out_format(out,
		    "of the retrieved, %llu are not in the log: overwritten, or without room\n",
		    (unsigned long long)sum->posix_lost_in_log_np);
	}
	if (counts->posix_held_np > 0) {
		line(out, "");
		pxt_out_format(out, "the %llu that were held at the stream's end are in no log\n",
		    (unsigned long long)counts->posix_held_np);
	}
}

static void put_findings(
    const struct checker *c, struct pxt_out *out, const struct verdict *verdict)
{
	uint64_t all = verdict->sum.posix_findings_np;
	uint64_t shown = all < c->limit ? all : c->limit;

	for (uint64_t i = 0; i < shown; i++) {
		const struct posix_trace_logfinding_np *finding = &c->findings[i];

		line(out, i == 0 ? "findings" : "");
		pxt_out_format(out,
		    "block %llu, byte %llu: ", (unsigned long long)finding->posix_block_np,
		    (unsigned long long)finding->posix_offset_np);
		pxt_out_escaped(out, finding->posix_reason_np, strlen(finding->posix_reason_np));
		pxt_out_char(out, '\n');
	}
	if (all > shown) {
		line(out, "");
		pxt_out_format(out, "and %llu more (--limit)\n", (unsigned long long)(all - shown));
	}
}

static void put_end(struct pxt_out *out, const struct verdict *verdict)
{
	if (!verdict->end_unknown)
		return;
	line(out, "end");
	pxt_out_text(out, PXT_END_UNKNOWN);
	pxt_out_text(out, verdict->lacks_end ? "; the log's next file is empty\n"
	                  : verdict->sum.posix_complete_np
	                      ? "; it was not its program that ended the log\n"
	                      : "\n");
}

static void put_clock(struct pxt_out *out, const struct posix_trace_logcheck_np *sum)
{
	char length[16];

	if (sum->posix_readings_backward_np > 0) {
		line(out, "clock");
		pxt_out_format(out,
		    "READINGS STEPPED BACK: %llu readings of the clocks are before earlier ones "
		    "and are left out: a counter wrapped or was set back, or the program's own "
		    "clock was\n",
		    (unsigned long long)sum->posix_readings_backward_np);
	}
	if (sum->posix_backward_np == 0)
		return;
	pxt_duration(length, sum->posix_backward_ns_np);
	line(out, "clock");
	pxt_out_format(out,
	    "STEPPED BACK: %llu events have stamps up to %s before earlier ones: a counter wrapped "
	    "or was set back, or the program's own clock was; their times say nothing\n",
	    (unsigned long long)sum->posix_backward_np, length);
}

static void put_hints(struct pxt_out *out, const struct verdict *verdict)
{
	for (unsigned i = 0; i < verdict->hints.count; i++) {
		line(out, i == 0 ? "note" : "");
		pxt_out_text(out, verdict->hints.list[i]);
		pxt_out_char(out, '\n');
	}
}

/* What a person can do about it. */
static void put_advice(const struct checker *c, struct pxt_out *out, const struct verdict *verdict)
{
	const struct posix_trace_logcheck_np *sum = &verdict->sum;
	const char *text = NULL;

	if (verdict->kinds[POSIX_TRACE_FINDING_DAMAGE_NP] > 0)
		text = sum->posix_sound_np == 0
		           ? "copy the log again from where it was written"
		           : "copy the log again from where it was written; `pxtrace print "
		             "--incomplete` shows what stands in front of the first damage";
	else if (verdict->kinds[POSIX_TRACE_FINDING_LAW_NP] > 0)
		text = "every block is as it was written: the writer's own counts contradict each "
		       "other, which is a defect of the writer; keep the log";
	else if (verdict->kinds[POSIX_TRACE_FINDING_END_NP] > 0 && !c->incomplete)
		text = "the program still runs, or it died before posix_trace_shutdown(); "
		       "--incomplete, here and with print and stat, takes the log as it is";
	else if (verdict->lost > 0)
		text = verdict->hints.loss
		           ? verdict->hints.loss
		           : "`pxtrace print --incomplete` shows where events were lost";
	if (text) {
		line(out, "next");
		pxt_out_text(out, text);
		pxt_out_char(out, '\n');
	}
}

static void put_report(struct checker *c, const struct verdict *verdict)
{
	struct pxt_out *out = &c->out;

	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_escaped(out, verdict->path, strlen(verdict->path));
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_text(out, ": ");
	if (verdict->status != PXT_EXIT_OK)
		pxt_out_colour(out, PXT_COLOUR_LOSS);
	pxt_out_text(out, word_of(verdict));
	if (verdict->lost > 0)
		pxt_out_format(out, ", %llu EVENTS LOST", (unsigned long long)verdict->lost);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_char(out, '\n');
	put_sums(out, &verdict->sum);
	put_threads(out, &verdict->sum);
	put_law(out, &verdict->sum);
	put_end(out, verdict);
	put_findings(c, out, verdict);
	put_clock(out, &verdict->sum);
	put_hints(out, verdict);
	put_advice(c, out, verdict);
}

/* ---- For programs ---- */

static const char *kind_word(int kind)
{
	static const char *const words[] = { "", "damage", "end", "law", "type" };

	return words[kind];
}

static void put_json(struct checker *c, const struct verdict *verdict)
{
	const struct posix_trace_logcheck_np *sum = &verdict->sum;
	const struct posix_trace_counts_np *counts = &sum->posix_counts_np;
	struct pxt_out *out = &c->out;

	pxt_json_begin(out);
	pxt_json_text(out, "log", verdict->path);
	pxt_json_text(out, "verdict", word_of(verdict));
	pxt_json_signed(out, "status", verdict->status);
	pxt_json_bool(out, "complete", sum->posix_complete_np);
	pxt_json_bool(out, "end_unknown", verdict->end_unknown);
	pxt_json_number(out, "files_missing", verdict->missing);
	pxt_json_number(out, "bytes", sum->posix_bytes_np);
	pxt_json_number(out, "blocks_sound", sum->posix_sound_np);
	pxt_json_number(out, "blocks_damaged", sum->posix_damaged_np);
	pxt_json_number(out, "blocks_missing", sum->posix_missing_np);
	pxt_json_number(out, "bytes_skipped", sum->posix_skipped_np);
	pxt_json_number(out, "records", sum->posix_records_np);
	pxt_json_number(out, "records_suspect", sum->posix_suspect_np);
	pxt_json_number(out, "slots_torn", sum->posix_torn_np);
	pxt_json_number(out, "slots_orphan", sum->posix_orphans_np);
	pxt_json_number(out, "events_unnamed", sum->posix_unnamed_np);
	pxt_json_number(out, "events_placeless", sum->posix_placeless_np);
	pxt_json_number(out, "lost", verdict->lost);
	if (sum->posix_complete_np) {
		pxt_json_number(out, "written", counts->posix_written_np);
		pxt_json_number(out, "retrieved", counts->posix_retrieved_np);
		pxt_json_number(out, "lost_in_stream", counts->posix_lost_np);
		pxt_json_number(out, "cleared", counts->posix_cleared_np);
		pxt_json_number(out, "held", counts->posix_held_np);
		pxt_json_number(out, "lost_in_log", sum->posix_lost_in_log_np);
	}
	pxt_json_number(out, "stamps_backward", sum->posix_backward_np);
	pxt_json_number(out, "stamps_backward_ns", sum->posix_backward_ns_np);
	pxt_json_number(out, "readings_backward", sum->posix_readings_backward_np);
	pxt_json_number(out, "findings_total", sum->posix_findings_np);
	pxt_json_open(out, "findings", '[');
	for (uint64_t i = 0; i < sum->posix_findings_np && i < c->limit; i++) {
		const struct posix_trace_logfinding_np *finding = &c->findings[i];

		pxt_json_open(out, NULL, '{');
		pxt_json_text(out, "kind", kind_word(finding->posix_kind_np));
		pxt_json_number(out, "block", finding->posix_block_np);
		pxt_json_number(out, "byte", finding->posix_offset_np);
		pxt_json_text(out, "reason", finding->posix_reason_np);
		pxt_json_close(out, "}");
	}
	pxt_json_close(out, "]");
	pxt_json_open(out, "notes", '[');
	for (unsigned i = 0; i < verdict->hints.count; i++)
		pxt_json_text(out, NULL, verdict->hints.list[i]);
	pxt_json_close(out, "]");
	pxt_json_end(out);
}

/* ---- The command ---- */

static void watch(uint64_t done, void *progress)
{
	pxt_progress_at(progress, done);
}

static uint64_t bytes_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* Reading a log once more is for logs that may have hints, and for short ones. */
static bool is_worth_hints(const struct posix_trace_logcheck_np *sum)
{
	return sum->posix_complete_np &&
	       (sum->posix_records_np < SHORT || sum->posix_lost_in_log_np > 0 ||
	           sum->posix_counts_np.posix_lost_np > 0 ||
	           sum->posix_counts_np.posix_held_np > 0);
}

/* @file: one of @set's. */
static int check(struct checker *c, const struct pxt_logset *set, unsigned file)
{
	const char *path = set->files ? set->files[file] : set->path;
	struct verdict verdict = { .path = path };
	int fd;
	int status = pxt_open_file(path, true, &fd);

	if (set->files) {
		verdict.missing = pxt_sets_missing(set, file);
		verdict.lacks_end = file + 1 == set->count && pxt_sets_lacks_end(set);
	}

	if (status != PXT_EXIT_OK)
		return status;
	struct pxt_progress progress;
	pxt_progress_begin(&progress, "checking", "bytes", bytes_of(fd), false);
	int error = posix_trace_log_check_np(fd, &verdict.sum, sizeof verdict.sum, c->findings,
	    sizeof *c->findings, FINDINGS_MAX, watch, &progress);
	pxt_progress_end(&progress);
	if (error != 0) {
		pxt_complain("%s: %s", path,
		    error == EINVAL ? c->findings[0].posix_reason_np : strerror(error));
		(void)pxt_explain_content(path, fd);
		status = PXT_EXIT_LOG;
	} else {
		judge(c, &verdict);
		if (verdict.status != PXT_EXIT_DAMAGE && is_worth_hints(&verdict.sum))
			pxt_hints_of_file(&verdict.hints, fd, verdict.sum.posix_records_np);
		status = verdict.status;
		if (c->json)
			put_json(c, &verdict);
		else if (!c->quiet)
			put_report(c, &verdict);
	}
	(void)close(fd);
	return status;
}

static const struct pxt_option options[] = {
	PXT_OPT_NUMBER('n', "limit", struct checker, limit, 0, FINDINGS_MAX),
	PXT_OPT_FLAG(0, "incomplete", struct checker, incomplete),
	PXT_OPT_FLAG(0, "strict", struct checker, strict),
	PXT_OPT_FLAG('q', "quiet", struct checker, quiet),
	PXT_OPT_FLAG(0, "json", struct checker, json),
	PXT_OPT_COLOUR(struct checker, colour),
	PXT_OPT_END,
};

/* The worse of two; what could not be looked at is worse than what was found. */
static int worse(int a, int b)
{
	static const int order[] = { PXT_EXIT_OUTPUT, PXT_EXIT_LOG, PXT_EXIT_DAMAGE,
		PXT_EXIT_LOST };

	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return PXT_EXIT_OK;
}

/* Each file of a log that went from file to file. */
static int check_all(struct checker *c, char *const *paths, unsigned count)
{
	struct pxt_logset *sets = pxt_sets_find(paths, count, &count);
	int status = PXT_EXIT_OK;

	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j == 0 || j < sets[i].count; j++)
			status = worse(status, check(c, &sets[i], j));
		pxt_sets_say_missing(&sets[i]);
	}
	pxt_sets_free(sets, count);
	return status;
}

static int run(int argc, char **argv)
{
	static struct checker c;
	int status;

	c.out.fd = STDOUT_FILENO;
	c.limit = 20;
	status = pxt_options_read(&pxt_cmd_check, &c, argc, argv);
	if (status >= 0)
		return status;
	c.out.colour = !c.json && pxt_colour_wanted(c.colour, STDOUT_FILENO);
	c.findings = pxt_must(calloc(FINDINGS_MAX, sizeof *c.findings));
	status = check_all(&c, argv + optind, (unsigned)(argc - optind));
	free(c.findings);
	return worse(status, pxt_finish(&c.out));
}

const struct pxt_command pxt_cmd_check = {
	.name = "check",
	.summary = "checks whether a log is whole, and if not, where",
	.help = help,
	.options = options,
	.wants = "which log?",
	.run = run,
};
