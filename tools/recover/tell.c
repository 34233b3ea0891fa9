/* SPDX-License-Identifier: MIT */
/* tell.c - what is there, and what was written of it, in words for a person. */
#include "tools/recover/recover.h"

#include "format/mul64.h"
#include "tools/output/out.h"
#include "tools/read/source.h"

#include <stdio.h>
#include <string.h>

#define NONE_LOST ", none lost"

/* ---- The list ---- */

static const char *state_of(const struct pxt_streamimage *streamimage)
{
	if (streamimage->header->ended)
		return "ended";
	switch (streamimage->gate & PXT_STREAMIMAGE_STATE) {
	case 1:
		return "running";
	case PXT_STREAMIMAGE_AUTO:
		return "full";
	default:
		return "stopped";
	}
}

static const char *executable_of(const struct pxt_recovered *recovered)
{
	static struct pxt_log_process process;

	if (recovered->procinfo.process.executable[0])
		return recovered->procinfo.process.executable;
	pxt_who_process(&recovered->who, &process);
	return process.executable;
}

static void put_small(struct pxt_out *out, const struct pxt_found *found)
{
	struct pxt_small small;
	const char *wrong = pxt_small_load(&small, found);
	unsigned long long lost;

	if (wrong) {
		pxt_out_format(out, "damaged: %s\n", wrong);
		return;
	}
	lost = small.lost + small.torn;
	pxt_out_format(out, "%8ld  %-8s %12llu %12llu %6u  ", (long)found->label.pid,
	    pxt_small_state(&small), (unsigned long long)small.events, lost, 1u);
	pxt_out_escaped(out, small.name, strlen(small.name));
	pxt_out_char(out, '\n');
	pxt_small_free(&small);
}

static void put_stream(
    struct pxt_out *out, const struct pxt_finds *finds, const struct pxt_found *found, bool all)
{
	struct pxt_recovered recovered;
	struct pxt_written sum;
	const char *wrong;

	if (found->small) {
		put_small(out, found);
		return;
	}
	wrong = pxt_recover_load(&recovered, finds, found, all, NULL);
	if (wrong) {
		pxt_out_format(out, "damaged: %s\n", wrong);
		return;
	}
	pxt_recover_sum(&recovered, &sum);
	pxt_out_format(out, "%8ld  %-8s %12llu %12llu %6u  ", (long)found->header.pid,
	    state_of(&recovered.streamimage), (unsigned long long)sum.events,
	    (unsigned long long)sum.lost, found->stream.lanes);
	pxt_out_escaped(out, recovered.streamimage.name, strlen(recovered.streamimage.name));
	if (*executable_of(&recovered)) {
		pxt_out_text(out, "  ");
		pxt_out_escaped(out, executable_of(&recovered), strlen(executable_of(&recovered)));
	}
	pxt_out_char(out, '\n');
	pxt_recover_free(&recovered);
}

void pxt_recover_list(struct pxt_out *out, const struct pxt_finds *finds, bool all)
{
	pxt_out_format(out, "%6s  %8s  %-8s %12s %12s %6s  %s\n", "stream", "pid", "state",
	    "events", "lost", "lanes", "name");
	for (size_t i = 0; i < finds->stream_count; i++) {
		pxt_out_format(out, "%6zu  ", i + 1);
		put_stream(out, finds, &finds->streams[i], all);
	}
}

/* ---- A stream ---- */

static void explain_number(uint64_t number, const char *what)
{
	if (number)
		pxt_explain("%llu %s", (unsigned long long)number, what);
}

/* @none: what is said where none are lost. */
static void tell_stream(
    const char *path, uint64_t events, const char *name, long pid, uint64_t lost, const char *none)
{
	char words[48];

	(void)snprintf(words, sizeof words, "; %llu EVENTS LOST:", (unsigned long long)lost);
	pxt_complain("%s: %llu events of stream \"%s\", process %ld%s", path,
	    (unsigned long long)events, name, pid, lost ? words : none);
}

