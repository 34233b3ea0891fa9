/* SPDX-License-Identifier: MIT */
/*
 * trace_np.h - for another implementation than libptrace: what the tests use beyond the standard.  A test that needs an
 * extension ends as untested.
 */
#ifndef SHIM_TRACE_NP_H
#define SHIM_TRACE_NP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace.h>

#define POSIX_TRACE_DISCARD_NP (-1)

struct posix_trace_counts_np {
	uint64_t posix_written_np, posix_retrieved_np, posix_lost_np, posix_cleared_np,
	    posix_held_np;
	int posix_stable_np;
};

#define NEEDS_EXTENSION(name, ...)                                                                 \
	static inline __attribute__((__unused__)) int name(__VA_ARGS__)                            \
	{                                                                                          \
		printf("needs the extension " #name "\n");                                         \
		fflush(stdout);                                                                    \
		_Exit(77);                                                                         \
	}
NEEDS_EXTENSION(
    posix_trace_getcounts_np, trace_id_t trid, struct posix_trace_counts_np *counts, size_t bytes)
NEEDS_EXTENSION(posix_trace_attr_setorderedstamps_np, trace_attr_t *attr, int ordered)
NEEDS_EXTENSION(posix_trace_attr_setpolling_np, trace_attr_t *attr, int polling)
NEEDS_EXTENSION(posix_trace_wanted_np, trace_event_id_t id)
NEEDS_EXTENSION(posix_trace_streams_np, trace_id_t *trids, size_t room, size_t *count)
#define posix_trace_eventset_addgroup_np(pattern, set) (_Exit(77), 0)

/* An implementation without lanes has one. */
static inline __attribute__((__unused__)) int posix_trace_attr_setlanes_np(
    trace_attr_t *attr, unsigned lanes)
{
	(void)attr;
	if (lanes > 1)
		_Exit(77);
	return 0;
}

#endif
