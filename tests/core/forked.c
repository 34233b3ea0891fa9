/* SPDX-License-Identifier: MIT */
/*
 * forked.c - a handler that interrupted a trace point forks, and returns in the child as well: the
 * child goes on in the middle of a trace point of its parent's.
 */
#define _GNU_SOURCE
#include "core/process/forked.h"
#include "core/process/process.h"
#include "kit.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind {
	IN_MEMORY,
	IN_A_FILE,
	INHERITED,
	INHERITED_FILE,
	KINDS,
};

static const struct kit_spec specs[] = {
	{ .policy = POSIX_TRACE_LOOP, .lanes = 1 },
	{ .policy = POSIX_TRACE_LOOP, .lanes = 2 },
	{ .policy = POSIX_TRACE_UNTIL_FULL, .lanes = 1 },
	{ .policy = POSIX_TRACE_UNTIL_FULL, .lanes = 2 },
};
#define SPECS (sizeof(specs) / sizeof(specs[0]))

/* What the child does before its handler returns. */
enum child_action {
	NOTHING,
	TRACES,
	MAKES_A_STREAM,
	FORKS_AGAIN,
	FORKS_INSIDE_AGAIN,
	CHILD_ACTIONS,
};

static enum child_action child_action;
/* FORKS_INSIDE_AGAIN: at this point of the handler's own trace point, which has fewer than ... */
static uint32_t inner;
#define INNER_POINTS 10u
static unsigned generation;
static int status;
static trace_id_t own;
static bool shares;

/* ---- Events: a letter says whose they are ---- */

static void emit(char letter, size_t len)
{
	char data[128];

	memset(data, letter, sizeof(data));
	posix_trace_event(kit_type(), data, len);
}

struct got {
	unsigned events; /* whole, of this letter */
	unsigned strange;
};

/* Takes all there is; @pid: who recorded those of @letter (0: anybody). */
static struct got take(trace_id_t trid, char letter, pid_t pid)
{
	struct got got = { 0 };
	struct posix_trace_event_info info;
	unsigned char data[128];
	int none = 0;
	size_t bytes;

	while (posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &bytes, &none) == 0 &&
	       !none) {
		bool same = bytes != 0;

		if (info.posix_event_id != kit_type())
			continue;
		for (size_t i = 1; i < bytes; i++)
			same &= data[i] == data[0];
		if (same && data[0] == letter && (!pid || info.posix_pid == pid))
			got.events++;
		else
			got.strange++;
	}
	return got;
}

static trace_id_t make(enum kind kind, const struct kit_spec *spec)
{
	int file = kind == IN_A_FILE || kind == INHERITED_FILE
	               ? memfd_create("forked", MFD_CLOEXEC | MFD_ALLOW_SEALING)
	               : -1;
	trace_attr_t attr;
	trace_id_t trid = 0;

	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamfullpolicy(&attr, spec->policy), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamsize(&attr, 65536), 0);
	PXT_EQ_FATAL(posix_trace_attr_setlanes_np(&attr, spec->lanes), 0);
	PXT_EQ_FATAL(posix_trace_attr_setfile_np(&attr, file), 0);
	if (kind == INHERITED || kind == INHERITED_FILE)
		PXT_EQ_FATAL(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ_FATAL(posix_trace_start(trid), 0);
	if (file >= 0)
		(void)close(file);
	return trid;
}

/* ---- Child ---- */

static bool inside(void)
{
	if (pxt_self.entry == &pxt_no_entry)
		return pxt_self.depth != 0;
	return (atomic_load(&pxt_self.entry->passes) & 1u) != 0;
}

static void fork_here(void *argument);

