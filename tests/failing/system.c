/* SPDX-License-Identifier: MIT */
/*
 * system.c - each system call of the port fails at its n-th time, with each error of its manual:
 * what the library was about to do succeeds all the same or returns an error number, nothing is left
 * behind, the same works right afterwards, and a log has at least what was flushed.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "fakes/fakes.h"
#include "fixture.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#define HANGS_AFTER 120 /* seconds */

/* What a scenario is given, and what it came to. */
struct traced {
	int file;      /* empty */
	bool faulty;   /* a call may fail now */
	int refused;   /* calls of the library that said an error, and ... */
	int errors[8]; /* ... the first ones */
	const char *wrong;
};

/* What remains for good after a scenario that ran twice. */
struct baseline {
	struct left grown;
	atomic_uint refused; /* runs in which the library said an error */
};

/* Runs that go on at once: most of each is waiting. */
#define AT_ONCE 4u

struct fault {
	int call; /* enum call; -1: none */
	unsigned n;
	int error;
};

struct slot {
	struct calls calls;
	struct fault fault;
	char what[512]; /* what was wrong */
	const struct scenario *scenario;
	pid_t child; /* 0: none */
};

/* In memory that children share. */
static struct baseline *baseline;
static struct slot *slots;
static struct slot *slot; /* of this child */

static char ctlsock[128]; /* a stream's name that nobody has */
static char owner[128];   /* one that another process has */
static int whole_log;     /* a log to be read */
static int nowhere;       /* takes everything */

#define EVENTS 150u
#define FIRST  100u

#define LIB(call) (calls_enter(), note(fixture, (call)))

static int note(struct traced *fixture, int error)
{
	calls_leave();
	if (error) {
		if (fixture->refused < 8)
			fixture->errors[fixture->refused] = error;
		fixture->refused++;
	}
	if (error < 0 || error > 133 || error == EINTR || error == EFAULT)
		fixture->wrong = "no clear error";
	return error;
}

static void calm(struct traced *fixture)
{
	atomic_store(&calls->which, -1);
	fixture->faulty = false;
}

static void say(struct traced *fixture, trace_event_id_t id, uint32_t from, uint32_t to)
{
	calls_enter();
	for (; from < to; from++)
		posix_trace_event(id, &from, sizeof(from));
	calls_leave();
}

static trace_event_id_t named(struct traced *fixture)
{
	trace_event_id_t id = POSIX_TRACE_UNNAMED_USEREVENT;

	(void)LIB(posix_trace_eventid_open("numbered", &id));
	return id;
}

/* ---- A log ---- */

