/* SPDX-License-Identifier: MIT */
/*
 * leaving.c - the memory of a stream that was shut down: not given back while anybody is inside a
 * trace point who may still touch it, and given back when nobody is.
 */
#define _GNU_SOURCE 1 /* mincore() */
#include "beside.h"
#include "kit.h"

#include "core/process/process.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

static trace_id_t stream;
static struct pxt_block *gone; /* the block of the stream that was shut down last */

static const struct kit_spec specs[] = {
	{ .policy = LOOP, .lanes = 1, .bytes = 1024 },
	{ .policy = LOOP, .lanes = 2, .bytes = 1024 },
	{ .policy = FULL, .lanes = 1, .bytes = 1024 },
	{ .policy = FULL, .lanes = 2, .bytes = 1024 },
};
#define SPECS (sizeof(specs) / sizeof(specs[0]))

static void open_started(const struct kit_spec *spec)
{
	stream = kit_open(spec);
	kit_start(stream);
}

static void shut_down(void)
{
	gone = kit_block(stream);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* One more stream comes and goes: what was kept is given back, if it can be. */
static void another_shutdown(void)
{
	struct pxt_block *before = gone;

	open_started(&specs[0]);
	shut_down();
	CU_ASSERT(guard_freed(gone));
	gone = before;
}

/* ---- By the writer itself ---- */

static void shut_down_from_inside(void *argument)
{
	shut_down();
	/* After its last point the writer is outside already. */
	if (kit_interrupted() != PXT_TP_LEFT)
		CU_ASSERT(!guard_freed(gone));
}

static uint32_t inner_point;

static void write_and_shut_down(void *argument)
{
	kit_interrupt(inner_point, KIT_WRITER_POINTS, shut_down_from_inside, NULL);
	kit_write(2, 30);
	(void)kit_interrupted();
}

static bool write_interrupted(uint32_t nth, void (*run)(void *))
{
	kit_interrupt(nth, KIT_WRITER_POINTS, run, NULL);
	kit_write(1, 30);
	return kit_interrupted() >= 0;
}

/* SHUT-07, DEC-42; ruling 12 */
PXT_TEST(a_stream_shut_down_inside_a_write_into_it_stays_until_the_write_is_over)
{
	for (size_t i = 0; i < SPECS; i++) {
		for (uint32_t nth = 0;; nth++) {
			gone = NULL;
			open_started(&specs[i]);
			if (!write_interrupted(nth, shut_down_from_inside))
				break;
			another_shutdown();
			CU_ASSERT(guard_freed(gone));
		}
		shut_down();
	}
}

/* SHUT-07, DEC-42; ruling 12 */
PXT_TEST(it_stays_until_the_outermost_of_nested_writes_is_over)
{
	for (size_t i = 0; i < SPECS; i++) {
		for (inner_point = 0; inner_point < 8; inner_point++) {
			for (uint32_t nth = 0;; nth++) {
				gone = NULL;
				open_started(&specs[i]);
				if (!write_interrupted(nth, write_and_shut_down))
					break;
				CU_ASSERT_FATAL(gone != NULL);
				another_shutdown();
				CU_ASSERT(guard_freed(gone));
			}
			shut_down();
		}
	}
}

/* More than there are places for memory that must be kept. */
#define MANY (CONFIG_PTRACE_MAX_STREAMS + 3u)
static struct pxt_block *many[MANY];

static void shut_down_many(void *argument)
{
	shut_down();
	for (unsigned i = 0; i < MANY; i++) {
		open_started(&specs[i % SPECS]);
		kit_write(2, 4);
		shut_down();
		many[i] = gone;
	}
	for (unsigned i = 0; i < MANY; i++)
		CU_ASSERT(!guard_freed(many[i]));
}

/* SHUT-07; ruling 12: however many there are */
PXT_TEST(all_that_was_kept_is_given_back)
{
	unsigned freed = 0;

	open_started(&specs[1]);
	CU_ASSERT(write_interrupted(5, shut_down_many));
	another_shutdown();
	for (unsigned i = 0; i < MANY; i++)
		freed += guard_freed(many[i]);
	PXT_EQ(freed, MANY);
}

/* Pages of @memory that are there, after the first one. */
static size_t resident(void *memory, size_t bytes)
{
	unsigned char pages[64] = { 0 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t count = bytes / page - 1;
	size_t found = 0;

	CU_ASSERT_FATAL(count <= sizeof(pages));
	PXT_EQ(mincore((unsigned char *)memory + page, count * page, pages), 0);
	for (size_t i = 0; i < count; i++)
		found += pages[i] & 1u;
	return found;
}

#define LARGE 131072u

static void shut_down_large(void *argument)
{
	shut_down();
	/* After its last point the writer is outside already. */
	if (!guard_freed(gone))
		PXT_EQ(resident(gone, LARGE), 0);
}

/* SHUT-07; ruling 12: the addresses are the late writer's, not the memory */
PXT_TEST(what_is_kept_costs_a_page)
{
	static const struct kit_spec large[] = {
		{ .policy = LOOP, .lanes = 1, .bytes = LARGE },
		{ .policy = FULL, .lanes = 2, .bytes = LARGE },
	};

	for (size_t i = 0; i < 2; i++) {
		for (uint32_t nth = 0;; nth++) {
			open_started(&large[i]);
			kit_write(1, 30);
			if (!write_interrupted(nth, shut_down_large))
				break;
			another_shutdown();
			CU_ASSERT(guard_freed(gone));
		}
		shut_down();
	}
}

/* SHUT-07; ruling 12 */
PXT_TEST(what_was_kept_is_given_back_by_the_next_create)
{
	struct pxt_block *first;

	gone = NULL;
	open_started(&specs[1]);
	CU_ASSERT(write_interrupted(2, shut_down_from_inside));
	first = gone;
	CU_ASSERT(!guard_freed(first));
	open_started(&specs[0]);
	CU_ASSERT(guard_freed(first));
	shut_down();
}

/* ---- By a thread that found no place in the thread table ---- */

static void open_unregistered(const struct kit_spec *spec)
{
	open_started(spec);
	kit_lose_place();
}

/* A thread that waits sees them at any time: one comes before the other one goes. */
static struct pxt_pass relay[2];
static unsigned relayed;
static bool relaying;

void __real_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns);

void __wrap_pxt_port_pause_ns(uint64_t ns)
{
	if (relaying) {
		relayed++;
		CU_ASSERT(pxt_enter(&relay[relayed & 1u]));
		pxt_leave(&relay[~relayed & 1u]);
	}
	__real_pxt_port_pause_ns(ns);
}

/* SHUT-07; ruling 12 */
PXT_TEST(threads_without_a_place_that_come_and_go_keep_no_memory)
{
	for (size_t i = 0; i < SPECS; i++) {
		open_unregistered(&specs[i]);
		relayed = 0;
		CU_ASSERT(pxt_enter(&relay[0]));
		/* On a busy machine one pause lasts longer than the kit's. */
		pxt_holdback_ns = 1000000000u;
		relaying = true;
		shut_down();
		relaying = false;
		CU_ASSERT(relayed != 0);
		CU_ASSERT(guard_freed(gone));
		pxt_leave(&relay[relayed & 1u]);
		PXT_EQ(pxt_threads_outside_count(&pxt_unregistered), 0);
		kit_regain_place();
	}
}

/* SHUT-07; ruling 12: who came after the shutdown cannot be in its stream */
PXT_TEST(a_thread_without_a_place_that_came_later_keeps_no_memory)
{
	struct pxt_block *first;

	open_unregistered(&specs[1]);
	CU_ASSERT(pxt_enter(&relay[0]));
	shut_down();
	first = gone;
	CU_ASSERT(!guard_freed(first));
	CU_ASSERT(pxt_enter(&relay[1]));
	open_started(&specs[0]);
	CU_ASSERT(!guard_freed(first));
	pxt_leave(&relay[0]);
	shut_down();
	CU_ASSERT(guard_freed(first));
	pxt_leave(&relay[1]);
	kit_regain_place();
	another_shutdown();
}

/* SHUT-07, DEC-42; ruling 12 */
PXT_TEST(threads_without_a_place_in_the_table_are_waited_for_as_well)
{
	for (size_t i = 0; i < SPECS; i++) {
		for (uint32_t nth = 0;; nth++) {
			bool hit;

			gone = NULL;
			open_unregistered(&specs[i]);
			hit = write_interrupted(nth, shut_down_from_inside);
			PXT_EQ(pxt_threads_outside_count(&pxt_unregistered), 0);
			if (hit) {
				another_shutdown();
				CU_ASSERT(guard_freed(gone));
			} else {
				shut_down();
			}
			kit_regain_place();
			if (!hit)
				break;
		}
	}
}

/* ---- By another thread ---- */

static struct {
	pthread_t thread;
	sem_t there; /* the writer is at its point */
	sem_t go_on;
	uint32_t nth;
	bool unregistered;
	const volatile uint32_t *cpu;
} writer;
static _Thread_local bool stops_here;

static void stop_at_the_point(int point)
{
	/* Where it is outside (on its way from the fast path to the slow one) it stays not. */
	if (!stops_here || point == PXT_TP_LEFT || !(KIT_WRITER_POINTS >> point & 1u) ||
	    writer.nth--)
		return;
	stops_here = false;
	(void)sem_post(&writer.there);
	semwait(&writer.go_on);
}

static void *write_once(void *argument)
{
	static const unsigned char data[30];

	PXT_EQ(posix_trace_thread_register_np(), 0);
	pxt_self.cpu = writer.cpu;
	if (writer.unregistered)
		kit_lose_place();
	stops_here = true;
	posix_trace_event(kit_type(), data, sizeof(data));
	if (stops_here)
		(void)sem_post(&writer.there);
	stops_here = false;
	return NULL;
}

/* A thread is at the @nth point of a write. */
static void let_one_stand(uint32_t nth, bool unregistered)
{
	writer.nth = nth;
	writer.unregistered = unregistered;
	writer.cpu = pxt_self.cpu;
	PXT_EQ_FATAL(sem_init(&writer.there, 0, 0), 0);
	PXT_EQ_FATAL(sem_init(&writer.go_on, 0, 0), 0);
	pxt_testpoint_hook_set(stop_at_the_point);
	PXT_EQ_FATAL(pthread_create(&writer.thread, NULL, write_once, NULL), 0);
	semwait(&writer.there);
}

static void let_it_go(void)
{
	(void)sem_post(&writer.go_on);
	(void)pthread_join(writer.thread, NULL);
	pxt_testpoint_hook_set(NULL);
}

/* A few of the points, so that the threads find places in the table. */
#define STANDS 5u

/* SHUT-07, DEC-42; ruling 12 */
PXT_TEST(a_stream_stays_as_long_as_another_thread_stands_inside)
{
	for (size_t i = 0; i < SPECS; i++) {
		for (uint32_t nth = 0; nth < STANDS; nth++) {
			for (int unregistered = 0; unregistered < 2; unregistered++) {
				struct pxt_block *first;

				open_started(&specs[i]);
				let_one_stand(nth, unregistered);
				shut_down();
				first = gone;
				CU_ASSERT(!guard_freed(first));
				/* Nor does the end of other streams help. */
				open_started(&specs[1]);
				shut_down();
				CU_ASSERT(!guard_freed(first));
				CU_ASSERT(!guard_freed(gone));
				let_it_go();
				another_shutdown();
				CU_ASSERT(guard_freed(first));
				CU_ASSERT(guard_freed(gone));
			}
		}
	}
}

/* SHUT-07; ruling 12: left once, inside once more: what is kept now waits for the second time */
PXT_TEST(memory_kept_twice_waits_for_the_second_time)
{
	struct pxt_block *first;

	open_started(&specs[0]);
	let_one_stand(4, false);
	shut_down();
	first = gone;
	let_it_go();
	open_started(&specs[1]);
	let_one_stand(4, false);
	shut_down();
	CU_ASSERT(!guard_freed(gone));
	let_it_go();
	another_shutdown();
	CU_ASSERT(guard_freed(first));
	CU_ASSERT(guard_freed(gone));
}

static int begin_and_end_a_stream(void *argument)
{
	pxt_testpoint_hook_set(NULL);
	open_started(&specs[0]);
	shut_down();
	PXT_CHILD_CHECK(guard_freed(gone));
	/* What the parent kept is not there: the child's own stream may have lain in its place. */
	PXT_CHILD_CHECK(guard_times_freed(argument) == (gone == argument));
	return 0;
}

/* DEC-34; ruling 12: in the child something else may lie there by now. */
PXT_TEST(a_child_gives_back_nothing_that_its_parent_kept)
{
	open_started(&specs[0]);
	let_one_stand(0, false);
	shut_down();
	CU_ASSERT(!guard_freed(gone));
	PXT_EQ(pxt_in_child(begin_and_end_a_stream, gone), 0);
	let_it_go();
}
