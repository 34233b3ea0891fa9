/* SPDX-License-Identifier: MIT */
/*
 * ended.c - how a log came to its end: the signal that ended its process, what could not be written, how long
 * its stream lived, and on which line of time; whether it began at all; what a command that read logs ends with,
 * losses included; see source.h.
 */
#include "tools/read/source.h"

#include "tools/output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Linux' numbers, which a log carries, on all machines but Alpha, MIPS, PA-RISC and SPARC; this
 * machine's own may be others.
 */
const char *pxt_ended_signal(int number)
{
	static const char *const names[] = { "", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP",
		"SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2",
		"SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP",
		"SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM",
		"SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS" };

	return number > 0 && number < (int)(sizeof names / sizeof names[0]) ? names[number]
	                                                                    : "real-time";
}

bool pxt_ended_by(const struct posix_trace_loginfo_np *info, char *text, size_t room)
{
	char about[40] = "";
	char thread[40] = "";
	char at[48] = "";

	if (!info->posix_signal_np)
		return false;
	if (info->posix_signal_code_np > 0)
		(void)snprintf(about, sizeof about, " about address 0x%llx",
		    (unsigned long long)info->posix_signal_address_np);
	else if (info->posix_signal_sender_np)
		(void)snprintf(
		    about, sizeof about, " from process %ld", (long)info->posix_signal_sender_np);
	if (info->posix_signal_tid_np)
		(void)snprintf(
		    thread, sizeof thread, ", in thread %ld", (long)info->posix_signal_tid_np);
	if (info->posix_signal_at_np)
		(void)snprintf(at, sizeof at, " at instruction 0x%llx",
		    (unsigned long long)info->posix_signal_at_np);
	(void)snprintf(text, room, "signal %d (%s)%s%s%s", info->posix_signal_np,
	    pxt_ended_signal(info->posix_signal_np), about, thread, at);
	return true;
}

bool pxt_never_started(const struct posix_trace_loginfo_np *info, uint64_t events)
{
	return info->posix_complete_np && events == 0 && info->posix_lost_np == 0 &&
	       info->posix_counts_np.posix_written_np == 0;
}

/* ---- What could not be written ---- */

#define DEVICE                                                                                     \
	"a log on another device loses less, and so does one that stays small "                    \
	"(posix_trace_attr_setlogsize() with the policy LOOP)"
#define READER                                                                                     \
	"a program that reads the log as it is written has to stay until the stream is shut down"

/* Linux' numbers, which a log carries, on all machines but Alpha, MIPS, PA-RISC and SPARC. */
static const struct {
	int number;
	const char *name;
	const char *text;
	const char *advice;
} causes[] = {
	{ 5, "EIO", "the device failed", DEVICE },
	{ 9, "EBADF", "its descriptor was closed, or became another file's",
	    "the log's descriptor belongs to the stream until shutdown: the program must not close "
	    "it" },
	{ 11, "EAGAIN", "the device took nothing for too long",
	    "a faster device, or fewer events on it (posix_trace_set_filter()), lose less" },
	{ 27, "EFBIG", "the file reached the largest size allowed",
	    "a higher limit (ulimit -f), or a log that stays below it "
	    "(posix_trace_attr_setlogsize() "
	    "with the policy LOOP), loses less" },
	{ 28, "ENOSPC", "no space left on the device", DEVICE },
	{ 30, "EROFS", "the file system is read-only", DEVICE },
	{ 32, "EPIPE", "the reader of the pipe was gone", READER },
	{ 104, "ECONNRESET", "the other end of the connection was gone", READER },
	{ 110, "ETIMEDOUT", "the other end of the connection did not answer", READER },
	{ 122, "EDQUOT", "the quota of the disk was used up", DEVICE },
};

bool pxt_unwritten(trace_id_t trid, struct pxt_unwritten *why)
{
	struct posix_trace_status_info status;

	if (posix_trace_get_status(trid, &status) != 0 || status.posix_stream_flush_error == 0)
		return false;
	(void)snprintf(
	    why->text, sizeof why->text, "error %d of write()", status.posix_stream_flush_error);
	why->advice = DEVICE;
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
		if (causes[i].number != status.posix_stream_flush_error)
			continue;
		(void)snprintf(
		    why->text, sizeof why->text, "%s (%s)", causes[i].text, causes[i].name);
		why->advice = causes[i].advice;
	}
	return true;
}

uint64_t pxt_unwritten_records(const struct posix_trace_loginfo_np *info)
{
	uint64_t rest = info->posix_lost_np;
	const uint64_t others[] = { info->posix_counts_np.posix_lost_np,
		info->posix_counts_np.posix_held_np };

	/* The sum of a hostile log stays at the largest number. */
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		rest -= others[i] < rest ? others[i] : rest;
	return rest;
}

/* ---- How long it lived ---- */

#define SECOND INT64_C(1000000000)

