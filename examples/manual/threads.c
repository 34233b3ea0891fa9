/* SPDX-License-Identifier: MIT */
/*
 * threads.c - tells a trace of the threads that the program has.
 *
 * Page: posix_trace_thread_register_np, posix_trace_dump_threads_np - tell a trace of threads
 *
 * Prints:
 *	1 thread was recorded
 */
#include <trace.h>
#include <trace_np.h>

#include <stdio.h>
#include <stdlib.h>

static void must(int error)
{
	if (error != 0)
		exit(1);
}

int main(void)
{
	trace_id_t trid;
	size_t threads;

	must(posix_trace_create(0, NULL, &trid));
	must(posix_trace_thread_register_np()); /* ahead of the first event */
	must(posix_trace_start(trid));
	must(posix_trace_dump_threads_np(&threads));
	(void)printf("%zu thread was recorded\n", threads);
	must(posix_trace_shutdown(trid));
	return 0;
}
