/* SPDX-License-Identifier: MIT */
/* first.c - the program of README.md: five jobs, of which one takes longer than usual. */
#include <trace_np.h>
POSIX_TRACE_DEFINE_NP(job_begin, u32, number);
POSIX_TRACE_DEFINE_NP(job_end, u32, number);
int main(void)
{
	for (unsigned job = 1; job <= 5; job++) {
		posix_trace_point_np(job_begin, job);
		for (volatile unsigned work = job == 3 ? 20000000 : 2000000; work > 0; work--)
			;
		posix_trace_point_np(job_end, job);
	}
	return 0;
}
