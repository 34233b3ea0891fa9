/* SPDX-License-Identifier: MIT */
/*
 * inherit.c - streams that children are traced into.  A child is a puppet: it does one thing at a
 * time, when it is told, and answers; so that every order of things between processes is a test.
 */
#define _GNU_SOURCE 1 /* syscall(), usleep() */
#include "../suite_trace.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

/* ---- Puppets ---- */

enum deed {
	RECORD,   /* one event of type @number with the data @number; answers nothing */
	NAME,     /* opens @text; answers its identifier */
	DESCRIBE, /* gives @number the description @text; answers the error number */
	WANTS,    /* whether type @number is wanted here */
	STOP,     /* stops stream @number; answers the error number */
	OWN,      /* makes and starts a stream of its own; answers its identifier */
	COUNT,    /* events of its own stream @number, all taken out */
	BEAR, /* forks a child that records one event of type @number and ends; answers its pid */
	EXIT, /* exit() */
};

struct order {
	enum deed deed;
	unsigned long number;
	char text[32];
};

struct puppet {
	pid_t pid;
	bool gone;
	int to;
	int from;
};

static void record(unsigned id)
{
	posix_trace_event((trace_event_id_t)id, &id, sizeof(id));
}

static int bear(unsigned id)
{
	pid_t pid = fork();

	if (pid == 0) {
		record(id);
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0);
	return (int)pid;
}

static int make_own(void)
{
	trace_id_t trid = 0;

	return posix_trace_create(0, NULL, &trid) == 0 && posix_trace_start(trid) == 0 ? (int)trid
	                                                                               : -1;
}

static int count_own(trace_id_t trid)
{
	struct posix_trace_event_info event;
	int unavailable = 0;
	int count = 0;
	size_t bytes;
	char data[64];

	while (posix_trace_trygetnext_event(
	           trid, &event, data, sizeof(data), &bytes, &unavailable) == 0 &&
	       !unavailable)
		count += event.posix_event_id >= 32;
	return count;
}

static int obey(const struct order *order)
{
	trace_event_id_t id = 0;

	switch (order->deed) {
	case RECORD:
		record((unsigned)order->number);
		return 0;
	case NAME:
		return posix_trace_eventid_open(order->text, &id) == 0 ? (int)id : -1;
	case DESCRIBE:
		return posix_trace_eventid_setformat_np(
		    (trace_event_id_t)order->number, order->text);
	case WANTS:
		return posix_trace_wanted_np((trace_event_id_t)order->number);
	case STOP:
		return posix_trace_stop(order->number);
	case OWN:
		return make_own();
	case COUNT:
		return count_own(order->number);
	case BEAR:
		return bear((unsigned)order->number);
	case EXIT:
	default:
		exit(0);
	}
}

#ifdef __SANITIZE_ADDRESS__
/*
 * Asked by LeakSanitizer before it looks, at exit: a child that was forked while another thread
 * allocated would wait for that thread's lock for ever.
 */
static int is_child;
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl*) */
int __lsan_is_turned_off(void) __attribute__((visibility("default")));
int __lsan_is_turned_off(void)
{
	return is_child;
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl*) */
#define BE_CHILD() (is_child = 1)
#else
#define BE_CHILD() ((void)0)
#endif

