/* SPDX-License-Identifier: MIT */
/* attr_log_get.c - getters of the log's attributes: for Trace To Log and for Log Retrieval. */
#include "base/attr.h"

#include <errno.h>

PXT_API int posix_trace_attr_getlogfullpolicy(
    const trace_attr_t *restrict attr, int *restrict logpolicy)
{
	int error = pxt_attr_check(attr, logpolicy);

	if (!error)
		*logpolicy = attr->_pxt_kept._pxt_log_policy ? attr->_pxt_kept._pxt_log_policy
		                                             : pxt_attr_default_log_policy();
	return error;
}

PXT_API int posix_trace_attr_getlogsize(const trace_attr_t *restrict attr, size_t *restrict logsize)
{
	int error = pxt_attr_check(attr, logsize);

	if (!error)
		*logsize = (size_t)attr->_pxt_kept._pxt_log_size;
	return error;
}
