/* SPDX-License-Identifier: MIT */
/* hints.c - what a log lacks, and which call, attribute or option would help; see hints.h. */
#include "tools/describe/hints.h"

#include "tools/output/lossnote.h"
#include "tools/output/when.h"
#include "tools/read/ended.h"
#include "tools/read/lasting.h"
#include "tools/read/unwritten.h"

#include <stdarg.h>
#include <stdio.h>

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

static const char *noted_loss(trace_id_t trid, uint64_t lost)
{
	if (pxt_lossnote_sum(trid, PXT_LOSSNOTE_LINK) > lost / 2)
		return "the link lost them: a faster one, less on it, or a receiver that is less "
		       "busy loses less; `pxtrace print` shows where";
	if (pxt_lossnote_sum(trid, PXT_LOSSNOTE_SCHED) > lost / 2)
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
		if (posix_trace_getnext_events_np(facts->trid, views, PXT_VIEWS, &count) != 0 ||
		    count == 0)
			return;
		if (seen == 0) {
			facts->first_ns = views[0].posix_ns_np;
			facts->first_lost = views[0].posix_lost_before_np;
		}
		for (size_t i = 0; i < count; i++)
			facts->unnamed |=
			    views[i].posix_event_id_np == POSIX_TRACE_UNNAMED_USEREVENT;
		if (facts->events <= READ_MAX)
			facts->last_ns = views[count - 1].posix_ns_np;
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
	if (posix_trace_log_getinfo_np(facts.trid, &info) == 0) {
		read_some(&facts);
		pxt_hints(hints, &facts);
	}
	(void)posix_trace_close(facts.trid);
}
