/* SPDX-License-Identifier: MIT */
/*
 * inherit.c - streams that children are traced into.  A child is a puppet: it does one thing at a
 * time, when it is told, and answers; so that every order of things between processes is a test.
 */
#define _GNU_SOURCE 1 /* syscall(), usleep() */
#include "../suite.h"

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

enum what {
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
	enum what what;
	unsigned long number;
	char text[32];
};

struct puppet {
	pid_t pid;
	int to;
	int from;
};

static void record(unsigned type)
{
	posix_trace_event((trace_event_id_t)type, &type, sizeof(type));
}

static int bear(unsigned type)
{
	pid_t pid = fork();

	if (pid == 0) {
		record(type);
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0);
	return (int)pid;
}

static int make_own(void)
{
	trace_id_t own = 0;

	return posix_trace_create(0, NULL, &own) == 0 && posix_trace_start(own) == 0 ? (int)own
	                                                                             : -1;
}

static int count_own(trace_id_t own)
{
	struct posix_trace_event_info event;
	int unavailable = 0;
	int count = 0;
	size_t bytes;
	char data[64];

	while (posix_trace_trygetnext_event(
	           own, &event, data, sizeof(data), &bytes, &unavailable) == 0 &&
	       !unavailable)
		count += event.posix_event_id >= 32;
	return count;
}

