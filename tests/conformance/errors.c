/* SPDX-License-Identifier: MIT */
/*
 * errors.c - calls that no signal ends, and results that nobody has a place for.  What else a function refuses is
 * beside what it does: EINVAL for identifiers is in identifiers.c, for attributes in errors_attr.c.
 */
#include "../suite_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

#define STALE 4711 /* in outputs that a failure must not touch */

#if PXT_CAN_LOG
static void on_signal(int number)
{
}
#endif

/* ---- Nothing but the readers is ever interrupted ---- */

#if PXT_CAN_LOG
static atomic_bool storm_over;
static pthread_t stormed;

static void *signal_storm(void *argument)
{
	while (!atomic_load(&storm_over)) {
		pthread_kill(stormed, SIGUSR2);
		struct timespec pause = { .tv_nsec = 20000 };
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static struct sigaction before_storm;

static pthread_t begin_storm(void)
{
	struct sigaction action;
	pthread_t sender;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigaction(SIGUSR2, &action, &before_storm);
	stormed = pthread_self();
	atomic_store(&storm_over, false);
	CU_ASSERT_FATAL(pthread_create(&sender, NULL, signal_storm, NULL) == 0);
	return sender;
}

static void end_storm(pthread_t sender)
{
	atomic_store(&storm_over, true);
	pthread_join(sender, NULL);
	sigaction(SIGUSR2, &before_storm, NULL);
}
#endif

#if PXT_CAN_LOG
/* OPEN-E1, CREATE-E2, DEC-35 */
PXT_TEST(calls_that_use_files_are_never_interrupted)
{
	int fd = pxt_temp_file();
	pthread_t sender = begin_storm();

	for (int i = 0; i < 50; i++) {
		trace_id_t trid = 0;
		lseek(fd, 0, SEEK_SET);
		PXT_EQ(posix_trace_create_withlog(0, NULL, fd, &trid), 0);
		PXT_EQ(posix_trace_start(trid), 0);
		PXT_EQ(posix_trace_flush(trid), 0);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		lseek(fd, 0, SEEK_SET);
		PXT_EQ(posix_trace_open(fd, &trid), 0);
		PXT_EQ(posix_trace_close(trid), 0);
	}
	end_storm(sender);
	close(fd);
}
#endif

/* ---- DEC-02: pointers to nothing ---- */

#if _PXT_UNIT_ONLINE && PXT_CHECKS_ARGUMENTS
/* DEC-02, GETNX-05, DEC-33 */
PXT_TEST(readers_refuse_missing_places_and_consume_nothing)
{
	struct posix_trace_event_info event;
	char data[16];
	size_t len = STALE;
	int unavailable = 0;
	trace_id_t trid = pxt_stream(0, 0, 0);

	if (!pxt_has_type(trid, POSIX_TRACE_START)) {
		PXT_EQ(posix_trace_shutdown(trid), 0);
		pxt_skip("no START event");
		return;
	}
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_trygetnext_event(trid, NULL, data, 16, &len, &unavailable), EINVAL);
	CU_ASSERT_NOT_EQUAL(unavailable, 0);
	unavailable = 0;
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, NULL, 16, &len, &unavailable), EINVAL);
	CU_ASSERT_NOT_EQUAL(unavailable, 0);
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, data, 16, NULL, &unavailable), EINVAL);
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, data, 16, &len, NULL), EINVAL);
	PXT_EQ(posix_trace_getnext_event(trid, NULL, data, 16, &len, &unavailable), EINVAL);
	PXT_EQ(len, STALE);
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, NULL, 0, &len, &unavailable), 0);
	PXT_EQ(unavailable, 0);
	PXT_EQ(event.posix_event_id, POSIX_TRACE_START);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if PXT_CAN_CREATE && PXT_CHECKS_ARGUMENTS
/* DEC-02 */
PXT_TEST(stores_to_nowhere_are_refused)
{
	trace_event_id_t id = 0;
	int unavailable = 0;
	trace_id_t trid = pxt_any_stream(NULL);

#if _PXT_UNIT_ONLINE
	PXT_EQ(posix_trace_create(0, NULL, NULL), EINVAL);
#endif
	PXT_EQ(posix_trace_get_attr(trid, NULL), EINVAL);
	PXT_EQ(posix_trace_get_status(trid, NULL), EINVAL);
	PXT_EQ(posix_trace_eventid_get_name(trid, POSIX_TRACE_UNNAMED_USEREVENT, NULL), EINVAL);
	PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, NULL, &unavailable), EINVAL);
	PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, &id, NULL), EINVAL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if _PXT_UNIT_USEREVENTS && PXT_CHECKS_ARGUMENTS
/* DEC-02 */
PXT_TEST(names_from_nowhere_are_refused)
{
	trace_event_id_t id = STALE;

	PXT_EQ(posix_trace_eventid_open(NULL, &id), EINVAL);
	PXT_EQ(posix_trace_eventid_open("errors_nowhere", NULL), EINVAL);
	PXT_EQ(id, STALE);
}
#endif
