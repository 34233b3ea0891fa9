/* SPDX-License-Identifier: MIT */
/* other.c - the second file that has two of the trace points of test_points.c. */
#include <trace.h>
#include <trace_np.h>

#if _PXT_UNIT_USEREVENTS
POSIX_TRACE_DECLARE_NP(shared, u32, number);
POSIX_TRACE_DECLARE_TEXT_NP(shared_text, "number %u of both", u32, number);

trace_event_id_t points_other(uint32_t number);

trace_event_id_t points_other(uint32_t number)
{
	posix_trace_point_np(shared, number);
	posix_trace_point_np(shared_text, number);
	return posix_trace_point_id_np(shared);
}
#endif
