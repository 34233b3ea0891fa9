/* SPDX-License-Identifier: MIT */
/* other.c - the second file that has the trace points of shared.h. */
#include "shared.h"

#if _PXT_UNIT_USEREVENTS
trace_event_id_t points_other(uint32_t number)
{
	posix_trace_point_np(shared, number);
	posix_trace_point_np(shared_text, number);
	return posix_trace_point_id_np(shared);
}
#endif
