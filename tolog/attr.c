/* SPDX-License-Identifier: MIT */
/* attr.c - setters of the log's attributes: policy, size, form; and the priority of the flushing thread. */
#include "base/attr.h"

#include <errno.h>
#include <trace_np.h>

PXT_ATTR_SETTER(posix_trace_attr_setlogfullpolicy, int, logpolicy, _pxt_log_policy,
    !pxt_attr_log_policy_built(logpolicy));

/* A size too small for the policy to work is found by create, which knows both (DEC-07). */
PXT_ATTR_SETTER(posix_trace_attr_setlogsize, size_t, logsize, _pxt_log_size, false);

/* Which priorities exist is the system's affair: create finds out. */
PXT_ATTR_SETTER(
    posix_trace_attr_setflushpriority_np, int, priority, _pxt_flush_priority, priority < 0);

PXT_ATTR_GETTER(posix_trace_attr_getflushpriority_np, int, priority, kept->_pxt_flush_priority);

PXT_API int posix_trace_attr_setlogform_np(trace_attr_t *attr, int form)
{
	static const uint32_t flags[] = { 0, PXT_ATTR_PLAIN, PXT_ATTR_FRAMES };

	if (pxt_attr_check(attr, attr) || form < 0 ||
	    form > (CONFIG_PTRACE_LOG_LINE ? POSIX_TRACE_LOG_FRAMES_NP : POSIX_TRACE_LOG_PLAIN_NP))
		return EINVAL;
	attr->_pxt_kept._pxt_flags =
	    (attr->_pxt_kept._pxt_flags & ~(PXT_ATTR_PLAIN | PXT_ATTR_FRAMES)) | flags[form];
	return 0;
}

PXT_API int posix_trace_attr_getlogform_np(const trace_attr_t *attr, int *form)
{
	int error = pxt_attr_check(attr, form);

	if (!error)
		*form = attr->_pxt_kept._pxt_flags & PXT_ATTR_FRAMES  ? POSIX_TRACE_LOG_FRAMES_NP
		        : attr->_pxt_kept._pxt_flags & PXT_ATTR_PLAIN ? POSIX_TRACE_LOG_PLAIN_NP
		                                                      : POSIX_TRACE_LOG_AUTO_NP;
	return error;
}
