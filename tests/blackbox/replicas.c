/* SPDX-License-Identifier: MIT */
/*
 * replicas.c - threads that enter themselves while a stream's file comes or goes: none is missing in
 * it, and none writes into memory that was given back.
 */
#define _GNU_SOURCE
#include "beside.h"
#include "core/kit.h"
#include "core/process/names.h"
#include "core/process/process.h"
#include "core/process/threads.h"
#include "core/testpoints.h"
#include "logs.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if CONFIG_PTRACE_ATTACH
#include "attach/intake.h"
#endif

static const struct kit_spec spec = { .policy = LOOP, .lanes = 1, .bytes = 1024 };

static trace_id_t open_boxed(int *fd)
{
	trace_id_t trid;

	*fd = memfd_create("box", 0);
	kit_file = *fd;
	trid = kit_open(&spec);
	kit_file = -1;
	return trid;
}

/* ---- A thread that is while it enters itself ---- */

static struct {
	pthread_t thread;
	sem_t there;
	sem_t go_on;
	int point;
	uint32_t index;
} newcomer;
static _Thread_local bool stops_here;

static void stand_there(int point)
{
	if (!stops_here || point != newcomer.point)
		return;
	stops_here = false;
	(void)sem_post(&newcomer.there);
	semwait(&newcomer.go_on);
}

static void *enter(void *argument)
{
	stops_here = true;
	/* Wanted or not: a trace point enters the thread first. */
	posix_trace_event(kit_type(), "abcd", 4);
	if (pxt_self.epoch != pxt_fork_epoch())
		(void)pxt_threads_register();
	newcomer.index = pxt_self.index;
	if (stops_here)
		(void)sem_post(&newcomer.there);
	stops_here = false;
	return NULL;
}

static void let_one_come(void *(*body)(void *))
{
	PXT_EQ_FATAL(sem_init(&newcomer.there, 0, 0), 0);
	PXT_EQ_FATAL(sem_init(&newcomer.go_on, 0, 0), 0);
	PXT_EQ_FATAL(pthread_create(&newcomer.thread, NULL, body, NULL), 0);
	semwait(&newcomer.there);
}

static void let_one_stand(int point)
{
	newcomer.point = point;
	pxt_testpoint_hook_set(stand_there);
	let_one_come(enter);
}

static void let_it_go(void)
{
	(void)sem_post(&newcomer.go_on);
	(void)pthread_join(newcomer.thread, NULL);
	pxt_testpoint_hook_set(NULL);
}

/* SHUT-07, DEC-42; ruling 12 */
PXT_TEST(a_file_stays_mapped_while_a_thread_enters_itself_there)
{
	static const int points[] = { PXT_TP_REPLICA_ENTERED, PXT_TP_REPLICA_THREAD };

	for (unsigned i = 0; i < 2; i++) {
		int fd;
		trace_id_t trid = open_boxed(&fd);
		void *memory = box_memory(trid);

		let_one_stand(points[i]);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		CU_ASSERT(!guard_freed(memory));
		let_it_go();
		PXT_EQ(posix_trace_shutdown(kit_open(&spec)), 0);
		CU_ASSERT(guard_freed(memory));
		(void)close(fd);
	}
}

/* It looks for replicas after the shutdown, and finds none. */
PXT_TEST(a_thread_that_comes_after_the_shutdown_touches_nothing)
{
	int fd;
	trace_id_t trid = open_boxed(&fd);
	trace_id_t other;
	int other_fd;
	void *memory = box_memory(trid);

	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(guard_freed(memory));
	other = open_boxed(&other_fd);
	let_one_stand(-1);
	let_it_go();
	PXT_EQ(posix_trace_shutdown(other), 0);
	(void)close(fd);
	(void)close(other_fd);
}

static bool has_thread(int fd, uint32_t index)
{
	struct box box;
	bool has;

	CU_ASSERT_FATAL(box_open(&box, fd));
	has = box_threads(&box) >= index &&
	      pxt_wide_load((pxt_wide *)(uintptr_t)&box_thread(&box, index)->thread) != 0 &&
	      box_thread(&box, index)->pid == getpid();
	box_close(&box);
	return has;
}

