/* SPDX-License-Identifier: MIT */
/*
 * full.h - the event that tells that no more types can be defined.
 *
 *   concurrency: as trace points.
 */
#ifndef PXT_FULL_H
#define PXT_FULL_H

#include "core/process/names.h"
#include "core/record/emit.h"

#include <errno.h>
#include <trace_np.h>

#if CONFIG_PTRACE_SYSEV_ERROR
/* @id is what became of a name that was opened. */
PXT_INLINE void pxt_full_report(trace_event_id_t id)
{
	const int data = POSIX_TRACE_ERROR_OF_NP(POSIX_TRACE_ERROR_TYPES_NP, ENOSPC);

	if (id == PXT_ID_UNNAMED && pxt_names_count() == PXT_NAMES_MAX)
		pxt_emit_system(PXT_ID_ERROR, &data, sizeof(data));
}
#else
PXT_INLINE void pxt_full_report(trace_event_id_t id)
{
	(void)id;
}
#endif

#endif
