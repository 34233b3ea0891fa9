/* SPDX-License-Identifier: MIT */
/* safety.c - signals, threads and cancellation: what may interrupt what. */
#include "../suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#if PXT_CAN_WATCH

/* Sized so that a torn or mixed record cannot pass for a whole one. */
struct story {
	unsigned source; /* 0 the thread, 1 and 2 the handlers */
	unsigned number;
	unsigned sum;
};

#endif

/* ---- Cancellation ---- */

#if PXT_CAN_WATCH && _PXT_UNIT_FILTER

struct cancel_row {
	const char *name;
	void (*call)(trace_id_t trid);
};

static void call_event(trace_id_t trid)
{
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
}

static void call_open(trace_id_t trid)
{
	trace_event_id_t id;

	posix_trace_eventid_open("safety_open", &id);
}

static void call_trid_open(trace_id_t trid)
{
	trace_event_id_t id;

	posix_trace_trid_eventid_open(trid, "safety_trid_open", &id);
}

static void call_equal(trace_id_t trid)
{
	(void)posix_trace_eventid_equal(trid, POSIX_TRACE_START, POSIX_TRACE_STOP);
}

static void call_get_name(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	posix_trace_eventid_get_name(trid, POSIX_TRACE_UNNAMED_USEREVENT, name);
}

static void call_sets(trace_id_t trid)
{
	trace_event_set_t set;
	int member;

	posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(POSIX_TRACE_START, &set);
	posix_trace_eventset_del(POSIX_TRACE_START, &set);
	posix_trace_eventset_ismember(POSIX_TRACE_START, &set, &member);
}

static void call_start(trace_id_t trid)
{
	posix_trace_start(trid);
}

static void call_stop(trace_id_t trid)
{
	posix_trace_stop(trid);
}

static void call_trygetnext(trace_id_t trid)
{
	struct posix_trace_event_info event;
	size_t len;
	int unavailable;

	posix_trace_trygetnext_event(trid, &event, NULL, 0, &len, &unavailable);
}

static void call_attributes(trace_id_t trid)
{
	trace_attr_t attr;
	size_t size;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setname(&attr, "safety");
	posix_trace_attr_setstreamsize(&attr, 4096);
	posix_trace_attr_getstreamsize(&attr, &size);
	posix_trace_attr_getmaxsystemeventsize(&attr, &size);
	posix_trace_attr_destroy(&attr);
}

static const struct cancel_row no_points[] = {
	{ "event", call_event },
	{ "eventid_open", call_open },
	{ "trid_eventid_open", call_trid_open },
	{ "eventid_equal", call_equal },
	{ "eventid_get_name", call_get_name },
	{ "eventset_*", call_sets },
	{ "start", call_start },
	{ "stop", call_stop },
	{ "trygetnext_event", call_trygetnext },
	{ "attr_*", call_attributes },
};
#define NO_POINTS (sizeof(no_points) / sizeof(no_points[0]))

static void call_clear(trace_id_t trid)
{
	posix_trace_clear(trid);
}

static void call_create(trace_id_t trid)
{
	trace_id_t made = 0;
	int old;

	if (posix_trace_create(0, NULL, &made) == 0) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
		posix_trace_shutdown(made);
		pthread_setcancelstate(old, NULL);
	}
}

static void call_list_next(trace_id_t trid)
{
	trace_event_id_t id;
	int unavailable;

	posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable);
}

static void call_list_rewind(trace_id_t trid)
{
	posix_trace_eventtypelist_rewind(trid);
}

static void call_get_attr(trace_id_t trid)
{
	trace_attr_t attr;

	posix_trace_get_attr(trid, &attr);
}

static void call_get_status(trace_id_t trid)
{
	struct posix_trace_status_info status;

	posix_trace_get_status(trid, &status);
}

static void call_get_filter(trace_id_t trid)
{
	trace_event_set_t set;

	posix_trace_get_filter(trid, &set);
}