/* 0 where the log does not know both, or says that time ran backward. */
static int64_t between(const struct timespec *from, const struct timespec *to)
{
	int64_t start = pxt_when_ns(from);
	int64_t end = pxt_when_ns(to);

	return start > 0 && end > start ? end - start : 0;
}

int64_t pxt_lasting_ns(const struct posix_trace_loginfo_np *info)
{
	if (!info->posix_complete_np)
		return 0;
	/* A recorder without CLOCK_MONOTONIC has the civil clock alone. */
	if (pxt_when_ns(&info->posix_start_monotonic_np) > 0)
		return between(&info->posix_start_monotonic_np, &info->posix_end_monotonic_np);
	return between(&info->posix_start_np, &info->posix_end_np);
}

int64_t pxt_lasting_end(const struct posix_trace_loginfo_np *info)
{
	int64_t lasted = pxt_lasting_ns(info);

	return lasted > 0 ? pxt_within_range(pxt_when_ns(&info->posix_start_np)) + lasted : 0;
}

bool pxt_lasting_one_monotonic(
    const struct posix_trace_loginfo_np *a, const struct posix_trace_loginfo_np *b, bool *counted)
{
	const struct posix_trace_clock_np *x = &a->posix_clock_np;
	const struct posix_trace_clock_np *y = &b->posix_clock_np;
	double by_clock = (double)pxt_when_ns(&b->posix_start_monotonic_np) -
	                  (double)pxt_when_ns(&a->posix_start_monotonic_np);
	double by_counter;
	double most;

	*counted = x->posix_source_np == POSIX_TRACE_CLOCK_TSC_NP &&
	           y->posix_source_np == POSIX_TRACE_CLOCK_TSC_NP && x->posix_hz_np > 0;
	if (!*counted)
		return true;
	by_counter = ((double)y->posix_anchor_ticks_np - (double)x->posix_anchor_ticks_np) /
	             (double)x->posix_hz_np * 1e9;
	/* A second, and a thousandth of the time: rates are not known better. */
	most = 1e9 + 1e-3 * (by_clock < 0 ? -by_clock : by_clock);
	return by_counter - by_clock < most && by_clock - by_counter < most;
}

bool pxt_lasting_stepped(const struct posix_trace_loginfo_np *info, int64_t *by)
{
	/* What the machine slept is in civil time, and in CLOCK_BOOTTIME. */
	int64_t passed = between(&info->posix_start_boottime_np, &info->posix_end_boottime_np);

	if (passed == 0)
		passed = between(&info->posix_start_monotonic_np, &info->posix_end_monotonic_np);
	if (!info->posix_complete_np || passed == 0)
		return false;
	*by = pxt_within_range(pxt_when_ns(&info->posix_end_np)) -
	      pxt_within_range(pxt_when_ns(&info->posix_start_np)) - passed;
	/* Slewing may take 500 ppm, and more where it is in a hurry. */
	return *by > SECOND + passed / 1000 || *by < -SECOND - passed / 1000;
}

/* ---- What a command ends with ---- */

uint64_t pxt_source_lost_rest(const struct pxt_source *source)
{
	uint64_t all = source->info.posix_lost_np;

	return source->at_end && !source->failed && all > source->lost ? all - source->lost : 0;
}

bool pxt_source_end_unknown(const struct pxt_source *source)
{
	struct posix_trace_status_info status;

	if (!source->info.posix_complete_np || source->failed || source->lacks_end)
		return true;
	return posix_trace_get_status(source->trid, &status) == 0 &&
	       status.posix_stream_status == POSIX_TRACE_RUNNING;
}

/* What a log lost, as one line; the status it is worth. */
static int conclude_losses(const struct pxt_source *source, bool whole, bool strict)
{
	uint64_t lost = source->lost;
	struct pxt_unwritten why;

	if (source->info.posix_lost_np > lost)
		lost = source->info.posix_lost_np;
	if (lost == 0)
		return PXT_EXIT_OK;
	if (whole)
		pxt_complain("%s: %llu EVENTS LOST (%llu were kept)", source->path,
		    (unsigned long long)lost, (unsigned long long)source->events);
	else
		pxt_complain("%s: %llu EVENTS LOST", source->path, (unsigned long long)lost);
	if (pxt_unwritten(source->trid, &why))
		pxt_explain("the log could not be written: %s", why.text);
	return strict ? PXT_EXIT_LOST : PXT_EXIT_OK;
}

/* How the log ends, as one line; the status it is worth. */
static int conclude_end(const struct pxt_source *source, bool strict)
{
	char text[160];

	if (source->let_go || !pxt_source_end_unknown(source)) {
		if (pxt_ended_by(&source->info, text, sizeof text))
			pxt_complain("%s: the process was ended by %s", source->path, text);
		if (source->read_all && pxt_never_started(&source->info, source->events))
			pxt_complain("%s: " PXT_NEVER_STARTED, source->path);
		return PXT_EXIT_OK;
	}
	if (!source->info.posix_complete_np)
		pxt_complain(
		    "%s: incomplete: read as far as it goes; " PXT_END_UNKNOWN, source->path);
	else if (!source->failed)
		pxt_complain("%s: " PXT_END_UNKNOWN, source->path);
	return strict ? PXT_EXIT_LOST : PXT_EXIT_OK;
}

