/* SPDX-License-Identifier: MIT */
/*
 * combo.c - one fact for each unit, in whatever combination they are built: scripts/combos.py
 * runs this program for all of them.
 */
#include "suite.h"

#include "format/compiler.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

/* LPT-15: what both libraries have. */
PXT_TEST(attributes_have_defaults)
{
	trace_attr_t attr;
	char version[TRACE_NAME_MAX + 1];
	size_t size = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getgenversion(&attr, version), 0);
	CU_ASSERT(version[0] != '\0');
	PXT_EQ(posix_trace_attr_getstreamsize(&attr, &size), 0);
	CU_ASSERT(size > 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}

#if _PXT_UNIT_CORE
/* LPT-15: Trace Core, through whichever unit creates streams. */
PXT_TEST(a_stream_starts_and_stops)
{
	struct posix_trace_status_info status;
	struct posix_trace_counts_np counts;
	trace_id_t trid = pxt_any_stream(NULL);

	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_RUNNING);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	CU_ASSERT(counts.posix_written_np == counts.posix_retrieved_np + counts.posix_lost_np +
	                                         counts.posix_cleared_np + counts.posix_held_np);
	PXT_EQ(posix_trace_clear(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(posix_trace_start(trid), EINVAL);
}
#endif

#if _PXT_UNIT_CORE && CONFIG_PTRACE_LIMIT_STREAM_SIZE
/* LPT-11, LPT-60, ASSSZ-E1: at the limit, and one byte above. */
PXT_TEST(a_stream_may_be_as_large_as_the_limit_and_no_larger)
{
	const size_t most = CONFIG_PTRACE_MAX_STREAM_SIZE;
	trace_attr_t attr;
	trace_id_t trid;
	size_t size = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, most), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, most + 1), EINVAL);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, SIZE_MAX), EINVAL);
	PXT_EQ(posix_trace_attr_getstreamsize(&attr, &size), 0);
	PXT_EQ(size, most);
	trid = pxt_any_stream(&attr);
	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getstreamsize(&attr, &size), 0);
	PXT_CHECK(size >= most, "%zu bytes", size);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if _PXT_UNIT_ONLINE
