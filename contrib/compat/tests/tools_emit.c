/* SPDX-License-Identifier: MIT */
/*
 * tools_emit.c - writes the log that tools.sh looks at: jobs that Zephyr's messages begin and end, jobs
 * of S.Ha.R.K.'s events, and native events between them.  usage: tools_emit LOG
 */
#include <fcntl.h>
#include <misc/kernel_event_hooks.h>
#include <time.h>
#include <trace_np.h>
#include <tracer.h>

#define JOBS 9u
#define LATE 6u

static void work(unsigned job)
{
	struct timespec from;
	struct timespec now;
	long long spent;

	(void)clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		spent = (now.tv_sec - from.tv_sec) * 1000000000ll + (now.tv_nsec - from.tv_nsec);
	} while (spent < (job == LATE ? 20000000 : 200000));
}

int main(int argc, char **argv)
{
	trace_event_id_t native;
	trace_id_t stream;
	int chunk;

	if (argc < 2 ||
	    posix_trace_create_withlog(
	        0, NULL, open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666), &stream) ||
	    posix_trace_eventid_open("native", &native) ||
	    posix_trace_eventid_setformat_np(native, "u32 number") || posix_trace_start(stream))
		return 1;
	chunk = FTrace_chunk_create(1000, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
	if (chunk < 0 || FTrace_actual_chunk_select(chunk) || FTrace_enable())
		return 1;
	for (unsigned job = 1; job <= JOBS; job++) {
		kernel_event_context_switch(job);
		work(job);
		kernel_event_kevent(job);
		posix_trace_event(native, &job, sizeof(job));
	}
	for (unsigned job = 1; job <= JOBS; job++) {
		TRACER_LOGEVENT(FTrace_EVT_task_dispatch, job, 0);
		work(job);
		TRACER_LOGEVENT(FTrace_EVT_task_epilogue, job, 0);
	}
	(void)FTrace_disable();
	return posix_trace_shutdown(stream);
}
