/* SPDX-License-Identifier: MIT */
/*
 * processes.c - the crowd of threads.c in several processes: one of the three is a forked child, in an
 * inherited stream, or an attached process; or all of them are killed, and what is recovered of their
 * black box is looked at.  Readings are in memory that all of them share.
 */
#define _GNU_SOURCE
#include "ground.h"

#include "conformance/story.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE (4u << 20)
#define SMALL 65536u

#define LIFE_MS 5000u /* of those who are killed before */

struct state {
	int policy;
	unsigned lanes;
	size_t size;
	bool ordered;
	bool signals;
	bool attached; /* the child is attached, not inherited */
	bool divided;  /* the stream is stopped and started by call */
};

static const struct state *state;
static trace_id_t stream;
static struct rd_list list;
static pthread_t reader;
static atomic_bool over;
static char name[128]; /* of a stream that others attach to */

static const char *name_of_scene(const char *what)
{
	return st_text("%s: policy %d, lanes %u, %zu bytes%s%s%s", what, state->policy,
	    state->lanes, state->size, state->ordered ? ", ordered" : "",
	    state->signals ? ", signals" : "", state->divided ? ", divided" : "");
}

static void judge(trace_id_t trid, const char *what)
{
	struct rd_verdict verdict;

	rd_judge(&list, trid, RD_RESOLUTION_NS, &verdict);
	(void)rd_expect(&verdict, what);
	printf("\n    %s: %llu events, %llu raised", what, (unsigned long long)verdict.events,
	    (unsigned long long)verdict.raised);
	/* Enough to say something of. */
	CU_ASSERT(verdict.events > 100);
}

static void fill_in(trace_attr_t *attr)
{
	const struct st_spec spec = {
		.policy = state->policy, .size = state->size, .lanes = state->lanes
	};

	st_attr(&spec, attr);
	PXT_EQ(posix_trace_attr_setorderedstamps_np(attr, state->ordered), 0);
}

static void wait_for(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	PXT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

static uint32_t list_room(void)
{
	return 4u * crowd_events(crowd_ms()) + 200000u;
}

/* ---- Two processes, one stream ---- */

static void open_stream(void)
{
	trace_attr_t attr;

	fill_in(&attr);
	if (state->attached)
		PXT_EQ_FATAL(posix_trace_attr_setsharename_np(&attr, name), 0);
	else
		PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(rd_call(posix_trace_start, stream), 0);
}

static void attach(void)
{
	trace_attr_t attr;
	trace_id_t trid;

	if (posix_trace_attr_init(&attr) != 0 ||
	    posix_trace_attr_setstreamsize(&attr, LARGE) != 0 ||
	    posix_trace_attach_np(name, &attr, &trid) != 0)
		_exit(3);
	for (int i = 0; i < 2000 && !posix_trace_wanted_np(rd_type()); i++)
		pxt_sleep_us(1000);
}

static pid_t begin_child(uint32_t ms)
{
	pid_t child = fork();

	CU_ASSERT_FATAL(child >= 0);
	if (child == 0) {
		if (state->attached)
			attach();
		crowd_be_beside(ms);
		/* What an attached process has recorded is the owner's by now, or soon. */
		_exit(0);
	}
	return child;
}

static void *read_on(void *argument)
{
	while (!atomic_load(&over)) {
		(void)rd_take(&list, stream);
		pxt_sleep_us(200);
	}
	return NULL;
}

static void take_rest(void)
{
	struct posix_trace_counts_np counts;

	atomic_store(&over, true);
	(void)pthread_join(reader, NULL);
	PXT_EQ(rd_call(posix_trace_stop, stream), 0);
	(void)rd_take(&list, stream);
	CU_ASSERT(st_law(stream, &counts));
	PXT_EQ(counts.posix_held_np, 0);
}

static void direct(void)
{
	while (crowd_busy()) {
		pxt_sleep_us(4000);
		if (!state->divided)
			continue;
		PXT_EQ(rd_call(posix_trace_stop, stream), 0);
		pxt_sleep_us(100);
		PXT_EQ(rd_call(posix_trace_start, stream), 0);
	}
}

static void play_once(void)
{
	const struct crowd_wish wish = {
		.ms = crowd_ms(), .signals = state->signals, .forked = true
	};
	pid_t child;

	atomic_store(&over, false);
	rd_begin(crowd_events(wish.ms));
	rd_list_begin(&list, list_room());
	open_stream();
	child = begin_child(wish.ms);
	PXT_EQ_FATAL(pthread_create(&reader, NULL, read_on, NULL), 0);
	crowd_begin(&wish);
	direct();
	crowd_end();
	wait_for(child);
	take_rest();
	/* Both processes' are there. */
	CU_ASSERT(rd_said(CROWD_BESIDE) > 100);
	judge(stream, name_of_scene(state->attached ? "attached" : "inherited"));
	PXT_EQ(posix_trace_shutdown(stream), 0);
	rd_list_end(&list);
	rd_end();
}

static void play(struct state what)
{
	if (pxt_skip_emulated("its processors' counters are not one clock"))
		return;
	(void)snprintf(name, sizeof(name), "%s/stream", pxt_temp_folder());
	state = &what;
	for (unsigned round = 0; round < crowd_rounds(); round++)
		play_once();
}

/* DEC-43, TIM-03, TIM-04, TIM-06; rulings 25, 26 */
PXT_TEST(reported_times_of_an_inherited_stream_are_true_in_both_processes)
{
	play((struct state){ .policy = LOOP, .lanes = 1, .size = LARGE });
	play((struct state){ .policy = LOOP, .lanes = 2, .size = LARGE });
	play((struct state){ .policy = LOOP, .lanes = 2, .size = LARGE, .ordered = true });
	play((struct state){ .policy = FULL, .lanes = 2, .size = SMALL, .signals = true });
	play((struct state){ .policy = LOOP, .lanes = 2, .size = LARGE, .divided = true });
}

/* LPT-32, TIM-03, TIM-06; rulings 25, 26 */
PXT_TEST(those_of_an_attached_process_are)
{
	play((struct state){ .policy = LOOP, .lanes = 1, .size = LARGE, .attached = true });
	play((struct state){
	    .policy = LOOP, .lanes = 2, .size = LARGE, .attached = true, .signals = true });
	play((struct state){
	    .policy = LOOP, .lanes = 2, .size = LARGE, .attached = true, .divided = true });
}

/* LPT-32, TIM-03, TIM-06, POL-07, POL-09; rulings 25, 26 */
PXT_TEST(those_of_one_attached_to_a_stream_that_stops_and_starts_itself_are)
{
	play((struct state){ .policy = FULL, .lanes = 2, .size = SMALL, .attached = true });
}

/* ---- What is left of a process that was killed ---- */

#ifdef PXT_PXTRACE

static void trace_until_killed(int box)
{
	const struct crowd_wish wish = { .ms = LIFE_MS, .signals = state->signals };
	trace_attr_t attr;

	fill_in(&attr);
	if (posix_trace_attr_setfile_np(&attr, box) != 0 ||
	    posix_trace_create(0, &attr, &stream) != 0 || rd_call(posix_trace_start, stream) != 0)
		_exit(3);
	crowd_begin(&wish);
	crowd_end();
	_exit(4);
}

static trace_id_t recover(int box)
{
	const char *log_path = st_text("%s/recovered.ptl", pxt_temp_folder());
	char box_path[32];
	trace_id_t log = 0;
	pid_t child;
	int fd;

	(void)snprintf(box_path, sizeof(box_path), "/proc/self/fd/%d", box);
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0) {
		(void)execl(PXT_PXTRACE, "pxtrace", "recover", box_path, "-o", log_path, "--quiet",
		    (char *)NULL);
		_exit(127);
	}
	wait_for(child);
	fd = open(log_path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0);
	PXT_EQ_FATAL(posix_trace_open(fd, &log), 0);
	(void)close(fd);
	(void)unlink(log_path);
	return log;
}

