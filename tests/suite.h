/* SPDX-License-Identifier: MIT */
/*
 * suite.h - what every test program is made of: tests that enter themselves, run by CUnit.
 *
 *	PXT_TEST(the_sky_is_blue)
 *	{
 *		CU_ASSERT(sky() == BLUE);
 *	}
 *
 * main() is in suite.c.  The program runs all of its tests as they stand in the source, or those
 * named on its command line; --list shows the names.  It
 * ends with the runner's own summary.  Exit status: 0 all passed, 1 not, 77 all were skipped.
 *
 * Without CUnit (-DPXT_NO_CUNIT: other C libraries, cross builds) a small runner of our own
 * supplies the same CU_ASSERT macros and ends with "N passed, N failed".
 *
 * Assertions are for the thread that runs the test; other threads hand their findings over.
 */
#ifndef PXT_SUITE_H
#define PXT_SUITE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

#include "pxt_config.h"

#ifndef PXT_NO_CUNIT
#include <CUnit/CUnit.h>
#else
#include <string.h>
#define CU_ASSERT(x)                    PXT_VERDICT_((x), #x, false)
#define CU_ASSERT_FATAL(x)              PXT_VERDICT_((x), #x, true)
#define CU_FAIL(text)                   PXT_VERDICT_(false, #text, false)
#define CU_FAIL_FATAL(text)             PXT_VERDICT_(false, #text, true)
#define CU_ASSERT_TRUE(x)               CU_ASSERT(x)
#define CU_ASSERT_FALSE(x)              CU_ASSERT(!(x))
#define CU_ASSERT_EQUAL(a, b)           CU_ASSERT((a) == (b))
#define CU_ASSERT_EQUAL_FATAL(a, b)     CU_ASSERT_FATAL((a) == (b))
#define CU_ASSERT_NOT_EQUAL(a, b)       CU_ASSERT((a) != (b))
#define CU_ASSERT_PTR_EQUAL(a, b)       CU_ASSERT((const void *)(a) == (const void *)(b))
#define CU_ASSERT_PTR_NULL(a)           CU_ASSERT((a) == NULL)
#define CU_ASSERT_PTR_NOT_NULL(a)       CU_ASSERT((a) != NULL)
#define CU_ASSERT_PTR_NULL_FATAL(a)     CU_ASSERT_FATAL((a) == NULL)
#define CU_ASSERT_PTR_NOT_NULL_FATAL(a) CU_ASSERT_FATAL((a) != NULL)
#define CU_ASSERT_STRING_EQUAL(a, b)    CU_ASSERT(strcmp((a), (b)) == 0)
#endif

/* Whether a sanitizer slows everything down. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PXT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define PXT_SANITIZED 1
#endif
#endif
#ifndef PXT_SANITIZED
#define PXT_SANITIZED 0
#endif

struct pxt_case {
	const char *name;
	void (*run)(void);
	bool fresh; /* in a process of its own, with nothing traced or named before */
	const char *file;
	int line;
	bool wanted;
	struct pxt_case *next;
};

#define PXT_TEST(function)       PXT_CASE_(function, false)
#define PXT_TEST_FRESH(function) PXT_CASE_(function, true)
#define PXT_CASE_(function, fresh)                                                                 \
	static void function(void);                                                                \
	__attribute__((constructor)) static void pxt_enter_##function(void)                        \
	{                                                                                          \
		static struct pxt_case case_ = { #function, function, fresh, __FILE__, __LINE__,   \
			false, NULL };                                                             \
                                                                                                   \
		pxt_suite_enter(&case_);                                                           \
	}                                                                                          \
	static void function(void)

/* Constructors of one file run in an order of the compiler's. */
void pxt_suite_enter(struct pxt_case *entry);

/*
 * Of a program with test points: what is called there (format/compiler.h).  The program defines the
 * hook.  Not set by assignment, for clang has no null pointer for it.
 */
#define pxt_testpoint_hook_set(hook)                                                               \
	atomic_store_explicit(&pxt_testpoint_hook, (void (*)(int))(hook), memory_order_release)

/* The full policies of streams, for tests that say them often. */
#define LOOP  POSIX_TRACE_LOOP
#define FULL  POSIX_TRACE_UNTIL_FULL
#define FLUSH POSIX_TRACE_FLUSH

