/* SPDX-License-Identifier: MIT */
/* reader.c - a user's program that only reads logs: no stream, no thread. */
#include <trace.h>

#include <errno.h>
#include <stdio.h>

int main(void)
{
	FILE *file = tmpfile();
	trace_id_t trid;

	/* An empty file is no log. */
	return file && posix_trace_open(fileno(file), &trid) == EINVAL ? 0 : 1;
}
