/* SPDX-License-Identifier: MIT */
/* point.c - trace points of one line that open themselves at their first use. */
#include "core/record/opentype.h"

/*
 * Called by code of the program that was compiled into a trace point; may be inside of a handler.  What
 * could not be decided now is not kept: the next use tries again.
 */
PXT_API trace_event_id_t _pxt_point_open(
    trace_event_id_t *point, const char *name, const char *format)
{
	trace_event_id_t id;
	int error = pxt_names_open_at_use(name, format, &id);

	if (error == EAGAIN)
		return POSIX_TRACE_UNNAMED_USEREVENT;
	if (error == EBUSY)
		pxt_opentype_report_point();
	else
		pxt_opentype_report(id);
	__atomic_store_n(point, id, __ATOMIC_RELAXED);
	return id;
}
