/* SPDX-License-Identifier: MIT */
/*
 * ways.c - the signals that end a process, and what they meet: former handlers, alternate stacks,
 * other threads, the middle of a write, a device that takes nothing.
 */
#define _GNU_SOURCE 1 /* REG_RIP, vfork() */
#include "logs.h"

#include "port/port_log.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The compiler does not know where it points to. */
static volatile int *volatile nowhere = (volatile int *)(uintptr_t)16;

static const struct crash plain = { .log_policy = POSIX_TRACE_APPEND };

static void expect_signal(int status, int number)
{
	PXT_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == number,
	    "ended with status %#x, not by signal %d", (unsigned)status, number);
}

/* Does @act in a child, which must end like that. */
static void expect_signal_of(int (*act)(const struct crash *crash), int argument, int number)
{
	struct crash crash = plain;

	crash.act = act;
	crash.argument = argument;
	expect_signal(crash_play(&crash), number);
}

static void expect_whole_after(int (*act)(const struct crash *crash), int argument, int number)
{
	expect_signal_of(act, argument, number);
	crash_expect_whole(number);
}

static void expect_no_end(int (*act)(const struct crash *crash))
{
	struct crash crash = plain;

	crash.act = act;
	PXT_EQ(crash_play(&crash), 0);
}

static void get_info(struct posix_trace_loginfo_np *info)
{
	trace_id_t log;

	memset(info, 0, sizeof(*info));
	PXT_EQ_FATAL(crash_open(&log), 0);
	PXT_EQ(posix_trace_log_getinfo_np(log, info, sizeof(*info)), 0);
	PXT_EQ(posix_trace_close(log), 0);
}

/* ---- Which signal ---- */

static int fault(const struct crash *crash)
{
	*nowhere = 1;
	return 1;
}

static int fault_behind_a_file(const struct crash *crash)
{
	int fd = pxt_temp_file();
	volatile char *bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	return bytes[0];
}

static int give_up(const struct crash *crash)
{
	abort();
}

static int raise_it(const struct crash *crash)
{
	return raise(crash->argument);
}

/* DEC-23, PROC-08 */
PXT_TEST(every_fatal_signal_completes_the_log_and_still_ends_the_process)
{
	static const int raised[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP };

	expect_whole_after(fault, 0, SIGSEGV);
	expect_whole_after(fault_behind_a_file, 0, SIGBUS);
	expect_whole_after(give_up, 0, SIGABRT);
	for (size_t i = 0; i < sizeof(raised) / sizeof(raised[0]); i++)
		expect_whole_after(raise_it, raised[i], raised[i]);
}

PXT_TEST(the_log_tells_where_the_fault_was_and_who_sent_the_signal)
{
	struct posix_trace_loginfo_np info;

	expect_signal_of(fault, 0, SIGSEGV);
	get_info(&info);
	PXT_EQ(info.posix_signal_np, SIGSEGV);
	PXT_EQ(info.posix_signal_code_np, SEGV_MAPERR);
	PXT_EQ(info.posix_signal_address_np, 16);
	PXT_EQ(info.posix_signal_sender_np, 0);
	PXT_EQ(info.posix_signal_tid_np, info.posix_pid_np);
#if defined(__x86_64__) || defined(__aarch64__)
	/* Somewhere in fault(), which this program has at the same place. */
	CU_ASSERT(info.posix_signal_at_np >= (uintptr_t)fault &&
	          info.posix_signal_at_np < (uintptr_t)fault + 256);
#endif
	expect_signal_of(raise_it, SIGABRT, SIGABRT);
	get_info(&info);
	PXT_EQ(info.posix_signal_np, SIGABRT);
	CU_ASSERT(info.posix_signal_code_np <= 0);
	PXT_EQ(info.posix_signal_address_np, 0);
	PXT_EQ(info.posix_signal_sender_np, info.posix_pid_np);
}

