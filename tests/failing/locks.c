/* SPDX-License-Identifier: MIT */
/*
 * locks.c - a call that succeeds has given back each lock that it took, and has taken each one that it
 * gives back: the system's lock would not say so, for it refuses in silence what somebody else's thread
 * gives back.
 */
#include "fakes/fakes.h"
#include "suite_trace.h"

#include <stdio.h>
#include <trace_np.h>
#include <unistd.h>

/* Says 0, and leaves the calling thread without a lock. */
#define CALL(call)                                                                                 \
	(PXT_EQ(call, 0), PXT_CHECK(pxt_locks_held == 0, "%s: %d locks", #call, pxt_locks_held))

static void use(trace_id_t trid, bool logged)
{
	struct posix_trace_status_info status;
	struct posix_trace_counts_np counts;
	trace_event_set_t set;
	trace_event_id_t id;
	trace_event_id_t any;
	trace_attr_t attr;
	char name[TRACE_EVENT_NAME_MAX + 1];
	int unavailable;

	CALL(posix_trace_start(trid));
	CALL(posix_trace_eventid_open("locks", &id));
	CALL(posix_trace_eventid_setformat_np(id, "u32 number"));
	CALL(posix_trace_trid_eventid_open(trid, "locks", &id));
	CALL(posix_trace_eventid_get_name(trid, id, name));
	CALL(posix_trace_eventtypelist_rewind(trid));
	CALL(posix_trace_eventtypelist_getnext_id(trid, &any, &unavailable));
	CALL(posix_trace_thread_register_np());
	for (uint32_t i = 0; i < 3000; i++)
		posix_trace_event(id, &i, sizeof(i));
	PXT_EQ(pxt_locks_held, 0);
	CALL(posix_trace_get_attr(trid, &attr));
	CALL(posix_trace_get_status(trid, &status));
	CALL(posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	CALL(posix_trace_get_filter(trid, &set));
	CALL(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET));
	if (logged) {
		CALL(posix_trace_flush(trid));
	} else {
		struct posix_trace_event_info event;
		unsigned char data[64];
		const struct timespec past = { 1, 0 };
		size_t len;

		CALL(posix_trace_getnext_event(
		    trid, &event, data, sizeof(data), &len, &unavailable));
		CALL(posix_trace_trygetnext_event(
		    trid, &event, data, sizeof(data), &len, &unavailable));
		CALL(posix_trace_timedgetnext_event(
		    trid, &event, data, sizeof(data), &len, &unavailable, &past));
	}
	CALL(posix_trace_stop(trid));
	CALL(posix_trace_clear(trid));
	CALL(posix_trace_start(trid));
	CALL(posix_trace_shutdown(trid));
}

static void stream_of(int policy, bool named, bool boxed)
{
	int box = pxt_temp_file();
	trace_attr_t attr;
	char name[128];
	trace_id_t trid;
	int shot = pxt_temp_file();

	(void)snprintf(name, sizeof(name), "%s/locks", pxt_temp_folder());
	pxt_attr(&attr, 16384, 64, policy);
	if (named)
		CALL(posix_trace_attr_setsharename_np(&attr, name));
	if (boxed)
		CALL(posix_trace_attr_setfile_np(&attr, box));
	CALL(posix_trace_create(0, &attr, &trid));
	CALL(posix_trace_snapshot_np(trid, shot));
	use(trid, false);
	(void)close(shot);
	(void)close(box);
}

static void logged_stream_of(int policy, int log_policy)
{
	int file = pxt_temp_file();
	trace_attr_t attr;
	trace_id_t trid;
	trace_id_t log;
	struct posix_trace_event_info event;
	int unavailable;
	size_t len;

	pxt_attr(&attr, 65536, 64, policy);
	CALL(posix_trace_attr_setlogfullpolicy(&attr, log_policy));
	CALL(posix_trace_attr_setlogsize(&attr, 65536));
	CALL(posix_trace_create_withlog(0, &attr, file, &trid));
	use(trid, true);
	(void)lseek(file, 0, SEEK_SET);
	CALL(posix_trace_open(file, &log));
	CALL(posix_trace_getnext_event(log, &event, NULL, 0, &len, &unavailable));
	CALL(posix_trace_rewind(log));
	CALL(posix_trace_close(log));
	(void)close(file);
}

PXT_TEST(whatever_succeeds_gives_back_the_locks_that_it_took)
{
	stream_of(POSIX_TRACE_LOOP, false, false);
	stream_of(POSIX_TRACE_UNTIL_FULL, false, true);
	stream_of(POSIX_TRACE_LOOP, true, false);
	stream_of(POSIX_TRACE_UNTIL_FULL, true, true);
	logged_stream_of(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND);
	logged_stream_of(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_UNTIL_FULL);
	logged_stream_of(POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP);
}