/* How many of the numbers 0, 1, 2, ... are there in their order; others make it wrong. */
static uint32_t numbers(struct traced *fixture, trace_id_t log, uint64_t *lost)
{
	struct posix_trace_event_info event;
	struct posix_trace_eventextra_np extra;
	uint32_t count = 0;
	uint32_t number = 0;
	int unavailable = 0;
	size_t len;

	*lost = 0;
	for (;;) {
		int error = posix_trace_getnext_event(
		    log, &event, &number, sizeof(number), &len, &unavailable);

		if (error)
			fixture->wrong = "the log cannot be read";
		if (error || unavailable)
			return count;
		(void)posix_trace_eventinfo_getextra_np(&event, &extra, sizeof(extra));
		*lost += extra.posix_lost_before_np;
		if (event.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		if (number != count && *lost == 0)
			fixture->wrong = "an event is missing in the log, and not told as lost";
		count++;
	}
}

static void check_whole(struct traced *fixture)
{
	uint64_t lost;
	trace_id_t log;

	if (posix_trace_open(fixture->file, &log) != 0) {
		fixture->wrong = "shutdown said 0, and the log is not complete";
		return;
	}
	if (numbers(fixture, log, &lost) + lost < EVENTS)
		fixture->wrong = "events are missing";
	(void)posix_trace_close(log);
}

static void check_flushed(struct traced *fixture)
{
	uint64_t lost;
	trace_id_t log;

	if (posix_trace_log_open_np(
	        &fixture->file, 1, POSIX_TRACE_OPEN_GROWING_NP, &log, NULL, 0) != 0) {
		fixture->wrong = "flush said 0, and the log cannot be opened";
		return;
	}
	if (numbers(fixture, log, &lost) + lost < FIRST)
		fixture->wrong = "what was flushed is missing";
	(void)posix_trace_close(log);
}

static void a_log(struct traced *fixture)
{
	struct posix_trace_status_info status;
	trace_event_id_t id = named(fixture);
	trace_attr_t attr;
	trace_id_t trid;
	bool flushed;
	bool whole;

	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setstreamsize(&attr, 32768);
	(void)posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH);
	(void)posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	if (LIB(posix_trace_create_withlog(0, &attr, fixture->file, &trid)) != 0)
		return;
	(void)LIB(posix_trace_start(trid));
	say(fixture, id, 0, FIRST);
	flushed = LIB(posix_trace_flush(trid)) == 0;
	say(fixture, id, FIRST, EVENTS);
	(void)LIB(posix_trace_get_status(trid, &status));
	(void)LIB(posix_trace_stop(trid));
	whole = LIB(posix_trace_shutdown(trid)) == 0;
	if (fixture->faulty)
		calm(fixture);
	if (whole)
		check_whole(fixture);
	else if (flushed)
		check_flushed(fixture);
}

/* The same through a descriptor that is written to in order. */
static void a_log_in_order(struct traced *fixture)
{
	(void)fcntl(fixture->file, F_SETFL, O_APPEND);
	a_log(fixture);
	(void)fcntl(fixture->file, F_SETFL, 0);
}

/* Reads a log that another process has written. */
static void reading(struct traced *fixture)
{
	struct posix_trace_event_info event;
	struct posix_trace_logcheck_np result;
	uint32_t number;
	uint32_t count = 0;
	int unavailable = 0;
	int error;
	trace_id_t log;
	size_t len;

	(void)LIB(
	    posix_trace_log_check_np(whole_log, &result, sizeof(result), NULL, 0, 0, NULL, NULL));
	if (LIB(posix_trace_open(whole_log, &log)) != 0)
		return;
	do {
		error = LIB(posix_trace_getnext_event(
		    log, &event, &number, sizeof(number), &len, &unavailable));
		if (!error && !unavailable &&
		    event.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT && number != count++)
			fixture->wrong = "an event was passed over";
	} while (!error && !unavailable);
	if (!error && count != EVENTS)
		fixture->wrong = "the end was told too early";
	(void)LIB(posix_trace_close(log));
}

/* ---- Streams that are read at once ---- */

static uint32_t read_all(struct traced *fixture, trace_id_t trid)
{
	struct posix_trace_event_info event;
	uint32_t count = 0;
	uint32_t number;
	int unavailable = 0;
	size_t len;

	while (LIB(posix_trace_trygetnext_event(
	           trid, &event, &number, sizeof(number), &len, &unavailable)) == 0 &&
	       !unavailable)
		count += event.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT;
	return count;
}

static void finish(struct traced *fixture, pid_t child)
{
	int status = 0;

	(void)waitpid(child, &status, 0);
	if (!WIFEXITED(status))
		fixture->wrong = "the other process has crashed";
	else if (WEXITSTATUS(status) != 0)
		(void)LIB(WEXITSTATUS(status));
}

