/* SPDX-License-Identifier: MIT */
/* describe.c - a log's own data, line by line; see describe.h. */
#include "tools/describe/describe.h"

#include "format/mul64.h"
#include "tools/output/out.h"
#include "tools/read/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void begin_line(struct pxt_out *out, const char *title)
{
	pxt_out_text(out, "  ");
	pxt_out_column(out, title, strlen(title), strlen(title), 10);
}

static void put_process(struct pxt_out *out, const struct posix_trace_loginfo_np *info)
{
	begin_line(out, "process");
	pxt_out_escaped(out, info->posix_executable_np, strlen(info->posix_executable_np));
	pxt_out_format(out, " (pid %ld)", (long)info->posix_pid_np);
	if (*info->posix_host_np) {
		pxt_out_text(out, " on ");
		pxt_out_escaped(out, info->posix_host_np, strlen(info->posix_host_np));
	}
	pxt_out_format(out, ", %d-bit%s\n", 8 * info->posix_word_bytes_np,
	    info->posix_swapped_np ? ", other byte order" : "");
}

/* Logs of older versions, and of boards, do not say it. */
static void put_machine(struct pxt_out *out, const struct posix_trace_loginfo_np *info)
{
	if (!*info->posix_system_np && info->posix_cpus_np == 0)
		return;
	begin_line(out, "machine");
	pxt_out_escaped(out, info->posix_system_np, strlen(info->posix_system_np));
	if (info->posix_cpus_np > 0)
		pxt_out_format(out, "%s%lu CPU%s", *info->posix_system_np ? ", " : "",
		    (unsigned long)info->posix_cpus_np, info->posix_cpus_np == 1 ? "" : "s");
	pxt_out_char(out, '\n');
}

/* A line for each; only the first one says what they are. */
static void put_notes(struct pxt_out *out, const struct pxt_source *source)
{
	struct posix_trace_lognote_np note;

	for (uint32_t i = 0; posix_trace_log_getnote_np(source->trid, i, &note, sizeof note) == 0;
	     i++) {
		begin_line(out, i == 0 ? "notes" : "");
		pxt_out_escaped(out, note.posix_name_np, strlen(note.posix_name_np));
		pxt_out_text(out, ": ");
		pxt_out_escaped(out, note.posix_text_np, strlen(note.posix_text_np));
		pxt_out_char(out, '\n');
	}
}

static void put_times(struct pxt_out *out, const struct pxt_source *source)
{
	struct pxt_calendar calendar = { 0 };
	int64_t lasted = pxt_lasting_ns(&source->info);

	begin_line(out, "started");
	pxt_out_calendar(out, &calendar, source->start_ns);
	if (!source->info.posix_complete_np) {
		pxt_out_colour(out, PXT_COLOUR_LOSS);
		pxt_out_text(out, ", INCOMPLETE: not shut down");
		pxt_out_colour(out, PXT_COLOUR_OFF);
	} else if (lasted > 0) {
		pxt_out_format(out, ", for %.6f s", (double)lasted / 1e9);
	}
	pxt_out_char(out, '\n');
}

const char *pxt_clock_name(const struct posix_trace_clock_np *clock)
{
	switch (clock->posix_source_np) {
	case POSIX_TRACE_CLOCK_TSC_NP:
		return "processor counter (TSC)";
	case POSIX_TRACE_CLOCK_MONOTONIC_NP:
		return "CLOCK_MONOTONIC";
	default:
		return "the port's own";
	}
}

static void put_clock(
    struct pxt_out *out, const struct pxt_source *source, const trace_attr_t *attr)
{
	const struct posix_trace_clock_np *clock = &source->info.posix_clock_np;
	struct timespec resolution = { 0 };

	begin_line(out, "clock");
	pxt_out_text(out, pxt_clock_name(clock));
	pxt_out_format(out, ", %.6f MHz", (double)clock->posix_hz_np / 1e6);
	if (clock->posix_error_ppm_np > 0)
		pxt_out_format(out, " within %lu ppm", (unsigned long)clock->posix_error_ppm_np);
	if (posix_trace_attr_getclockres(attr, &resolution) == 0)
		pxt_out_format(out, ", resolution %lld ns", (long long)pxt_when_ns(&resolution));
	pxt_out_char(out, '\n');
}

const char *pxt_policy_name(int policy)
{
	static const char *const names[] = {
		[POSIX_TRACE_LOOP] = "LOOP",
		[POSIX_TRACE_UNTIL_FULL] = "UNTIL_FULL",
		[POSIX_TRACE_FLUSH] = "FLUSH",
		[POSIX_TRACE_APPEND] = "APPEND",
		[POSIX_TRACE_DISCARD_NP] = "DISCARD",
	};

	return policy >= POSIX_TRACE_LOOP && policy <= POSIX_TRACE_DISCARD_NP ? names[policy] : "?";
}

