/* SPDX-License-Identifier: MIT */
/*
 * cut.c - a part of the logs that flight.h watches, as a log of its own; that the condition was met, and what
 * `pxtrace why` says of it; see flight.h.
 */
#include "tools/flight/flight.h"

#include "tools/merge/merge.h"
#include "tools/output/out.h"
#include "tools/why/tell.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- The log ---- */

struct beginning {
	struct pxt_choice *choice;
	int64_t ns;
};

/* What holds since before the log does so at its begin. */
static void put_standing(void *self, const struct pxt_event *event)
{
	const struct beginning *beginning = self;
	struct pxt_event moved = *event;

	moved.ns = beginning->ns;
	pxt_choice_put(beginning->choice, &moved);
}

/* What is not there any more is said below, in other words. */
static void be_quiet(const char *line)
{
	(void)line;
}

static int write_lane(const struct pxt_cut *cut, const struct pxt_cut_lane *lane, const char *path)
{
	struct pxt_source *source = lane->reader->sources[0];
	struct pxt_event *event = lane->held;
	struct pxt_choice *choice = pxt_choice_begin(path, lane->reader, cut->begin_ns);
	struct beginning beginning = { choice, cut->begin_ns };

	if (!choice)
		return EINVAL;
	pxt_say_to(be_quiet);
	(void)pxt_reader_again(lane->reader);
	pxt_choice_threads(choice, source);
	event = event ? event : pxt_reader_next(lane->reader);
	for (; event && event->ns < cut->begin_ns; event = pxt_reader_next(lane->reader))
		pxt_standing_take(lane->standing, event);
	/* Memory may have been full: then it begins later than was asked for. */
	if (event && event->ns > beginning.ns)
		beginning.ns = event->ns;
	pxt_standing_each(lane->standing, put_standing, &beginning);
	/* Losses before its first event are not counted in this log. */
	for (bool first = true; event && event->ns <= cut->end_ns;
	     event = pxt_reader_next(lane->reader), first = false) {
		if (!first && event->extra.posix_lost_before_np > 0)
			pxt_choice_lose(choice, event->extra.posix_lost_before_np);
		pxt_choice_put(choice, event);
	}
	pxt_say_to(NULL);
	if (source->failed)
		pxt_complain("%s: memory was full: the log ends early (a larger --size helps)",
		    cut->wish->command);
	return pxt_choice_end(choice, source, source->failed);
}

bool pxt_cut_write(const struct pxt_cut *cut, const char *path)
{
	char names[2][PATH_MAX];
	char *paths[2] = { names[0], names[1] };
	int error = 0;
	bool done;

	for (unsigned i = 0; i < cut->lane_count; i++) {
		(void)snprintf(names[i], sizeof names[i], "%s.%u", path, i);
		error = error ? error : write_lane(cut, &cut->lanes[i], names[i]);
	}
	if (error == 0 && cut->lane_count == 1)
		error = rename(names[0], path) == 0 ? 0 : errno;
	/* It says itself what went wrong. */
	done = error == 0 && (cut->lane_count == 1 ||
	                         pxt_merge_files(path, paths, cut->lane_count, 0) == PXT_EXIT_OK);
	for (unsigned i = 0; i < cut->lane_count; i++)
		(void)unlink(names[i]);
	if (error)
		pxt_complain("%s: %s: %s", cut->wish->command, path, strerror(error));
	return done;
}

/* ---- Its name ---- */

/* Nothing is ever overwritten: who comes first has the name. */
static bool give_name(const struct pxt_cut *cut, const char *path, char name[PATH_MAX])
{
	const char *output = cut->wish->output;
	size_t bytes = strlen(output);

	if (bytes > 4 && strcmp(output + bytes - 4, ".ptl") == 0)
		bytes -= 4;
	for (unsigned number = 1; number < 1000000; number++) {
		(void)snprintf(name, PATH_MAX, "%.*s.when-%u.ptl", (int)bytes, output, number);
		if (link(path, name) == 0)
			return unlink(path) == 0;
		if (errno == EEXIST)
			continue;
		/* A file system without links. */
		if ((errno == EPERM || errno == EOPNOTSUPP) && access(name, F_OK) != 0)
			return rename(path, name) == 0;
		if (errno != EPERM && errno != EOPNOTSUPP)
			return false;
	}
	return false;
}

bool pxt_cut_save(const struct pxt_cut *cut)
{
	char path[PATH_MAX];
	char name[PATH_MAX];

	(void)snprintf(path, sizeof path, "%s/cut.ptl", cut->parts);
	if (!pxt_cut_write(cut, path))
		return false;
	if (!give_name(cut, path, name)) {
		pxt_complain("%s: %s: %s", cut->wish->command, name, strerror(errno));
		(void)unlink(path);
		return false;
	}
	pxt_complain("%s: the log of it: %s", cut->wish->command, name);
	return true;
}

/* ---- That the condition was met ---- */

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
