/* SPDX-License-Identifier: MIT */
/*
 * getnext.c - retrieval: one check of the arguments for all three functions, then the object's
 * own way.  posix_trace_getnext_event() is here because a log answers it as well as a stream.
 */
#include "base/attr.h"
#include "base/handle.h"

#include <errno.h>

bool pxt_getnext_given(const struct pxt_getnext *request)
{
	return pxt_arg_given(request->event) && pxt_arg_given(request->data_len) &&
	       pxt_arg_given(request->unavailable) &&
	       (request->num_bytes == 0 || pxt_arg_given(request->data));
}

PXT_INLINE int ask(trace_id_t trid, const struct pxt_getnext *request)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);

	if (request->unavailable)
		*request->unavailable = 1;
	return object && ops->getnext && pxt_getnext_given(request) ? ops->getnext(object, request)
	                                                            : EINVAL;
}

int pxt_getnext(trace_id_t trid, const struct pxt_getnext *request)
{
	return ask(trid, request);
}

/* The prototype is the standard's: NOLINTBEGIN(readability-non-const-parameter) */
PXT_API int posix_trace_getnext_event(trace_id_t trid,
    struct posix_trace_event_info *restrict event, void *restrict data, size_t num_bytes,
    size_t *restrict data_len, int *restrict unavailable)
{
	const struct pxt_getnext request = pxt_getnext_request(
	    trid, event, data, num_bytes, data_len, unavailable, PXT_WAIT_BLOCK);

	return ask(trid, &request);
}
/* NOLINTEND(readability-non-const-parameter) */