static int obey(const struct order *order)
{
	trace_event_id_t opened = 0;

	switch (order->what) {
	case RECORD:
		record((unsigned)order->number);
		return 0;
	case NAME:
		return posix_trace_eventid_open(order->text, &opened) == 0 ? (int)opened : -1;
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
static int tell(const struct puppet *puppet, enum what what, unsigned long number, const char *text)
{
	struct order order = { .what = what, .number = number };
	int answer = -2;

	(void)snprintf(order.text, sizeof(order.text), "%s", text);
	CU_ASSERT_FATAL(write(puppet->to, &order, sizeof(order)) == (ssize_t)sizeof(order));
	if (read(puppet->from, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
		return -2;
	return answer;
}

static void let_record(const struct puppet *puppet, unsigned type)
{
	PXT_EQ(tell(puppet, RECORD, type, ""), 0);
}

static void end_puppet(const struct puppet *puppet)
{
	int status = -1;

	/* Others hold ends of these pipes as well: closing them would tell it nothing. */
	PXT_EQ(tell(puppet, EXIT, 0, ""), -2);
	(void)close(puppet->to);
	(void)close(puppet->from);
	PXT_EQ(waitpid(puppet->pid, &status, 0), puppet->pid);
	PXT_EQ(status, 0);
}

/* ---- The stream, and what it tells ---- */

static unsigned id; /* of the type "inherited" */
static trace_id_t trid;
static struct puppet child;
static struct puppet second; /* of whom some tests need one more */

/* A stream that children are traced into, and a child. */
static void begin(int policy, bool started)
{
	trace_attr_t attr;

	id = pxt_open_event("inherited");
	pxt_attr(&attr, 0, 0, policy);
	PXT_EQ_FATAL(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	if (started)
		PXT_EQ_FATAL(posix_trace_start(trid), 0);
	child = make_puppet();
}

static void end(void)
{
	end_puppet(&child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static const char *actor(pid_t pid)
{
	return pid == getpid()     ? "parent"
	       : pid == child.pid  ? "child"
	       : pid == second.pid ? "second"
	                           : "stranger";
}

/* START, STOP and FILTER; who recorded an event, and its type's name, if that is not "inherited". */
static void add_word(char *story, size_t room, trace_id_t of, const struct pxt_got *event)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	char *word = story + strlen(story);
	unsigned number = 0;

	PXT_EQ_FATAL(posix_trace_eventid_get_name(of, event->info.posix_event_id, name), 0);
	room -= (size_t)(word - story);
	if (event->info.posix_event_id < 32) {
		(void)snprintf(word, room, "%s ",
		    event->info.posix_event_id == POSIX_TRACE_START  ? "START"
		    : event->info.posix_event_id == POSIX_TRACE_STOP ? "STOP"
		                                                     : "FILTER");
		return;
	}
	PXT_EQ_FATAL(event->len, sizeof(number));
	memcpy(&number, event->data, sizeof(number));
	PXT_EQ(number, event->info.posix_event_id);
	(void)snprintf(word, room, "%s%s%s ", actor(event->info.posix_pid), number == id ? "" : ":",
	    number == id ? "" : name);
}

/* Whether this library was built to record such events. */
static bool is_recorded(trace_id_t of, const char *word)
{
	return strcmp(word, "START") == 0  ? pxt_has_type(of, POSIX_TRACE_START)
	       : strcmp(word, "STOP") == 0 ? pxt_has_type(of, POSIX_TRACE_STOP)
	                                   : PXT_HAS_FILTER_EVENT || strcmp(word, "FILTER") != 0;
}

/* This was recorded since the last look, and nothing else: "START child parent child:other". */
static void expect(trace_id_t of, const char *story)
{
	char expected[256] = "";
	char got[256] = "";
	char words[256];
	struct pxt_got event;
	char *rest;

	(void)snprintf(words, sizeof(words), "%s", story);
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		size_t used = strlen(expected);

		if (is_recorded(of, word))
			(void)snprintf(expected + used, sizeof(expected) - used, "%s ", word);
	}
	while (strlen(got) < sizeof(got) - TRACE_EVENT_NAME_MAX && pxt_next(of, &event))
		add_word(got, sizeof(got), of, &event);
	PXT_CHECK(strcmp(got, expected) == 0, "\"%s\", expected \"%s\"", got, story);
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
	begin(0, true);
	let_record(&child, id);
	record(id);
	let_record(&child, id);
	expect(trid, "START child parent child");
	end();
}

/* ASINH-02 */
PXT_TEST_FRESH(a_childs_child_is_traced_too)
{
	begin(0, true);
	second.pid = tell(&child, BEAR, id, "");
	CU_ASSERT(second.pid > 0);
	expect(trid, "START second");
	end();
}

/* PROC-03, PROC-04 */
PXT_TEST_FRESH(a_stream_that_closes_for_children_stays_the_parents_beside_an_inherited_one)
{
	trace_id_t mine = pxt_running_stream(0, 0, 0);

	begin(0, true);
	let_record(&child, id);
	expect(trid, "START child");
	expect(mine, "");
	record(id);
	expect(trid, "parent");
	expect(mine, "parent");
	PXT_EQ(posix_trace_shutdown(mine), 0);
	end();
}

/* DEC-43: start and stop reach children that exist already. */
PXT_TEST_FRESH(start_and_stop_govern_children)
{
	int late;

	begin(0, false);
	late = tell(&child, NAME, 0, "late");
	CU_ASSERT_FATAL(late > 0);
	let_record(&child, id);
	expect(trid, "");
	PXT_EQ(posix_trace_start(trid), 0);
	let_record(&child, id);
	let_record(&child, (unsigned)late);
	PXT_EQ(posix_trace_stop(trid), 0);
	let_record(&child, id);
	expect(trid, "START child child:late STOP");
	end();
}

/* DEC-43; ruling 7: no record was generated for the stream, so none is lost. */
PXT_TEST_FRESH(what_a_child_does_before_the_first_start_counts_as_nothing)
{
	struct posix_trace_counts_np counts;
	struct posix_trace_status_info status;

	begin(0, false);
	for (int i = 0; i < 5; i++)
		let_record(&child, id);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_written_np, 0);
	expect(trid, "");
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_lost_np, 0);
	end();
}

#if _PXT_UNIT_FILTER
/* DEC-43, SFILT-01 */
PXT_TEST_FRESH(a_filter_governs_children)
{
	unsigned other = pxt_open_event("other");
	trace_event_set_t set;

	begin(0, true);
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
	expect(trid, "START child FILTER child:other child");
	end();
}
#endif

/* PROC-06 */
PXT_TEST_FRESH(names_agree_whoever_defines_them_and_when)
{
	int by_child;
	unsigned by_parent;

	begin(0, true);
	second = make_puppet();
	by_child = tell(&child, NAME, 0, "by_child");
	by_parent = pxt_open_event("by_parent");
	CU_ASSERT(by_child >= 32);
	PXT_EQ(pxt_open_event("by_child"), by_child);
	PXT_EQ(tell(&second, NAME, 0, "by_child"), by_child);
	PXT_EQ(tell(&child, NAME, 0, "by_parent"), by_parent);
	PXT_EQ(tell(&second, NAME, 0, "by_parent"), by_parent);
	let_record(&child, (unsigned)by_child);
	let_record(&second, by_parent);
	record((unsigned)by_child);
	expect(trid, "START child:by_child second:by_parent parent:by_child");
	end_puppet(&second);
	end();
}

/* PROC-06: descriptions belong to the map. */
PXT_TEST_FRESH(a_description_given_by_a_child_is_everybodys)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP];

	begin(0, true);
	PXT_EQ(tell(&child, DESCRIBE, id, "u32 number"), 0);
	PXT_EQ(posix_trace_eventid_getformat_np(trid, id, format, sizeof(format)), 0);
	CU_ASSERT_STRING_EQUAL(format, "u32 number");
	PXT_EQ(posix_trace_eventid_setformat_np(id, "i64 other"), EBUSY);
	end();
}

/* ---- What children do not do ---- */

/* PROC-02, PROC-05, DEC-34 */
PXT_TEST_FRESH(a_child_does_not_control_the_stream_it_is_traced_into)
{
	begin(0, true);
	PXT_EQ(tell(&child, STOP, trid, ""), EINVAL);
	let_record(&child, id);
	expect(trid, "START child");
	end();
}

/* DEC-23, DEC-43 */
PXT_TEST_FRESH(the_end_of_a_child_is_not_the_streams)
{
	int status;

	begin(0, true);
	second = make_puppet();
	let_record(&child, id);
	let_record(&second, id);
	(void)kill(second.pid, SIGKILL);
	PXT_EQ(waitpid(second.pid, &status, 0), second.pid);
	end_puppet(&child);
	record(id);
	expect(trid, "START child second parent");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-43 */
PXT_TEST_FRESH(a_child_may_outlive_the_stream)
{
	begin(0, true);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (int i = 0; i < 10000; i++)
		let_record(&child, id);
	trid = pxt_running_stream(0, 0, 0);
	let_record(&child, id);
	expect(trid, "");
	end();
}

/* DEC-34 */
PXT_TEST_FRESH(a_child_has_streams_of_its_own_beside_the_inherited_one)
{
	int own;

	begin(0, true);
	own = tell(&child, OWN, 0, "");
	CU_ASSERT_FATAL(own > 0);
	let_record(&child, id);
	record(id);
	PXT_EQ(tell(&child, COUNT, (unsigned long)own, ""), 1);
	expect(trid, "START child parent");
	PXT_EQ(posix_trace_stop(trid), 0);
	let_record(&child, id);
	PXT_EQ(tell(&child, COUNT, (unsigned long)own, ""), 1);
	expect(trid, "STOP");
	end();
}

/* ---- Policies and readers ---- */

#if CONFIG_PTRACE_POLICY_UNTIL_FULL
/* POL-09, DEC-43 */
PXT_TEST_FRESH(a_child_that_fills_the_stream_stops_it_until_the_parent_has_read)
{
	struct posix_trace_status_info status;

	begin(POSIX_TRACE_UNTIL_FULL, true);
	do {
		let_record(&child, id);
		PXT_EQ_FATAL(posix_trace_get_status(trid, &status), 0);
	} while (status.posix_stream_status == POSIX_TRACE_RUNNING);
	PXT_EQ(status.posix_stream_full_status, POSIX_TRACE_FULL);
	CU_ASSERT(pxt_drain(trid, id) > 10);
	let_record(&child, id);
	PXT_EQ(pxt_drain(trid, id), 1);
	end();
}
#endif

static void *read_one(void *argument)
{
	const trace_id_t *of = argument;
	static struct pxt_got event;
	int unavailable;

	if (posix_trace_getnext_event(
	        *of, &event.info, event.data, sizeof(event.data), &event.len, &unavailable) != 0)
		return NULL;
	return &event;
}

/* GETNX-02, DEC-38 */
PXT_TEST_FRESH(a_childs_event_wakes_the_parents_reader)
{
	const struct pxt_got *event;
	struct pxt_got start;
	pthread_t reader;
	void *result;

	begin(0, true);
	if (pxt_has_type(trid, POSIX_TRACE_START))
		CU_ASSERT(pxt_next(trid, &start));
	PXT_EQ_FATAL(pthread_create(&reader, NULL, read_one, &trid), 0);
	pxt_sleep_ms(20);
	let_record(&child, id);
	PXT_EQ(pthread_join(reader, &result), 0);
	event = result;
	CU_ASSERT_FATAL(event != NULL);
	PXT_EQ(event->info.posix_pid, child.pid);
	end();
}

#if PXT_CAN_LOG
/* A forked child's first thread has the pthread_t of the thread that forked it. */
static void expect_threads_of_their_own(trace_id_t log)
{
	struct posix_trace_logthread_np thread;
	int found = 0;

	for (uint32_t i = 0; posix_trace_log_getthread_np(log, i, &thread, sizeof(thread)) == 0;
	     i++) {
		if (thread.posix_pid_np == child.pid)
			PXT_EQ(thread.posix_tid_np, child.pid);
		else if (thread.posix_pid_np == getpid())
			CU_ASSERT(
			    thread.posix_tid_np == 0 || thread.posix_tid_np == (pid_t)getpid());
		found += thread.posix_pid_np == child.pid;
	}
	PXT_EQ(found, 1);
}

/* DEC-43, RET: the log says whose event it is. */
PXT_TEST_FRESH(the_log_of_an_inherited_stream_has_the_childrens_events)
{
	trace_attr_t attr;
	struct pxt_got event;
	int fd = pxt_temp_file();
	int found = 0;

	id = pxt_open_event("inherited");
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
	expect_threads_of_their_own(trid);
	PXT_EQ(posix_trace_close(trid), 0);
	(void)close(fd);
	end_puppet(&child);
}
#endif

/* ---- Other ways to make a child ---- */

static int record_as_a_clone(void)
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
	if (pxt_skip_emulated("the emulator makes no bare clones"))
		return;
	begin(0, true);
	second.pid = record_as_a_clone();
	CU_ASSERT_FATAL(second.pid > 0);
	expect(trid, "START second");
	end();
}
