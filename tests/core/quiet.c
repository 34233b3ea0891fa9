/* SPDX-License-Identifier: MIT */
/*
 * quiet.c - what a trace point does not do: no system call (the system would kill it), no call of
 * the allocator, no page fault, over a million events of each kind.
 *
 * Each kind has a process of its own.  In it one thread, the tracer, first forbids itself all system
 * calls, then traces; the main thread reads the tracer's page faults before and after, because
 * reading them takes a system call.  The result is in a page that is still there when the process
 * was killed.
 */
#define _GNU_SOURCE
#include "suite.h"

#include "../beside.h"
#include "core/record/emit.h"
#include "format/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000u
#endif

#define EVENTS       1000000u
#define WARM_EVENTS  20000u
#define SIGNALS      1000u
#define STREAMS_MAX  8u
#define DATA_MAX     4095u
#define STREAM_BYTES 65536u
#define LOG_BYTES    1048576u
#define TRIES        3

/* ---- The allocator ---- */

static __thread bool watched;
static atomic_ulong allocations;

#if defined(__GLIBC__) && !PXT_SANITIZED

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

static void note(void)
{
	if (watched)
		atomic_fetch_add(&allocations, 1);
}

/* These are before the C library's own, for its own calls as well. */
void *malloc(size_t bytes)
{
	note();
	return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	note();
	return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
	note();
	return __libc_realloc(memory, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
	note();
	return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	note();
	return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
	note();
	*memory = __libc_memalign(alignment, bytes);
	return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
	note();
	__libc_free(memory);
}

#define ALLOCATOR_SEEN 1
#else
#define ALLOCATOR_SEEN 0
#endif

/* ---- A thread without a way to the system ---- */

/* By which a handler returns that asked for no siginfo. */
#ifdef SYS_sigreturn
#define OLD_SIGRETURN SYS_sigreturn
#else
#define OLD_SIGRETURN SYS_rt_sigreturn
#endif

static bool forbid_system_calls(bool signals)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, signals ? SYS_rt_sigreturn : SYS_exit, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, signals ? OLD_SIGRETURN : SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(rules) / sizeof(rules[0]), .filter = rules };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Minor and major faults of thread @tid so far; false where the system does not say. */
static bool faults_of(pid_t tid, unsigned long long faults[2])
{
	char path[64];
	char text[512];
	const char *at;
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[got > 0 ? got : 0] = '\0';
	/* After the name in parentheses: state, 6 numbers, minor, children's minor, major. */
	at = strrchr(text, ')');
	return at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %llu %*u %llu", &faults[0],
	                 &faults[1]) == 2;
}

/* ---- Kinds ---- */

enum what {
	PLAIN,
	TYPED,
	SYSTEM,
	OFFENDS, /* touches a new page and calls the allocator */
	CALLS,   /* the system */
	WAKES,   /* a thread that sleeps */
};

enum before {
	TRACED,     /* the tracer itself traced before it is watched */
	REGISTERED, /* it only registered itself */
	NOTHING,    /* another thread traced: the program's own pages are there */
};

struct kind {
	const char *name;
	enum what what;
	int policy;
	unsigned streams; /* 0: nobody wants the events */
	unsigned lanes;
	size_t shortest, longest; /* lengths go round from one to the other */
	size_t data_max;
	bool filtered;
	bool reader;
	bool signals;
	enum before before;
	bool sleeping_reader; /* without the polling attribute */
};

