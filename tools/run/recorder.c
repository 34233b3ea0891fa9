/* SPDX-License-Identifier: MIT */
/* recorder.c - the stream of `pxtrace run`, which all traced processes attach to, and its log. */
#define _GNU_SOURCE
#include "tools/run/recorder.h"

#include "format/attr_marks.h"
#include "format/logfmt.h"
#include "tools/output/out.h"
#include "tools/read/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>
#include <unistd.h>

/*
 * The lane for what others record, and as much for this process' own, which is not touched, however many CPUs there
 * are.  It is flushed at a megabyte; the rest is for what comes while the disk keeps a write waiting: half a second of
 * two million events a second.
 */
#define STREAM_BYTES ((size_t)64 << 20)
/* Tries until what the last processes recorded has been taken; 5 ms each. */
#define TRIES        100
#define VIEWS        256u

static int set_attributes(
    trace_attr_t *attr, const struct pxt_recorder *recorder, uint64_t size, bool ring)
{
	int error = posix_trace_attr_init(attr);

	if (!error)
		error = posix_trace_attr_setname(attr, "pxtrace run");
	if (!error)
		error = posix_trace_attr_setsharename_np(attr, recorder->name);
	attr->_pxt_kept._pxt_flags |= PXT_ATTR_GUEST;
	if (!error)
		error = posix_trace_attr_setstreamsize(attr, STREAM_BYTES);
	if (!error)
		error = posix_trace_attr_setlanes_np(attr, 1);
	if (!error)
		error = posix_trace_attr_setrotation_np(
		    attr, recorder->rotation, sizeof *recorder->rotation);
	if (!error && size)
		error = posix_trace_attr_setlogsize(attr, (size_t)size);
	if (!error)
		error = posix_trace_attr_setlogfullpolicy(attr, ring   ? POSIX_TRACE_LOOP
		                                                : size ? POSIX_TRACE_UNTIL_FULL
		                                                       : POSIX_TRACE_APPEND);
	return error;
}

bool pxt_recorder_is_log(const char *path)
{
	static const unsigned char magic[] = PXT_LOG_MAGIC;
	unsigned char begin[sizeof magic] = { 0 };
	int fd = pxt_open_plain(path);

	if (fd < 0)
		return false;
	(void)!read(fd, begin, sizeof begin);
	(void)close(fd);
	return memcmp(begin, magic, sizeof magic) == 0;
}

void pxt_recorder_name(struct pxt_recorder *recorder)
{
	(void)snprintf(recorder->name, sizeof recorder->name, "run-%ld", (long)getpid());
}

bool pxt_recorder_open(
    struct pxt_recorder *recorder, int fd, const char *path, uint64_t size, bool ring)
{
	trace_attr_t attr;
	int error;

	recorder->fd = fd;
	recorder->path = path;
	error = set_attributes(&attr, recorder, size, ring);
	if (!error)
		error = posix_trace_create_withlog(0, &attr, fd, &recorder->trid);
	if (!error)
		error = posix_trace_start(recorder->trid);
	if (error)
		pxt_complain("run: %s: no log can be made: %s", path, strerror(error));
	return !error;
}

void pxt_recorder_flush(const struct pxt_recorder *recorder)
{
	(void)posix_trace_flush(recorder->trid);
}

/* What ended processes left is taken by and by. */
static int flush_all(const struct pxt_recorder *recorder)
{
	struct posix_trace_counts_np before = { 0 };
	struct posix_trace_counts_np now = { 0 };
	int error = 0;

	for (int i = 0; i < TRIES && !error; i++) {
		error = posix_trace_flush(recorder->trid);
		(void)posix_trace_getcounts_np(recorder->trid, &now, sizeof now);
		if (i > 1 && now.posix_written_np == before.posix_written_np)
			break;
		before = now;
		(void)usleep(5000);
	}
	return error;
}

/* One more process that is not in the log; reasons beyond those that have a place are all one. */
static void count_untraced(struct pxt_recorder_sum *sum, const char *why)
{
	unsigned i = 0;

	while (i + 1 < PXT_RECORDER_REASONS && sum->untraced[i].count &&
	       strcmp(sum->untraced[i].why, why) != 0)
		i++;
	if (!sum->untraced[i].count++)
		(void)snprintf(sum->untraced[i].why, sizeof sum->untraced[i].why, "%s", why);
}

