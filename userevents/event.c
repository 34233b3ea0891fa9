/* SPDX-License-Identifier: MIT */
/* event.c - posix_trace_event(). */
#include "core/emit.h"
#include "core/wanted.h"

/*
 * The test comes first and alone: one load, one branch.  Identifiers that are no user type never
 * have an effect (DEC-31): unknown ones are never wanted, system ones are refused here.
 */
PXT_API PXT_OWN_LINE void posix_trace_event(
    trace_event_id_t event_id, const void *restrict data_ptr, size_t data_len)
{
	if (PXT_LIKELY(!pxt_wanted_by(event_id % PXT_ID_COUNT)))
		return;
	if (event_id - PXT_ID_UNNAMED < PXT_ID_COUNT - PXT_ID_UNNAMED)
		pxt_emit(event_id, data_ptr, data_len, __builtin_return_address(0));
}