static void put_stream(
    struct pxt_out *out, const struct pxt_source *source, const trace_attr_t *attr)
{
	char name[TRACE_NAME_MAX + 1] = "";
	char version[TRACE_NAME_MAX + 1] = "";
	size_t size = 0;
	size_t data = 0;
	int policy = 0;
	int log_policy = 0;

	(void)posix_trace_attr_getname(attr, name);
	(void)posix_trace_attr_getgenversion(attr, version);
	(void)posix_trace_attr_getstreamsize(attr, &size);
	(void)posix_trace_attr_getmaxdatasize(attr, &data);
	(void)posix_trace_attr_getstreamfullpolicy(attr, &policy);
	(void)posix_trace_attr_getlogfullpolicy(attr, &log_policy);
	begin_line(out, "stream");
	if (*name) {
		pxt_out_char(out, '"');
		pxt_out_escaped(out, name, strlen(name));
		pxt_out_text(out, "\", ");
	}
	pxt_out_format(
	    out, "%s, %zu bytes, data up to %zu bytes\n", pxt_policy_name(policy), size, data);
	begin_line(out, "log");
	pxt_out_format(out, "%s, %llu blocks, format %lu.%lu, by \"", pxt_policy_name(log_policy),
	    (unsigned long long)source->info.posix_blocks_np,
	    (unsigned long)source->info.posix_format_major_np,
	    (unsigned long)source->info.posix_format_minor_np);
	pxt_out_escaped(out, version, strlen(version));
	pxt_out_text(out, "\"\n");
}

static void put_counts(struct pxt_out *out, const struct pxt_source *source)
{
	const struct posix_trace_counts_np *counts = &source->info.posix_counts_np;
	uint64_t lost =
	    source->info.posix_lost_np > source->lost ? source->info.posix_lost_np : source->lost;

	begin_line(out, "events");
	pxt_out_format(out, "%llu in the log", (unsigned long long)source->events);
	if (source->info.posix_complete_np)
		pxt_out_format(out, "; written %llu, cleared %llu",
		    (unsigned long long)counts->posix_written_np,
		    (unsigned long long)counts->posix_cleared_np);
	pxt_out_char(out, '\n');
	begin_line(out, "losses");
	if (lost == 0) {
		pxt_out_text(
		    out, pxt_source_end_unknown(source) ? "none that is known\n" : "none\n");
		return;
	}
	pxt_out_colour(out, PXT_COLOUR_LOSS);
	pxt_out_format(out, "%llu EVENTS LOST", (unsigned long long)lost);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_char(out, '\n');
}

void pxt_describe(struct pxt_out *out, const struct pxt_source *source)
{
	struct pxt_hints hints;
	trace_attr_t attr;
	char text[160];

	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_escaped(out, source->path, strlen(source->path));
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_char(out, '\n');
	put_process(out, &source->info);
	put_machine(out, &source->info);
	put_notes(out, source);
	put_times(out, source);
	if (pxt_ended_by(&source->info, text, sizeof text)) {
		begin_line(out, "ended");
		pxt_out_colour(out, PXT_COLOUR_LOSS);
		pxt_out_format(out, "by %s", text);
		pxt_out_colour(out, PXT_COLOUR_OFF);
		pxt_out_char(out, '\n');
	}
	if (posix_trace_get_attr(source->trid, &attr) == 0) {
		put_clock(out, source, &attr);
		put_stream(out, source, &attr);
	}
	put_counts(out, source);
	pxt_hints_of_source(&hints, source);
	for (unsigned i = 0; i < hints.count; i++) {
		begin_line(out, "note");
		pxt_out_text(out, hints.list[i]);
		pxt_out_char(out, '\n');
	}
}

/* ---- What a log lacks, and which call, attribute or option would help ---- */

#define READ_MAX 4096u /* events of a file */

__attribute__((format(printf, 2, 3))) static void hint(
    struct pxt_hints *hints, const char *format, ...)
{
	va_list args;

	if (hints->count == PXT_HINTS)
		return;
	va_start(args, format);
	(void)vsnprintf(hints->list[hints->count++], PXT_HINT_BYTES, format, args);
	va_end(args);
}

/* ---- What was never done ---- */

