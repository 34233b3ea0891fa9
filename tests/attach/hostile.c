/* SPDX-License-Identifier: MIT */
/*
 * hostile.c - attached processes write nonsense into the memory that they attached with, while the
 * owner reads, saves, stops and starts.  It does not crash, wait or go out of bounds (run it with
 * AddressSanitizer, too); its own events and an honest process' come, at the time when they
 * happened.  3 seconds in all, half a minute with PXT_STRESS=full, two minutes with a sanitizer as well.
 */
#define _GNU_SOURCE
#include "format/ids.h"
#include "party.h"
#include "scribble.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define HOSTILES  3u
#define LATEST_NS 2000000000LL /* what a call may take on a machine that does other things */

static trace_id_t trid;
static trace_event_id_t own;
static uint64_t seed = 88172645463325252u;
static uint32_t sent;
static uint32_t expected;
static unsigned wrong;
static unsigned late;
static uint64_t honest_seen;
static pid_t pids[1024];
static unsigned involved;

static struct producer begin(void (*body)(void *argument), void *argument)
{
	struct producer producer = producer_begin(body, argument);

	pids[involved++ % 1024] = producer.pid;
	(void)producer_told(&producer);
	return producer;
}

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static long long monotonic_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long budget_ns(void)
{
	if (!pxt_in_full())
		return 300000000LL;
	return PXT_SANITIZED ? 15000000000LL : 4000000000LL;
}

/* ---- The others ---- */

struct task {
	uint64_t seed;
	unsigned kinds;
};

/* What it does to itself is nobody's business. */
static void be_hostile(void *argument)
{
	const struct task *task = argument;
	static const size_t sizes[] = { 2048, 8192, 65536 };
	const struct rlimit none = { 0, 0 };
	trace_event_id_t id;

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)posix_trace_eventid_open("hostile.a", &id);
	(void)posix_trace_eventid_open("hostile.b", &id);
	(void)producer_attach(sizes[task->seed % 3]);
	for (int i = 0; i < 100; i++)
		posix_trace_event(id, "hello", 5);
	(void)freopen("/dev/null", "w", stderr);
	producer_say(0);
	scribble(task->seed, task->kinds);
}

static void be_honest(void *argument)
{
	trace_event_id_t id;

	(void)producer_attach(0);
	(void)posix_trace_eventid_open("hostile.honest", &id);
	producer_say(0);
	for (uint32_t i = 0;; i++) {
		posix_trace_event(id, &i, sizeof(i));
		pxt_sleep_ms(1);
	}
}

/* ---- The owner ---- */

static bool is_known(pid_t pid)
{
	for (unsigned i = 0; i < involved; i++) {
		if (pids[i] == pid)
			return true;
	}
	return pid == getpid();
}

/* Nobody passes for another process.  Reported times are not what somebody made up: none lies in the future. */
static void look_at(const struct pxt_event *event, trace_event_id_t honest)
{
	uint32_t number;

	wrong += pxt_ns(&event->info.posix_timestamp) > pxt_now_ns() + 1000000000LL;
	wrong += !is_known(event->info.posix_pid);
	honest_seen += event->info.posix_event_id == honest;
	/* Others may use the name, too. */
	if (event->info.posix_event_id != own || event->info.posix_pid != getpid())
		return;
	memcpy(&number, event->data, sizeof(number));
	wrong += number < expected;
	expected = number + 1u;
}

static void read_some(trace_event_id_t honest)
{
	struct pxt_event event;

	for (int i = 0; i < 500 && pxt_next(trid, &event); i++)
		look_at(&event, honest);
}

#if _PXT_UNIT_TOLOG && CONFIG_PTRACE_SNAPSHOT
static void take_snapshot(int log)
{
	PXT_EQ(ftruncate(log, 0), 0);
	PXT_EQ(posix_trace_snapshot_np(trid, log), 0);
}
#else
static void take_snapshot(int log)
{
}
#endif

