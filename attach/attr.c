/* SPDX-License-Identifier: MIT */
/* attr.c - the name by which other processes reach a stream, as an attribute. */
#include "base/attr.h"
#include "attach/attach.h"
#include "format/ctlsock.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(((trace_attr_t *)NULL)->_pxt_share) == PXT_CTLSOCK_PATH &&
                   PXT_CTLSOCK_PATH == POSIX_TRACE_SHARENAME_MAX_NP + 1,
    "any name fits");

/* The table is set here, so that programs that give no names carry nothing of the unit. */
PXT_API int posix_trace_attr_setsharename_np(trace_attr_t *attr, const char *name)
{
	if (pxt_attr_check(attr, attr) || (name && !pxt_name_valid(name)))
		return EINVAL;
	if (name)
		atomic_store_explicit(&pxt_share_ops, &pxt_attach_share, memory_order_release);
	memset(attr->_pxt_share, 0, sizeof(attr->_pxt_share));
	if (name)
		memcpy(attr->_pxt_share, name, strlen(name));
	return 0;
}

PXT_API int posix_trace_attr_getsharename_np(const trace_attr_t *attr, char *name, size_t room)
{
	size_t bytes;

	if (pxt_attr_check(attr, name))
		return EINVAL;
	bytes = strlen(attr->_pxt_share) + 1;
	if (bytes > room)
		return ERANGE;
	memcpy(name, attr->_pxt_share, bytes);
	return 0;
}