/* The magic number comes last of all that creation writes. */
static void wait_until_it_is_a_stream(int box)
{
	char first = 0;

	for (int tries = 0; tries < 20000 && first == 0; tries++) {
		if (pread(box, &first, 1, 0) != 1)
			first = 0;
		pxt_sleep_us(1000);
	}
	CU_ASSERT(first != 0);
}

static void kill_one(struct state what, unsigned round)
{
	int box = memfd_create("box", 0);
	pid_t child;
	trace_id_t log;

	CU_ASSERT_FATAL(box >= 0);
	state = &what;
	rd_begin(crowd_events(LIFE_MS));
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0)
		trace_until_killed(box);
	wait_until_it_is_a_stream(box);
	/* Never at the same place. */
	pxt_sleep_us(200000u + round * 7919u % 50000u);
	(void)kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	log = recover(box);
	rd_list_begin(&list, list_room());
	(void)rd_take(&list, log);
	judge(log, name_of_scene("recovered"));
	PXT_EQ(posix_trace_close(log), 0);
	rd_list_end(&list);
	rd_end();
	(void)close(box);
}

/* DEC-42, TIM-03, TIM-06; rulings 25, 26, 27 */
PXT_TEST(those_that_are_recovered_of_a_killed_process_are)
{
	if (pxt_skip_emulated("its processors' counters are not one clock"))
		return;
	for (unsigned i = 0; i < 2 * crowd_rounds(); i++) {
		kill_one((struct state){ .policy = LOOP, .lanes = 1, .size = LARGE }, i);
		kill_one((struct state){ .policy = LOOP, .lanes = 2, .size = LARGE }, i);
		kill_one(
		    (struct state){ .policy = LOOP, .lanes = 2, .size = SMALL, .signals = true },
		    i);
		kill_one((struct state){ .policy = FULL, .lanes = 2, .size = LARGE }, i);
	}
}

#else

PXT_TEST(those_that_are_recovered_of_a_killed_process_are)
{
	pxt_skip("there is no pxtrace");
}

#endif
