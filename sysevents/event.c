/* SPDX-License-Identifier: MIT */
/* event.c - posix_trace_system_event_np(); posix_trace_thread_exclude_np(). */
#include "core/process/names.h"
#include "core/record/emit.h"
#include "core/stream/wanted.h"
#include "sysevents/exclude.h"

/* The test comes first: an event that no stream wants costs a load and a branch. */
PXT_API void posix_trace_system_event_np(
    trace_event_id_t event_id, const void *data_ptr, size_t data_len, const void *address)
{
	const struct pxt_look look = pxt_look_system();

	if (PXT_LIKELY(!pxt_id_is_specific(event_id) || !pxt_look_wanted(look, event_id)))
		return;
	if (PXT_UNLIKELY(pxt_exclude_is()))
		return;
	pxt_names_use_specific();
	if (!address)
		address = __builtin_return_address(0);
	pxt_emit(event_id, data_ptr, data_len, address PXT_LOOK_ARGUMENT);
}

/* ---- Threads whose system events are not recorded ---- */

PXT_API int posix_trace_thread_exclude_np(int exclude)
{
	return pxt_exclude_set(exclude != 0);
}

bool pxt_exclude_now(void)
{
	return pxt_exclude_is();
}
