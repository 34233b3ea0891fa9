/* SPDX-License-Identifier: MIT */
/* create.c - streams without log. */
#include "core/control/create.h"
#include "core/control/shutdown.h"
#include "core/control/status.h"
#include "core/stream/share.h"
#include "online/online.h"

#include <errno.h>

const struct pxt_ops pxt_online_ops = {
	.getnext = pxt_online_getnext,
	.get_attr = pxt_status_get_attr,
	.get_status = pxt_status_get,
	.type_name = pxt_status_type_name,
	.type_format = pxt_status_type_format,
	.type_next = pxt_status_type_next,
	.type_rewind = pxt_status_type_rewind,
	.get_clock = pxt_status_get_clock,
	.getnext_whole = PXT_ONLINE_WHOLE,
	.views = PXT_ONLINE_VIEWS,
	.kind = &pxt_stream_kind,
};

PXT_API int posix_trace_create(
    pid_t pid, const trace_attr_t *restrict attr, trace_id_t *restrict trid)
{
	const struct pxt_create request = {
		.pid = pid, .attr = attr, .with_log = false, .ops = &pxt_online_ops
	};
	struct pxt_stream *stream;
	struct _pxt_attr used;
	int error;

	if (!trid)
		return EINVAL;
	error = pxt_create_attr(&request, &used);
	if (!error)
		error = pxt_create_stream(&request, &used, &stream);
	if (error)
		return error;
	error = pxt_create_publish(stream, pxt_share_asked(attr), trid);
	if (error)
		pxt_shutdown_abandon(stream);
	return error;
}