static void play(int from, int to)
{
	struct order order;

	while (read(from, &order, sizeof(order)) == (ssize_t)sizeof(order)) {
		int answer = obey(&order);

		if (write(to, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
			break;
	}
	_exit(0);
}

static struct puppet make_puppet(void)
{
	struct puppet puppet;
	int down[2];
	int up[2];

	CU_ASSERT_FATAL(pipe(down) == 0 && pipe(up) == 0);
	(void)fflush(NULL);
	puppet.gone = false;
	puppet.pid = fork();
	CU_ASSERT_FATAL(puppet.pid >= 0);
	if (puppet.pid == 0) {
		BE_CHILD();
		(void)close(down[1]);
		(void)close(up[0]);
		play(down[0], up[1]);
	}
	(void)close(down[0]);
	(void)close(up[1]);
	puppet.to = down[1];
	puppet.from = up[0];
	return puppet;
}

/* -2: it ended instead of answering. */
static int tell(const struct puppet *puppet, enum deed deed, unsigned long number, const char *text)
{
	struct order order = { .deed = deed, .number = number };
	int answer = -2;

	(void)snprintf(order.text, sizeof(order.text), "%s", text);
	CU_ASSERT_FATAL(write(puppet->to, &order, sizeof(order)) == (ssize_t)sizeof(order));
	if (read(puppet->from, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
		return -2;
	return answer;
}

static void let_record(const struct puppet *puppet, unsigned id)
{
	PXT_EQ(tell(puppet, RECORD, id, ""), 0);
}

static void end_puppet(const struct puppet *puppet)
{
	int status = -1;

	/* Others hold ends of these pipes as well: closing them would tell it nothing. */
	if (!puppet->gone)
		PXT_EQ(tell(puppet, EXIT, 0, ""), -2);
	(void)close(puppet->to);
	(void)close(puppet->from);
	PXT_EQ(waitpid(puppet->pid, &status, 0), puppet->pid);
	PXT_EQ(status, 0);
}

/* ---- Streams ---- */

static void expect_type(trace_id_t trid, trace_event_id_t id)
{
	struct pxt_event event;

	CU_ASSERT_FATAL(pxt_next(trid, &event));
	PXT_EQ(event.info.posix_event_id, id);
}

static trace_id_t inherited(int policy, bool started)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	pxt_attr(&attr, 0, 0, policy);
	PXT_EQ_FATAL(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	if (started)
		PXT_EQ_FATAL(posix_trace_start(trid), 0);
	if (started && pxt_has_type(trid, POSIX_TRACE_START))
		expect_type(trid, POSIX_TRACE_START);
	return trid;
}

/* The next event is of type @id, and @pid recorded it. */
static void expect_from(trace_id_t trid, pid_t pid, unsigned id)
{
	struct pxt_event event;
	unsigned number = 0;

	CU_ASSERT_FATAL(pxt_next(trid, &event));
	PXT_EQ(event.info.posix_event_id, id);
	PXT_EQ(event.info.posix_pid, pid);
	PXT_EQ_FATAL(event.len, sizeof(number));
	memcpy(&number, event.data, sizeof(number));
	PXT_EQ(number, id);
}

/* ---- The attribute ---- */

/* AGINH-01, ASINH-01, AGINH-E1, ASINH-E1 */
PXT_TEST(the_attribute_is_close_for_child_until_it_is_set)
{
	trace_attr_t attr;
	int value = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getinherited(&attr, &value), 0);
	PXT_EQ(value, POSIX_TRACE_CLOSE_FOR_CHILD);
	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ(posix_trace_attr_getinherited(&attr, &value), 0);
	PXT_EQ(value, POSIX_TRACE_INHERITED);
	PXT_EQ(posix_trace_attr_setinherited(&attr, 0), EINVAL);
	PXT_EQ(posix_trace_attr_setinherited(&attr, 3), EINVAL);
	PXT_EQ(posix_trace_attr_getinherited(&attr, &value), 0);
	PXT_EQ(value, POSIX_TRACE_INHERITED);
	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_CLOSE_FOR_CHILD), 0);
	PXT_EQ(posix_trace_attr_getinherited(&attr, &value), 0);
	PXT_EQ(value, POSIX_TRACE_CLOSE_FOR_CHILD);
	if (PXT_CHECKS_ARGUMENTS) {
		PXT_EQ(posix_trace_attr_getinherited(NULL, &value), EINVAL);
		PXT_EQ(posix_trace_attr_getinherited(&attr, NULL), EINVAL);
		PXT_EQ(posix_trace_attr_setinherited(NULL, POSIX_TRACE_INHERITED), EINVAL);
	}
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}

/* ---- What children record ---- */

/* PROC-04, ASINH-02, DEC-43 */
PXT_TEST_FRESH(a_child_records_into_the_stream_under_its_own_pid)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t trid = inherited(0, true);
	struct puppet child = make_puppet();

	let_record(&child, id);
	record(id);
	let_record(&child, id);
	expect_from(trid, child.pid, id);
	expect_from(trid, getpid(), id);
	expect_from(trid, child.pid, id);
	pxt_expect_none(trid);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ASINH-02 */
PXT_TEST_FRESH(a_childs_child_is_traced_too)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t trid = inherited(0, true);
	struct puppet child = make_puppet();
	int grandchild = tell(&child, BEAR, id, "");

	CU_ASSERT(grandchild > 0);
	expect_from(trid, grandchild, id);
	pxt_expect_none(trid);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* PROC-03, PROC-04 */
PXT_TEST_FRESH(a_stream_that_closes_for_children_stays_the_parents_beside_an_inherited_one)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t theirs = inherited(0, true);
	trace_id_t mine = pxt_running_stream(0, 0, 0);
	struct puppet child = make_puppet();

	let_record(&child, id);
	expect_from(theirs, child.pid, id);
	pxt_expect_none(mine);
	record(id);
	expect_from(theirs, getpid(), id);
	expect_from(mine, getpid(), id);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(mine), 0);
	PXT_EQ(posix_trace_shutdown(theirs), 0);
}

