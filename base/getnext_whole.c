/* SPDX-License-Identifier: MIT */
/* getnext_whole.c - retrieval of an event as a whole, or not yet, of a log as well as of a stream. */
#include "base/attr.h"
#include "base/handle.h"

#include <errno.h>
#include <trace_np.h>

/* As posix_trace_trygetnext_event(): NOLINTBEGIN(readability-non-const-parameter) */
PXT_API int posix_trace_trygetnext_whole_np(trace_id_t trid, struct posix_trace_event_info *event,
    void *data, size_t num_bytes, size_t *data_len, int *unavailable)
{
	const struct pxt_getnext request = { .trid = trid,
		.event = event,
		.data = data,
		.num_bytes = num_bytes,
		.data_len = data_len,
		.unavailable = unavailable,
		.wait = PXT_WAIT_NOT };
	const struct pxt_ops *ops;
	void *object;

	if (unavailable)
		*unavailable = 1;
	object = pxt_handle_find(trid, &ops);
	if (!object || !ops->getnext_whole || !pxt_getnext_given(&request))
		return EINVAL;
	return ops->getnext_whole(object, &request);
}
/* NOLINTEND(readability-non-const-parameter) */