/* ---- What is asked for ---- */

static int watch_sigterm(const struct crash *crash)
{
	static const int signals[] = { SIGTERM };
	struct sigaction now;

	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, signals, 1) == 0);
	PXT_CHILD_CHECK(sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
	return kill(getpid(), SIGTERM);
}

/* What people end programs with, in one word; faults are among them. */
static int watch_ends(const struct crash *crash)
{
	static const int wanted[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP,
		SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	struct sigaction now;

	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_ENDS_NP, NULL, 0) == 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		PXT_CHILD_CHECK(sigaction(wanted[i], NULL, &now) == 0 && now.sa_handler != SIG_DFL);
	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_FAULTS_NP, NULL, 0) == 0);
	PXT_CHILD_CHECK(sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(
	                    POSIX_TRACE_SEAL_FAULTS_NP, (const int[]){ SIGINT }, 1) == 0);
	PXT_CHILD_CHECK(sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_DFL);
	PXT_CHILD_CHECK(sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_ENDS_NP, NULL, 0) == 0);
	return raise(SIGINT);
}

PXT_TEST(the_signals_that_people_end_programs_with_are_one_set)
{
	expect_whole_after(watch_ends, 0, SIGINT);
}

static int ignore_sigterm(const struct crash *crash)
{
	static const int signals[] = { SIGTERM };

	PXT_CHILD_CHECK(signal(SIGTERM, SIG_IGN) != SIG_ERR);
	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, signals, 1) == 0);
	PXT_CHILD_CHECK(raise(SIGTERM) == 0);
	crash_trace(5);
	return 0;
}

PXT_TEST(a_signal_is_watched_if_it_was_asked_for_and_is_not_ignored)
{
	expect_whole_after(watch_sigterm, 0, SIGTERM);
	expect_no_end(ignore_sigterm);
	crash_expect_whole(0);
}

PXT_TEST(without_it_the_log_of_a_crash_is_incomplete)
{
	struct crash crash = plain;
	trace_id_t log;

	crash.unwatched = true;
	crash.act = fault;
	expect_signal(crash_play(&crash), SIGSEGV);
	PXT_EQ(crash_open(&log), EINVAL);
}

/* ---- Former handlers ---- */

static void note_and_leave(int number, siginfo_t *info, void *context)
{
	sigset_t mask;

	atomic_store(&crash_notes->address, (uintptr_t)info->si_addr);
	(void)sigprocmask(SIG_SETMASK, NULL, &mask);
	/* Its own mask, not that of the handler before. */
	_exit(number == SIGSEGV && sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGUSR2)
	          ? 42
	          : 43);
}

/* @handler is the program's, set before the library's. */
static int crash_with(const struct crash *crash, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, NULL, 0) == 0);
	(void)sigaddset(&action.sa_mask, SIGUSR1);
	PXT_CHILD_CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_FAULTS_NP, NULL, 0) == 0);
	return fault(crash);
}

static int crash_with_handler(const struct crash *crash)
{
	return crash_with(crash, note_and_leave);
}

/* The handler found what it looked for, and the log is whole. */
static void expect_content(int (*act)(const struct crash *crash))
{
	struct crash crash = plain;
	int status;

	crash.act = act;
	status = crash_play(&crash);
	CU_ASSERT(WIFEXITED(status));
	PXT_EQ(WEXITSTATUS(status), 42);
	crash_expect_whole(SIGSEGV);
}

PXT_TEST(a_former_handler_is_called_with_what_the_system_said_and_its_own_mask)
{
	expect_content(crash_with_handler);
	PXT_EQ(atomic_load(&crash_notes->address), 16);
}

static void look_what_is_wanted(int number, siginfo_t *info, void *context)
{
	_exit(posix_trace_wanted_np(POSIX_TRACE_UNNAMED_USEREVENT) ? 43 : 42);
}