/* DEC-43: start and stop reach children that exist already. */
PXT_TEST_FRESH(start_and_stop_govern_children)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t trid = inherited(0, false);
	struct puppet child = make_puppet();
	int late = tell(&child, NAME, 0, "opened while the stream is stopped");

	CU_ASSERT_FATAL(late > 0);
	let_record(&child, id);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_start(trid), 0);
	let_record(&child, id);
	let_record(&child, (unsigned)late);
	PXT_EQ(posix_trace_stop(trid), 0);
	let_record(&child, id);
	if (pxt_has_type(trid, POSIX_TRACE_START))
		expect_type(trid, POSIX_TRACE_START);
	expect_from(trid, child.pid, id);
	expect_from(trid, child.pid, (unsigned)late);
	if (pxt_has_type(trid, POSIX_TRACE_STOP))
		expect_type(trid, POSIX_TRACE_STOP);
	pxt_expect_none(trid);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-43; ruling 7: no record was generated for the stream, so none is lost. */
PXT_TEST_FRESH(what_a_child_does_before_the_first_start_counts_as_nothing)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t trid = inherited(0, false);
	struct puppet child = make_puppet();
	struct posix_trace_counts_np counts;
	struct posix_trace_status_info status;

	for (int i = 0; i < 5; i++)
		let_record(&child, id);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_written_np, 0);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_lost_np, 0);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if _PXT_UNIT_FILTER
