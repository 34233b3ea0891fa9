/* SPDX-License-Identifier: MIT */
/* ground.c - see ground.h. */
#define _GNU_SOURCE
#include "ground.h"

#include "../beside.h"
#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/process.h"
#include "core/process/threads.h"
#include "suite.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EACH 1024u /* events of a source */

const struct ground *ground;
trace_id_t ground_streams[GROUND_STREAMS];
static struct rd_list lists[GROUND_STREAMS];
static int logs[GROUND_STREAMS];
static _Thread_local volatile uint32_t lane;

unsigned ground_count(void)
{
	return ground->two ? GROUND_STREAMS : 1u;
}

const char *ground_name(void)
{
	return st_text("policy %d, lanes %u, %zu bytes, fill %d%s%s%s%s", ground->policy,
	    ground->lanes, ground->len, (int)ground->fill, ground->ordered ? ", ordered" : "",
	    ground->two ? ", two" : "", ground->logged ? ", logged" : "",
	    ground->many ? ", many at once" : "");
}

/* ---- Writers ---- */

void ground_register(void)
{
	(void)posix_trace_thread_register_np();
	pxt_self.cpu = &lane;
}

void ground_lane(uint32_t to)
{
	lane = to;
}

void ground_say(uint32_t beside, enum ground_source source, size_t len)
{
	uint32_t kept = lane;

	lane = kept + beside;
	CU_ASSERT(rd_say_long(source, len));
	lane = kept;
}

void ground_lap(void)
{
	for (unsigned i = 0; i < GROUND_LAP; i++)
		ground_say(0, LAP, 4);
}

/* ---- Control ---- */

void ground_read(void)
{
	for (unsigned i = 0; i < ground_count(); i++) {
		if (ground->logged)
			PXT_EQ(posix_trace_flush(ground_streams[i]), 0);
		else if (ground->many)
			(void)rd_take_many(&lists[i], ground_streams[i]);
		else
			(void)rd_take(&lists[i], ground_streams[i]);
	}
}

void ground_clear(void)
{
	for (unsigned i = 0; i < ground_count(); i++)
		PXT_EQ(posix_trace_clear(ground_streams[i]), 0);
}

/* ---- One case ---- */

static void open_stream(unsigned i, const trace_attr_t *attr)
{
	if (ground->logged) {
		logs[i] = pxt_temp_file();
		PXT_EQ_FATAL(posix_trace_create_withlog(0, attr, logs[i], &ground_streams[i]), 0);
	} else {
		PXT_EQ_FATAL(posix_trace_create(0, attr, &ground_streams[i]), 0);
	}
	PXT_EQ(rd_call(posix_trace_start, ground_streams[i]), 0);
	if (!lists[i].at)
		rd_list_begin(&lists[i], 4 * EACH);
	lists[i].count = 0;
	lists[i].strange = 0;
}

static void open_streams(void)
{
	const struct st_spec spec = { .policy = ground->policy,
		.size = 1024,
		.max_data = RD_LONGEST,
		.lanes = ground->lanes };
	trace_attr_t attr;

	st_attr(&spec, &attr);
	PXT_EQ(posix_trace_attr_setorderedstamps_np(&attr, ground->ordered), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	for (unsigned i = 0; i < ground_count(); i++)
		open_stream(i, &attr);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}

static void fill_streams(void)
{
	unsigned few = ground->fill == SOME ? 3 : 0;
	unsigned events = ground->fill != BRIM ? few : ground->policy == LOOP ? 50 : 20;

	if (ground->fill != SOME)
		ground_read();
	for (uint32_t to = 0; to < ground->lanes; to++) {
		for (unsigned i = 0; i < events; i++)
			ground_say(to, BEFORE, i % 2 ? 4 : 12);
	}
}

void ground_begin(const struct ground *where)
{
	ground = where;
	rd_begin(EACH);
	open_streams();
	ground_register();
	lane = 0;
	pxt_holdback_ns = LONG_NS;
	fill_streams();
}

/* Everybody has left: what is unfinished still was spoiled by a writer that was overtaken. */
static void expect_the_law(unsigned i)
{
	struct posix_trace_counts_np counts;

	CU_ASSERT(st_law(ground_streams[i], &counts));
	PXT_EQ(counts.posix_held_np, 0);
}

static bool judge(unsigned i, trace_id_t trid, const char *what)
{
	struct rd_verdict verdict;

	rd_judge(&lists[i], trid, 0, &verdict);
	return rd_expect(&verdict, what);
}

static bool judge_log(unsigned i, const char *what)
{
	trace_id_t log;
	bool fine;

	PXT_EQ(lseek(logs[i], 0, SEEK_SET), 0);
	PXT_EQ_FATAL(posix_trace_open(logs[i], &log), 0);
	(void)rd_take(&lists[i], log);
	fine = judge(i, log, what);
	PXT_EQ(posix_trace_close(log), 0);
	PXT_EQ(close(logs[i]), 0);
	return fine;
}

bool ground_end(const char *what)
{
	bool fine = true;

	/* A clear may have left them stopped. */
	for (unsigned i = 0; i < ground_count(); i++)
		(void)rd_call(posix_trace_start, ground_streams[i]);
	ground_say(0, AFTER, 4);
	ground_say(1, AFTER, 32);
	ground_read();
	pxt_holdback_ns = 0;
	ground_read();
	for (unsigned i = 0; i < ground_count(); i++) {
		expect_the_law(i);
		if (!ground->logged)
			fine &= judge(i, ground_streams[i], what);
	}
	for (unsigned i = 0; i < ground_count(); i++) {
		PXT_EQ(rd_call(posix_trace_stop, ground_streams[i]), 0);
		PXT_EQ(posix_trace_shutdown(ground_streams[i]), 0);
		if (ground->logged)
			fine &= judge_log(i, what);
	}
	return fine;
}

/* ---- The crowd ---- */

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
	while (pxt_monotonic_ns() < ns)
		;
}

static void *be_the_peak(void *argument)
{
	int64_t next = pxt_monotonic_ns();
	int64_t end = next + (int64_t)wished.ms * 1000000;

	st_pin_to(0);
	step_up();
	while (next < end && rd_say(CROWD_PEAK)) {
		struct timespec until;

		spin_until(pxt_monotonic_ns() + SPAN_NS);
		if (!rd_say(CROWD_PEAK))
			break;
		next += PERIOD_NS;
		/* What is missed stays missed: the others must come to their turn. */
		if (next < pxt_monotonic_ns())
			next = pxt_monotonic_ns() + PERIOD_NS / 2;
		until = (struct timespec){ (time_t)(next / S_NS), (long)(next % S_NS) };
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	atomic_fetch_sub(&members, 1);
	return NULL;
}

static void trace_in_a_loop(enum crowd_member me, uint32_t ms)
{
	int64_t began = pxt_monotonic_ns();
	int64_t end = began + (int64_t)ms * 1000000;

	st_pin_to(me == CROWD_BESIDE);
	step_back();
	for (uint32_t n = 0; n % BURST != 0 || pxt_monotonic_ns() < end; n++) {
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
