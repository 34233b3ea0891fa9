/* SPDX-License-Identifier: MIT */
/*
 * monitor.c - watching a program from a thread inside it.  The monitor sleeps until something is
 * traced; a filter keeps from it what it does not want to know, and an unwanted trace point costs
 * next to nothing.
 *
 * Page: posix_trace_getnext_event, posix_trace_timedgetnext_event,
 * posix_trace_trygetnext_event - read the next event of a stream or log
 * Page: posix_trace_wanted_np - whether any stream wants a type
 */
#include <trace.h>
#include <trace_np.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static trace_id_t trid;
static trace_event_id_t step, alarm_raised;

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "monitor: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

/* Ends with the stream: shutdown releases a reader that waits, with EINVAL. */
static void *watch(void *argument)
{
	struct posix_trace_event_info info;
	unsigned value;
	size_t length;
	int nothing;

	(void)argument;
	while (
	    posix_trace_getnext_event(trid, &info, &value, sizeof(value), &length, &nothing) == 0) {
		if (!nothing && info.posix_event_id == alarm_raised)
			(void)printf("monitor: alarm at value %u\n", value);
		if (!nothing && info.posix_event_id == POSIX_TRACE_STOP)
			return NULL;
	}
	return NULL;
}

/* Everything is filtered out except alarms, START and STOP. */
static void want_alarms_only(void)
{
	trace_event_set_t unwanted;

	must("set", posix_trace_eventset_fill(&unwanted, POSIX_TRACE_ALL_EVENTS));
	must("set", posix_trace_eventset_del(alarm_raised, &unwanted));
	must("set", posix_trace_eventset_del(POSIX_TRACE_START, &unwanted));
	must("set", posix_trace_eventset_del(POSIX_TRACE_STOP, &unwanted));
	must("filter", posix_trace_set_filter(trid, &unwanted, POSIX_TRACE_SET_EVENTSET));
}

int main(void)
{
	pthread_t monitor;

	must("create", posix_trace_create(0, NULL, &trid));
	must("step", posix_trace_eventid_open("step", &step));
	must("alarm", posix_trace_eventid_open("alarm", &alarm_raised));
	want_alarms_only();
	must("start", posix_trace_start(trid));
	must("thread", pthread_create(&monitor, NULL, watch, NULL));

	for (unsigned value = 0; value < 1000; value++) {
		posix_trace_event(step, &value, sizeof(value));
		if (value % 400 == 399)
			posix_trace_event(alarm_raised, &value, sizeof(value));
	}
	(void)printf(
	    "monitor: steps are %s\n", posix_trace_wanted_np(step) ? "traced" : "not traced");

	must("stop", posix_trace_stop(trid));
	must("join", pthread_join(monitor, NULL));
	must("shutdown", posix_trace_shutdown(trid));
	return 0;
}