/* A black box that a child records into as well. */
static void a_family(struct traced *fixture)
{
	trace_event_id_t id = named(fixture);
	trace_attr_t attr;
	trace_id_t trid;
	uint32_t count;
	pid_t child;

	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setstreamsize(&attr, 32768);
	(void)posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	(void)posix_trace_attr_setfile_np(&attr, fixture->file);
	if (LIB(posix_trace_create(0, &attr, &trid)) != 0)
		return;
	(void)LIB(posix_trace_start(trid));
	say(fixture, id, 0, 10);
	calls_enter();
	child = fork();
	calls_leave();
	if (child == 0) {
		trace_event_id_t own = named(fixture);

		(void)LIB(posix_trace_thread_register_np());
		say(fixture, own, 10, 20);
		_exit(fixture->wrong ? 99 : 0);
	}
	finish(fixture, child);
	(void)LIB(posix_trace_stop(trid));
	count = read_all(fixture, trid);
	if (!fixture->refused && count < (fixture->faulty ? 10 : 20))
		fixture->wrong = "events are missing";
	(void)LIB(posix_trace_snapshot_np(trid, nowhere));
	(void)LIB(posix_trace_shutdown(trid));
}

/* ---- Streams with names ---- */

/* Attaches, records and leaves. */
static void visit(struct traced *fixture, const char *name)
{
	trace_event_id_t id = named(fixture);
	trace_attr_t attr;
	trace_id_t trid;

	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setstreamsize(&attr, 4096);
	if (LIB(posix_trace_attach_np(name, &attr, &trid)) != 0)
		return;
	say(fixture, id, 0, 10);
	(void)LIB(posix_trace_shutdown(trid));
}

static void a_producer(struct traced *fixture)
{
	visit(fixture, owner);
}

/* The other process has no faults; it says what it was told. */
static pid_t producer_begin(void)
{
	pid_t child = fork();

	if (child == 0) {
		struct traced fixture = { .file = -1 };

		calls = NULL;
		visit(&fixture, ctlsock);
		_exit(fixture.wrong ? 99 : fixture.errors[0]);
	}
	return child;
}

static void an_owner(struct traced *fixture)
{
	trace_attr_t attr;
	trace_id_t trid;
	pid_t child;

	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setstreamsize(&attr, 32768);
	(void)posix_trace_attr_setsharename_np(&attr, ctlsock);
	if (LIB(posix_trace_create(0, &attr, &trid)) != 0)
		return;
	(void)LIB(posix_trace_start(trid));
	child = producer_begin();
	finish(fixture, child);
	(void)read_all(fixture, trid);
	(void)LIB(posix_trace_shutdown(trid));
}

/* ---- Runs ---- */

static const struct scenario {
	const char *name;
	void (*run)(struct traced *fixture);
	bool slow; /* waits for other processes */
	int only;  /* in short: this call alone; 0: all */
} scenarios[] = {
	{ "a log", a_log, false, 0 },
	{ "a log in order", a_log_in_order, false, CALL_write },
	{ "reading", reading, false, 0 },
	{ "forked processes", a_family, false, 0 },
	{ "a producer", a_producer, true, 0 },
	{ "an owner", an_owner, true, 0 },
};

static void begin(struct traced *fixture, int file)
{
	*fixture = (struct traced){ .file = file, .faulty = atomic_load(&calls->which) >= 0 };
	if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0)
		_exit(98);
	(void)snprintf(
	    ctlsock, sizeof(ctlsock), "%s/ctlsock-%d", pxt_temp_folder(), (int)(slot - slots));
	(void)unlink(ctlsock);
}

static struct left difference(const struct left *from, const struct left *to)
{
	struct left grown = { 0 };

	grown.descriptors = to->descriptors - from->descriptors;
	grown.threads = to->threads - from->threads;
	grown.maps = to->maps - from->maps;
	grown.map_bytes = to->map_bytes - from->map_bytes;
	grown.blocks = to->blocks - from->blocks;
	grown.bytes = to->bytes - from->bytes;
	grown.heap = to->heap - from->heap;
	grown.locks = to->locks - from->locks;
	return grown;
}

