/* SPDX-License-Identifier: MIT */
/*
 * ctlsock_producers.c - attached processes as the control socket of a stream sees them: how many there may be, and what
 * becomes of those that stand still or are killed. (LPT-31, LPT-32)
 */
#define _GNU_SOURCE
#include "format/slot.h"
#include "logs.h"
#include "port_atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static trace_event_id_t tick;

static void record(unsigned events)
{
	for (unsigned i = 0; i < events; i++)
		posix_trace_event(tick, &i, sizeof(i));
}

static char producers_type[32] = "tack";
static long producers_pause_ms; /* before they record */
static size_t producers_bytes;  /* of their memory; 0: the default */
static bool producers_wait; /* in place of recording: until they know that the stream is stopped */

static bool knows_the_stop(void *of)
{
	return !posix_trace_wanted_np(tick);
}

/* Attaches, and does when it is told to what it is for; says its error each time, and waits. */
static void obey(void *events)
{
	int error;
	trace_attr_t attr;
	trace_id_t trid = 0;

	pxt_attr(&attr, producers_bytes, 0, 0);
	error = posix_trace_attach_np(owner_name, &attr, &trid);
	producer_say((uint64_t)error);
	(void)producer_hear();
	pxt_sleep_ms(producers_pause_ms);
	tick = pxt_open_event(producers_type);
	if (producers_wait)
		error = at_until(knows_the_stop, NULL) ? 0 : ETIMEDOUT;
	else
		record(*(const unsigned *)events);
	producer_say((uint64_t)error);
	(void)producer_hear();
}

static struct producer attached_with(int error, const char *path, unsigned events)
{
	struct producer producer;

	(void)snprintf(owner_name, sizeof(owner_name), "%s", path);
	/*
	 * A sanitizer's runtime has a lock of its own around memory: a fork beside a thread that has it, as
	 * the stream's helper in its first moment, leaves it held in the child for ever.
	 */
	if (PXT_SANITIZED)
		pxt_sleep_ms(50);
	producer = producer_begin(obey, &events);
	PXT_EQ(producer_told(&producer), error);
	return producer;
}

static struct producer attached(const char *path, unsigned events)
{
	return attached_with(0, path, events);
}

static void let_it_do_it(const struct producer *producer)
{
	producer_tell(producer, 0);
	PXT_EQ(producer_told(producer), 0);
}

static void producer_stand_still(const struct producer *producer)
{
	int stopped;

	PXT_EQ(kill(producer->pid, SIGSTOP), 0);
	CU_ASSERT(waitpid(producer->pid, &stopped, WUNTRACED) == producer->pid);
}

static bool none_left(void *of)
{
	struct pxt_ctlsock_status status;

	PXT_EQ(at_status(of, &status), 0);
	return status.producers == 0;
}

/* Whose event the next one about an error is; 0: there is none. */
static pid_t who_erred(trace_id_t trid)
{
	struct posix_trace_event_info info;
	int unavailable = 0;

	while (
	    posix_trace_trygetnext_event(trid, &info, NULL, 0, &(size_t){ 0 }, &unavailable) == 0 &&
	    !unavailable) {
		if (info.posix_event_id == POSIX_TRACE_ERROR)
			return info.posix_pid;
	}
	return 0;
}

PXT_TEST(more_producers_than_places_are_told_to_come_again)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct producer producer[CONFIG_PTRACE_ATTACH_MAX];
	struct producer more;
	struct pxt_ctlsock_status status;

	for (unsigned i = 0; i < CONFIG_PTRACE_ATTACH_MAX; i++) {
		producer[i] = attached(path, 0);
	}
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(status.producers, CONFIG_PTRACE_ATTACH_MAX);
	PXT_EQ(posix_trace_start(trid), 0);
	more = attached_with(EAGAIN, path, 0);
	PXT_EQ(who_erred(trid), CONFIG_PTRACE_SYSEV_ERROR ? more.pid : 0);
	producer_kill(&more);
	producer_kill(&producer[3]);
	pxt_sleep_ms(200);
	producer[3] = attached(path, 0);
	for (unsigned i = 0; i < CONFIG_PTRACE_ATTACH_MAX; i++)
		producer_kill(&producer[i]);
	CU_ASSERT(at_until(none_left, path));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static bool nothing_mapped(void *of)
{
	char line[512];
	bool none = true;
	FILE *maps = fopen("/proc/self/maps", "re");

	CU_ASSERT_FATAL(maps != NULL);
	while (fgets(line, sizeof(line), maps))
		none &= strstr(line, "memfd:") == NULL;
	(void)fclose(maps);
	return none;
}

