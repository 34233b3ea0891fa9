/* SPDX-License-Identifier: MIT */
/*
 * places.c - what an event costs by where its stream lives: in memory of the process, in memory that
 * its children inherit, in a file on tmpfs, in a file on disk.  The places take turns, so that all
 * meet the same machine; a ratio is the median of the ratios of the turns.
 *
 *	places [--quick | --smoke] [--csv] [--disk DIRECTORY]      (default: the current directory)
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/out.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define STREAM_BYTES (1024ul * 1024)
#define BYTES_MAX    256
#define TURNS_MAX    15
#define TMPFS        0x01021994

enum place {
	MEMORY,
	INHERITED,
	ON_TMPFS,
	ON_DISK,
	PLACES
};

static const char *const names[PLACES] = { "memory of the process", "inherited memory",
	"file on tmpfs", "file on disk" };
static const size_t sizes[] = { 4, 32, 256 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static const char *directories[PLACES] = { NULL, NULL, "/dev/shm", "." };
static trace_event_id_t type;
static unsigned char payload[BYTES_MAX];
static size_t bytes;

static void events(unsigned thread, unsigned long count)
{
	const trace_event_id_t id = type;
	const size_t length = bytes;

	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		posix_trace_event(id, payload, length);
}

/* An open file without a name; -1: there is no such place here. */
static int file_in(enum place place)
{
	struct statfs state;
	int fd;

	if (statfs(directories[place], &state) != 0 ||
	    (state.f_type == TMPFS) != (place == ON_TMPFS))
		return -1;
	fd = open(directories[place], O_TMPFILE | O_RDWR, 0600);
	return fd;
}

#if _PXT_UNIT_INHERIT
/* False: nothing is inherited in this build. */
static int inherit(trace_attr_t *attr)
{
	bench_ok("inheritance", posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED));
	return 1;
}
#else
static int inherit(trace_attr_t *attr)
{
	(void)attr;
	return 0;
}
#endif

/* False: the place is not there. */
static int open_stream(enum place place, trace_id_t *trid)
{
	int fd = directories[place] ? file_in(place) : -1;
	trace_attr_t attr;

	if (directories[place] && fd < 0)
		return 0;
	bench_ok("attributes", posix_trace_attr_init(&attr));
	if (place == INHERITED && !inherit(&attr))
		return 0;
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, BYTES_MAX));
	bench_ok("file", posix_trace_attr_setfile_np(&attr, fd));
	bench_ok("create", posix_trace_create(0, &attr, trid));
	if (fd >= 0)
		(void)close(fd);
	return 1;
}

static int by_size(const void *a, const void *b)
{
	double one = *(const double *)a;
	double two = *(const double *)b;

	return (one > two) - (one < two);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), by_size);
	return count ? values[count / 2] : NAN;
}

/* Only one stream runs at a time: the others are not wanted by anybody. */
static struct bench_row one_turn(trace_id_t trid)
{
	struct bench_row row;

	bench_ok("start", posix_trace_start(trid));
	row = bench_run(events, 1, bench_pick(50000, 50000, 1000), BENCH_WALL);
	bench_ok("stop", posix_trace_stop(trid));
	return row;
}

static void say(const char *column, double values[PLACES][TURNS_MAX], unsigned turns,
    const int there[PLACES], double ratios[PLACES])
{
	for (int place = MEMORY; place < PLACES; place++) {
		double of_turns[TURNS_MAX];
		double copy[TURNS_MAX];

		ratios[place] = NAN;
		if (!there[place]) {
			bench_missing(names[place], column,
			    directories[place] ? "no such file system here"
			                       : "nothing is inherited in this build");
			continue;
		}
		for (unsigned i = 0; i < turns; i++)
			of_turns[i] = values[place][i] / values[MEMORY][i];
		memcpy(copy, values[place], sizeof(copy));
		bench_value(names[place], column, "ns", median(copy, turns));
		ratios[place] = median(of_turns, turns);
		if (place != MEMORY)
			bench_value(names[place], column, "x memory", ratios[place]);
	}
}

static void measure(
    size_t size, trace_id_t streams[PLACES], const int there[PLACES], double ratios[PLACES])
{
	double values[PLACES][TURNS_MAX];
	unsigned turns = (unsigned)bench_pick(TURNS_MAX, 5, 1);
	char column[16];

	bytes = size;
	for (unsigned turn = 0; turn < turns; turn++) {
		for (int place = MEMORY; place < PLACES; place++)
			values[place][turn] = there[place] ? one_turn(streams[place]).ns : NAN;
	}
	(void)snprintf(column, sizeof(column), "%zu B", size);
	say(column, values, turns, there, ratios);
}

int main(int argc, char **argv)
{
	const struct bench_extra extra[] = { { "--disk", &directories[ON_DISK] }, { NULL, NULL } };
	double ratios[SIZES][PLACES];
	trace_id_t streams[PLACES];
	int there[PLACES];

	bench_begin(argc, argv, "places", extra);
	bench_frame_size(3, 10);
	bench_ok("event", posix_trace_eventid_open("somewhere", &type));
	bench_say_facts();
	for (int place = MEMORY; place < PLACES; place++)
		there[place] = open_stream((enum place)place, &streams[place]);
	bench_table("cost", "An event, by where its stream lives");
	for (size_t i = 0; i < SIZES; i++)
		measure(sizes[i], streams, there, ratios[i]);
	bench_table("targets", "Targets");
	for (size_t i = 0; i < SIZES; i++) {
		char what[64];

		(void)snprintf(what, sizeof(what), "%zu B event in inherited memory", sizes[i]);
		bench_target(what, "x memory", ratios[i][INHERITED], BENCH_AT_MOST, 1.05);
		(void)snprintf(what, sizeof(what), "%zu B event in a file on tmpfs", sizes[i]);
		bench_target(what, "x memory", ratios[i][ON_TMPFS], BENCH_AT_MOST, 1.05);
	}
	for (int place = MEMORY; place < PLACES; place++) {
		if (there[place])
			bench_ok("shutdown", posix_trace_shutdown(streams[place]));
	}
	return 0;
}
