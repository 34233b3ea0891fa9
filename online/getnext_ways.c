/* SPDX-License-Identifier: MIT */
/*
 * getnext_ways.c - the two ways to read that only active streams without log have: until a deadline
 * (sleep.c), and without waiting.
 */
#include "base/handle.h"

PXT_API int posix_trace_timedgetnext_event(trace_id_t trid,
    struct posix_trace_event_info *restrict event, void *restrict data, size_t num_bytes,
    size_t *restrict data_len, int *restrict unavailable, const struct timespec *restrict abstime)
{
	const struct pxt_getnext request = { .trid = trid,
		.event = event,
		.data = data,
		.num_bytes = num_bytes,
		.data_len = data_len,
		.unavailable = unavailable,
		.abstime = abstime,
		.wait = PXT_WAIT_TIMED };

	return pxt_getnext(trid, &request);
}

PXT_API int posix_trace_trygetnext_event(trace_id_t trid,
    struct posix_trace_event_info *restrict event, void *restrict data, size_t num_bytes,
    size_t *restrict data_len, int *restrict unavailable)
{
	const struct pxt_getnext request = { .trid = trid,
		.event = event,
		.data = data,
		.num_bytes = num_bytes,
		.data_len = data_len,
		.unavailable = unavailable,
		.abstime = NULL,
		.wait = PXT_WAIT_NOT };

	return pxt_getnext(trid, &request);
}
