/* SPDX-License-Identifier: MIT */
/* FTrace_udp.h - a name under which programs ask for tracer.h. */
#ifndef SHARK_FTRACE_UDP_H
#define SHARK_FTRACE_UDP_H

#include <tracer.h>

#endif
