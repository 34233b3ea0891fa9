/* SPDX-License-Identifier: MIT */
/*
 * counter.c - ten years by the processor's counter itself, on the short path as it is shipped.
 *
 * That path reads the counter by one instruction, which no fake can be before.  The system can: it
 * makes the instruction a fault, whose handler says what was read.  The rest is as in years.c.
 */
#define _GNU_SOURCE
#include "core/process/process.h"
#include "core/process/threads.h"
#include "core/stream/wanted.h"
#include "suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <trace.h>
#include <trace_np.h>
#include <ucontext.h>

#define YEAR_S   UINT64_C(31556952)
#define YEARS    10u
#define EVENTS   65536u
#define NS_PER_S 1000000000
#define THREADS  2u

struct said {
	uint32_t who;
	uint32_t number;
};

static volatile uint64_t counter;
static volatile uint64_t readings;
static uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);

static trace_id_t stream;
static trace_event_id_t type;
static struct posix_trace_clock_np clock_of;
static struct pxt_who threads[THREADS];
static volatile uint32_t cpu;

static uint64_t stamps[THREADS][EVENTS];
static uint32_t sent[THREADS];
static uint32_t reported[THREADS];
static uint64_t latest;
static struct timespec before;

static uint64_t random_below(uint64_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % limit;
}

/* ---- The counter ---- */

static void answer(int signal, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *code;

	memcpy(&code, &registers[REG_RIP], sizeof(code));
	if (code[0] != 0x0f || code[1] != 0x31) {
		/* A fault like others: again, and to its end. */
		(void)sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
		return;
	}
	registers[REG_RIP] += 2;
	registers[REG_RAX] = (greg_t)(counter & 0xffffffffu);
	registers[REG_RDX] = (greg_t)(counter >> 32);
	readings++;
}

static bool take_over(void)
{
	const struct sigaction action = { .sa_sigaction = answer, .sa_flags = SA_SIGINFO };

	return sigaction(SIGSEGV, &action, NULL) == 0 &&
	       prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0;
}

static bool give_back(void)
{
	return prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) == 0;
}

/* ---- Writing and reading ---- */

static int begin(unsigned lanes)
{
	trace_attr_t attr;

	PXT_CHILD_CHECK(posix_trace_attr_init(&attr) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setstreamsize(&attr, 65536) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setlanes_np(&attr, lanes) == 0);
	PXT_CHILD_CHECK(posix_trace_create(0, &attr, &stream) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_destroy(&attr) == 0);
	PXT_CHILD_CHECK(posix_trace_eventid_open("counter", &type) == 0);
	PXT_CHILD_CHECK(posix_trace_getclock_np(stream, &clock_of, sizeof(clock_of)) == 0);
	for (unsigned i = 0; i < THREADS; i++) {
		PXT_CHILD_CHECK(pxt_threads_register());
		threads[i] = pxt_self;
		threads[i].cpu = &cpu;
	}
	PXT_CHILD_CHECK(posix_trace_start(stream) == 0);
	/* The one short path there is: of a stream that is alone, and overwrites. */
	PXT_CHILD_CHECK(pxt_fork.hot != PXT_NO_HOT);
	counter = clock_of.posix_anchor_ticks_np + clock_of.posix_hz_np;
	PXT_CHILD_CHECK(take_over());
	return 0;
}

/* Thread @who on processor @who; the lengths take both ways of the short path. */
static int say(unsigned who)
{
	struct said said[8] = { { who, sent[who] } };
	uint64_t read_before = readings;

	PXT_CHILD_CHECK(sent[who] < EVENTS);
	pxt_self = threads[who];
	cpu = who;
	stamps[who][sent[who]++] = counter;
	posix_trace_event(type, said, sizeof(said[0]) * (1 + sent[who] % 8));
	PXT_CHILD_CHECK(readings == read_before + 1);
	return 0;
}

/* anchor + floor(ticks * 10^9 / hz), to the nanosecond. */
static bool is_time_of(const struct timespec *time, uint64_t ticks)
{
	uint64_t count = ticks - clock_of.posix_anchor_ticks_np;
	uint64_t ns = count % clock_of.posix_hz_np * NS_PER_S / clock_of.posix_hz_np +
	              (uint64_t)clock_of.posix_anchor_np.tv_nsec;
	uint64_t seconds = count / clock_of.posix_hz_np + ns / NS_PER_S;

	return time->tv_sec == clock_of.posix_anchor_np.tv_sec + (time_t)seconds &&
	       time->tv_nsec == (long)(ns % NS_PER_S);
}

