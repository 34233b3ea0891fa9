/* SPDX-License-Identifier: MIT */
/*
 * start.c - the begin of a traced process, before main() or at a forked child's first event, and its end by exit().
 *
 * pxtrace run says by the environment what it wants:
 *
 *	PXTRACE_ATTACH     the name of its stream
 *	PXTRACE_EVENTS     types of system events, bit by bit, as one number
 *	PXTRACE_CALLS      calls that may block, bit by bit
 *	PXTRACE_KINDS      read-write locks and spin locks, bit by bit by their kind
 *	PXTRACE_RING       bytes of memory in which events wait until they are taken
 *	PXTRACE_LANES      the number of rings that this memory is divided into
 *	PXTRACE_TALLY      a lock that is free when it is taken is counted, and makes no event
 *	PXTRACE_STACK_US   waits of this length or more record the functions that called; 0: long waits record a few
 *	PXTRACE_CLOCK      the counter's rate, for libptrace (port/posix/counter.c)
 *
 * It is read once, as a program may change its environment before it forks.  The program keeps
 * neither a descriptor nor a thread of the attachment (attach/producer.c).
 */
#define _GNU_SOURCE
#include "format/attr_marks.h"
#include "format/hexdigit.h"
#include "sysevents/wrap/process.h"
#include "sysevents/wrap/tally.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* With the libraries and a small program it is less than the 8 MiB that a user may lock. */
#define RING_BYTES ((size_t)4 << 20)
#define RING_LEAST ((size_t)64 << 10)
#define FIRST_TYPE POSIX_TRACE_MUTEX_WAIT_NP
#define LAST_TYPE  POSIX_TRACE_GENERAL_DEBUG_NP

static struct {
	char name[256]; /* "": none is asked for */
	size_t ring;
	unsigned lanes;
	uint64_t events;
	bool tally;
	trace_id_t attached;
	_Atomic bool records; /* into that */
} stream;

/* A forked child that has not attached yet. */
static struct {
	_Atomic int state;
	pthread_t thread; /* that attaches it */
} late;
enum {
	NOT_LATE,
	WAITS, /* for its first event */
	ATTACHES,
};

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *text = secure_getenv(name);
	const char *end;
	uint64_t value;

	if (!text)
		return otherwise;
	value = pxt_decimal(text, &end);
	return end == text || *end ? otherwise : value;
}

/* ---- Attaching ---- */

/* Types that were not asked for cost nothing. */
static void filter(trace_id_t trid)
{
	trace_event_set_t set;

	if (stream.events == UINT64_MAX)
		return;
	(void)posix_trace_eventset_empty(&set);
	for (unsigned id = FIRST_TYPE; id <= LAST_TYPE; id++)
		if (!(stream.events >> id & 1u))
			(void)posix_trace_eventset_add(id, &set);
	(void)posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
}

static size_t ring_of_a_lane(void)
{
	size_t bytes = stream.ring / stream.lanes;

	return bytes < RING_LEAST ? RING_LEAST : bytes;
}

static int attach(void)
{
	trace_attr_t attr;
	trace_id_t trid;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error = posix_trace_attr_setlanes_np(&attr, stream.lanes);
	if (!error)
		error = posix_trace_attr_setstreamsize(&attr, ring_of_a_lane());
	attr._pxt_kept._pxt_flags |= PXT_ATTR_GUEST | (stream.tally ? PXT_ATTR_COUNTS : 0u);
	if (!error)
		error = posix_trace_attach_np(stream.name, &attr, &trid);
	if (!error) {
		filter(trid);
		stream.attached = trid;
	}
	pxt_tally_start(error ? NULL : _pxt_attach_counts);
	atomic_store_explicit(&stream.records, !error, memory_order_release);
	return error;
}

bool pxt_start_end(const char *why)
{
	int saved = errno;

	pxt_start_now();
	if (!atomic_exchange_explicit(&stream.records, false, memory_order_acquire))
		return false;
	pxt_process_tell(POSIX_TRACE_PROCESS_UNTRACED_NP, 0, 0, 0, why, NULL);
	(void)posix_trace_shutdown(stream.attached);
	errno = saved;
	return true;
}

