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

#endif
