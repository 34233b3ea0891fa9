/* SPDX-License-Identifier: MIT */
/*
 * plant.h - what the programs that trace have in common: the way into the analyser's stream, and the
 * file with the plant's settings, which both lock.
 */
#ifndef PLANT_H
#define PLANT_H

#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL

static inline void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(1);
	}
}

static inline int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 * MS + now.tv_nsec;
}

static inline void sleep_until(int64_t ns)
{
	struct timespec at = { .tv_sec = (time_t)(ns / (1000 * MS)),
		.tv_nsec = (long)(ns % (1000 * MS)) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/*
 * The analyser may not be there yet, or not have started the stream that it has made: then for up to
 * five seconds each.  Until it is started nothing is recorded, not even events of the type @first.
 */
static inline trace_id_t attach_to(const char *stream, trace_event_id_t first)
{
	trace_id_t trid = 0;
	int error = ENOENT;

	for (int attempt = 0; attempt < 500 && error == ENOENT; attempt++) {
		error = posix_trace_attach_np(stream, NULL, &trid);
		if (error == ENOENT)
			sleep_until(now_ns() + 10 * MS);
	}
	must(stream, error);
	for (int attempt = 0; attempt < 5000 && !posix_trace_wanted_np(first); attempt++)
		sleep_until(now_ns() + MS);
	return trid;
}

/* A lock that knows nothing of priorities. */
static inline void lock_settings(int file)
{
	while (lockf(file, F_LOCK, 0) != 0 && errno == EINTR)
		;
}

static inline void unlock_settings(int file)
{
	(void)lockf(file, F_ULOCK, 0);
}

#endif