static void in_the_handler(void)
{
	/* A thread that takes memory away waits for the trace point. */
	if (child_action == TRACES && pxt_self.behind && pxt_threads &&
	    pxt_self.entry != &pxt_no_entry &&
	    (pxt_threads_none_inside(PXT_OWN) || pxt_threads_wait_left(0, PXT_OWN)))
		_exit(9);
	if (child_action == TRACES || child_action == FORKS_AGAIN) {
		emit('h', 4);
		emit('h', 40);
	}
	if (child_action == MAKES_A_STREAM) {
		own = make(IN_MEMORY, &specs[1]);
		emit('o', 4);
	}
	if (generation == 1 && child_action == FORKS_AGAIN)
		fork_here(NULL);
	if (generation == 1 && child_action == FORKS_INSIDE_AGAIN) {
		kit_interrupt(inner, KIT_WRITER_POINTS, fork_here, NULL);
		emit('h', 30);
		/* If it had no such point: what is gone back to has points, too, and is not meant. */
		(void)kit_interrupted();
	}
}

static void fork_here(void *argument)
{
	uint32_t before = atomic_load(&pxt_self.entry->passes);
	pid_t child = fork();

	if (child == 0) {
		generation++;
		in_the_handler();
		return;
	}
	if (waitpid(child, &status, 0) != child)
		status = -1;
	if (generation && status)
		_exit(7);
	/* The child has left its trace point; this thread is where it was. */
	if (atomic_load(&pxt_self.entry->passes) != before)
		status = -2;
}

/* After the trace point that was interrupted. */
static int go_on_as_child(void)
{
	struct posix_trace_counts_np counts;

	if (inside())
		return 2;
	emit('a', 4);
	if (!own)
		own = make(IN_MEMORY, &specs[0]);
	emit('o', 30);
	if (pxt_self.behind || pxt_self.epoch != pxt_fork.epoch || inside())
		return 3;
	if (take(own, 'o', getpid()).events != (child_action == MAKES_A_STREAM ? 2u : 1u))
		return 4;
	if (posix_trace_getcounts_np(own, &counts, sizeof(counts)) != 0 ||
	    counts.posix_lost_np != 0)
		return 5;
	/* Nobody is waited for. */
	pxt_holdback_ns = UINT64_C(100000000000);
	return posix_trace_shutdown(own) == 0 && !inside() ? 0 : 6;
}

/* ---- Parent ---- */

/* What the child recorded into its parent's stream: nothing, or what it did as a forked process. */
static void expect_the_childs(trace_id_t trid, uint64_t before, int point)
{
	struct posix_trace_counts_np counts;
	uint64_t least = 0;

	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	if (shares)
		least = child_action == TRACES           ? 4
		        : child_action == NOTHING        ? 2
		        : child_action == MAKES_A_STREAM ? 3
		                                         : 4;
	PXT_CHECK(counts.posix_written_np >= before + least &&
	              counts.posix_written_np <= before + (shares ? 12u : 0u),
	    "point %d: %u records of the child", point,
	    (unsigned)(counts.posix_written_np - before));
}

static uint64_t written(trace_id_t trid)
{
	struct posix_trace_counts_np counts;

	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	return counts.posix_written_np;
}

static struct {
	trace_id_t trid;
	uint64_t before;
} ground;

static void interrupt(void *argument)
{
	ground.before = written(ground.trid);
	fork_here(argument);
	if (!generation)
		expect_the_childs(ground.trid, ground.before, kit_interrupted());
}

/* False: the write has no such point. */
static bool one_case(enum kind kind, const struct kit_spec *spec, uint32_t nth, size_t len)
{
	trace_id_t trid = make(kind, spec);
	struct got got;
	int point;

	pxt_holdback_ns = KIT_HOLDBACK_NS;
	shares = kind == INHERITED || kind == INHERITED_FILE;
	ground.trid = trid;
	own = 0;
	status = 0;
	emit('b', 4);
	kit_interrupt(nth, KIT_WRITER_POINTS, interrupt, NULL);
	emit('i', len);
	point = kit_interrupted();
	if (generation)
		_exit(go_on_as_child());
	PXT_CHECK(status == 0, "kind %d, action %d, inner %u, point %d: status %#x", (int)kind,
	    (int)child_action, inner, point, (unsigned)status);
	CU_ASSERT(!inside());
	emit('e', 4);
	/* Nothing is left unfinished. */
	pxt_holdback_ns = UINT64_C(100000000000);
	PXT_EQ(posix_trace_stop(trid), 0);
	got = take(trid, 'i', 0);
	PXT_CHECK(got.events >= 1 && (shares || (got.events == 1 && got.strange == 2)),
	    "kind %d, action %d, point %d: %u, %u", (int)kind, (int)child_action, point, got.events,
	    got.strange);
	pxt_holdback_ns = KIT_HOLDBACK_NS;
	PXT_EQ(posix_trace_shutdown(trid), 0);
	return point >= 0;
}