/* Other sides close a moment later. */
static bool grown_as_always(const struct left *before, struct left *grown)
{
	for (int i = 0; i < 400; i++) {
		struct left now = left_now();

		*grown = difference(before, &now);
		if (left_same(grown, &baseline->grown))
			return true;
		pxt_sleep_ms(5);
	}
	return false;
}

static void complain(const char *what, const struct traced *fixture)
{
	(void)snprintf(slot->what, sizeof(slot->what), "%s; %d errors, %d %d %d", what,
	    fixture->refused, fixture->errors[0], fixture->errors[1], fixture->errors[2]);
	_exit(1);
}

/* Not what a call has to be asked again for. */
static bool is_fault(int error)
{
	return error != EINTR && error != CALLS_HALF;
}

/* In a process of its own: once with the fault, and once more without. */
static void run_twice(const struct scenario *scenario, bool first)
{
	struct left before;
	struct left grown;
	struct traced fixture;
	struct traced again;
	int file;

	(void)alarm(HANGS_AFTER);
	(void)signal(SIGPIPE, SIG_IGN);
	calls_leave();
	file = pxt_temp_file();
	before = left_now();
	begin(&fixture, file);
	scenario->run(&fixture);
	calm(&fixture);
	if (!fixture.wrong && fixture.refused && !is_fault(slot->fault.error))
		fixture.wrong = "a signal, or half of what was asked for, is an error";
	if (fixture.wrong)
		complain(fixture.wrong, &fixture);
	atomic_fetch_add(&baseline->refused, fixture.refused != 0);
	begin(&again, file);
	scenario->run(&again);
	if (again.wrong || again.refused)
		complain(again.wrong ? again.wrong : "the same fails afterwards", &again);
	if (first) {
		struct left now;

		pxt_sleep_ms(100);
		now = left_now();
		baseline->grown = difference(&before, &now);
	} else if (!grown_as_always(&before, &grown)) {
		(void)snprintf(slot->what, sizeof(slot->what),
		    "left: descriptors %d threads %d maps %d blocks %ld bytes %ld heap %ld locks "
		    "%d, "
		    "with %d errors, %d",
		    (int)grown.descriptors - (int)baseline->grown.descriptors,
		    (int)grown.threads - (int)baseline->grown.threads,
		    (int)grown.maps - (int)baseline->grown.maps,
		    grown.blocks - baseline->grown.blocks, grown.bytes - baseline->grown.bytes,
		    grown.heap - baseline->grown.heap, grown.locks, fixture.refused,
		    fixture.errors[0]);
		_exit(1);
	}
	_exit(0);
}

/* Waits for the run that has this slot. */
static void end(struct slot *done)
{
	const struct fault *fault = &done->fault;
	int status;

	if (!done->child)
		return;
	(void)waitpid(done->child, &status, 0);
	done->child = 0;
	if (WIFSIGNALED(status))
		(void)snprintf(done->what, sizeof(done->what), "signal %d%s", WTERMSIG(status),
		    WTERMSIG(status) == SIGALRM ? ": hangs" : "");
	if (status != 0)
		PXT_CHECK(false, "%s, %s number %u fails with %d: %s", done->scenario->name,
		    fault->call < 0 ? "nothing," : calls_names[fault->call], fault->n, fault->error,
		    done->what);
}

static void begin_run(const struct scenario *scenario, const struct fault *fault)
{
	static unsigned turn;
	struct slot *next = &slots[turn++ % AT_ONCE];
	pid_t child;

	end(next);
	memset(next, 0, sizeof(*next));
	next->scenario = scenario;
	next->fault = *fault;
	atomic_store(&next->calls.first, fault->n);
	atomic_store(&next->calls.last, fault->n);
	atomic_store(&next->calls.error, fault->error);
	atomic_store(&next->calls.which, fault->call);
	(void)fflush(stdout);
	/* Not at once to where the child would store its 0 as well. */
	child = fork();
	if (child == 0) {
		slot = next;
		calls = &next->calls;
		run_twice(scenario, fault->call < 0);
	}
	next->child = child;
	slot = next;
}

