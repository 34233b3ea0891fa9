/* SPDX-License-Identifier: MIT */
/*
 * untraced.c - a program with trace points that creates no stream: what PXTRACE_OUT makes of it.
 *
 * usage: untraced [many | sleep | run COMMAND | fork | close | thread | lowest | kill | killed | exec | again | daemon | own |
 *                  handler | stack]
 */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

POSIX_TRACE_DEFINE_TEXT_NP(step, "step %u of %s", u32, number, string, what);
POSIX_TRACE_DEFINE_NP(early, u32, number);

/* Nobody else has met this point, and nobody can be asked for a name when the log is ended. */
static void *record_first(void *argument)
{
	(void)prctl(PR_SET_NAME, "early", 0, 0, 0);
	posix_trace_point_np(early, 1);
	return argument;
}

static int begin_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, record_first, NULL) || pthread_join(thread, NULL);
}

static int tell_lowest_descriptor(void)
{
	int lowest = dup(STDOUT_FILENO);

	return lowest < 0 || printf("%d\n", lowest) < 0 || close(lowest);
}

/* A child that ends by @signal, 0: by _exit(). */
static int fork_one(int signal)
{
	pid_t child = fork();

	if (child == 0) {
		posix_trace_point_np(step, 9, "the child");
		(void)raise(signal);
		_exit(0);
	}
	return waitpid(child, NULL, 0) != child;
}

static int execute(const char *command)
{
	pid_t child = fork();

	if (child == 0) {
		(void)execlp(command, command, (char *)NULL);
		_exit(127);
	}
	return waitpid(child, NULL, 0) != child;
}

static void record_in_handler(int signal)
{
	posix_trace_point_np(step, (uint32_t)signal, "the handler");
}

/* The child's first event is in a handler, where the C library's own locks may be anybody's. */
static int fork_into_handler(void)
{
	pid_t child;

	(void)signal(SIGUSR1, record_in_handler);
	child = fork();
	if (child == 0) {
		(void)raise(SIGUSR1);
		exit(0);
	}
	return waitpid(child, NULL, 0) != child;
}

static int become_daemon(void)
{
	if (daemon(0, 1) != 0)
		return 1;
	posix_trace_point_np(step, 3, "the daemon");
	return 0;
}

/* As many as a ring holds, of numbers that no log has in fewer bytes. */
static int record_many(void)
{
	for (uint32_t i = 0; i < 30000; i++)
		posix_trace_point_np(early, i * 2654435761u);
	return 0;
}

#if POSIX_TRACE_HAVE_STACKS_NP
POSIX_TRACE_DEFINE_STACK_NP(refilled, 2, u32, bytes);

static __attribute__((noinline)) int refill(uint32_t bytes)
{
	posix_trace_point_np(refilled, bytes);
	return bytes == 0;
}

static __attribute__((noinline)) int serve(uint32_t bytes)
{
	return refill(bytes) + refill(bytes + 1);
}

static __attribute__((noinline)) int record_stack(void)
{
	return serve(64) * 2;
}
#else
static int record_stack(void)
{
	return 77;
}
#endif

static int go(const char *how, const char *command)
{
	if (strcmp(how, "many") == 0)
		return record_many();
	if (strcmp(how, "stack") == 0)
		return record_stack();
	if (strcmp(how, "kill") == 0)
		return raise(SIGKILL);
	if (strcmp(how, "killed") == 0)
		return fork_one(SIGTERM) || fork_one(SIGKILL) || fork_one(0);
	if (strcmp(how, "exec") == 0)
		return execute(command);
	if (strcmp(how, "again") == 0)
		return execl("/proc/self/exe", "untraced", (char *)NULL);
	if (strcmp(how, "daemon") == 0)
		return become_daemon();
	if (strcmp(how, "handler") == 0)
		return fork_into_handler();
	if (strcmp(how, "sleep") == 0)
		return pause();
	if (strcmp(how, "run") == 0)
		return system(command) != 0;
	if (strcmp(how, "thread") == 0)
		return begin_thread();
	if (strcmp(how, "lowest") == 0)
		return tell_lowest_descriptor();
	if (strcmp(how, "own") == 0 && !freopen("own", "w", stderr))
		return 1;
	if (strcmp(how, "close") == 0 || strcmp(how, "own") == 0) {
		for (int fd = 3; fd < 64; fd++)
			(void)close(fd);
		if (strcmp(command, "true") != 0)
			return rename(command, "elsewhere");
	}
	if (strcmp(how, "fork") == 0) {
		pid_t child = fork();

		if (child == 0) {
			posix_trace_point_np(step, 9, "the child");
			exit(0);
		}
		return waitpid(child, NULL, 0) != child;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int failed;

	posix_trace_point_np(step, 1, "two");
	(void)puts("begun");
	(void)fflush(stdout);
	failed = argc > 1 ? go(argv[1], argc > 2 ? argv[2] : "true") : 0;
	posix_trace_point_np(step, 2, "two");
	return failed;
}
