/* SPDX-License-Identifier: MIT */
/*
 * early.c - a library whose constructor and destructor call what is wrapped: it is loaded beside the wrappers,
 * and begins before and ends after them (tool/wrap.sh).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void plain(int signo)
{
	(void)signo;
}

static void call_all(const char *when)
{
	struct sigaction action = { .sa_handler = plain };
	struct sigaction old;
	sem_t sem;
	int wrong = 0;
	int fd;

	wrong += pthread_mutex_lock(&mutex) != 0;
	wrong += pthread_cond_signal(&cond) != 0;
	wrong += pthread_mutex_unlock(&mutex) != 0;
	wrong += sem_init(&sem, 0, 1) != 0 || sem_wait(&sem) != 0;
	fd = open("/dev/null", O_RDWR);
	wrong += fd < 0 || write(fd, "x", 1) != 1 || close(fd) != 0;
	wrong += close(-1) != -1 || errno != EBADF;
	wrong += sigaction(SIGUSR1, &action, &old) != 0 || sigaction(SIGUSR1, &old, &action) != 0;
	wrong += action.sa_handler != plain;
	(void)dprintf(STDOUT_FILENO, "%s: %d wrong\n", when, wrong);
}

static __attribute__((constructor)) void begin(void)
{
	call_all("before");
}

static __attribute__((destructor)) void end(void)
{
	call_all("after");
}

/* As a plugin. */
int plugged_in(void);
int plugged_in(void)
{
	return 1;
}