static bool has_own_types(trace_id_t trid)
{
	trace_event_id_t id;
	int unavailable = 0;
	bool own = false;

	(void)posix_trace_eventtypelist_rewind(trid);
	while (!own && posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) == 0 &&
	       !unavailable)
		own = id > POSIX_TRACE_UNNAMED_USEREVENT;
	return own;
}

static void hint_at_beginning(struct pxt_hints *hints, const struct pxt_hint_facts *facts)
{
	/* Points open themselves in a stream that runs: in one that does not, their absence says nothing. */
	if (pxt_never_started(facts->info, facts->events))
		hint(hints, "%s", PXT_NEVER_STARTED);
	else if (!facts->unnamed && !has_own_types(facts->trid))
		hint(hints,
		    "the program has no event type of its own: it came to no trace point of a "
		    "POSIX_TRACE_DEFINE_NP while it was traced, and opened none by "
		    "posix_trace_eventid_open()");
}

/* ---- What there was no room for ---- */

static void hint_at_part(
    struct pxt_hints *hints, const char *which, int64_t part, int64_t whole, const char *remedy)
{
	char length[16];
	char all[16];

	/* What is nearly all is worth no word. */
	if (part < 0 || whole <= 0 || part > whole - whole / 50)
		return;
	pxt_duration(length, (uint64_t)part);
	pxt_duration(all, (uint64_t)whole);
	hint(hints, "the log holds the %s %s of %s: %s more", which, length, all, remedy);
}

static void hint_at_room(struct pxt_hints *hints, const struct pxt_hint_facts *facts, int policy)
{
	const struct posix_trace_loginfo_np *info = facts->info;
	bool log_was_full = pxt_unwritten_records(info) > 0 && policy != POSIX_TRACE_APPEND;
	int64_t start = pxt_when_ns(&info->posix_start_np);
	int64_t end = pxt_lasting_end(info);

	if (facts->events == 0)
		return;
	if (log_was_full && policy == POSIX_TRACE_LOOP)
		hint_at_part(hints, "last", end - facts->first_ns, end - start,
		    "a larger one (posix_trace_attr_setlogsize()), or the policy APPEND "
		    "(posix_trace_attr_setlogfullpolicy()), holds");
	else if (log_was_full && facts->last_ns != INT64_MIN)
		hint_at_part(hints, "first", facts->last_ns - start, end - start,
		    "a larger one (posix_trace_attr_setlogsize()), or the policy APPEND "
		    "(posix_trace_attr_setlogfullpolicy()), holds");
	else if (facts->first_lost > 0)
		hint_at_part(hints, "last", end - facts->first_ns, end - start,
		    "a larger stream (posix_trace_attr_setstreamsize()) holds");
}

/* ---- Losses of another kind ---- */

/* What the log's notes of that name add up to. */
static uint64_t lossnote_sum(trace_id_t trid, const char *name)
{
	struct posix_trace_lognote_np note;
	uint64_t sum = 0;

	for (uint32_t i = 0; posix_trace_log_getnote_np(trid, i, &note, sizeof note) == 0; i++) {
		if (strcmp(note.posix_name_np, name) == 0)
			pxt_sum_add(&sum, strtoull(note.posix_text_np, NULL, 10));
	}
	return sum;
}

static const char *noted_loss(trace_id_t trid, uint64_t lost)
{
	if (lossnote_sum(trid, PXT_LOSSNOTE_LINK) > lost / 2)
		return "the link lost them: a faster one, less on it, or a receiver that is less "
		       "busy loses less; `pxtrace print` shows where";
	if (lossnote_sum(trid, PXT_LOSSNOTE_SCHED) > lost / 2)
		return "most of them are the scheduler's records, for which the kernel had no "
		       "room: "
		       "on a machine that is less busy fewer are lost, without them "
		       "(pxtrace run --only locks,calls) none";
	return NULL;
}

/*
 * What a full log, a log that could not be written, and a stream that was not emptied in time want are
 * different things.
 */