static const struct kind kinds[] = {
	{ "unwanted: no stream", PLAIN, LOOP, 0, 1, 0, 8, 64, .before = TRACED },
	{ "filtered out", PLAIN, LOOP, 1, 1, 4, 4, 64, .filtered = true },
	{ "four bytes", PLAIN, LOOP, 1, 1, 4, 4, 64, .before = TRACED },
	{ "four bytes, two lanes, a reader", PLAIN, LOOP, 1, 2, 4, 4, 64, .reader = true },
	{ "all lengths, some of them cut", PLAIN, LOOP, 1, 2, 0, 300, 256, .before = TRACED },
	{ "all lengths, a reader", PLAIN, LOOP, 1, 2, 0, 256, 256, .reader = true },
	{ "lengths up to the largest", PLAIN, LOOP, 1, 1, 4000, 4095, 4095, .before = TRACED },
	{ "three streams, readers", PLAIN, LOOP, 3, 2, 0, 64, 64, .reader = true },
	{ "eight streams", PLAIN, LOOP, 8, 1, 0, 20, 64, .before = TRACED },
	{ "full", PLAIN, FULL, 1, 1, 0, 64, 64, .before = TRACED },
	{ "full, two streams of two lanes", PLAIN, FULL, 2, 2, 0, 64, 64, .before = TRACED },
	{ "full and emptied again", PLAIN, FULL, 1, 2, 0, 64, 64, .reader = true },
	{ "flushed to a log meanwhile", PLAIN, FLUSH, 1, 2, 0, 64, 64, .before = TRACED },
	{ "typed points", TYPED, LOOP, 1, 2, 0, 0, 64, .reader = true },
	{ "a system event", SYSTEM, LOOP, 1, 1, 48, 48, 64, .before = TRACED },
	{ "in handlers, too", PLAIN, LOOP, 1, 2, 0, 64, 64, .reader = true, .signals = true },
	{ "in handlers, full", PLAIN, FULL, 2, 1, 0, 64, 64, .reader = true, .signals = true },
	{ "in handlers, flushed", PLAIN, FLUSH, 2, 1, 0, 64, 64, .signals = true },
	{ "first event, registered", PLAIN, LOOP, 1, 2, 0, 64, 64, .before = REGISTERED },
	{ "first event, unregistered", PLAIN, LOOP, 1, 2, 0, 64, 64, .before = NOTHING },
};

/* ---- What is shared ---- */

enum phase {
	PREPARING,
	READY,
	GO,
	DONE,
	RELEASED,
	NO_FILTER
};

struct findings {
	_Atomic uint32_t phase;
	_Atomic int32_t tid;
	atomic_ulong handled;
	atomic_ulong allocated;
	unsigned long long minor;
	unsigned long long major;
	uint64_t written; /* by the first stream, START not counted */
	atomic_ulong expected;
};

static struct findings *found;
static const struct kind *kind;
static trace_event_id_t type;
static trace_id_t trids[STREAMS_MAX];

POSIX_TRACE_DEFINE_NP(quiet_point, u32, number, i64, late_ns, text(8), who, string, why);

static const unsigned char payload[DATA_MAX];

/* ---- The tracer ---- */

/* Nothing here asks the system for anything; a spin is the only way to wait. */
static void wait_for(enum phase phase)
{
	while (atomic_load_explicit(&found->phase, memory_order_acquire) != (uint32_t)phase)
		;
}

static void write_plain(uint32_t number)
{
	size_t span = kind->longest - kind->shortest + 1;

	posix_trace_event(type, payload, kind->shortest + number % span);
}

static void write_one(uint32_t number)
{
	switch (kind->what) {
	case TYPED:
		posix_trace_point_np(quiet_point, number, -5, "tracer", "no reason at all");
		break;
	case SYSTEM:
		pxt_emit_system(POSIX_TRACE_ERROR, payload, 48);
		break;
	case PLAIN:
	case OFFENDS:
	case CALLS:
	case WAKES:
	default:
		write_plain(number);
		break;
	}
}

/* What comes late, after the last event, is not counted on. */
static void handler(int signal)
{
	if (atomic_load(&found->phase) == GO)
		write_one((uint32_t)atomic_fetch_add(&found->handled, 1) * 7u);
}

/* The stack that the calls below and a signal's frame will need. */
static PXT_NOINLINE void touch_stack(void)
{
	volatile unsigned char room[65536];

	for (size_t i = 0; i < sizeof(room); i += 1024)
		room[i] = 1;
}

static void use_allocator(void)
{
	void *volatile memory = malloc(24);

	free(memory);
}

static uint64_t trace_watched(volatile unsigned char *fresh)
{
	uint64_t number = 0;

	if (kind->what == OFFENDS) {
		*fresh = 1;
		use_allocator();
	}
	if (kind->what == CALLS)
		(void)syscall(SYS_getppid);
	while (number < EVENTS || (kind->signals && atomic_load(&found->handled) < SIGNALS)) {
		write_one((uint32_t)number++);
		/* A reader has the time to fall asleep. */
		for (volatile int i = 0; kind->what == WAKES && i < 100000; i++)
			;
		if (kind->what == WAKES)
			number = 0;
	}
	return number;
}

static void *tracer(void *fresh)
{
	uint64_t number;

	atomic_store(&found->tid, (int32_t)syscall(SYS_gettid));
	touch_stack();
	use_allocator();
	if (kind->before == REGISTERED)
		(void)posix_trace_thread_register_np();
	for (uint32_t i = 0; kind->before == TRACED && i < WARM_EVENTS; i++)
		write_one(i);
	if (!forbid_system_calls(kind->signals)) {
		atomic_store(&found->phase, NO_FILTER);
		return NULL;
	}
	watched = true;
	atomic_store(&found->phase, READY);
	wait_for(GO);
	number = trace_watched(fresh);
	atomic_store(&found->expected, (unsigned long)number);
	atomic_store(&found->allocated, atomic_load(&allocations));
	atomic_store(&found->phase, DONE);
	wait_for(RELEASED);
	/* The end of a thread gives memory back; this one only ends. */
	(void)syscall(SYS_exit, 0);
	return NULL;
}

