/* SPDX-License-Identifier: MIT */
/*
 * opentype.h - an event type that is opened by name: running streams want it at once, and get an ERROR
 * event if no more types can be defined.
 *
 *   concurrency: reporting as trace points, opening as pxt_names_open().
 */
#ifndef PXT_OPENTYPE_H
#define PXT_OPENTYPE_H

#include "core/process/names.h"
#include "core/record/emit.h"
#include "core/stream/wanted.h"

#if CONFIG_PTRACE_SYSEV_ERROR
/* @id is what became of a name that was opened. */
PXT_INLINE void pxt_opentype_report(trace_event_id_t id)
{
	const int data = POSIX_TRACE_ERROR_OF_NP(POSIX_TRACE_ERROR_TYPES_NP, ENOSPC);

	if (id == PXT_ID_UNNAMED && pxt_names_count() == PXT_NAMES_MAX)
		pxt_emit_system(PXT_ID_ERROR, &data, sizeof(data));
}
/* A typed point whose name has another description. */
PXT_INLINE void pxt_opentype_report_point(void)
{
	const int data = POSIX_TRACE_ERROR_OF_NP(POSIX_TRACE_ERROR_POINT_NP, EBUSY);

	pxt_emit_system(PXT_ID_ERROR, &data, sizeof(data));
}
#else
PXT_OFF(pxt_opentype_report, trace_event_id_t id);
PXT_OFF(pxt_opentype_report_point, void);
#endif

/* For the program and for a stream's controller.  *id is set where 0 is returned. */
PXT_INLINE int pxt_opentype_named(const char *name, trace_event_id_t *id)
{
	trace_event_id_t opened;
	bool is_new;
	int error = pxt_names_open(name, &opened, &is_new);

	if (error)
		return error;
	/* Before the caller can use it: streams that run already want it too (EVENT-11). */
	if (is_new)
		pxt_wanted_type_added(opened);
	pxt_opentype_report(opened);
	*id = opened;
	return 0;
}

#endif
