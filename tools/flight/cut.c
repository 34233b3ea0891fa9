/* SPDX-License-Identifier: MIT */
/* cut.c - a part of the logs that flight.h watches, as a log of its own, and its sentence; see flight.h. */
#include "tools/flight/flight.h"

#include "tools/merge/choice.h"
#include "tools/merge/merge.h"
#include "tools/output/out.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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
