/* SPDX-License-Identifier: MIT */
/*
 * share.c - another process attaches to a stream by its name, and traces into it.
 *
 * Page: posix_trace_attach_np, posix_trace_attr_setsharename_np,
 * posix_trace_attr_getsharename_np - trace into another process' stream
 *
 * Prints:
 *	from another process: hello
 */
#define _POSIX_C_SOURCE 200809L
#include <trace.h>
#include <trace_np.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(int error)
{
	if (error != 0)
		exit(1);
}

/* Any program may do this; it need not be a child. */
static void attached_process(const char *name)
{
	trace_event_id_t greeting;
	trace_id_t trid;

	must(posix_trace_attach_np(name, NULL, &trid));
	must(posix_trace_eventid_open("greeting", &greeting));
	posix_trace_event(greeting, "hello", 5);
	must(posix_trace_shutdown(trid));
	exit(0);
}

int main(void)
{
	struct posix_trace_event_info event;
	trace_event_id_t greeting;
	trace_attr_t attr;
	trace_id_t trid;
	char name[32];
	char data[8];
	size_t length;
	int nothing;
	pid_t child;

	(void)snprintf(name, sizeof(name), "share-%ld", (long)getpid());
	must(posix_trace_attr_init(&attr));
	must(posix_trace_attr_setsharename_np(&attr, name));
	must(posix_trace_create(0, &attr, &trid));
	must(posix_trace_eventid_open("greeting", &greeting));
	must(posix_trace_start(trid));
	child = fork();
	if (child == 0)
		attached_process(name);
	do {
		must(
		    posix_trace_getnext_event(trid, &event, data, sizeof(data), &length, &nothing));
	} while (nothing || event.posix_event_id != greeting);
	(void)printf("from %s process: %.*s\n", event.posix_pid == child ? "another" : "this",
	    (int)length, data);
	(void)waitpid(child, NULL, 0);
	must(posix_trace_shutdown(trid));
	return 0;
}
