/* SPDX-License-Identifier: MIT */
/*
 * leave.c - programs that trace and leave without a word, for tests of `pxtrace recover`.
 *
 * usage: leave HOW LANES THREADS EVENTS [FILE]
 *
 *	abort        leaves a core file, if the system writes one
 *	pause        stays, until it is killed
 *	dump FILE    writes its own memory to FILE: what is mapped for writing, one piece after another
 *
 * Each thread traces EVENTS events into each of two streams, "flight" (LOOP) and "full" (UNTIL_FULL),
 * and a third one, "read", is read to its end.  Says what the streams counted.
 *
 * usage: leave box FILE COUNTS POLICY LANES THREADS BYTES
 *
 * Traces into a black box, FILE, until it is killed.  POLICY: loop or until_full; BYTES: of the stream.  Each thread
 * traces its number and 0, 1, 2, ..., and writes to COUNTS (32 bits a thread, mapped) how many of its trace points have
 * returned.  Names are defined all the time.  Says "ready" when it traces.
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
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

POSIX_TRACE_DEFINE_NP(job, u32, who, u32, number);

#define THREADS_MAX 16
#define SKIPPED     77 /* streams in files are not built */

struct writer {
	uint32_t thread;
	uint32_t events;
	_Atomic uint32_t *count; /* in a black box's COUNTS */
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

/* ---- A black box ---- */

static void *write_on(void *argument)
{
	const struct writer *writer = argument;

	for (uint32_t i = 0;; i++) {
		posix_trace_point_np(job, writer->thread, i);
		*writer->count = i + 1;
	}
	return NULL;
}

static void create_box(char **argv)
{
	int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	trace_attr_t attr;
	trace_id_t trid;
	int error;

	must("file", file < 0 ? errno : 0);
	must("attributes", posix_trace_attr_init(&attr));
	must("name", posix_trace_attr_setname(&attr, "box"));
	must("policy",
	    posix_trace_attr_setstreamfullpolicy(
	        &attr, strcmp(argv[3], "loop") == 0 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL));
	must("lanes", posix_trace_attr_setlanes_np(&attr, (unsigned)strtoul(argv[4], NULL, 10)));
	must("size", posix_trace_attr_setstreamsize(&attr, strtoul(argv[6], NULL, 10)));
	error = posix_trace_attr_setfile_np(&attr, file);
	if (error == EINVAL)
		exit(SKIPPED);
	must("black box", error);
	must("create", posix_trace_create(0, &attr, &trid));
	must("start", posix_trace_start(trid));
	(void)close(file);
}

static void be_a_box(char **argv)
{
	static struct writer writers[THREADS_MAX];
	unsigned threads = (unsigned)strtoul(argv[5], NULL, 10);
	const struct timespec pause = { 0, 500000 };
	_Atomic uint32_t *counts;
	pthread_t thread;
	int file = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (file < 0 || ftruncate(file, THREADS_MAX * sizeof *counts) != 0)
		must("counts", errno);
	counts =
	    mmap(NULL, THREADS_MAX * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (counts == MAP_FAILED || threads > THREADS_MAX)
		must("counts", ENOMEM);
	create_box(argv);
	for (unsigned i = 0; i < threads; i++) {
		writers[i] = (struct writer){ i, 0, counts + i };
		must("thread", pthread_create(&thread, NULL, write_on, &writers[i]));
	}
	(void)puts("ready");
	(void)fflush(stdout);
	for (uint32_t i = 0;; i++) {
		trace_event_id_t id;
		char name[32];

		(void)snprintf(name, sizeof name, "extra_%u", (unsigned)i);
		if (posix_trace_eventid_open(name, &id) == 0)
			posix_trace_event(id, NULL, 0);
		(void)nanosleep(&pause, NULL);
	}
}

int main(int argc, char **argv)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct writer writers[THREADS_MAX];
	pthread_t threads[THREADS_MAX];
	unsigned count = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	trace_id_t read;
	trace_id_t flight;
	trace_id_t full;

	must("job", posix_trace_open_np(job));
	if (argc == 8 && strcmp(argv[1], "box") == 0)
		be_a_box(argv + 1);
	if (argc < 5 || count > THREADS_MAX)
		return 1;
	read = create("read", POSIX_TRACE_LOOP, 1);
	posix_trace_point_np(job, 99, 1);
	read_all(read);
	must("stop", posix_trace_stop(read));
	flight = create("flight", POSIX_TRACE_LOOP, (unsigned)strtoul(argv[2], NULL, 10));
	full = create("full", POSIX_TRACE_UNTIL_FULL, 1);
	for (unsigned i = 0; i < count; i++) {
		writers[i] = (struct writer){ i, (uint32_t)strtoul(argv[4], NULL, 10), NULL };
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