static void end_all(void)
{
	for (unsigned i = 0; i < AT_ONCE; i++)
		end(&slots[i]);
}

static unsigned errors_of(int call)
{
	unsigned count = 0;

	while (count < CALLS_MOST && calls_errors[call][count])
		count++;
	return count;
}

/*
 * In short: a call that is made once or twice with each error, others each time with one of them in
 * turn, and all with EINTR.
 */
static void fail_each_time(const struct scenario *scenario, int call, unsigned times)
{
	unsigned count = errors_of(call);

	for (unsigned n = 1; n <= times; n++) {
		for (unsigned i = 0; i < count; i++) {
			const struct fault fault = { call, n, calls_errors[call][i] };

			if (pxt_in_full() || times <= 2 || i == n % count || fault.error == EINTR)
				begin_run(scenario, &fault);
		}
	}
	end_all();
}

static void fail_in(const struct scenario *scenario)
{
	const struct fault none = { -1, 0, 0 };
	unsigned times[CALL_COUNT];

	begin_run(scenario, &none);
	end_all();
	/* The second half is the run without faults. */
	for (int i = 0; i < CALL_COUNT; i++)
		times[i] = (atomic_load(&slot->calls.made[i]) + 1u) / 2u;
	atomic_store(&baseline->refused, 0u);
	for (int i = 0; i < CALL_COUNT; i++) {
		if (pxt_in_full() || !scenario->only || scenario->only == i)
			fail_each_time(scenario, i, times[i]);
	}
	/* Or no fault has come to where it was meant for. */
	PXT_CHECK(atomic_load(&baseline->refused) > 2, "%s: %u refused", scenario->name,
	    atomic_load(&baseline->refused));
}

/* ---- What all scenarios need ---- */

static void *shared(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_FATAL(at != MAP_FAILED);
	return at;
}

static pid_t begin_owner(void)
{
	int ends[2];
	char byte;
	pid_t child;

	CU_ASSERT_FATAL(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		trace_attr_t attr;
		trace_id_t trid;

		calls = NULL;
		(void)posix_trace_attr_init(&attr);
		(void)posix_trace_attr_setsharename_np(&attr, owner);
		if (posix_trace_create(0, &attr, &trid) != 0 || posix_trace_start(trid) != 0 ||
		    write(ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	close(ends[1]);
	CU_ASSERT_FATAL(read(ends[0], &byte, 1) == 1);
	close(ends[0]);
	return child;
}

/* By another process, so that this one has nothing of the library when it makes its children. */
static void make_log(void)
{
	pid_t child;
	int status;

	whole_log = pxt_temp_file();
	nowhere = open("/dev/null", O_WRONLY);
	CU_ASSERT_FATAL(nowhere >= 0);
	child = fork();
	if (child == 0) {
		struct traced fixture = { .file = whole_log };

		calls_leave();
		a_log(&fixture);
		_exit(fixture.refused || fixture.wrong ? 1 : 0);
	}
	(void)waitpid(child, &status, 0);
	CU_ASSERT_FATAL(status == 0);
}

static void each(bool slow)
{
	pid_t child;

	slots = shared(AT_ONCE * sizeof(*slots));
	slot = slots;
	baseline = shared(sizeof(*baseline));
	calls = &slot->calls;
	atomic_store(&calls->which, -1);
	(void)snprintf(owner, sizeof(owner), "%s/owner", pxt_temp_folder());
	make_log();
	child = begin_owner();
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (scenarios[i].slow == slow)
			fail_in(&scenarios[i]);
	}
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	(void)unlink(owner);
}

PXT_TEST(whatever_call_fails_a_stream_says_so_and_a_log_has_what_was_flushed)
{
	each(false);
}

PXT_TEST(whatever_call_fails_attaching_leaves_nothing_behind)
{
	each(true);
}