static void take_number(struct pxt_recorder_numbers *numbers, int32_t number)
{
	/* The room doubles. */
	if ((numbers->count & (numbers->count - 1)) == 0)
		numbers->of =
		    pxt_must(realloc(numbers->of, (2 * numbers->count + 1) * sizeof *numbers->of));
	numbers->of[numbers->count++] = number;
}

static void drop_number(struct pxt_recorder_numbers *numbers, int32_t number)
{
	for (size_t i = numbers->count; i-- > 0;)
		if (numbers->of[i] == number)
			numbers->of[i] = numbers->of[--numbers->count];
}

/* Each process that was not let in left an event. */
static void take_refusal(struct pxt_recorder_sum *sum, const struct posix_trace_eventview_np *view)
{
	int said = 0;

	if (view->posix_bytes_np != sizeof said)
		return;
	memcpy(&said, view->posix_data_np, sizeof said);
	if (POSIX_TRACE_ERROR_CAUSE_NP(said) == POSIX_TRACE_ERROR_ATTACH_NP) {
		take_number(&sum->told, (int32_t)view->posix_pid_np);
		drop_number(&sum->executed, (int32_t)view->posix_pid_np);
	}
	if (said == POSIX_TRACE_ERROR_OF_NP(POSIX_TRACE_ERROR_ATTACH_NP, EAGAIN))
		sum->refused++;
	else if (POSIX_TRACE_ERROR_CAUSE_NP(said) == POSIX_TRACE_ERROR_ATTACH_NP)
		count_untraced(sum, strerror(POSIX_TRACE_ERROR_NUMBER_NP(said)));
}

/* So did each that was executed without us, or gave up what recording needs (FORMAT.md 5.1). */
#define NUMBER_AT 1u
#define WHY_AT    21u

/* A program, or what it loads; an image without a place is in a namespace of its own. */
static void take_image(struct pxt_recorder_sum *sum, const unsigned char *data, size_t bytes)
{
	static const unsigned char nowhere[WHY_AT - NUMBER_AT] = { 0 };
	static const char uring[] = "liburing.so";
	char path[256] = "";
	const char *name;

	sum->has_spaces |= data[0] == POSIX_TRACE_PROCESS_IMAGE_NP &&
	                   memcmp(data + NUMBER_AT, nowhere, sizeof nowhere) == 0;
	memcpy(
	    path, data + WHY_AT, bytes - WHY_AT < sizeof path ? bytes - WHY_AT : sizeof path - 1);
	name = strrchr(path, '/');
	sum->has_uring |= name && strncmp(name + 1, uring, sizeof uring - 1) == 0;
	if (data[0] != POSIX_TRACE_PROCESS_TRACED_NP || strcmp(sum->looked, path) == 0)
		return;
	memcpy(sum->looked, path, sizeof path);
	sum->has_go |= pxt_program_is_go(path);
}

/* The program that it executes tells of itself, unless that exec fails, or that is not traced. */
static void take_exec(struct pxt_recorder_sum *sum, int32_t pid, unsigned what, int32_t number)
{
	if (what == POSIX_TRACE_PROCESS_EXEC_NP && number == 0)
		take_number(&sum->executed, pid);
	else if (what == POSIX_TRACE_PROCESS_EXEC_NP || what == POSIX_TRACE_PROCESS_TRACED_NP ||
	         what == POSIX_TRACE_PROCESS_EXIT_NP)
		drop_number(&sum->executed, pid);
	else if (what == POSIX_TRACE_PROCESS_UNTRACED_NP)
		drop_number(&sum->executed, number ? number : pid);
}

