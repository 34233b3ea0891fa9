/* SPDX-License-Identifier: MIT */
/*
 * chosen.c - what of a busy program is recorded: a family of types is kept out, a handler keeps
 * every tenth sample, frames keep their first 4 bytes, and a message is put together only when it
 * is read.
 *
 * Page: posix_trace_set_handler_np, posix_trace_set_threads_np, posix_trace_set_processes_np,
 * posix_trace_set_short_np, posix_trace_getlevels_np - judge events before they are recorded
 */
#include <trace.h>
#include <trace_np.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

POSIX_TRACE_DEFINE_NP(debug_in, u32, number);
POSIX_TRACE_DEFINE_NP(debug_out, u32, number);
POSIX_TRACE_DEFINE_NP(sample, u32, number);
POSIX_TRACE_DEFINE_NP(frame, u32, number, string, content);
POSIX_TRACE_DEFINE_TEXT_NP(done, "%u of %u samples are enough", u32, kept, u32, all);

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "chosen: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

/* Runs inside the trace point, in whichever thread comes to it. */
static int every_tenth(const struct posix_trace_handled_np *event, void *arg)
{
	_Atomic unsigned *count = arg;

	(void)event;
	return atomic_fetch_add(count, 1) % 10 == 0;
}

static void choose(trace_id_t trid)
{
	static _Atomic unsigned count;
	trace_event_set_t set;

	/* A filter names what is kept out: all types whose names begin so. */
	must("set", posix_trace_eventset_empty(&set));
	must("debug_*", posix_trace_eventset_addgroup_np("debug_*", &set));
	must("filter", posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));

	must("set", posix_trace_eventset_empty(&set));
	must("sample", posix_trace_eventset_add(posix_trace_point_id_np(sample), &set));
	must("handler", posix_trace_set_handler_np(trid, &set, every_tenth, &count));

	must("set", posix_trace_eventset_empty(&set));
	must("frame", posix_trace_eventset_add(posix_trace_point_id_np(frame), &set));
	must("short", posix_trace_set_short_np(trid, &set));
}

static void work(void)
{
	for (unsigned number = 0; number < 100; number++) {
		posix_trace_point_np(debug_in, number);
		posix_trace_point_np(sample, number);
		if (number % 50 == 0)
			posix_trace_point_np(frame, number, "a long story that nobody reads");
		posix_trace_point_np(debug_out, number);
	}
	posix_trace_point_np(done, 10, 100);
}

static void show(trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[256];
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	char text[128];
	unsigned samples = 0;
	size_t length;
	int nothing = 0;

	must("format", posix_trace_eventid_getformat_np(
	                   trid, posix_trace_point_id_np(done), format, sizeof(format)));
	for (;;) {
		must("read", posix_trace_trygetnext_event(
		                 trid, &info, data, sizeof(data), &length, &nothing));
		if (nothing)
			break;
		samples += info.posix_event_id == posix_trace_point_id_np(sample);
		if (info.posix_event_id == posix_trace_point_id_np(frame))
			(void)printf("chosen: of a frame %zu bytes\n", length);
		if (info.posix_event_id == posix_trace_point_id_np(done)) {
			must("text",
			    posix_trace_text_np(format, data, length, 0, text, sizeof(text)));
			(void)printf("chosen: %s\n", text);
		}
	}
	(void)printf("chosen: %u samples\n", samples);
}

int main(void)
{
	struct posix_trace_levels_np levels;
	trace_id_t trid;

	must("create", posix_trace_create(0, NULL, &trid));
	/* A choice names types, so they are opened before it. */
	must("debug_in", posix_trace_open_np(debug_in));
	must("debug_out", posix_trace_open_np(debug_out));
	must("sample", posix_trace_open_np(sample));
	must("frame", posix_trace_open_np(frame));
	must("done", posix_trace_open_np(done));
	choose(trid);
	must("start", posix_trace_start(trid));
	work();
	show(trid);
	must("levels", posix_trace_getlevels_np(trid, &levels, sizeof(levels)));
	(void)printf("chosen: the handler was asked %llu times and dropped %llu\n",
	    (unsigned long long)levels.posix_handled_np,
	    (unsigned long long)levels.posix_not_handler_np);
	must("shutdown", posix_trace_shutdown(trid));
	return 0;
}
