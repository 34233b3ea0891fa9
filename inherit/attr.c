/* SPDX-License-Identifier: MIT */
/* attr.c - the inheritance attribute; what it does, Core does (core/process/forks.h). */
#include "base/attr.h"
#include "core/process/forks.h"

#include <errno.h>

PXT_API int posix_trace_attr_getinherited(
    const trace_attr_t *_PXT_RESTRICT attr, int *_PXT_RESTRICT inheritancepolicy)
{
	int error = pxt_attr_check(attr, inheritancepolicy);

	if (!error)
		*inheritancepolicy = attr->_pxt_kept._pxt_inherit;
	return error;
}

PXT_API int posix_trace_attr_setinherited(trace_attr_t *attr, int inheritancepolicy)
{
	if (pxt_attr_check(attr, attr) || !pxt_forks_known(inheritancepolicy))
		return EINVAL;
	attr->_pxt_kept._pxt_inherit = inheritancepolicy;
	return 0;
}
