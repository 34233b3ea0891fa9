/* SPDX-License-Identifier: MIT */
/*
 * attach.c - what attached processes cost: attaching, an event in an attached stream beside one in
 * a private stream, the owner's taking of events, and the time from a producer's trace point until a
 * reader that slept in the owner has the event.
 *
 *	attach [--quick | --smoke] [--csv]
 *
 * Two processes: this one, and a child of it that is forked before anything is traced.  Each is
 * owner or producer in turn; a byte through a pipe says what the child does next.
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STREAM_BYTES  (1024ul * 1024)
#define STREAM_EVENTS (STREAM_BYTES / 32)
#define ATTACHES_MAX  150
#define TURNS_MAX     15
#define BURST         10000u /* events; done before the owner's helper comes round */
#define ROUNDS_MAX    25
#define WAKES_MAX     400

/* What the child is told to do. */
enum order {
	OWN = 'o',    /* create the stream, and start it */
	LET_GO = 'l', /* shut it down */
	JOIN = 'j',   /* attach to this process' stream */
	TRACE = 't',  /* BURST events */
	SAY = 's',    /* one event with the time */
	LEAVE = 'e',  /* end the attachment */
};

static trace_event_id_t type;
static char name[32];
static struct pipes {
	int to_child;
	int to_parent;
	pid_t child;
} pipes;
static atomic_bool reader_stop;
static unsigned char payload[4];

/* ---- Streams ---- */

static void attributes(trace_attr_t *attr)
{
	bench_ok("attributes", posix_trace_attr_init(attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(attr, STREAM_BYTES));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(attr, 16));
	bench_ok("lanes", posix_trace_attr_setlanes_np(attr, 1));
}

static trace_id_t open_stream(int named)
{
	trace_attr_t attr;
	trace_id_t trid;

	attributes(&attr);
	bench_ok("name", posix_trace_attr_setsharename_np(&attr, named ? name : NULL));
	bench_ok("create", posix_trace_create(0, &attr, &trid));
	bench_ok("start", posix_trace_start(trid));
	return trid;
}

/* An owner that is told of one producer's end only later has no room for more until then. */
static trace_id_t attach(const trace_attr_t *attr, double *ns)
{
	trace_id_t trid;
	int error;

	do {
		uint64_t begin = bench_ns();

		error = posix_trace_attach_np(name, attr, &trid);
		*ns = (double)(bench_ns() - begin);
		if (error == EAGAIN)
			bench_sleep_until(bench_ns() + 1000000);
	} while (error == EAGAIN);
	bench_ok("attach", error);
	return trid;
}

/* ---- The child ---- */

static void trace_burst(void)
{
	for (unsigned i = 0; i < BURST; i++)
		posix_trace_event(type, payload, sizeof(payload));
}

static void say_time(void)
{
	uint64_t now = bench_ns();

	posix_trace_event(type, &now, sizeof(now));
}

static void do_order(char order, trace_id_t *trid)
{
	trace_attr_t attr;
	double ns;

	switch (order) {
	case OWN:
		*trid = open_stream(1);
		break;
	case JOIN:
		attributes(&attr);
		*trid = attach(&attr, &ns);
		break;
	case TRACE:
		trace_burst();
		break;
	case SAY:
		say_time();
		break;
	case LET_GO:
	case LEAVE:
		bench_ok("shutdown", posix_trace_shutdown(*trid));
		break;
	default:
		break;
	}
}

/* Ends with the pipe. */
static void be_the_child(int from, int to)
{
	trace_id_t trid = 0;
	char order;

	bench_pin(1);
	bench_ok("event", posix_trace_eventid_open("event", &type));
	while (read(from, &order, 1) == 1) {
		do_order(order, &trid);
		if (write(to, &order, 1) != 1)
			break;
	}
	exit(0);
}

static void begin_child(void)
{
	int down[2];
	int up[2];
	pid_t child;

	(void)fflush(stdout);
	bench_ok("pipe", pipe(down) || pipe(up) ? errno : 0);
	child = fork();
	bench_ok("fork", child < 0 ? errno : 0);
	if (child == 0) {
		(void)close(down[1]);
		(void)close(up[0]);
		be_the_child(down[0], up[1]);
	}
	(void)close(down[0]);
	(void)close(up[1]);
	pipes = (struct pipes){ down[1], up[0], child };
}

static void begin_order(enum order order)
{
	char byte = (char)order;

	bench_ok("the child", write(pipes.to_child, &byte, 1) == 1 ? 0 : EPIPE);
}

static void await_child(void)
{
	char byte;

	bench_ok("the child", read(pipes.to_parent, &byte, 1) == 1 ? 0 : EPIPE);
}