static void call_set_filter(trace_id_t trid)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET);
}

static const struct cancel_row points[] = {
	{ "clear", call_clear },
	{ "create", call_create },
	{ "eventtypelist_getnext_id", call_list_next },
	{ "eventtypelist_rewind", call_list_rewind },
	{ "get_attr", call_get_attr },
	{ "get_status", call_get_status },
	{ "get_filter", call_get_filter },
	{ "set_filter", call_set_filter },
};
#define POINTS (sizeof(points) / sizeof(points[0]))

struct cancelled_call {
	const struct cancel_row *row;
	trace_id_t trid;
	atomic_bool returned;
};

/* Cancels itself first, so that the call meets a request that is already there. */
static void *call_with_cancel_pending(void *argument)
{
	struct cancelled_call *call = argument;

	pthread_cancel(pthread_self());
	call->row->call(call->trid);
	atomic_store(&call->returned, true);
	return NULL;
}

static bool returns_with_cancel_pending(const struct cancel_row *row, trace_id_t trid)
{
	struct cancelled_call call = { .row = row, .trid = trid };
	pthread_t thread;

	PXT_EQ_FATAL(pthread_create(&thread, NULL, call_with_cancel_pending, &call), 0);
	pthread_join(thread, NULL);
	return atomic_load(&call.returned);
}

/* SAFE-05, TRYNX-03 */
PXT_TEST(calls_that_are_no_cancellation_points_return)
{
	trace_id_t trid = pxt_running_stream(0, 0, 0);

	for (size_t i = 0; i < NO_POINTS; i++) {
		PXT_CHECK(returns_with_cancel_pending(&no_points[i], trid),
		    "%s is a cancellation point", no_points[i].name);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* SAFE-06, SAFE-04, CREATE-10 */
PXT_TEST(a_cancelled_call_holds_no_lock_and_makes_no_stream)
{
	trace_id_t streams[TRACE_SYS_MAX];
	trace_id_t trid = pxt_running_stream(0, 0, 0);

	/* Each call twice: the second hangs if the first went away with a lock. */
	for (size_t i = 0; i < 2 * POINTS; i++)
		returns_with_cancel_pending(&points[i / 2], trid);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "y", 1);
	PXT_EQ(pxt_drain(trid, POSIX_TRACE_UNNAMED_USEREVENT), 1);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (size_t i = 0; i < TRACE_SYS_MAX; i++)
		PXT_EQ(posix_trace_create(0, NULL, &streams[i]), 0);
	for (size_t i = 0; i < TRACE_SYS_MAX; i++)
		PXT_EQ(posix_trace_shutdown(streams[i]), 0);
}

static void *read_one(void *argument)
{
	trace_id_t trid = *(const trace_id_t *)argument;
	struct posix_trace_event_info event;
	size_t len;
	int unavailable = 1;
	static char consumed;

	if (posix_trace_getnext_event(trid, &event, NULL, 0, &len, &unavailable) != 0 ||
	    unavailable != 0)
		return NULL;
	return &consumed;
}

/* SAFE-06, GETNX-E2 */
PXT_TEST(a_cancelled_reader_has_consumed_nothing)
{
	trace_id_t trid = pxt_running_stream(0, 0, 0);

	for (int i = 0; i < 10; i++) {
		pthread_t thread;
		void *result = NULL;
		PXT_EQ_FATAL(pthread_create(&thread, NULL, read_one, &trid), 0);
		pxt_sleep_ms(i);
		pthread_cancel(thread);
		pxt_sleep_ms(i % 3);
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "z", 1);
		pthread_join(thread, &result);
		bool consumed = result != NULL && result != PTHREAD_CANCELED;
		PXT_CHECK(pxt_drain(trid, POSIX_TRACE_UNNAMED_USEREVENT) == !consumed,
		    "the event of round %d is lost or doubled", i);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Many controllers ---- */

#endif
