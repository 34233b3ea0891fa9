/* SPDX-License-Identifier: MIT */
/* first.c - the program of README.md: five jobs, of which one takes longer than usual. */
#include <fcntl.h>
#include <trace_np.h>
POSIX_TRACE_DEFINE_NP(job_begin, u32, number);
POSIX_TRACE_DEFINE_NP(job_end, u32, number);
int main(void)
{
	trace_id_t trid;
	posix_trace_create_withlog(
	    0, NULL, open("first.ptl", O_RDWR | O_CREAT | O_TRUNC, 0644), &trid);
	posix_trace_open_np(job_begin);
	posix_trace_open_np(job_end);
	posix_trace_start(trid);
	for (unsigned job = 1; job <= 5; job++) {
		posix_trace_point_np(job_begin, job);
		for (volatile unsigned work = job == 3 ? 20000000 : 2000000; work > 0; work--)
			;
		posix_trace_point_np(job_end, job);
	}
	return posix_trace_shutdown(trid);
}
