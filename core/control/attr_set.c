/* SPDX-License-Identifier: MIT */
/*
 * attr_set.c - setters of the standard's attributes; a name that is too long is cut.  What this configuration cannot do is refused
 * here and the old value stays; this holds without argument checks too, because create relies on
 * it.
 */
#include "base/attr.h"

#include <errno.h>
#include <string.h>

PXT_API int posix_trace_attr_setname(trace_attr_t *attr, const char *tracename)
{
	const char *end;
	size_t length;

	if (pxt_attr_check(attr, tracename))
		return EINVAL;
	/* One byte beyond the limit tells a name that fits from one that is cut (DEC-04). */
	end = memchr(tracename, '\0', TRACE_NAME_MAX + 1);
	length = end ? (size_t)(end - tracename) : TRACE_NAME_MAX - 1;
	memmove(attr->_pxt_name, tracename, length);
	memset(attr->_pxt_name + length, 0, sizeof(attr->_pxt_name) - length);
	return 0;
}

PXT_API int posix_trace_attr_setmaxdatasize(trace_attr_t *attr, size_t maxdatasize)
{
	if (pxt_attr_check(attr, attr) || maxdatasize > CONFIG_PTRACE_DATA_LIMIT)
		return EINVAL;
	attr->_pxt_max_data = maxdatasize;
	return 0;
}

PXT_API int posix_trace_attr_setstreamfullpolicy(trace_attr_t *attr, int streampolicy)
{
	if (pxt_attr_check(attr, attr) || !pxt_attr_stream_policy_built(streampolicy))
		return EINVAL;
	attr->_pxt_stream_policy = streampolicy;
	return 0;
}

PXT_API int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t streamsize)
{
	if (pxt_attr_check(attr, attr) || streamsize > PXT_STREAM_SIZE_MAX)
		return EINVAL;
	attr->_pxt_stream_size = streamsize;
	return 0;
}