/* ---- Around it ---- */

static void *read_on(void *argument)
{
	const trace_id_t *trid = argument;
	struct posix_trace_event_info info;
	static __thread unsigned char data[DATA_MAX];
	size_t len;
	int unavailable;

	while (posix_trace_getnext_event(*trid, &info, data, sizeof(data), &len, &unavailable) == 0)
		;
	return NULL;
}

static int open_stream(trace_id_t *trid)
{
	trace_event_set_t set;
	trace_attr_t attr;

	UNREPORTED();
	PXT_CHILD_CHECK(posix_trace_attr_init(&attr) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setstreamfullpolicy(&attr, kind->policy) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setstreamsize(&attr, STREAM_BYTES) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setmaxdatasize(&attr, kind->data_max) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setlanes_np(&attr, kind->lanes) == 0);
	PXT_CHILD_CHECK(posix_trace_attr_setpolling_np(&attr, !kind->sleeping_reader) == 0);
	if (kind->policy == FLUSH) {
		/* The helper thread polls, too. */
		PXT_CHILD_CHECK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_LOOP) == 0);
		PXT_CHILD_CHECK(posix_trace_attr_setlogsize(&attr, LOG_BYTES) == 0);
		PXT_CHILD_CHECK(posix_trace_create_withlog(0, &attr, fileno(tmpfile()), trid) == 0);
	} else {
		PXT_CHILD_CHECK(posix_trace_create(0, &attr, trid) == 0);
	}
	PXT_CHILD_CHECK(posix_trace_attr_destroy(&attr) == 0);
	PXT_CHILD_CHECK(posix_trace_eventset_empty(&set) == 0);
	PXT_CHILD_CHECK(posix_trace_eventset_add(type, &set) == 0);
	if (kind->filtered)
		PXT_CHILD_CHECK(posix_trace_set_filter(*trid, &set, POSIX_TRACE_SET_EVENTSET) == 0);
	PXT_CHILD_CHECK(posix_trace_start(*trid) == 0);
	return 0;
}

static int open_streams(void)
{
	int line = 0;

	for (unsigned i = 0; i < kind->streams && !line; i++)
		line = open_stream(&trids[i]);
	return line;
}

static uint64_t written(void)
{
	struct posix_trace_counts_np counts = { 0 };

	if (kind->streams)
		(void)posix_trace_getcounts_np(trids[0], &counts, sizeof(counts));
	return counts.posix_written_np;
}

/* Until the tracer is through; signals go to it meanwhile. */
static void attend(pthread_t thread)
{
	const struct timespec slice = { .tv_sec = 0, .tv_nsec = kind->signals ? 20000 : 100000 };

	while (atomic_load(&found->phase) == GO) {
		if (kind->signals)
			(void)pthread_kill(thread, SIGUSR1);
		(void)nanosleep(&slice, NULL);
	}
}

static int run_tracer(void *fresh)
{
	const struct timespec slice = { .tv_sec = 0, .tv_nsec = 100000 };
	unsigned long long before[2] = { 0 };
	unsigned long long after[2] = { 1, 1 };
	uint64_t already;
	pthread_t thread;

	PXT_CHILD_CHECK(pthread_create(&thread, NULL, tracer, fresh) == 0);
	while (atomic_load(&found->phase) == PREPARING)
		(void)nanosleep(&slice, NULL);
	if (atomic_load(&found->phase) == NO_FILTER)
		return 0;
	already = written();
	PXT_CHILD_CHECK(faults_of(atomic_load(&found->tid), before));
	atomic_store(&found->phase, GO);
	attend(thread);
	PXT_CHILD_CHECK(faults_of(atomic_load(&found->tid), after));
	found->minor = after[0] - before[0];
	found->major = after[1] - before[1];
	found->written = written() - already;
	(void)atomic_fetch_add(&found->expected, atomic_load(&found->handled));
	atomic_store(&found->phase, RELEASED);
	PXT_CHILD_CHECK(pthread_join(thread, NULL) == 0);
	return 0;
}