static void tell(enum order order)
{
	begin_order(order);
	await_child();
}

/* ---- Attaching: the child owns ---- */

static double say_attaching(const char *row, const trace_attr_t *attr)
{
	static double ns[ATTACHES_MAX];
	size_t count = bench_pick(ATTACHES_MAX, 60, 3);
	double us;

	for (size_t i = 0; i < count; i++) {
		bench_ok("shutdown", posix_trace_shutdown(attach(attr, &ns[i])));
		bench_sleep_until(bench_ns() + 5000000);
	}
	us = bench_median(ns, count) * 1e-3;
	bench_value(row, "median", "us", us);
	bench_value(row, "p99", "us", ns[count - 1 - count / 100] * 1e-3);
	return us;
}

/* Without a rest between them: what the processor knows already. */
static double say_in_a_row(const char *row, const trace_attr_t *attr)
{
	static double ns[ATTACHES_MAX];
	size_t count = bench_pick(ATTACHES_MAX, 60, 20);
	double us;

	for (size_t i = 0; i < count; i++) {
		/* An owner finds out a moment later who has gone. */
		if (i % 20 == 0)
			bench_sleep_until(bench_ns() + 100000000);
		bench_ok("shutdown", posix_trace_shutdown(attach(attr, &ns[i])));
	}
	us = bench_median(ns, count) * 1e-3;
	bench_value(row, "in a row", "us", us);
	return us;
}

static double say_attaches(void)
{
	trace_attr_t attr;
	double usual;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	usual = say_attaching("defaults", &attr);
	(void)say_in_a_row("defaults", &attr);
	attributes(&attr);
	(void)say_attaching("1 MiB in one lane", &attr);
	(void)say_in_a_row("1 MiB in one lane", &attr);
	return usual;
}

static void events(unsigned thread, unsigned long count)
{
	const trace_event_id_t id = type;

	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		posix_trace_event(id, payload, sizeof(payload));
}

static double one_turn(void)
{
	return bench_run(events, 1, bench_pick(50000, 50000, 1000), BENCH_WALL).ns;
}

/*
 * A reader of a private stream beside the writer, which does what an owner does for its producers: each
 * 5 ms, what is there.
 */
static void *read_on(void *argument)
{
	const trace_id_t *trid = argument;
	struct posix_trace_event_info info;
	unsigned char data[16];
	size_t length;

	bench_pin(1);
	while (!atomic_load(&reader_stop)) {
		int nothing = 0;

		for (unsigned i = 0; i < STREAM_EVENTS && !nothing; i++)
			bench_ok("getnext", posix_trace_trygetnext_event(*trid, &info, data,
			                        sizeof(data), &length, &nothing));
		bench_sleep_until(bench_ns() + 5000000);
	}
	return NULL;
}

static void turn_in_private(double *alone, double *beside)
{
	trace_id_t trid = open_stream(0);
	pthread_t reader;

	*alone = one_turn();
	atomic_store(&reader_stop, false);
	bench_ok("thread", pthread_create(&reader, NULL, read_on, &trid));
	*beside = one_turn();
	atomic_store(&reader_stop, true);
	(void)pthread_join(reader, NULL);
	bench_ok("shutdown", posix_trace_shutdown(trid));
}

static void turn_attached(double *alone, double *beside)
{
	trace_attr_t attr;
	trace_id_t trid;
	double ns;
	int status;

	attributes(&attr);
	trid = attach(&attr, &ns);
	*beside = one_turn();
	bench_ok("stop the child", kill(pipes.child, SIGSTOP) ? errno : 0);
	(void)waitpid(pipes.child, &status, WUNTRACED);
	*alone = one_turn();
	bench_ok("go on", kill(pipes.child, SIGCONT) ? errno : 0);
	bench_ok("shutdown", posix_trace_shutdown(trid));
}

static double say_pair(const char *column, double *own, double *attached, unsigned turns)
{
	double ratios[TURNS_MAX];

	for (unsigned i = 0; i < turns; i++)
		ratios[i] = attached[i] / own[i];
	bench_value("private stream", column, "ns", bench_median(own, turns));
	bench_value("attached stream", column, "ns", bench_median(attached, turns));
	bench_value("attached stream", column, "x private", bench_median(ratios, turns));
	return ratios[turns / 2];
}

/* They take turns, so that all meet the same machine; the median of the turns' ratios. */
static void say_events(double *alone, double *beside)
{
	unsigned turns = (unsigned)bench_pick(TURNS_MAX, 5, 1);
	double own[2][TURNS_MAX];
	double attached[2][TURNS_MAX];

	for (unsigned i = 0; i < turns; i++) {
		turn_in_private(&own[0][i], &own[1][i]);
		turn_attached(&attached[0][i], &attached[1][i]);
	}
	*alone = say_pair("nobody reads", own[0], attached[0], turns);
	*beside = say_pair("taken each 5 ms", own[1], attached[1], turns);
}

