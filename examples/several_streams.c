/* SPDX-License-Identifier: MIT */
/*
 * several_streams.c - one program, three streams, each with a size, a policy and a filter of its
 * own:
 *
 *	setup    small, until full: what was configured, however long the program runs afterwards
 *	recent   overwrites the oldest: the last moments of everything that comes often
 *	faults   to a log, as it happens: what must not get lost
 *
 * A trace point does not know of streams: it is recorded by each one that wants it.
 *
 *	several_streams [LOG]        (default: several_streams.ptl)
 */
#include <trace.h>
#include <trace_np.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SENSORS 5u
#define SAMPLES 100000u

POSIX_TRACE_DEFINE_NP(sensor_setup, u32, sensor, u32, period_us);
POSIX_TRACE_DEFINE_NP(sample, u32, number, i32, value);
POSIX_TRACE_DEFINE_NP(fault, u32, number, text(16), what);

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "several_streams: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

/* A filter names what is not wanted: all user events but the one called @name. */
static void want_only(trace_id_t trid, const char *name)
{
	trace_event_set_t unwanted;
	trace_event_id_t wanted;

	must("event", posix_trace_eventid_open(name, &wanted));
	must("set", posix_trace_eventset_fill(&unwanted, POSIX_TRACE_ALL_EVENTS));
	must("set", posix_trace_eventset_del(wanted, &unwanted));
	must("filter", posix_trace_set_filter(trid, &unwanted, POSIX_TRACE_SET_EVENTSET));
}

/* @fd: of the log, or -1: the stream is read in this program. */
static trace_id_t make(const char *name, int policy, size_t bytes, int fd, const char *wanted)
{
	trace_attr_t attr;
	trace_id_t trid;

	must("attributes", posix_trace_attr_init(&attr));
	must("name", posix_trace_attr_setname(&attr, name));
	must("policy", posix_trace_attr_setstreamfullpolicy(&attr, policy));
	must("size", posix_trace_attr_setstreamsize(&attr, bytes));
	must("lanes", posix_trace_attr_setlanes_np(&attr, 1));
	if (fd < 0)
		must(name, posix_trace_create(0, &attr, &trid));
	else
		must(name, posix_trace_create_withlog(0, &attr, fd, &trid));
	must("attributes", posix_trace_attr_destroy(&attr));
	want_only(trid, wanted);
	must("start", posix_trace_start(trid));
	return trid;
}

static void live(void)
{
	for (uint32_t sensor = 0; sensor < SENSORS; sensor++)
		posix_trace_point_np(sensor_setup, sensor, 1000 * (sensor + 1));
	for (uint32_t number = 0; number < SAMPLES; number++) {
		posix_trace_point_np(sample, number, (int32_t)(number % 200) - 100);
		if (number % 30000 == 29999)
			posix_trace_point_np(fault, number, "overheated");
	}
}

/* What a stream still has: its first and its last event, and how many they are. */
static void show(trace_id_t trid, const char *name)
{
	struct posix_trace_counts_np counts;
	struct posix_trace_event_info info;
	uint32_t data[8];
	uint32_t first = 0;
	uint32_t last = 0;
	unsigned count = 0;
	size_t length;
	int nothing;

	must("stop", posix_trace_stop(trid));
	while (
	    posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &length, &nothing) == 0 &&
	    !nothing) {
		if (info.posix_event_id <= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		first = count++ == 0 ? data[0] : first;
		last = data[0];
	}
	must("counts", posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	(void)printf("several_streams: %-6s holds %u events, number %u to %u; %s\n", name, count,
	    first, last, counts.posix_lost_np > 0 ? "older ones are overwritten" : "none is lost");
	must("shutdown", posix_trace_shutdown(trid));
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "several_streams.ptl";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct posix_trace_counts_np counts;
	trace_id_t setup;
	trace_id_t recent;
	trace_id_t faults;

	if (fd < 0) {
		perror(path);
		return 1;
	}
	must("event", posix_trace_open_np(sensor_setup));
	must("event", posix_trace_open_np(sample));
	must("event", posix_trace_open_np(fault));
	setup = make("setup", POSIX_TRACE_UNTIL_FULL, 4096, -1, "sensor_setup");
	recent = make("recent", POSIX_TRACE_LOOP, 16384, -1, "sample");
	faults = make("faults", POSIX_TRACE_FLUSH, 16384, fd, "fault");
	live();
	show(setup, "setup");
	show(recent, "recent");
	must("stop", posix_trace_stop(faults));
	must("counts", posix_trace_getcounts_np(faults, &counts, sizeof(counts)));
	must("shutdown", posix_trace_shutdown(faults));
	(void)close(fd);
	(void)printf("several_streams: faults wrote %llu events to %s\n",
	    (unsigned long long)counts.posix_written_np, path);
	return 0;
}
