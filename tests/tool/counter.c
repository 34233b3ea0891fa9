/* SPDX-License-Identifier: MIT */
/*
 * counter.c - a library to be preloaded behind ours: counts what reaches the C library, as an
 * independent witness (programs.sh).  At its end: a line "program locks trylocks" in the file that COUNTER names.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long locks;
static unsigned long tries;

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

static __attribute__((destructor)) void tell(void)
{
	const char *path = getenv("COUNTER");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	(void)fprintf(file, "%s %lu %lu\n", program_invocation_short_name, locks, tries);
	(void)fclose(file);
}
