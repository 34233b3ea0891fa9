/* SPDX-License-Identifier: MIT */
/* logkit.c - streams with a log in a file of their own; see story.h. */
#include "story.h"

#include "../suite.h"

#include <unistd.h>

/* A stream with a log in a new file; the policies as given (0: default). */
trace_id_t lk_logging(struct st_spec *spec)
{
	spec->with_log = true;
	spec->fd = st_file();
	return st_started(spec);
}

trace_id_t lk_open_log(int fd)
{
	trace_id_t trid = 0;

	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	return trid;
}

/* Shuts the stream down and opens its log. */
trace_id_t lk_finish(trace_id_t trid, const struct st_spec *spec)
{
	PXT_EQ(posix_trace_shutdown(trid), 0);
	return lk_open_log(spec->fd);
}

void lk_close_log(trace_id_t log, int fd)
{
	PXT_EQ(posix_trace_close(log), 0);
	PXT_EQ(close(fd), 0);
}

void lk_say_many(int first, int last)
{
	for (int i = first; i <= last; i++)
		st_say(i);
}

/* A log file on which bytes were written by somebody else. */
int lk_foreign_file(const void *bytes, size_t len)
{
	int fd = st_file();

	PXT_EQ(write(fd, bytes, len), len);
	return fd;
}
