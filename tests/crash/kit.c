/* SPDX-License-Identifier: MIT */
/* kit.c - see logs.h. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS */
#include "logs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct crash_notes *crash_notes;
trace_id_t crash_stream;
int crash_log;
long crash_took_ms;

static trace_event_id_t type;
/* core/process/process.h */
extern uint64_t pxt_holdback_ns;
extern uint64_t pxt_lock_patience_ns;

void crash_trace(unsigned events)
{
	for (unsigned i = 0; i < events; i++) {
		uint32_t number = atomic_load(&crash_notes->written);

		atomic_store(&crash_notes->begun, number + 1u);
		posix_trace_event(type, &number, sizeof(number));
		atomic_store(&crash_notes->written, number + 1u);
	}
}

static void open_stream(const struct crash *crash)
{
	trace_attr_t attr;

	pxt_attr(
	    &attr, crash->stream_bytes ? crash->stream_bytes : 16384, 64, crash->stream_policy);
	if (crash->log_policy)
		PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, crash->log_policy), 0);
	if (crash->lanes)
		PXT_EQ(posix_trace_attr_setlanes_np(&attr, crash->lanes), 0);
	if (posix_trace_create_withlog(0, &attr, crash_log, &crash_stream) != 0 ||
	    posix_trace_eventid_open("crash_step", &type) != 0 ||
	    posix_trace_start(crash_stream) != 0)
		_exit(99);
}

static _Noreturn void be_the_child(const struct crash *crash)
{
	const struct rlimit no_core = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)alarm(120); /* a hang ends in another signal than the one that is waited for */
	pxt_holdback_ns = 5000000;
	pxt_lock_patience_ns = crash->impatient ? 20000000 : 10000000000;
	if (!crash->unwatched &&
	    posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_FAULTS_NP, NULL, 0) != 0)
		_exit(98);
	open_stream(crash);
	crash_trace(CRASH_EVENTS);
	exit(crash->act(crash));
}

int crash_play(const struct crash *crash)
{
	long long began = pxt_now_ns();
	int status = -1;
	pid_t child;

	if (!crash_notes) {
		crash_notes = mmap(NULL, sizeof(*crash_notes), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		CU_ASSERT_FATAL(crash_notes != MAP_FAILED);
	}
	memset(crash_notes, 0, sizeof(*crash_notes));
	if (crash_log > 0)
		(void)close(crash_log);
	crash_log = crash->fd ? dup(crash->fd) : pxt_temp_file();
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0)
		be_the_child(crash);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	crash_took_ms = (long)((pxt_now_ns() - began) / 1000000);
	return status;
}

int crash_open(trace_id_t *log)
{
	return posix_trace_open(crash_log, log);
}

/* The events that it has, which must be 0, 1, 2 ...; *last becomes the type of its last event. */
static uint32_t count_events(trace_id_t log, trace_event_id_t *last)
{
	struct pxt_got event = { .len = 0 };
	uint32_t next = 0;

	while (pxt_log_next(log, &event)) {
		char name[TRACE_EVENT_NAME_MAX + 1];
		uint32_t number = 0;

		*last = event.info.posix_event_id;
		PXT_EQ(posix_trace_eventid_get_name(log, *last, name), 0);
		if (strcmp(name, "crash_step") != 0)
			continue;
		memcpy(&number, event.data, sizeof(number));
		PXT_EQ(number, next);
		next++;
	}
	return next;
}

static void expect_books(trace_id_t log, uint32_t events, int signal)
{
	struct posix_trace_loginfo_np info;
	const struct posix_trace_counts_np *counts = &info.posix_counts_np;

	PXT_EQ(posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
	PXT_EQ(info.posix_signal_np, signal);
	CU_ASSERT(info.posix_modules_np > 0);
	PXT_EQ(counts->posix_written_np, counts->posix_retrieved_np + counts->posix_lost_np +
	                                     counts->posix_cleared_np + counts->posix_held_np);
	PXT_EQ(counts->posix_held_np, 0);
	/* Only what a writer was about to write can be lost, one for each of them. */
	CU_ASSERT(events + counts->posix_lost_np <= atomic_load(&crash_notes->begun));
}

void crash_expect_whole(int signal)
{
	trace_event_id_t last = 0;
	trace_id_t log = 0;
	uint32_t events;

	PXT_EQ_FATAL(crash_open(&log), 0);
	events = count_events(log, &last);
	PXT_CHECK(events >= atomic_load(&crash_notes->written), "%u of %u events are there", events,
	    atomic_load(&crash_notes->written));
	CU_ASSERT(events <= atomic_load(&crash_notes->begun));
	if (CONFIG_PTRACE_SYSEV_START_STOP)
		PXT_EQ(last, POSIX_TRACE_STOP);
	expect_books(log, events, signal);
	PXT_EQ(posix_trace_close(log), 0);
}

bool crash_expect_honest(int signal)
{
	trace_event_id_t last = 0;
	trace_id_t log = 0;

	if (crash_open(&log) == 0) {
		PXT_EQ(posix_trace_close(log), 0);
		crash_expect_whole(signal);
		return true;
	}
	PXT_EQ_FATAL(
	    posix_trace_log_open_np(&crash_log, 1, POSIX_TRACE_OPEN_GROWING_NP, &log, NULL, 0), 0);
	(void)count_events(log, &last);
	PXT_EQ(posix_trace_close(log), 0);
	return false;
}