static int watch(void *unused)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	pthread_t readers[STREAMS_MAX];
	int line;
	void *fresh;

	PXT_CHILD_CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	PXT_CHILD_CHECK(posix_trace_eventid_open("quiet", &type) == 0);
	PXT_CHILD_CHECK(posix_trace_open_np(quiet_point) == 0);
	fresh = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	PXT_CHILD_CHECK(fresh != MAP_FAILED);
	line = open_streams();
	if (line)
		return line;
	/* The program's own pages: they are its files'.  The streams' memory stays as it was made. */
	for (uint32_t i = 0; i < WARM_EVENTS; i++)
		write_one(i);
	for (unsigned i = 0; i < kind->streams; i++)
		PXT_CHILD_CHECK(posix_trace_shutdown(trids[i]) == 0);
	line = open_streams();
	if (line)
		return line;
	for (unsigned i = 0; i < kind->streams && kind->reader; i++)
		PXT_CHILD_CHECK(pthread_create(&readers[i], NULL, read_on, &trids[i]) == 0);
	line = run_tracer(fresh);
	for (unsigned i = 0; i < kind->streams; i++) {
		PXT_CHILD_CHECK(posix_trace_shutdown(trids[i]) == 0);
		if (kind->reader)
			PXT_CHILD_CHECK(pthread_join(readers[i], NULL) == 0);
	}
	return line;
}

/* As pxt_in_child(); the findings are cleared before. */
static int run(const struct kind *one)
{
	kind = one;
	memset(found, 0, sizeof(*found));
	return pxt_in_child(watch, NULL);
}

/* ---- Can this system tell? ---- */

static int asks_the_clock(void *unused)
{
	struct timespec now;

	if (!forbid_system_calls(false))
		(void)syscall(SYS_exit, 7);
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)syscall(SYS_exit, 0);
	return 0;
}

/* Where the clock is a system call, or calls cannot be forbidden, nothing is promised or seen. */
static bool can_tell(void)
{
	if (pxt_skip_emulated("its system calls are not ours"))
		return false;
	int result;

	if (!found)
		found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(found != MAP_FAILED);
	if (PXT_SANITIZED) {
		pxt_skip("sanitizers do all of it");
		return false;
	}
	result = pxt_in_child(asks_the_clock, NULL);
	if (result != 0) {
		pxt_skip("no filter of system calls here, or the clock is one");
		return false;
	}
	return true;
}

/* ---- Tests ---- */

/* Whether anything but the events is seen; what the system does to pages comes and goes. */
static bool quiet(const struct kind *one)
{
	for (int i = 0; i < TRIES; i++) {
		int line = run(one);

		PXT_CHECK(line == 0, "%s: %d (negative: a signal; else a line)", one->name, line);
		PXT_CHECK(
		    atomic_load(&found->allocated) == 0, "%s: the allocator is called", one->name);
		PXT_CHECK(found->written == (one->filtered || !one->streams ? 0 : found->expected),
		    "%s: %llu events of %llu", one->name, (unsigned long long)found->written,
		    (unsigned long long)atomic_load(&found->expected));
		if (line != 0 || (found->minor == 0 && found->major == 0))
			return true;
	}
	return false;
}

/* DEC-38, EVENT-07, SAFE-01, SAFE-02; ruling 20 */
PXT_TEST(a_million_events_make_no_system_call_no_allocation_and_no_page_fault)
{
	if (!can_tell())
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		PXT_CHECK(quiet(&kinds[i]), "%s: %llu minor and %llu major faults, again and again",
		    kinds[i].name, found->minor, found->major);
}

/* What the test above rests on. */
PXT_TEST(a_fault_an_allocation_and_a_system_call_would_be_seen)
{
	static const struct kind offends = { "offends", OFFENDS, LOOP, 1, 1, 4, 4, 64,
		.before = TRACED };
	static const struct kind calls = { "calls", CALLS, LOOP, 1, 1, 4, 4, 64, .before = TRACED };

	if (!can_tell())
		return;
	PXT_EQ(run(&offends), 0);
	CU_ASSERT(found->minor + found->major >= 1);
	PXT_EQ(atomic_load(&found->allocated), ALLOCATOR_SEEN ? 2 : 0);
	PXT_EQ(run(&calls), -SIGSYS);
}

/* DEC-38: this is the one call that the attribute is there to avoid */
PXT_TEST(without_polling_the_trace_point_that_wakes_a_reader_makes_a_system_call)
{
	static const struct kind waking = { "waking", WAKES, LOOP, 1, 1, 4, 4, 64, .reader = true,
		.sleeping_reader = true };

	if (!can_tell())
		return;
	PXT_EQ(run(&waking), -SIGSYS);
}
