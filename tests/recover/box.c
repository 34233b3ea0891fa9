/* SPDX-License-Identifier: MIT */
/*
 * box.c - a program that traces into a black box until it is killed, for tests of `pxtrace recover`.
 *
 * usage: box FILE COUNTS POLICY LANES THREADS BYTES
 *
 * POLICY: loop or until_full; BYTES: of the stream.  Each thread traces its number and 0, 1, 2, ..., and
 * writes to COUNTS (32 bits a thread, mapped) how many of its trace points have returned.  Names are
 * defined all the time.  Says "ready" when it traces.
 */
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
#include <time.h>
#include <unistd.h>

POSIX_TRACE_DEFINE_NP(job, u32, who, u32, number);

#define THREADS_MAX 16

struct writer {
	uint32_t thread;
	_Atomic uint32_t *count;
};

static void must(const char *what, int error)
{
	if (error) {
		(void)fprintf(stderr, "box: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void *write_all(void *argument)
{
	const struct writer *writer = argument;

	for (uint32_t i = 0;; i++) {
		posix_trace_point_np(job, writer->thread, i);
		*writer->count = i + 1;
	}
	return NULL;
}

static void create(char **argv)
{
	int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	trace_attr_t attr;
	trace_id_t trid;

	must("file", file < 0 ? errno : 0);
	must("attributes", posix_trace_attr_init(&attr));
	must("name", posix_trace_attr_setname(&attr, "box"));
	must("policy",
	    posix_trace_attr_setstreamfullpolicy(
	        &attr, strcmp(argv[3], "loop") == 0 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL));
	must("lanes", posix_trace_attr_setlanes_np(&attr, (unsigned)strtoul(argv[4], NULL, 10)));
	must("size", posix_trace_attr_setstreamsize(&attr, strtoul(argv[6], NULL, 10)));
	must("black box", posix_trace_attr_setfile_np(&attr, file));
	must("create", posix_trace_create(0, &attr, &trid));
	must("start", posix_trace_start(trid));
	(void)close(file);
}

int main(int argc, char **argv)
{
	static struct writer writers[THREADS_MAX];
	unsigned threads = argc == 7 ? (unsigned)strtoul(argv[5], NULL, 10) : 0;
	const struct timespec pause = { 0, 500000 };
	_Atomic uint32_t *counts;
	pthread_t thread;
	int file;

	if (argc != 7 || threads > THREADS_MAX)
		return 1;
	file = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, THREADS_MAX * sizeof *counts) != 0)
		must("counts", errno);
	counts =
	    mmap(NULL, THREADS_MAX * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (counts == MAP_FAILED)
		must("counts", errno);
	must("job", posix_trace_open_np(job));
	create(argv);
	for (unsigned i = 0; i < threads; i++) {
		writers[i] = (struct writer){ i, counts + i };
		must("thread", pthread_create(&thread, NULL, write_all, &writers[i]));
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
