/* SPDX-License-Identifier: MIT */
/*
 * readlog.c - reads a log to its end a few times with libptrace-retrieval alone, as a host does
 * that only reads logs.  Prints how many events it has, and the processor time an event took,
 * opening and closing included: the least of all rounds, because what disturbs one only adds to it.
 *
 *	readlog FILE ROUNDS
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BYTES_MAX  256
#define ROUNDS_MAX 99

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "readlog: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static double cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double read_once(int file, unsigned long *events)
{
	struct posix_trace_event_info info;
	unsigned char data[BYTES_MAX];
	size_t length;
	int nothing = 0;
	trace_id_t trid;
	double begin = cpu_ns();

	must("open", posix_trace_open(file, &trid));
	for (*events = 0;; (*events)++) {
		must("getnext",
		    posix_trace_getnext_event(trid, &info, data, sizeof(data), &length, &nothing));
		if (nothing)
			break;
	}
	must("close", posix_trace_close(trid));
	return (cpu_ns() - begin) / (double)(*events ? *events : 1);
}

int main(int argc, char **argv)
{
	double least = 0;
	unsigned long events = 0;
	long rounds = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (rounds < 1 || rounds > ROUNDS_MAX) {
		(void)fputs("usage: readlog FILE ROUNDS\n", stderr);
		return 2;
	}
	for (long i = 0; i < rounds; i++) {
		int file = open(argv[1], O_RDONLY | O_CLOEXEC);
		double ns;

		if (file < 0)
			must(argv[1], errno);
		ns = read_once(file, &events);
		least = i == 0 || ns < least ? ns : least;
		(void)close(file);
	}
	(void)printf("%lu %.3f\n", events, least);
	return 0;
}
