/* SPDX-License-Identifier: MIT */
/* beside.h - what trace calls cost while another thread of the process is in their way. */
#ifndef BENCH_BESIDE_H
#define BENCH_BESIDE_H

#include <stddef.h>
#include <trace.h>

#define BESIDE_CALLS_MAX 100000

/*
 * Traces @count events of @type, one each 5 us, on the first CPU; @other, if there is one, is called
 * every 2 ms on the second.  Says median, high percentiles and maximum of the calls as @row.
 */
void say_beside(const char *row, trace_event_id_t type, size_t count, void (*other)(void));

#endif
