/* SPDX-License-Identifier: MIT */
/* shark_off.c - a file that is built without the tracer, for shark.c. */
#define POSIX_TRACE_OFF_NP
#include <tracer.h>

int log_without_tracer(int argument);

int log_without_tracer(int argument)
{
	TRACER_LOGEVENT(FTrace_EVT_ipoint, argument++, argument++);
	return argument;
}
