/* SPDX-License-Identifier: MIT */
/*
 * both.c - a program that links both libraries (ruling 21): it writes a log and reads it, and a
 * stream and a log are open at once, through the functions of whichever library comes first.
 */
#include <trace.h>

#include <stdio.h>
#include <unistd.h>

static int count(trace_id_t trid, trace_event_id_t wanted)
{
	struct posix_trace_event_info info;
	char data[64];
	size_t bytes;
	int none = 0;
	int found = 0;

	while (
	    posix_trace_getnext_event(trid, &info, data, sizeof(data), &bytes, &none) == 0 && !none)
		found += info.posix_event_id == wanted;
	return found;
}

int main(void)
{
	struct posix_trace_status_info status;
	FILE *file = tmpfile();
	trace_event_id_t id;
	trace_id_t stream;
	trace_id_t log;
	trace_attr_t attr;
	int fd;

	if (!file || posix_trace_eventid_open("both", &id) != 0)
		return 1;
	fd = fileno(file);
	if (posix_trace_create_withlog(0, NULL, fd, &stream) != 0 || posix_trace_start(stream) != 0)
		return 2;
	posix_trace_event(id, "x", 1);
	if (posix_trace_shutdown(stream) != 0 || lseek(fd, 0, SEEK_SET) != 0)
		return 3;
	if (posix_trace_create(0, NULL, &stream) != 0 || posix_trace_open(fd, &log) != 0)
		return 4;
	/* Each identifier answers, whichever library made it. */
	if (posix_trace_get_status(stream, &status) != 0 || posix_trace_get_attr(log, &attr) != 0 ||
	    posix_trace_get_attr(stream, &attr) != 0)
		return 5;
	if (count(log, id) != 1)
		return 6;
	if (posix_trace_close(log) != 0 || posix_trace_shutdown(stream) != 0)
		return 7;
	return 0;
}
