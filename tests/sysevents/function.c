/* SPDX-License-Identifier: MIT */
/* function.c - what the compiler calls at a function's begin and end (sysevents/function/function.c). */
#include "../suite_trace.h"

#include <string.h>
#include <trace_hooks_np.h>
#include <trace_np.h>

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

static char function;
static char caller;

static trace_id_t stream_without(trace_event_id_t id)
{
	trace_id_t trid = pxt_running_stream(0, 0, POSIX_TRACE_LOOP);
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_FILTER, &set), 0);
	if (id)
		PXT_EQ(posix_trace_eventset_add(id, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	(void)pxt_drain(trid, 0);
	__cyg_profile_func_enter(&function, &caller);
	__cyg_profile_func_exit(&function, &caller);
	return trid;
}

static void expect(trace_id_t trid, trace_event_id_t id)
{
	const uint64_t wanted[] = { (uint64_t)(uintptr_t)&function, (uint64_t)(uintptr_t)&caller };

	pxt_expect(trid, id, wanted, sizeof(wanted));
}

/* QNX-54 */
PXT_TEST(a_begin_and_an_end_have_the_function_and_its_caller)
{
	trace_id_t trid = stream_without(0);

	expect(trid, POSIX_TRACE_FUNCTION_ENTER_NP);
	expect(trid, POSIX_TRACE_FUNCTION_EXIT_NP);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* QNX-54 */
PXT_TEST(either_of_them_is_recorded_where_the_other_is_filtered)
{
	trace_id_t trid = stream_without(POSIX_TRACE_FUNCTION_ENTER_NP);

	expect(trid, POSIX_TRACE_FUNCTION_EXIT_NP);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = stream_without(POSIX_TRACE_FUNCTION_EXIT_NP);
	expect(trid, POSIX_TRACE_FUNCTION_ENTER_NP);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