static void one_deed(trace_event_id_t honest, int log)
{
	struct posix_trace_status_info status;
	struct posix_trace_counts_np counts;

	posix_trace_event(own, &sent, sizeof(sent));
	sent++;
	switch (any() % 16) {
	case 0:
		PXT_EQ(posix_trace_stop(trid), 0);
		PXT_EQ(posix_trace_start(trid), 0);
		break;
	case 1:
		PXT_EQ(posix_trace_get_status(trid, &status), 0);
		PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
		break;
	case 2:
		take_snapshot(log);
		break;
	case 3:
		if (any() % 8 == 0)
			PXT_EQ(posix_trace_clear(trid), 0);
		break;
	default:
		read_some(honest);
		break;
	}
}

static void go_on_for(long long ns, trace_event_id_t honest, int log)
{
	long long end = monotonic_ns() + ns;

	for (long long now = monotonic_ns(); now < end;) {
		long long before = now;

		one_deed(honest, log);
		now = monotonic_ns();
		late += now - before > LATEST_NS;
	}
}

static void beside(unsigned kinds, int policy)
{
	trace_event_id_t honest = pxt_open_event("hostile.honest");
	struct producer hostile[HOSTILES];
	struct producer bystander;
	struct pxt_event event;
	long long slice = budget_ns() / 6;
	/* Not on a disk, whose other users are waited for. */
	int log = memfd_create("log", MFD_CLOEXEC);

	own = pxt_open_event("hostile.own");
	trid = owner_open(&(const struct owner_spec){ .stream_bytes = 65536, .policy = policy });
	sent = expected = wrong = late = 0;
	honest_seen = 0;
	bystander = begin(be_honest, NULL);
	for (int round = 0; round < 6; round++) {
		for (unsigned i = 0; i < HOSTILES; i++) {
			struct task task = { any(), kinds };

			hostile[i] = begin(be_hostile, &task);
		}
		go_on_for(slice, honest, log);
		for (unsigned i = 0; i < HOSTILES; i++)
			producer_kill(&hostile[i]);
	}
	PXT_EQ(wrong, 0);
	PXT_EQ(late, 0);
	CU_ASSERT(honest_seen > 0);
	producer_kill(&bystander);
	(void)close(log);
	for (int i = 0; i < 5000 && owner_producers(trid); i++) {
		while (pxt_next(trid, &event))
			look_at(&event, honest);
		pxt_sleep_ms(1);
	}
	PXT_EQ(owner_producers(trid), 0);
	while (pxt_next(trid, &event))
		look_at(&event, honest);
	posix_trace_event(own, &sent, sizeof(sent));
	PXT_EQ(owner_count(trid, own, 1, 100), 1);
	owner_expect_the_law(trid);
	owner_close(trid);
}

/* LPT-31, SAFE-01 */
PXT_TEST_FRESH(nonsense_in_positions_and_slots_harms_nobody_else)
{
	beside(SCRIBBLE_HEADS | SCRIBBLE_SLOTS, POSIX_TRACE_LOOP);
	beside(SCRIBBLE_SLOTS | SCRIBBLE_RECORDS | SCRIBBLE_FLICKER, POSIX_TRACE_LOOP);
}

/* LPT-31, SAFE-01 */
PXT_TEST_FRESH(records_of_any_kind_thread_and_time_harm_nobody_else)
{
	beside(SCRIBBLE_RECORDS, POSIX_TRACE_LOOP);
	beside(SCRIBBLE_RECORDS | SCRIBBLE_THREADS, POSIX_TRACE_UNTIL_FULL);
}

/* LPT-31, SAFE-01 */
PXT_TEST_FRESH(names_and_descriptions_without_end_harm_nobody_else)
{
	beside(SCRIBBLE_NAMES | SCRIBBLE_RECORDS | SCRIBBLE_HEADERS, POSIX_TRACE_LOOP);
}

/* LPT-31, SAFE-01 */
PXT_TEST_FRESH(anything_anywhere_harms_nobody_else)
{
	beside(SCRIBBLE_WORDS, POSIX_TRACE_LOOP);
	beside(SCRIBBLE_ALL, POSIX_TRACE_LOOP);
	beside(SCRIBBLE_ALL, POSIX_TRACE_UNTIL_FULL);
}