static const char *loss_advice(
    const struct posix_trace_loginfo_np *info, int stream_policy, int log_policy)
{
	bool of_stream = info->posix_counts_np.posix_lost_np > 0;

	if (pxt_unwritten_records(info) > 0 && log_policy != POSIX_TRACE_APPEND)
		return of_stream ? "the log was full, and so was the stream: a larger log "
		                   "(posix_trace_attr_setlogsize(), or APPEND by "
		                   "posix_trace_attr_setlogfullpolicy()) and a larger stream "
		                   "(posix_trace_attr_setstreamsize()) lose less"
		                 : "the log was full, the stream was not: a larger log "
		                   "(posix_trace_attr_setlogsize()) or APPEND "
		                   "(posix_trace_attr_setlogfullpolicy()) keeps more";
	if (pxt_unwritten_records(info) > 0 || !of_stream)
		return "`pxtrace print --event posix_trace_error` shows which flushes failed";
	if (stream_policy == POSIX_TRACE_FLUSH)
		return "the thread that flushes did not keep up: a higher priority for it "
		       "(posix_trace_attr_setflushpriority_np()), a larger stream "
		       "(posix_trace_attr_setstreamsize()) or a filter loses less; `pxtrace print` "
		       "shows where events were lost";
	return "a larger stream (posix_trace_attr_setstreamsize()), flushes more often (or the "
	       "policy "
	       "FLUSH, posix_trace_attr_setstreamfullpolicy()) or a filter lose less; `pxtrace "
	       "print` "
	       "shows where events were lost";
}

static void hint_at_clocks(struct pxt_hints *hints, const struct posix_trace_loginfo_np *info)
{
	char length[16];
	int64_t by;

	if (!pxt_lasting_stepped(info, &by))
		return;
	pxt_duration(length, (uint64_t)(by < 0 ? -by : by));
	hint(hints,
	    "the civil clock was set %s by %s meanwhile: times are those of the beginning, carried "
	    "on "
	    "by CLOCK_MONOTONIC",
	    by < 0 ? "back" : "forward", length);
}

/* ---- All of it ---- */

void pxt_hints(struct pxt_hints *hints, const struct pxt_hint_facts *facts)
{
	*hints = (struct pxt_hints){ 0 };
	struct pxt_unwritten why;
	int stream_policy = 0;
	int log_policy = 0;
	trace_attr_t attr;

	if (!facts->info->posix_complete_np || posix_trace_get_attr(facts->trid, &attr) != 0)
		return;
	(void)posix_trace_attr_getstreamfullpolicy(&attr, &stream_policy);
	(void)posix_trace_attr_getlogfullpolicy(&attr, &log_policy);
	hint_at_beginning(hints, facts);
	hint_at_clocks(hints, facts->info);
	hints->loss = noted_loss(facts->trid, facts->info->posix_lost_np);
	if (pxt_unwritten(facts->trid, &why)) {
		hint(hints, "the log could not be written: %s", why.text);
		hints->loss = why.advice;
	} else if (!hints->loss) {
		hints->loss = loss_advice(facts->info, stream_policy, log_policy);
		hint_at_room(hints, facts, log_policy);
	}
}

void pxt_hints_of_source(struct pxt_hints *hints, const struct pxt_source *source)
{
	const struct pxt_hint_facts facts = { .trid = source->trid,
		.info = &source->info,
		.events = source->events,
		.first_ns = source->first_ns,
		.last_ns = source->read_all ? source->newest_ns : INT64_MIN,
		.first_lost = source->first_lost,
		.unnamed = source->types[POSIX_TRACE_UNNAMED_USEREVENT] != NULL };

	*hints = (struct pxt_hints){ 0 };
	if (!source->failed)
		pxt_hints(hints, &facts);
}

/* The first events; of a longer log it is not known whether unnamed ones come. */
static void read_some(struct pxt_hint_facts *facts)
{
	struct posix_trace_eventview_np views[PXT_VIEWS];
	size_t count = 0;

	facts->unnamed = facts->events > READ_MAX;
	for (uint64_t seen = 0; seen < READ_MAX; seen += count) {
		if (posix_trace_getnext_events_np(
		        facts->trid, views, sizeof *views, PXT_VIEWS, &count) != 0 ||
		    count == 0)
			return;
		if (seen == 0) {
			facts->first_ns = pxt_within_range(views[0].posix_ns_np);
			facts->first_lost = views[0].posix_lost_before_np;
		}
		for (size_t i = 0; i < count; i++)
			facts->unnamed |=
			    views[i].posix_event_id_np == POSIX_TRACE_UNNAMED_USEREVENT;
		if (facts->events <= READ_MAX)
			facts->last_ns = pxt_within_range(views[count - 1].posix_ns_np);
	}
}

void pxt_hints_of_file(struct pxt_hints *hints, int fd, uint64_t records)
{
	struct pxt_hint_facts facts = { .events = records, .last_ns = INT64_MIN };
	struct posix_trace_loginfo_np info;

	*hints = (struct pxt_hints){ 0 };
	if (posix_trace_open(fd, &facts.trid) != 0)
		return;
	facts.info = &info;
	if (posix_trace_log_getinfo_np(facts.trid, &info, sizeof info) == 0) {
		read_some(&facts);
		pxt_hints(hints, &facts);
	}
	(void)posix_trace_close(facts.trid);
}
