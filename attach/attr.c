/* SPDX-License-Identifier: MIT */
/* attr.c - the name by which other processes reach a stream, as an attribute. */
#include "base/attr.h"
#include "attach/attach.h"
#include "format/ctlsock.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(((trace_attr_t *)NULL)->_pxt_share) == PXT_CTLSOCK_PATH, "any name fits");

/* The table is set here, so that programs that give no names carry nothing of the unit. */
PXT_API int posix_trace_attr_setsharename_np(trace_attr_t *attr, const char *name)
{
	char copy[PXT_CTLSOCK_PATH] = "";

	if (pxt_attr_check(attr, attr) || (name && !pxt_name_valid(name)))
		return EINVAL;
	if (name)
		atomic_store_explicit(&pxt_share_ops, &pxt_attach_share, memory_order_release);
	/* The text may be that of these attributes. */
	if (name)
		memcpy(copy, name, strlen(name) + 1);
	memcpy(attr->_pxt_share, copy, sizeof(copy));
	return 0;
}

PXT_API int posix_trace_attr_getsharename_np(const trace_attr_t *attr, const char **name)
{
	int error = pxt_attr_check(attr, name);

	if (!error)
		*name = attr->_pxt_share[0] ? attr->_pxt_share : NULL;
	return error;
}
