/* SPDX-License-Identifier: MIT */
/*
 * black_box.c - a stream that outlives its process.  The program traces into a file and crashes;
 * what it did last is in the file.
 *
 *	black_box [FILE]             (default: black_box.box)
 *	pxtrace recover black_box.box -o black_box.ptl && pxtrace print black_box.ptl
 *
 * Started again, it keeps the last run's file as FILE.last: a new stream wants an empty file, so
 * that a program which a supervisor starts again at once does not overwrite what is to be found
 * out.
 *
 * On tmpfs (/dev/shm/black_box.box) the file costs a trace point nothing; on disk the same, but for
 * a page fault when the system has just written a page back.  fsync() is for failures of power.
 *
 * Page: posix_trace_attr_setfile_np, posix_trace_attr_getfile_np - a stream in a file outlives its
 * process
 */
#include <trace.h>
#include <trace_np.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

POSIX_TRACE_DEFINE_NP(valve, u32, step, i64, opening);

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "black_box: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

/* What is there may be what the last run left when it crashed. */
static int new_file(const char *path)
{
	char last[4096];

	(void)snprintf(last, sizeof(last), "%s.last", path);
	(void)rename(path, last);
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static void record_into(int fd)
{
	trace_attr_t attr;
	trace_id_t trid;

	must("attributes", posix_trace_attr_init(&attr));
	must("name", posix_trace_attr_setname(&attr, "valves"));
	must("size", posix_trace_attr_setstreamsize(&attr, 65536));
	must("file", posix_trace_attr_setfile_np(&attr, fd));
	must("create", posix_trace_create(0, &attr, &trid));
	/* The stream does not need it any more. */
	(void)close(fd);
	must("event", posix_trace_open_np(valve));
	must("start", posix_trace_start(trid));
}

/* With step 4711 something goes wrong. */
static void control_valves(void)
{
	for (uint32_t step = 0;; step++) {
		posix_trace_point_np(valve, step, 100 - (int64_t)step % 50);
		if (step == 4711)
			abort();
	}
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "black_box.box";
	const struct rlimit none = { 0, 0 };
	int fd = new_file(path);

	if (fd < 0) {
		perror(path);
		return 1;
	}
	record_into(fd);
	(void)printf("black_box: what comes now can be read with\n"
	             "    pxtrace recover %s -o black_box.ptl && pxtrace print black_box.ptl\n",
	    path);
	(void)fflush(stdout);
	/* The black box is enough: no core file. */
	(void)setrlimit(RLIMIT_CORE, &none);
	control_valves();
	return 0;
}