PXT_TEST(producers_that_are_killed_leave_nothing)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	unsigned before;

	PXT_EQ(posix_trace_start(trid), 0);
	before = at_descriptors();
	for (int i = 0; i < 60; i++) {
		struct producer producer;

		producer = attached(path, 50);
		if (i % 2)
			producer_tell(&producer, 0);
		producer_kill(&producer);
	}
	CU_ASSERT(at_until(none_left, path));
	CU_ASSERT(at_until(nothing_mapped, NULL));
	CU_ASSERT(at_closed_down_to(before));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* The reader sleeps when the producer's event comes: the helper wakes it. */
PXT_TEST(a_sleeping_reader_is_woken_by_a_producer)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct posix_trace_event_info info;
	struct timespec until;
	struct producer producer;
	unsigned char data[64];
	int unavailable = 1;
	long long begin;
	size_t bytes;
	int events = 0;

	PXT_EQ(posix_trace_start(trid), 0);
	producers_pause_ms = 100;
	producer = attached(path, 5);
	producers_pause_ms = 0;
	producer_tell(&producer, 0);
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 120;
	begin = pxt_now_ns();
	while (events < 5 &&
	       posix_trace_timedgetnext_event(
	           trid, &info, data, sizeof(data), &bytes, &unavailable, &until) == 0 &&
	       !unavailable)
		events += info.posix_pid == producer.pid;
	PXT_EQ(events, 5);
	CU_ASSERT(pxt_now_ns() - begin < 60000000000ll);
	producer_kill(&producer);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* More than the stream has room for: it is pulled all the same, so that its memory is free. */
PXT_TEST(a_killed_producer_s_memory_waits_for_no_reader)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct posix_trace_counts_np counts;
	struct pxt_got event;
	struct producer producer;
	unsigned events = 0;

	PXT_EQ(posix_trace_start(trid), 0);
	producers_bytes = 1 << 20;
	producer = attached(path, 5000);
	producers_bytes = 0;
	let_it_do_it(&producer);
	producer_kill(&producer);
	CU_ASSERT(at_until(none_left, path));
	CU_ASSERT(at_until(nothing_mapped, NULL));
	while (pxt_next(trid, &event))
		events += event.info.posix_pid == producer.pid;
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	CU_ASSERT(events > 500);
	/* With or without the START, which is older. */
	CU_ASSERT(events + counts.posix_lost_np - 5000 <= 1);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* The helper, which learns types, is also who stops the stream for a client. */
