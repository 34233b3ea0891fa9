/* SPDX-License-Identifier: MIT */
/*
 * rotated_killed.c - a process is killed at each step from one file of a log to the next, or crashes there: nothing
 * that a flush had written is lost, and nothing is there twice; after a crash the log has its end.
 */
#define _GNU_SOURCE
#include "core/testpoints.h"
#include "format/compiler.h"
#include "logs.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void (*_Atomic pxt_testpoint_hook)(int point);

/* What outlives the process. */
static struct ledger {
	uint32_t flushed; /* the last event that a flush has returned from */
	uint32_t met;     /* points */
	uint32_t recorded;
	int point; /* where it ended */
	bool over;
} * ledger;

static uint32_t dies_at;
static int dies_of;

static void die(int point)
{
	if (point < PXT_TP_LOG_EMPTIED || ledger->point || ++ledger->met < dies_at)
		return;
	ledger->point = point;
	(void)raise(dies_of);
	for (;;)
		(void)pause();
}

static void record(trace_event_id_t event, uint32_t first, uint32_t last)
{
	folder_record(event, first, last);
	ledger->recorded = last;
}

static void be_killed(const struct folder *folder)
{
	const struct posix_trace_rotation_np rotation = { .posix_name_np = "run.ptl",
		.posix_files_np = 2 };
	trace_event_id_t event = pxt_open_event("tick");
	trace_id_t trid = folder_stream(folder, NULL, &rotation);

	/* A sanitizer's handler would end the process by a status. */
	if (dies_of != SIGKILL)
		(void)signal(dies_of, SIG_DFL);
	if (dies_of != SIGKILL &&
	    posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_FAULTS_NP, NULL, 0) != 0)
		_exit(1);
	record(event, 1, 100);
	if (posix_trace_flush(trid) != 0 || posix_trace_rotate_np(trid) != 0)
		_exit(1);
	ledger->flushed = 100;
	record(event, 101, 200);
	if (posix_trace_flush(trid) != 0)
		_exit(1);
	ledger->flushed = 200;
	pxt_testpoint_hook_set(die);
	/* The oldest file goes: its 100 events are not lost by the kill. */
	if (posix_trace_rotate_np(trid) != 0)
		_exit(1);
	record(event, 201, 300);
	if (posix_trace_flush(trid) != 0)
		_exit(1);
	ledger->flushed = 300;
	if (posix_trace_rotate_np(trid) != 0)
		_exit(1);
	ledger->over = true;
	_exit(0);
}

/*
 * Events from where the oldest file begins up to the last one that was flushed, in a row.  Whether the log has its
 * end, and then all events.
 */
static bool judge(const struct folder *folder)
{
	bool ended = false;
	uint32_t last = 0;
	unsigned files = 0;

	for (unsigned i = 1; i <= 4; i++) {
		struct folder_log log;

		if (!folder_read(folder, i, "tick", &log))
			continue;
		files++;
		ended = log.whole && log.info.posix_signal_np == dies_of;
		PXT_CHECK(!log.gap && (!last || !log.first || log.first == last + 1),
		    "at %u: file %u begins with %u behind %u", dies_at, i, log.first, last);
		CU_ASSERT(!log.first || log.info.posix_earlier_np >= log.first - 1);
		last = log.last ? log.last : last;
	}
	CU_ASSERT(files >= 1 && files <= 3);
	PXT_CHECK(last >= ledger->flushed, "at %u: the last event is %u of %u", dies_at, last,
	    ledger->flushed);
	if (ended)
		PXT_EQ(last, ledger->recorded);
	return ended;
}

/* At each step; *ended: after how many of them the log has its end. */
static unsigned at_each_step(int signal, unsigned *ended)
{
	dies_of = signal;
	*ended = 0;
	ledger =
	    mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(ledger != MAP_FAILED);
	for (dies_at = 1; !ledger->over; dies_at++) {
		struct folder folder;
		int status = 0;
		bool has_end;
		pid_t child;

		memset(ledger, 0, sizeof(*ledger));
		folder_make(&folder);
		child = fork();
		CU_ASSERT_FATAL(child >= 0);
		if (child == 0)
			be_killed(&folder);
		CU_ASSERT_FATAL(waitpid(child, &status, 0) == child);
		CU_ASSERT_FATAL(ledger->over || WTERMSIG(status) == signal);
		has_end = judge(&folder);
		*ended += has_end;
		/* Where the thread is inside a call of the port. */
		if (signal != SIGKILL &&
		    (ledger->point == PXT_TP_LOG_SENDING || ledger->point == PXT_TP_LOG_SENT ||
		        ledger->point == PXT_TP_LOG_TURN_MADE ||
		        ledger->point == PXT_TP_LOG_TURN_LEFT))
			PXT_CHECK(has_end, "at %u, point %d", dies_at, ledger->point);
		folder_remove(&folder);
	}
	return dies_at;
}

/* LPT-96 */
PXT_TEST(a_process_that_is_killed_from_one_file_to_the_next_loses_nothing_that_was_flushed)
{
	unsigned ended;

	CU_ASSERT(at_each_step(SIGKILL, &ended) > 20);
	PXT_EQ(ended, 0);
}

/* LPT-96, DEC-23: a handler ends the log in the file where it is. */
PXT_TEST(a_crash_while_a_file_is_made_or_written_leaves_a_log_that_has_its_end)
{
	unsigned ended;

	CU_ASSERT(at_each_step(SIGSEGV, &ended) > 20);
	CU_ASSERT(ended > 10);
}
