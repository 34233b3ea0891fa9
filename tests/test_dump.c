/* SPDX-License-Identifier: MIT */
/* test_dump.c - the threads of the process as events (rows QNX-56, SHARK-31). */
#define _GNU_SOURCE
#include "suite.h"

#include "format/compiler.h"

#include <trace.h>
#include <trace_np.h>

#if _PXT_UNIT_EXTENSIONS && _PXT_UNIT_USEREVENTS && _PXT_UNIT_ONLINE && _PXT_USER_EVENT_MAX > 5 && \
    CONFIG_PTRACE_DATA_LIMIT >= 64 && CONFIG_PTRACE_FORMAT_POOL_BYTES >= 512
#define HAVE_DUMP 1
#else
#define HAVE_DUMP 0
#endif

#if HAVE_DUMP
#include "port/port_sysinfo.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 3
#define FOUND   64

struct found {
	int64_t tid;
	int64_t prio;
	int64_t rt_prio;
	int64_t cpu;
	char policy[10];
	char state[10];
	char name[17];
};

static struct {
	pthread_t thread;
	char name[16];
	bool idle;
	atomic_int tid;
} workers[WORKERS] = { { .name = "one" }, { .name = "R ) S (two" },
	{ .name = "three", .idle = true } };
static atomic_int leave;

static trace_id_t stream;