static int crash_and_look(const struct crash *crash)
{
	PXT_CHILD_CHECK(posix_trace_wanted_np(POSIX_TRACE_UNNAMED_USEREVENT));
	return crash_with(crash, look_what_is_wanted);
}

/* A thread that goes on meanwhile takes the way of a point that is off. */
PXT_TEST(behind_the_seal_no_event_is_wanted)
{
	expect_content(crash_and_look);
}

static struct sigaction below;

static void call_the_one_below(int number, siginfo_t *info, void *context)
{
	atomic_fetch_add(&crash_notes->mark, 1u);
	below.sa_sigaction(number, info, context);
}

static int crash_above(const struct crash *crash)
{
	struct sigaction action = { .sa_sigaction = call_the_one_below, .sa_flags = SA_SIGINFO };

	PXT_CHILD_CHECK(sigaction(SIGSEGV, &action, &below) == 0);
	return fault(crash);
}

PXT_TEST(a_later_handler_may_call_the_librarys)
{
	expect_signal_of(crash_above, 0, SIGSEGV);
	PXT_EQ(atomic_load(&crash_notes->mark), 1);
	crash_expect_whole(SIGSEGV);
}

static int clear_and_fault(const struct crash *crash)
{
	PXT_CHILD_CHECK(posix_trace_clear(crash_stream) == 0);
	atomic_store(&crash_notes->begun, 0);
	atomic_store(&crash_notes->written, 0);
	crash_trace(5);
	return fault(crash);
}

/* DEC-25: what a handler cannot ask for was told when the log began anew */
PXT_TEST(a_log_that_was_cleared_still_says_what_program_it_was)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
		POSIX_TRACE_APPEND };

	for (size_t i = 0; i < 3; i++) {
		struct crash crash = plain;

		crash.log_policy = policies[i];
		crash.act = clear_and_fault;
		expect_signal(crash_play(&crash), SIGSEGV);
		crash_expect_whole(SIGSEGV);
	}
}

static sigjmp_buf back;

static void jump_back(int number)
{
	siglongjmp(back, number);
}

/* What is left of the stream can be used, and does nothing. */
static int survive(const struct crash *crash)
{
	struct posix_trace_status_info status;

	(void)posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, NULL, 0);
	(void)signal(SIGSEGV, jump_back);
	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_FAULTS_NP, NULL, 0) == 0);
	if (!sigsetjmp(back, 1))
		return fault(crash);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "late", 4);
	PXT_CHILD_CHECK(posix_trace_get_status(crash_stream, &status) == 0);
	PXT_CHILD_CHECK(status.posix_stream_status == POSIX_TRACE_SUSPENDED);
	PXT_CHILD_CHECK(posix_trace_flush(crash_stream) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_clear(crash_stream) == 0);
	PXT_CHILD_CHECK(posix_trace_start(crash_stream) == 0);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "late", 4);
	PXT_CHILD_CHECK(posix_trace_get_status(crash_stream, &status) == 0);
	PXT_CHILD_CHECK(status.posix_stream_status == POSIX_TRACE_SUSPENDED);
	PXT_CHILD_CHECK(posix_trace_shutdown(crash_stream) == 0);
	return 7;
}

PXT_TEST(who_survives_the_signal_goes_on_untraced)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
		POSIX_TRACE_FLUSH };

	for (size_t i = 0; i < 3; i++) {
		struct crash crash = plain;

		crash.stream_policy = policies[i];
		crash.act = survive;
		PXT_EQ(crash_play(&crash), 7 << 8);
		crash_expect_whole(SIGSEGV);
	}
}

static void do_nothing(int number)
{
}

/* The signal cannot be sent again, for the system keeps no more of them: calls of the handler fail. */
static int keep_errno(const struct crash *crash)
{
	const int signals[] = { SIGRTMIN };
	const struct rlimit none = { 0, 0 };
	sigset_t set;

	(void)signal(SIGRTMIN, do_nothing);
	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, signals, 1) == 0);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGRTMIN);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)raise(SIGRTMIN);
	PXT_CHILD_CHECK(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
	errno = 1234;
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	PXT_CHILD_CHECK(errno == 1234);
	return 0;
}

