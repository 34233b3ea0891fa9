/* SPDX-License-Identifier: MIT */
/* recorded.c - a program with one trace point; PXTRACE_OUT=run.ptl ./recorded leaves a log of ten events. */
#include <trace_np.h>

POSIX_TRACE_DEFINE_NP(step, u32, number);

int main(void)
{
	for (unsigned number = 0; number < 10; number++)
		posix_trace_point_np(step, number);
	return 0;
}
