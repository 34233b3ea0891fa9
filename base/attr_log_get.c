/* SPDX-License-Identifier: MIT */
/* attr_log_get.c - getters of the log's attributes: for Trace To Log and for Log Retrieval. */
#include "base/attr.h"

#include <errno.h>

PXT_API int posix_trace_attr_getlogfullpolicy(
    const trace_attr_t *restrict attr, int *restrict logpolicy)
{
	if (!pxt_attr_usable(attr, logpolicy))
		return EINVAL;
	*logpolicy = attr->_pxt_log_policy ? attr->_pxt_log_policy : pxt_default_log_policy();
	return 0;
}

PXT_API int posix_trace_attr_getlogsize(const trace_attr_t *restrict attr, size_t *restrict logsize)
{
	if (!pxt_attr_usable(attr, logsize))
		return EINVAL;
	*logsize = (size_t)attr->_pxt_log_size;
	return 0;
}