/* DEC-32 */
PXT_TEST(the_handler_keeps_errno)
{
	expect_no_end(keep_errno);
}

/* Of the action that stands after the program's own was one with @flags. */
static bool restarts_calls(int flags)
{
	static const int signals[] = { SIGTERM };
	struct sigaction action = { .sa_handler = do_nothing, .sa_flags = flags };

	return posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, NULL, 0) == 0 &&
	       sigaction(SIGTERM, &action, NULL) == 0 &&
	       posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, signals, 1) == 0 &&
	       sigaction(SIGTERM, NULL, &action) == 0 && action.sa_handler != do_nothing &&
	       (action.sa_flags & SA_RESTART);
}

static int ask_for_restarts(const struct crash *crash)
{
	PXT_CHILD_CHECK(restarts_calls(SA_RESTART));
	PXT_CHILD_CHECK(!restarts_calls(0));
	return 0;
}

/* DEC-23 */
PXT_TEST(an_interrupted_call_goes_on_where_it_would_with_the_former_handler)
{
	expect_no_end(ask_for_restarts);
}

/* The action for SIGTERM when it was set behind the library's, and then @signals are watched. */
static bool keeps_its_own(const int *signals, size_t count)
{
	static const int term[] = { SIGTERM };
	struct sigaction now;

	return posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, term, 1) == 0 &&
	       signal(SIGTERM, do_nothing) != SIG_ERR &&
	       posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, signals, count) == 0 &&
	       sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler == do_nothing;
}

static int replace_the_handler(const struct crash *crash)
{
	static const int others[] = { SIGINT };

	PXT_CHILD_CHECK(keeps_its_own(others, 1));
	PXT_CHILD_CHECK(keeps_its_own(others, 0));
	return 0;
}

/* DEC-23 */
PXT_TEST(a_later_handler_stays_when_its_signal_is_no_longer_watched)
{
	expect_no_end(replace_the_handler);
}

/* ---- Stacks ---- */

static int deeper(volatile int *above)
{
	volatile int here[256];

	here[0] = *above + 1;
	return here[0] < 0 ? 0 : deeper(here) + here[0];
}

static int overflow_the_stack(const struct crash *crash)
{
	stack_t stack = { .ss_sp = malloc((size_t)crash->argument),
		.ss_size = (size_t)crash->argument };
	volatile int start = 0;

	if (sigaltstack(&stack, NULL) != 0)
		return 1;
	return deeper(&start);
}

#ifdef _SC_SIGSTKSZ
#define HANDLERS_STACK sysconf(_SC_SIGSTKSZ)
#else
#define HANDLERS_STACK SIGSTKSZ
#endif

PXT_TEST(an_overflown_stack_is_told_of_on_the_alternate_one)
{
	int bytes = (int)HANDLERS_STACK;

	expect_whole_after(overflow_the_stack, bytes < 8192 ? 8192 : bytes, SIGSEGV);
}

/* ---- Threads ---- */

static pthread_barrier_t together;

static void *crash_together(void *argument)
{
	pthread_barrier_wait(&together);
	return (void *)(uintptr_t)fault(argument);
}

static atomic_bool traces_on;

/* Events of its own type, so that the numbered ones stay the first thread's. */
static void *trace_on(void *argument)
{
	trace_event_id_t type;

	if (posix_trace_eventid_open("crash_other", &type) != 0)
		_exit(97);
	while (atomic_load(&traces_on))
		posix_trace_event(type, "on and on and on", 16);
	return argument;
}

