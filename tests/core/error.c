/* SPDX-License-Identifier: MIT */
/* error.c - POSIX_TRACE_ERROR: which failures inside are recorded, where, and how often. */
#include "../conformance/story.h"
#include "../suite.h"

#include "base/handle.h"
#include "beside.h"
#include "core/process/context.h"
#include "core/process/process.h"
#include "core/ring/ring.h"
#include "core/stream/stream.h"
#include "fakes/fakes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

POSIX_TRACE_DEFINE_NP(error_late_point, u32, number);
POSIX_TRACE_DEFINE_NP(error_twice, u32, number);

static trace_id_t stream;

static void begin(void)
{
	const struct st_spec spec = { .policy = LOOP, .size = 4096, .lanes = 1 };

	stream = st_started(&spec);
	st_expect(stream, "START");
}

static void end(void)
{
	somebody_inside(false);
	CU_ASSERT(st_law(stream, NULL));
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* The errors among the events that are there, and nothing else of the library's. */
static unsigned errors_in(trace_id_t trid, int cause, int number)
{
	struct st_event event;
	unsigned count = 0;

	while (st_take(trid, &event)) {
		int data = 0;

		if (event.info.posix_event_id != POSIX_TRACE_ERROR)
			continue;
		PXT_EQ(event.len, sizeof(data));
		memcpy(&data, event.data, sizeof(data));
		PXT_EQ(POSIX_TRACE_ERROR_CAUSE_NP(data), cause);
		PXT_EQ(POSIX_TRACE_ERROR_NUMBER_NP(data), number);
		count++;
	}
	return count;
}

/* ---- Records that are passed over ---- */

static void reserve(void)
{
	struct pxt_stream *found = pxt_handle_find_kind(stream, &pxt_stream_kind);
	struct pxt_place place = { .ring = pxt_block_ring(found->block, 0) };

	(void)pxt_ring_reserve(&place, 2, 0);
	found->block->idle_since = 0;
}

/* LPT-25 */
PXT_TEST(a_record_that_nobody_can_complete_is_one_error_event)
{
	begin();
	pxt_holdback_ns = UINT64_C(10000000000);
	reserve();
	st_say(1);
	PXT_EQ(errors_in(stream, POSIX_TRACE_ERROR_RECORD_NP, EOWNERDEAD), 1);
	end();
}

/* LPT-25 */
PXT_TEST(so_is_one_whose_writer_takes_too_long)
{
	begin();
	somebody_inside(true);
	pxt_holdback_ns = 1000000;
	reserve();
	st_say(1);
	st_expect(stream, "");
	pxt_sleep_ms(2);
	PXT_EQ(errors_in(stream, POSIX_TRACE_ERROR_RECORD_NP, ETIMEDOUT), 1);
	end();
}

/* LPT-25: nobody reads a snapshot's copy after it was saved, and the stream has passed over nothing. */
PXT_TEST(what_a_snapshot_passes_over_is_no_event_of_the_stream)
{
	int file = pxt_temp_file();

	begin();
	pxt_holdback_ns = UINT64_C(10000000000);
	reserve();
	st_say(1);
	PXT_EQ(posix_trace_snapshot_np(stream, file), 0);
	PXT_EQ(lseek(file, 0, SEEK_SET), 0);
	PXT_EQ(errors_in(stream, POSIX_TRACE_ERROR_RECORD_NP, EOWNERDEAD), 1);
	PXT_EQ(close(file), 0);
	end();
}

/* LPT-25, SYS-10 */
PXT_TEST(a_filter_keeps_errors_out)
{
	trace_event_set_t set;

	begin();
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_ERROR, &set), 0);
	PXT_EQ(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET), 0);
	pxt_holdback_ns = UINT64_C(10000000000);
	reserve();
	st_say(1);
	PXT_EQ(errors_in(stream, 0, 0), 0);
	end();
}