/* ---- Create in the middle of it ---- */

static int made_fd;
static trace_id_t made;
static int create_at;

static void create_there(int point)
{
	if (point != create_at)
		return;
	pxt_testpoint_hook_set(NULL);
	made = open_boxed(&made_fd);
}

static void *enter_and_create(void *argument)
{
	pxt_testpoint_hook_set(create_there);
	(void)pxt_threads_register();
	pxt_testpoint_hook_set(NULL);
	newcomer.index = pxt_self.index;
	return NULL;
}

PXT_TEST(a_thread_that_enters_itself_while_a_file_comes_is_in_it)
{
	static const int points[] = { PXT_TP_REPLICA_ENTERED, PXT_TP_REPLICA_THREAD };

	for (unsigned i = 0; i < 2; i++) {
		int fd;
		trace_id_t trid = open_boxed(&fd);
		pthread_t thread;

		made = 0;
		create_at = points[i];
		PXT_EQ_FATAL(pthread_create(&thread, NULL, enter_and_create, NULL), 0);
		(void)pthread_join(thread, NULL);
		CU_ASSERT_FATAL(made != 0);
		CU_ASSERT(has_thread(fd, newcomer.index));
		CU_ASSERT(has_thread(made_fd, newcomer.index));
		PXT_EQ(posix_trace_shutdown(trid), 0);
		PXT_EQ(posix_trace_shutdown(made), 0);
		(void)close(fd);
		(void)close(made_fd);
	}
}

