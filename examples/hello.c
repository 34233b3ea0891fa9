/* SPDX-License-Identifier: MIT */
/*
 * hello.c - the smallest traced program: one stream, three events, read back on the spot.
 *
 * Page: posix_trace_event, posix_trace_eventid_open - record an event, and define its type
 */
#include <trace.h>

#include <stdio.h>

int main(void)
{
	trace_id_t trid;
	trace_event_id_t greeting;
	struct posix_trace_event_info info;
	char data[32];
	size_t length;
	int nothing;

	if (posix_trace_create(0, NULL, &trid) != 0 ||
	    posix_trace_eventid_open("greeting", &greeting) != 0 || posix_trace_start(trid) != 0) {
		(void)fputs("hello: no trace\n", stderr);
		return 1;
	}
	posix_trace_event(greeting, "hello", 5);
	posix_trace_event(greeting, "trace", 5);
	posix_trace_event(greeting, "world", 5);
	(void)posix_trace_stop(trid);

	while (
	    posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &length, &nothing) == 0 &&
	    !nothing) {
		if (info.posix_event_id == greeting)
			(void)printf("%.*s\n", (int)length, data);
	}
	return posix_trace_shutdown(trid) != 0;
}
