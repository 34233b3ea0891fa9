/* SPDX-License-Identifier: MIT */
/*
 * last_words.c - a program that crashes, and a log that tells what it did until then.
 *
 *	last_words [LOG [crash]]        (default: last_words.ptl, and no crash)
 *	pxtrace print last_words.ptl
 *
 * Page: posix_trace_seal_on_signals_np - complete logs when a signal ends the process
 */
#include <trace.h>
#include <trace_np.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

POSIX_TRACE_DEFINE_NP(request, u32, number, text(16), verb);
POSIX_TRACE_DEFINE_NP(reply, u32, number, u32, status);

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "last_words: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

/* The mistake: a verb that is not in the table. */
static const char *handler_of(const char *verb)
{
	return strcmp(verb, "get") == 0 ? "read" : NULL;
}

static void serve(unsigned number, const char *verb)
{
	const char *volatile handler;

	posix_trace_point_np(request, number, verb);
	handler = handler_of(verb);
	posix_trace_point_np(reply, number, handler[0] == 'r' ? 200u : 500u);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "last_words.ptl";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	trace_attr_t attr;
	trace_id_t trid;

	if (fd < 0) {
		perror(path);
		return 1;
	}
	/* First, so that the log begins with what a handler could not find out. */
	must("seal", posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_FAULTS_NP, NULL, 0));
	must("attributes", posix_trace_attr_init(&attr));
	must("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	must("create", posix_trace_create_withlog(0, &attr, fd, &trid));
	must("request", posix_trace_open_np(request));
	must("reply", posix_trace_open_np(reply));
	must("start", posix_trace_start(trid));

	for (unsigned number = 0; number < 1000; number++)
		serve(number, "get");
	if (argc > 2)
		serve(1000, "delete");
	must("shutdown", posix_trace_shutdown(trid));
	(void)close(fd);
	(void)printf("last_words: 1000 requests are in %s\n", path);
	return 0;
}
