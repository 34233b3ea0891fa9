/* SPDX-License-Identifier: MIT */
/*
 * names.c - the list of event types, by name.
 *
 * Page: posix_trace_eventid_get_name, posix_trace_eventid_equal,
 * posix_trace_trid_eventid_open - names of event types
 * Page: posix_trace_eventtypelist_getnext_id, posix_trace_eventtypelist_rewind - walk the list of
 * event types
 *
 * Prints:
 *	posix_trace_unnamed_userevent
 *	motor_on
 *	motor_off
 */
#include <trace.h>

#include <stdio.h>
#include <stdlib.h>

static void must(int error)
{
	if (error != 0)
		exit(1);
}

int main(void)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t on;
	trace_event_id_t off;
	trace_event_id_t same;
	trace_event_id_t event;
	trace_id_t trid;
	int unavailable;

	must(posix_trace_create(0, NULL, &trid));
	must(posix_trace_eventid_open("motor_on", &on));
	must(posix_trace_eventid_open("motor_off", &off));
	must(posix_trace_trid_eventid_open(trid, "motor_on", &same));
	if (!posix_trace_eventid_equal(trid, on, same))
		return 1;

	must(posix_trace_eventtypelist_rewind(trid));
	for (;;) {
		must(posix_trace_eventtypelist_getnext_id(trid, &event, &unavailable));
		if (unavailable)
			break;
		must(posix_trace_eventid_get_name(trid, event, name));
		if (event >= POSIX_TRACE_UNNAMED_USEREVENT)
			(void)puts(name);
	}
	must(posix_trace_shutdown(trid));
	return 0;
}
