/* SPDX-License-Identifier: MIT */
/*
 * points.c - a writer's process is killed at each test point of its write, on every ground; with
 * and without something else happening while it was there.  The others go on: reader,
 * control calls, writers of this process and of others.
 */
#include "core/deeds.h"
#include "core/process/threads.h"
#include "core/stream/wanted.h"
#include "core/testpoints.h"
#include "heir.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t entry;

static void nothing(void *argument)
{
}

struct writer {
	const volatile uint32_t *cpu;
	uint32_t nth;
};

static void be_the_writer(const void *argument)
{
	const struct writer *writer = argument;

	heir_begin(entry);
	pxt_self.cpu = writer->cpu;
	stand_at(writer->nth);
	kit_write(OUTER, deed_ground->len);
}

/* A child is at the @nth point of its write; -1: it has no such point and has ended. */
static int let_one_stand(uint32_t nth, pid_t *child)
{
	const struct writer writer = { pxt_self.cpu, nth };
	int point;

	heir_note();
	point = stand_fork(be_the_writer, &writer, child);
	kit_seen.sent[OUTER]++;
	return point;
}

static void wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
}

/* Two more events, by another child that lives. */
static void another_writes(void)
{
	const volatile uint32_t *cpu = pxt_self.cpu;
	pid_t child;

	heir_note();
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0) {
		heir_begin(entry + 1);
		pxt_self.cpu = cpu;
		kit_write(SPARE, 30);
		kit_write(SPARE, 4);
		_exit(0);
	}
	wait_for(child);
	kit_seen.sent[SPARE] += 2;
}

/* A record that was stored whole is read, also when its writer has died since. */
static void expect_what_was_committed(const struct deed_case *what)
{
	/* Where stamps are not plain, "left" is also the way from the short path to the careful one. */
	bool short_path = atomic_load(&pxt_fork.hot) != PXT_NO_HOT;
	bool whole = what->point == PXT_TP_STORED || (what->point == PXT_TP_LEFT && short_path);

	if (!whole || what->deed->effect & ~(unsigned)(DIES | WAITS) || !deed_stream)
		return;
	if (deed_ground->policy == LOOP && !(deed_ground->kind & TWO) &&
	    deed_ground->fill != LAPPED)
		PXT_EQ(kit_missing(OUTER, 1, 1), 0);
}

static bool one_case(const struct deed *deed, uint32_t nth)
{
	struct deed dies = *deed;
	struct deed_case what = { .deed = &dies, .inner = -1 };
	pid_t child;

	dies.effect |= DIES;
	deed_begin(deed_ground);
	what.point = let_one_stand(nth, &child);
	if (what.point >= 0) {
		deed->run(NULL);
		(void)kill(child, SIGKILL);
		wait_for(child);
		if (deed->run == nothing && deed_ground->policy == LOOP)
			another_writes();
		deed_verdict(&what);
		expect_what_was_committed(&what);
	} else {
		wait_for(child);
	}
	deed_end();
	heir_bury(entry);
	return what.point >= 0;
}

static void begin_at(const struct ground *ground)
{
	if (!entry) {
		const struct kit_spec spec = { .policy = LOOP };
		trace_id_t first = kit_open(&spec);

		entry = heir_entries(2);
		PXT_EQ(posix_trace_shutdown(first), 0);
	}
	deed_ground = ground;
}

static void killed_on(const struct ground *ground)
{
	static const struct deed kill_only = { "killed", nothing, 0, 0, 1 };

	begin_at(ground);
	deed_at_all_points(&kill_only, one_case);
}

static void killed_meanwhile_on(const struct ground *ground)
{
	begin_at(ground);
	deed_all_on(ground, DIES, one_case);
}

/* DEC-42; rulings 7, 12, 20 */
PXT_TEST(a_process_killed_inside_a_write_that_overwrites_costs_one_record)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		killed_on(&(const struct ground){ LOOP, lanes, 1024, 4, FRESH, 0, 0 });
		killed_on(&(const struct ground){ LOOP, lanes, 1024, 30, SOME, 0, 0 });
		killed_on(&(const struct ground){ LOOP, lanes, 4096, 64, LAPPED, 0, 0 });
		killed_on(&(const struct ground){ LOOP, lanes, 1024, 4, LAPPED, 0, 0 });
		killed_on(&(const struct ground){ LOOP, lanes, 1024, 30, EDGE, 0, 0 });
	}
}

/* POL-03, POL-06, POL-07, DEC-42; rulings 7, 12, 14, 20 */
PXT_TEST(a_process_killed_inside_a_write_that_fills_costs_one_record)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		killed_on(&(const struct ground){ FULL, lanes, 1024, 4, FRESH, 0, 0 });
		killed_on(&(const struct ground){ FULL, lanes, 4096, 30, SOME, 0, 0 });
		for (int more = -1; more <= 2; more++)
			killed_on(&(const struct ground){ FULL, lanes, 1024, 30, FREE, more, 0 });
		killed_on(&(const struct ground){ FULL, lanes, 1024, 30, EDGE, 0, 0 });
	}
}

/* EVENT-10, DEC-42; rulings 7, 20 */
PXT_TEST(a_process_killed_inside_a_write_into_two_streams_costs_one_record_in_each)
{
	killed_on(&(const struct ground){ LOOP, 2, 1024, 30, SOME, 0, TWO });
	killed_on(&(const struct ground){ FULL, 1, 1024, 4, FREE, 0, TWO });
}

/* POL-05, POL-12, SAFE-01, DEC-42; rulings 7, 12, 20, 23 */
PXT_TEST(whatever_happened_while_the_killed_one_stood_there_the_books_balance)
{
	killed_meanwhile_on(&(const struct ground){ LOOP, 1, 1024, 4, SOME, 0, 0 });
	killed_meanwhile_on(&(const struct ground){ LOOP, 2, 1024, 30, LAPPED, 0, 0 });
	killed_meanwhile_on(&(const struct ground){ FULL, 1, 1024, 30, FREE, 0, 0 });
	killed_meanwhile_on(&(const struct ground){ FULL, 2, 4096, 30, SOME, 0, 0 });
}
