/* SPDX-License-Identifier: MIT */
/*
 * attr.c - setters of the attributes, and the getters of those beyond the standard's: lanes, order of
 * stamps, polling readers, file.  (All other getters: base/attr.c.)  A name that is too long is cut.
 * What this configuration cannot do is refused here and the old value stays; this holds without argument
 * checks too, because create relies on it.
 */
#include "base/attr.h"

#include <errno.h>
#include <limits.h>
#include <trace_np.h>

PXT_API int posix_trace_attr_setname(trace_attr_t *attr, const char *tracename)
{
	const char *end;
	size_t length;

	if (pxt_attr_check(attr, tracename))
		return EINVAL;
	/* One byte beyond the limit tells a name that fits from one that is cut (DEC-04). */
	end = memchr(tracename, '\0', TRACE_NAME_MAX + 1);
	length = end ? (size_t)(end - tracename) : TRACE_NAME_MAX - 1;
	memmove(attr->_pxt_kept._pxt_name, tracename, length);
	memset(attr->_pxt_kept._pxt_name + length, 0, sizeof(attr->_pxt_kept._pxt_name) - length);
	return 0;
}

PXT_ATTR_SETTER(posix_trace_attr_setmaxdatasize, size_t, maxdatasize, _pxt_max_data,
    maxdatasize > CONFIG_PTRACE_DATA_LIMIT);

PXT_ATTR_SETTER(posix_trace_attr_setstreamfullpolicy, int, streampolicy, _pxt_stream_policy,
    !pxt_attr_stream_policy_built(streampolicy));

PXT_API int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t streamsize)
{
	if (pxt_attr_check(attr, attr) || streamsize > PXT_STREAM_SIZE_MAX)
		return EINVAL;
	attr->_pxt_kept._pxt_stream_size = streamsize;
	attr->_pxt_kept._pxt_flags |= PXT_ATTR_SIZED;
	return 0;
}

/* ---- Beyond the standard's ---- */

/* 0, which is no power of two, passes the same test. */
PXT_ATTR_SETTER(posix_trace_attr_setlanes_np, unsigned, lanes, _pxt_lanes,
    lanes > _PXT_LANES_MAX || (lanes & (lanes - 1u)) != 0);

PXT_ATTR_GETTER(posix_trace_attr_getlanes_np, unsigned, lanes, kept->_pxt_lanes);

static int set_flag(trace_attr_t *attr, uint32_t flag, int value)
{
	int error = pxt_attr_check(attr, attr);

	if (!error)
		attr->_pxt_kept._pxt_flags =
		    value ? attr->_pxt_kept._pxt_flags | flag : attr->_pxt_kept._pxt_flags & ~flag;
	return error;
}

PXT_API int posix_trace_attr_setorderedstamps_np(trace_attr_t *attr, int ordered)
{
	return set_flag(attr, PXT_ATTR_ORDERED, ordered);
}

PXT_ATTR_GETTER(
    posix_trace_attr_getorderedstamps_np, int, ordered, (kept->_pxt_flags & PXT_ATTR_ORDERED) != 0);

PXT_API int posix_trace_attr_setpolling_np(trace_attr_t *attr, int polling)
{
	return set_flag(attr, PXT_ATTR_POLLING, polling);
}

PXT_ATTR_GETTER(
    posix_trace_attr_getpolling_np, int, polling, (kept->_pxt_flags & PXT_ATTR_POLLING) != 0);

/* Whether it will do is looked at by create; where streams cannot live in files, none will. */
PXT_API int posix_trace_attr_setfile_np(trace_attr_t *attr, int file_desc)
{
	if (pxt_attr_check(attr, attr) || file_desc < -1 || file_desc == INT_MAX ||
	    (file_desc >= 0 && !CONFIG_PTRACE_FILE_STREAMS))
		return EINVAL;
	attr->_pxt_kept._pxt_file = file_desc + 1;
	return 0;
}

PXT_ATTR_GETTER(posix_trace_attr_getfile_np, int, file_desc, kept->_pxt_file - 1);