static int crash_in_threads(const struct crash *crash)
{
	pthread_t threads[4];
	struct crash copy = *crash;
	unsigned crashing = (unsigned)crash->argument;

	atomic_store(&traces_on, true);
	pthread_barrier_init(&together, NULL, crashing);
	for (unsigned i = 0; i < 4; i++)
		PXT_CHILD_CHECK(pthread_create(&threads[i], NULL,
		                    i < crashing ? crash_together : trace_on, &copy) == 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 1;
}

static int crash_in_another_thread(const struct crash *crash)
{
	struct crash copy = *crash;
	pthread_t thread;

	PXT_CHILD_CHECK(pthread_barrier_init(&together, NULL, 1) == 0);
	PXT_CHILD_CHECK(pthread_create(&thread, NULL, crash_together, &copy) == 0);
	pthread_join(thread, NULL);
	return 1;
}

/* Nobody can be asked in the handler, and the first thread never said its name. */
PXT_TEST(a_log_that_another_thread_s_signal_ended_knows_the_first_thread_s_name)
{
	struct posix_trace_logthread_np thread;
	struct posix_trace_loginfo_np info;
	bool named = false;
	trace_id_t log;

	expect_signal_of(crash_in_another_thread, 0, SIGSEGV);
	get_info(&info);
	PXT_EQ_FATAL(crash_open(&log), 0);
	for (uint32_t i = 0; posix_trace_log_getthread_np(log, i, &thread, sizeof(thread)) == 0;
	     i++)
		named |=
		    thread.posix_tid_np == info.posix_pid_np && thread.posix_name_np[0] != '\0';
	CU_ASSERT(named);
	PXT_EQ(posix_trace_close(log), 0);
}

static int rename_watch_and_crash(const struct crash *crash)
{
	/* What a log tells at each flush it tells once a second at most. */
	PXT_CHILD_CHECK(posix_trace_flush(crash_stream) == 0);
	PXT_CHILD_CHECK(pthread_setname_np(pthread_self(), "renamed") == 0);
	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_FAULTS_NP, NULL, 0) == 0);
	return crash_in_another_thread(crash);
}

PXT_TEST(a_name_that_is_new_when_the_signals_are_asked_for_is_in_the_log)
{
	struct crash crash = plain;
	struct posix_trace_logthread_np thread;
	bool named = false;
	trace_id_t log;

	crash.unwatched = true;
	crash.act = rename_watch_and_crash;
	expect_signal(crash_play(&crash), SIGSEGV);
	PXT_EQ_FATAL(crash_open(&log), 0);
	for (uint32_t i = 0; posix_trace_log_getthread_np(log, i, &thread, sizeof(thread)) == 0;
	     i++)
		named |= strcmp(thread.posix_name_np, "renamed") == 0;
	CU_ASSERT(named);
	PXT_EQ(posix_trace_close(log), 0);
}

/* What others wrote in between is not counted here: only the log's being complete. */
static void expect_complete(int number)
{
	struct posix_trace_loginfo_np info;

	get_info(&info);
	PXT_EQ(info.posix_signal_np, number);
	PXT_EQ(info.posix_counts_np.posix_held_np, 0);
	PXT_EQ(info.posix_counts_np.posix_written_np,
	    info.posix_counts_np.posix_retrieved_np + info.posix_counts_np.posix_lost_np);
}

/* DEC-42; rulings 7, 12 */
PXT_TEST(while_other_threads_trace_on_and_crash_as_well_the_log_is_completed_once)
{
	for (int round = 0; round < 20; round++) {
		struct crash crash = plain;

		crash.stream_policy = round % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_FLUSH;
		crash.act = crash_in_threads;
		crash.argument = 1 + round % 4;
		expect_signal(crash_play(&crash), SIGSEGV);
		expect_complete(SIGSEGV);
	}
}

/* ---- In the middle of a write ---- */

int __real_pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done);
int __wrap_pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done);

