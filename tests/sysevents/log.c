/* SPDX-License-Identifier: MIT */
/* log.c - system events in a log: named and described there, once there are any. */
#include "suite_trace.h"

#include "format/ids.h"

#include <string.h>
#include <trace_hooks_np.h>
#include <trace_np.h>
#include <unistd.h>

/* Specific types that the log names after @record was called while it was written. */
static unsigned types_of_log(void (*record)(void))
{
	int fd = pxt_temp_file();
	trace_id_t trid = pxt_log_stream(NULL, fd);
	unsigned found = 0;

	PXT_EQ(posix_trace_start(trid), 0);
	record();
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = pxt_open_log(fd);
	for (trace_event_id_t id = PXT_ID_SPECIFIC_FIRST; id <= PXT_ID_SYSTEM_LAST; id++)
		found += pxt_has_type(trid, id);
	if (found) {
		char format[POSIX_TRACE_FORMAT_MAX_NP + 1];

		PXT_EQ(posix_trace_eventid_getformat_np(
		           trid, POSIX_TRACE_MUTEX_WAIT_NP, format, sizeof(format)),
		    0);
		CU_ASSERT_STRING_EQUAL(format, "x64 lock,u32 holder");
	}
	PXT_EQ(posix_trace_close(trid), 0);
	(void)close(fd);
	return found;
}

static void record_user(void)
{
	posix_trace_event(pxt_open_event("user"), "x", 1);
}

static void record_system(void)
{
	posix_trace_system_event_np(POSIX_TRACE_MUTEX_WAIT_NP, "0123456789ab", 12, NULL);
}

/* LPT-30; in this order: what was recorded once may be in any later log. */
PXT_TEST(a_log_names_specific_types_once_one_was_recorded)
{
	PXT_EQ(types_of_log(record_user), 0);
	CU_ASSERT(types_of_log(record_system) > 0);
	CU_ASSERT(types_of_log(record_user) > 0);
}
