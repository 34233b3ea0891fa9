/* SPDX-License-Identifier: MIT */
/* FTrace_chunk.h - a name under which programs ask for tracer.h. */
#ifndef SHARK_FTRACE_CHUNK_H
#define SHARK_FTRACE_CHUNK_H

#include <tracer.h>

#endif