static void at_all_points(enum kind kind)
{
	static const size_t lengths[] = { 30, 4, 120 };
	/* A fork of a process with a sanitizer takes ten times as long. */
	const size_t count = PXT_SANITIZED ? 1 : 3;

	for (size_t i = 0; i < SPECS; i++)
		for (size_t k = 0; k < count; k++)
			for (uint32_t nth = 0; one_case(kind, &specs[i], nth, lengths[k]); nth++)
				;
}

/* DEC-34, SAFE-02 */
PXT_TEST(a_child_of_a_handler_comes_back_into_any_step_of_a_trace_point)
{
	child_action = NOTHING;
	at_all_points(IN_MEMORY);
}

/* DEC-34, SAFE-02 */
PXT_TEST(so_it_does_where_the_stream_is_a_file)
{
	child_action = NOTHING;
	at_all_points(IN_A_FILE);
}

/* DEC-34, DEC-43, SAFE-02 */
PXT_TEST(an_inherited_stream_goes_on_with_it)
{
	child_action = NOTHING;
	at_all_points(INHERITED);
	at_all_points(INHERITED_FILE);
}

static void at_points_of_three(void)
{
	for (uint32_t nth = 0; one_case(IN_MEMORY, &specs[1], nth, 30); nth++)
		;
	for (uint32_t nth = 0; one_case(INHERITED, &specs[0], nth, 4); nth++)
		;
	for (uint32_t nth = 0; one_case(INHERITED_FILE, &specs[3], nth, 30); nth++)
		;
}

/* DEC-34, DEC-43, SAFE-01 */
PXT_TEST(its_handler_traces_makes_streams_and_forks_again)
{
	for (child_action = TRACES; child_action < FORKS_INSIDE_AGAIN; child_action++)
		at_points_of_three();
	for (inner = 0; inner < INNER_POINTS; inner++)
		at_points_of_three();
	child_action = NOTHING;
}

/* DEC-43; ruling 25: what the child records is said to be its own. */
PXT_TEST(what_it_records_has_its_own_pid)
{
	trace_id_t trid = make(INHERITED, &specs[0]);
	struct got got;
	int ends[2];
	pid_t child = 0;

	child_action = TRACES;
	shares = true;
	own = 0;
	ground.trid = trid;
	PXT_EQ_FATAL(pipe(ends), 0);
	kit_interrupt(3, KIT_WRITER_POINTS, fork_here, NULL);
	emit('i', 4);
	PXT_EQ(kit_interrupted() >= 0, 1);
	if (generation) {
		child = getpid();
		_exit(write(ends[1], &child, sizeof(child)) == (ssize_t)sizeof(child) ? 0 : 8);
	}
	PXT_EQ(status, 0);
	PXT_EQ(read(ends[0], &child, sizeof(child)), (ssize_t)sizeof(child));
	(void)close(ends[0]);
	(void)close(ends[1]);
	got = take(trid, 'h', child);
	PXT_EQ(got.events, 2);
	PXT_EQ(got.strange, 1);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	child_action = NOTHING;
}

/* DEC-34, SAFE-02 */
PXT_TEST(so_does_one_of_a_thread_without_a_place)
{
	static const enum kind kinds[] = { IN_MEMORY, INHERITED };

	for (unsigned i = 0; i < 2; i++) {
		for (child_action = NOTHING; child_action < CHILD_ACTIONS; child_action++) {
			(void)posix_trace_thread_register_np();
			kit_lose_place();
			inner = 2;
			(void)one_case(kinds[i], &specs[0], 3, 30);
			PXT_EQ(pxt_threads_outside_count(&pxt_unregistered), 0);
			PXT_EQ(pxt_threads_outside_count(&pxt_threads->outside), 0);
			kit_regain_place();
		}
	}
	child_action = NOTHING;
}