/* Before, in the middle of, or after the write that comes when @writes_until is 0. */
enum {
	BEFORE,
	MIDDLE,
	BEHIND,
	PLACES
};
static int crash_place;
static int writes_until = -1;
static int crash_by;
#define A_FAULT 0

static void crash_now(void)
{
	atomic_store(&crash_notes->mark, 1u);
	if (crash_by == A_FAULT)
		*nowhere = 1;
	else
		(void)raise(crash_by);
}

int __wrap_pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done)
{
	bool here = writes_until == 0;
	int error;

	writes_until -= writes_until >= 0;
	if (here && crash_place == MIDDLE)
		(void)__real_pxt_port_log_write_at(log, offset, data, bytes / 2, done);
	if (here && crash_place != BEHIND)
		crash_now();
	error = __real_pxt_port_log_write_at(log, offset, data, bytes, done);
	if (here && crash_place == BEHIND)
		crash_now();
	return error;
}

static int crash_at_write(const struct crash *crash)
{
	trace_event_id_t more;

	/* Something to be told at the end. */
	(void)posix_trace_eventid_open("crash_more", &more);
	crash_place = crash->argument % PLACES;
	crash_by = SIGABRT;
	writes_until = crash->argument / PLACES;
	(void)posix_trace_flush(crash_stream);
	crash_trace(5);
	(void)posix_trace_shutdown(crash_stream);
	return 0;
}

/* DEC-29 */
PXT_TEST(a_write_that_was_interrupted_is_done_again_and_the_log_completed)
{
	static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP,
		POSIX_TRACE_UNTIL_FULL };

	for (size_t i = 0; i < 3; i++) {
		struct crash crash = { .stream_policy = POSIX_TRACE_LOOP,
			.log_policy = policies[i],
			.act = crash_at_write };

		for (;; crash.argument++) {
			int status = crash_play(&crash);
			struct posix_trace_loginfo_np info;

			if (!atomic_load(&crash_notes->mark)) {
				PXT_EQ(status, 0);
				break;
			}
			expect_signal(status, SIGABRT);
			/* A trailer that was on its way says nothing of a signal. */
			get_info(&info);
			crash_expect_whole(info.posix_signal_np);
		}
		CU_ASSERT(crash.argument >= 4 * PLACES);
	}
}

static void *crash_in_a_write(void *argument)
{
	crash_place = MIDDLE;
	crash_by = SIGABRT;
	writes_until = 0;
	(void)posix_trace_flush(crash_stream);
	return NULL;
}

static int crash_beside_a_write(const struct crash *crash)
{
	pthread_t thread;

	PXT_CHILD_CHECK(pthread_create(&thread, NULL, crash_in_a_write, NULL) == 0);
	while (!atomic_load(&crash_notes->mark))
		(void)sched_yield();
	return fault(crash);
}

/* One of them holds the log's lock, and the other one cannot have it. */
PXT_TEST(two_threads_crash_and_the_one_in_the_middle_of_a_write_completes_the_log)
{
	for (int round = 0; round < 5; round++) {
		struct crash crash = { .stream_policy = POSIX_TRACE_LOOP,
			.log_policy = POSIX_TRACE_APPEND,
			.act = crash_beside_a_write,
			.impatient = true };
		int status = crash_play(&crash);

		CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM);
		crash_expect_whole(SIGABRT);
	}
}

static int survive_in_a_write(const struct crash *crash)
{
	static const int signals[] = { SIGTERM };
	bool in_flush;
	int error;

	(void)signal(SIGTERM, do_nothing);
	PXT_CHILD_CHECK(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, signals, 1) == 0);
	crash_place = crash->argument % PLACES;
	crash_by = SIGTERM;
	writes_until = crash->argument / PLACES;
	error = posix_trace_flush(crash_stream);
	PXT_CHILD_CHECK(error == (atomic_load(&crash_notes->mark) ? ECANCELED : 0));
	in_flush = atomic_load(&crash_notes->mark);
	error = posix_trace_shutdown(crash_stream);
	PXT_CHILD_CHECK(error == (atomic_load(&crash_notes->mark) && !in_flush ? ECANCELED : 0));
	return 0;
}