/* ---- The first events ---- */

void (*_Atomic pxt_start_later)(void);

static void tell(void)
{
	void (*later)(void);

	if (!posix_trace_wanted_np(POSIX_TRACE_PROCESS_NP))
		return;
	pxt_process_tell(POSIX_TRACE_PROCESS_TRACED_NP, (uint32_t)pxt_wrap_wishes.pid, 0,
	    (uint64_t)getppid(), pxt_process_executable(), NULL);
	pxt_process_tell_images();
	pxt_process_tell_thread(0);
	later = atomic_exchange_explicit(&pxt_start_later, NULL, memory_order_relaxed);
	if (later)
		later();
}

/*
 * Nothing that the library does here is the program's.  What goes wrong is not said where the program speaks, but by the
 * owner (tools/run/summary.c), if it can be reached.
 */
static void begin(void)
{
	(void)posix_trace_thread_exclude_np(1);
	if (*stream.name)
		(void)attach();
	/* Asked here, since a file is opened for it. */
	if (posix_trace_wanted_np(POSIX_TRACE_PROCESS_NP))
		(void)pxt_process_executable();
	(void)posix_trace_thread_exclude_np(0);
	tell();
}

/* ---- Forked children ---- */

#define ATTACHES_ROUNDS 20000u /* a second, or two */
#define ATTACHES_NS     50000

static void wait_for_other(void)
{
	const struct timespec slice = { .tv_nsec = ATTACHES_NS };

	for (unsigned round = 0; round < ATTACHES_ROUNDS && atomic_load_explicit(&late.state,
	                                                        memory_order_acquire) == ATTACHES;
	     round++)
		(void)syscall(SYS_nanosleep, &slice, NULL);
}

