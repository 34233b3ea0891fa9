/* SPDX-License-Identifier: MIT */
/*
 * round.c - create, trace, log, read back: in C11 and in C++11, with and without position
 * independence, with this C library and another one, and with both libraries in one program (ruling 21).  A stream and
 * a log are open at once, through the functions of whichever library comes first.  (Not more than both languages have.)
 */
#include <stdio.h>
#include <string.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define EVENTS 1000

POSIX_TRACE_DEFINE_NP(round_step, u32, number);

static int record(int fd)
{
	trace_id_t stream;
	trace_attr_t attr;

	if (posix_trace_attr_init(&attr) != 0 ||
	    posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND) != 0)
		return 1;
	if (posix_trace_create_withlog(0, &attr, fd, &stream) != 0)
		return 2;
	if (posix_trace_open_np(round_step) != 0 || posix_trace_start(stream) != 0)
		return 3;
	for (unsigned i = 0; i < EVENTS; i++)
		posix_trace_point_np(round_step, i);
	if (posix_trace_shutdown(stream) != 0 || posix_trace_attr_destroy(&attr) != 0)
		return 4;
	return 0;
}

static int read_back(int fd)
{
	struct posix_trace_event_info info;
	struct posix_trace_status_info status;
	trace_id_t stream;
	trace_attr_t attr;
	unsigned next = 0;
	trace_id_t log;
	size_t bytes;
	int none = 0;

	if (lseek(fd, 0, SEEK_SET) != 0 || posix_trace_create(0, NULL, &stream) != 0 ||
	    posix_trace_open(fd, &log) != 0)
		return 5;
	/* Each identifier answers, whichever library made it. */
	if (posix_trace_get_status(stream, &status) != 0 ||
	    posix_trace_get_attr(stream, &attr) != 0 || posix_trace_get_attr(log, &attr) != 0)
		return 11;
	for (;;) {
		char name[TRACE_EVENT_NAME_MAX + 1];
		unsigned number = 0;

		if (posix_trace_getnext_event(log, &info, &number, sizeof(number), &bytes, &none) !=
		    0)
			return 6;
		if (none)
			break;
		if (posix_trace_eventid_get_name(log, info.posix_event_id, name) != 0)
			return 7;
		if (strcmp(name, "round_step") == 0 && number != next++)
			return 8;
	}
	printf("%u events\n", next);
	if (posix_trace_close(log) != 0 || posix_trace_shutdown(stream) != 0)
		return 12;
	return next != EVENTS ? 9 : 0;
}

int main(void)
{
	FILE *file = tmpfile();
	int error;

	if (!file)
		return 10;
	error = record(fileno(file));
	return error ? error : read_back(fileno(file));
}
