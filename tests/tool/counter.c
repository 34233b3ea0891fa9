/* SPDX-License-Identifier: MIT */
/*
 * counter.c - a library to be preloaded behind ours: counts what reaches the C library, as an
 * independent witness (programs.sh).  At its end: a line "program locks trylocks posts waits writes" in the
 * file that COUNTER names.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static unsigned long locks;
static unsigned long tries;
static unsigned long posts; /* of semaphores */
static unsigned long waits; /* for them, tries included */
static unsigned long writes;

static int call(const char *name, pthread_mutex_t *mutex)
{
	union {
		void *object;
		int (*function)(pthread_mutex_t *mutex);
	} real = { dlsym(RTLD_NEXT, name) };

	return real.function(mutex);
}

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	__atomic_fetch_add(&locks, 1, __ATOMIC_RELAXED);
	return call("pthread_mutex_lock", mutex);
}

__attribute__((visibility("default"))) int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	__atomic_fetch_add(&tries, 1, __ATOMIC_RELAXED);
	return call("pthread_mutex_trylock", mutex);
}

static int call_semaphore(const char *name, unsigned long *count, sem_t *semaphore)
{
	union {
		void *object;
		int (*function)(sem_t *semaphore);
	} real = { dlsym(RTLD_NEXT, name) };

	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	return real.function(semaphore);
}

__attribute__((visibility("default"))) int sem_post(sem_t *semaphore)
{
	return call_semaphore("sem_post", &posts, semaphore);
}

__attribute__((visibility("default"))) int sem_wait(sem_t *semaphore)
{
	return call_semaphore("sem_wait", &waits, semaphore);
}

__attribute__((visibility("default"))) int sem_trywait(sem_t *semaphore)
{
	return call_semaphore("sem_trywait", &waits, semaphore);
}

__attribute__((visibility("default"))) int sem_clockwait(
    sem_t *semaphore, clockid_t clock, const struct timespec *limit)
{
	union {
		void *object;
		int (*function)(sem_t *semaphore, clockid_t clock, const struct timespec *limit);
	} real = { dlsym(RTLD_NEXT, "sem_clockwait") };

	__atomic_fetch_add(&waits, 1, __ATOMIC_RELAXED);
	return real.function(semaphore, clock, limit);
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *from, size_t bytes)
{
	union {
		void *object;
		ssize_t (*function)(int fd, const void *from, size_t bytes);
	} real = { dlsym(RTLD_NEXT, "write") };

	__atomic_fetch_add(&writes, 1, __ATOMIC_RELAXED);
	return real.function(fd, from, bytes);
}

static __attribute__((destructor)) void tell(void)
{
	const char *path = getenv("COUNTER");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	(void)fprintf(file, "%s %lu %lu %lu %lu %lu\n", program_invocation_short_name, locks, tries,
	    posts, waits, writes);
	(void)fclose(file);
}