PXT_TEST(a_flush_that_survives_the_handler_writes_nothing_behind_the_logs_end)
{
	struct crash crash = { .stream_policy = POSIX_TRACE_LOOP,
		.log_policy = POSIX_TRACE_APPEND,
		.act = survive_in_a_write };
	struct posix_trace_loginfo_np info;

	for (;; crash.argument++) {
		PXT_EQ(crash_play(&crash), 0);
		if (!atomic_load(&crash_notes->mark))
			break;
		get_info(&info);
		crash_expect_whole(info.posix_signal_np);
	}
	CU_ASSERT(crash.argument > PLACES);
}

/* In the write that the handler itself makes. */
static int crash_in_the_handler(const struct crash *crash)
{
	crash_place = BEFORE;
	crash_by = crash->argument;
	writes_until = 0;
	return raise(SIGFPE);
}

PXT_TEST(a_crash_of_the_handler_ends_the_process_at_once)
{
	struct crash crash = plain;
	trace_id_t log;

	crash.act = crash_in_the_handler;
	crash.argument = A_FAULT;
	expect_signal(crash_play(&crash), SIGSEGV);
	CU_ASSERT(crash_took_ms < 10000);
	PXT_EQ(crash_open(&log), EINVAL);
	/* What was only sent waits until the handler is done. */
	crash.argument = SIGSEGV;
	CU_ASSERT(WIFSIGNALED(crash_play(&crash)));
	crash_expect_whole(SIGFPE);
}

/* ---- Devices ---- */

static int fault_behind_the_other_end(const struct crash *crash)
{
	return shutdown(crash->fd, SHUT_RDWR) == 0 ? fault(crash) : 1;
}

PXT_TEST(a_device_that_is_gone_does_not_change_the_signal)
{
	struct crash crash = { .stream_policy = POSIX_TRACE_LOOP,
		.log_policy = POSIX_TRACE_APPEND,
		.act = fault_behind_the_other_end };
	int ends[2];

	PXT_EQ_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	crash.fd = ends[1];
	expect_signal(crash_play(&crash), SIGSEGV);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/* ---- Children ---- */

static int crash_in_a_child(const struct crash *crash)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(fault(crash));
	PXT_CHILD_CHECK(waitpid(child, &status, 0) == child);
	PXT_CHILD_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	crash_trace(5);
	return 0;
}

static int crash_in_a_vfork_child(const struct crash *crash)
{
	int status = 0;
	pid_t child = vfork();

	if (child == 0)
		_exit(kill(getpid(), SIGSEGV)); /* raise() may mean the thread it was */
	PXT_CHILD_CHECK(waitpid(child, &status, 0) == child);
	PXT_CHILD_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	crash_trace(5);
	return crash->argument ? fault(crash) : 0;
}

/* PROC-11, DEC-34, DEC-23 */
PXT_TEST(the_crash_of_a_child_leaves_its_parents_log_alone)
{
	expect_no_end(crash_in_a_child);
	crash_expect_whole(0);
	expect_no_end(crash_in_a_vfork_child);
	crash_expect_whole(0);
	expect_whole_after(crash_in_a_vfork_child, 1, SIGSEGV);
}

/* ---- Core files ---- */

static int dump(const struct crash *crash)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	(void)setrlimit(RLIMIT_CORE, &all);
	(void)chdir("/nonexistent");
	return fault(crash);
}

PXT_TEST(the_system_dumps_core_as_it_would_without_the_handler)
{
	struct crash crash = plain;
	int with;
	int without;

	crash.act = dump;
	with = crash_play(&crash);
	crash.unwatched = true;
	without = crash_play(&crash);
	PXT_EQ(with, without);
}
