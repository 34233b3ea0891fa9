/* SPDX-License-Identifier: MIT */
/*
 * thread.c - threads: creation, begin and end, names, priorities; waits for the end of threads and of
 * children.
 *
 * A new thread begins in a function of ours, which calls its own.  Its end is seen by a key's destructor,
 * so however it ends.  Threads of the library's are left alone.
 *
 * What the thread has to call waits in a table, or where that is full, in a page of its own: memory from
 * malloc() would be given back by the new thread, which would come by an arena that way.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"
#include "sysevents/wrap/process.h"
#include "sysevents/wrap/tally.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#if PXT_GROUP_THREAD
/* Threads that are made but have not begun. */
#define WAITING_MAX 128

/* Of POSIX's threads, or of C11's. */
union function {
	void *(*posix)(void *argument);
	int (*c11)(void *argument);
};

struct beginning {
	union function function;
	void *argument;
};

static struct {
	_Atomic bool taken;
	struct beginning beginning;
} waiting[WAITING_MAX] PXT_SELDOM;

static pthread_key_t key;
static bool has_key;

static struct beginning *take(void)
{
	void *page;

	for (unsigned i = 0; i < WAITING_MAX; i++)
		if (!atomic_load_explicit(&waiting[i].taken, memory_order_relaxed) &&
		    !atomic_exchange_explicit(&waiting[i].taken, true, memory_order_acquire))
			return &waiting[i].beginning;
	page = mmap(NULL, sizeof(struct beginning), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED ? NULL : page;
}

static void give_back(struct beginning *beginning)
{
	for (unsigned i = 0; i < WAITING_MAX; i++)
		if (beginning == &waiting[i].beginning) {
			/* Release: pairs with the acquire in take(). */
			atomic_store_explicit(&waiting[i].taken, false, memory_order_release);
			return;
		}
	(void)munmap(beginning, sizeof(*beginning));
}

/* @value: the thread's number.  No call of the system: a filter may have come since the thread's begin. */
static void tell_end(void *value)
{
	pxt_process_catch_up();
	pxt_tally_end();
	pxt_process_tell(
	    POSIX_TRACE_PROCESS_THREAD_END_NP, (uint32_t)(uintptr_t)value, 0, 0, NULL, NULL);
}

static __attribute__((constructor(103))) void make_key(void)
{
	has_key = pthread_key_create(&key, tell_end) == 0;
}

static struct beginning tell_begin(struct beginning *given)
{
	struct beginning beginning = *given;
	uintptr_t tid;

	give_back(given);
	if (!pxt_process_confined)
		(void)posix_trace_thread_register_np();
	tid = pxt_process_tell_thread((uint64_t)(uintptr_t)beginning.function.posix);
	if (has_key)
		(void)pthread_setspecific(key, (void *)tid);
	return beginning;
}

static void *begin(void *argument)
{
	struct beginning beginning = tell_begin(argument);

	return beginning.function.posix(beginning.argument);
}

static int begin_c11(void *argument)
{
	struct beginning beginning = tell_begin(argument);

	return beginning.function.c11(beginning.argument);
}

/* What the new thread has to call; NULL: it is created as it is. */
static struct beginning *tell_create(union function function, void *argument, const void *caller)
{
	struct beginning *beginning = take();

	pxt_process_catch_up();
	if (!beginning)
		return NULL;
	*beginning = (struct beginning){ function, argument };
	pxt_process_tell(POSIX_TRACE_PROCESS_THREAD_CREATE_NP, 0,
	    (uint64_t)(uintptr_t)function.posix, 0, NULL, caller);
	return beginning;
}

#define CREATES(name, parameters, kind, plain, recorded)                                           \
	PXT_WRAPPER(int, name, parameters)                                                         \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
		struct beginning *beginning = NULL;                                                \
		int result;                                                                        \
                                                                                                   \
		if (pxt_wrap_wanted(POSIX_TRACE_PROCESS_NP, caller))                               \
			beginning =                                                                \
			    tell_create((union function){ .kind = function }, argument, caller);   \
		if (!beginning)                                                                    \
			return PXT_WRAP_CALL(name) plain;                                          \
		result = PXT_WRAP_CALL(name) recorded;                                             \
		if (result != 0)                                                                   \
			give_back(beginning);                                                      \
		return result;                                                                     \
	}                                                                                          \
	_Static_assert(1, "")
_Static_assert(thrd_success == 0, "as in glibc and musl");
CREATES(pthread_create,
    (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *argument),
        void *argument),
    posix, (thread, attributes, function, argument), (thread, attributes, begin, beginning));
CREATES(thrd_create, (thrd_t * thread, int (*function)(void *argument), void *argument), c11,
    (thread, function, argument), (thread, begin_c11, beginning));

PXT_WRAPPER(int, pthread_setname_np, (pthread_t thread, const char *name))
{
	const void *caller = PXT_WRAP_CALLER();
	int result = PXT_WRAP_CALL(pthread_setname_np)(thread, name);

	if (result != 0 || !posix_trace_wanted_np(POSIX_TRACE_PROCESS_NP))
		return result;
	if (pthread_equal(thread, pthread_self()))
		(void)posix_trace_thread_register_np();
	pxt_process_tell_name(thread, name, caller);
	return result;
}
#endif

#if PXT_GROUP_SYSTEM_CALL
/* ---- Waiting for the end of a thread ---- */

PXT_CALL_WRAP_ERROR(pthread_join, (pthread_t thread, void **value), (thread, value),
    POSIX_TRACE_CALL_JOIN_NP, (uintptr_t)thread, PXT_CALL_NO_SIZE);
