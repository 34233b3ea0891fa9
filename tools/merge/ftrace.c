/* SPDX-License-Identifier: MIT */
/*
 * ftrace.c - scheduler events from text (tools/import/ftracetext.c), and their place on the line of time by the clock
 * that they have.
 */
#include "tools/merge/merge.h"

#include "tools/output/out.h"
#include "tools/read/source.h"

#include <errno.h>

/* ---- Time ---- */

static const struct pxt_source *first_log(const struct pxt_ftrace *ftrace)
{
	return ftrace->reader->sources[0];
}

/* From a stamp to the common line, through the clocks of the first log. */
static int64_t ns_of(const struct pxt_ftrace *ftrace, uint64_t stamp)
{
	const struct pxt_place *place = &ftrace->line->places[0];
	struct timespec time = { 0, 0 };

	if (ftrace->clock == PXT_FTRACE_TSC) {
		(void)posix_trace_log_gettime_np(first_log(ftrace)->trid, stamp, &time);
		return pxt_source_placed(first_log(ftrace), pxt_when_ns(&time));
	}
	int64_t from = ftrace->clock == PXT_FTRACE_BOOT ? place->boot_ns : place->mono_ns;
	return pxt_source_placed(first_log(ftrace), place->real_ns + ((int64_t)stamp - from));
}

bool pxt_ftrace_next(struct pxt_ftrace *ftrace)
{
	if (!pxt_ftracetext_next(&ftrace->text))
		return false;
	ftrace->ns = ns_of(ftrace, ftrace->text.event.stamp);
	return true;
}

/* ---- Opening ---- */

/* Which clock the stamps are of, and whether the first log knows that clock. */
static bool choose_clock(struct pxt_ftrace *ftrace)
{
	const struct pxt_source *source = first_log(ftrace);
	const struct pxt_place *place = &ftrace->line->places[0];

	if (ftrace->clock == PXT_FTRACE_AUTO)
		ftrace->clock = ftrace->text.ticks ? PXT_FTRACE_TSC : PXT_FTRACE_MONO;
	if (ftrace->text.ticks != (ftrace->clock == PXT_FTRACE_TSC)) {
		pxt_complain(
		    "%s: its stamps are not of the clock that --ftrace-clock names", ftrace->path);
		return false;
	}
	if (ftrace->clock == PXT_FTRACE_TSC &&
	    source->info.posix_clock_np.posix_source_np != POSIX_TRACE_CLOCK_TSC_NP) {
		pxt_complain("%s: its stamps are a counter, which %s does not know", ftrace->path,
		    source->path);
		pxt_explain("record with the clock mono: trace-cmd record -C mono, or echo mono "
		            ">trace_clock");
		return false;
	}
	if ((ftrace->clock == PXT_FTRACE_MONO && place->mono_ns <= 0) ||
	    (ftrace->clock == PXT_FTRACE_BOOT && place->boot_ns <= 0)) {
		pxt_complain(
		    "%s: %s does not know the clock of its stamps", ftrace->path, source->path);
		return false;
	}
	return true;
}

/* Both from one run: their times must meet. */
static bool check_times(const struct pxt_ftrace *ftrace, int64_t first, int64_t last)
{
	const struct pxt_source *source = first_log(ftrace);
	int64_t start = pxt_source_placed(source, pxt_when_ns(&source->info.posix_start_np));
	int64_t end = pxt_lasting_end(&source->info);
	char text[16];

	end = end > 0 ? pxt_source_placed(source, end) : INT64_MAX / 2;
	if (last >= start && first <= end)
		return true;
	pxt_duration(text, (uint64_t)(last < start ? start - last : first - end));
	pxt_complain("%s: cannot be placed: it %s %s %s %s", ftrace->path,
	    last < start ? "ends" : "begins", text,
	    last < start ? "before the begin of" : "behind the end of", source->path);
	pxt_explain("was it recorded in the same run, and with the clock mono (trace-cmd record -C "
	            "mono)? --ftrace-clock says which clock it was");
	return false;
}

bool pxt_ftrace_open(struct pxt_ftrace *ftrace, const char *path, enum pxt_ftrace_clock clock,
    const struct pxt_reader *reader, const struct pxt_merge_line *line)
{
	int64_t first = INT64_MAX;
	int64_t last = INT64_MIN;
	int fd;

	*ftrace =
	    (struct pxt_ftrace){ .path = path, .clock = clock, .reader = reader, .line = line };
	fd = pxt_open_plain(path); /* it is read several times */
	ftrace->text.file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!ftrace->text.file) {
		pxt_complain("%s: %s", path, pxt_open_error(errno));
		return false;
	}
	if (!pxt_ftracetext_next(&ftrace->text)) {
		pxt_complain("%s: there is no scheduler event in it", path);
		pxt_explain(
		    "it should be what `trace-cmd report -t` or `perf script` prints, or tracefs' "
		    "file trace, with sched_switch and sched_waking");
		return false;
	}
	if (!choose_clock(ftrace))
		return false;
	pxt_ftracetext_rewind(&ftrace->text);
	while (pxt_ftrace_next(ftrace)) {
		first = ftrace->ns < first ? ftrace->ns : first;
		last = ftrace->ns > last ? ftrace->ns : last;
	}
	if (ferror(ftrace->text.file) || !check_times(ftrace, first, last))
		return false;
	if (ftrace->text.unknown)
		pxt_complain(
		    "%s: does not say how many events it lost in %llu places; 1 is counted for "
		    "each",
		    path, (unsigned long long)ftrace->text.unknown);
	pxt_ftracetext_rewind(&ftrace->text);
	return true;
}

void pxt_ftrace_close(struct pxt_ftrace *ftrace)
{
	if (ftrace->text.file)
		(void)fclose(ftrace->text.file);
	ftrace->text.file = NULL;
}
