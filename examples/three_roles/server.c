/* SPDX-License-Identifier: MIT */
/*
 * server.c - the ordinary process of three: it answers requests, and traces them into the stream
 * of another process.  A "lookup" has the settings for a millisecond, a "report" for 30.
 *
 *	server STREAM SETTINGS
 */
#define _GNU_SOURCE
#include "plant.h"

#define REQUESTS 9u

POSIX_TRACE_DEFINE_NP(hello, text(16), role);
POSIX_TRACE_DEFINE_NP(goodbye);
POSIX_TRACE_DEFINE_NP(request_begin, u32, request, text(16), kind);
POSIX_TRACE_DEFINE_NP(request_end, u32, request);

/* Made by control; up to five seconds. */
static int open_settings(const char *path)
{
	int file = -1;

	for (int attempt = 0; attempt < 500 && file < 0; attempt++) {
		file = open(path, O_RDWR | O_CLOEXEC);
		if (file < 0)
			sleep_until(now_ns() + 10 * MS);
	}
	must(path, file < 0 ? errno : 0);
	return file;
}

static void answer(uint32_t request, int settings)
{
	const char *kind = request % 3 == 0 ? "report" : "lookup";

	posix_trace_point_np(request_begin, request, kind);
	lock_settings(settings);
	sleep_until(now_ns() + (*kind == 'r' ? 30 : 1) * MS);
	unlock_settings(settings);
	posix_trace_point_np(request_end, request);
}

int main(int argc, char **argv)
{
	trace_id_t trid;
	int settings;

	if (argc != 3)
		must("usage: server STREAM SETTINGS", EINVAL);
	must("event", posix_trace_open_np(hello));
	must("event", posix_trace_open_np(goodbye));
	must("event", posix_trace_open_np(request_begin));
	must("event", posix_trace_open_np(request_end));
	trid = attach_to(argv[1], posix_trace_point_id_np(hello));
	posix_trace_point_np(hello, "server");
	settings = open_settings(argv[2]);
	for (uint32_t request = 1; request <= REQUESTS; request++) {
		sleep_until(now_ns() + 50 * MS);
		answer(request, settings);
	}
	posix_trace_point_np(goodbye);
	must("shutdown", posix_trace_shutdown(trid));
	(void)close(settings);
	return 0;
}