static void *work(void *argument)
{
	unsigned index = (unsigned)(uintptr_t)argument;
	struct sched_param none = { 0 };

	(void)prctl(PR_SET_NAME, workers[index].name);
	if (workers[index].idle)
		(void)pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
	atomic_store(&workers[index].tid, (int)syscall(SYS_gettid));
	while (!atomic_load(&leave))
		(void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	return NULL;
}

static void start_workers(void)
{
	atomic_store(&leave, 0);
	for (uintptr_t i = 0; i < WORKERS; i++) {
		atomic_store(&workers[i].tid, 0);
		CU_ASSERT_FATAL(pthread_create(&workers[i].thread, NULL, work, (void *)i) == 0);
	}
	for (unsigned i = 0; i < WORKERS; i++)
		while (atomic_load(&workers[i].tid) == 0)
			(void)sched_yield();
}

static void end_workers(void)
{
	atomic_store(&leave, 1);
	for (unsigned i = 0; i < WORKERS; i++)
		(void)pthread_join(workers[i].thread, NULL);
}

static void begin(bool running)
{
	trace_attr_t attr;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setmaxdatasize(&attr, 64);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	if (running)
		PXT_EQ_FATAL(posix_trace_start(stream), 0);
}

static void copy_text(
    char *to, size_t room, const struct posix_trace_field_np *field, const unsigned char *data)
{
	(void)snprintf(to, room, "%.*s", (int)field->posix_bytes_np,
	    (const char *)data + field->posix_offset_np);
}

/* The fields by their places. */
static void take_field(struct found *to, unsigned place, const struct posix_trace_field_np *field,
    const unsigned char *data)
{
	int64_t *const numbers[] = { &to->tid, &to->prio, &to->rt_prio, &to->cpu };

	if (place < 4)
		*numbers[place] = field->posix_value_np.posix_i_np;
	else if (place == 4)
		copy_text(to->policy, sizeof(to->policy), field, data);
	else if (place == 5)
		copy_text(to->state, sizeof(to->state), field, data);
	else
		copy_text(to->name, sizeof(to->name), field, data);
}

static unsigned read_threads(struct found *found)
{
	struct posix_trace_event_info info;
	struct posix_trace_field_np field;
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	unsigned char data[64];
	unsigned count = 0;
	int unavailable = 0;
	size_t len;

	while (posix_trace_trygetnext_event(
	           stream, &info, data, sizeof(data), &len, &unavailable) == 0 &&
	       !unavailable && count < FOUND) {
		size_t cursor = 0;

		if (info.posix_event_id <= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		PXT_EQ(posix_trace_eventid_getformat_np(
		           stream, info.posix_event_id, format, sizeof(format)),
		    0);
		for (unsigned place = 0; posix_trace_field_next_np(format, data, len, 0, &cursor,
		                             &field, sizeof(field)) == 0;
		     place++)
			take_field(&found[count], place, &field, data);
		count++;
	}
	return count;
}

static const struct found *found_of(const struct found *found, unsigned count, int tid)
{
	for (unsigned i = 0; i < count; i++)
		if (found[i].tid == tid)
			return &found[i];
	CU_FAIL_FATAL("a thread without an event");
	return NULL;
}

/* QNX-56, SHARK-31 */
PXT_TEST_FRESH(a_dump_has_an_event_for_each_thread_with_its_name)
{
	struct found found[FOUND];
	size_t threads = 0;
	unsigned count;

	if (pxt_skip_emulated("it does not tell descriptors of threads"))
		return;
	begin(true);
	start_workers();
	PXT_EQ(posix_trace_dump_threads_np(&threads), 0);
	end_workers();
	count = read_threads(found);
	PXT_EQ(count, threads);
	CU_ASSERT(count >= WORKERS + 1);
	for (unsigned i = 0; i < WORKERS; i++)
		CU_ASSERT_STRING_EQUAL(
		    found_of(found, count, workers[i].tid)->name, workers[i].name);
	(void)found_of(found, count, (int)syscall(SYS_gettid));
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* QNX-56 */
PXT_TEST_FRESH(a_dump_says_what_each_thread_does_and_how_urgent_it_is)
{
	struct found found[FOUND];
	unsigned count;
	int nice = getpriority(PRIO_PROCESS, 0);
	int policy = sched_getscheduler(0);

	if (pxt_skip_emulated("it does not tell descriptors of threads"))
		return;
	begin(true);
	start_workers();
	(void)nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	PXT_EQ(posix_trace_dump_threads_np(NULL), 0);
	end_workers();
	count = read_threads(found);
	const struct found *self = found_of(found, count, (int)syscall(SYS_gettid));
	const struct found *odd = found_of(found, count, workers[1].tid);
	const struct found *idle = found_of(found, count, workers[2].tid);

	CU_ASSERT_STRING_EQUAL(self->state, "runnable");
	CU_ASSERT_STRING_EQUAL(idle->policy, "idle");
	CU_ASSERT(self->cpu >= 0 && self->cpu < 1024);
	if (policy == SCHED_OTHER) {
		CU_ASSERT_STRING_EQUAL(self->policy, "other");
		PXT_EQ(self->prio, 120 + nice);
		/* Its name looks like the rest of its line. */
		PXT_EQ(odd->prio, 120 + nice);
		CU_ASSERT_STRING_EQUAL(odd->policy, "other");
		PXT_EQ(self->rt_prio, 0);
	}
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

PXT_TEST_FRESH(a_dump_that_no_stream_wants_reads_nothing)
{
	struct found found[FOUND];
	size_t threads = 99;

	begin(false);
	PXT_EQ(posix_trace_dump_threads_np(&threads), 0);
	PXT_EQ(threads, 0);
	PXT_EQ(read_threads(found), 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

PXT_TEST_FRESH(a_second_dump_has_the_same_type)
{
	size_t first = 0;
	size_t second = 0;
	struct found found[FOUND];

	if (pxt_skip_emulated("it does not tell descriptors of threads"))
		return;
	begin(true);
	PXT_EQ(posix_trace_dump_threads_np(&first), 0);
	PXT_EQ(posix_trace_dump_threads_np(&second), 0);
	CU_ASSERT(first > 0 && second > 0);
	PXT_EQ(read_threads(found), first + second);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

PXT_TEST(a_thread_that_is_gone_has_no_state)
{
	struct pxt_port_thread_state state;
	int cancel = -1;

	start_workers();
	CU_ASSERT(pxt_port_thread_state(workers[0].tid, &state));
	end_workers();
	for (unsigned i = 0; i < 1000 && pxt_port_thread_state(workers[0].tid, &state); i++)
		(void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	/* The caller notices nothing: errno stays, and so does cancellation. */
	errno = 77;
	CU_ASSERT(!pxt_port_thread_state(workers[0].tid, &state));
	PXT_EQ(errno, 77);
	PXT_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel), 0);
	PXT_EQ(cancel, PTHREAD_CANCEL_ENABLE);
}

/* Its number may be that of a thread which ended here. */
PXT_TEST(a_thread_of_another_process_has_no_state)
{
	struct pxt_port_thread_state state;

	CU_ASSERT(pxt_port_thread_state((int32_t)getpid(), &state));
	CU_ASSERT(!pxt_port_thread_state((int32_t)getppid(), &state));
}

static int32_t own_tid(void)
{
	return (int32_t)syscall(SYS_gettid);
}

static int look_without_input(void *unused)
{
	struct pxt_port_thread_state state;

	(void)close(STDIN_FILENO);
	PXT_CHILD_CHECK(pxt_port_thread_state(own_tid(), &state));
	return 0;
}

/* The first descriptor is then the one by which the line is read. */
PXT_TEST(a_program_that_closed_its_input_has_threads_with_a_state)
{
	PXT_EQ(pxt_in_child(look_without_input, NULL), 0);
}

/* QNX-56 */
PXT_TEST(the_state_says_on_which_cpu_a_thread_ran_last)
{
	struct pxt_port_thread_state state;
	cpu_set_t allowed;

	if (pxt_skip_emulated("it makes the line up"))
		return;
	CU_ASSERT_FATAL(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (!CPU_ISSET(cpu, &allowed) || sched_setaffinity(0, sizeof(one), &one) != 0)
			continue;
		CU_ASSERT(pxt_port_thread_state(own_tid(), &state));
		PXT_EQ(state.cpu, cpu);
	}
	CU_ASSERT(sched_setaffinity(0, sizeof(allowed), &allowed) == 0);
}

/* By the system call: some C libraries' function only says ENOSYS. */
static int be_each_kind(void *unused)
{
	static const struct {
		int policy;
		int urgency;
		const char *word;
	} kinds[] = { { SCHED_BATCH, 0, "batch" }, { SCHED_FIFO, 7, "fifo" },
		{ SCHED_RR, 9, "rr" } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct sched_param param = { .sched_priority = kinds[i].urgency };
		struct pxt_port_thread_state state;

		if (syscall(SYS_sched_setscheduler, 0, kinds[i].policy, &param) != 0)
			continue; /* not allowed here */
		PXT_CHILD_CHECK(pxt_port_thread_state(own_tid(), &state));
		PXT_CHILD_CHECK(strcmp(state.policy, kinds[i].word) == 0);
		PXT_CHILD_CHECK(state.rt_priority == kinds[i].urgency);
		if (kinds[i].urgency)
			PXT_CHILD_CHECK(state.priority == 99 - kinds[i].urgency);
	}
	return 0;
}

/* QNX-56 */
PXT_TEST(the_state_has_a_word_for_each_scheduling_and_its_urgency)
{
	if (!pxt_skip_emulated("it makes the line up"))
		PXT_EQ(pxt_in_child(be_each_kind, NULL), 0);
}

/* Looks on until the thread does nothing any more, for two seconds at the most. */
static bool comes_to_be(int32_t tid, const char *word)
{
	struct pxt_port_thread_state state = { .state = "" };

	for (unsigned i = 0; i < 2000 && pxt_port_thread_state(tid, &state); i++) {
		if (strcmp(state.state, word) == 0)
			return true;
		(void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return false;
}

struct waiting {
	atomic_int tid;
	int tube[2];
};

/* A thread that runs @wait, until a byte comes, is in that state. */
static void expect_that_waits(void *(*wait)(void *waiting), const char *word)
{
	struct waiting waiting = { .tid = 0 };
	pthread_t thread;

	CU_ASSERT_FATAL(pipe(waiting.tube) == 0);
	CU_ASSERT_FATAL(pthread_create(&thread, NULL, wait, &waiting) == 0);
	while (atomic_load(&waiting.tid) == 0)
		(void)sched_yield();
	CU_ASSERT(comes_to_be(waiting.tid, word));
	PXT_EQ(write(waiting.tube[1], "", 1), 1);
	(void)pthread_join(thread, NULL);
	(void)close(waiting.tube[0]);
	(void)close(waiting.tube[1]);
}

static void *wait_for_a_byte(void *argument)
{
	struct waiting *waiting = argument;
	char byte;

	atomic_store(&waiting->tid, own_tid());
	while (read(waiting->tube[0], &byte, 1) < 0)
		;
	return NULL;
}

/* QNX-56 */
PXT_TEST(a_thread_that_waits_is_sleeping)
{
	if (pxt_skip_emulated("it makes the line up"))
		return;
	expect_that_waits(wait_for_a_byte, "sleeping");
}

/* The parent of a vfork() is held until its child ends: no signal reaches it. */
static void *be_held(void *argument)
{
	struct waiting *waiting = argument;
	char byte;
	pid_t child;

	atomic_store(&waiting->tid, own_tid());
	child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
	if (child == 0)
		_exit(read(waiting->tube[0], &byte, 1) == 1 ? 0 : 1);
	(void)waitpid(child, NULL, 0);
	return NULL;
}

/* QNX-56 */
PXT_TEST(a_thread_that_no_signal_reaches_is_blocked)
{
	if (pxt_skip_emulated("it has no vfork()"))
		return;
	if (PXT_SANITIZED) {
		pxt_skip("a sanitizer has no vfork()");
		return;
	}
	expect_that_waits(be_held, "blocked");
}

static void *look_at_the_first_thread(void *unused)
{
	_exit(comes_to_be((int32_t)getpid(), "ended") ? 0 : __LINE__ % 256);
	return unused;
}

static int outlive_the_first_thread(void *unused)
{
	pthread_t thread;

	PXT_CHILD_CHECK(pthread_create(&thread, NULL, look_at_the_first_thread, NULL) == 0);
	for (;;)
		(void)syscall(SYS_exit, 0);
}

/* QNX-56: the system lists it as long as the process has others. */
PXT_TEST(a_first_thread_that_has_left_the_others_is_ended)
{
	if (!pxt_skip_emulated("it makes the line up"))
		PXT_EQ(pxt_in_child(outlive_the_first_thread, NULL), 0);
}
#endif
