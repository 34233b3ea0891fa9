/* SPDX-License-Identifier: MIT */
/* describe.c - a log's own data, line by line; see describe.h. */
#include "tools/describe/describe.h"

#include "tools/describe/hints.h"
#include "tools/output/escape.h"
#include "tools/output/when.h"
#include "tools/read/ended.h"
#include "tools/read/lasting.h"

#include <stdio.h>
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

	for (uint32_t i = 0; posix_trace_log_getnote_np(source->trid, i, &note) == 0; i++) {
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
		pxt_out_text(out, "none\n");
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
