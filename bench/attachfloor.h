/* SPDX-License-Identifier: MIT */
/*
 * attachfloor.h - what the system takes for the steps that attaching cannot do without, made by hand:
 * a connection, memory that is filled, mapped and sealed, a message with its descriptor, a helper
 * thread, and on the other side a process that sleeps, maps the memory, looks at it and answers.
 */
#ifndef BENCH_ATTACHFLOOR_H
#define BENCH_ATTACHFLOOR_H

#include <stddef.h>

/* The other side: a process of its own. */
void bench_floor_begin(const char *path);
void bench_floor_end(const char *path);
/* One time through it with so much memory, in ns; what was made is taken away again. */
double bench_floor_attach(const char *path, size_t bytes);

#endif
