/* SPDX-License-Identifier: MIT */
/*
 * leave.c - a program that traces and leaves without a word, for tests of `pxtrace recover`.
 *
 * usage: leave HOW LANES THREADS EVENTS [FILE]
 *
 *	abort        leaves a core file, if the system writes one
 *	pause        stays, until it is killed
 *	dump FILE    writes its own memory to FILE: what is mapped for writing, one piece after another
 *
 * Each thread traces EVENTS events into each of two streams, "flight" (LOOP) and "full" (UNTIL_FULL),
 * and a third one, "read", is read to its end.  Says what the streams counted.
 */
#define _FILE_OFFSET_BITS 64 /* addresses are offsets in /proc/self/mem */
#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

POSIX_TRACE_DEFINE_NP(job, u32, who, u32, number);

struct writer {
	uint32_t thread;
	uint32_t events;
};

static void must(const char *what, int error)
{
	if (error) {
		(void)fprintf(stderr, "leave: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void *write_all(void *argument)
{
	const struct writer *writer = argument;

	for (uint32_t i = 0; i < writer->events; i++)
		posix_trace_point_np(job, writer->thread, i);
	return NULL;
}

static trace_id_t create(const char *name, int policy, unsigned lanes)
{
	trace_attr_t attr;
	trace_id_t trid;

	must("attributes", posix_trace_attr_init(&attr));
	must("name", posix_trace_attr_setname(&attr, name));
	must("policy", posix_trace_attr_setstreamfullpolicy(&attr, policy));
	must("size", posix_trace_attr_setstreamsize(&attr, 65536));
	must("lanes", posix_trace_attr_setlanes_np(&attr, lanes));
	must("create", posix_trace_create(0, &attr, &trid));
	must("start", posix_trace_start(trid));
	return trid;
}

static void read_all(trace_id_t trid)
{
	struct posix_trace_event_info event;
	unsigned char data[64];
	int nothing = 0;
	size_t length;

	while (!nothing)
		must("read", posix_trace_trygetnext_event(
		                 trid, &event, data, sizeof data, &length, &nothing));
}

static void say(const char *name, trace_id_t trid)
{
	struct posix_trace_counts_np counts;

	must("counts", posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	(void)printf("%s %llu %llu %llu\n", name, (unsigned long long)counts.posix_written_np,
	    (unsigned long long)counts.posix_retrieved_np,
	    (unsigned long long)counts.posix_lost_np);
}

static void copy(int from, int to, unsigned long at, unsigned long end)
{
	static unsigned char bytes[65536];

	while (at < end) {
		size_t wanted = end - at < sizeof bytes ? end - at : sizeof bytes;
		ssize_t got = pread(from, bytes, wanted, (off_t)at);

		if (got <= 0 || write(to, bytes, (size_t)got) != got)
			return;
		at += (unsigned long)got;
	}
}

/* More than the program can have: what a sanitizer keeps of it, terabytes of nothing. */
#define TOO_MUCH (64ul << 20)

static void dump(const char *path)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	int from = open("/proc/self/mem", O_RDONLY);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (!maps || from < 0 || to < 0)
		must("dump", ENOENT);
	while (fgets(line, sizeof line, maps)) {
		unsigned long at;
		unsigned long end;
		char flags[8];

		if (sscanf(line, "%lx-%lx %7s", &at, &end, flags) == 3 && flags[1] == 'w' &&
		    end - at <= TOO_MUCH)
			copy(from, to, at, end);
	}
	(void)fclose(maps);
	(void)close(from);
	(void)close(to);
}

int main(int argc, char **argv)
{
	enum {
		THREADS_MAX = 16
	};
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct writer writers[THREADS_MAX];
	pthread_t threads[THREADS_MAX];
	unsigned count = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	trace_id_t read;
	trace_id_t flight;
	trace_id_t full;

	if (argc < 5 || count > THREADS_MAX)
		return 1;
	must("job", posix_trace_open_np(job));
	read = create("read", POSIX_TRACE_LOOP, 1);
	posix_trace_point_np(job, 99, 1);
	read_all(read);
	must("stop", posix_trace_stop(read));
	flight = create("flight", POSIX_TRACE_LOOP, (unsigned)strtoul(argv[2], NULL, 10));
	full = create("full", POSIX_TRACE_UNTIL_FULL, 1);
	for (unsigned i = 0; i < count; i++) {
		writers[i] = (struct writer){ i, (uint32_t)strtoul(argv[4], NULL, 10) };
		must("thread", pthread_create(&threads[i], NULL, write_all, &writers[i]));
	}
	for (unsigned i = 0; i < count; i++)
		must("join", pthread_join(threads[i], NULL));
	say("flight", flight);
	say("full", full);
	say("read", read);
	(void)fflush(stdout);
	(void)setrlimit(RLIMIT_CORE, &all);
	if (strcmp(argv[1], "abort") == 0)
		abort();
	if (strcmp(argv[1], "pause") == 0)
		for (;;)
			(void)pause();
	dump(argv[5]);
	_exit(0);
}
