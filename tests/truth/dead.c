/* SPDX-License-Identifier: MIT */
/*
 * dead.c - an unfinished record that nobody can finish any more holds nobody back: a forked process that was
 * killed inside its trace point is passed over by the next look, however long the hold-back time is.
 * That is for the living, and for those of whom nobody can say: a thread that jumped away.
 */
#include "ground.h"

#include "../beside.h"
#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/process.h"
#include "core/process/threads.h"
#include "core/testpoints.h"
#include "suite.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOLDBACK_NS UINT64_C(10000000000)
#define AT_ONCE_NS  INT64_C(5000000000) /* on a machine that has much else to do */
#define JUMPED_MS   50u
#define LEN         32u /* a slot to begin with, and four more */
#define PIECES      4u

void (*_Atomic pxt_testpoint_hook)(int point);

static trace_id_t stream;
static trace_event_id_t type;

static void open_stream(int policy, unsigned lanes)
{
	const struct st_spec spec = { .policy = policy, .size = 4096, .lanes = lanes };
	trace_attr_t attr;

	type = st_type();
	st_attr(&spec, &attr);
	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	st_expect(stream, "START");
	UNREPORTED();
	pxt_holdback_ns = HOLDBACK_NS;
	ground_register();
	ground_lane(0);
}

static void close_stream(void)
{
	struct posix_trace_counts_np counts;

	CU_ASSERT(st_law(stream, &counts));
	PXT_EQ(counts.posix_held_np, 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* ---- A child that is in its trace point ---- */

struct child {
	pid_t pid;
	int point;       /* where it is; -1: it has come to its end */
	unsigned pieces; /* slots after the begin slot that are stored */
	int to;
};

static uint32_t points_left;
static unsigned pieces;
static int to_parent;
static int from_parent;

/* Says where it is, and waits to be killed there, or to be let go. */
static void stand(int point)
{
	const int words[2] = { point, (int)pieces };
	char byte;

	if (write(to_parent, words, sizeof(words)) != (ssize_t)sizeof(words))
		_exit(2);
	while (read(from_parent, &byte, 1) < 0 && errno == EINTR)
		;
}

static void at_point(int point)
{
	if (point > PXT_TP_LEFT)
		return;
	pieces += point == PXT_TP_MIDDLE_STORED;
	if (points_left-- == 0)
		stand(point);
}

static void be_the_child(uint32_t nth)
{
	/* A first event does more. */
	ground_register();
	ground_lane(0);
	points_left = nth;
	pieces = 0;
	pxt_testpoint_hook_set(at_point);
	st_say_long(1, LEN);
	_exit(0);
}

static struct child let_one_stand(uint32_t nth)
{
	struct child child = { .point = -1 };
	int words[2];
	int down[2];
	int up[2];

	PXT_EQ_FATAL(pipe(down), 0);
	PXT_EQ_FATAL(pipe(up), 0);
	child.pid = fork();
	CU_ASSERT_FATAL(child.pid >= 0);
	if (child.pid == 0) {
		to_parent = up[1];
		from_parent = down[0];
		(void)close(down[1]);
		be_the_child(nth);
	}
	(void)close(up[1]);
	(void)close(down[0]);
	if (read(up[0], words, sizeof(words)) == (ssize_t)sizeof(words)) {
		child.point = words[0];
		child.pieces = (unsigned)words[1];
	}
	(void)close(up[0]);
	child.to = down[1];
	return child;
}

static void end(struct child *child, bool kill_it)
{
	if (kill_it)
		(void)kill(child->pid, SIGKILL);
	/* The living threads go on. */
	(void)close(child->to);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static bool is_unfinished(const struct child *child)
{
	return child->point == PXT_TP_RESERVED || child->point == PXT_TP_LOOKED ||
	       child->point == PXT_TP_BEGIN_STORED ||
	       (child->point == PXT_TP_MIDDLE_STORED && child->pieces < PIECES);
}

/* ---- The reader ---- */

struct got {
	bool any;
	int number;
	uint64_t lost_before;
};

/* What one call finds. */
static struct got look_once(void)
{
	struct posix_trace_eventextra_np extra = { 0 };
	struct st_event event;
	struct got got = { .any = st_take(stream, &event) };

	if (!got.any)
		return got;
	PXT_EQ(posix_trace_eventinfo_getextra_np(&event.info, &extra, sizeof(extra)), 0);
	PXT_EQ(event.info.posix_event_id, type);
	got.number = st_number(&event);
	got.lost_before = extra.posix_lost_before_np;
	return got;
}

static void expect_next_at_once(uint64_t lost_before, const char *where)
{
	int64_t began = pxt_now_ns();
	struct got got = look_once();

	PXT_CHECK(got.any, "%s: nothing is found", where);
	PXT_EQ(got.number, 2);
	PXT_EQ(got.lost_before, lost_before);
	PXT_CHECK(pxt_now_ns() - began < AT_ONCE_NS, "%s: waited", where);
}

/* ---- Killed ---- */

/* The first of its points at which a child has a place and has not filled it, and so on. */
static uint32_t points_before_a_place(void)
{
	uint32_t nth = 0;

	for (;; nth++) {
		struct child child = let_one_stand(nth);

		end(&child, true);
		CU_ASSERT_FATAL(child.point >= 0);
		if (child.point == PXT_TP_RESERVED)
			return nth;
	}
}

/* DEC-42, DEC-43; ruling 27 */
PXT_TEST(several_killed_ones_cost_one_look)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		struct child children[3];
		uint32_t nth;

		open_stream(LOOP, lanes);
		nth = points_before_a_place();
		while (look_once().any)
			;
		close_stream();
		open_stream(LOOP, lanes);
		/* Without a begin slot, with one, with a piece. */
		children[0] = let_one_stand(nth);
		children[1] = let_one_stand(nth + 2u);
		children[2] = let_one_stand(nth + 4u);
		st_say(2);
		for (unsigned i = 0; i < 3; i++)
			CU_ASSERT(is_unfinished(&children[i]));
		CU_ASSERT(!look_once().any);
		for (unsigned i = 0; i < 3; i++)
			end(&children[i], true);
		pxt_sleep_ms(1);
		expect_next_at_once(3, "three killed");
		close_stream();
	}
}

/* DEC-42, DEC-43; rulings 12, 27 */
PXT_TEST(a_living_writer_at_the_same_points_is_waited_for)
{
	for (uint32_t nth = 0;; nth++) {
		struct child child;
		struct got got;

		open_stream(LOOP, 1);
		child = let_one_stand(nth);
		st_say(2);
		if (is_unfinished(&child)) {
			CU_ASSERT(!look_once().any);
			pxt_sleep_ms(2);
			CU_ASSERT(!look_once().any);
		}
		end(&child, false);
		/* It has gone on, and nothing is lost. */
		got = look_once();
		CU_ASSERT(got.any && got.lost_before == 0);
		got = look_once();
		CU_ASSERT(got.any && got.lost_before == 0);
		close_stream();
		if (child.point < 0)
			break;
	}
}

/* ---- Jumped ---- */

static sigjmp_buf way_out;

static void jump(int point)
{
	if (point != PXT_TP_BEGIN_STORED)
		return;
	pxt_testpoint_hook_set(NULL);
	siglongjmp(way_out, 1);
}

static void jump_out_of_a_trace_point(void)
{
	pxt_testpoint_hook_set(jump);
	if (sigsetjmp(way_out, 1) == 0)
		st_say_long(1, LEN);
}

/*
 * DEC-42; rulings 12, 27: it lives, and its trace point looks as if it were inside for ever; so nobody can
 * say, and the hold-back time decides.
 */
PXT_TEST_FRESH(a_thread_that_jumped_away_costs_the_hold_back_time)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		int64_t began;
		struct got got;

		open_stream(LOOP, lanes);
		pxt_holdback_ns = JUMPED_MS * UINT64_C(1000000);
		jump_out_of_a_trace_point();
		st_say(2);
		began = pxt_now_ns();
		for (got = look_once(); !got.any; got = look_once())
			pxt_sleep_ms(1);
		PXT_EQ(got.number, 2);
		PXT_EQ(got.lost_before, 1);
		CU_ASSERT(pxt_now_ns() - began >= JUMPED_MS * INT64_C(1000000));
		CU_ASSERT(pxt_now_ns() - began < AT_ONCE_NS);
		close_stream();
	}
}
