/* SPDX-License-Identifier: MIT */
/* suite.c - runs the tests of a program, through CUnit or without it, some in processes of their own. */
#include "suite.h"

#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PXT_NO_CUNIT
#include <CUnit/Basic.h>
#else
#include <setjmp.h>
#endif

#define EXIT_SKIPPED 77
#define FRESH_OPTION "--fresh"

const char *pxt_suite_program;
int (*pxt_suite_role)(int argc, char **argv);
void (*pxt_suite_before)(void);

static struct pxt_case *cases;
static unsigned skipped;
static unsigned failures_seen;
static bool in_fresh_process;

void pxt_skip(const char *why)
{
	skipped++;
	printf(" [skipped: %s] ", why);
	fflush(stdout);
}

/* Where programs of this machine run under another program, that one's command line. */
static char emulator[][256] = {
#ifdef PXT_EMULATOR
	PXT_EMULATOR,
#endif
	""
};

void pxt_suite_argv(char *argv[PXT_SUITE_ARGV], char *first, char *second, char *third)
{
	static char program[512];
	char *own[] = { program, first, second, third, NULL };
	size_t at = 0;

	snprintf(program, sizeof(program), "%s", pxt_suite_program);
	while (emulator[at][0]) {
		argv[at] = emulator[at];
		at++;
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		argv[at++] = own[i];
}

bool pxt_emulated(void)
{
	return emulator[0][0] != '\0';
}

bool pxt_skip_emulated(const char *why)
{
	if (!pxt_emulated())
		return false;
	pxt_skip(why);
	return true;
}

/* The flags of a task follow its name, a letter and five numbers; PF_EXITING is 4 in linux/sched.h. */
static bool is_ending(const char *task)
{
	char path[64];
	char line[512] = "";
	const char *name_ends;
	unsigned flags = 4;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%.16s/stat", task);
	file = fopen(path, "re");
	if (!file)
		return true;
	name_ends = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (name_ends)
		(void)sscanf(name_ends, ") %*c %*d %*d %*d %*d %*d %u", &flags);
	(void)fclose(file);
	return (flags & 4u) != 0;
}

unsigned pxt_threads_running(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned count = 0;

	while (tasks && (entry = readdir(tasks)) != NULL)
		count += entry->d_name[0] != '.' && !is_ending(entry->d_name);
	if (tasks)
		(void)closedir(tasks);
	return count;
}

bool pxt_in_whole(void)
{
	const char *wanted = getenv("PXT_STRESS");

	return wanted && !strcmp(wanted, "whole");
}

bool pxt_in_full(void)
{
	const char *wanted = getenv("PXT_STRESS");

	return pxt_in_whole() || (wanted && !strcmp(wanted, "full"));
}

/* ---- Files ---- */

static char temp_folder[256];
static pid_t temp_owner;

/* Children that end like the program leave it alone. */
static void remove_temp_folder(void)
{
	char path[sizeof(temp_folder) + 1 + 256];
	struct dirent *entry;
	DIR *folder;

	if (getpid() != temp_owner)
		return;
	folder = opendir(temp_folder);
	while (folder && (entry = readdir(folder)) != NULL) {
		(void)snprintf(path, sizeof(path), "%s/%s", temp_folder, entry->d_name);
		(void)unlink(path);
	}
	if (folder)
		(void)closedir(folder);
	(void)rmdir(temp_folder);
}

const char *pxt_temp_folder(void)
{
	const char *where = getenv("TMPDIR");

	if (temp_owner)
		return temp_folder;
	(void)snprintf(temp_folder, sizeof(temp_folder), "%s/pxt-test-XXXXXX",
	    where && *where ? where : "/tmp");
	CU_ASSERT_FATAL(mkdtemp(temp_folder) != NULL);
	temp_owner = getpid();
	(void)atexit(remove_temp_folder);
	return temp_folder;
}

/* ---- Cases ---- */

/* Behind those of other files, among those of its own by lines. */
void pxt_suite_enter(struct pxt_case *entry)
{
	struct pxt_case **at = &cases;

	while (*at && (strcmp((*at)->file, entry->file) != 0 || (*at)->line < entry->line))
		at = &(*at)->next;
	entry->next = *at;
	*at = entry;
}

static struct pxt_case *find_case(const char *name)
{
	struct pxt_case *at = cases;

	while (at && strcmp(at->name, name) != 0)
		at = at->next;
	return at;
}

/* Copies what a fresh process said; only a failure makes it worth reading. */
static void show_output(int fd)
{
	char buffer[512];
	ssize_t got;

	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		fwrite(buffer, 1, (size_t)got, stderr);
}

/*
 * Starts this program again for one test.  What other tests have opened, named or left running
 * cannot be undone (names have no delete), so exact counts need a process of their own.
 */
static void run_fresh(const struct pxt_case *test)
{
	FILE *output = tmpfile();
	char *argv[PXT_SUITE_ARGV];
	char option[] = FRESH_OPTION;
	char name[128];
	int status = -1;

	CU_ASSERT_PTR_NOT_NULL_FATAL(output);
	snprintf(name, sizeof(name), "%s", test->name);
	pxt_suite_argv(argv, option, name, NULL);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		dup2(fileno(output), STDOUT_FILENO);
		dup2(fileno(output), STDERR_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	CU_ASSERT_FATAL(child > 0);
	CU_ASSERT(waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED) {
		pxt_skip("in its own process");
	} else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		lseek(fileno(output), 0, SEEK_SET);
		show_output(fileno(output));
		pxt_check(false, __LINE__, __FILE__, "%s failed in its own process (status %#x)",
		    test->name, (unsigned)status);
	}
	fclose(output);
}

/* With PXT_FIRST_FAILURE in the environment the first case that fails ends the program. */
static void end_at_failure(bool failed)
{
	if (failed && getenv("PXT_FIRST_FAILURE"))
		exit(1);
}

static void run_case(const struct pxt_case *test)
{
	if (test->fresh && !in_fresh_process)
		run_fresh(test);
	else
		test->run();
}

void pxt_equal(
    long long got, long long want, bool fatal, int line, const char *text, const char *file)
{
	char buffer[256];

	if (got == want) {
		pxt_verdict(true, line, text, file, fatal);
		return;
	}
	snprintf(buffer, sizeof(buffer), "%s is %lld, not %lld", text, got, want);
	pxt_verdict(false, line, buffer, file, fatal);
}

void pxt_check(bool ok, int line, const char *file, const char *format, ...)
{
	char buffer[256];
	va_list arguments;

	if (ok) {
		pxt_verdict(true, line, format, file, false);
		return;
	}
	va_start(arguments, format);
	vsnprintf(buffer, sizeof(buffer), format, arguments);
	va_end(arguments);
	pxt_verdict(false, line, buffer, file, false);
}

/* The exit status has only 8 bits; the line number travels in shared memory. */
int pxt_in_child(int (*body)(void *), void *argument)
{
	int status = -1;
	int result = -1;
	int fd = -1;
	FILE *carrier = tmpfile();
	int *line;

	if (!carrier)
		return __LINE__;
	fd = fileno(carrier);
	if (ftruncate(fd, (off_t)sizeof(int)) != 0) {
		fclose(carrier);
		return __LINE__;
	}
	line = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fclose(carrier);
	if (line == MAP_FAILED)
		return __LINE__;
	fflush(stdout);
	fflush(stderr);
	pid_t child = fork();
	if (child == 0) {
		*line = body(argument);
		_exit(*line != 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		result = __LINE__;
	else if (WIFSIGNALED(status))
		result = -WTERMSIG(status);
	else
		result = *line ? *line : WEXITSTATUS(status);
	munmap(line, sizeof(int));
	return result;
}

#ifndef PXT_NO_CUNIT

void pxt_verdict(bool ok, int line, const char *text, const char *file, bool fatal)
{
	if (!ok)
		failures_seen++;
	CU_assertImplementation(
	    ok ? CU_TRUE : CU_FALSE, (unsigned)line, text, file, "", fatal ? CU_TRUE : CU_FALSE);
}

static void run_current(void)
{
	run_case(find_case(CU_get_current_test()->pName));
	end_at_failure(CU_get_number_of_failure_records() != 0);
}

static unsigned run_all(const char *title)
{
	unsigned failed;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	CU_pSuite suite = CU_add_suite(title, NULL, NULL);
	for (const struct pxt_case *at = cases; at; at = at->next) {
		if (at->wanted && !CU_add_test(suite, at->name, run_current))
			return 1;
	}
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failed = CU_get_number_of_tests_failed() + CU_get_number_of_suites_failed();
	if (CU_get_number_of_failure_records() != 0 && failed == 0)
		failed = 1;
	CU_cleanup_registry();
	return failed;
}

#else

static jmp_buf leave_test;

void pxt_verdict(bool ok, int line, const char *text, const char *file, bool fatal)
{
	if (ok)
		return;
	failures_seen++;
	printf("\n    %s:%d: %s", file, line, text);
	fflush(stdout);
	if (fatal)
		longjmp(leave_test, 1);
}

static unsigned run_all(const char *title)
{
	static const struct pxt_case *volatile at;
	static volatile unsigned passed;
	static volatile unsigned failed;

	printf("\nSuite: %s\n", title);
	for (at = cases; at; at = at->next) {
		unsigned before = failures_seen;
		if (!at->wanted)
			continue;
		printf("  Test: %s ...", at->name);
		fflush(stdout);
		if (setjmp(leave_test) == 0)
			run_case(at);
		end_at_failure(failures_seen != before);
		if (failures_seen == before)
			passed++;
		else
			failed++;
		printf("%s\n", failures_seen == before ? "passed" : "\n  FAILED");
	}
	printf("\n%u passed, %u failed\n", passed, failed);
	return failed;
}

#endif

/* How many of the tests are named on the command line (none: all are wanted); negative: there is none of a name. */
static int choose(int argc, char **argv)
{
	int chosen = 0;

	for (int i = 1; i < argc; i++) {
		struct pxt_case *test = find_case(argv[i]);
		if (!test) {
			fprintf(stderr, "%s: no test is named %s (try --list)\n", argv[0], argv[i]);
			return -1;
		}
		test->wanted = true;
	}
	for (struct pxt_case *at = cases; at; at = at->next) {
		at->wanted |= argc < 2;
		chosen += at->wanted;
	}
	return chosen;
}

/*
 * With PXT_PLAIN_SLOTS in the environment: slots by plain 16-byte accesses, whatever the processor
 * says, for tests in one thread on an emulator that lacks LSE2.
 */
static void choose_slot_access(void)
{
#if defined(__aarch64__)
	extern bool pxt_port_slot_by_cas __attribute__((weak));

	if (getenv("PXT_PLAIN_SLOTS") && &pxt_port_slot_by_cas)
		pxt_port_slot_by_cas = false;
#endif
}

/* A shell begins what it runs in the background with SIGINT and SIGQUIT ignored, nohup with SIGHUP. */
static void take_usual_signals(void)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD };
	sigset_t none;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		(void)signal(ends[i], SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The program's name without its folder. */
static const char *title_of(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;

	return strncmp(name, "test_", 5) == 0 ? name + 5 : name;
}

int main(int argc, char **argv)
{
	const char *title = title_of(argv[0]);
	int chosen;

	pxt_suite_program = argv[0];
	choose_slot_access();
	if (pxt_suite_before)
		pxt_suite_before();
	if (argc > 2 && strcmp(argv[1], "--role") == 0 && pxt_suite_role)
		return pxt_suite_role(argc - 2, argv + 2);
	if (argc > 1 && strcmp(argv[1], "--list") == 0) {
		for (const struct pxt_case *at = cases; at; at = at->next)
			puts(at->name);
		return 0;
	}
	if (argc > 2 && strcmp(argv[1], FRESH_OPTION) == 0) {
		in_fresh_process = true;
		argc--;
		argv++;
	}
	chosen = choose(argc, argv);
	if (chosen < 0)
		return 2;
	take_usual_signals();
	if (chosen == 0) {
		printf("%s: nothing of this is in the configuration\n", title);
		return EXIT_SKIPPED;
	}
	if (run_all(title) != 0)
		return 1;
	return skipped == (unsigned)chosen ? EXIT_SKIPPED : 0;
}