void pxt_recover_tell(const char *path, const struct pxt_found *found,
    const struct pxt_recovered *recovered, const struct pxt_written *written, bool all)
{
	const struct pxt_streamimage *streamimage = &recovered->streamimage;

	tell_stream(path, written->events, streamimage->name, (long)found->header.pid,
	    written->lost,
	    streamimage->lanes_missing ? "; as far as is known none lost" : NONE_LOST);
	explain_number(written->overwritten, "overwritten by later ones");
	explain_number(written->torn, "begun, but not finished when it ended");
	explain_number(written->voids, "that came behind a stop");
	explain_number(written->refused, "for which there was no room");
	explain_number(written->earlier, "that the program had counted as lost itself");
	if (!all)
		explain_number(streamimage->retrieved,
		    "are not in it because the program had read or flushed them (--all takes those "
		    "that are still whole)");
	explain_number(streamimage->cleared, "were cleared by the program");
	if (written->inside)
		pxt_explain("threads inside a trace point when it ended: %u", written->inside);
	if (streamimage->lanes_missing)
		pxt_explain("%u of %u lanes are not in the file; events in them: number unknown",
		    streamimage->lanes_missing, found->stream.lanes);
	else if (streamimage->there < found->header.bytes)
		pxt_explain("the file holds %llu of the stream's %llu bytes",
		    (unsigned long long)streamimage->there,
		    (unsigned long long)found->header.bytes);
	if (!recovered->who.header)
		pxt_explain("names and threads are not in the file");
	else if (written->unnamed)
		pxt_explain("the names of %u event types are not in the file", written->unnamed);
}

void pxt_recover_tell_small(const char *path, const struct pxt_small *small)
{
	tell_stream(path, small->events, small->name, (long)small->found->label.pid,
	    small->lost + small->torn, NONE_LOST);
	explain_number(small->lost, "overwritten by later ones");
	explain_number(small->torn, "of which the memory was not taken whole");
	explain_number(
	    small->retrieved, "are not in it because the program had read or flushed them");
	explain_number(small->cleared, "were cleared by the program");
	if (small->unnamed)
		pxt_explain("the names of %u tasks are not in the file", small->unnamed);
}

/* ---- A log ---- */

/* All that are known to be in no log. */
static uint64_t lost_in_all(const struct pxt_salvaged *salvaged)
{
	uint64_t sum = salvaged->missing;

	pxt_sum_add(&sum, salvaged->lost);
	pxt_sum_add(&sum, salvaged->held);
	return sum;
}

/* After "EVENTS events": only a log that says its end can say that nothing is missing. */
static const char *first_words(const struct pxt_salvaged *salvaged)
{
	return salvaged->end_unknown ? "; not in it, as far as is known: none" : NONE_LOST;
}

void pxt_recover_tell_salvaged(
    const char *path, const struct pxt_salvaged *salvaged, const char *image)
{
	uint64_t lost = lost_in_all(salvaged);

	if (lost)
		pxt_complain("%s: %llu events; %llu EVENTS LOST:", path,
		    (unsigned long long)salvaged->events, (unsigned long long)lost);
	else
		pxt_complain("%s: %llu events%s", path, (unsigned long long)salvaged->events,
		    first_words(salvaged));
	explain_number(salvaged->missing,
	    salvaged->frames ? "that the log was given and overwrote, or does not hold whole"
	                     : "that the log was given and does not hold whole");
	explain_number(salvaged->lost, "lost by the program, which had no room for them");
	explain_number(salvaged->held,
	    "held by the program's stream at its end, and never written to the log");
	explain_number(salvaged->unsure,
	    "of those in it are of the last block, which is cut off: no "
	    "checksum vouches for them");
	if (salvaged->head == PXT_FILEHEAD_REPEATED)
		pxt_explain("the head of the file is damaged: a block that repeats it was read");
	if (salvaged->head == PXT_FILEHEAD_MENDED)
		pxt_explain("one byte of the file's head was wrong: it was mended by the checksum");
	for (uint64_t i = 0; i < salvaged->gaps && i < PXT_SALVAGE_GAPS; i++)
		pxt_explain("%s%sbytes %llu to %llu are no sound block",
		    salvaged->gap[i].path ? salvaged->gap[i].path : "",
		    salvaged->gap[i].path ? ": " : "", (unsigned long long)salvaged->gap[i].from,
		    (unsigned long long)salvaged->gap[i].to - 1);
	if (salvaged->gaps > PXT_SALVAGE_GAPS)
		pxt_explain("and %llu more such places (%llu bytes in all)",
		    (unsigned long long)(salvaged->gaps - PXT_SALVAGE_GAPS),
		    (unsigned long long)salvaged->skipped);
	explain_number(salvaged->others, "sound blocks of another stream were left out");
	if (salvaged->gave_up)
		pxt_explain("too much of it looks like blocks and is none: it was not searched to "
		            "its end");
	if (!salvaged->complete)
		pxt_explain("the end of the log was missing");
	if (salvaged->end_unknown)
		pxt_explain(PXT_END_UNKNOWN "; a stream that lives in a file keeps them");
	if (!salvaged->complete)
		pxt_say_box(image);
}