/* DEC-43, SFILT-01 */
PXT_TEST_FRESH(a_filter_governs_children)
{
	unsigned id = pxt_open_event("inherited");
	unsigned other = pxt_open_event("inherited too");
	trace_id_t trid = inherited(0, true);
	struct puppet child = make_puppet();
	trace_event_set_t set;

	let_record(&child, id);
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_FILTER, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(posix_trace_eventset_add(id, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	let_record(&child, id);
	let_record(&child, other);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), 0);
	let_record(&child, id);
	expect_from(trid, child.pid, id);
	if (PXT_HAS_FILTER_EVENT)
		expect_type(trid, POSIX_TRACE_FILTER);
	expect_from(trid, child.pid, other);
	expect_from(trid, child.pid, id);
	pxt_expect_none(trid);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* PROC-06 */
PXT_TEST_FRESH(names_agree_whoever_defines_them_and_when)
{
	trace_id_t trid = inherited(0, true);
	struct puppet first = make_puppet();
	struct puppet second = make_puppet();
	int by_child = tell(&first, NAME, 0, "defined by a child");
	unsigned by_parent = pxt_open_event("defined by the parent");

	CU_ASSERT(by_child >= 32);
	PXT_EQ(pxt_open_event("defined by a child"), by_child);
	PXT_EQ(tell(&second, NAME, 0, "defined by a child"), by_child);
	PXT_EQ(tell(&first, NAME, 0, "defined by the parent"), by_parent);
	PXT_EQ(tell(&second, NAME, 0, "defined by the parent"), by_parent);
	let_record(&first, (unsigned)by_child);
	let_record(&second, by_parent);
	record((unsigned)by_child);
	expect_from(trid, first.pid, (unsigned)by_child);
	expect_from(trid, second.pid, by_parent);
	expect_from(trid, getpid(), (unsigned)by_child);
	end_puppet(&first);
	end_puppet(&second);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* PROC-06: descriptions belong to the map. */
PXT_TEST_FRESH(a_description_given_by_a_child_is_everybodys)
{
	unsigned id = pxt_open_event("described by a child");
	trace_id_t trid = inherited(0, true);
	struct puppet child = make_puppet();
	char format[POSIX_TRACE_FORMAT_MAX_NP];

	PXT_EQ(tell(&child, DESCRIBE, id, "u32 number"), 0);
	PXT_EQ(posix_trace_eventid_getformat_np(trid, id, format, sizeof(format)), 0);
	CU_ASSERT_STRING_EQUAL(format, "u32 number");
	PXT_EQ(posix_trace_eventid_setformat_np(id, "i64 other"), EBUSY);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- What children do not do ---- */

/* PROC-02, PROC-05, DEC-34 */
PXT_TEST_FRESH(a_child_does_not_control_the_stream_it_is_traced_into)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t trid = inherited(0, true);
	struct puppet child = make_puppet();

	PXT_EQ(tell(&child, STOP, trid, ""), EINVAL);
	let_record(&child, id);
	expect_from(trid, child.pid, id);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-23, DEC-43 */
PXT_TEST_FRESH(the_end_of_a_child_is_not_the_streams)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t trid = inherited(0, true);
	struct puppet child = make_puppet();
	struct puppet killed = make_puppet();
	int status;

	let_record(&child, id);
	let_record(&killed, id);
	PXT_EQ(tell(&child, EXIT, 0, ""), -2);
	child.gone = true;
	end_puppet(&child);
	(void)kill(killed.pid, SIGKILL);
	PXT_EQ(waitpid(killed.pid, &status, 0), killed.pid);
	expect_from(trid, child.pid, id);
	expect_from(trid, killed.pid, id);
	record(id);
	expect_from(trid, getpid(), id);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-43 */
PXT_TEST_FRESH(a_child_may_outlive_the_stream)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t trid = inherited(0, true);
	struct puppet child = make_puppet();

	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (int i = 0; i < 10000; i++)
		let_record(&child, id);
	trid = pxt_running_stream(0, 0, 0);
	let_record(&child, id);
	pxt_expect_none(trid);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-34 */
PXT_TEST_FRESH(a_child_has_streams_of_its_own_beside_the_inherited_one)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t trid = inherited(0, true);
	struct puppet child = make_puppet();
	int own = tell(&child, OWN, 0, "");

	CU_ASSERT_FATAL(own > 0);
	let_record(&child, id);
	record(id);
	PXT_EQ(tell(&child, COUNT, (unsigned long)own, ""), 1);
	expect_from(trid, child.pid, id);
	expect_from(trid, getpid(), id);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_stop(trid), 0);
	let_record(&child, id);
	PXT_EQ(tell(&child, COUNT, (unsigned long)own, ""), 1);
	PXT_EQ(pxt_drain(trid, id), 0);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Policies and readers ---- */

#if CONFIG_PTRACE_POLICY_UNTIL_FULL
/* POL-09, DEC-43 */
PXT_TEST_FRESH(a_child_that_fills_the_stream_stops_it_until_the_parent_has_read)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t trid = inherited(POSIX_TRACE_UNTIL_FULL, true);
	struct posix_trace_status_info status;
	struct puppet child = make_puppet();

	do {
		let_record(&child, id);
		PXT_EQ_FATAL(posix_trace_get_status(trid, &status), 0);
	} while (status.posix_stream_status == POSIX_TRACE_RUNNING);
	PXT_EQ(status.posix_stream_full_status, POSIX_TRACE_FULL);
	CU_ASSERT(pxt_drain(trid, id) > 10);
	let_record(&child, id);
	PXT_EQ(pxt_drain(trid, id), 1);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

static void *read_one(void *argument)
{
	const trace_id_t *trid = argument;
	static struct pxt_event event;
	int unavailable;

	if (posix_trace_getnext_event(
	        *trid, &event.info, event.data, sizeof(event.data), &event.len, &unavailable) != 0)
		return NULL;
	return &event;
}

/* GETNX-02, DEC-38 */
PXT_TEST_FRESH(a_childs_event_wakes_the_parents_reader)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t trid = inherited(0, true);
	struct puppet child = make_puppet();
	struct pxt_event *event;
	pthread_t reader;
	void *result;

	PXT_EQ_FATAL(pthread_create(&reader, NULL, read_one, &trid), 0);
	pxt_sleep_ms(20);
	let_record(&child, id);
	PXT_EQ(pthread_join(reader, &result), 0);
	event = result;
	CU_ASSERT_FATAL(event != NULL);
	PXT_EQ(event->info.posix_pid, child.pid);
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if PXT_CAN_LOG
/* A forked child's first thread has the pthread_t of the thread that forked it. */
static void expect_threads_of_their_own(trace_id_t log, pid_t child)
{
	struct posix_trace_logthread_np thread;
	int found = 0;

	for (uint32_t i = 0; posix_trace_log_getthread_np(log, i, &thread, sizeof(thread)) == 0;
	     i++) {
		if (thread.posix_pid_np == child)
			PXT_EQ(thread.posix_tid_np, child);
		else if (thread.posix_pid_np == getpid())
			CU_ASSERT(
			    thread.posix_tid_np == 0 || thread.posix_tid_np == (pid_t)getpid());
		found += thread.posix_pid_np == child;
	}
	PXT_EQ(found, 1);
}

/* DEC-43, RET: the log says whose event it is. */
PXT_TEST_FRESH(the_log_of_an_inherited_stream_has_the_childrens_events)
{
	unsigned id = pxt_open_event("inherited");
	struct puppet child;
	trace_attr_t attr;
	trace_id_t trid = 0;
	struct pxt_event event;
	int fd = pxt_temp_file();
	int found = 0;

	pxt_attr(&attr, 0, 0, 0);
	PXT_EQ_FATAL(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	trid = pxt_log_stream(&attr, fd);
	PXT_EQ(posix_trace_start(trid), 0);
	record(id);
	child = make_puppet();
	for (int i = 0; i < 100; i++)
		let_record(&child, id);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = pxt_open_log(fd);
	while (pxt_log_next(trid, &event))
		found += event.info.posix_event_id == id && event.info.posix_pid == child.pid;
	PXT_EQ(found, 100);
	expect_threads_of_their_own(trid, child.pid);
	PXT_EQ(posix_trace_close(trid), 0);
	(void)close(fd);
	end_puppet(&child);
}
#endif

/* ---- Other ways to make a child ---- */

static int record_as_a_clone(unsigned id)
{
	trace_event_id_t opened;
	pid_t pid = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
	int status = -1;

	if (pid == 0) {
		record(id);
		if (posix_trace_eventid_open("inherited", &opened) != 0 || opened != id)
			_exit(1);
		record(id);
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	return status == 0 ? (int)pid : -1;
}

/* DEC-34, ruling 20: without the C library's help a child is recognised at its first other call. */
PXT_TEST_FRESH(a_raw_clone_is_traced_from_its_first_call_on)
{
	unsigned id = pxt_open_event("inherited");
	trace_id_t trid = inherited(0, true);
	int pid;

	if (pxt_skip_emulated("the emulator makes no bare clones"))
		return;
	pid = record_as_a_clone(id);
	CU_ASSERT_FATAL(pid > 0);
	expect_from(trid, pid, id);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