PXT_TEST(a_stop_by_a_client_comes_behind_what_producers_recorded_before)
{
	for (int round = 0; round < 10; round++) {
		char path[PXT_CTLSOCK_PATH];
		trace_id_t trid = at_stream(LOOP, path);
		int fd = at_connect(path);
		struct pxt_got event;
		struct producer producer;
		int events = 0;

		PXT_EQ(at_tell(fd, PXT_CTLSOCK_START), 0);
		(void)snprintf(producers_type, sizeof(producers_type), "new%d", round);
		producer = attached(path, 30);
		let_it_do_it(&producer);
		PXT_EQ(at_tell(fd, PXT_CTLSOCK_STOP), 0);
		while (pxt_next(trid, &event))
			events += event.info.posix_pid == producer.pid;
		PXT_EQ(events, 30);
		producer_kill(&producer);
		(void)close(fd);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/* It hears of nothing for a while, and of the last state then. */
PXT_TEST(a_producer_that_stands_still_holds_up_nobody)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct pxt_ctlsock_status status;
	struct pxt_got event;
	struct producer producer;
	int events = 0;

	producer = attached(path, 5);
	producer_stand_still(&producer);
	for (int i = 0; i < 1000; i++) {
		PXT_EQ(posix_trace_start(trid), 0);
		if (i % 4 == 0)
			PXT_EQ(at_status(path, &status), 0);
		PXT_EQ(posix_trace_stop(trid), 0);
		if (i % 4 == 0)
			PXT_EQ(at_status(path, &status), 0);
	}
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(status.producers, 1);
	PXT_EQ(kill(producer.pid, SIGCONT), 0);
	pxt_sleep_ms(200);
	let_it_do_it(&producer);
	PXT_EQ(posix_trace_stop(trid), 0);
	while (pxt_next(trid, &event))
		events += event.info.posix_pid == producer.pid;
	PXT_EQ(events, 5);
	producer_kill(&producer);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/*
 * As many messages as fit are told and not heard.  Of two that attached in different states one has to be told
 * the last state later, whatever the number is: a stop, behind which nothing else wakes the helper.
 */
PXT_TEST(a_producer_that_could_not_be_told_of_the_stop_is_told_later)
{
	for (unsigned running = 0; running < 2; running++) {
		char path[PXT_CTLSOCK_PATH];
		trace_id_t trid = at_stream(LOOP, path);
		struct pxt_ctlsock_status status;
		struct producer producer;

		if (running)
			PXT_EQ(posix_trace_start(trid), 0);
		/* Behind all that it was told before. */
		producers_pause_ms = 300;
		producers_wait = true;
		producer = attached(path, 0);
		producers_wait = false;
		producers_pause_ms = 0;
		producer_stand_still(&producer);
		for (unsigned i = running; i < 600; i++) {
			PXT_EQ(i % 2 ? posix_trace_stop(trid) : posix_trace_start(trid), 0);
			PXT_EQ(at_status(path, &status), 0);
		}
		/* Nobody asks the helper anything from now on. */
		pxt_sleep_ms(50);
		PXT_EQ(kill(producer.pid, SIGCONT), 0);
		let_it_do_it(&producer);
		producer_kill(&producer);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/* All others are taken when it comes, and given back. */
static void begin_in_the_last_place(struct producer *producer, const char *path, unsigned events)
{
	int silent[AT_PLACES - 1];

	for (unsigned i = 0; i < AT_PLACES - 1; i++) {
		silent[i] = at_connect(path);
		CU_ASSERT_FATAL(silent[i] >= 0);
	}
	/* Behind what it is told of a start. */
	producers_pause_ms = 200;
	*producer = attached(path, events);
	producers_pause_ms = 0;
	for (unsigned i = 0; i < AT_PLACES - 1; i++)
		(void)close(silent[i]);
}

PXT_TEST(a_producer_in_the_last_place_is_served_as_all_others)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct pxt_got event;
	struct producer producer;
	unsigned events = 0;

	begin_in_the_last_place(&producer, path, 5);
	PXT_EQ(posix_trace_start(trid), 0);
	let_it_do_it(&producer);
	PXT_EQ(posix_trace_stop(trid), 0);
	while (pxt_next(trid, &event)) {
		if (event.info.posix_pid != producer.pid)
			continue;
		events++;
		PXT_EQ(posix_trace_eventid_get_name(trid, event.info.posix_event_id, name), 0);
		CU_ASSERT_STRING_EQUAL(name, producers_type);
	}
	PXT_EQ(events, 5);
	producer_kill(&producer);
	CU_ASSERT(at_until(nothing_mapped, NULL));
	begin_in_the_last_place(&producer, path, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(at_until(nothing_mapped, NULL));
	producer_kill(&producer);
}

/* Of address space, which all is memory where a program locks what it has. */
static unsigned long pages(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long count = 0;

	CU_ASSERT_FATAL(file != NULL);
	PXT_EQ(fscanf(file, "%lu", &count), 1);
	(void)fclose(file);
	return count;
}

/* Beside the stream's own lanes: with the helper's stack, and the lane of those who attach. */
PXT_TEST_FRESH(a_name_costs_a_stream_at_most_200_kib)
{
	const unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
	char path[PXT_CTLSOCK_PATH];
	trace_attr_t attr;
	trace_id_t plain;
	trace_id_t named;
	unsigned long before;
	unsigned long between;
	/* Where a slot is several words, the lane takes more. */
	const unsigned long limit =
	    200ul * 1024 + 65536ul / PXT_SLOT_BYTES * (sizeof(pxt_cell) - PXT_SLOT_BYTES);
	unsigned long cost;

	at_path(path);
	pxt_attr(&attr, 65536, 0, LOOP);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &plain), 0);
	PXT_EQ(posix_trace_shutdown(plain), 0);
	(void)pages();
	before = pages();
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &plain), 0);
	between = pages();
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, path), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &named), 0);
	cost = (pages() - between - (between - before)) * page;
	PXT_CHECK(PXT_SANITIZED || cost <= limit, "%lu bytes", cost);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_shutdown(plain), 0);
	PXT_EQ(posix_trace_shutdown(named), 0);
}