/* LPT-69, LPT-72 */
PXT_TEST(a_stopped_stream_without_events_says_unavailable)
{
	trace_id_t trid = pxt_stream(0, 0, 0);

	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if _PXT_UNIT_ONLINE
#endif

#if _PXT_UNIT_ONLINE && _PXT_UNIT_USEREVENTS
#if CONFIG_PTRACE_START_FILTERED
/* ZEP-07: no user event before a filter is set, and none after a clear. */
PXT_TEST(a_stream_that_starts_filtered_records_nothing_before_a_filter_is_set)
{
	trace_event_id_t id = pxt_open_event("combo");
	trace_id_t trid = pxt_running_stream(0, 0, 0);
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT(!posix_trace_wanted_np(id));
		CU_ASSERT(!posix_trace_wanted_np(pxt_open_event(i ? "combo2" : "combo1")));
		PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
		CU_ASSERT(posix_trace_wanted_np(id));
		if (i == 0) {
			PXT_EQ(posix_trace_clear(trid), 0);
			PXT_EQ(posix_trace_start(trid), 0);
		}
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#else
/* LPT-81, LPT-82, TIM-01 */
PXT_TEST(an_event_comes_back_as_it_was_recorded)
{
	const long long slack = 5000000;
	trace_event_id_t id = pxt_open_event("combo");
	trace_id_t trid = pxt_running_stream(0, 0, 0);
	struct pxt_got event;

	CU_ASSERT(posix_trace_wanted_np(id));
	posix_trace_event(id, "twelve bytes", 12);
	pxt_expect(trid, id, "twelve bytes", 12);
	long long before = pxt_now_ns();
	posix_trace_event(id, NULL, 0);
	long long after = pxt_now_ns();
	CU_ASSERT_FATAL(pxt_next(trid, &event));
	PXT_EQ(event.info.posix_pid, getpid());
	PXT_EQ(event.info.posix_prog_address != NULL, CONFIG_PTRACE_RECORD_ADDRESS);
	CU_ASSERT(pxt_ns(&event.info.posix_timestamp) >= before - slack);
	CU_ASSERT(pxt_ns(&event.info.posix_timestamp) <= after + slack);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(!posix_trace_wanted_np(id));
}
#endif
#endif

#if _PXT_UNIT_FILTER
/* LPT-89, LPT-33 */
PXT_TEST(a_filtered_type_is_not_wanted)
{
	trace_event_set_t set;
	trace_event_set_t now;
	int member = 0;
	trace_id_t trid = pxt_any_stream(NULL);

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	CU_ASSERT(
	    posix_trace_wanted_np(POSIX_TRACE_UNNAMED_USEREVENT) || CONFIG_PTRACE_START_FILTERED);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	CU_ASSERT(!posix_trace_wanted_np(POSIX_TRACE_UNNAMED_USEREVENT));
	PXT_EQ(posix_trace_get_filter(trid, &now), 0);
	PXT_EQ(posix_trace_eventset_ismember(POSIX_TRACE_UNNAMED_USEREVENT, &now, &member), 0);
	CU_ASSERT(member);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if _PXT_UNIT_TOLOG
/* LPT-79, LPT-80 */
PXT_TEST(a_log_receives_bytes)
{
	int fd = pxt_temp_file();
	trace_id_t trid = pxt_log_stream(NULL, fd);

	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(lseek(fd, 0, SEEK_END) > 0);
	(void)close(fd);
}
#endif

#if _PXT_UNIT_LOGRETRIEVAL
#endif

#if _PXT_UNIT_TOLOG && _PXT_UNIT_LOGRETRIEVAL && _PXT_UNIT_USEREVENTS
/* What a configuration leaves out reads as unknown. */
static void expect_context(const struct posix_trace_event_info *info)
{
	struct posix_trace_eventextra_np extra;

	PXT_EQ(posix_trace_eventinfo_getextra_np(info, &extra, sizeof(extra)), 0);
	PXT_EQ(extra.posix_thread_exact_np, CONFIG_PTRACE_RECORD_THREAD);
	PXT_EQ(info->posix_prog_address != NULL, CONFIG_PTRACE_RECORD_ADDRESS);
	/* Not every machine says which CPU it is. */
	if (!CONFIG_PTRACE_RECORD_CPU)
		PXT_EQ(extra.posix_cpu_np, -1);
}

/* LPT-91, LPT-92, LPT-93, LPT-94, LPT-21 */
PXT_TEST(a_log_gives_back_the_event)
{
	trace_event_id_t id = pxt_open_event("combo");
	int fd = pxt_temp_file();
	trace_id_t trid = pxt_log_stream(NULL, fd);
	struct pxt_got event;
	unsigned found = 0;

	PXT_EQ(posix_trace_start(trid), 0);
	posix_trace_event(id, "logged", 6);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = pxt_open_log(fd);
	while (pxt_log_next(trid, &event)) {
		if (event.len != 6 || memcmp(event.data, "logged", 6) != 0)
			continue;
		expect_context(&event.info);
		found++;
	}
	PXT_EQ(found, CONFIG_PTRACE_START_FILTERED ? 0 : 1);
	PXT_EQ(posix_trace_close(trid), 0);
	(void)close(fd);
}
#endif

#if _PXT_UNIT_TOLOG && _PXT_UNIT_LOGRETRIEVAL && _PXT_UNIT_USEREVENTS &&                           \
    CONFIG_PTRACE_FLUSH_BURST_BYTES
/* LPT-40: after each burst a pause, and no event is lost by them. */
PXT_TEST(a_flush_pauses_after_each_burst)
{
	enum {
		EVENTS = 100
	};
	static const char data[64];
	trace_event_id_t id = pxt_open_event("combo");
	int fd = pxt_temp_file();
	trace_id_t trid = pxt_log_stream(NULL, fd);
	struct pxt_got event;
	struct timespec before;
	struct timespec after;
	long bursts = EVENTS * (long)sizeof(data) / CONFIG_PTRACE_FLUSH_BURST_BYTES;
	long ms;
	unsigned found = 0;

	PXT_EQ(posix_trace_start(trid), 0);
	for (unsigned i = 0; i < EVENTS; i++)
		posix_trace_event(id, data, sizeof(data));
	(void)clock_gettime(CLOCK_MONOTONIC, &before);
	PXT_EQ(posix_trace_flush(trid), 0);
	(void)clock_gettime(CLOCK_MONOTONIC, &after);
	ms = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
	PXT_CHECK(bursts > 2 && ms >= (bursts - 1) * CONFIG_PTRACE_FLUSH_BURST_DELAY_MS,
	    "%ld bursts in %ld ms", bursts, ms);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = pxt_open_log(fd);
	while (pxt_log_next(trid, &event))
		found += event.len == sizeof(data);
	PXT_EQ(found, EVENTS);
	PXT_EQ(posix_trace_close(trid), 0);
	(void)close(fd);
}
#endif