PXT_TEST(a_thread_that_was_there_before_is_in_a_new_file)
{
	int fds[2];
	trace_id_t first = open_boxed(&fds[0]);
	trace_id_t second;

	if (pxt_self.epoch != pxt_fork_epoch())
		(void)pxt_threads_register();
	second = open_boxed(&fds[1]);
	CU_ASSERT(has_thread(fds[1], pxt_self.index));
	PXT_EQ(posix_trace_shutdown(first), 0);
	PXT_EQ(posix_trace_shutdown(second), 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

/* ---- All at once ---- */

#define ENTERING 8u
static atomic_bool over;
static atomic_uint entered;

static void *enter_once(void *argument)
{
	posix_trace_event(kit_type(), "abcd", 4);
	if (pxt_self.epoch != pxt_fork_epoch())
		(void)pxt_threads_register();
	atomic_fetch_add(&entered, 1);
	return NULL;
}

static void *come_and_go(void *argument)
{
	while (!atomic_load(&over)) {
		trace_attr_t attr;
		trace_id_t trid;
		int fd = memfd_create("box", 0);

		if (posix_trace_attr_init(&attr) || posix_trace_attr_setlanes_np(&attr, 1) ||
		    posix_trace_attr_setstreamsize(&attr, 1024) ||
		    posix_trace_attr_setfile_np(&attr, fd) || posix_trace_create(0, &attr, &trid))
			abort();
		(void)posix_trace_start(trid);
		(void)posix_trace_shutdown(trid);
		(void)close(fd);
	}
	return NULL;
}

/* Streams come and go in files beside threads that enter themselves; one file sees them all. */
PXT_TEST(no_thread_is_missing_in_a_file_that_stays)
{
	int fd;
	trace_id_t trid = open_boxed(&fd);
	pthread_t beside;
	struct box box;
	uint32_t count;

	over = false;
	entered = 0;
	PXT_EQ_FATAL(pthread_create(&beside, NULL, come_and_go, NULL), 0);
	for (unsigned round = 0; round < 40; round++) {
		pthread_t threads[ENTERING];

		for (unsigned i = 0; i < ENTERING; i++)
			PXT_EQ_FATAL(pthread_create(&threads[i], NULL, enter_once, NULL), 0);
		for (unsigned i = 0; i < ENTERING; i++)
			(void)pthread_join(threads[i], NULL);
	}
	atomic_store(&over, true);
	(void)pthread_join(beside, NULL);
	PXT_EQ(atomic_load(&entered), 40 * ENTERING);
	count = atomic_load(&pxt_threads->count);
	CU_ASSERT_FATAL(box_open(&box, fd));
	PXT_EQ(box_threads(&box), count);
	for (uint32_t i = 1; i <= count; i++)
		PXT_EQ(box_thread(&box, i)->pid, getpid());
	box_close(&box);
	PXT_EQ(pxt_threads_outside_count(&pxt_unregistered), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

/* ---- Names ---- */

static uint32_t names_before;
static unsigned points_seen;

static void look_from_beside(int point)
{
	points_seen++;
	if (point == PXT_TP_REPLICA_NAME || point == PXT_TP_REPLICA_NAMED)
		PXT_EQ(pxt_names_count(), names_before);
	if (point == PXT_TP_REPLICA_FORMAT || point == PXT_TP_REPLICA_FORMATTED)
		CU_ASSERT_STRING_EQUAL(pxt_names_format(PXT_ID_USER_FIRST + names_before), "");
}

/* Else another thread might write an event of it, and the process be killed. */
PXT_TEST(nobody_finds_a_name_that_is_not_in_the_file)
{
	int fd;
	trace_id_t trid = open_boxed(&fd);
	trace_event_id_t id;

	names_before = pxt_names_count();
	points_seen = 0;
	pxt_testpoint_hook_set(look_from_beside);
	PXT_EQ(posix_trace_eventid_open("found by others", &id), 0);
	PXT_EQ(posix_trace_eventid_setformat_np(id, "u32 word"), 0);
	pxt_testpoint_hook_set(NULL);
	CU_ASSERT(points_seen >= 4);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

/* A name that a thread gives itself later is there, too. */
PXT_TEST(a_registered_threads_name_is_in_every_file)
{
	int fd;
	trace_id_t trid = open_boxed(&fd);
	struct box box;

	PXT_EQ(pthread_setname_np(pthread_self(), "captain"), 0);
	PXT_EQ(posix_trace_thread_register_np(), 0);
	CU_ASSERT_FATAL(box_open(&box, fd));
	CU_ASSERT_STRING_EQUAL(box_thread(&box, pxt_self.index)->name, "captain");
	PXT_EQ(box_thread(&box, pxt_self.index)->tid, gettid());
	box_close(&box);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

static void *be_the_first_mate(void *argument)
{
	(void)pthread_setname_np(pthread_self(), "first mate");
	(void)posix_trace_thread_register_np();
	newcomer.index = pxt_self.index;
	(void)sem_post(&newcomer.there);
	semwait(&newcomer.go_on);
	return NULL;
}

/* Not of the thread that makes the file, which says its name once more then. */
PXT_TEST(a_thread_that_was_there_before_has_its_name_in_a_new_file)
{
	trace_id_t trid;
	struct box box;
	int fd;

	let_one_come(be_the_first_mate);
	trid = open_boxed(&fd);
	CU_ASSERT_FATAL(box_open(&box, fd));
	CU_ASSERT_STRING_EQUAL(box_thread(&box, newcomer.index)->name, "first mate");
	CU_ASSERT(box_thread(&box, newcomer.index)->tid != 0);
	box_close(&box);
	let_it_go();
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

#if CONFIG_PTRACE_ATTACH
/* The events of another process, too, are in the file with the thread that wrote them. */
PXT_TEST(a_thread_of_an_attached_process_is_in_every_file)
{
	int fd;
	trace_id_t trid = open_boxed(&fd);
	const struct pxt_thread *thread;
	struct box box;
	uint32_t index = pxt_intake_put_thread(4711, 4712, 0x1234, "elsewhere");

	CU_ASSERT_FATAL(index != PXT_THREAD_EXTRA);
	CU_ASSERT_FATAL(box_open(&box, fd));
	PXT_EQ(box_threads(&box), index);
	thread = box_thread(&box, index);
	PXT_EQ(thread->pid, 4711);
	PXT_EQ(thread->tid, 4712);
	PXT_EQ(pxt_wide_load((pxt_wide *)(uintptr_t)&thread->thread), 0x1234);
	CU_ASSERT_STRING_EQUAL(thread->name, "elsewhere");
	box_close(&box);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}
#endif