/* ---- Taking: this process owns ---- */

static unsigned drain(trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[16];
	unsigned found = 0;
	size_t length;
	int nothing = 0;

	for (;;) {
		bench_ok("getnext", posix_trace_trygetnext_event(
		                        trid, &info, data, sizeof(data), &length, &nothing));
		if (nothing)
			return found;
		found += info.posix_event_id == type;
	}
}

/*
 * Processor time of this whole process for an event, whichever of its threads it was: from the
 * producer's first event until the last is read.
 */
static double taken_from_the_child(trace_id_t trid)
{
	double begin = bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	unsigned found;

	tell(TRACE);
	found = drain(trid);
	return found ? (bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / found : NAN;
}

static double taken_from_itself(trace_id_t trid)
{
	double begin;
	unsigned found;

	trace_burst();
	begin = bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	found = drain(trid);
	return found ? (bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / found : NAN;
}

static void say_taking(trace_id_t trid)
{
	size_t rounds = bench_pick(ROUNDS_MAX, 9, 1);
	double own[ROUNDS_MAX];
	double theirs[ROUNDS_MAX];
	double more[ROUNDS_MAX];

	(void)taken_from_the_child(trid);
	for (size_t i = 0; i < rounds; i++) {
		own[i] = taken_from_itself(trid);
		theirs[i] = taken_from_the_child(trid);
		more[i] = theirs[i] - own[i];
	}
	bench_value("an event of the owner", "read", "ns", bench_median(own, rounds));
	bench_value("an event of a producer", "taken and read", "ns", bench_median(theirs, rounds));
	bench_value("an event of a producer", "taken", "ns", bench_median(more, rounds));
}

/* ---- A reader that sleeps ---- */

/* From before the trace point until getnext has returned; the events say when they were traced. */
static double one_wake(trace_id_t trid)
{
	struct posix_trace_event_info info;
	uint64_t sent = 0;
	size_t length;
	int nothing;

	begin_order(SAY);
	do
		bench_ok("getnext",
		    posix_trace_getnext_event(trid, &info, &sent, sizeof(sent), &length, &nothing));
	while (nothing || info.posix_event_id != type);
	sent = bench_ns() - sent;
	await_child();
	return (double)sent;
}

static void say_waking(trace_id_t trid)
{
	static double ns[WAKES_MAX];
	size_t count = bench_pick(WAKES_MAX, 100, 3);

	(void)drain(trid);
	for (size_t i = 0; i < count; i++) {
		/* Not in step with the period in which the owner looks. */
		bench_sleep_until(bench_ns() + 1000000 + i * 7919 % 5000 * 1000);
		ns[i] = one_wake(trid);
	}
	bench_value("a producer's event", "median", "us", bench_median(ns, count) * 1e-3);
	bench_value("a producer's event", "p99", "us", ns[count - 1 - count / 100] * 1e-3);
	bench_value("a producer's event", "maximum", "us", ns[count - 1] * 1e-3);
}

int main(int argc, char **argv)
{
	double attaching;
	double alone;
	double beside;
	trace_id_t trid;

	bench_begin(argc, argv, "attach", NULL);
	bench_frame_size(3, 10);
	(void)snprintf(name, sizeof(name), "bench-attach-%d", (int)getpid());
	begin_child();
	bench_pin(0);
	bench_ok("event", posix_trace_eventid_open("event", &type));
	bench_say_facts();
	tell(OWN);
	bench_table("attaching", "posix_trace_attach_np(), by the memory that the producer brings");
	attaching = say_attaches();
	bench_table("cost", "An event, one thread");
	say_events(&alone, &beside);
	tell(LET_GO);
	trid = open_stream(1);
	tell(JOIN);
	bench_table("taking", "Events of another process, processor time of the owner");
	say_taking(trid);
	bench_table("waking", "From a producer's trace point to the return of a sleeping reader");
	say_waking(trid);
	tell(LEAVE);
	bench_ok("shutdown", posix_trace_shutdown(trid));
	bench_table("targets", "Targets");
	bench_target("attaching", "us", attaching, BENCH_AT_MOST, 100);
	bench_target("4 B event in an attached stream", "x private", alone, BENCH_AT_MOST, 1.05);
	bench_target("the same taken each 5 ms", "x private", beside, BENCH_AT_MOST, 1.05);
	(void)close(pipes.to_child);
	(void)wait(NULL);
	return 0;
}
