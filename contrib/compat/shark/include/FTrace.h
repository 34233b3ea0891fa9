/* SPDX-License-Identifier: MIT */
/* FTrace.h - a name under which programs ask for tracer.h. */
#ifndef SHARK_FTRACE_H
#define SHARK_FTRACE_H

#include <tracer.h>

#endif
