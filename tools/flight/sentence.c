/* SPDX-License-Identifier: MIT */
/* sentence.c - that the condition was met, and what `pxtrace why` says of it; see flight.h. */
#include "tools/flight/flight.h"
#include "tools/output/out.h"
#include "tools/why/tell.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What `pxtrace why` is asked, so that it speaks of what was met. */
static void ask(const struct pxt_cut *cut, struct pxt_select *select)
{
	static char tid[24];
	const struct pxt_condition *condition = &cut->wish->condition;

	if (cut->first.tid > 0) {
		(void)snprintf(tid, sizeof tid, "%ld", (long)cut->first.tid);
		select->threads[select->thread_count++] = tid;
	}
	if (condition->kind == PXT_CONDITION_SPAN)
		select->events[select->event_count++] = condition->name;
}

/* What was met is explained, not what else the log has; a lock is asked for by name, and a span. */
static void give(const struct pxt_cut *cut, struct pxt_late_search *search)
{
	enum pxt_condition_kind kind = cut->wish->condition.kind;
	const struct pxt_meeting *first = &cut->first;

	if (first->waits || kind == PXT_CONDITION_SPAN || kind == PXT_CONDITION_LOCK ||
	    kind == PXT_CONDITION_EVENT)
		return;
	search->given_tid = first->tid;
	search->given.kind =
	    kind == PXT_CONDITION_LATE && !first->is_wait ? PXT_LATE_ROUND : PXT_LATE_HOME;
	search->given.begin_ns = first->begin_ns;
	search->given.end_ns = first->end_ns;
	search->given.usual_ns = first->usual_ns;
}

static void explain(const struct pxt_cut *cut, struct pxt_out *out, struct pxt_reader *reader,
    struct pxt_roles_book *book, struct pxt_select *select)
{
	static struct pxt_late_search search;
	static struct pxt_blames blames;
	enum pxt_condition_kind kind = cut->wish->condition.kind;

	search.select = select;
	blames.reader = reader;
	search.asks_waits = kind == PXT_CONDITION_LOCK || cut->first.waits;
	search.has_limit = kind == PXT_CONDITION_SPAN || search.asks_waits;
	search.limit_ns = cut->wish->condition.limit_ns;
	give(cut, &search);
	if (pxt_late_search(&search, reader, book) && search.mode != PXT_LATE_OFF_CPU &&
	    pxt_late_result(&search)->count > 0) {
		const struct pxt_tell tell = {
			.out = out, .blames = &blames, .search = &search, .book = book, .explain = 1
		};

		pxt_reader_rewind(reader);
		pxt_blames_read(&blames, reader, book, &search, pxt_late_result(&search)->count);
		pxt_tell_answers(&tell);
	}
	pxt_blames_free(&blames);
	pxt_late_free(&search);
}

/* "run: control late > 20ms: control/123, 34 ms beyond its usual 0.4 ms, at 12.345 s" */
static void put_meeting(const struct pxt_cut *cut, struct pxt_out *out)
{
	const struct pxt_condition *condition = &cut->wish->condition;
	const struct pxt_meeting *first = &cut->first;
	char over[24];
	char usual[24];

	pxt_duration(over, (uint64_t)first->over_ns);
	pxt_duration(usual, (uint64_t)first->usual_ns);
	pxt_out_format(out, "pxtrace: %s", cut->wish->command);
	pxt_out_text(out, ": ");
	pxt_out_escaped(out, condition->text, strlen(condition->text));
	pxt_out_format(out, ": %s", *first->who ? first->who : "a thread that is not known");
	if (condition->kind == PXT_CONDITION_LATE)
		pxt_out_format(out, ", %s beyond the %s of its %s", over, usual,
		    first->is_wait ? "waits" : "rounds");
	else if (condition->kind != PXT_CONDITION_EVENT)
		pxt_out_format(out, ", %s", over);
	pxt_out_format(
	    out, ", %.3f s after the begin\n", (double)(first->end_ns - cut->zero_ns) / 1e9);
}

bool pxt_cut_tell(const struct pxt_cut *cut)
{
	static struct pxt_out out;
	static struct pxt_select select;
	char path[PATH_MAX];
	char *paths[] = { path };
	struct pxt_reader reader = { 0 };
	struct pxt_roles_book *book = pxt_roles_new();
	bool done;

	out.fd = STDERR_FILENO;
	(void)snprintf(path, sizeof path, "%s/told.ptl", cut->parts);
	ask(cut, &select);
	put_meeting(cut, &out);
	done = pxt_cut_write(cut, path) &&
	       pxt_reader_open(&reader, paths, 1, PXT_OPEN_INCOMPLETE, &select) == PXT_EXIT_OK;
	if (done) {
		pxt_roles_bind(book, &reader);
		explain(cut, &out, &reader, book, &select);
	}
	pxt_out_flush(&out);
	(void)unlink(path);
	return done;
}