/* LPT-25: the unnamed type has a name of its own, by which it may be opened. */
PXT_TEST(to_open_the_unnamed_type_by_its_name_is_no_error)
{
	trace_event_id_t id = 0;

	begin();
	PXT_EQ(posix_trace_eventid_open("posix_trace_unnamed_userevent", &id), 0);
	PXT_EQ(id, POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(errors_in(stream, 0, 0), 0);
	end();
}

/* ---- Flushes ---- */

static void flush_and_fail(int error)
{
	pxt_fault_arm_from(&pxt_fault_write, 1, error);
	PXT_EQ(posix_trace_flush(stream), error);
	pxt_fault_arm(&pxt_fault_write, 0, 0);
}

static unsigned errors_in_log(int file, int number)
{
	trace_id_t log;
	unsigned count;

	PXT_EQ(lseek(file, 0, SEEK_SET), 0);
	PXT_EQ_FATAL(posix_trace_open(file, &log), 0);
	count = errors_in(log, POSIX_TRACE_ERROR_LOG_NP, number);
	PXT_EQ(posix_trace_close(log), 0);
	return count;
}

/* LPT-25: a row of flushes that fail alike is one event, the next row another one */
PXT_TEST(flushes_that_fail_are_an_error_event_until_one_succeeds)
{
	int file = pxt_temp_file();
	const struct st_spec spec = { .policy = LOOP,
		.size = 4096,
		.lanes = 1,
		.with_log = true,
		.fd = file,
		.log_policy = POSIX_TRACE_APPEND };

	stream = st_started(&spec);
	for (int row = 0; row < 2; row++) {
		st_say(row);
		flush_and_fail(ENOSPC);
		flush_and_fail(ENOSPC);
		PXT_EQ(posix_trace_flush(stream), 0);
	}
	PXT_EQ(posix_trace_shutdown(stream), 0);
	PXT_EQ(errors_in_log(file, ENOSPC), 2);
	PXT_EQ(close(file), 0);
}

/* ---- Types: the last case, because they stay ---- */

static void define_all_types(void)
{
	trace_event_id_t id = 0;
	char name[32];

	for (int i = 0; id != POSIX_TRACE_UNNAMED_USEREVENT; i++) {
		(void)snprintf(name, sizeof(name), "error_many_%d", i);
		PXT_EQ_FATAL(posix_trace_eventid_open(name, &id), 0);
	}
}

/* LPT-25 */
PXT_TEST(a_type_for_which_there_is_no_room_is_an_error_event_in_each_stream)
{
	trace_event_id_t id;
	trace_id_t other;

	begin();
	other = stream;
	begin();
	define_all_types();
	PXT_EQ(errors_in(stream, POSIX_TRACE_ERROR_TYPES_NP, ENOSPC), 1);
	PXT_EQ(errors_in(other, POSIX_TRACE_ERROR_TYPES_NP, ENOSPC), 1);
	/* What exists is opened, as ever. */
	PXT_EQ(posix_trace_eventid_open("error_many_0", &id), 0);
	PXT_EQ(errors_in(stream, 0, 0), 0);
	/* A typed point asks once. */
	posix_trace_point_np(error_late_point, 1);
	posix_trace_point_np(error_late_point, 2);
	PXT_EQ(errors_in(stream, POSIX_TRACE_ERROR_TYPES_NP, ENOSPC), 1);
	PXT_EQ(posix_trace_shutdown(other), 0);
	end();
}

#if _PXT_UNIT_FILTER
/* LPT-25 */
PXT_TEST(so_is_one_that_is_opened_through_a_stream)
{
	trace_event_id_t id = 0;

	begin();
	define_all_types();
	PXT_EQ(errors_in(stream, POSIX_TRACE_ERROR_TYPES_NP, ENOSPC), 1);
	PXT_EQ(posix_trace_trid_eventid_open(stream, "error_many_0", &id), 0);
	PXT_EQ(errors_in(stream, POSIX_TRACE_ERROR_TYPES_NP, ENOSPC), 0);
	PXT_EQ(posix_trace_trid_eventid_open(stream, "error_late", &id), 0);
	PXT_EQ(id, POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(errors_in(stream, POSIX_TRACE_ERROR_TYPES_NP, ENOSPC), 1);
	end();
}
#endif

#if _PXT_UNIT_EXTENSIONS
/* LPT-25: in a process whose table of types is not full. */
PXT_TEST_FRESH(a_point_that_another_file_defines_with_other_fields_is_one_error_event)
{
	trace_event_id_t others;

	begin();
	PXT_EQ(posix_trace_eventid_open("error_twice", &others), 0);
	PXT_EQ(posix_trace_eventid_setformat_np(others, "u64 first, u64 second"), 0);
	posix_trace_point_np(error_twice, 1);
	posix_trace_point_np(error_twice, 2);
	PXT_EQ(errors_in(stream, POSIX_TRACE_ERROR_POINT_NP, EBUSY), 1);
	end();
}
#endif