#define TIMED_JOIN(name, timespec)                                                                 \
	PXT_CALL_WRAP_ERROR_UNTIL(name, (pthread_t thread, void **value, const timespec *limit),   \
	    (thread, value, limit), POSIX_TRACE_CALL_JOIN_NP, (uintptr_t)thread, PXT_CALL_NO_SIZE, \
	    PXT_WAIT_UNTIL(CLOCK_REALTIME, limit))
#define CLOCK_JOIN(name, timespec)                                                                 \
	PXT_CALL_WRAP_ERROR_UNTIL(name,                                                            \
	    (pthread_t thread, void **value, clockid_t clock, const timespec *limit),              \
	    (thread, value, clock, limit), POSIX_TRACE_CALL_JOIN_NP, (uintptr_t)thread,            \
	    PXT_CALL_NO_SIZE, PXT_WAIT_UNTIL(clock, limit))
PXT_TIMES(TIMED_JOIN, timespec, pthread_timedjoin_np, __pthread_timedjoin_np64);
PXT_TIMES(CLOCK_JOIN, timespec, pthread_clockjoin_np, __pthread_clockjoin_np64);
PXT_CALL_WRAP_AS(int, thrd_join, (thrd_t thread, int *value), (thread, value),
    POSIX_TRACE_CALL_JOIN_NP, (uintptr_t)thread, PXT_CALL_NO_SIZE,
    result == thrd_success ? 0 : -EINVAL);

/* ---- Priorities that the program changes: of which thread, and to what ---- */

#define PRIORITY_OF(param) ((param) ? (uint64_t)(param)->sched_priority : PXT_CALL_NO_SIZE)
#define NUMBER_OF(tid)     ((tid) ? (tid) : gettid())

PXT_CALL_WRAP_ERROR(pthread_setschedparam,
    (pthread_t thread, int policy, const struct sched_param *param), (thread, policy, param),
    POSIX_TRACE_CALL_PRIORITY_NP, thread, PRIORITY_OF(param));
PXT_CALL_WRAP_ERROR(pthread_setschedprio, (pthread_t thread, int priority), (thread, priority),
    POSIX_TRACE_CALL_PRIORITY_NP, thread, priority);
PXT_CALL_WRAP(int, sched_setscheduler, (pid_t tid, int policy, const struct sched_param *param),
    (tid, policy, param), POSIX_TRACE_CALL_PRIORITY_NP, NUMBER_OF(tid), PRIORITY_OF(param));
PXT_CALL_WRAP(int, sched_setparam, (pid_t tid, const struct sched_param *param), (tid, param),
    POSIX_TRACE_CALL_PRIORITY_NP, NUMBER_OF(tid), PRIORITY_OF(param));
/* Nice values are recorded as in the kernel, after the priorities of real-time threads: 100 to 139. */
#define NICE_MIDDLE 120

static uint64_t nice_told(int value)
{
	return (uint64_t)(NICE_MIDDLE + (value < -20 ? -20 : value > 19 ? 19 : value));
}

/* The new value may be -1, too; who asks for a less urgent one is never refused. */
static int64_t nice_result(int by, int result)
{
	return result == -1 && by < 0 && errno == EPERM ? -EPERM : 0;
}

#ifdef __GLIBC__
#define WHICH __priority_which_t
#else
#define WHICH int
#endif

/* For a group's or a user's processes the event names no thread. */
PXT_CALL_WRAP(int, setpriority, (WHICH which, id_t who, int value), (which, who, value),
    POSIX_TRACE_CALL_PRIORITY_NP, which == PRIO_PROCESS ? NUMBER_OF((pid_t)who) : 0,
    nice_told(value));
PXT_CALL_WRAP_AS(int, nice, (int by), (by), POSIX_TRACE_CALL_PRIORITY_NP, gettid(),
    PXT_CALL_NO_SIZE, nice_result(by, result));
#endif

#if PXT_GROUP_FILE_IO
/* ---- Waiting for children ---- */

PXT_CALL_WRAP(pid_t, wait, (int *status), (status), POSIX_TRACE_CALL_WAIT_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(pid_t, waitpid, (pid_t child, int *status, int flags), (child, status, flags),
    POSIX_TRACE_CALL_WAIT_NP, (uint32_t)child, PXT_CALL_NO_SIZE);
#define USE_OF_ANY(name, rusage)                                                                   \
	PXT_CALL_WRAP(pid_t, name, (int *status, int flags, rusage *usage),                        \
	    (status, flags, usage), POSIX_TRACE_CALL_WAIT_NP, 0, PXT_CALL_NO_SIZE)
#define USE_OF_CHILD(name, rusage)                                                                 \
	PXT_CALL_WRAP(pid_t, name, (pid_t child, int *status, int flags, rusage *usage),           \
	    (child, status, flags, usage), POSIX_TRACE_CALL_WAIT_NP, (uint32_t)child,              \
	    PXT_CALL_NO_SIZE)
PXT_TIMES(USE_OF_ANY, rusage, wait3, __wait3_time64);
PXT_TIMES(USE_OF_CHILD, rusage, wait4, __wait4_time64);
/* The others return the child. */
PXT_CALL_WRAP_AS(int, waitid, (idtype_t what, id_t child, siginfo_t *info, int flags),
    (what, child, info, flags), POSIX_TRACE_CALL_WAIT_NP, child, PXT_CALL_NO_SIZE,
    result == 0 && info ? (int64_t)info->si_pid : PXT_CALL_ERRNO(result));
#endif
