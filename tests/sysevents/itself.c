/* SPDX-License-Identifier: MIT */
/*
 * itself.c - a program with a stream, a log and so a thread of the library's, which is recorded by another
 * process besides (tool/wrap.sh): what the library does is not told as the program's.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <trace_np.h>
#include <unistd.h>

int main(void)
{
	int fd = open("itself.ptl", O_RDWR | O_CREAT | O_TRUNC, 0666);
	trace_attr_t attr;
	trace_id_t trid;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH);
	if (!error)
		error = posix_trace_create_withlog(0, &attr, fd, &trid);
	if (!error)
		error = posix_trace_start(trid);
	if (!error)
		error = posix_trace_flush(trid);
	if (!error)
		error = posix_trace_shutdown(trid);
	return error ? 1 : 3;
}
