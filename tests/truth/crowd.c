/* SPDX-License-Identifier: MIT */
/* crowd.c - see ground.h. */
#define _GNU_SOURCE
#include "ground.h"

#include "conformance/story.h"
#include "suite.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#define S_NS      INT64_C(1000000000)
#define PERIOD_NS 60000
#define SPAN_NS   20000
#define PACE_NS   500 /* an event each, all in all; who was kept away makes up for it */
#define BURST     16u
#define TICK_US   97 /* of the timer */

static struct crowd_wish wished;
static pthread_t threads[CROWD_MEMBERS];
static atomic_int members;
static _Thread_local int handler_source = -1;

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return st_ns(&now);
}

uint32_t crowd_events(uint32_t ms)
{
	return (uint32_t)((uint64_t)ms * 1000000 / PACE_NS);
}

uint32_t crowd_ms(void)
{
	return pxt_in_full() || PXT_SANITIZED ? 550 : 200;
}

unsigned crowd_rounds(void)
{
	return pxt_in_full() ? 4 : 1;
}

void crowd_sleep_us(unsigned us)
{
	struct timespec time = { 0, (long)us * 1000 };

	(void)nanosleep(&time, NULL);
}

/* ---- Handlers ---- */

static void trace_in_handler(int signal)
{
	int error = errno;

	if (handler_source >= 0)
		(void)rd_say((unsigned)handler_source);
	errno = error;
}

static void let_signals(bool in)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGALRM);
	(void)pthread_sigmask(in ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

static void set_timer(unsigned us)
{
	struct itimerval timer = { .it_interval.tv_usec = (suseconds_t)us,
		.it_value.tv_usec = (suseconds_t)us };
	struct sigaction action = { 0 };

	action.sa_handler = trace_in_handler;
	action.sa_flags = SA_RESTART;
	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- Members ---- */

/* Before the others: by its class if that is allowed; if not, they step back for it. */
static void step_up(void)
{
	const struct sched_param first = { .sched_priority = 10 };

	(void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
}

static void step_back(void)
{
	/* Of the calling thread, where threads have such a value; else of none that matters. */
	(void)setpriority(PRIO_PROCESS, 0, 10);
}

static void spin_until(int64_t ns)
{
	while (now_ns() < ns)
		;
}

static void *be_the_peak(void *argument)
{
	int64_t next = now_ns();
	int64_t end = next + (int64_t)wished.ms * 1000000;

	st_pin_to(0);
	step_up();
	while (next < end && rd_say(CROWD_PEAK)) {
		struct timespec until;

		spin_until(now_ns() + SPAN_NS);
		if (!rd_say(CROWD_PEAK))
			break;
		next += PERIOD_NS;
		/* What is missed stays missed: the others must come to their turn. */
		if (next < now_ns())
			next = now_ns() + PERIOD_NS / 2;
		until = (struct timespec){ (time_t)(next / S_NS), (long)(next % S_NS) };
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	atomic_fetch_sub(&members, 1);
	return NULL;
}

static void trace_in_a_loop(enum crowd_member me, uint32_t ms)
{
	int64_t began = now_ns();
	int64_t end = began + (int64_t)ms * 1000000;

	st_pin_to(me == CROWD_BESIDE);
	step_back();
	for (uint32_t n = 0; n % BURST != 0 || now_ns() < end; n++) {
		if (n % BURST == 0)
			spin_until(began + (int64_t)n * PACE_NS);
		if (!rd_say(me))
			break;
	}
}

static void *be_one_in_a_loop(void *argument)
{
	enum crowd_member me = *(const enum crowd_member *)argument;

	if (wished.signals) {
		handler_source = (int)(me + RD_HANDLER);
		let_signals(true);
	}
	trace_in_a_loop(me, wished.ms);
	let_signals(false);
	atomic_fetch_sub(&members, 1);
	return NULL;
}

void crowd_be_beside(uint32_t ms)
{
	trace_in_a_loop(CROWD_BESIDE, ms);
}

/* ---- All of them ---- */

void crowd_begin(const struct crowd_wish *wish)
{
	static enum crowd_member below = CROWD_BELOW;
	static enum crowd_member beside = CROWD_BESIDE;

	wished = *wish;
	atomic_store(&members, wish->forked ? 2 : 3);
	/* Inherited by all threads; those who are to be interrupted let them in. */
	let_signals(false);
	PXT_EQ_FATAL(pthread_create(&threads[CROWD_PEAK], NULL, be_the_peak, NULL), 0);
	PXT_EQ_FATAL(pthread_create(&threads[CROWD_BELOW], NULL, be_one_in_a_loop, &below), 0);
	if (!wish->forked)
		PXT_EQ_FATAL(
		    pthread_create(&threads[CROWD_BESIDE], NULL, be_one_in_a_loop, &beside), 0);
	if (wish->signals)
		set_timer(TICK_US);
}

bool crowd_busy(void)
{
	return atomic_load(&members) > 0;
}

static unsigned processors(cpu_set_t *allowed)
{
	CPU_ZERO(allowed);
	(void)sched_getaffinity(0, sizeof(*allowed), allowed);
	return (unsigned)CPU_COUNT(allowed);
}

static void move(pthread_t thread, unsigned to)
{
	cpu_set_t allowed;
	cpu_set_t one;

	to %= processors(&allowed);
	CPU_ZERO(&one);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &allowed) && to-- == 0)
			CPU_SET(cpu, &one);
	}
	(void)pthread_setaffinity_np(thread, sizeof(one), &one);
}

void crowd_move(unsigned turn)
{
	move(threads[CROWD_BELOW], turn);
	if (!wished.forked)
		move(threads[CROWD_BESIDE], turn / 2u + 1u);
}

void crowd_end(void)
{
	(void)pthread_join(threads[CROWD_PEAK], NULL);
	(void)pthread_join(threads[CROWD_BELOW], NULL);
	if (!wished.forked)
		(void)pthread_join(threads[CROWD_BESIDE], NULL);
	set_timer(0);
}