static int judge(const struct posix_trace_event_info *info, const struct said *said)
{
	struct posix_trace_eventextra_np extra;

	PXT_CHILD_CHECK(posix_trace_eventinfo_getextra_np(info, &extra, sizeof(extra)) == 0);
	if (extra.posix_ticks_np > latest)
		latest = extra.posix_ticks_np;
	PXT_CHILD_CHECK(is_time_of(&info->posix_timestamp, latest));
	PXT_CHILD_CHECK(info->posix_timestamp.tv_sec > before.tv_sec ||
	                (info->posix_timestamp.tv_sec == before.tv_sec &&
	                    info->posix_timestamp.tv_nsec >= before.tv_nsec));
	before = info->posix_timestamp;
	if (info->posix_event_id != type)
		return 0;
	PXT_CHILD_CHECK(said->who < THREADS && said->number == reported[said->who]);
	PXT_CHILD_CHECK(extra.posix_ticks_np == stamps[said->who][said->number]);
	reported[said->who]++;
	return 0;
}

static int read_all(void)
{
	struct posix_trace_event_info info;
	struct said said[64];
	int unavailable = 0;
	int line = 0;
	size_t len;

	while (!line) {
		PXT_CHILD_CHECK(posix_trace_trygetnext_event(
		                    stream, &info, said, sizeof(said), &len, &unavailable) == 0);
		if (unavailable)
			return 0;
		line = judge(&info, said);
	}
	return line;
}

static int end(void)
{
	int line;

	counter += clock_of.posix_hz_np;
	line = read_all();
	PXT_CHILD_CHECK(give_back());
	for (unsigned i = 0; i < THREADS && !line; i++)
		PXT_CHILD_CHECK(reported[i] == sent[i]);
	PXT_CHILD_CHECK(line || posix_trace_shutdown(stream) == 0);
	return line;
}

/* ---- Tests ---- */

/* Nothing, little, a second or so, days, and around wraps of 32 bits; in steps of @step. */
static uint64_t gap(uint64_t step)
{
	uint64_t day = clock_of.posix_hz_np * 86400;
	uint64_t ticks;

	switch (random_below(6)) {
	case 0:
		ticks = 0;
		break;
	case 1:
	case 2:
		ticks = random_below(1000);
		break;
	case 3:
		ticks = random_below(clock_of.posix_hz_np * 2);
		break;
	case 4:
		ticks = ((1 + random_below(9)) << 32) - 1 + random_below(3);
		break;
	default:
		ticks = random_below(4 * day);
	}
	return ticks / step * step;
}

static int ten_years(void *argument)
{
	uint64_t step = *(const uint64_t *)argument;
	uint64_t stop;
	int line = begin(1);

	stop = counter + YEARS * YEAR_S * clock_of.posix_hz_np;
	while (!line && counter < stop) {
		counter += gap(step);
		line = say(0);
		if (!line && random_below(100) == 0)
			line = read_all();
	}
	return line ? line : end();
}

/* Processor 1 is after; the reader is on the other one. */
static int differ(void *argument)
{
	uint64_t apart = *(const uint64_t *)argument;
	uint64_t ahead;
	int line = begin(2);

	ahead = counter + apart;
	for (uint32_t i = 0; i < 10000 && !line; i++) {
		unsigned who = (unsigned)random_below(THREADS);

		ahead += random_below(300);
		counter = ahead - (who ? apart : 0);
		line = say(who);
		counter = ahead;
		if (!line && random_below(100) == 0)
			line = read_all();
	}
	return line ? line : end();
}

static int can(void *unused)
{
	PXT_CHILD_CHECK(begin(1) == 0);
	PXT_CHILD_CHECK(clock_of.posix_source_np == POSIX_TRACE_CLOCK_TSC_NP);
	PXT_CHILD_CHECK(say(0) == 0);
	return 0;
}

static bool can_tell(void)
{
	if (pxt_in_child(can, NULL) == 0)
		return true;
	pxt_skip("no counter that is read by one instruction, or the system does not take it over");
	return false;
}

/* TIM-06, TIM-01, DEC-18; ruling 6 */
PXT_TEST(the_short_path_is_exact_over_ten_years_of_the_counter)
{
	static uint64_t steps[] = { 1, 26 };

	for (size_t i = 0; i < 2 && can_tell(); i++) {
		int line = pxt_in_child(ten_years, &steps[i]);

		PXT_CHECK(line == 0, "steps of %llu: line %d", (unsigned long long)steps[i], line);
	}
}

/* TIM-03, TIM-04, TIM-06 */
PXT_TEST(the_short_path_reports_processors_that_differ_without_a_step_back)
{
	static uint64_t apart[] = { 1, 26, 3000, 1000000 };

	for (size_t i = 0; i < 4 && can_tell(); i++) {
		int line = pxt_in_child(differ, &apart[i]);

		PXT_CHECK(line == 0, "%llu apart: line %d", (unsigned long long)apart[i], line);
	}
}
