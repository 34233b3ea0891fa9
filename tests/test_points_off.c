/* SPDX-License-Identifier: MIT */
/* test_points_off.c - trace points of one line in a program that is compiled without them. */
#define POSIX_TRACE_OFF_NP
#include "suite.h"

#include "format/compiler.h"

#include <trace.h>
#include <trace_np.h>

POSIX_TRACE_DEFINE_NP(job_late, u32, job, i64, late_ns);
POSIX_TRACE_DEFINE_NP(tick);
POSIX_TRACE_DECLARE_TEXT_NP(said, "%u", u32, a);
POSIX_TRACE_DEFINE_JOB_NP(pump);

static unsigned evaluated;

/* Only ever an operand of sizeof here. */
PXT_UNUSED static unsigned number(unsigned value)
{
	evaluated++;
	return value;
}

/* LPT-33, ZEP-25 */
PXT_TEST(points_that_are_off_evaluate_nothing_and_open_as_if_they_were_there)
{
	struct posix_trace_pieces_np pieces = { 0 };

	evaluated = 0;
	PXT_EQ(posix_trace_open_np(job_late), 0);
	PXT_EQ(posix_trace_open_np(tick), 0);
	posix_trace_point_np(job_late, number(1), number(2));
	posix_trace_point_np(tick);
	posix_trace_event_np(number(3), NULL, number(0));
	PXT_EQ(posix_trace_open_job_np(pump), 0);
	posix_trace_job_begin_np(pump, number(4));
	posix_trace_job_overrun_np(pump, number(4), number(5));
	posix_trace_pieces_begin_np(&pieces, number(1), NULL, number(2));
	posix_trace_pieces_add_np(&pieces, NULL, number(1));
	PXT_EQ(posix_trace_pieces_end_np(&pieces), 0);
	PXT_EQ(posix_trace_point_id_np(tick), 0);
	PXT_EQ(evaluated, 0);
}

#if _PXT_UNIT_ONLINE && _PXT_UNIT_USEREVENTS
/* LPT-33: a stream that runs wants nothing of a program whose points are off. */
PXT_TEST_FRESH(a_running_stream_gets_nothing_of_points_that_are_off)
{
	struct posix_trace_status_info status;
	trace_event_id_t id;
	trace_id_t stream;
	unsigned types = 0;
	int unavailable = 0;

	PXT_EQ_FATAL(posix_trace_create(0, NULL, &stream), 0);
	PXT_EQ_FATAL(posix_trace_start(stream), 0);
	PXT_EQ(posix_trace_open_np(job_late), 0);
	posix_trace_point_np(job_late, number(1), number(2));
	PXT_EQ(posix_trace_wanted_np(POSIX_TRACE_UNNAMED_USEREVENT), 0);
	PXT_EQ(posix_trace_get_status(stream, &status), 0);
	while (posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable) == 0 && !unavailable)
		types += id > POSIX_TRACE_UNNAMED_USEREVENT;
	PXT_EQ(types, 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}
#endif