/* Where the counter stepped back, times stand still, and lengths say nothing. */
static void conclude_clock(const struct pxt_source *source)
{
	double hz = (double)source->info.posix_clock_np.posix_hz_np;
	double ns = (double)source->backward_most / hz * 1e9;
	char length[16];

	if (source->backward == 0)
		return;
	/* Ticks of a second may be more than all nanoseconds that can be told. */
	pxt_duration(length, ns < (double)UINT64_MAX ? (uint64_t)ns : UINT64_MAX);
	pxt_complain(
	    "%s: THE CLOCK STEPPED BACK: %llu events have stamps up to %s before earlier ones",
	    source->path, (unsigned long long)source->backward, length);
	pxt_explain(
	    "a counter wrapped or was set back, or the program's own clock was: their times "
	    "and lengths say nothing");
}

int pxt_ended_conclude(const struct pxt_source *source, bool whole, bool strict)
{
	int losses = conclude_losses(source, whole && !source->failed, strict);
	int end = conclude_end(source, strict);

	conclude_clock(source);
	if (source->failed || source->damaged)
		return PXT_EXIT_LOG;
	return losses == PXT_EXIT_OK ? end : losses;
}

void pxt_progress_reader(struct pxt_progress *progress, const char *label,
    const struct pxt_reader *reader, bool beside_output)
{
	uint64_t total = 0;

	/* Of a growing log, what it held when it was opened. */
	for (unsigned i = 0; i < reader->count; i++)
		total += reader->sources[i]->info.posix_counts_np.posix_retrieved_np;
	pxt_progress_begin(progress, label, "events", total, beside_output);
}

/*
 * ---- Several logs on one line of time ----
 *
 * `pxtrace merge` asks more of what it writes down (tools/merge/timeline.c).
 */

/* Earlier than this, nobody had set the clock. */
#define DATE_KNOWN (INT64_C(631152000) * 1000000000) /* 1990 */
/* What slewing does is not worth a word. */
#define FAR        (INT64_C(2) * 1000000000)

/* Up to here (2067) no sum of four runs over. */
#define SUM_MAX (INT64_MAX / 3)

static int64_t monotonic(const struct pxt_source *source)
{
	return pxt_when_ns(&source->info.posix_start_monotonic_np);
}

static bool has_clocks(const struct pxt_source *source)
{
	return monotonic(source) > 0 && monotonic(source) < SUM_MAX && source->start_ns >= 0 &&
	       source->start_ns < SUM_MAX;
}

static bool one_line(const struct pxt_source *a, const struct pxt_source *b)
{
	static const unsigned char none[sizeof a->info.posix_boot_id_np];
	bool counted;

	return memcmp(a->info.posix_boot_id_np, none, sizeof none) != 0 &&
	       memcmp(a->info.posix_boot_id_np, b->info.posix_boot_id_np, sizeof none) == 0 &&
	       has_clocks(a) && has_clocks(b) &&
	       pxt_lasting_one_monotonic(&a->info, &b->info, &counted);
}

/* Whether @a says better than @b what civil time it was, in whatever order they come. */
static bool knows_better(const struct pxt_source *a, const struct pxt_source *b)
{
	bool known = a->start_ns >= DATE_KNOWN;

	if (known != (b->start_ns >= DATE_KNOWN))
		return known;
	return monotonic(a) < monotonic(b);
}

/* The log by whose civil time that one lies. */
static const struct pxt_source *base_of(
    const struct pxt_reader *reader, const struct pxt_source *source)
{
	const struct pxt_source *base = source;

	for (unsigned i = 0; i < reader->count; i++)
		if (reader->sources[i]->is_open && one_line(reader->sources[i], source) &&
		    knows_better(reader->sources[i], base))
			base = reader->sources[i];
	return base;
}

void pxt_align(struct pxt_reader *reader)
{
	int64_t *shifts = pxt_must(calloc(reader->count, sizeof *shifts));

	for (unsigned i = 0; i < reader->count; i++) {
		const struct pxt_source *source = reader->sources[i];
		const struct pxt_source *base = base_of(reader, source);

		if (!source->is_open || base == source)
			continue;
		shifts[i] =
		    (base->start_ns - monotonic(base)) - (source->start_ns - monotonic(source));
		if (llabs(shifts[i]) > FAR)
			pxt_complain(
			    "%s: lies by CLOCK_MONOTONIC after %s: the civil clock was set "
			    "between them",
			    source->path, base->path);
	}
	for (unsigned i = 0; i < reader->count; i++) {
		reader->sources[i]->shift_ns = shifts[i];
		reader->sources[i]->start_ns += reader->sources[i]->shift_ns;
	}
	free(shifts);
}
