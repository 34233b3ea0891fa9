/* SPDX-License-Identifier: MIT */
/*
 * victim.c - a program that knows nothing of traces: for the tests of `pxtrace run` (run.sh).
 *
 *	victim WORD...     does what each word says, in this order
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

/* Its own functions, so that a test finds the place by their names. */
static __attribute__((noinline)) void lock_once(pthread_mutex_t *mutex)
{
	(void)pthread_mutex_lock(mutex);
	(void)pthread_mutex_unlock(mutex);
}

static __attribute__((noinline)) void hold_long(pthread_mutex_t *mutex)
{
	(void)pthread_mutex_lock(mutex);
	(void)usleep(30000);
	(void)pthread_mutex_unlock(mutex);
}

static void lock_five_times(void)
{
	for (int i = 0; i < 5; i++)
		lock_once(&first_lock);
}

static void *holder(void *argument)
{
	(void)pthread_setname_np(pthread_self(), "holder");
	(void)pthread_mutex_lock(&second_lock);
	ready = 1;
	(void)pthread_cond_signal(&changed);
	(void)pthread_mutex_unlock(&second_lock);
	hold_long(&first_lock);
	return argument;
}

/* The main thread waits for what "holder" has. */
static void contend(void)
{
	pthread_t thread;

	(void)pthread_mutex_lock(&second_lock);
	if (pthread_create(&thread, NULL, holder, NULL) != 0)
		exit(3);
	while (!ready)
		(void)pthread_cond_wait(&changed, &second_lock);
	(void)pthread_mutex_unlock(&second_lock);
	(void)usleep(5000);
	lock_once(&first_lock);
	(void)pthread_join(thread, NULL);
}

static void fork_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		lock_once(&first_lock);
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
}

/* Each of them does a thing and ends at once. */
static void fork_many(void)
{
	for (int i = 0; i < 200; i++) {
		pid_t child = fork();

		if (child == 0) {
			lock_once(&first_lock);
			_exit(0);
		}
		(void)waitpid(child, NULL, 0);
	}
}

static void close_all(void)
{
	for (int fd = 3; fd < 2048; fd++)
		(void)close(fd);
	closefrom(3);
	(void)close_range(3, ~0u, 0);
}

static void print_descriptors(void)
{
	int fd = open("/dev/null", O_RDONLY);

	printf("next descriptor %d\n", fd);
	(void)close(fd);
}

static void say_got(int signo)
{
	static const char text[] = "got it\n";

	(void)signo;
	(void)!write(STDOUT_FILENO, text, sizeof text - 1);
	_exit(9);
}

static void await_signal(void)
{
	(void)signal(SIGUSR1, say_got);
	(void)signal(SIGTERM, say_got);
	printf("waiting\n");
	(void)fflush(stdout);
	for (;;)
		(void)pause();
}

static void run_child(void)
{
	(void)!system("exec \"$VICTIM\" locks");
}

static void kill_self(void)
{
	(void)kill(getpid(), SIGKILL);
}

static void forget_environment(void)
{
	(void)clearenv();
}

static void print_word(void)
{
	printf("out\n");
	(void)fflush(stdout);
	(void)fputs("err\n", stderr);
}

static const struct deed {
	const char *word;
	void (*deed)(void);
} deeds[] = {
	{ "locks", lock_five_times },
	{ "contend", contend },
	{ "fork", fork_child },
	{ "forks", fork_many },
	{ "close", close_all },
	{ "descriptors", print_descriptors },
	{ "await", await_signal },
	{ "child", run_child },
	{ "kill", kill_self },
	{ "forget", forget_environment },
	{ "print", print_word },
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		for (size_t k = 0; k < sizeof deeds / sizeof *deeds; k++)
			if (strcmp(argv[i], deeds[k].word) == 0)
				deeds[k].deed();
		if (strncmp(argv[i], "exit=", 5) == 0)
			return atoi(argv[i] + 5);
	}
	return 0;
}
