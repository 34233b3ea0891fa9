/* SPDX-License-Identifier: MIT */
/*
 * orphan.c - the owner is killed at each step of letting a process in, and while that process is
 * at each step of its own.  The process has its answer in time, goes on tracing, and keeps nothing; the
 * name is the next owner's.
 */
#include "attach/kit.h"
#include "core/testpoints.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define NONE       UINT64_MAX
/* Connection and answer have a second each; the rest is for a busy machine. */
#define IN_TIME_MS 3000u

void (*_Atomic pxt_testpoint_hook)(int point);

/* ---- The one who is killed ---- */

static int where;

/* Its helper thread tells where it is, and waits to be killed there. */
static void stand(int point)
{
	if (point != where)
		return;
	producer_say((uint64_t)point);
	for (;;)
		(void)pause();
}

static void own(void *point)
{
	where = *(const int *)point;
	pxt_testpoint_hook_set(stand);
	(void)owner_open(&(const struct owner_spec){ .placed = true });
	producer_say(NONE);
	(void)producer_hear();
}

/* ---- The one who attaches ---- */

static pthread_t watched;
static uint32_t to_go;
static bool stood;
static long long goes_on_at;

/* Tells where it is, and goes on when it is told to. */
static void stand_a_while(int point)
{
	if (stood || !pthread_equal(pthread_self(), watched) || to_go-- != 0)
		return;
	stood = true;
	producer_say((uint64_t)point);
	(void)producer_hear();
	goes_on_at = pxt_now_ns();
}

static int attach(const uint32_t *nth, trace_id_t *trid)
{
	long long ms;
	int error;

	watched = pthread_self();
	to_go = nth ? *nth : 0;
	pxt_testpoint_hook_set(nth ? stand_a_while : NULL);
	goes_on_at = pxt_now_ns();
	error = posix_trace_attach_np(owner_name, NULL, trid);
	ms = (pxt_now_ns() - goes_on_at) / 1000000;
	pxt_testpoint_hook_set(NULL);
	if (nth && !stood) {
		producer_say(NONE);
		(void)producer_hear();
	}
	producer_say((uint64_t)error);
	producer_say((uint64_t)ms);
	return error;
}

static void expect_threads(unsigned count)
{
	for (int i = 0; i < 2000 && pxt_threads_running() != count; i++)
		pxt_sleep_ms(1);
	if (pxt_threads_running() != count)
		_exit(9);
}

/* A stream of its own works as if nothing had been. */
static void trace_alone(trace_event_id_t id)
{
	static struct pxt_event event;
	trace_id_t trid;

	if (posix_trace_create(0, NULL, &trid) != 0 || posix_trace_start(trid) != 0)
		_exit(10);
	posix_trace_event(id, "alone", 5);
	while (event.info.posix_event_id != id && pxt_next(trid, &event))
		;
	if (event.info.posix_event_id != id || event.len != 5 || posix_trace_shutdown(trid) != 0)
		_exit(11);
}

/* @nth: the point where it is; NULL: nowhere.  What is left is its directory's descriptor. */
static void attach_and_go_on(void *nth)
{
	unsigned descriptors = party_entries("/proc/self/fd");
	unsigned threads = pxt_threads_running();
	trace_id_t trid = 0;
	trace_event_id_t id;
	int error = attach(nth, &trid);

	(void)posix_trace_eventid_open("orphan.event", &id);
	if (!error)
		producer_wait(id, false);
	posix_trace_event(id, "unheard", 7);
	trace_alone(id);
	if (!error && posix_trace_shutdown(trid) != 0)
		_exit(1);
	expect_threads(threads);
	if (party_entries("/proc/self/fd") != descriptors + 1u)
		_exit(7);
}

/* ---- Both ---- */

/* What a killed owner left is a socket, which the next one of that name takes over. */
static void expect_only_the_socket(void)
{
	PXT_EQ(access(owner_name, F_OK), 0);
	owner_close(owner_open(&(const struct owner_spec){ .placed = true }));
}

static struct producer begin_owner(int point)
{
	struct producer owner;

	owner_place();
	owner = producer_begin(own, &point);
	PXT_EQ(producer_told(&owner), NONE);
	return owner;
}

/* Its error. */
static int answer_of(const struct producer *producer, uint64_t point)
{
	int error = (int)producer_told(producer);
	uint64_t ms = producer_told(producer);

	PXT_CHECK(ms < IN_TIME_MS, "point %d: answered behind %u ms", (int)point, (unsigned)ms);
	return error;
}

static void owner_killed_at(int point, int expected)
{
	struct producer owner = begin_owner(point);
	struct producer producer = producer_begin(attach_and_go_on, NULL);

	PXT_EQ(producer_told(&owner), point);
	producer_kill(&owner);
	PXT_EQ(answer_of(&producer, (uint64_t)point), expected);
	producer_end(&producer);
	expect_only_the_socket();
}

/* LPT-31, SAFE-01 */
PXT_TEST(an_owner_killed_while_it_lets_a_process_in_keeps_that_one_from_nothing)
{
	owner_killed_at(PXT_TP_OWNER_MAPPED, ENOENT);
	owner_killed_at(PXT_TP_OWNER_PRESENT, ENOENT);
	owner_killed_at(PXT_TP_OWNER_SAID, 0);
}

static bool met[PXT_TP_COUNT];

/* False: there is no such point. */
static bool killed_beside(uint32_t nth)
{
	struct producer owner = begin_owner(PXT_TP_COUNT);
	struct producer producer = producer_begin(attach_and_go_on, &nth);
	uint64_t point = producer_told(&producer);
	int error;

	if (point < PXT_TP_COUNT)
		met[point] = true;
	producer_kill(&owner);
	producer_tell(&producer, 0);
	error = answer_of(&producer, point);
	/* Until it has asked, nobody can have answered; when it has heard the answer, that counts. */
	if (!met[PXT_TP_PRODUCER_ASKED])
		PXT_CHECK(error == ENOENT, "point %d: error %d", (int)point, error);
	else if (met[PXT_TP_PRODUCER_HEARD])
		PXT_CHECK(error == 0, "point %d: error %d", (int)point, error);
	else
		PXT_CHECK(error == 0 || error == ENOENT, "point %d: error %d", (int)point, error);
	producer_end(&producer);
	expect_only_the_socket();
	return point != NONE;
}

/* LPT-31, SAFE-01 */
PXT_TEST(an_owner_killed_at_any_step_of_attaching_is_missed_there_or_behind_it)
{
	uint32_t nth = 0;

	while (killed_beside(nth))
		nth++;
	CU_ASSERT(met[PXT_TP_PRODUCER_ASKED]);
	CU_ASSERT(met[PXT_TP_PRODUCER_HELPED]);
	CU_ASSERT(met[PXT_TP_PRODUCER_HEARD]);
}