static void take_process(struct pxt_recorder_sum *sum, const struct posix_trace_eventview_np *view)
{
	const unsigned char *data = view->posix_data_np;
	char why[sizeof sum->untraced[0].why] = "";
	size_t bytes = view->posix_bytes_np;
	int32_t number;

	if (bytes < WHY_AT)
		return;
	memcpy(&number, data + NUMBER_AT, sizeof number);
	/* What they are is told by them, unless they have recorded nothing yet. */
	if (data[0] == POSIX_TRACE_PROCESS_FORK_NP)
		take_number(&sum->forked, number);
	else if (data[0] == POSIX_TRACE_PROCESS_TRACED_NP ||
	         data[0] == POSIX_TRACE_PROCESS_UNTRACED_NP)
		take_number(&sum->told, number);
	take_exec(sum, (int32_t)view->posix_pid_np, data[0], number);
	if (data[0] == POSIX_TRACE_PROCESS_TRACED_NP || data[0] == POSIX_TRACE_PROCESS_IMAGE_NP)
		take_image(sum, data, bytes);
	if (bytes <= WHY_AT || data[0] != POSIX_TRACE_PROCESS_UNTRACED_NP)
		return;
	bytes -= WHY_AT;
	memcpy(why, data + WHY_AT, bytes < sizeof why ? bytes : sizeof why - 1);
	count_untraced(sum, why);
}

/* How many of the stream's events are in the log: flushing adds its own. */
static uint64_t look_at_events(trace_id_t log, struct pxt_recorder_sum *sum)
{
	struct posix_trace_eventview_np views[VIEWS];
	uint64_t kept = 0;
	size_t count;

	while (posix_trace_getnext_events_np(log, views, sizeof *views, VIEWS, &count) == 0 &&
	       count > 0) {
		for (size_t i = 0; i < count; i++) {
			trace_event_id_t id = views[i].posix_event_id_np;

			kept += id != POSIX_TRACE_FLUSH_START && id != POSIX_TRACE_FLUSH_STOP;
			if (id == POSIX_TRACE_ERROR)
				take_refusal(sum, &views[i]);
			else if (id == POSIX_TRACE_PROCESS_NP)
				take_process(sum, &views[i]);
		}
	}
	return kept;
}

/* Where its end could not be written, up to there. */
static int open_ended(const int *fds, unsigned count, trace_id_t *log)
{
	int error = posix_trace_log_open_np(fds, count, 0, log, NULL, 0);

	if (error)
		error =
		    posix_trace_log_open_np(fds, count, POSIX_TRACE_OPEN_GROWING_NP, log, NULL, 0);
	return error;
}

void pxt_recorder_free(struct pxt_recorder_sum *sum)
{
	free(sum->forked.of);
	free(sum->told.of);
	free(sum->executed.of);
}

/* The files that are left of it, as one log. */
static int open_files(const struct pxt_recorder *recorder, trace_id_t *log)
{
	char *paths[] = { (char *)(uintptr_t)recorder->path };
	unsigned count;
	struct pxt_logset *sets = pxt_sets_find(paths, 1, &count);
	int *fds = pxt_must(calloc(sets[0].count + 1, sizeof *fds));
	int error;

	for (unsigned i = 0; i < sets[0].count; i++)
		fds[i] = pxt_open_plain(sets[0].files[i]);
	error = open_ended(fds, sets[0].count, log);
	for (unsigned i = 0; i < sets[0].count; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	free(fds);
	pxt_sets_free(sets, count);
	return error;
}

/* What the log says, now that it has its end; without it, what it does not hold. */
static void look_at_log(const struct pxt_recorder *recorder, struct pxt_recorder_sum *sum)
{
	const struct posix_trace_counts_np *counts = &sum->counts;
	struct posix_trace_loginfo_np info = { 0 };
	uint64_t there = counts->posix_lost_np;
	uint64_t missing = counts->posix_written_np;
	trace_id_t log;

	if ((recorder->rotation ? open_files(recorder, &log)
	                        : open_ended(&recorder->fd, 1, &log)) == 0) {
		uint64_t kept = look_at_events(log, sum);

		pxt_recorder_sort(&sum->told);
		(void)posix_trace_log_getinfo_np(log, &info, sizeof info);
		(void)posix_trace_close(log);
		if (info.posix_complete_np)
			missing = info.posix_lost_np;
		else
			there += kept + info.posix_earlier_np;
	}
	sum->log_lost = missing > there ? missing - there : 0;
}

void pxt_recorder_close(struct pxt_recorder *recorder, struct pxt_recorder_sum *sum, bool looks)
{
	int error;

	*sum = (struct pxt_recorder_sum){ .error = flush_all(recorder) };
	(void)posix_trace_getcounts_np(recorder->trid, &sum->counts, sizeof sum->counts);
	error = posix_trace_shutdown(recorder->trid);
	sum->error = sum->error ? sum->error : error;
	if (looks)
		look_at_log(recorder, sum);
}