/* The next number of a sequence that is drawn; @state is not 0.  The same state gives the same numbers. */
static inline uint64_t pxt_drawn(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Path of this program. */
extern const char *pxt_suite_program;

/* The command line that starts this program again; argv[0] is what to execute. */
#define PXT_SUITE_ARGV 12
void pxt_suite_argv(char *argv[PXT_SUITE_ARGV], char *first, char *second, char *third);

/* PXT_BEFORE { ... } is done at the beginning of main(). */
extern void (*pxt_suite_before)(void);
#define PXT_BEFORE                                                                                 \
	static void pxt_before(void);                                                              \
	__attribute__((constructor)) static void pxt_enter_before(void)                            \
	{                                                                                          \
		pxt_suite_before = pxt_before;                                                     \
	}                                                                                          \
	static void pxt_before(void)

/*
 * A second entry into the program: PXT_ROLE(argc, argv) { ... } is called first when the command
 * line is "--role NAME ...", so that tests of exec and spawn can run a fresh process of the same file.
 */
extern int (*pxt_suite_role)(int argc, char **argv);
#define PXT_ROLE(argc, argv)                                                                       \
	static int pxt_role(int argc, char **argv);                                                \
	__attribute__((constructor)) static void pxt_enter_role(void)                              \
	{                                                                                          \
		pxt_suite_role = pxt_role;                                                         \
	}                                                                                          \
	static int pxt_role(int argc, char **argv)

/*
 * How many threads this process has.  One that was joined is in the system's list for a moment yet,
 * and is not counted: a count of before could never be reached again.
 */
unsigned pxt_threads_running(void);

/* The rest of this test needs what this system or configuration lacks; call it and return. */
void pxt_skip(const char *why);
/* Whether an emulator is between this program and the kernel; the second: then skipped. */
bool pxt_emulated(void);
bool pxt_skip_emulated(const char *why);
/*
 * Whether tests that grow with time are to be long: PXT_STRESS=full in the environment.  The second:
 * PXT_STRESS=whole, which is full, and as long under a sanitizer as without (scripts/variant stress).
 */
bool pxt_in_full(void);
bool pxt_in_whole(void);

/* ---- Assertions that name the cell of a table, or show the values ---- */

#define PXT_VERDICT_(ok, text, fatal)                                                              \
	pxt_verdict((ok) ? true : false, __LINE__, text, __FILE__, fatal)

/* PXT_EQ(call(), EINVAL): says both values when they differ. */
#define PXT_EQ(got, want)       PXT_EQUAL_(got, want, false)
#define PXT_EQ_FATAL(got, want) PXT_EQUAL_(got, want, true)
#define PXT_EQUAL_(got, want, fatal)                                                               \
	pxt_equal((long long)(got), (long long)(want), fatal, __LINE__, #got, __FILE__)
/* PXT_CHECK(ok, "%s on %s", function, kind): the text says which row failed. */
#define PXT_CHECK(ok, ...) pxt_check((ok) ? true : false, __LINE__, __FILE__, __VA_ARGS__)

void pxt_verdict(bool ok, int line, const char *text, const char *file, bool fatal);
void pxt_equal(
    long long got, long long want, bool fatal, int line, const char *text, const char *file);
void pxt_check(bool ok, int line, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- Child processes ---- */

/*
 * Runs @body in a forked child.  0: it returned 0; a positive number: it returned that, by
 * convention the line where it failed; negative: the signal that killed it.
 */
int pxt_in_child(int (*body)(void *), void *argument);
/* In such a body: leave with the line number unless @ok. */
#define PXT_CHILD_CHECK(ok)                                                                        \
	do {                                                                                       \
		if (!(ok))                                                                         \
			return __LINE__;                                                           \
	} while (0)

/*
 * A folder for the program's files, also when two builds are tested at once; it and what is in it
 * (no folders) are gone when the program ends.
 */
const char *pxt_temp_folder(void);

/*
 * ---- Streams, logs and events, through the public interface only (suite_trace.c) ----
 *
 * Helpers that cannot do their part fail the running test fatally, so that a test need not check
 * what it is not about.
 */

/* Any active stream, of whichever kind this configuration can create. */
#define PXT_CAN_CREATE (_PXT_UNIT_ONLINE || _PXT_UNIT_TOLOG)
/* A log can be written and read back in one program. */
#define PXT_CAN_LOG    (_PXT_UNIT_TOLOG && _PXT_UNIT_LOGRETRIEVAL)
/* User events can be recorded and read on-line. */
#define PXT_CAN_WATCH  (_PXT_UNIT_ONLINE && _PXT_UNIT_USEREVENTS)

/* Wrong arguments are refused (DEC-02); tests of that are left out where they are not. */
#define PXT_CHECKS_ARGUMENTS CONFIG_PTRACE_ARG_CHECKS
#define PXT_HAS_FILTER_EVENT CONFIG_PTRACE_SYSEV_FILTER

/* The full policies of this configuration, and what "default" means in it (ruling 17). */
bool pxt_stream_policy_exists(int policy);
bool pxt_log_policy_exists(int policy);
int pxt_default_stream_policy_is(bool with_log);
int pxt_default_log_policy_is(void);

/* What a reader was given. */
struct pxt_got {
	struct posix_trace_event_info info;
	size_t len;
	unsigned char data[512];
};

/* An open, empty, unlinked file for reading and writing. */
int pxt_temp_file(void);

/* Initialised attributes; 0 leaves a default: bytes of stream, bytes of data, full policy. */
void pxt_attr(trace_attr_t *attr, size_t stream_bytes, size_t data_bytes, int policy);

#if PXT_CAN_CREATE
/* An active stream of the own process: without log where that unit is built, else with one. */
trace_id_t pxt_any_stream(const trace_attr_t *attr);
#endif

#if _PXT_UNIT_ONLINE
/* A stream without log, suspended, with these attributes (0: default). */
trace_id_t pxt_stream(size_t stream_bytes, size_t data_bytes, int policy);
/* The same, running, START already read. */
trace_id_t pxt_running_stream(size_t stream_bytes, size_t data_bytes, int policy);
/* Reads one event without waiting; false: there is none. */
bool pxt_next(trace_id_t trid, struct pxt_got *event);
/* The next event must be this one; fails the test otherwise (not fatally). */
void pxt_expect(trace_id_t trid, trace_event_id_t id, const void *data, size_t len);
/* There must be no event. */
void pxt_expect_none(trace_id_t trid);
/* Reads and forgets all there is; returns how many events were of type @id. */
size_t pxt_drain(trace_id_t trid, trace_event_id_t id);
#endif

#if _PXT_UNIT_TOLOG
/* A stream with a log on @fd; @attr may be NULL. */
trace_id_t pxt_log_stream(const trace_attr_t *attr, int fd);
#endif

#if _PXT_UNIT_LOGRETRIEVAL
/* Opens the log in @fd, from its beginning. */
trace_id_t pxt_open_log(int fd);
/* As pxt_next(), from an opened log; false at its end. */
bool pxt_log_next(trace_id_t trid, struct pxt_got *event);
#endif

#if _PXT_UNIT_USEREVENTS
/* Identifier of a user event's name. */
trace_event_id_t pxt_open_event(const char *name);
#endif

/* Whether the type exists in the stream's map (a configuration may leave system types out). */
bool pxt_has_type(trace_id_t trid, trace_event_id_t id);

/* CLOCK_REALTIME now, CLOCK_MONOTONIC now, and a time as nanoseconds. */
long long pxt_now_ns(void);
long long pxt_monotonic_ns(void);
long long pxt_ns(const struct timespec *time);
/* CLOCK_REALTIME, @ms from now (may be negative). */
struct timespec pxt_in_ms(long ms);
void pxt_sleep_ms(long ms);
void pxt_sleep_us(unsigned us);

/*
 * ---- What tests name of POSIX and a board's C library does not have (board/suite.c) ----
 *
 * A test that comes to a function of that file's list ends there.
 */

#if defined(PXT_BOARD)
#include <sched.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>

#define cpu_set_t                          int
#define CPU_SETSIZE                        1
#define CPU_COUNT(set)                     ((void)(set), 1)
#define CPU_ZERO(set)                      (*(set) = 0)
#define CPU_SET(cpu, set)                  (*(set) = 1)
#define CPU_ISSET(cpu, set)                ((void)(set), 1)
#define sched_getaffinity(pid, bytes, set) (*(set) = 1, 0)
#define sched_setaffinity(pid, bytes, set) 0

/* Its task's words; port/bare/task.c. */
extern void *pxt_port_words_of_task;
#define pthread_self()          ((pthread_t)(uintptr_t)pxt_port_words_of_task)
#define pthread_equal(a, b)     ((a) == (b))
#define pthread_once_t          int
#define PTHREAD_ONCE_INIT       0
#define pthread_once(once, run) ((run)(), 0)
#define pthread_barrier_t       int
#define PTHREAD_CANCEL_DISABLE  0
#define PTHREAD_CANCELED        NULL

#ifndef SIGRTMIN
#define SIGRTMIN 32
#endif
#endif

#endif
