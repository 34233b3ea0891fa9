/* SPDX-License-Identifier: MIT */
/*
 * event.c - posix_trace_event(); types of user events by name, and descriptions of their data.  (Where names are
 * registered, up to TRACE_USER_EVENT_MAX: core/process/names.c.)
 */
#include "base/attr.h"
#include "core/record/emit.h"
#include "core/record/opentype.h"
#include "core/stream/wanted.h"

/*
 * The test comes first and alone: one load, one branch.  Identifiers that are no user type never
 * have an effect (DEC-31): unknown ones are never wanted, or refused after the test, and system
 * ones have bits of their own.
 */
PXT_API PXT_OWN_LINE void posix_trace_event(
    trace_event_id_t event_id, const void *restrict data_ptr, size_t data_len)
{
	const struct pxt_look look = pxt_look_user(event_id);

	if (PXT_LIKELY(!pxt_look_wanted(look, event_id)))
		return;
	/* Not one test with the first. */
	PXT_NOW(event_id);
	if (event_id - PXT_LOOK_USER_FIRST < PXT_ID_COUNT - PXT_LOOK_USER_FIRST)
		pxt_emit(
		    event_id, data_ptr, data_len, __builtin_return_address(0) PXT_LOOK_ARGUMENT);
}

/* ---- Types of user events by name, and descriptions of their data ---- */

PXT_API int posix_trace_eventid_open(
    const char *restrict event_name, trace_event_id_t *restrict event_id)
{
	if (!pxt_arg_given(event_name) || !pxt_arg_given(event_id))
		return EINVAL;
	return pxt_opentype_named(event_name, event_id);
}

/* ---- Descriptions of their data ---- */

PXT_API int posix_trace_eventid_setformat_np(trace_event_id_t event_id, const char *format)
{
	if (!pxt_arg_given(format))
		return EINVAL;
	return pxt_names_set_format(event_id, format);
}