/* No handler comes in between: what it records has to find all or nothing. */
static void attach_now(void)
{
	sigset_t all;
	sigset_t before;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	late.thread = pthread_self();
	begin();
	if (!atomic_load_explicit(&stream.records, memory_order_relaxed))
		(void)_pxt_attach_late(NULL, 0);
	atomic_store_explicit(&late.state, NOT_LATE, memory_order_release);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* At the first event, or before a call that takes away what attaching needs.  True: it is attached. */
static bool begin_late(void)
{
	int saved = errno;
	int state = WAITS;

	if (pxt_wrap_wishes.pid != (int)getpid())
		return false;
	if (atomic_compare_exchange_strong_explicit(
	        &late.state, &state, ATTACHES, memory_order_acquire, memory_order_acquire))
		attach_now();
	else if (state == ATTACHES && pthread_equal(late.thread, pthread_self()))
		return false;
	else if (state == ATTACHES)
		wait_for_other();
	errno = saved;
	return atomic_load_explicit(&stream.records, memory_order_acquire);
}

void pxt_start_now(void)
{
	if (atomic_load_explicit(&late.state, memory_order_relaxed) != NOT_LATE)
		(void)begin_late();
}

bool pxt_start_asked(void)
{
	return *stream.name != '\0';
}

bool pxt_start_waits(void)
{
	return atomic_load_explicit(&late.state, memory_order_relaxed) == WAITS;
}

/*
 * Whether children that this process forks execute programs: they say it themselves, in a page that the family
 * shares.  One that does not may forbid itself system calls in a way that nobody sees, before its first event: so it
 * attaches at once, as the first of all does.  The page also has which programs they have looked at.
 */
#define PROGRAMS 256u

static struct family {
	_Atomic uint32_t executes;
	_Atomic uint64_t programs[PROGRAMS];
} * family;

void pxt_start_fork(void)
{
	int saved = errno;
	void *page;

	if (family || !*stream.name || pxt_process_confined)
		return;
	page =
	    mmap(NULL, sizeof(*family), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED)
		family = page;
	errno = saved;
}

void pxt_start_executes(void)
{
	if (family)
		atomic_store_explicit(&family->executes, 1u, memory_order_relaxed);
}

bool pxt_start_knows(uint64_t number)
{
	return family && atomic_load_explicit(
	                     &family->programs[number % PROGRAMS], memory_order_relaxed) == number;
}

void pxt_start_learns(uint64_t number)
{
	if (family)
		atomic_store_explicit(
		    &family->programs[number % PROGRAMS], number, memory_order_relaxed);
}

static bool may_wait(void)
{
	const uint64_t always =
	    ~(((UINT64_C(2) << LAST_TYPE) - 1u) & ~((UINT64_C(1) << FIRST_TYPE) - 1u));

	return *stream.name && family &&
	       atomic_load_explicit(&family->executes, memory_order_relaxed) &&
	       _pxt_attach_late(begin_late, stream.events | always);
}

/* Its parent's filter of system calls is its own. */
void pxt_start_child(void)
{
	int saved = errno;

	pxt_wrap_wishes.pid = (int)pxt_process_thread_number(pthread_self());
	atomic_store_explicit(&stream.records, false, memory_order_relaxed);
	pxt_tally_forget();
	if (pxt_process_confined)
		(void)_pxt_attach_late(NULL, 0);
	else if (may_wait())
		atomic_store_explicit(&late.state, WAITS, memory_order_relaxed);
	else
		begin();
	errno = saved;
}

static void note_wishes(void)
{
	const char *name = secure_getenv("PXTRACE_ATTACH");
	uint64_t stack_us = number_of("PXTRACE_STACK_US", 0);

	if (name && strlen(name) < sizeof(stream.name))
		memcpy(stream.name, name, strlen(name) + 1);
	pxt_wrap_wishes.user = geteuid();
	stream.ring = (size_t)number_of("PXTRACE_RING", RING_BYTES);
	stream.lanes = (unsigned)number_of("PXTRACE_LANES", 1);
	if (!stream.lanes)
		stream.lanes = 1;
	stream.events = number_of("PXTRACE_EVENTS", UINT64_MAX);
	pxt_wrap_wishes.calls = number_of("PXTRACE_CALLS", UINT64_MAX);
	pxt_wrap_wishes.kinds = number_of("PXTRACE_KINDS", UINT64_MAX);
	stream.tally = number_of("PXTRACE_TALLY", 0) != 0;
	if (stack_us == 0) {
		pxt_wrap_wishes.stack_few = true;
		pxt_wrap_wishes.stack_ns = PXT_WAIT_FEW_NS;
	} else if (stack_us < UINT64_MAX / 1000u) {
		pxt_wrap_wishes.stack_ns = stack_us * 1000u;
	}
}

/*
 * Before the program's own.  In a static program the library's are in the same list, and come first: its port's
 * (101), and the stream of PXTRACE_OUT (102).
 */
static __attribute__((constructor(103))) void start(PXT_UNUSED int count, char **args)
{
	int saved = errno;

	pxt_start_door();
	pxt_process_called(args[0]);
	note_wishes();
	pxt_wrap_wishes.pid = (int)getpid();
	begin();
	pxt_start_exit();
	errno = saved;
}

/* ---- The end by exit(), or by main()'s, after all that the program has for its end ---- */

static void leave(int status, PXT_UNUSED void *argument)
{
	pxt_process_catch_up();
	pxt_process_tell_exit(status, NULL);
}

void pxt_start_exit(void)
{
	(void)on_exit(leave, NULL);
}

#if !PXT_WRAP_BY_LINKER
/*
 * What a library's constructor asks to be called at the end is called after the destructors of all
 * libraries, when no stream is there any more.  So the C library's own beginning of a program is called with a
 * main() that asks once more.  It has one function for all ages.
 */
typedef int (*main_function)(int count, char **args, char **env);

extern int __libc_start_main(main_function function, int count, char **args, void (*init)(void),
    void (*fini)(void), void (*end_of_loader)(void), void *stack);
PXT_WRAP_REAL(__libc_start_main);

/* The program's; written before it is called, by the only thread. */
static main_function program;

static int main_first(int count, char **args, char **env)
{
	pxt_start_exit();
	return program(count, args, env);
}

PXT_WRAP_EXPORT int __libc_start_main(main_function function, int count, char **args,
    void (*init)(void), void (*fini)(void), void (*end_of_loader)(void), void *stack)
{
	program = function;
	return PXT_WRAP_CALL(__libc_start_main)(
	    main_first, count, args, init, fini, end_of_loader, stack);
}
#endif
